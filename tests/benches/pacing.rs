//! How late is a rehearsal with its own ticks? A thousand requests a second for ten seconds: each tick's moment of
//! sending against the moment when it was due. To be read on an idle machine.
//!
//! Wants the binary of the same profile beside it: `cargo build --release && cargo bench --bench pacing`.

#![expect(clippy::print_stdout, reason = "a benchmark prints what it measured")]

use greenlight_tests::measure::{micros, quantiles};
use greenlight_tests::rehearsal::Rehearsal;

fn main() {
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load.split_whitespace().next().unwrap_or("?").to_owned();
    println!("1,000 requests a second by greenlight rehearse, from due to sent (load of the machine before: {load})");
    let mut p99s = Vec::new();
    for _ in 0..RUNS {
        let rehearsal = Rehearsal::of("--grace 200").with(&["--every", "1ms", "--warm-up", "10s", "--give-up", "2s"]);
        let rehearsed = rehearsal.run();
        let mut late: Vec<f64> = rehearsed
            .events("tick")
            .iter()
            .filter_map(|tick| Some(secs(tick["sent_us"].as_i64()? - tick["due_us"].as_i64()?)))
            .collect();
        let [median, p99, most] = quantiles(&mut late, [0.5, 0.99, 1.0]);
        let (ticks, exit) = (late.len(), rehearsed.exit.unwrap_or(-1));
        println!("  {ticks} ticks, exit {exit}: p50 {}, p99 {}, most {}", micros(median), micros(p99), micros(most));
        p99s.push(p99);
    }
    let [low, median, high] = quantiles(&mut p99s, [0.0, 0.5, 1.0]).map(micros);
    println!("  p99: {median}  ({low} to {high})");
}

#[expect(clippy::cast_precision_loss, reason = "microseconds of a few seconds")]
fn secs(micros: i64) -> f64 {
    micros as f64 / 1e6
}

const RUNS: usize = 5;
