//! How fast does the rehearsal ask? One connection for each core, one question after the other, against nginx: the
//! engine of the kept lane and wrk in turn.
//!
//! Wants `wrk` and `nginx` on the path (`apt-get install wrk nginx-light`).

#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a benchmark prints, and ends where something is wrong")]

use std::net::TcpListener;
use std::num::NonZeroU32;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use greenlight::engine::ask_for;
use greenlight_tests::measure::quantiles;
use greenlight_tests::{Folder, wait_until};

fn main() {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let cores = NonZeroU32::try_from(u32::try_from(cores).unwrap()).unwrap();
    let folder = Folder::new();
    let nginx = Nginx::start(&folder);
    let url = format!("http://127.0.0.1:{}/", nginx.port);

    println!("{cores} connections to nginx, one question after the other on each: answers a second");
    let (mut ours, mut theirs, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        let (one, two) = if round % 2 == 0 {
            let one = engine(&url, cores);
            (one, wrk(&url, cores))
        } else {
            let two = wrk(&url, cores);
            (engine(&url, cores), two)
        };
        ours.push(one);
        theirs.push(two);
        ratios.push(one / two);
    }
    for (name, rates) in [("the engine of greenlight rehearse", &mut ours), ("wrk", &mut theirs)] {
        let [low, median, high] = quantiles(rates, [0.25, 0.5, 0.75]);
        println!("  {name:<44} {median:.0}  (half of them {low:.0} to {high:.0})");
    }
    let [low, median, high] = quantiles(&mut ratios, [0.25, 0.5, 0.75]);
    println!("  {:<44} {median:.3}  (half of them {low:.3} to {high:.3})", "ratio of the first to the second");
}

#[expect(clippy::cast_precision_loss, reason = "some hundred thousands")]
fn engine(url: &str, connections: NonZeroU32) -> f64 {
    ask_for(url, connections, Duration::from_secs(SECS)).unwrap() as f64 / Duration::from_secs(SECS).as_secs_f64()
}

fn wrk(url: &str, connections: NonZeroU32) -> f64 {
    let mut command = Command::new("wrk");
    command.args([format!("-t{connections}"), format!("-c{connections}"), format!("-d{SECS}s"), url.into()]);
    let output = command.output().expect("wrk is installed: apt-get install wrk");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let rate = text.lines().find_map(|line| line.trim().strip_prefix("Requests/sec:"));
    rate.and_then(|rate| rate.trim().parse().ok()).unwrap_or_else(|| panic!("wrk says its rate: {text}"))
}

/// A running nginx, killed at the end.
struct Nginx {
    child: Child,
    port: u16,
}

impl Nginx {
    fn start(folder: &Folder) -> Self {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let config = format!(
            "pid nginx.pid; worker_processes auto; daemon off; error_log stderr crit; events {{ worker_connections 64; }} \
             http {{ access_log off; keepalive_requests 100000000; client_body_temp_path a; proxy_temp_path b; \
             fastcgi_temp_path c; uwsgi_temp_path d; scgi_temp_path e; server {{ listen 127.0.0.1:{port}; \
             location / {{ return 200 'ok'; }} }} }}"
        );
        std::fs::write(folder.path().join("nginx.conf"), config).unwrap();
        let mut command = Command::new("nginx");
        command.arg("-p").arg(folder.path()).args(["-c", "nginx.conf"]).stdout(Stdio::null()).stderr(Stdio::null());
        let child = command.spawn().expect("nginx is installed: apt-get install nginx-light");
        wait_until(|| std::net::TcpStream::connect(("127.0.0.1", port)).is_ok());
        Self { child, port }
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        // Its master ends its workers on SIGTERM; a kill would leave them.
        let pid = i32::try_from(self.child.id()).ok().and_then(rustix::process::Pid::from_raw);
        let told = pid.is_some_and(|pid| rustix::process::kill_process(pid, rustix::process::Signal::TERM).is_ok());
        if !told {
            let _ = self.child.kill();
        }
        let _ = self.child.wait();
    }
}

const SECS: u64 = 3;
const ROUNDS: usize = 7;
