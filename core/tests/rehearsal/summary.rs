//! Classes, sums, precedence, fitness, margin and gap.

use greenlight_core::rehearsal::{Class, Door, Ending, Event, Lane, Outcome, Record, Unfinished, summarize};
use greenlight_core::rotation::MoveKind;
use proptest::prelude::*;

use crate::story::{header, moved, no, ready, record, sigterm, tick, tried, under};

#[test]
fn each_class_alone_has_its_outcome() {
    for class in Class::ALL {
        let events = vec![tick(0, Some("old"), Class::Ok), tick(1, Some("old"), class)];
        let summary = summarize(&record(events, 2, Ending::Complete));
        let expected = match class {
            Class::Ok => Outcome::Kept,
            Class::Ours => Outcome::Inconclusive,
            _ => Outcome::Broken,
        };
        assert_eq!(summary.outcome, expected, "{class:?}");
        assert_eq!(summary.totals.sum(), 2);
        assert_eq!(summary.missed, u64::from(class != Class::Ok), "{class:?}");
        let is_lost = matches!(class, Class::Refused | Class::Cut | Class::Torn | Class::Garbled);
        assert_eq!(summary.lost, u64::from(is_lost), "{class:?}");
        assert_eq!(summary.lanes.of(Lane::Kept).of(class), 1);
        assert_eq!(summary.lanes.of(Lane::Fresh).of(Class::Ok), 1);
        // Every class that breaks the promise is found, and the first finding is the word on it.
        let found = !matches!(class, Class::Ok | Class::Ours);
        assert_eq!(summary.findings.len(), usize::from(found), "{class:?}");
        assert!(!found || summary.why == summary.findings[0].to_string(), "{}", summary.why);
    }
}

#[test]
fn where_several_outcomes_hold_the_order_is_130_4_1_3_0() {
    let exit = |classes: [Class; 2], how| {
        let events = (0..).zip(classes).map(|(number, class)| tick(number, Some("old"), class)).collect();
        summarize(&record(events, 2, how)).exit
    };
    let incomplete = || Ending::Incomplete { because: Unfinished::NeverReady, process: "new".into() };
    let failed = || Ending::Failed { because: "no thread".into() };
    let bad = [Class::Refused, Class::Ours];
    assert_eq!(exit(bad, Ending::Interrupted), 130);
    assert_eq!(exit(bad, incomplete()), 4);
    assert_eq!(exit(bad, Ending::Complete), 1);
    assert_eq!(exit(bad, failed()), 1);
    assert_eq!(exit([Class::Ok, Class::Ours], Ending::Complete), 3);
    assert_eq!(exit([Class::Ok, Class::Ok], failed()), 3);
    assert_eq!(exit([Class::Ok, Class::Ok], Ending::Complete), 0);
}

#[test]
fn a_tick_without_outcome_is_ours_and_the_sum_stays_whole() {
    let summary = summarize(&record(vec![tick(0, Some("old"), Class::Ok)], 5, Ending::Complete));
    assert_eq!((summary.totals.sum(), summary.totals.of(Class::Ours)), (5, 4));
    assert_eq!((summary.exit, summary.fitness.without_outcome), (3, 4));
    assert_eq!(summary.why, "4 ticks without outcome");
}

#[test]
fn a_roll_that_did_not_complete_says_what_was_missing() {
    let why = |because, process: &str| {
        summarize(&record(vec![], 0, Ending::Incomplete { because, process: process.into() })).why
    };
    assert_eq!(why(Unfinished::NeverReady, "new"), "the roll did not complete: new was not ready within 30.0 s");
    assert_eq!(
        why(Unfinished::NeverExited, "old"),
        "the roll did not complete: old did not exit within 30.0 s of its SIGTERM"
    );
    assert_eq!(why(Unfinished::EndedEarly, "new"), "the roll did not complete: new ended by itself (unknown)");
}

#[test]
fn a_command_that_ended_and_left_its_server_behind_is_told_to_become_it() {
    let never_gone = Ending::Incomplete { because: Unfinished::NeverExited, process: "old".into() };
    let why = summarize(&record(vec![sigterm(0), crate::story::exited(5, "old")], 0, never_gone)).why;
    let expected = "the roll did not complete: the process of old ended (exit 0), but something still answers at its \
                    address: it started the server as a process of its own, which no SIGTERM reached; start the server \
                    by exec, in a script as under --shell";
    assert_eq!(why, expected);
}

#[test]
fn one_that_listens_elsewhere_is_named_with_both_addresses() {
    let event = Event::Elsewhere {
        at_us: 0,
        process: "new".into(),
        asked: "127.0.0.1:20001".into(),
        found: "[::1]:20001".into(),
    };
    let never_ready = Ending::Incomplete { because: Unfinished::NeverReady, process: "new".into() };
    let why = summarize(&record(vec![event], 0, never_ready)).why;
    let expected = "the roll did not complete: new was not ready within 30.0 s: nobody listens at 127.0.0.1:20001, \
                    somebody does at [::1]:20001";
    assert_eq!(why, expected);
}

#[test]
fn an_event_moves_with_all_its_moments() {
    for event in [tick(3, Some("old"), Class::Ok), crate::story::probe(0, "old", ready()), sigterm(5)] {
        assert_eq!(event.clone().later(250).later(-250), event);
        assert_eq!(event.clone().later(250).at_us(), event.at_us().map(|at| at + 250));
    }
}

#[test]
fn slow_is_tolerated_up_to_the_number_said_and_not_beyond() {
    let mut slow = record(vec![tick(0, Some("old"), Class::Slow)], 1, Ending::Complete);
    assert_eq!(summarize(&slow).outcome, Outcome::Broken);
    slow.header.options.max_slow = 1;
    let summary = summarize(&slow);
    assert_eq!((summary.outcome, summary.missed), (Outcome::Kept, 1));
    assert_eq!(summary.why, "nobody was refused; 1 tick slow, within the tolerance");
}

#[test]
fn more_than_one_late_tick_in_a_hundred_is_unfit_to_judge() {
    let run = |late: u64, late_us: i64| {
        let events = (0..100).map(|number| {
            let mut event = tick(number, Some("old"), Class::Ok);
            if let Event::Tick(tick) = &mut event
                && number < late
            {
                tick.sent_us = Some(tick.due_us + late_us);
            }
            event
        });
        summarize(&record(events.collect(), 100, Ending::Complete)).outcome
    };
    assert_eq!(run(1, 300_001), Outcome::Kept);
    assert_eq!(run(2, 300_000), Outcome::Kept);
    assert_eq!(run(2, 300_001), Outcome::Inconclusive);
}

#[test]
fn lateness_is_told_by_its_99th_percentile_and_its_maximum() {
    let events = (0..200).map(|number| {
        let mut event = tick(number, Some("old"), Class::Ok);
        if let Event::Tick(tick) = &mut event {
            tick.sent_us = Some(tick.due_us + i64::try_from(number).unwrap());
        }
        event
    });
    let fitness = summarize(&record(events.collect(), 200, Ending::Complete)).fitness;
    assert_eq!((fitness.late_p99_us, fitness.late_max_us, fitness.late_ticks), (197, 199, 0));
}

#[test]
fn a_probe_is_judged_late_by_us_from_ten_milliseconds_on_and_not_by_the_grain_of_a_timer() {
    let events = [0, 1_200, 10_000, 10_001].into_iter().map(|by_us| {
        let mut event = crate::story::probe(0, "old", ready());
        if let Event::Probe { late_us, .. } = &mut event {
            *late_us = by_us;
        }
        event
    });
    let fitness = summarize(&record(events.collect(), 0, Ending::Complete)).fitness;
    assert_eq!((fitness.late_probes, fitness.late_probe_max_us), (1, 10_001));
}

#[test]
fn a_control_lane_that_fails_makes_the_run_unfit() {
    let events = vec![tick(0, Some("old"), Class::Ok), Event::Control { due_us: 0, took_us: None }];
    let summary = summarize(&record(events, 1, Ending::Complete));
    assert_eq!((summary.outcome, summary.fitness.control_failed), (Outcome::Inconclusive, 1));
}

#[test]
fn a_record_that_breaks_off_is_inconclusive_unless_it_shows_a_miss() {
    let outcome = |class| {
        let whole = record(vec![tick(0, Some("old"), class)], 1, Ending::Complete);
        summarize(&Record { ending: None, ..whole }).outcome
    };
    assert_eq!(outcome(Class::Ok), Outcome::Inconclusive);
    assert_eq!(outcome(Class::Refused), Outcome::Broken);
}

#[test]
fn the_drain_margin_is_the_last_connection_accepted_before_the_first_refused() {
    let margin = |tries: &[(i64, Door)]| {
        let mut events = vec![sigterm(0), moved(1_000, "old", MoveKind::Leave, no())];
        events.extend(tries.iter().map(|(at, found)| tried(*at, *found)));
        summarize(&record(events, 0, Ending::Complete)).drain_margin_us
    };
    let (open, closed) = (Door::Open, Door::Closed);
    assert_eq!(margin(&[]), None);
    assert_eq!(margin(&[(51_000, Door::Ours)]), None);
    assert_eq!(margin(&[(1_000, closed)]), Some(0));
    assert_eq!(margin(&[(51_000, open), (101_000, open), (151_000, closed), (201_000, open)]), Some(100_000));
    assert_eq!(margin(&[(51_000, open), (101_000, Door::Silent), (151_000, closed)]), Some(50_000));
}

#[test]
fn the_margin_of_one_that_had_left_before_its_sigterm_counts_from_the_signal() {
    let events = vec![moved(-5_000, "old", MoveKind::Leave, no()), sigterm(10_000), tried(60_000, Door::Open)];
    assert_eq!(summarize(&record(events, 0, Ending::Complete)).drain_margin_us, Some(50_000));
}

#[test]
fn the_longest_gap_counts_from_the_first_due_tick_to_the_end_of_the_stream() {
    let gap = |good: &[u64]| {
        let class = |number| if good.contains(&number) { Class::Ok } else { Class::Cut };
        let events = (0..10).map(|number| tick(number, Some("old"), class(number))).collect();
        summarize(&record(events, 10, Ending::Complete)).longest_gap_us
    };
    assert_eq!(gap(&[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]), 10_000);
    assert_eq!(gap(&[5, 6, 7, 8, 9]), 50_900);
    assert_eq!(gap(&[0, 1, 2]), 79_100);
    assert_eq!(gap(&[0, 1, 4, 5, 6, 7, 8, 9]), 30_000);
    assert_eq!(gap(&[]), 100_000);
}

#[test]
fn no_number_in_a_record_overflows_what_is_made_of_it() {
    let mut extreme = vec![sigterm(i64::MIN), moved(i64::MAX, "old", MoveKind::Join, ready())];
    for (number, (due_us, end_us)) in (0..).zip([(i64::MIN, i64::MAX), (i64::MAX, i64::MIN)]) {
        let mut event = tick(number, Some("old"), Class::Refused);
        if let Event::Tick(tick) = &mut event {
            (tick.due_us, tick.end_us, tick.sent_us) = (due_us, end_us, Some(i64::MAX));
        }
        extreme.push(event);
    }
    extreme.push(Event::Control { due_us: i64::MAX, took_us: Some(i64::MAX) });
    let mut header = header();
    header.options.every_us = i64::MAX;
    header.options.lag_us = i64::MAX;
    let events = [Event::Header(header)].into_iter().chain(extreme);
    let end = [Event::End { at_us: i64::MIN, ticks: u64::MAX, how: Ending::Complete }];
    let record = Record::from_events(events.chain(end)).unwrap();
    assert_eq!(summarize(&record).totals.sum(), u64::MAX);
    assert!(greenlight_core::rehearsal::junit(&record).contains("BROKEN"));
}

proptest! {
    #[test]
    fn the_sum_of_the_classes_equals_the_ticks(
        classes in prop::collection::vec(prop::option::of(prop::sample::select(Class::ALL.to_vec())), 0..80),
    ) {
        let ticks = u64::try_from(classes.len()).unwrap();
        let told = (0..).zip(&classes);
        let events = told.filter_map(|(number, class)| class.map(|class| tick(number, Some("old"), class)));
        let summary = summarize(&record(events.collect(), ticks, Ending::Complete));
        prop_assert_eq!(summary.totals.sum(), ticks);
        prop_assert_eq!(summary.totals.sum(), summary.missed + summary.totals.of(Class::Ok));
        let of_lanes: u64 = Lane::ALL.into_iter().map(|lane| summary.lanes.of(lane).sum()).sum();
        prop_assert_eq!(of_lanes + summary.fitness.without_outcome, ticks);
        prop_assert_eq!(summary.exit == 0, ticks > 0 && summary.missed == 0);
    }
}

#[test]
fn a_run_without_ticks_is_inconclusive() {
    let none = under(header(), vec![], 0, Ending::Complete);
    assert_eq!((summarize(&none).exit, summarize(&none).why.as_str()), (3, "nothing was asked"));
}
