//! What does a probe cost? 1,000 members once a second, each on a new connection, by the daemon and by HAProxy, side
//! by side: processor time of each process for each check, in all its threads.
//!
//! Wants `haproxy` on the path (`apt-get install haproxy`) and the binary of the same profile beside it:
//! `cargo build --release && cargo bench --bench probes`.

#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a benchmark prints, and ends where something is wrong")]

use std::fmt::Write as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use greenlight_tests::measure::{micros, quantiles};
use greenlight_tests::{Daemon, Folder, wait_until};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// Checks answered, by who asked.
#[derive(Debug, Default)]
struct Answered {
    daemon: AtomicU64,
    haproxy: AtomicU64,
}

fn main() {
    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum }).unwrap();
    let answered = Arc::new(Answered::default());
    let ports = members(&answered);
    let folder = Folder::new();
    let daemon = daemon(folder.path(), &ports);
    let haproxy = Haproxy::start(folder.path(), &ports);
    let checks = || [&answered.daemon, &answered.haproxy].map(|count| count.load(Ordering::Relaxed));
    wait_until(|| checks().iter().all(|count| *count >= WARM_UP_CHECKS));

    println!("{MEMBERS} members once a second, a new connection for each check: processor time for one");
    let (mut ours, mut theirs, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..WINDOWS {
        let (spent, done) = ([daemon.id(), haproxy.0.id()].map(spent_secs), checks());
        wait_until(|| checks().iter().zip(done).all(|(now, then)| now - then >= WINDOW_CHECKS));
        let (spent_then, done_then) = ([daemon.id(), haproxy.0.id()].map(spent_secs), checks());
        let [one, two] = [0, 1].map(|which| (spent_then[which] - spent[which]) / per(done_then[which] - done[which]));
        ours.push(one);
        theirs.push(two);
        ratios.push(one / two);
    }
    for (name, values) in [("greenlight serve", &mut ours), ("haproxy", &mut theirs)] {
        let [low, median, high] = quantiles(values, [0.25, 0.5, 0.75]).map(micros);
        println!("  {name:<44} {median}  (half of them {low} to {high})");
    }
    let [low, median, high] = quantiles(&mut ratios, [0.25, 0.5, 0.75]);
    println!("  {:<44} {median:.3}  (half of them {low:.3} to {high:.3})", "ratio of the first to the second");
}

/// Web servers, all within this process, whose time nobody counts.
fn members(answered: &Arc<Answered>) -> Vec<u16> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let listeners = runtime.block_on(listeners(MEMBERS));
    let ports = listeners.iter().map(|listener| listener.local_addr().unwrap().port()).collect();
    let answered = Arc::clone(answered);
    std::thread::spawn(move || {
        runtime.block_on(async move {
            for listener in listeners {
                let answered = Arc::clone(&answered);
                tokio::spawn(async move {
                    loop {
                        let (socket, _) = listener.accept().await.unwrap();
                        tokio::spawn(answer(socket, Arc::clone(&answered)));
                    }
                });
            }
            std::future::pending::<()>().await;
        });
    });
    ports
}

async fn listeners(count: usize) -> Vec<TcpListener> {
    let mut listeners = Vec::with_capacity(count);
    for _ in 0..count {
        listeners.push(TcpListener::bind("127.0.0.1:0").await.unwrap());
    }
    listeners
}

async fn answer(mut socket: TcpStream, answered: Arc<Answered>) {
    let mut head = Vec::with_capacity(512);
    while !head.ends_with(b"\r\n\r\n") {
        if socket.read_buf(&mut head).await.is_ok_and(|read| read == 0) || head.len() > 4096 {
            return;
        }
    }
    let text = "HTTP/1.1 200 OK\r\ncontent-length: 3\r\nconnection: close\r\n\r\nok\n";
    if socket.write_all(text.as_bytes()).await.is_ok() {
        let by = if head.starts_with(b"GET /greenlight ") { &answered.daemon } else { &answered.haproxy };
        by.fetch_add(1, Ordering::Relaxed);
    }
}

fn daemon(folder: &Path, ports: &[u16]) -> Daemon {
    let mut text = String::new();
    for (member, port) in ports.iter().enumerate() {
        writeln!(text, "[[probe]]\nname = \"member-{member:04}\"\nurl = \"http://127.0.0.1:{port}/greenlight\"")
            .unwrap();
    }
    let config = folder.join("greenlight.toml");
    std::fs::write(&config, text).unwrap();
    Daemon::start(&folder.join("data"), &["--config", config.to_str().unwrap()])
}

/// A running HAProxy that checks the same members, killed at the end.
struct Haproxy(Child);

impl Haproxy {
    fn start(folder: &Path, ports: &[u16]) -> Self {
        let socket = folder.join("haproxy.sock");
        // One thread is the cheapest it can run with.
        let mut text = format!(
            "global\n  nbthread 1\n  maxconn 4000\ndefaults\n  mode http\n  timeout connect 300ms\n  timeout check 300ms\n  \
             timeout client 1s\n  timeout server 1s\nfrontend f\n  bind {}\n  default_backend b\nbackend b\n  \
             option httpchk GET /haproxy\n  http-check expect status 200-299\n  default-server check inter 1s fall 3 rise 1\n",
            socket.display()
        );
        for (member, port) in ports.iter().enumerate() {
            writeln!(text, "  server s{member} 127.0.0.1:{port}").unwrap();
        }
        let config = folder.join("haproxy.cfg");
        std::fs::write(&config, text).unwrap();
        let mut command = Command::new("haproxy");
        command.arg("-db").arg("-f").arg(&config).stdout(Stdio::null()).stderr(Stdio::null());
        Self(command.spawn().expect("haproxy is installed: apt-get install haproxy"))
    }
}

impl Drop for Haproxy {
    fn drop(&mut self) {
        // It may have gone by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The processor time of all threads of a process so far, in seconds.
#[expect(clippy::cast_precision_loss, reason = "nanoseconds of minutes")]
fn spent_secs(process: u32) -> f64 {
    let threads = std::fs::read_dir(format!("/proc/{process}/task")).unwrap();
    let spent: u64 = threads
        .map(|thread| {
            let text = std::fs::read_to_string(thread.unwrap().path().join("schedstat")).unwrap_or_default();
            text.split_whitespace().next().and_then(|nanos| nanos.parse::<u64>().ok()).unwrap_or(0)
        })
        .sum();
    spent as f64 / 1e9
}

#[expect(clippy::cast_precision_loss, reason = "thousands")]
fn per(checks: u64) -> f64 {
    checks as f64
}

const MEMBERS: usize = 1_000;
/// Both have begun, and all members are in.
const WARM_UP_CHECKS: u64 = 5_000;
const WINDOW_CHECKS: u64 = 5_000;
const WINDOWS: usize = 7;
