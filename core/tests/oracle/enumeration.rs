//! The small state space, completely: three rows of two sources in every order, each in every standing with
//! times around every boundary, judged at every second until nothing can change any more.

use std::sync::Arc;

use greenlight_core::{GoodFor, Held, Horizon, Route, Row, Snapshot, UnixSeconds, Vouch};

use crate::check::{at, compare_judgement, compare_next_flip, compare_verdict, source};
use crate::naive::{Facts, Line, Naive};

/// Stamps: two that differ by one second, and one that is still to come for half of the moments.
const STAMPS: [u64; 3] = [2, 3, 6];
/// Ends of reports: never, at a stamp, one second after it, and after the last stamp.
const ENDS: [Option<u64>; 4] = [None, Some(3), Some(4), Some(7)];
/// At the last of these moments every stamp and every end is older than the largest finite horizon.
const MOMENTS: std::ops::RangeInclusive<u64> = 0..=11;

/// Every row that differs from the others for the rules: what it says of itself, its stamp, its end.
fn variants() -> Vec<(bool, bool, u64, Option<u64>)> {
    let mut variants = Vec::new();
    for stamp in STAMPS {
        for end in ENDS {
            variants.push((true, true, stamp, end));
        }
        for end in [None, Some(4)] {
            variants.push((false, true, stamp, end));
        }
    }
    // Without a green the stamp decides nothing but the age that is shown.
    variants.extend(ENDS.map(|end| (true, false, 3, end)));
    variants.extend([None, Some(4)].map(|end| (false, false, 3, end)));
    variants
}

fn both(place: usize, (serves, was_green, stamp, end): (bool, bool, u64, Option<u64>)) -> ((Arc<Held>, Vouch), Line) {
    let name = ["one", "two", "six"][place];
    let by = ["a", "b", "a"][place];
    let text = |says: bool| says.then(|| "a1".into());
    let row = Row { phase: "idle".into(), serving_sha: text(serves), last_green: text(was_green), ..Row::default() };
    let held = Held {
        order: u64::try_from(place).unwrap(),
        name: source(name),
        row,
        route: Route::default(),
        source: source(by),
        last_change: at(stamp),
        clamped_from: None,
    };
    let good_for = end.map_or(GoodFor::Forever, GoodFor::Seconds);
    let vouch = Vouch { last_report: at(0), good_for, good_until: end.map(UnixSeconds::new) };
    let line = Line {
        name: name.into(),
        facts: Facts { serves, was_green, fields: Vec::new() },
        route: Vec::new(),
        source: by.into(),
        stamp,
        stored_stamp: stamp,
        last_report: 0,
        good_for,
        good_until: end,
    };
    ((Arc::new(held), vouch), line)
}

/// Holds every board of `rows` rows against the naive one, and gives how many boards there were.
fn enumerate(rows: usize, horizon: Horizon) -> usize {
    let seats: Vec<Vec<_>> =
        (0..rows).map(|place| variants().into_iter().map(|variant| both(place, variant)).collect()).collect();
    let boards = variants().len().pow(u32::try_from(rows).unwrap());
    for number in 0..boards {
        let mut rest = number;
        let mut naive = Naive::holding_at_most(3);
        let mut held = Vec::new();
        for seat in &seats {
            let (row, line) = &seat[rest % seat.len()];
            held.push(row.clone());
            naive.rows.push(line.clone());
            rest /= seat.len();
        }
        let snapshot = Snapshot::new(held, None);
        // Flips by asking at every second.
        let flips = naive.flips(MOMENTS, horizon, 0);
        for now in MOMENTS {
            compare_verdict(&snapshot, &naive, horizon, now);
            let ahead: Vec<_> = flips.iter().filter(|flip| flip.at_unix > at(now)).cloned().collect();
            compare_next_flip(&snapshot, horizon, now, ahead.first());
            // What is listed row by row depends on one row at a time: every row was seen in every place when
            // the first of them went round.
            if now % 4 == 1 {
                assert_eq!(snapshot.flips(horizon, at(now)), ahead, "flips at {now} under {horizon:?} of {naive:#?}");
            }
            if number % 97 == 0 {
                compare_judgement(&snapshot, &naive, horizon, now);
            }
        }
    }
    boards
}

#[test]
fn boards_of_no_row_one_row_and_two_rows_are_judged_as_the_design_says() {
    for horizon in [Horizon::After(0), Horizon::After(1), Horizon::After(3), Horizon::Never] {
        assert_eq!([0, 1, 2].map(|rows| enumerate(rows, horizon)), [1, 24, 576]);
    }
}

#[test]
fn boards_of_three_rows_under_a_horizon_of_three_seconds_are_judged_as_the_design_says() {
    assert_eq!(enumerate(3, Horizon::After(3)), 13_824);
}

#[test]
fn boards_of_three_rows_under_a_horizon_of_one_second_are_judged_as_the_design_says() {
    assert_eq!(enumerate(3, Horizon::After(1)), 13_824);
}

#[test]
fn boards_of_three_rows_under_a_horizon_of_zero_are_judged_as_the_design_says() {
    assert_eq!(enumerate(3, Horizon::After(0)), 13_824);
}

#[test]
fn boards_of_three_rows_under_no_horizon_are_judged_as_the_design_says() {
    assert_eq!(enumerate(3, Horizon::Never), 13_824);
}
