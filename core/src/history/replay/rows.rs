//! Rows by place, as they are judged: those of a stream, whose places come and go, and those of a record at hand.

use core::fmt::Debug;

use crate::history::past::brief::Brief;
use crate::history::past::seating::Seating;
use crate::history::past::seats::Seats;
use crate::name::Name;

/// Rows by place.
pub(super) trait Rows {
    /// What stands for an instance in what is told of it.
    type Who: Clone + PartialEq + Debug;

    /// The row in a place; `None` where none is.
    fn row(&self, place: usize) -> Option<&Brief>;

    /// Whose place it is, also while there is no row.
    fn who(&self, place: usize) -> Option<Self::Who>;

    /// One more than the largest place.
    fn places(&self) -> usize;

    /// All has been told of who had this place, unless a row is in it.
    fn release(&mut self, place: usize);
}

/// A place is given to others after its row has left the board: memory is bounded by the rows on it.
impl Rows for Seating<Brief> {
    type Who = Name;

    fn row(&self, place: usize) -> Option<&Brief> {
        self.row(place)
    }

    fn who(&self, place: usize) -> Option<Name> {
        self.name(place).cloned()
    }

    fn places(&self) -> usize {
        self.places()
    }

    fn release(&mut self, place: usize) {
        self.release(place);
    }
}

/// A place is one instance's for the whole record, and stands for it.
impl Rows for Seats<Brief> {
    type Who = usize;

    fn row(&self, place: usize) -> Option<&Brief> {
        self.row(place)
    }

    fn who(&self, place: usize) -> Option<usize> {
        Some(place)
    }

    fn places(&self) -> usize {
        self.places()
    }

    fn release(&mut self, _place: usize) {}
}
