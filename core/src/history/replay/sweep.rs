//! The sweep: events in one after the other, spans out, and nothing kept but the board.

use super::judging::Judging;
use super::passage::Passage;
use crate::history::event::Event;
use crate::history::lives::Lives;
use crate::history::past::brief::Brief;
use crate::history::past::seating::Seating;
use crate::history::span::{Told, Window};
use crate::name::Name;
use crate::time::{Horizon, UnixSeconds};

/// Replays a record over a window. O(log n) for an event that touches one of n rows, for each horizon; memory for
/// the rows on the board, and nothing for what has been told.
#[derive(Debug)]
pub struct Sweep {
    rows: Seating<Brief>,
    judging: Judging<Name>,
}

impl Sweep {
    /// A sweep over a window under these horizons. `lives` are those of the record that will be pushed.
    pub fn new(window: Window, horizons: &[Horizon], lives: Lives) -> Self {
        Self { rows: Seating::default(), judging: Judging::new(window, horizons, lives) }
    }

    /// Tells too where the horizons at these places of the list differ. To be called before the first event.
    #[must_use]
    pub fn comparing(mut self, one: usize, other: usize) -> Self {
        self.judging.compare(one, other);
        self
    }

    /// Takes the next event, in the order in which they were recorded, and tells what it finished. An event of
    /// before the window only makes the board; one that comes late counts from the moment that has been reached.
    pub fn push(&mut self, event: &Event, tell: &mut impl FnMut(Told)) {
        let Self { rows, judging } = self;
        judging.pass(Passage::to(event), rows, tell);
        rows.apply(event, |place| judging.touch(place));
    }

    /// Tells the rest, where the record is known to be complete before `known_until`: from there to the end of the
    /// window nobody was watching.
    pub fn finish(self, known_until: UnixSeconds, tell: &mut impl FnMut(Told)) {
        let Self { mut rows, judging } = self;
        judging.finish(known_until, &mut rows, tell);
    }
}
