//! The board after a restart: what the last life stored, shifted by what its clock had drifted.

use greenlight_core::Board;
use greenlight_core::history::Event;
use greenlight_core::history::record::{self, LastLife};

use super::keeper::{Keeper, whole};
use super::published::StoreHealth;
use crate::clock::Clock;
use crate::store::{Loaded, Mark, Store};

/// A board as it is at the restart, not yet stored.
pub(crate) struct Restored {
    pub(crate) board: Board,
    events: Vec<Event>,
    mark: Mark,
}

/// Restores a board at the clock's now.
///
/// The times that the last life wrote are by a clock that did not follow the wall clock's steps; this life starts
/// from the wall clock. Shifted by the drift, they keep the ages they had.
pub(crate) fn restore(loaded: Loaded, clock: &Clock) -> Restored {
    let now = clock.now();
    let Loaded { mut rows, mut remembered, mark } = loaded;
    let before = mark.map(|mark| LastLife { watched_until: mark.at_unix, drift_secs: mark.drift_secs });
    let drift_secs = before.map_or(0, |before| before.drift_secs);
    for (held, vouch) in &mut rows {
        held.last_change = held.last_change.shifted(drift_secs);
        *vouch = vouch.shifted(drift_secs);
    }
    for gone in &mut remembered {
        gone.last_change = gone.last_change.shifted(drift_secs);
        gone.removed = gone.removed.shifted(drift_secs);
    }
    let board = Board::restore(rows, remembered, now);
    let events = record::of_start(&board.snapshot(), before, now);
    Restored { board, events, mark: Mark { at_unix: now, drift_secs: 0 } }
}

impl Restored {
    /// Stores what the restart changed, at once: a row that lapsed stays lapsed through any number of restarts.
    pub(crate) fn store(self, store: Box<dyn Store>) -> ((Keeper, Board), StoreHealth) {
        let snapshot = self.board.snapshot();
        let mut batch = whole(&self.board, &snapshot);
        batch.events = self.events;
        batch.mark = Some(self.mark);
        let mut keeper = Keeper::new(store, snapshot);
        keeper.write(batch, self.mark.at_unix);
        let health = keeper.health();
        ((keeper, self.board), health)
    }
}
