//! A roll whose every answer is known, at whatever moment it is asked for: recorded within one time and played within
//! another. What a replay of the record says of who is in, the play says too; where it cannot say, it says so.

use std::num::NonZeroU32;

use greenlight_core::Name;
use greenlight_core::rehearsal::{Ending, Event, Membership, Record, Replay, Trial};
use greenlight_core::rotation::{Answer, HoldLast, Member, MoveKind, Rotation, RotationPolicy};
use proptest::prelude::*;

use crate::story::{header, no, ready, refused, silent, under};

const EVERY_US: i64 = 100_000;
const END_US: i64 = 4_000_000;
const LATE_AT_MOST_US: i64 = 3_000_000;

/// For each process: from which moment on its answers are of which kind, and how long they take.
type World = Vec<Vec<(i64, u8, i64)>>;

/// What a probe that is sent at a moment would be answered, and after what time. Both odd enough for no two moments of
/// two processes to be the same.
fn answer(world: &World, process: usize, sent_us: i64) -> (i64, Answer) {
    let spans = &world[process];
    let (_, kind, took) = spans[spans.partition_point(|(from, ..)| *from <= sent_us).saturating_sub(1)];
    let answer = match kind {
        0 => no(),
        1 => refused(),
        _ => ready(),
    };
    (took + [3, 11][process], answer)
}

/// What a prober with this patience records of one process.
fn probes(world: &World, process: usize, timeout_us: i64) -> Vec<Event> {
    let name: Box<str> = ["old", "new"][process].into();
    let mut events = Vec::new();
    let mut awaited_until = i64::MIN;
    let mut due_us = [0, 40_000][process];
    while due_us < END_US {
        let (took, answer) = answer(world, process, due_us);
        let is_silent = took > timeout_us;
        let at_us = due_us + took.min(timeout_us);
        let said = if is_silent { silent() } else { answer.clone() };
        events.push(Event::Probe {
            at_us,
            due_us,
            sent_us: Some(due_us),
            process: name.clone(),
            answer: said,
            late_us: 0,
        });
        if is_silent && awaited_until <= at_us {
            awaited_until = (due_us + took).min(at_us + LATE_AT_MOST_US);
            if due_us + took <= at_us + LATE_AT_MOST_US {
                events.push(Event::Late { at_us: due_us + took, due_us, process: name.clone(), answer });
            }
        }
        while due_us <= at_us {
            due_us += EVERY_US;
        }
    }
    events
}

fn recorded(world: &World, policy: RotationPolicy, timeout_us: i64) -> Record {
    let mut header = header();
    header.policy = policy;
    header.options.probe_timeout_us = timeout_us;
    header.options.probe_every_us = EVERY_US;
    let mut events = [probes(world, 0, timeout_us), probes(world, 1, timeout_us)].concat();
    events.sort_by_key(Event::at_us);
    under(header, events, 0, Ending::Complete)
}

/// Who joins and leaves when, in truth.
fn played(record: &Record) -> Vec<(i64, usize, MoveKind)> {
    let policy = record.header.policy;
    let mut rotation = Rotation::new();
    let ids =
        ["old", "new"].map(|name| rotation.add(Member::new(Name::of_instance(name).unwrap(), policy, None, 0_i64)));
    let mut moves = Vec::new();
    for event in &record.events {
        if let Event::Probe { at_us, process, answer, .. } = event {
            let place = usize::from(**process == *"new");
            if let Some(moved) = rotation.handle(ids[place], answer.clone(), *at_us).moved {
                moves.push((*at_us, place, moved.kind));
            }
        }
    }
    moves
}

fn place_in_truth(moves: &[(i64, usize, MoveKind)], process: usize, at_us: i64) -> Membership {
    let past = moves.iter().rev().find(|(at, one, _)| *one == process && *at <= at_us);
    if past.is_some_and(|(.., kind)| *kind == MoveKind::Join) { Membership::In } else { Membership::Out }
}

fn spans() -> impl Strategy<Value = Vec<(i64, u8, i64)>> {
    let took = prop::sample::select(vec![2_000, 2_000, 40_000, 90_000, 140_000, 260_000, 420_000, 900_000, 4_000_000]);
    let span = (0..END_US, 0_u8..8, took);
    prop::collection::vec(span, 0..12).prop_map(|mut spans| {
        spans.sort_unstable();
        spans.insert(0, (i64::MIN, 7, 2_000));
        spans
    })
}

fn timeout() -> impl Strategy<Value = i64> {
    prop::sample::select(vec![50_000, 100_000, 150_000, 200_000, 300_000, 500_000, 1_000_000, 2_000_000, 3_000_000])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn a_replay_within_another_time_says_nothing_that_is_not_so(
        old in spans(),
        new in spans(),
        (was, is) in (timeout(), timeout()),
        silences in 1_u32..7,
        joins in 1_u32..4,
        holds in any::<bool>(),
    ) {
        let policy = RotationPolicy {
            silences_to_leave: NonZeroU32::new(silences).unwrap(),
            answers_to_join: NonZeroU32::new(joins).unwrap(),
            hold_last: HoldLast::from(holds),
        };
        let world = vec![old, new];
        let replay = Replay::of(&recorded(&world, policy, was), &Trial { policy, probe_timeout_us: is });
        let truth = played(&recorded(&world, policy, is));
        let moments: Vec<i64> = replay.shifts.iter().map(|(at, ..)| *at).chain(truth.iter().map(|(at, ..)| *at)).collect();
        for at_us in moments {
            for process in 0..2 {
                let told = replay.shifts.iter().rev().find(|(at, one, _)| *one == process && *at <= at_us);
                let told = told.map_or(Membership::Out, |(.., to)| *to);
                if told != Membership::Unknown {
                    prop_assert_eq!(told, place_in_truth(&truth, process, at_us), "process {} at {}", process, at_us);
                }
            }
        }
        if was == is {
            prop_assert!(replay.shifts.iter().all(|(.., to)| *to != Membership::Unknown));
        }
    }
}
