//! What a verdict may cost, no allocation at any number of rows; and what a replay may, memory for its rows alone.

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

/// A record is read through, not kept: a hundred thousand events of ten rows take what a thousand do.
#[cfg(feature = "history")]
#[test]
fn a_replay_takes_memory_for_its_rows_and_not_for_its_events() {
    use greenlight_core::Row;
    use greenlight_core::history::{Event, Happening, Lives, Sweep, Window};

    let at = UnixSeconds::new;
    let most = |events: u64| {
        allocation_counter::measure(|| {
            let window = Window { from: at(0), to: at(events + 10) };
            let horizons = [Horizon::After(900), Horizon::DEFAULT, Horizon::Never];
            let mut sweep = Sweep::new(window, &horizons, Lives::default()).comparing(0, 2);
            let mut spans: u64 = 0;
            let mut push = |at_unix, what| {
                sweep.push(&Event { at_unix, what }, &mut |told| {
                    black_box(told);
                    spans += 1;
                });
            };
            let start = Happening::Started { watched_until_unix: None, drift_secs: 0 };
            push(at(0), start);
            for number in 0..events {
                let name = Name::of_instance(&format!("i{}", number % 10));
                let row = Row {
                    serving_sha: (number / 10 % 2 == 0).then(|| "a1".into()),
                    last_green: Some("a1".into()),
                    last_red_reason: Some("x".repeat(1_000).into()),
                    ..Row::default()
                };
                let what = Happening::Changed {
                    name: name.unwrap(),
                    order: number % 10,
                    source: Name::of_source("ci").unwrap(),
                    last_change_unix: at(number),
                    stored_change_unix: None,
                    row: row.into(),
                };
                push(at(number), what);
            }
            assert!(spans > events / 2, "{spans} spans");
        })
        .bytes_max
    };
    let (few, many) = (most(1_000), most(100_000));
    println!("{few} bytes for a thousand events, {many} for a hundred thousand");
    assert!(many < 2 * few && many < 100_000, "{few} bytes for a thousand events, {many} for a hundred thousand");
}
