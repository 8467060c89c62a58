//! The recorded probes within another time.

use std::num::NonZeroU32;

use greenlight_core::rehearsal::{Class, Ending, Event, Membership, Record, Replay, Trial, Untold};
use greenlight_core::rotation::{Answer, RotationPolicy};

use crate::story::{header, ready, record, silent, tick};

/// A probe of the old one, sent when it was due.
fn probe(due_us: i64, at_us: i64, answer: Answer) -> Event {
    Event::Probe { at_us, due_us, sent_us: Some(due_us), process: "old".into(), answer, late_us: 0 }
}

fn late(due_us: i64, at_us: i64, answer: Answer) -> Event {
    Event::Late { at_us, due_us, process: "old".into(), answer }
}

fn of(events: Vec<Event>) -> Record {
    record(events, 0, Ending::Complete)
}

#[track_caller]
fn check(record: &Record, silences: u32, timeout_us: i64, expected: &[(i64, Membership)]) {
    let policy = RotationPolicy { silences_to_leave: NonZeroU32::new(silences).unwrap(), ..RotationPolicy::default() };
    let replay = Replay::of(record, &Trial { policy, probe_timeout_us: timeout_us });
    let shifts: Vec<_> = replay.shifts.iter().map(|(at, _, to)| (*at, *to)).collect();
    assert_eq!(shifts, expected);
}

use Membership::{In, Out, Unknown};

#[test]
fn an_answer_that_took_longer_than_a_shorter_time_is_a_silence_at_its_end() {
    let record = of(vec![probe(0, 900, ready()), probe(100_000, 180_000, ready()), probe(200_000, 200_900, ready())]);
    check(&record, 1, 300_000, &[(900, In)]);
    check(&record, 1, 80_000, &[(900, In)]);
    check(&record, 1, 79_999, &[(900, In), (179_999, Out), (200_900, In)]);
    check(&record, 2, 79_999, &[(900, In)]);
}

#[test]
fn what_would_have_been_asked_while_a_probe_was_undecided_is_unknown() {
    let record = of(vec![probe(0, 900, ready()), probe(100_000, 350_000, ready()), probe(400_000, 400_900, ready())]);
    // Silent at 150 ms; then one would have been asked at 200 and one at 300 ms.
    let expected = [(900, In), (150_000, Out), (200_000, Unknown), (400_900, In)];
    check(&record, 1, 50_000, &expected);
    check(&record, 2, 50_000, &[(900, In), (200_000, Unknown), (400_900, In)]);
    // The one at 300 ms need not have been over when that at 400 ms was due.
    check(&record, 9, 150_000, &[(900, In), (300_000, Unknown)]);
}

#[test]
fn a_silence_whose_late_answer_is_recorded_is_that_answer_within_a_longer_time() {
    let silence = vec![probe(0, 900, ready()), probe(100_000, 400_000, silent()), probe(500_000, 500_900, ready())];
    let mut events = silence.clone();
    events.insert(2, late(100_000, 450_000, ready()));
    let record = of(events);
    check(&record, 1, 300_000, &[(900, In), (400_000, Out), (500_900, In)]);
    check(&record, 1, 350_000, &[(900, In)]);
    check(&record, 1, 349_999, &[(900, In), (449_999, Out), (500_900, In)]);
    // Without one nobody can say, and what is due until the time is up need not have been asked.
    check(&of(silence.clone()), 1, 350_000, &[(900, In), (400_000, Unknown), (500_900, In)]);
    check(&of(silence), 1, 400_000, &[(900, In), (400_000, Unknown)]);
}

#[test]
fn what_was_asked_while_a_longer_time_would_have_run_is_not_heard() {
    let record = of(vec![
        probe(0, 900, ready()),
        probe(100_000, 400_000, silent()),
        probe(500_000, 500_900, Answer::of_status(503, None)),
        late(100_000, 550_000, ready()),
        probe(600_000, 600_900, ready()),
    ]);
    check(&record, 3, 300_000, &[(900, In), (500_900, Out), (600_900, In)]);
    check(&record, 3, 450_000, &[(900, In)]);
}

#[test]
fn a_tick_while_nobody_can_say_who_is_in_is_unknown_and_never_ok() {
    let mut events =
        vec![probe(-10_000, -9_100, ready()), probe(0, 300_000, silent()), probe(400_000, 400_900, ready())];
    events.extend((0..45).map(|number| tick(number, Some("old"), Class::Ok)));
    let record = record(events, 45, Ending::Complete);
    let trial = Trial {
        probe_timeout_us: 380_000,
        policy: RotationPolicy { silences_to_leave: NonZeroU32::MIN, ..RotationPolicy::default() },
    };
    let replay = Replay::of(&record, &trial);
    assert_eq!((replay.ticks(Untold::Nobody), replay.ticks(Untold::Unknown)), (0, 11));
    assert_eq!(replay.untold.first(), Some(&(300_000, Untold::Unknown)));
    assert_eq!((replay.leaves(), replay.holds_until_us), (0, None));
    assert_eq!(Replay::of(&record, &Trial::recorded(&record)).untold, []);
}

#[test]
fn a_member_that_is_not_heard_of_long_enough_is_out_for_certain() {
    // Two unknown answers and then three silences in a row: whatever came before, that is enough.
    let mut events = vec![probe(0, 900, ready()), probe(100_000, 350_000, ready())];
    events.extend((4..7).map(|number| probe(number * 100_000, number * 100_000 + 60_000, silent())));
    check(&of(events), 3, 50_000, &[(900, In), (200_000, Unknown), (650_000, Out)]);
    assert_eq!(header().options.probe_every_us, 100_000);
}
