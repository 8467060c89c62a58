//! What does a heartbeat cost? A report of 10,000 rows that changes nothing, to the real daemon with its store on
//! disk, against parsing its bytes into rows here and letting go of them; both in processor time.

#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a benchmark prints, and ends where something is wrong")]

use greenlight_core::ReportedRow;
use greenlight_tests::measure::{pairs, report, spent, spent_by};
use greenlight_tests::{Daemon, Folder};
use serde_json::Value;

/// What a report is parsed into.
#[derive(serde::Deserialize)]
struct Parsed {
    instances: Vec<ReportedRow>,
}

fn main() {
    let body = report(10_000, 1);
    println!("an unchanged report of 10,000 rows, {} kB: processor time", body.len() / 1000);
    let folder = Folder::new();
    let daemon = Daemon::start(folder.path(), &[]);
    let put = |changed: usize| {
        let before = spent_by(daemon.id());
        let (status, answer) = daemon.put("/sources/driver", &body);
        let took = spent_by(daemon.id()).saturating_sub(before);
        let answer: Value = serde_json::from_str(&answer).unwrap();
        assert!(status == 200 && answer["changed"].as_array().unwrap().len() == changed, "{status}");
        took
    };
    put(10_000);
    let parse = || {
        let parse = || serde_json::from_slice::<Parsed>(body.as_bytes()).unwrap().instances.len();
        let (took, rows) = spent(parse);
        assert_eq!(rows, 10_000);
        took
    };
    pairs(101, ["parsing its JSON into rows, and dropping them", "the whole request, in the daemon"], parse, || put(0));
}
