//! The daemon of the demo: this program once more, with a data directory that goes when it ends.

use std::fs;
use std::io::{self, BufRead, BufReader};
use std::net::SocketAddr;
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Sender};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use tokio::signal::unix::{SignalKind, signal};

use super::environment;

/// A child that serves. When it is dropped, it is asked to end, then made to, and its data is removed.
#[derive(Debug)]
pub(crate) struct DemoDaemon {
    child: Child,
    folder: Folder,
    url: String,
}

impl DemoDaemon {
    /// Starts it and waits until it listens. `probes`: whom it probes, as `NAME=URL`.
    pub(crate) fn start(bind: SocketAddr, stale_after_secs: u64, probes: &[String]) -> Result<Self, String> {
        let folder = Folder::new().map_err(|error| format!("no folder can be made for the demo's data: {error}"))?;
        // An empty file of its own: no configuration of this machine gets into the story.
        let config = folder.0.join("greenlight.toml");
        fs::write(&config, "").map_err(|error| format!("{}: {error}", config.display()))?;
        let program = std::env::current_exe().map_err(|error| format!("this program cannot find itself: {error}"))?;
        let mut command = Command::new(program);
        for variable in environment::ours() {
            command.env_remove(variable);
        }
        command
            .arg("serve")
            .args(["--bind", &bind.to_string(), "--stale-after", &format!("{stale_after_secs}s")])
            .args(["--drain", "0s", "--log", "warn"])
            .arg("--config")
            .arg(&config)
            .arg("--data")
            .arg(folder.data())
            .args(probes.iter().flat_map(|probe| ["--probe", probe]))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            // Ctrl-C in the terminal is for us, who then end it in order.
            .process_group(0);
        let child = command.spawn().map_err(|error| format!("the daemon cannot be started: {error}"))?;
        let mut daemon = Self { child, folder, url: String::new() };
        daemon.url = daemon.listening()?;
        Ok(daemon)
    }

    /// Where it listens.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// The token that it made for itself.
    pub(crate) fn token_file(&self) -> PathBuf {
        self.folder.data().join("token")
    }

    /// The URL in the line that the daemon says once it listens.
    fn listening(&mut self) -> Result<String, String> {
        let out = self.child.stdout.take().ok_or("the daemon has no standard output")?;
        let (said, says) = mpsc::channel();
        thread::spawn(move || {
            let mut lines = BufReader::new(out).lines();
            // Nobody listens any more where we gave up.
            let _ = lines.next().map(|line| said.send(line));
            // What is still said is read, so that the daemon never waits for us.
            for _ in lines.map_while(Result::ok) {}
        });
        match says.recv_timeout(START_LIMIT) {
            Ok(Ok(line)) => line
                .strip_prefix("listening on ")
                .map(|url| url.trim_end().to_owned())
                .ok_or_else(|| format!("the daemon does not say where it listens, but: {line}")),
            Ok(Err(_)) | Err(_) => Err("the daemon did not start; what it said stands above".into()),
        }
    }
}

impl Drop for DemoDaemon {
    fn drop(&mut self) {
        // An error means that it has ended already, which the wait will tell.
        let _ =
            i32::try_from(self.child.id()).ok().and_then(Pid::from_raw).map(|child| kill_process(child, Signal::TERM));
        let (_never, wake) = mpsc::channel::<()>();
        for _ in 0..END_LOOKS {
            if matches!(self.child.try_wait(), Ok(Some(_)) | Err(_)) {
                return;
            }
            let _ = wake.recv_timeout(END_LOOK);
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A folder of our own that goes when this is dropped.
#[derive(Debug)]
struct Folder(PathBuf);

impl Folder {
    /// Readable to us alone, under a name that nobody can have put there before.
    fn new() -> io::Result<Self> {
        let mut random = [0_u8; 8];
        getrandom::fill(&mut random).map_err(io::Error::other)?;
        let path = std::env::temp_dir().join(format!("greenlight-demo-{:016x}", u64::from_be_bytes(random)));
        fs::DirBuilder::new().mode(0o700).create(&path)?;
        Ok(Self(path))
    }

    fn data(&self) -> PathBuf {
        Path::new(&self.0).join("data")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What cannot be removed is in the folder for temporary files, whose owner clears it.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Has Ctrl-C, SIGTERM and the end of the terminal end a pause, instead of the process.
pub(crate) fn end_on_signals(ender: Sender<()>) -> Result<(), String> {
    let failed = |error: io::Error| format!("signals cannot be heard: {error}");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().map_err(failed)?;
    let signals = runtime.block_on(async {
        Ok([signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?, signal(SignalKind::hangup())?])
    });
    let [mut interrupt, mut terminate, mut hangup] = signals.map_err(failed)?;
    thread::spawn(move || {
        runtime.block_on(async {
            loop {
                tokio::select! {
                    _ = interrupt.recv() => {}
                    _ = terminate.recv() => {}
                    _ = hangup.recv() => {}
                }
                if ender.send(()).is_err() {
                    return;
                }
            }
        });
    });
    Ok(())
}

/// A first start with a store on a slow disk.
const START_LIMIT: Duration = Duration::from_secs(20);
/// The daemon ends within 5 s of the signal; twice that is room.
const END_LOOK: Duration = Duration::from_millis(50);
const END_LOOKS: u32 = 200;
