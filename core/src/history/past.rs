//! The board as its events tell it: what was on it after each of them.

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::event::{Event, Happening};
use super::sorted::{Sorted, Spot};
use crate::name::Name;
use crate::row::{GoodFor, Held, Route, Row, Vouch};
use crate::snapshot::RowView;
use crate::time::UnixSeconds;

/// How much of each row is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// All that was recorded.
    Whole,
    /// What its standing follows from, and what it served.
    Standing,
}

/// A board at one moment of its past. Of the route facts nothing was recorded, and of reports only when they no
/// longer vouched.
///
/// Invariant: `places` are those of all seats with a name, in the order of the names. A seat without a row has left
/// the board and is kept until it is released.
#[derive(Clone, Debug)]
pub struct Past {
    detail: Detail,
    places: Sorted,
    seats: Vec<Seat>,
    free: Vec<usize>,
    /// The moment of the last event.
    latest: UnixSeconds,
}

#[derive(Clone, Debug, Default)]
struct Seat {
    name: Option<Name>,
    row: Option<(Arc<Held>, Vouch)>,
}

impl Past {
    /// A board that nothing is known of.
    pub fn new(detail: Detail) -> Self {
        Self { detail, places: Sorted::default(), seats: Vec::new(), free: Vec::new(), latest: UnixSeconds::default() }
    }

    /// Lets an event happen.
    pub fn apply(&mut self, event: &Event) {
        let mut left = Vec::new();
        self.apply_and_tell(event, |place| left.push(place));
        for place in left {
            self.release(place);
        }
    }

    /// Puts a row on the board as it was kept elsewhere.
    pub fn put(&mut self, held: Arc<Held>, vouch: Vouch) {
        let place = self.place_of(&held.name);
        if let Some(seat) = self.seats.get_mut(place) {
            seat.row = Some((held, vouch));
        }
    }

    /// The rows that are on the board, by name.
    pub fn rows(&self) -> impl Iterator<Item = RowView<'_>> {
        self.places.iter().filter_map(|(_, place)| self.row(place))
    }

    /// The row of that name.
    pub fn named(&self, name: &str) -> Option<RowView<'_>> {
        self.row(self.place(name)?)
    }

    /// Says when the last event was, of a board that is put together from what was kept elsewhere.
    pub fn begin(&mut self, latest: UnixSeconds) {
        self.latest = latest;
    }

    /// The moment of the last event.
    pub fn latest(&self) -> UnixSeconds {
        self.latest
    }

    /// Lets an event happen and tells the place of each row that it touched, removed ones included. Their places
    /// stay theirs until they are [released](Past::release).
    pub(super) fn apply_and_tell(&mut self, event: &Event, mut touched: impl FnMut(usize)) {
        self.latest = event.at_unix;
        match &event.what {
            Happening::Changed { name, order, source, last_change_unix, stored_change_unix, row } => {
                let place = self.place_of(name);
                let held = Held {
                    order: *order,
                    name: name.clone(),
                    row: self.kept(row),
                    route: Route::default(),
                    source: source.clone(),
                    last_change: *last_change_unix,
                    clamped_from: *stored_change_unix,
                };
                if let Some(seat) = self.seats.get_mut(place) {
                    seat.row = Some((Arc::new(held), vouched(event.at_unix)));
                    touched(place);
                }
            }
            Happening::Removed { name } => {
                if let Some(place) = self.place(name)
                    && let Some(seat) = self.seats.get_mut(place)
                {
                    seat.row = None;
                    touched(place);
                }
            }
            Happening::Lapsed { names, good_until_unix, .. } => {
                let until = good_until_unix.unwrap_or(event.at_unix);
                self.change_named(names, &mut touched, |(_, vouch)| vouch.good_until = Some(until));
            }
            Happening::CameBack { source, names } => {
                self.change_named(names, &mut touched, |(held, vouch)| {
                    *vouch = vouched(event.at_unix);
                    if held.source != *source {
                        Arc::make_mut(held).source = source.clone();
                    }
                });
            }
            Happening::Started { drift_secs, .. } => self.restart(*drift_secs, event.at_unix, touched),
            Happening::Resumed { .. } => {}
            Happening::Retold { .. } => {
                for (place, seat) in self.seats.iter_mut().enumerate().filter(|(_, seat)| seat.row.is_some()) {
                    seat.row = None;
                    touched(place);
                }
            }
        }
    }

    /// Gives up the place of a row that has left the board. One that is on it keeps its place.
    pub(super) fn release(&mut self, place: usize) {
        if let Some(seat) = self.seats.get_mut(place)
            && seat.row.is_none()
            && let Some(name) = seat.name.clone()
        {
            if let Ok(spot) = self.seek(&name) {
                self.places.take(spot);
            }
            self.seats.get_mut(place).and_then(|seat| seat.name.take());
            self.free.push(place);
        }
    }

    /// The row in a place; `None` where it has left the board.
    pub(super) fn row(&self, place: usize) -> Option<RowView<'_>> {
        let (held, vouch) = self.seats.get(place)?.row.as_ref()?;
        Some(RowView { held, vouch })
    }

    /// Whose place it is, also after it has left the board.
    pub(super) fn name(&self, place: usize) -> Option<&Name> {
        self.seats.get(place)?.name.as_ref()
    }

    /// One more than the largest place.
    pub(super) fn places(&self) -> usize {
        self.seats.len()
    }

    /// What the board's own restart does, to what the last life had written.
    fn restart(&mut self, drift_secs: i64, now: UnixSeconds, mut touched: impl FnMut(usize)) {
        for (place, seat) in self.seats.iter_mut().enumerate() {
            let Some((held, vouch)) = &mut seat.row else { continue };
            *vouch = vouch.shifted(drift_secs).restarted(now);
            let stored = held.stored_change().shifted(drift_secs);
            Arc::make_mut(held).restart_from(stored, now);
            touched(place);
        }
    }

    fn change_named(
        &mut self,
        names: &[Name],
        touched: &mut impl FnMut(usize),
        mut change: impl FnMut(&mut (Arc<Held>, Vouch)),
    ) {
        for name in names {
            if let Some(place) = self.place(name)
                && let Some(row) = self.seats.get_mut(place).and_then(|seat| seat.row.as_mut())
            {
                change(row);
                touched(place);
            }
        }
    }

    /// Where the place of a name stands in the list of places, or where it would.
    fn seek(&self, name: &str) -> Result<Spot, Spot> {
        self.places.seek(|(_, place)| self.name(*place).map(Name::as_str).cmp(&Some(name)))
    }

    fn place(&self, name: &str) -> Option<usize> {
        self.places.at(self.seek(name).ok()?).map(|(_, place)| place)
    }

    fn place_of(&mut self, name: &Name) -> usize {
        let spot = match self.seek(name) {
            Ok(spot) => return self.places.at(spot).map_or(0, |(_, place)| place),
            Err(spot) => spot,
        };
        let place = self.free.pop().unwrap_or_else(|| {
            self.seats.push(Seat::default());
            self.seats.len().saturating_sub(1)
        });
        if let Some(seat) = self.seats.get_mut(place) {
            seat.name = Some(name.clone());
        }
        self.places.put(spot, (0, place));
        place
    }

    fn kept(&self, row: &Row) -> Row {
        match self.detail {
            Detail::Whole => row.clone(),
            Detail::Standing => {
                Row { serving_sha: row.serving_sha.clone(), last_green: row.last_green.clone(), ..Row::default() }
            }
        }
    }
}

/// As long as no event says otherwise. For how long a report was good is not recorded; one that outlives a start
/// is told of there.
fn vouched(at: UnixSeconds) -> Vouch {
    Vouch { last_report: at, good_for: GoodFor::UntilRestart, good_until: None }
}
