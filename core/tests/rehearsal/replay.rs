//! The recorded probes under another policy.

use std::num::NonZeroU32;

use greenlight_core::rehearsal::{Class, Ending, Event, moves, replay, summarize, what_if};
use greenlight_core::rotation::{Answer, HoldLast, MoveKind, RotationPolicy};
use proptest::prelude::*;

use crate::story::{cut, every_100_ms, header, moved, no, play, probe, ready, record, refused, sigterm, silent, tick};

fn count(number: u32) -> NonZeroU32 {
    NonZeroU32::new(number).unwrap()
}

#[test]
fn one_or_two_stalls_make_nobody_leave_and_under_one_silence_they_would() {
    // The answer that joins again comes 100 ms after the first stall, and again after the second.
    for (stalls, nobody) in [(1, 10), (2, 20)] {
        let mut answers = vec![ready(), ready()];
        answers.extend((0..stalls).map(|_| silent()));
        answers.extend([ready(), ready()]);
        let record = play(header(), &every_100_ms(&answers), 60);
        let summary = summarize(&record);
        assert_eq!((summary.exit, summary.totals.of(Class::Nobody), record.moves().count()), (0, 0, 1));
        let three = what_if(&record, count(3));
        assert_eq!((three.leaves, three.nobody, three.unknown), (0, 0, 0));
        let one = what_if(&record, count(1));
        assert_eq!((one.leaves, one.nobody, one.unknown, one.holds_until_us), (1, nobody, 0, None));
    }
}

#[test]
fn three_stalls_are_one_leave_and_nobody_until_the_next_answer_and_no_refusal() {
    let answers = [ready(), silent(), silent(), silent(), ready(), ready()];
    let record = play(header(), &every_100_ms(&answers), 60);
    let summary = summarize(&record);
    let leaves: Vec<_> = record.moves().filter(|(_, _, kind, _)| *kind == MoveKind::Leave).collect();
    assert_eq!((leaves.len(), leaves[0].0, leaves[0].3.to_string()), (1, 295_000, "silent 3 times in a row".into()));
    // Left at 295 ms, joined again at 395 ms: the ticks due from 300 to 390 ms.
    assert_eq!((summary.totals.of(Class::Nobody), summary.lost, summary.exit), (10, 0, 1));
    assert_eq!(summary.why, "nobody was in rotation for 10 ticks: old had left (silent 3 times in a row)");
}

#[test]
fn a_lag_delays_what_the_stream_sees_of_a_move() {
    let record = {
        let mut record = play(header(), &every_100_ms(&[ready(), silent(), ready(), ready()]), 40);
        record.header.options.lag_us = 30_000;
        record
    };
    // Under one silence: out at 95 + 30 ms, in again at 195 + 30 ms; and nobody before the first join at 25 ms.
    assert_eq!(what_if(&record, count(1)).nobody, 3 + 10);
}

#[test]
fn a_tick_that_is_sent_late_goes_to_whoever_is_in_by_then() {
    let answers = [(-5_000, "old", ready()), (2_000, "new", ready()), (5_000, "old", no())];
    let mut late = tick(0, Some("new"), Class::Ok);
    if let Event::Tick(tick) = &mut late {
        tick.sent_us = Some(400_000);
    }
    let mut events = play(header(), &answers, 0).events;
    events.push(late);
    let record = record(events, 1, Ending::Complete);
    let same = replay(&record, record.header.policy);
    assert_eq!((same.nobody, same.unknown), (0, 0));
}

#[test]
fn a_tick_that_would_have_gone_elsewhere_is_unknown() {
    let answers =
        [(-5_000, "old", ready()), (-4_000, "new", ready()), (25_000, "new", silent()), (65_000, "new", ready())];
    let record = play(header(), &answers, 20);
    let one = what_if(&record, count(1));
    assert_eq!((one.leaves, one.nobody), (1, 0));
    assert!(one.unknown > 0, "{one:?}");
    assert_eq!(what_if(&record, count(2)).unknown, 0);
}

#[test]
fn a_replay_holds_only_until_the_sigterm_would_have_moved() {
    let events = vec![
        probe(-1, "old", ready()),
        moved(-1, "old", MoveKind::Join, ready()),
        probe(1_000, "new", ready()),
        moved(1_000, "new", MoveKind::Join, ready()),
        sigterm(1_100),
        probe(2_000, "new", ready()),
    ];
    let record = record(events, 0, Ending::Complete);
    assert_eq!(replay(&record, record.header.policy).holds_until_us, None);
    let joining_after = |answers| RotationPolicy { answers_to_join: count(answers), ..RotationPolicy::default() };
    assert_eq!(replay(&record, joining_after(2)).holds_until_us, Some(1_100));
    assert_eq!(replay(&record, joining_after(3)).holds_until_us, Some(1_100));
}

fn answer() -> impl Strategy<Value = Answer> {
    let fault = Answer::Fault { code: "EMFILE".into() };
    prop::sample::select(vec![ready(), ready(), ready(), no(), refused(), cut(), silent(), silent(), silent(), fault])
}

proptest! {
    #[test]
    fn the_recorded_policy_replays_the_recorded_moves_and_no_tick_is_unknown(
        answers in prop::collection::vec((0_i64..20_000, prop::sample::select(vec!["old", "new"]), answer()), 0..60),
        silences in 1_u32..4,
        joins in 1_u32..3,
        holds in any::<bool>(),
        lanes in 0_u64..100,
    ) {
        let mut at_us = -5_000;
        let answers: Vec<_> = answers
            .into_iter()
            .map(|(after, process, answer)| {
                at_us += after;
                (at_us, process, answer)
            })
            .collect();
        let mut header = header();
        header.policy = RotationPolicy {
            silences_to_leave: count(silences),
            answers_to_join: count(joins),
            hold_last: HoldLast::from(holds),
        };
        let record = play(header, &answers, lanes);
        let replayed: Vec<_> =
            moves(&record, record.header.policy).into_iter().map(|one| (one.at_us, one.process, one.kind)).collect();
        let recorded: Vec<_> = record.moves().map(|(at, process, kind, _)| (at, process.into(), kind)).collect();
        prop_assert_eq!(replayed, recorded);
        let same = replay(&record, record.header.policy);
        prop_assert_eq!((same.nobody, same.unknown), (summarize(&record).totals.of(Class::Nobody), 0));
    }
}
