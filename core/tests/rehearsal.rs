//! A record gives its classes, its outcome and its why; another policy gives another rotation.

#![cfg(feature = "rehearsal")]
#![expect(clippy::unwrap_used, reason = "a record that cannot be set up fails the test")]

use std::num::NonZeroU32;

use greenlight_core::rehearsal::{
    Class, Ending, Event, Header, Lane, Outcome, Record, RecordProblem, SCHEMA, Tick, moves, replay, summarize,
};
use greenlight_core::rotation::{Answer, Cause, MoveKind, RotationPolicy, Silence};
use proptest::prelude::*;

fn header() -> Header {
    Header {
        schema: SCHEMA.into(),
        every_us: 10_000,
        probe_timeout_us: 300_000,
        lag_us: 0,
        max_slow: 0,
        policy: RotationPolicy::default(),
        processes: vec!["old".into(), "new".into()],
    }
}

fn tick(number: u64, process: Option<&str>, class: Class) -> Event {
    let due_us = i64::try_from(number).unwrap() * 10_000;
    Event::Tick(Tick {
        tick: number,
        due_us,
        sent_us: process.map(|_| due_us + 20),
        end_us: due_us + 900,
        lane: if number.is_multiple_of(2) { Lane::Fresh } else { Lane::Kept },
        process: process.map(Into::into),
        class,
        error: None,
        reused: false,
        reopened: false,
    })
}

fn probe(at_us: i64, process: &str, answer: Answer) -> Event {
    Event::Probe { at_us, due_us: at_us - 1_000, process: process.into(), answer, late_us: 0 }
}

fn moved(at_us: i64, process: &str, kind: MoveKind, answer: Answer, in_a_row: u32) -> Event {
    Event::Move { at_us, process: process.into(), kind, cause: Cause { answer, in_a_row } }
}

fn ready() -> Answer {
    Answer::of_status(200, None)
}

fn silent() -> Answer {
    Answer::Silent { by: Silence::Timeout }
}

fn record(events: Vec<Event>, ticks: u64, how: Ending) -> Record {
    let end = Event::End { at_us: 1_000_000, ticks, how };
    Record::from_events([Event::Header(header())].into_iter().chain(events).chain([end])).unwrap()
}

fn sigterm(at_us: i64) -> Event {
    Event::Sigterm { at_us, process: "old".into() }
}

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
        assert_eq!(summary.lanes[&Lane::Kept].of(class), 1);
    }
}

#[test]
fn where_several_outcomes_hold_the_order_is_130_4_1_3_0() {
    let events = |class| vec![tick(0, Some("old"), class), tick(1, Some("old"), Class::Ours)];
    let exit = |class, how| summarize(&record(events(class), 2, how)).exit;
    assert_eq!(exit(Class::Refused, Ending::Interrupted), 130);
    assert_eq!(exit(Class::Refused, Ending::Incomplete { because: "new never joined".into() }), 4);
    assert_eq!(exit(Class::Refused, Ending::Complete), 1);
    assert_eq!(exit(Class::Ok, Ending::Complete), 3);
    assert_eq!(summarize(&record(vec![tick(0, Some("old"), Class::Ok)], 1, Ending::Complete)).exit, 0);
}

#[test]
fn a_tick_without_outcome_is_ours_and_the_sum_stays_whole() {
    let summary = summarize(&record(vec![tick(0, Some("old"), Class::Ok)], 5, Ending::Complete));
    assert_eq!((summary.totals.sum(), summary.totals.of(Class::Ours)), (5, 4));
    assert_eq!((summary.outcome, summary.fitness.without_outcome), (Outcome::Inconclusive, 4));
}

#[test]
fn slow_is_tolerated_up_to_the_number_said_and_not_beyond() {
    let mut slow = record(vec![tick(0, Some("old"), Class::Slow)], 1, Ending::Complete);
    assert_eq!(summarize(&slow).outcome, Outcome::Broken);
    slow.header.max_slow = 1;
    assert_eq!(summarize(&slow).outcome, Outcome::Kept);
}

#[test]
fn more_than_one_late_tick_in_a_hundred_is_unfit_to_judge() {
    let run = |late: u64| {
        let events = (0..100).map(|number| {
            let mut event = tick(number, Some("old"), Class::Ok);
            if let Event::Tick(tick) = &mut event
                && number < late
            {
                tick.sent_us = Some(tick.due_us + 300_001);
            }
            event
        });
        summarize(&record(events.collect(), 100, Ending::Complete)).outcome
    };
    assert_eq!(run(1), Outcome::Kept);
    assert_eq!(run(2), Outcome::Inconclusive);
}

#[test]
fn a_listener_that_closes_before_the_leave_is_named_with_the_lag() {
    let no = Answer::Refused { by: greenlight_core::rotation::Refuser::Host };
    let events = vec![
        moved(-1, "old", MoveKind::Join, ready(), 1),
        sigterm(5_000),
        tick(1, Some("old"), Class::Refused),
        tick(2, Some("old"), Class::Refused),
        moved(100_900, "old", MoveKind::Leave, no, 1),
    ];
    let summary = summarize(&record(events.clone(), 3, Ending::Complete));
    assert_eq!(summary.why, "old closed its listener at least 90 ms before it left rotation");
    let mut exited = events;
    exited.insert(2, Event::Exited { at_us: 5_900, process: "old".into(), exit: "exit 0".into() });
    assert_eq!(summarize(&record(exited, 3, Ending::Complete)).why, "old exited 95 ms before it left rotation");
}

#[test]
fn a_new_one_that_refuses_while_in_was_ready_too_early() {
    let events = vec![moved(0, "new", MoveKind::Join, ready(), 1), tick(1, Some("new"), Class::Refused)];
    let why = summarize(&record(events, 2, Ending::Complete)).why;
    assert!(why.starts_with("new was declared ready too early"), "{why}");
}

#[test]
fn the_drain_margin_is_the_last_connection_accepted_before_the_first_refused() {
    let tried = |at_us, accepted| Event::Tried { at_us, process: "old".into(), accepted };
    let events = |tries: &[(i64, bool)]| {
        let mut events = vec![sigterm(0), moved(1_000, "old", MoveKind::Leave, Answer::of_status(503, None), 1)];
        events.extend(tries.iter().map(|(at, accepted)| tried(*at, *accepted)));
        summarize(&record(events, 0, Ending::Complete)).drain_margin_us
    };
    assert_eq!(events(&[]), None);
    assert_eq!(events(&[(1_000, false)]), Some(0));
    assert_eq!(events(&[(51_000, true), (101_000, true), (151_000, false), (201_000, true)]), Some(100_000));
}

/// Ready, one stall, ready again: nobody leaves under three silences, one leave under one.
fn stalled() -> Record {
    let mut events = vec![probe(-1_000, "old", ready()), moved(-1_000, "old", MoveKind::Join, ready(), 1)];
    events.extend((0..10).map(|number| tick(number, Some("old"), Class::Ok)));
    events.extend([probe(15_000, "old", silent()), probe(45_000, "old", ready())]);
    record(events, 10, Ending::Complete)
}

fn silences(number: u32) -> RotationPolicy {
    RotationPolicy { silences_to_leave: NonZeroU32::new(number).unwrap(), ..RotationPolicy::default() }
}

#[test]
fn one_stall_is_a_leave_and_its_nobody_ticks_under_one_silence_only() {
    let record = stalled();
    let three = replay(&record, silences(3));
    assert_eq!((three.leaves, three.nobody, three.unknown), (0, 0, 0));
    let one = replay(&record, silences(1));
    // Due at 20, 30 and 40 ms; the answer that joins again came at 45.
    assert_eq!((one.leaves, one.nobody, one.unknown), (1, 3, 0));
}

#[test]
fn the_recorded_policy_replays_the_recorded_moves() {
    let record = stalled();
    let replayed: Vec<_> =
        moves(&record, record.header.policy).into_iter().map(|one| (one.at_us, one.process, one.kind)).collect();
    let recorded: Vec<_> = record.moves().map(|(at, process, kind, _)| (at, process.into(), kind)).collect();
    assert_eq!(replayed, recorded);
}

#[test]
fn a_replay_holds_only_until_the_sigterm_would_have_moved() {
    let events = vec![
        probe(-1, "old", ready()),
        moved(-1, "old", MoveKind::Join, ready(), 1),
        probe(1_000, "new", ready()),
        moved(1_000, "new", MoveKind::Join, ready(), 1),
        sigterm(1_100),
        probe(2_000, "new", ready()),
    ];
    let record = record(events, 0, Ending::Complete);
    assert_eq!(replay(&record, record.header.policy).holds_until_us, None);
    let two = RotationPolicy { answers_to_join: NonZeroU32::new(2).unwrap(), ..RotationPolicy::default() };
    assert_eq!(replay(&record, two).holds_until_us, Some(1_100));
}

#[test]
fn a_record_that_is_foreign_truncated_or_doubled_is_refused_with_its_line() {
    let refused = |events: Vec<Event>| Record::from_events(events).unwrap_err();
    let end = || Event::End { at_us: 0, ticks: 1, how: Ending::Complete };
    let head = || Event::Header(header());
    let newer = Header { schema: "greenlight.rehearsal/2".into(), ..header() };
    let one = || tick(0, Some("old"), Class::Ok);
    for (events, line, what) in [
        (vec![], 1, RecordProblem::NoHeader),
        (vec![one()], 1, RecordProblem::NoHeader),
        (vec![Event::Header(newer)], 1, RecordProblem::Schema("greenlight.rehearsal/2".into())),
        (vec![head(), head()], 2, RecordProblem::SecondHeader),
        (vec![head(), one()], 3, RecordProblem::Truncated),
        (vec![head(), end(), one()], 3, RecordProblem::AfterTheEnd),
        (vec![head(), one(), one(), end()], 3, RecordProblem::Tick(0)),
        (vec![head(), tick(1, None, Class::Nobody), end()], 2, RecordProblem::Tick(1)),
        (vec![head(), tick(0, Some("x"), Class::Ok), end()], 2, RecordProblem::UnknownProcess("x".into())),
    ] {
        let error = refused(events);
        assert_eq!((error.line, error.what), (line, what));
    }
}

#[test]
fn every_event_reads_back_from_its_line() {
    for event in stalled().events.into_iter().chain([Event::Header(header()), sigterm(7)]) {
        let line = serde_json::to_string(&event).unwrap();
        assert_eq!(serde_json::from_str::<Event>(&line).unwrap(), event, "{line}");
    }
}

proptest! {
    #[test]
    fn the_sum_of_the_classes_equals_the_ticks(
        classes in prop::collection::vec(prop::option::of(prop::sample::select(Class::ALL.to_vec())), 0..80),
    ) {
        let ticks = u64::try_from(classes.len()).unwrap();
        let events = (0..).zip(&classes).filter_map(|(number, class)| class.map(|class| tick(number, Some("old"), class)));
        let summary = summarize(&record(events.collect(), ticks, Ending::Complete));
        prop_assert_eq!(summary.totals.sum(), ticks);
        prop_assert_eq!(summary.totals.sum(), summary.missed + summary.totals.of(Class::Ok));
    }
}
