//! What goes in comes out.

use std::sync::mpsc;
use std::thread;

use greenlight_core::history::{Event, Happening};

use super::disk::{Dir, Disk};
use super::model::{Model, Random, all_events, at, batch, held, name, row, vouch};
use crate::store::{Batch, Store, open};

#[test]
fn random_batches_load_as_a_model_says_through_any_restarts() {
    for seed in 0..30 {
        println!("seed {seed}");
        let mut random = Random(seed);
        let (dir, mut model, mut next_order) = (Dir::new(), Model::default(), 0);
        let mut store = open(&dir.0).unwrap();
        for moment in 0..30 {
            let batch = batch(&model, &mut next_order, moment, &mut random);
            store.append(&batch).unwrap();
            model.take(&batch);
            if random.one_in(6) {
                drop(store);
                store = open(&dir.0).unwrap();
                assert_eq!(Model::of(&mut store), model);
            }
        }
        assert_eq!(Model::of(&mut store), model);
        assert_eq!(store.set_aside(), None);
    }
}

#[test]
fn a_new_store_is_empty_and_an_empty_batch_keeps_it_so() {
    let dir = Dir::new();
    let mut store = open(&dir.0).unwrap();
    store.append(&Batch::default()).unwrap();
    assert_eq!(Model::of(&mut store), Model::default());
    assert!(store.keeps());
}

#[test]
fn every_kind_of_event_comes_back_as_it_went_in() {
    let dir = Dir::new();
    let mut random = Random(1);
    let names = vec![name("a"), name("b/c")];
    let happenings = [
        Happening::Started { watched_until_unix: Some(at(3)), drift_secs: -40 },
        Happening::Started { watched_until_unix: None, drift_secs: 0 },
        Happening::Resumed { watched_until_unix: at(7) },
        Happening::Retold { missing_since_unix: None },
        Happening::Retold { missing_since_unix: Some(at(4)) },
        Happening::Changed {
            name: name("a"),
            order: 1 << 52,
            source: name("ci"),
            last_change_unix: at(2),
            stored_change_unix: Some(at(8)),
            row: Box::new(row(&mut random)),
        },
        Happening::Lapsed { source: name("ci"), names: names.clone(), good_until_unix: None },
        Happening::Lapsed { source: name("ci"), names: names.clone(), good_until_unix: Some(at(1)) },
        Happening::CameBack { source: name("ci"), names },
        Happening::Removed { name: name("a") },
    ];
    let events: Vec<Event> = happenings.into_iter().map(|what| Event { at_unix: at(9), what }).collect();
    open(&dir.0).unwrap().append(&Batch { events: events.clone(), ..Batch::default() }).unwrap();
    let store = open(&dir.0).unwrap();
    let read: Vec<Event> = all_events(&store.events()).into_iter().map(|(_, event)| event).collect();
    assert_eq!(read, events);
}

#[test]
fn a_window_is_the_events_from_up_to_but_not_to_and_its_pages_go_on_after_a_sequence() {
    let dir = Dir::new();
    let mut store = open(&dir.0).unwrap();
    let event = |secs| Event { at_unix: at(secs), what: Happening::Removed { name: name("a") } };
    store.append(&Batch { events: (0..10).map(event).collect(), ..Batch::default() }).unwrap();
    let window = |from, to| {
        let opening = store.events().opening(at(from), at(to)).unwrap();
        (opening.after, opening.last)
    };
    assert_eq!(window(2, 5), (2, 5));
    assert_eq!(window(0, 99), (0, 10));
    assert_eq!(window(3, 3), (3, 3));
    assert_eq!(window(99, 100), (10, 10));
    let page = |after, last, limit| -> Vec<u64> {
        store.events().page(after, last, limit).unwrap().into_iter().map(|(sequence, _)| sequence).collect()
    };
    assert_eq!(page(2, 5, 99), [3, 4, 5]);
    assert_eq!(page(3, 5, 99), [4, 5]);
    assert_eq!(page(0, 10, 2), [1, 2]);
    assert_eq!(page(10, 10, 2), [0_u64; 0]);
    assert_eq!(page(u64::MAX, u64::MAX, 2), [0_u64; 0]);
    assert_eq!(page(0, 10, 0), [0_u64; 0]);
}

#[test]
fn a_window_has_every_event_of_a_life_that_ran_past_its_end_before_another_began_within_it() {
    let dir = Dir::new();
    let mut store = open(&dir.0).unwrap();
    let removed = |secs| Event { at_unix: at(secs), what: Happening::Removed { name: name("a") } };
    let started = |secs, until: Option<u64>| Event {
        at_unix: at(secs),
        what: Happening::Started { watched_until_unix: until.map(at), drift_secs: 0 },
    };
    let events = vec![started(10, None), removed(20), removed(90), started(30, Some(95)), removed(40), removed(60)];
    store.append(&Batch { events, ..Batch::default() }).unwrap();
    let opening = store.events().opening(at(15), at(50)).unwrap();
    assert_eq!((opening.after, opening.last), (1, 5));
    let mut lives = greenlight_core::history::Lives::default();
    lives.note_start(at(30), Some(at(95)));
    assert_eq!(serde_json::to_string(&opening.lives).unwrap(), serde_json::to_string(&lives).unwrap());
}

#[test]
fn a_page_of_long_events_ends_early_and_the_next_goes_on() {
    let dir = Dir::new();
    let mut store = open(&dir.0).unwrap();
    let long: Box<greenlight_core::Row> = Box::new(greenlight_core::Row {
        last_red_files: (0..1000).map(|n| format!("{n:01024}").into()).collect(),
        ..Default::default()
    });
    let event = |_| Event {
        at_unix: at(1),
        what: Happening::Changed {
            name: name("a"),
            order: 0,
            source: name("ci"),
            last_change_unix: at(1),
            stored_change_unix: None,
            row: long.clone(),
        },
    };
    store.append(&Batch { events: (0..9).map(event).collect(), ..Batch::default() }).unwrap();
    let page = |after| store.events().page(after, 9, 99).unwrap().len();
    assert_eq!((page(0), page(5), page(8), page(9)), (1, 1, 1, 0));
}

#[test]
fn events_are_read_on_another_thread_while_batches_go_on() {
    let disk = Disk::new();
    let mut store = disk.store().unwrap();
    let reader = store.events();
    let (stop, stopped) = mpsc::channel::<()>();
    let reading = thread::spawn(move || {
        let mut seen = 0;
        while stopped.try_recv() == Err(mpsc::TryRecvError::Empty) {
            let events = all_events(&reader);
            assert!(events.len() >= seen, "events went away");
            assert!(events.iter().zip(1..).all(|((sequence, _), expected)| *sequence == expected));
            seen = events.len();
        }
        all_events(&reader).len()
    });
    let event = Event { at_unix: at(1), what: Happening::Removed { name: name("a") } };
    for _ in 0..100 {
        store.append(&Batch { events: vec![event.clone(); 2], ..Batch::default() }).unwrap();
    }
    drop(stop);
    assert_eq!(reading.join().unwrap(), 200);
}

#[test]
fn a_vouch_for_a_row_that_is_gone_harms_nothing() {
    let disk = Disk::new();
    let mut store = disk.store().unwrap();
    let mut random = Random(7);
    let rows = vec![(held(4, &mut random), vouch(&mut random))];
    let vouches = vec![(2, vouch(&mut random)), (9, vouch(&mut random))];
    store.append(&Batch { rows, vouches, ..Batch::default() }).unwrap();
    assert_eq!(store.load().unwrap().rows.len(), 1);
}
