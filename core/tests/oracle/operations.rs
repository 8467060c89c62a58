//! Every short sequence of operations, and long ones at random, held against the naive board.

use greenlight_core::{GoodFor, Horizon, MAX_ROWS, Report, ReportedRow};
use proptest::prelude::*;

use crate::check::{Operation, Pair, full, partial, row};

const HORIZONS: [Horizon; 3] = [Horizon::After(2), Horizon::After(0), Horizon::Never];

/// What can happen to a board of two names and two sources, each kind of thing at least once.
fn alphabet() -> Vec<Operation> {
    let serving = |name: &str| row(name, Some("a1"), Some("a1"));
    let broken = |name: &str| row(name, None, Some("a1"));
    let said = |report: Report| Operation::Report(report);
    let sequence = |number: u64, report: Report| Operation::Report(Report { sequence: Some(number), ..report });
    vec![
        said(full("a", vec![serving("x"), broken("y")], GoodFor::Seconds(2))),
        said(full("a", vec![broken("x")], GoodFor::UntilRestart)),
        said(full("a", Vec::new(), GoodFor::Forever)),
        sequence(1, partial("a", vec![serving("y")], GoodFor::Forever)),
        sequence(2, partial("b", vec![serving("x")], GoodFor::Seconds(1))),
        said(partial("b", vec![ReportedRow { idle_secs: Some(2), ..broken("y") }], GoodFor::Seconds(3))),
        said(partial("b", vec![ReportedRow { lapsed_secs: Some(1), ..serving("y") }], GoodFor::Seconds(3))),
        Operation::Remove("a".into(), "x".into()),
        Operation::RemoveSource("b".into()),
        Operation::Restart,
        Operation::Restore,
        Operation::Later(1),
        Operation::Later(2),
        Operation::Earlier(1),
    ]
}

fn descend(pair: &Pair, alphabet: &[Operation], depth: usize, sequences: &mut usize) {
    for operation in alphabet {
        let mut next = pair.clone();
        next.apply(operation);
        next.compare(&HORIZONS[..1]);
        *sequences += 1;
        if depth > 1 {
            descend(&next, alphabet, depth - 1, sequences);
        }
    }
}

#[test]
fn every_sequence_of_four_operations_leaves_the_board_as_the_design_says() {
    let alphabet = alphabet();
    let mut sequences = 0;
    descend(&Pair::holding_at_most(MAX_ROWS, 10), &alphabet, 4, &mut sequences);
    assert_eq!(sequences, 14 + 14 * 14 + 14 * 14 * 14 + 14 * 14 * 14 * 14);
}

/// Everything that a field of a row may be, few values each so that equal rows are common.
pub(crate) fn any_row() -> impl Strategy<Value = ReportedRow> {
    let sha = || prop_oneof![2 => Just(None), 3 => Just(Some("a1".into())), 1 => Just(Some("b2".into()))];
    let rarely = |text: &'static str| prop_oneof![6 => Just(None), 1 => Just(Some(text.into()))];
    let number = || prop_oneof![8 => Just(None), 1 => Just(Some(7)), 1 => Just(Some(u64::MAX))];
    let facts = (rarely("building"), sha(), sha(), rarely("c3"), rarely("exited 1"), rarely("d4"));
    let name = prop_oneof![20 => prop::sample::select(vec!["u", "v", "w", "x", "y/z"]), 1 => Just("not a name")];
    let files = prop_oneof![
        8 => Just(None),
        1 => Just(Some(vec!["b".into(), "a".into(), "b".into()])),
        1 => Just(Some(vec!["a".into(), "b".into()])),
    ];
    let rare = (prop::bool::weighted(0.02), number(), prop::option::weighted(0.1, 0..400_u64));
    let lapsed = prop::option::weighted(0.1, 0..100_u64);
    (name, facts, files, rare, lapsed, rarely("host")).prop_map(
        |(
            name,
            (phase, serving_sha, last_green, last_red_sha, last_red_reason, pending_sha),
            files,
            rare,
            lapsed,
            host,
        )| {
            let (too_large, proxy_port, idle_secs) = rare;
            ReportedRow {
                name: name.into(),
                phase,
                serving_sha,
                last_green,
                last_red_sha,
                last_red_reason,
                last_red_files: files,
                pending_sha,
                draining: too_large.then_some(1 << 53),
                // Mostly in range: a report with one bad row is refused whole.
                proxy_port: proxy_port.map(|port: u64| port.min((1 << 53) - 1)),
                public_host: host,
                expires_at: None,
                idle_secs,
                lapsed_secs: lapsed,
            }
        },
    )
}

fn any_report() -> impl Strategy<Value = Report> {
    let good_for = prop_oneof![
        4 => (1..200_u64).prop_map(GoodFor::Seconds),
        1 => Just(GoodFor::Seconds((1 << 53) - 1)),
        2 => Just(GoodFor::UntilRestart),
        1 => Just(GoodFor::Forever),
    ];
    let sequence = prop::option::weighted(0.2, prop_oneof![20 => 0..20_u64, 1 => Just(1 << 53)]);
    let by = prop::sample::select(vec!["a", "b", "c"]);
    (by, any::<bool>(), prop::collection::vec(any_row(), 0..5), good_for, sequence).prop_map(
        |(by, is_full, rows, good_for, sequence)| {
            let report = if is_full { full(by, rows, good_for) } else { partial(by, rows, good_for) };
            Report { sequence, ..report }
        },
    )
}

pub(crate) fn any_operation() -> impl Strategy<Value = Operation> {
    let by = || prop::sample::select(vec!["a", "b", "c"]).prop_map(String::from);
    let name = prop::sample::select(vec!["u", "v", "w", "x", "y/z", "unknown"]).prop_map(String::from);
    prop_oneof![
        12 => any_report().prop_map(Operation::Report),
        2 => (by(), name).prop_map(|(by, name)| Operation::Remove(by, name)),
        1 => by().prop_map(Operation::RemoveSource),
        1 => Just(Operation::Restart),
        6 => (0..200_u64).prop_map(Operation::Later),
        1 => (2_591_990..2_592_010_u64).prop_map(Operation::Later),
        1 => (0..300_u64).prop_map(Operation::Earlier),
    ]
}

pub(crate) fn any_horizon() -> impl Strategy<Value = Horizon> {
    prop_oneof![4 => (0..300_u64).prop_map(Horizon::After), 1 => Just(Horizon::After(u64::MAX)), 1 => Just(Horizon::Never)]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// A failing sequence is shrunk and printed with the seed that `proptest-regressions` then keeps.
    #[test]
    fn long_sequences_of_operations_leave_the_board_as_the_design_says(
        operations in prop::collection::vec(prop_oneof![20 => any_operation(), 1 => Just(Operation::Restore)], 1..150),
        horizon in any_horizon(),
    ) {
        let mut pair = Pair::holding_at_most(MAX_ROWS, 5_000_000);
        for operation in &operations {
            pair.apply(operation);
            pair.compare(&[horizon]);
        }
    }

    /// Four names compete for three places, on the board and in the memory.
    #[test]
    fn a_small_board_refuses_and_forgets_as_the_design_says(
        operations in prop::collection::vec(any_operation(), 1..150),
        horizon in any_horizon(),
    ) {
        let mut pair = Pair::holding_at_most(3, 5_000_000);
        for operation in &operations {
            pair.apply(operation);
            pair.compare(&[horizon]);
        }
    }
}
