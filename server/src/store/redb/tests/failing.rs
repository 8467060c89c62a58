//! A disk that is full, or fails once, at every single request of a batch.

use greenlight_core::UnixSeconds;

use super::disk::{Disk, Failing, Request};
use super::model::{Model, Random, batch};
use crate::store::{Batch, Store, StoreError};

/// A store with ten batches, and an eleventh to fail on.
fn prepared() -> (Disk, Model, Batch) {
    let disk = Disk::new();
    let mut store = disk.store().unwrap();
    let (mut random, mut model, mut next_order) = (Random(5), Model::default(), 0);
    for moment in 0..10 {
        let batch = batch(&model, &mut next_order, moment, &mut random);
        store.append(&batch).unwrap();
        model.take(&batch);
    }
    let last = batch(&model, &mut next_order, 10, &mut random);
    assert!(!last.replaces_all && !last.rows.is_empty() && !last.events.is_empty());
    (disk, model, last)
}

#[track_caller]
fn check(failing: impl Fn(usize) -> Failing) {
    let (prepared, model, last) = prepared();
    let mut after = model.clone();
    after.take(&last);
    let mut failures = 0;
    loop {
        let disk = Disk::of(prepared.image());
        let mut store = disk.store().unwrap();
        disk.fail(failing(failures));
        let told = store.append(&last);
        let failed = disk.with(|state| state.failed.clone());
        let Some(failed) = failed else {
            told.unwrap();
            break;
        };
        if let Ok(()) = told {
            panic!("request {failures} failed ({failed:?}) and the batch was acknowledged");
        }
        assert!(matches!(told, Err(StoreError::Io(_))), "request {failures}: {told:?}");

        // What a restart would find: nothing of it; or, where only the sync failed, all of it may be there.
        let found = Model::of(&mut Disk::of(disk.image()).store().unwrap());
        let may_be_there = failed == Request::Sync && found == after;
        assert!(found == model || may_be_there, "request {failures}: a part of the batch is there");

        // While it lasts the store says so, and it heals without a restart.
        if failing(failures) == Failing::From(failures) {
            assert!(matches!(store.append(&last), Err(StoreError::Io(_))), "request {failures}");
        }
        disk.fail(Failing::Never);
        let again = Batch { events: last.events.clone(), ..after.whole() };
        store.append(&again).unwrap_or_else(|error| panic!("request {failures}: {error}"));
        assert_eq!(store.set_aside(), None);
        assert_eq!(Model::of(&mut store), after, "request {failures}");
        drop(store);
        assert_eq!(Model::of(&mut disk.store().unwrap()), after, "request {failures}, restarted");
        failures += 1;
    }
    println!("{failures} requests failed");
    assert!(failures > 3);
}

#[test]
fn a_full_disk_refuses_a_batch_whole_and_takes_the_board_when_there_is_room() {
    check(Failing::From);
}

#[test]
fn a_disk_that_fails_once_refuses_a_batch_whole_and_takes_the_next() {
    check(Failing::Once);
}

#[test]
fn a_batch_that_failed_can_be_asked_for_again_unless_it_may_be_there() {
    let (prepared, mut model, last) = prepared();
    let disk = Disk::of(prepared.image());
    let mut store = disk.store().unwrap();
    disk.fail(Failing::Once(0));
    store.append(&last).unwrap_err();
    store.append(&last).unwrap();
    model.take(&last);
    assert_eq!(Model::of(&mut store), model);
}

#[test]
fn readers_get_an_error_while_the_store_is_down_and_go_on_when_it_is_back() {
    let (prepared, model, last) = prepared();
    let disk = Disk::of(prepared.image());
    let mut store = disk.store().unwrap();
    let reader = store.events();
    disk.fail(Failing::From(0));
    store.append(&last).unwrap_err();
    assert!(matches!(reader.opening(UnixSeconds::default(), UnixSeconds::MAX), Err(StoreError::Io(_))));
    disk.fail(Failing::Never);
    store.append(&model.whole()).unwrap();
    assert_eq!(super::model::all_events(&reader), model.events);
}
