//! How fast is a replay, does history cost memory, and does pruning hold up a report? A week of events is replayed;
//! a million events are read from the real daemon while its memory is watched; then a month of events is to be dropped while reports come in.

#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a benchmark prints, and ends where something is wrong")]

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;

use greenlight::UnixSeconds;
use greenlight_core::Horizon;
use greenlight_core::history::{Event, Lives, Sweep, Window};
use greenlight_tests::measure::{micros, quantiles, resident_mib, timed};
use greenlight_tests::{Daemon, Folder};

mod filled;

use filled::{event, fill};

const EVENTS: u64 = 1_000_000;
const A_WEEK_OF_EVENTS: u64 = 100_000;
const A_MONTH_OF_EVENTS: u64 = 300_000;
const INSTANCES: u64 = 500;

fn main() {
    replays();
    let now = now();
    let folder = Folder::new();
    // A week, up to now.
    fill(folder.path(), EVENTS, INSTANCES, now - 7 * 86_400, 7 * 86_400).unwrap();
    let daemon = Daemon::start(folder.path(), &[]);
    let (before, _) = resident_mib(daemon.id());
    let (took, (lines, bytes, most)) = timed(|| read(&daemon, "/history?lines"));
    println!("/history of {lines} lines, {} MB, from a daemon of {INSTANCES} instances", bytes / 1_000_000);
    println!(
        "  {} in all; {before} MiB resident before, {most} MiB at most while it was told",
        micros(took.as_secs_f64())
    );
    let (took, (lines, ..)) = timed(|| read(&daemon, &format!("/history?lines&from={}", now - 3_600)));
    println!("  its last hour alone: {lines} lines in {}", micros(took.as_secs_f64()));
    drop(daemon);

    let folder = Folder::new();
    // From two months to one month ago: all of it is to go.
    fill(folder.path(), A_MONTH_OF_EVENTS, INSTANCES, now - 61 * 86_400, 30 * 86_400).unwrap();
    let daemon = Daemon::start(folder.path(), &["--history", "30d"]);
    println!("reports of one row that changes, each durable, while {A_MONTH_OF_EVENTS} events of a month are dropped");
    let mut salt = 0;
    let mut publish = || {
        salt += 1;
        let row = format!(r#"{{"serving_sha":"{salt}","last_green":"a1"}}"#);
        let (took, (status, _)) = timed(|| daemon.put("/sources/driver/instances/dev", &row));
        assert_eq!(status, 200);
        took.as_secs_f64()
    };
    let mut while_pruning = Vec::new();
    // Each commit drops a thousand or so.
    for _ in 0..A_MONTH_OF_EVENTS / 1_024 + 10 {
        while_pruning.push(publish());
    }
    tell("while it is pruned", &mut while_pruning);
    let mut after: Vec<f64> = (0..300).map(|_| publish()).collect();
    tell("when nothing is left to drop", &mut after);
    let kept = read(&daemon, "/history?lines").0;
    let told = daemon.get("/history?name=dev").1.matches("\"event\":\"changed\"").count();
    assert_eq!(told, while_pruning.len() + after.len(), "no change is lost");
    println!("  {kept} lines are left: the board as it was at the cut, and what was published since");
    assert!(kept > INSTANCES && kept < A_MONTH_OF_EVENTS / 10, "{kept}");
}

/// What a page does that has the events at hand: one horizon, another, two compared.
fn replays() {
    let events: Vec<Event> =
        (0..A_WEEK_OF_EVENTS).map(|number| event(number, number * 6, INSTANCES).unwrap()).collect();
    println!("{A_WEEK_OF_EVENTS} events of {INSTANCES} instances over a week, in memory");
    let window = Window { from: UnixSeconds::new(0), to: UnixSeconds::new(A_WEEK_OF_EVENTS * 6) };
    let hour = Horizon::DEFAULT;
    for (what, horizons) in [("one horizon", &[hour][..]), ("two, compared", &[hour, Horizon::After(900)])] {
        let mut spans: u64 = 0;
        let mut all: Vec<f64> = Vec::new();
        for _ in 0..11 {
            spans = 0;
            let (took, ()) = timed(|| {
                let mut sweep = Sweep::new(window, horizons, Lives::default());
                if horizons.len() > 1 {
                    sweep = sweep.comparing(0, 1);
                }
                let mut tell = |_| spans += 1;
                for event in &events {
                    sweep.push(event, &mut tell);
                }
                sweep.finish(window.to, &mut tell);
            });
            all.push(took.as_secs_f64());
        }
        let [median, most] = quantiles(&mut all, [0.5, 1.0]).map(micros);
        println!("  {what}: {spans} spans in {median}, at most {most}");
    }
}

fn tell(when: &str, took: &mut [f64]) {
    let [median, p99, most] = quantiles(took, [0.5, 0.99, 1.0]).map(micros);
    println!("  {when}: {} reports, median {median}, 99 % within {p99}, all within {most}", took.len());
}

/// Reads an answer as it comes: its lines, its bytes, and the most memory that the daemon had meanwhile.
fn read(daemon: &Daemon, path: &str) -> (u64, u64, u64) {
    let mut stream = TcpStream::connect(daemon.address()).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n\r\n", daemon.address()).unwrap();
    let (mut lines, mut bytes, mut most) = (0, 0, 0);
    let mut input = BufReader::with_capacity(1 << 20, stream);
    let mut line = Vec::new();
    let mut is_whole = false;
    while input.read_until(b'\n', &mut line).unwrap() > 0 {
        if line.starts_with(b"{") {
            lines += 1;
            is_whole = line.starts_with(b"{\"end\"");
        }
        bytes += line.len() as u64;
        if lines % 10_000 == 0 {
            most = most.max(resident_mib(daemon.id()).0);
        }
        line.clear();
    }
    assert!(is_whole, "the answer is told to its end");
    (lines, bytes, most)
}

#[expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
fn now() -> u64 {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs()
}
