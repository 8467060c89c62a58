//! What the verdict says, to the letter.

use greenlight_core::{Board, GoodFor, Horizon, ReportedRow};

use crate::check::{at, full, partial, row};

fn text(board: &Board, horizon: Horizon, now: u64) -> String {
    let text = board.snapshot().verdict(horizon, at(now)).to_string();
    assert!(!text.contains("recover"), "{text}");
    text
}

#[test]
fn each_situation_has_its_words() {
    let hour = Horizon::DEFAULT;
    let mut board = Board::new();
    assert_eq!(text(&board, hour, 0), "nothing is serving");

    let rows = || vec![row("dev", Some("a1"), Some("a1")), row("lane", None, Some("a1"))];
    board.report(full("driver", rows(), GoodFor::Seconds(600)), at(1_000)).unwrap();
    assert_eq!(text(&board, hour, 1_000), "lane is degraded (stops blocking in 1h)");
    assert_eq!(text(&board, hour, 1_001), "lane is degraded (stops blocking in 59m)");
    assert_eq!(text(&board, Horizon::After(30), 1_029), "lane is degraded (stops blocking in 1s)");
    assert_eq!(text(&board, Horizon::After(30), 1_030), "ready");
    assert_eq!(text(&board, Horizon::Never, 1_030), "lane is degraded (blocks until it serves or leaves)");
    assert_eq!(text(&board, hour, 1_660), "dev is unconfirmed: source driver has been silent for 11m");

    board.report(partial("other", vec![row("x", Some("b"), Some("b"))], GoodFor::Forever), at(1_660)).unwrap();
    assert_eq!(text(&board, hour, 1_660), "dev is unconfirmed: source driver has been silent for 11m");
    assert_eq!(text(&board, hour, 1_600 + 3_600), "ready");

    let mut board = Board::new();
    board.report(full("driver", rows(), GoodFor::UntilRestart), at(1_000)).unwrap();
    board.restart(at(2_000));
    assert_eq!(text(&board, hour, 2_012), "no source has reported since the restart 12s ago");
    board.restart(at(3_000));
    assert_eq!(text(&board, hour, 3_012), "no source has reported since the restart 12s ago");
    board.report(full("other", vec![], GoodFor::Forever), at(3_013)).unwrap();
    assert_eq!(text(&board, hour, 3_013), "dev is unconfirmed: source driver has been silent for 33m");

    let mut empty = Board::new();
    empty.restart(at(5));
    assert_eq!(text(&empty, hour, 5), "nothing is serving");
}

#[test]
fn a_row_that_upstream_lost_is_told_as_silent_since_then() {
    let mut board = Board::new();
    let lost = ReportedRow { lapsed_secs: Some(660), ..row("dev", Some("a1"), Some("a1")) };
    board.report(full("follow", vec![lost], GoodFor::Seconds(30)), at(5_000)).unwrap();
    let told = text(&board, Horizon::DEFAULT, 5_000);
    assert_eq!(told, "dev is unconfirmed: source follow has been silent for 11m");
}

#[test]
fn a_reason_from_a_source_is_never_told() {
    let mut board = Board::new();
    let broken = ReportedRow { last_red_reason: Some("SECRET".into()), ..row("lane", None, Some("a1")) };
    board.report(full("a", vec![row("dev", Some("a"), None), broken], GoodFor::Forever), at(9)).unwrap();
    assert!(!text(&board, Horizon::DEFAULT, 10).contains("SECRET"));
}
