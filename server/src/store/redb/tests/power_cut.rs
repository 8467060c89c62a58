//! The power is cut after every single request to the disk. No acknowledged batch may be missing afterwards.

use super::disk::{Disk, Request, apply};
use super::model::{Model, Random, batch};
use crate::store::{Store, StoreError};

/// What a run asked of the disk, and what it was told.
struct Run {
    before: Vec<u8>,
    log: Vec<Request>,
    /// For each batch, after how many requests it was acknowledged.
    acknowledged: Vec<usize>,
    /// The state after so many batches.
    states: Vec<Model>,
}

fn record(seed: u64, batches: u64) -> Run {
    let disk = Disk::new();
    let mut store = disk.store().unwrap();
    let before = disk.with(|state| {
        state.log.clear();
        state.image.clone()
    });
    let (mut random, mut model, mut next_order) = (Random(seed), Model::default(), 0);
    let mut run = Run { before, log: Vec::new(), acknowledged: Vec::new(), states: vec![model.clone()] };
    for moment in 0..batches {
        let batch = batch(&model, &mut next_order, moment, &mut random);
        store.append(&batch).unwrap();
        model.take(&batch);
        run.acknowledged.push(disk.with(|state| state.log.len()));
        run.states.push(model.clone());
    }
    // The clean end of a run can be cut short too.
    drop(store);
    run.log = disk.with(|state| state.log.clone());
    run
}

impl Run {
    /// Opens what the disk holds after the cut and compares it with what was acknowledged.
    fn check(&self, image: Vec<u8>, requests: usize, what: &str) {
        let acknowledged = self.acknowledged.iter().filter(|told| **told <= requests).count();
        let mut store = Disk::of(image).store().unwrap_or_else(|error| panic!("{what}: {error}"));
        assert_eq!(store.set_aside(), None, "{what}: declared corrupt");
        let found = Model::of(&mut store);
        assert_eq!(store.set_aside(), None, "{what}: declared corrupt when read");
        let in_flight = self.states.get(acknowledged + 1);
        let expected = found == self.states[acknowledged] || Some(&found) == in_flight;
        assert!(expected, "{what}: not the state after {acknowledged} acknowledged batches, nor after one more");
    }
}

/// A part of what was not synced, each request whole, torn in either half, or lost; possibly out of order.
fn some_of(unsynced: &[Request], random: &mut Random) -> Vec<Request> {
    let mut kept = Vec::new();
    for request in unsynced {
        match (random.below(4), request) {
            (0, _) => {}
            (1, Request::Write { offset, bytes }) => {
                let middle = random.index(bytes.len() + 1);
                kept.push(if random.one_in(2) {
                    Request::Write { offset: *offset, bytes: bytes[..middle].to_vec() }
                } else {
                    Request::Write { offset: offset + middle, bytes: bytes[middle..].to_vec() }
                });
            }
            (_, whole) => kept.push(whole.clone()),
        }
    }
    kept
}

#[test]
fn no_acknowledged_batch_is_lost_wherever_the_power_is_cut() {
    let run = record(42, 30);
    let (mut durable, mut unsynced) = (run.before.clone(), Vec::new());
    let (mut writes, mut syncs, mut images) = (0, 0, 0);
    for requests in 0..=run.log.len() {
        // While nothing is unsynced there is nothing to lose: one image stands for all.
        let mut kept_images = vec![("all lost".to_owned(), Vec::new())];
        if !unsynced.is_empty() {
            kept_images.push(("all kept".to_owned(), unsynced.clone()));
            for variant in 0..2 {
                let seed = u64::try_from(requests).unwrap() * 2 + variant;
                kept_images.push((format!("a part kept, seed {seed}"), some_of(&unsynced, &mut Random(seed))));
            }
        }
        for (what, kept) in kept_images {
            let mut image = durable.clone();
            for request in &kept {
                apply(&mut image, request);
            }
            run.check(image, requests, &format!("power cut after request {requests}, {what}"));
            images += 1;
        }
        match run.log.get(requests) {
            Some(Request::Sync) => {
                for request in unsynced.drain(..) {
                    apply(&mut durable, &request);
                }
                syncs += 1;
            }
            Some(other) => {
                unsynced.push(other.clone());
                writes += 1;
            }
            None => {}
        }
    }
    println!("{} batches, {writes} writes, {syncs} syncs, {images} images", run.acknowledged.len());
    assert!(syncs >= run.acknowledged.len(), "a batch was acknowledged without a sync");
}

#[test]
fn a_power_cut_while_a_store_is_begun_leaves_none_in_place() {
    // Only a closed database is put in place, so before that there is nothing to be found corrupt.
    let disk = Disk::new();
    disk.fail(super::disk::Failing::From(3));
    assert!(matches!(disk.store(), Err(StoreError::Io(_))));
    disk.fail(super::disk::Failing::Never);
    let mut store = disk.store().unwrap();
    assert_eq!(store.set_aside(), None);
    assert_eq!(Model::of(&mut store), Model::default());
}
