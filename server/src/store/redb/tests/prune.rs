//! Dropping old events must not change what a replay shows from the cut on.

use greenlight_core::history::{Event, Happening, Past};
use greenlight_core::{Held, Name, Row, UnixSeconds, Vouch};

use super::disk::Disk;
use super::model::{Random, all_events, at, name};
use crate::store::{Batch, EventReader, Store};

/// Every row of a board, in order of name.
fn rows(past: &Past) -> Vec<(Held, Vouch)> {
    past.rows().map(|row| ((**row.held).clone(), *row.vouch)).collect()
}

/// The board after everything up to a moment, as the store tells it.
fn told(reader: &EventReader, upto: UnixSeconds) -> Vec<(Held, Vouch)> {
    rows(&reader.opening(upto.later(1), UnixSeconds::MAX).unwrap().past)
}

/// The same from all that was ever recorded.
fn lived(events: &[Event], upto: UnixSeconds) -> Vec<(Held, Vouch)> {
    let mut past = Past::new();
    for event in events.iter().filter(|event| event.at_unix <= upto) {
        past.apply(event);
    }
    rows(&past)
}

fn random_event(moment: u64, random: &mut Random) -> Event {
    let some = |random: &mut Random| -> Vec<Name> {
        (0..6).filter(|_| random.one_in(2)).map(|n| name(&format!("i{n}"))).collect()
    };
    let one = name(&format!("i{}", random.below(6)));
    let source = name("ci");
    let what = match random.below(10) {
        0..=3 => Happening::Changed {
            order: u64::from(one.as_bytes()[1]),
            name: one,
            source,
            last_change_unix: at(moment + random.below(9)),
            stored_change_unix: random.one_in(3).then(|| at(moment + random.below(99))),
            row: Box::new(Row { draining: moment, ..Row::default() }),
        },
        4 => Happening::Removed { name: one },
        5 | 6 => {
            let good_until_unix = random.one_in(2).then(|| at(random.below(moment)));
            Happening::Lapsed { source, names: some(random), good_until_unix }
        }
        7 if random.one_in(4) => Happening::Resumed { watched_until_unix: at(moment - 1) },
        7 => Happening::CameBack { source, names: some(random) },
        8 if random.one_in(9) => Happening::Retold { missing_since_unix: None },
        _ => {
            let drift_secs = i64::try_from(random.below(9)).unwrap() - 4;
            Happening::Started { watched_until_unix: Some(at(moment - 1)), drift_secs }
        }
    };
    Event { at_unix: at(moment), what }
}

fn complete_from(reader: &EventReader) -> Option<UnixSeconds> {
    reader.opening(UnixSeconds::default(), UnixSeconds::MAX).unwrap().complete_from
}

#[test]
fn a_replay_from_the_cut_on_is_the_same_after_every_slice() {
    let mut dropped = 0;
    for seed in 0..6 {
        println!("seed {seed}");
        let mut random = Random(seed);
        let mut store = Disk::new().store().unwrap();
        store.prune_steps = 1 + random.index(4);
        let events: Vec<Event> = (1..80).map(|moment| random_event(moment, &mut random)).collect();
        store.append(&Batch { events: events.clone(), ..Batch::default() }).unwrap();
        let cut = 20 + random.below(60);
        let mut prune_before = Some(at(cut));
        let mut left = usize::MAX;
        // With one row a slice, an event takes up to six.
        for _ in 0..250 {
            store.append(&Batch { prune_before: prune_before.take(), ..Batch::default() }).unwrap();
            let reader = store.events();
            let stored = all_events(&reader);
            let complete_from = complete_from(&reader).unwrap();
            assert!(complete_from < at(cut));
            // After the cut nothing was dropped, so what is the same there stays the same.
            for _ in 0..3 {
                let moment = complete_from.later(random.below(cut + 1 - complete_from.as_secs()));
                assert_eq!(told(&reader, moment), lived(&events, moment), "at {moment}, cut {cut}");
            }
            assert!(stored.iter().all(|(sequence, event)| events[usize::try_from(*sequence).unwrap() - 1] == *event));
            left = stored.len();
        }
        let old = all_events(&store.events()).iter().filter(|(_, event)| event.at_unix < at(cut)).count();
        assert_eq!(old, 0, "every event from before the cut is dropped");
        dropped += events.len() - left;
    }
    println!("{dropped} dropped");
}

#[test]
fn pruning_goes_in_slices_and_goes_on_with_later_batches() {
    let mut store = Disk::new().store().unwrap();
    store.prune_steps = 10;
    let removed = Event { at_unix: at(1), what: Happening::Removed { name: name("a") } };
    store.append(&Batch { events: vec![removed.clone(); 100], ..Batch::default() }).unwrap();
    let count = |store: &super::super::RedbStore| all_events(&store.events()).len();
    store.append(&Batch { prune_before: Some(at(2)), ..Batch::default() }).unwrap();
    assert_eq!(count(&store), 90);
    store.append(&Batch::default()).unwrap();
    assert_eq!(count(&store), 80);
    // Five come, twenty go.
    store.append(&Batch { events: vec![removed; 5], ..Batch::default() }).unwrap();
    assert_eq!(count(&store), 65);
    for _ in 0..7 {
        store.append(&Batch::default()).unwrap();
    }
    assert_eq!(count(&store), 0);
    // Sequences go on where they were, or a reader's place would mean another event.
    let event = Event { at_unix: at(9), what: Happening::Removed { name: name("a") } };
    store.append(&Batch { events: vec![event], ..Batch::default() }).unwrap();
    assert_eq!(all_events(&store.events())[0].0, 106);
}

#[test]
fn an_event_exactly_at_the_cut_stays() {
    let mut store = Disk::new().store().unwrap();
    let event = |secs| Event { at_unix: at(secs), what: Happening::Removed { name: name("a") } };
    store.append(&Batch { events: vec![event(1), event(2), event(3)], ..Batch::default() }).unwrap();
    assert_eq!(complete_from(&store.events()), None);
    store.append(&Batch { prune_before: Some(at(2)), ..Batch::default() }).unwrap();
    let left: Vec<u64> = all_events(&store.events()).iter().map(|(_, event)| event.at_unix.as_secs()).collect();
    assert_eq!(left, [2, 3]);
    assert_eq!(complete_from(&store.events()), Some(at(1)));
}

#[test]
fn events_from_a_clock_that_was_ahead_do_not_hold_up_pruning() {
    let mut store = Disk::new().store().unwrap();
    let event = |secs| Event { at_unix: at(secs), what: Happening::Removed { name: name("a") } };
    let started = |secs| Event {
        at_unix: at(secs),
        what: Happening::Started { watched_until_unix: Some(at(9_400)), drift_secs: 0 },
    };
    let mut events = vec![started(9_000)];
    events.extend((9_000..9_400).map(event));
    events.extend([started(10), event(10), event(20)]);
    store.append(&Batch { events, prune_before: Some(at(15)), ..Batch::default() }).unwrap();
    let left: Vec<u64> = all_events(&store.events()).iter().map(|(_, event)| event.at_unix.as_secs()).collect();
    assert_eq!(left, [20]);
}
