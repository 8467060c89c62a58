//! What a verdict may cost: no allocation, at any number of rows.

use std::hint::black_box;

use greenlight_core::{Board, Extent, GoodFor, Horizon, Name, Report, ReportedRow, UnixSeconds};

#[test]
fn a_verdict_and_the_next_flip_allocate_nothing() {
    for rows in [0, 1, 10, 10_000_u64] {
        let mut board = Board::new();
        for number in 0..rows {
            let row = ReportedRow {
                name: format!("row-{number}").into(),
                serving_sha: (number % 3 != 0).then(|| "a1".into()),
                last_green: (number % 2 == 0).then(|| "a1".into()),
                ..ReportedRow::default()
            };
            let report = Report {
                source: Name::of_source("driver").unwrap(),
                extent: Extent::Partial,
                rows: vec![row],
                good_for: GoodFor::from_secs(1 + number % 50).unwrap(),
                sequence: None,
            };
            board.report(report, UnixSeconds::new(1_000)).unwrap();
        }
        let snapshot = board.snapshot();
        let allocated = allocation_counter::measure(|| {
            for now in 990..1_100 {
                let now = UnixSeconds::new(now);
                for horizon in [Horizon::After(0), Horizon::After(20), Horizon::Never] {
                    let verdict = black_box(&snapshot).verdict(horizon, now);
                    black_box((verdict.reason(), verdict.blocking(), snapshot.next_flip(horizon, now)));
                }
            }
        });
        assert_eq!(allocated.count_total, 0, "{rows} rows");
    }
}
