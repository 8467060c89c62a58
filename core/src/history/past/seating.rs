//! Who is where: the places that names have, so that an event becomes a move.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::seats::{Changed, Kept, Move, Seats, vouched};
use super::sorted::{Sorted, Spot};
use crate::history::event::{Event, Happening};
use crate::name::Name;

/// Rows, and who has which place.
///
/// Invariant: `places` are those of all that have a name, in the order of the names. Who has left the board keeps its
/// place until it is released.
#[derive(Clone, Debug)]
pub(crate) struct Seating<R> {
    places: Sorted,
    names: Vec<Option<Name>>,
    seats: Seats<R>,
    free: Vec<usize>,
}

impl<R> Default for Seating<R> {
    fn default() -> Self {
        Self { places: Sorted::default(), names: Vec::new(), seats: Seats::default(), free: Vec::new() }
    }
}

impl<R: Kept> Seating<R> {
    /// Lets an event happen and tells the place of each row that it touched, removed ones included. Their places
    /// stay theirs until they are [released](Seating::release).
    pub(crate) fn apply(&mut self, event: &Event, touched: impl FnMut(usize)) {
        if let Some(happened) = self.seat(event) {
            self.seats.apply(&happened, event.at_unix, touched);
        }
    }

    /// What an event does to rows, with a place for each that is new. `None` where it does nothing to any.
    pub(crate) fn seat(&mut self, event: &Event) -> Option<Move<R>> {
        let now = event.at_unix;
        match &event.what {
            Happening::Changed { name, order, source, last_change_unix, stored_change_unix, row } => {
                let place = self.place_of(name);
                let change = Changed {
                    name,
                    order: *order,
                    source,
                    last_change: *last_change_unix,
                    clamped_from: *stored_change_unix,
                    row,
                };
                Some(Move::Changed(place, R::of(&change, vouched(now))))
            }
            Happening::Removed { name } => self.place(name).map(Move::Removed),
            Happening::Lapsed { names, good_until_unix, .. } => {
                Some(Move::Lapsed(self.places_of(names), good_until_unix.unwrap_or(now)))
            }
            Happening::CameBack { source, names } => Some(Move::CameBack(self.places_of(names), source.clone())),
            Happening::Started { drift_secs, .. } => Some(Move::Restarted(*drift_secs)),
            Happening::Resumed { .. } => None,
            Happening::Retold { .. } => Some(Move::Cleared),
        }
    }

    /// Puts a row there as it was kept elsewhere.
    pub(crate) fn put(&mut self, name: &Name, row: R) {
        let place = self.place_of(name);
        self.seats.put(place, Some(row));
    }

    /// Gives up the place of a row that has left the board. One that is on it keeps its place.
    pub(crate) fn release(&mut self, place: usize) {
        if self.row(place).is_none()
            && let Some(name) = self.name(place).cloned()
        {
            if let Ok(spot) = self.seek(&name) {
                self.places.take(spot);
            }
            if let Some(name) = self.names.get_mut(place) {
                *name = None;
            }
            self.free.push(place);
        }
    }

    /// The row in a place; `None` where it has left the board.
    pub(crate) fn row(&self, place: usize) -> Option<&R> {
        self.seats.row(place)
    }

    /// Whose place it is, also after it has left the board.
    pub(crate) fn name(&self, place: usize) -> Option<&Name> {
        self.names.get(place)?.as_ref()
    }

    /// One more than the largest place.
    pub(crate) fn places(&self) -> usize {
        self.names.len()
    }

    /// The rows that are on the board, by name.
    pub(crate) fn rows(&self) -> impl Iterator<Item = &R> {
        self.places.iter().filter_map(|(_, place)| self.row(place))
    }

    pub(crate) fn place(&self, name: &str) -> Option<usize> {
        self.places.at(self.seek(name).ok()?).map(|(_, place)| place)
    }

    fn places_of(&self, names: &[Name]) -> Box<[usize]> {
        names.iter().filter_map(|name| self.place(name)).collect()
    }

    /// Where the place of a name stands in the list of places, or where it would.
    fn seek(&self, name: &str) -> Result<Spot, Spot> {
        self.places.seek(|(_, place)| self.name(*place).map(Name::as_str).cmp(&Some(name)))
    }

    fn place_of(&mut self, name: &Name) -> usize {
        let spot = match self.seek(name) {
            Ok(spot) => return self.places.at(spot).map_or(0, |(_, place)| place),
            Err(spot) => spot,
        };
        let place = self.free.pop().unwrap_or_else(|| {
            self.names.push(None);
            self.names.len().saturating_sub(1)
        });
        if let Some(seat) = self.names.get_mut(place) {
            *seat = Some(name.clone());
        }
        self.places.put(spot, (0, place));
        place
    }
}
