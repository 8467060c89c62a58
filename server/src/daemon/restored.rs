//! The board after a restart: what the last life stored, shifted by what its clock had drifted.

use greenlight_core::history::{Event, Happening};
use greenlight_core::{Board, Held, Remembered, UnixSeconds, Vouch};

use super::keeper::{Keeper, whole};
use super::published::StoreHealth;
use super::task::lapses;
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
    let drift = mark.map_or(0, |mark| mark.drift_secs);
    let watched_until_unix = mark.map(|mark| shifted(mark.at_unix, drift));
    if drift != 0 {
        for (held, vouch) in &mut rows {
            shift_row(held, vouch, drift);
        }
        for gone in &mut remembered {
            shift_remembered(gone, drift);
        }
    }
    let board = Board::restore(rows, remembered, now);
    let snapshot = board.snapshot();
    let watched = watched_until_unix.unwrap_or(now).min(now);
    let mut events: Vec<Event> = lapses(&snapshot, watched, now.earlier(1))
        .map(|(at_unix, source, names)| Event { at_unix, what: Happening::Lapsed { source, names } })
        .collect();
    let still_good = snapshot.rows().filter(|row| row.is_confirmed(now)).map(|row| row.name().clone()).collect();
    events.push(Event { at_unix: now, what: Happening::Started { still_good, watched_until_unix } });
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

fn shift_row(held: &mut Held, vouch: &mut Vouch, drift: i64) {
    held.last_change = shifted(held.last_change, drift);
    vouch.last_report = shifted(vouch.last_report, drift);
    vouch.good_until = vouch.good_until.map(|until| shifted(until, drift));
}

fn shift_remembered(gone: &mut Remembered, drift: i64) {
    gone.last_change = shifted(gone.last_change, drift);
    gone.removed = shifted(gone.removed, drift);
}

fn shifted(moment: UnixSeconds, drift: i64) -> UnixSeconds {
    match u64::try_from(drift) {
        Ok(ahead) => moment.later(ahead),
        Err(_) => moment.earlier(drift.unsigned_abs()),
    }
}
