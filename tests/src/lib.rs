//! A real daemon on a real socket, and the real command line, for the tests beside this file.

mod command;
mod connection;
mod dice;

pub mod measure;
pub mod rehearsal;

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

pub use command::{Ran, Started, greenlight, start};
pub use connection::Connection;
pub use dice::{Asked, Dice};

/// A folder of its own under the target folder, removed at the end.
#[derive(Debug)]
pub struct Folder(PathBuf);

impl Folder {
    /// A new, empty one.
    ///
    /// # Panics
    /// Where it cannot be made.
    pub fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("greenlight-test-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a folder for a test");
        Self(path)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Default for Folder {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What is left is only rubbish of a test.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A running `greenlight serve`, killed at the end.
#[derive(Debug)]
pub struct Daemon {
    child: Child,
    /// Its address, as `http://127.0.0.1:PORT`.
    pub url: String,
    data: PathBuf,
}

impl Daemon {
    /// Starts one, on a free port unless the arguments bind another, and waits until it serves.
    ///
    /// # Panics
    /// Where it does not start, with what it said.
    pub fn start(data: &Path, arguments: &[&str]) -> Self {
        let daemon = Self::start_unready(data, arguments);
        wait_until(|| daemon.get("/status").0 == 200);
        daemon
    }

    /// Starts one and waits only until it listens.
    ///
    /// # Panics
    /// Where it does not start.
    pub fn start_unready(data: &Path, arguments: &[&str]) -> Self {
        Self::start_logging(data, arguments, Stdio::null())
    }

    /// Starts one whose log goes there, and waits only until it listens.
    ///
    /// # Panics
    /// Where it does not start.
    pub fn start_logging(data: &Path, arguments: &[&str], log: impl Into<Stdio>) -> Self {
        let mut child = Command::new(binary())
            .args(["serve", "--data"])
            .arg(data)
            .args(if arguments.contains(&"--bind") { &[][..] } else { &["--bind", "127.0.0.1:0"] })
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()
            .expect("the binary starts");
        let mut line = String::new();
        let stdout = child.stdout.take().expect("its output is ours");
        BufReader::new(stdout).read_line(&mut line).expect("its output can be read");
        let url = line.trim().strip_prefix("listening on ").expect("it says where it listens").to_owned();
        Self { child, url, data: data.into() }
    }

    /// The status and the body of a read.
    pub fn get(&self, path: &str) -> (u16, String) {
        ask(agent().get(format!("{}{path}", self.url)).call())
    }

    /// `/app`, parsed.
    ///
    /// # Panics
    /// Where it is not JSON.
    pub fn app(&self) -> Value {
        serde_json::from_str(&self.get("/app").1).expect("/app is JSON")
    }

    /// The status and the body of a write with the daemon's own token.
    pub fn put(&self, path: &str, body: &str) -> (u16, String) {
        self.put_as(&format!("Bearer {}", self.token()), path, body)
    }

    /// The same with any authorization.
    pub fn put_as(&self, authorization: &str, path: &str, body: &str) -> (u16, String) {
        ask(agent().put(format!("{}{path}", self.url)).header("authorization", authorization).send(body))
    }

    /// The status and the body of a removal with the daemon's own token.
    pub fn delete(&self, path: &str) -> (u16, String) {
        let authorization = format!("Bearer {}", self.token());
        ask(agent().delete(format!("{}{path}", self.url)).header("authorization", authorization).call())
    }

    /// The token that the daemon made for itself.
    ///
    /// # Panics
    /// Where it made none.
    pub fn token(&self) -> String {
        std::fs::read_to_string(self.data.join("token")).expect("the daemon made a token").trim().into()
    }

    /// Its process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Where it listens, as `127.0.0.1:PORT`.
    pub fn address(&self) -> &str {
        self.url.trim_start_matches("http://")
    }

    /// Asks it to end, as `kill PROCESS` does.
    ///
    /// # Panics
    /// Where it has ended and was waited for.
    pub fn terminate(&self) {
        let process = i32::try_from(self.id()).ok().and_then(Pid::from_raw).expect("a process has a number");
        kill_process(process, Signal::TERM).expect("it can be told");
    }

    /// Kills it as a power switch would, and waits until it is gone.
    ///
    /// # Panics
    /// Where it cannot be waited for.
    pub fn kill(&mut self) {
        // It may have gone by itself.
        let _ = self.child.kill();
        self.child.wait().expect("it can be waited for");
    }

    /// Waits until it ends by itself, and gives its exit code.
    ///
    /// # Panics
    /// Where it does not end in time.
    pub fn ended(&mut self) -> Option<i32> {
        let mut code = None;
        wait_until(|| {
            let status = self.child.try_wait().expect("it can be waited for");
            code = status.and_then(|status| status.code());
            status.is_some()
        });
        code
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Where the binary is: beside the tests that cargo built.
///
/// # Panics
/// Where it was not built, with the command that builds it.
pub fn binary() -> PathBuf {
    let tests = std::env::current_exe().expect("a test knows where it is");
    let folder = tests.parent().and_then(Path::parent).expect("tests lie in target/PROFILE/deps");
    let binary = folder.join("greenlight");
    assert!(binary.exists(), "no binary at {}: run `cargo build` first", binary.display());
    binary
}

/// Waits until something holds, up to half a minute.
///
/// # Panics
/// Where it does not come to hold.
#[track_caller]
pub fn wait_until(mut holds: impl FnMut() -> bool) {
    // A channel on which nothing comes is a wait of 20 ms that no clock call is needed for.
    let (_open, nothing) = std::sync::mpsc::channel::<()>();
    for _ in 0..1500 {
        if holds() {
            return;
        }
        let _ = nothing.recv_timeout(Duration::from_millis(20));
    }
    panic!("it did not come to hold within half a minute");
}

fn agent() -> ureq::Agent {
    ureq::Agent::config_builder()
        .timeout_global(Some(Duration::from_secs(20)))
        .http_status_as_error(false)
        .max_idle_connections(0)
        .build()
        .into()
}

/// Status 0 is no answer.
fn ask(answer: Result<ureq::http::Response<ureq::Body>, ureq::Error>) -> (u16, String) {
    match answer {
        Ok(mut answer) => {
            let mut body = Vec::new();
            let read = answer.body_mut().as_reader().read_to_end(&mut body);
            (if read.is_ok() { answer.status().as_u16() } else { 0 }, String::from_utf8_lossy(&body).into_owned())
        }
        Err(error) => (0, error.to_string()),
    }
}
