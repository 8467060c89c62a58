//! The board after a restart: what the last life stored, shifted by what its clock had drifted.

use std::io;
use std::sync::Arc;

use greenlight_core::history::Event;
use greenlight_core::history::record::{self, LastLife};
use greenlight_core::{Board, Snapshot, UnixSeconds};

use super::keeper::Keeper;
use super::published::StoreHealth;
use super::writer::PATIENCE;
use crate::clock::Clock;
use crate::store::{Loaded, Mark, Store};

/// A board as it is at the restart, not yet stored.
pub(crate) struct Restored {
    pub(crate) board: Board,
    /// What the store holds; `None` where the restart moved more than a difference of snapshots tells.
    stored: Option<Snapshot>,
    events: Vec<Event>,
    mark: Mark,
}

/// Restores a board at the moment when the clock started, however long reading took: `/app` calls it the start, and
/// whoever follows tells by it what was reported since.
///
/// The times that the last life wrote are by a clock that did not follow the wall clock's steps; this life starts
/// from the wall clock. Shifted by the drift, they keep the ages they had.
pub(crate) fn restore(loaded: Loaded, clock: &Clock) -> Restored {
    let now = clock.started();
    let Loaded { mut rows, mut remembered, mark } = loaded;
    let before = mark.map(|mark| LastLife { watched_until: mark.at_unix, drift_secs: mark.drift_secs });
    let drift_secs = before.map_or(0, |before| before.drift_secs);
    rows.sort_by_key(|(held, _)| held.order);
    let removals = remembered.len();
    let stored = if drift_secs == 0 { Some(Snapshot::new(rows.iter().cloned(), None)) } else { None };
    if drift_secs != 0 {
        for (held, vouch) in &mut rows {
            let held = Arc::make_mut(held);
            held.last_change = held.last_change.shifted(drift_secs);
            *vouch = vouch.shifted(drift_secs);
        }
        for gone in &mut remembered {
            gone.last_change = gone.last_change.shifted(drift_secs);
            gone.removed = gone.removed.shifted(drift_secs);
        }
    }
    let board = Board::restore(rows, remembered, now);
    // A difference of snapshots tells nothing of the memory.
    let stored = stored.filter(|_| board.remembered().count() == removals);
    let events = record::of_start(&board.snapshot(), before, now);
    Restored { board, stored, events, mark: Mark { at_unix: now, drift_secs: 0 } }
}

impl Restored {
    /// Stores what the restart changed, at once: a row that lapsed stays lapsed through any number of restarts.
    ///
    /// # Errors
    /// Where the system gives no thread.
    pub(crate) fn store(
        self,
        store: Box<dyn Store>,
        prune_before: UnixSeconds,
    ) -> io::Result<((Keeper, Board), StoreHealth)> {
        let mut keeper = Keeper::new(store, self.stored, PATIENCE)?;
        for event in self.events {
            keeper.note(event);
        }
        keeper.flush(&self.board, &self.board.snapshot(), self.mark, prune_before);
        let health = keeper.health();
        Ok(((keeper, self.board), health))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use greenlight_core::{GoodFor, Held, Name, Route, Row, Vouch};

    use super::*;
    use crate::clock::ManualTime;
    use crate::store::{Batch, StoreError};

    /// Keeps the batches that it was given.
    struct Batches(Arc<Mutex<Vec<Batch>>>);

    impl Store for Batches {
        fn load(&mut self) -> Result<Loaded, StoreError> {
            Ok(Loaded::default())
        }

        fn append(&mut self, batch: &Batch) -> Result<(), StoreError> {
            self.0.lock().unwrap().push(batch.clone());
            Ok(())
        }
    }

    #[track_caller]
    fn written_by_a_restart(drift_secs: i64) -> Batch {
        let row = |order, name, good_for: GoodFor| {
            let held = Held {
                order,
                name: Name::of_instance(name).unwrap(),
                row: Row::default(),
                route: Route::default(),
                source: Name::of_source("driver").unwrap(),
                last_change: UnixSeconds::new(500),
                clamped_from: None,
            };
            let last_report = UnixSeconds::new(900);
            (Arc::new(held), Vouch { last_report, good_for, good_until: good_for.until(last_report) })
        };
        let loaded = Loaded {
            rows: vec![
                row(4, "lapsed", GoodFor::Seconds(1)),
                row(2, "until-restart", GoodFor::UntilRestart),
                row(7, "for-ever", GoodFor::Forever),
            ],
            remembered: Vec::new(),
            mark: Some(Mark { at_unix: UnixSeconds::new(950), drift_secs }),
        };
        let time = ManualTime::at(1000);
        let batches = Arc::default();
        let store = Box::new(Batches(Arc::clone(&batches)));
        restore(loaded, &Clock::of(time)).store(store, UnixSeconds::default()).unwrap();
        let mut batches = batches.lock().unwrap();
        assert_eq!(batches.len(), 1);
        batches.pop().unwrap()
    }

    #[test]
    fn a_restart_stores_only_who_vouches_no_longer() {
        let batch = written_by_a_restart(0);
        assert!(!batch.replaces_all && batch.rows.is_empty() && batch.removed.is_empty());
        let ended: Vec<_> = batch.vouches.iter().map(|(order, vouch)| (*order, vouch.good_until)).collect();
        assert_eq!(ended, [(2, Some(UnixSeconds::new(1000)))]);
    }

    #[test]
    fn a_restart_after_a_step_of_the_clock_stores_the_whole_board() {
        let batch = written_by_a_restart(-60);
        assert!(batch.replaces_all);
        let stamps: Vec<_> = batch.rows.iter().map(|(held, _)| (held.order, held.last_change.as_secs())).collect();
        assert_eq!(stamps, [(2, 440), (4, 440), (7, 440)]);
    }
}
