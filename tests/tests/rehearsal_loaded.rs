//! Twenty rolls of a graceful server on a loaded machine all come out the same.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a helper of a test fails the test, and prints its misses"
)]

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use greenlight_tests::rehearsal::Rehearsal;

/// The load of one test is no affair of another.
static ONE_LOAD_AT_A_TIME: Mutex<()> = Mutex::new(());

/// Rolls so often, under threads that burn processor time, and counts the outcomes. What is not kept is printed with
/// its misses.
fn outcomes(runs: u32, busy: usize) -> (BTreeMap<String, u32>, String) {
    let _alone = ONE_LOAD_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let (runs, busy) = (runs.to_string(), busy.to_string());
    let rehearsal = Rehearsal::of("--grace 1000").with(&["--runs", &runs, "--busy", &busy]);
    let output = rehearsal.command().output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut outcomes = BTreeMap::new();
    for word in said.lines().filter_map(|line| line.strip_prefix("run ")?.split_once(": ").map(|(_, word)| word)) {
        *outcomes.entry(word.to_owned()).or_default() += 1;
    }
    (outcomes, said)
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

#[test]
fn twenty_rolls_with_every_core_busy_are_all_kept() {
    let (outcomes, said) = outcomes(20, cores());
    println!("{said}");
    assert_eq!(outcomes, BTreeMap::from([("kept".into(), 20)]), "{said}");
}

/// Threads that burn processor time, so many for each core: a slow machine may keep us from judging, and that is all.
#[track_caller]
fn nobody_is_called_broken(runs: u32, busy_per_core: usize) {
    let (outcomes, said) = outcomes(runs, busy_per_core * cores());
    println!("{said}");
    let judged = ["kept", "inconclusive"].iter().filter_map(|word| outcomes.get(*word)).sum::<u32>();
    assert_eq!((judged, outcomes.values().sum()), (runs, runs), "{said}");
}

#[test]
fn under_four_times_the_load_nobody_is_called_broken() {
    nobody_is_called_broken(5, 4);
}

#[test]
fn under_forty_times_the_load_nobody_is_called_broken() {
    nobody_is_called_broken(3, 40);
}
