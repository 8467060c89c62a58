//! How long the native rules take to judge 10,000 rows anew, in nanoseconds: beside it stands what the wasm takes.

#![expect(clippy::print_stdout, reason = "what it measured is all that it has to say")]

use std::hint::black_box;
use std::time::Instant;

use greenlight_core::{Board, Extent, GoodFor, Horizon, Name, Report, ReportedRow, UnixSeconds};

const ROWS: u64 = 10_000;
const ROUNDS: u64 = 200;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut board = Board::new();
    let rows = (0..ROWS)
        .map(|at| ReportedRow {
            name: format!("slot-{at}").into(),
            serving_sha: (at % 3 != 0).then(|| "a1".into()),
            last_green: (at % 7 != 0).then(|| "a1".into()),
            idle_secs: Some(at * 7919 % 20_000),
            ..ReportedRow::default()
        })
        .collect();
    let source = Name::of_source("driver")?;
    board.report(
        Report { source, extent: Extent::Full, rows, good_for: GoodFor::Seconds(900), sequence: None },
        UnixSeconds::new(100_000),
    )?;
    let snapshot = board.snapshot();
    let mut rounds: Vec<u128> = (0..ROUNDS)
        .map(|round| {
            let now = UnixSeconds::new(100_000 + round);
            #[expect(clippy::disallowed_methods, reason = "a benchmark measures time")]
            let start = Instant::now();
            for row in snapshot.rows() {
                black_box(row.standing(Horizon::DEFAULT, now));
            }
            black_box(snapshot.verdict(Horizon::DEFAULT, now).is_ready());
            black_box(snapshot.worst_first(Horizon::DEFAULT, now));
            black_box(snapshot.flips(Horizon::DEFAULT, now));
            start.elapsed().as_nanos()
        })
        .collect();
    rounds.sort_unstable();
    println!("{}", rounds[rounds.len() / 2]);
    Ok(())
}
