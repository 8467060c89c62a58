//! The board as its events tell it: what was on it after each of them.

pub(super) mod brief;
pub(super) mod seating;
pub(super) mod seats;
pub(super) mod sorted;

use alloc::sync::Arc;
use alloc::vec::Vec;

use self::seating::Seating;
use self::seats::{Changed, Kept};
use super::event::Event;
use crate::name::Name;
use crate::row::{Held, Route, Vouch};
use crate::snapshot::RowView;
use crate::time::UnixSeconds;

/// A board at one moment of its past. Of the route facts nothing was recorded, and of reports only when they no
/// longer vouched.
#[derive(Clone, Debug, Default)]
pub struct Past {
    rows: Seating<Whole>,
    /// The moment of the last event.
    latest: UnixSeconds,
}

impl Past {
    /// A board that nothing is known of.
    pub fn new() -> Self {
        Self::default()
    }

    /// Lets an event happen.
    pub fn apply(&mut self, event: &Event) {
        self.latest = event.at_unix;
        let mut touched = Vec::new();
        self.rows.apply(event, |place| touched.push(place));
        for place in touched {
            self.rows.release(place);
        }
    }

    /// Puts a row on the board as it was kept elsewhere.
    pub fn put(&mut self, held: Arc<Held>, vouch: Vouch) {
        let name = held.name.clone();
        self.rows.put(&name, Whole { held, vouch });
    }

    /// The rows that are on the board, by name.
    pub fn rows(&self) -> impl Iterator<Item = RowView<'_>> {
        self.rows.rows().map(Whole::view)
    }

    /// The row of that name.
    pub fn named(&self, name: &str) -> Option<RowView<'_>> {
        self.rows.row(self.rows.place(name)?).map(Whole::view)
    }

    /// Says when the last event was, of a board that is put together from what was kept elsewhere.
    pub fn begin(&mut self, latest: UnixSeconds) {
        self.latest = latest;
    }

    /// The moment of the last event.
    pub fn latest(&self) -> UnixSeconds {
        self.latest
    }
}

/// A row with all that was recorded of it.
#[derive(Clone, Debug)]
struct Whole {
    held: Arc<Held>,
    vouch: Vouch,
}

impl Whole {
    fn view(&self) -> RowView<'_> {
        RowView { held: &self.held, vouch: &self.vouch }
    }
}

impl Kept for Whole {
    fn of(change: &Changed<'_>, vouch: Vouch) -> Self {
        let held = Held {
            order: change.order,
            name: change.name.clone(),
            row: change.row.clone(),
            route: Route::default(),
            source: change.source.clone(),
            last_change: change.last_change,
            clamped_from: change.clamped_from,
        };
        Self { held: Arc::new(held), vouch }
    }

    fn vouch(&mut self) -> &mut Vouch {
        &mut self.vouch
    }

    fn belongs_to(&mut self, source: &Name) {
        if self.held.source != *source {
            Arc::make_mut(&mut self.held).source = source.clone();
        }
    }

    fn restart(&mut self, drift_secs: i64, now: UnixSeconds) {
        let stored = self.held.stored_change().shifted(drift_secs);
        Arc::make_mut(&mut self.held).restart_from(stored, now);
    }
}
