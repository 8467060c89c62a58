//! The laws of section 3, each a property.

use std::sync::Arc;

use greenlight_core::{
    Board, GoodFor, Held, Horizon, MAX_ROWS, MAX_SOURCES, Reason, Refusal, Renewed, Report, ReportedRow, Snapshot,
};
use proptest::prelude::*;

use crate::check::{Operation, Pair, at, full, partial, restored, row, source};
use crate::operations::{any_horizon, any_operation, any_row};

/// A board with some life behind it, and its clock.
fn any_pair() -> impl Strategy<Value = Pair> {
    prop::collection::vec(any_operation(), 0..40).prop_map(|operations| {
        let mut pair = Pair::holding_at_most(MAX_ROWS, 5_000_000);
        for operation in &operations {
            pair.apply(operation);
        }
        pair
    })
}

fn everything(board: &Board) -> String {
    format!("{board:?}")
}

fn stamps(board: &Board) -> Vec<(String, u64)> {
    board.snapshot().rows().map(|row| (row.name().to_string(), row.held.last_change.as_secs())).collect()
}

fn take(board: &mut Board, report: Report, now: u64) {
    board.report(report, at(now)).unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn ageing_only_removes_vetoes(pair in any_pair(), horizon in any_horizon(), wait in 0..400_u64) {
        let snapshot = pair.board.snapshot();
        let now = at(pair.now);
        let later = snapshot.next_lapse(now).map_or(now.later(wait), |lapse| now.later(wait.min(now.age(lapse) - 1)));
        let (before, after) = (snapshot.judge(horizon, now).lists, snapshot.judge(horizon, later).lists);
        prop_assert!(after.live_degraded.iter().all(|name| before.live_degraded.contains(name)));
        prop_assert_eq!(before.serving, after.serving);
    }

    #[test]
    fn a_larger_horizon_only_adds_vetoes(pair in any_pair(), secs in 0..400_u64, more in 0..400_u64) {
        let snapshot = pair.board.snapshot();
        let live = |horizon| snapshot.judge(horizon, at(pair.now)).lists.live_degraded;
        let (small, large, never) =
            (live(Horizon::After(secs)), live(Horizon::After(secs + more)), live(Horizon::Never));
        prop_assert!(small.iter().all(|name| large.contains(name)));
        prop_assert!(large.iter().all(|name| never.contains(name)));
    }

    #[test]
    fn nothing_serving_is_never_ready_at_any_age(pair in any_pair(), horizon in any_horizon(), wait in any::<u64>()) {
        let snapshot = pair.board.snapshot();
        let now = at(pair.now).later(wait);
        let serves = snapshot.rows().any(|row| row.held.row.serving_sha.is_some() && row.is_confirmed(now));
        prop_assert_eq!(snapshot.verdict(horizon, now).reason() == Reason::NothingServing, !serves);
        prop_assert!(serves || !snapshot.verdict(horizon, now).is_ready());
    }

    #[test]
    fn four_hundred_identical_reports_of_a_busy_sibling_move_no_stamp(
        mut rows in prop::collection::vec(any_row(), 1..5),
        turns in prop::collection::vec(0..5_usize, 400),
    ) {
        rows.retain(|row| &*row.name != "not a name" && row.draining.is_none());
        rows.sort_by(|one, other| one.name.cmp(&other.name));
        rows.dedup_by(|one, other| one.name == other.name);
        let busy = |count: usize| ReportedRow { pending_sha: Some(count.to_string().into()), ..row("busy", None, None) };
        let mut board = Board::new();
        let mut said = rows.clone();
        said.push(busy(0));
        take(&mut board, full("a", said, GoodFor::Seconds(90)), 1_000);
        let before: Vec<_> = stamps(&board).into_iter().filter(|(name, _)| name != "busy").collect();
        for (turn, by) in turns.into_iter().enumerate() {
            // In another order each time, the files too.
            let mut said = rows.clone();
            for files in said.iter_mut().filter_map(|row| row.last_red_files.as_mut()) {
                files.reverse();
            }
            said.push(busy(turn + 1));
            let places = said.len();
            said.rotate_left(by % places);
            let now = 1_001 + u64::try_from(turn).unwrap();
            let effects = board.report(full("a", said, GoodFor::Seconds(90)), at(now)).unwrap();
            prop_assert_eq!(effects.changed, vec![source("busy")]);
        }
        let after: Vec<_> = stamps(&board).into_iter().filter(|(name, _)| name != "busy").collect();
        prop_assert_eq!(before, after);
    }

    #[test]
    fn a_verdict_depends_on_the_rows_the_horizon_and_the_moment_alone(
        pair in any_pair(),
        others in prop::collection::vec((any_horizon(), 4_999_000..9_000_000_u64), 0..8),
        horizon in any_horizon(),
    ) {
        let now = at(pair.now);
        let before = everything(&pair.board);
        let snapshot = pair.board.snapshot();
        let first = (snapshot.judge(horizon, now), snapshot.verdict(horizon, now).to_string());
        for (horizon, now) in others {
            let _ = snapshot.verdict(horizon, at(now)).to_string();
            let _ = snapshot.judge(horizon, at(now));
            let _ = snapshot.next_flip(horizon, at(now));
        }
        let parts: Vec<_> = snapshot.rows().map(|row| (Arc::new(Held::clone(row.held)), *row.vouch)).collect();
        for again in [snapshot.clone(), pair.board.snapshot(), Snapshot::new(parts, snapshot.unreported_since())] {
            prop_assert_eq!(&first, &(again.judge(horizon, now), again.verdict(horizon, now).to_string()));
        }
        prop_assert_eq!(before, everything(&pair.board), "reading changes nothing");
    }

    #[test]
    fn a_row_that_leaves_and_comes_back_keeps_its_stamp_unless_it_changed_or_was_away_for_30_days(
        one in any_row(), other in any_row(), away in prop_oneof![0..100_u64, 2_591_990..2_592_010_u64],
    ) {
        let valid = |row: ReportedRow| ReportedRow { name: "x".into(), draining: None, idle_secs: None, lapsed_secs: None, ..row };
        let (one, other) = (valid(one), valid(other));
        let mut board = Board::new();
        take(&mut board, partial("a", vec![one.clone()], GoodFor::Forever), 1_000);
        board.remove("a", "x", at(2_000)).unwrap();
        prop_assert!(board.is_empty());
        let back = 2_000 + away;
        take(&mut board, partial("b", vec![other.clone()], GoodFor::Forever), back);
        let same = crate::naive::facts_of(&one) == crate::naive::facts_of(&other);
        let expected = if same && away < 2_592_000 { 1_000 } else { back };
        prop_assert_eq!(stamps(&board), vec![("x".to_string(), expected)]);
        prop_assert_eq!(board.remembered().count(), 0);
    }

    #[test]
    fn any_number_of_restarts_re_arms_nothing_and_vouches_for_nothing(
        pair in any_pair(), waits in prop::collection::vec(0..4_000_u64, 1..6), horizon in any_horizon(),
    ) {
        let mut pair = pair;
        // From here on no stamp is still to come.
        pair.now += 5_000_000;
        pair.apply(&Operation::Restart);
        let before = stamps(&pair.board);
        for wait in waits {
            pair.now += wait;
            let mut continued = pair.board.clone();
            let anew = restored(&pair.board, pair.now);
            pair.apply(&Operation::Restart);
            pair.compare(&[horizon]);
            continued.restart(at(pair.now));
            for board in [&continued, &anew] {
                prop_assert_eq!(stamps(board), before.clone());
                crate::check::compare_state(board, &pair.naive);
            }
            pair.board = anew;
            for row in pair.board.snapshot().rows() {
                prop_assert!(row.vouch.good_for == GoodFor::Forever || !row.is_confirmed(at(pair.now)));
            }
        }
    }

    #[test]
    fn a_refused_report_changes_nothing(pair in any_pair(), fault in 0..6_usize, is_full in any::<bool>()) {
        let mut pair = pair;
        take(&mut pair.board, partial("z", vec![row("held", Some("a1"), None)], GoodFor::Seconds(9)), pair.now);
        let sequence = Report { sequence: Some(50), ..partial("a", Vec::new(), GoodFor::Forever) };
        take(&mut pair.board, sequence, pair.now);
        let mut rows = vec![row("new", Some("a1"), None), row("fresh", None, None)];
        let mut number = None;
        match fault {
            0 => rows.push(row("held", None, None)),
            1 => rows.push(row("new", None, None)),
            2 => rows.push(row("not a name", None, None)),
            3 => rows.push(ReportedRow { phase: Some("x".repeat(1025).into()), ..row("long", None, None) }),
            4 => number = Some(50),
            _ => number = Some(1 << 53),
        }
        let report = if is_full { full("a", rows, GoodFor::Forever) } else { partial("a", rows, GoodFor::Forever) };
        let before = everything(&pair.board);
        let outcome = pair.board.report(Report { sequence: number, ..report }, at(pair.now));
        prop_assert!(outcome.is_err());
        prop_assert_eq!(before, everything(&pair.board));
    }
}

#[test]
fn each_field_alone_refreshes_the_stamp_and_route_facts_refresh_nothing() {
    type Edit = fn(&mut ReportedRow);
    let fields: [(&str, bool, Edit); 12] = [
        ("phase", true, |row| row.phase = Some("building".into())),
        ("serving_sha", true, |row| row.serving_sha = Some("b2".into())),
        ("last_green", true, |row| row.last_green = Some("b2".into())),
        ("last_red_sha", true, |row| row.last_red_sha = Some("b2".into())),
        ("last_red_reason", true, |row| row.last_red_reason = Some("exited 1".into())),
        ("last_red_files", true, |row| row.last_red_files = Some(vec!["a.rs".into()])),
        ("pending_sha", true, |row| row.pending_sha = Some("b2".into())),
        ("draining", true, |row| row.draining = Some(1)),
        ("proxy_port", false, |row| row.proxy_port = Some(80)),
        ("public_host", false, |row| row.public_host = Some("dev.example".into())),
        ("expires_at", false, |row| row.expires_at = Some(9)),
        ("idle_secs", false, |row| row.idle_secs = Some(9)),
    ];
    for (field, refreshes, edit) in fields {
        let mut board = Board::new();
        take(&mut board, partial("a", vec![row("x", None, Some("a1"))], GoodFor::Forever), 1_000);
        let mut other = row("x", None, Some("a1"));
        edit(&mut other);
        let effects = board.report(partial("a", vec![other], GoodFor::Forever), at(2_000)).unwrap();
        assert_eq!(!effects.changed.is_empty(), refreshes, "{field}");
        assert_eq!(stamps(&board), [("x".into(), if refreshes { 2_000 } else { 1_000 })], "{field}");
    }
}

#[test]
fn a_name_belongs_to_the_source_whose_row_is_confirmed_and_may_be_taken_over_the_second_it_lapses() {
    let mut board = Board::new();
    take(&mut board, partial("a", vec![row("x", None, Some("a1"))], GoodFor::Seconds(10)), 1_000);
    let other = || partial("b", vec![row("x", None, Some("a1"))], GoodFor::Seconds(10));
    assert!(matches!(board.report(other(), at(1_009)), Err(Refusal::Held { owner, .. }) if owner == source("a")));
    let effects = board.report(other(), at(1_010)).unwrap();
    assert_eq!((effects.changed, effects.touched), (vec![], vec![source("x")]));
    assert_eq!(stamps(&board), [("x".into(), 1_000)]);
    assert_eq!(board.row("x").unwrap().held.source, source("b"));
    let refusal = board.remove("a", "x", at(1_011)).unwrap_err();
    assert!(matches!(&refusal, Refusal::OfAnother { owner, .. } if *owner == source("b")), "{refusal}");
    // Not either once it has lapsed: and then the text must not say that somebody vouches for it.
    assert_eq!(board.remove("a", "x", at(1_020)), Err(refusal.clone()));
    assert!(!refusal.to_string().contains("still good"), "{refusal}");
    // A full report of the old owner takes nothing away that is no longer its own.
    take(&mut board, full("a", Vec::new(), GoodFor::Forever), 1_012);
    assert_eq!(board.len(), 1);
}

#[test]
fn a_sequence_must_grow_until_the_daemon_restarts_and_a_report_without_one_keeps_it() {
    let mut board = Board::new();
    let numbered = |sequence| Report { sequence, ..partial("a", Vec::new(), GoodFor::Forever) };
    take(&mut board, numbered(Some(7)), 1);
    take(&mut board, numbered(None), 2);
    for got in [0, 6, 7] {
        assert_eq!(board.report(numbered(Some(got)), at(3)).unwrap_err(), Refusal::Sequence { got, last: 7 });
    }
    take(&mut board, Report { source: source("b"), ..numbered(Some(1)) }, 3);
    take(&mut board, numbered(Some(8)), 3);
    board.restart(at(4));
    take(&mut board, numbered(Some(1)), 5);
}

#[test]
fn a_row_that_upstream_calls_unconfirmed_is_renewed_by_nothing() {
    let mut board = Board::new();
    let lapsed = |secs| ReportedRow { lapsed_secs: secs, ..row("x", Some("a1"), Some("a1")) };
    take(&mut board, full("f", vec![lapsed(None)], GoodFor::Seconds(30)), 1_000);
    let effects = board.report(full("f", vec![lapsed(Some(5))], GoodFor::Seconds(30)), at(1_010)).unwrap();
    assert_eq!(effects.renewed, Renewed::Rows(vec![source("x")]), "its end moved to an earlier moment");
    let until = |board: &Board| board.row("x").unwrap().vouch.good_until;
    assert_eq!(until(&board), Some(at(1_005)));
    for now in [1_011, 1_020, 9_000] {
        let effects = board.report(full("f", vec![lapsed(Some(0))], GoodFor::Forever), at(now)).unwrap();
        assert_eq!((effects.renewed, until(&board)), (Renewed::Nothing, Some(at(1_005))));
    }
    let effects = board.report(full("f", vec![lapsed(None)], GoodFor::Seconds(30)), at(9_001)).unwrap();
    assert_eq!(effects.confirmed_again, [source("x")]);
}

#[test]
fn a_board_knows_so_many_sources_and_forgets_the_longest_silent_one_without_rows() {
    let mut board = Board::new();
    for number in 0..MAX_SOURCES {
        let rows = if number == 0 { vec![row("x", None, None)] } else { Vec::new() };
        take(&mut board, full(&format!("s{number}"), rows, GoodFor::Forever), u64::try_from(number).unwrap());
    }
    take(&mut board, full("one-more", Vec::new(), GoodFor::Forever), 20_000);
    let known: Vec<_> = board.sources().map(|(name, _)| name.to_string()).collect();
    assert_eq!(known.len(), MAX_SOURCES);
    assert!(known.contains(&"s0".to_string()), "it has a row");
    assert!(!known.contains(&"s1".to_string()), "the longest silent of the others");
}
