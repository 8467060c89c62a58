//! What the benchmarks measure with. They compare two things in one run, pair by pair, because machines are noisy:
//! what is printed are ratios, with the single figures beside them.

#![expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
#![expect(clippy::print_stdout, reason = "a benchmark prints what it measured")]

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

/// How long something takes.
pub fn timed<T>(run: impl FnOnce() -> T) -> (Duration, T) {
    let start = Instant::now();
    let result = run();
    (start.elapsed(), result)
}

/// How much of the processor's time something takes, in all threads of this process: what it costs, whatever else
/// the machine does.
///
/// # Panics
/// Where the system's count is not one.
pub fn spent<T>(run: impl FnOnce() -> T) -> (Duration, T) {
    let clock = || Duration::try_from(clock_gettime(ClockId::ProcessCPUTime)).expect("it counts from 0");
    let start = clock();
    let result = run();
    (clock().saturating_sub(start), result)
}

/// Runs two things in turn so many times, each first every other time, and prints the ratio of `two` to `one`.
pub fn pairs(rounds: usize, names: [&str; 2], mut one: impl FnMut() -> Duration, mut two: impl FnMut() -> Duration) {
    let (mut ones, mut twos, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..rounds {
        let (first, second) = if round % 2 == 0 {
            let first = one();
            (first, two())
        } else {
            let second = two();
            (one(), second)
        };
        ones.push(first.as_secs_f64());
        twos.push(second.as_secs_f64());
        ratios.push(second.as_secs_f64() / first.as_secs_f64());
    }
    println!("  {:<44} {}", names[0], spread(&mut ones, |secs| micros(*secs)));
    println!("  {:<44} {}", names[1], spread(&mut twos, |secs| micros(*secs)));
    println!("  {:<44} {}", "ratio of the second to the first, by pairs", spread(&mut ratios, |r| format!("{r:.3}")));
}

/// Median, and the middle half around it.
fn spread(values: &mut [f64], show: impl Fn(&f64) -> String) -> String {
    let [low, median, high] = quantiles(values, [0.25, 0.5, 0.75]).map(|value| show(&value));
    format!("{median}  (half of them {low} to {high})")
}

/// Values at those fractions of the sorted list.
///
/// # Panics
/// Where there are none.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss, reason = "an index")]
pub fn quantiles<const N: usize>(values: &mut [f64], at: [f64; N]) -> [f64; N] {
    values.sort_unstable_by(f64::total_cmp);
    at.map(|fraction| values[((values.len() as f64 * fraction) as usize).min(values.len() - 1)])
}

/// Seconds as microseconds, for people.
pub fn micros(secs: f64) -> String {
    if secs < 0.01 { format!("{:.1} µs", secs * 1e6) } else { format!("{:.1} ms", secs * 1e3) }
}

/// Resident memory of a process, now and at most so far, in MiB.
///
/// # Panics
/// Where the system does not tell.
pub fn resident_mib(process: u32) -> (u64, u64) {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).expect("the process runs");
    let line = |key: &str| {
        let line = status.lines().find(|line| line.starts_with(key)).expect("the system tells");
        line.split_whitespace().nth(1).and_then(|kib| kib.parse::<u64>().ok()).expect("a number of kB") / 1024
    };
    (line("VmRSS:"), line("VmHWM:"))
}

/// A connection that asks the same question again and again.
#[derive(Debug)]
pub struct Asker {
    stream: TcpStream,
    request: Vec<u8>,
    buffer: Vec<u8>,
}

impl Asker {
    /// Connects, to ask for a path with GET.
    ///
    /// # Panics
    /// Where nobody listens at `url`, as `http://ADDRESS`.
    pub fn new(url: &str, path: &str) -> Self {
        let address = url.trim_start_matches("http://");
        let stream = TcpStream::connect(address).expect("the daemon listens");
        stream.set_nodelay(true).expect("a socket");
        stream.set_read_timeout(Some(Duration::from_mins(1))).expect("a socket");
        let request = format!("GET {path} HTTP/1.1\r\nhost: {address}\r\n\r\n").into_bytes();
        Self { stream, request, buffer: vec![0; 64 * 1024] }
    }

    /// Asks once and gives how long the answer took. Answers must fit in one read.
    ///
    /// # Panics
    /// Where there is no answer within a minute.
    pub fn ask(&mut self) -> Duration {
        let (took, read) = timed(|| {
            self.stream.write_all(&self.request).expect("the daemon reads");
            self.stream.read(&mut self.buffer).expect("the daemon answers")
        });
        assert!(self.buffer[..read].starts_with(b"HTTP/1.1 "), "an answer");
        took
    }
}

/// A report of so many rows as JSON; `salt` makes it another.
pub fn report(rows: usize, salt: u64) -> String {
    let rows: Vec<String> = (0..rows)
        .map(|row| {
            format!(
                r#"{{"name":"team/slot-{row:06}","phase":"serving","serving_sha":"{salt:07x}","last_green":"9f6e4d5"}}"#
            )
        })
        .collect();
    format!(r#"{{"instances":[{}],"good_for_secs":3600}}"#, rows.join(","))
}
