//! Dropping old events must not change what a replay shows from the cut on.

use std::collections::BTreeMap;

use greenlight_core::history::{Event, Happening};
use greenlight_core::{Name, Row, UnixSeconds};

use super::disk::Disk;
use super::model::{Random, all_events, at, name};
use crate::store::{Batch, Store};

/// What a replay knows of one instance: its row, source and stamp, and since when nobody vouches.
type Instance = (Row, Name, UnixSeconds, Option<UnixSeconds>);

/// The plainest replay: what is on the board after these events.
fn replay<'a>(events: impl Iterator<Item = &'a Event>) -> BTreeMap<Name, Instance> {
    let mut board: BTreeMap<Name, Instance> = BTreeMap::new();
    for event in events {
        let lost = |instance: &mut Instance| {
            instance.3.get_or_insert(event.at_unix);
        };
        match &event.what {
            Happening::Changed { name, source, last_change_unix, row } => {
                board.insert(name.clone(), (Row::clone(row), source.clone(), *last_change_unix, None));
            }
            Happening::Removed { name } => {
                board.remove(name);
            }
            Happening::Lapsed { names, .. } => {
                for name in names {
                    board.get_mut(name).map(lost);
                }
            }
            Happening::CameBack { names, .. } => {
                for name in names {
                    if let Some(found) = board.get_mut(name) {
                        found.3 = None;
                    }
                }
            }
            Happening::Started { still_good, .. } => {
                for (_, found) in board.iter_mut().filter(|(name, _)| !still_good.contains(name)) {
                    lost(found);
                }
            }
        }
    }
    board
}

fn random_event(moment: u64, random: &mut Random) -> Event {
    let some = |random: &mut Random| -> Vec<Name> {
        (0..6).filter(|_| random.one_in(2)).map(|n| name(&format!("i{n}"))).collect()
    };
    let one = name(&format!("i{}", random.below(6)));
    let source = name("ci");
    let what = match random.below(10) {
        0..=3 => Happening::Changed {
            name: one,
            source,
            last_change_unix: at(moment),
            row: Box::new(Row { draining: moment, ..Row::default() }),
        },
        4 => Happening::Removed { name: one },
        5 | 6 => Happening::Lapsed { source, names: some(random) },
        7 => Happening::CameBack { source, names: some(random) },
        _ => Happening::Started { still_good: some(random), watched_until_unix: None },
    };
    Event { at_unix: at(moment), what }
}

#[test]
fn a_replay_from_the_cut_on_is_the_same_after_every_slice() {
    let (mut dropped, mut kept) = (0, 0);
    for seed in 0..20 {
        println!("seed {seed}");
        let mut random = Random(seed);
        let mut store = Disk::new().store().unwrap();
        store.prune_steps = 1 + random.index(4);
        let events: Vec<Event> = (1..80).map(|moment| random_event(moment, &mut random)).collect();
        store.append(&Batch { events: events.clone(), ..Batch::default() }).unwrap();
        let cut = 20 + random.below(60);
        let expected: Vec<_> =
            (0..=cut).map(|moment| replay(events.iter().filter(|event| event.at_unix <= at(moment)))).collect();
        let mut prune_before = Some(at(cut));
        let mut left = usize::MAX;
        // With one name a slice, an event takes up to six.
        for _ in 0..300 {
            store.append(&Batch { prune_before: prune_before.take(), ..Batch::default() }).unwrap();
            let stored = all_events(&store.events());
            if stored.len() == left {
                continue;
            }
            let complete_from = store.events().complete_from().unwrap().unwrap();
            assert!(complete_from < at(cut));
            // After the cut nothing was dropped, so what is the same there stays the same.
            for moment in complete_from.as_secs()..=cut {
                let shown = replay(stored.iter().map(|(_, event)| event).filter(|event| event.at_unix <= at(moment)));
                assert_eq!(shown, expected[usize::try_from(moment).unwrap()], "at {moment}, cut {cut}");
            }
            assert!(stored.iter().all(|(sequence, event)| events[usize::try_from(*sequence).unwrap() - 1] == *event));
            left = stored.len();
        }
        let old = all_events(&store.events()).iter().filter(|(_, event)| event.at_unix < at(cut)).count();
        assert!(old <= 3 * 6, "{old} events from before the cut for 6 instances");
        (dropped, kept) = (dropped + events.len() - left, kept + old);
    }
    println!("{dropped} dropped, {kept} kept from before the cut");
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
    assert_eq!(store.events().complete_from().unwrap(), None);
    store.append(&Batch { prune_before: Some(at(2)), ..Batch::default() }).unwrap();
    let left: Vec<u64> = all_events(&store.events()).iter().map(|(_, event)| event.at_unix.as_secs()).collect();
    assert_eq!(left, [2, 3]);
    assert_eq!(store.events().complete_from().unwrap(), Some(at(1)));
}

#[test]
fn events_from_a_clock_that_was_ahead_do_not_hold_up_pruning() {
    let mut store = Disk::new().store().unwrap();
    let event = |secs| Event { at_unix: at(secs), what: Happening::Removed { name: name("a") } };
    let events = [9_000, 9_001, 10, 20].map(event).to_vec();
    store.append(&Batch { events, prune_before: Some(at(15)), ..Batch::default() }).unwrap();
    let left: Vec<u64> = all_events(&store.events()).iter().map(|(_, event)| event.at_unix.as_secs()).collect();
    assert_eq!(left, [20]);
}
