//! Rows by place: what an event does to them, whatever is kept of each.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt::Debug;

use crate::name::Name;
use crate::row::{GoodFor, Row, Vouch};
use crate::time::UnixSeconds;

/// What is kept of a row.
pub(crate) trait Kept: Clone + Debug {
    /// A row as it changed, vouched for like this.
    fn of(change: &Changed<'_>, vouch: Vouch) -> Self;

    fn vouch(&mut self) -> &mut Vouch;

    /// Somebody vouches for it from now on.
    fn belongs_to(&mut self, source: &Name);

    /// What the board's own restart does to its stamp, where what was written before moved by so much.
    fn restart(&mut self, drift_secs: i64, now: UnixSeconds);
}

/// What is recorded of a row that changed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Changed<'a> {
    pub(crate) name: &'a Name,
    pub(crate) order: u64,
    pub(crate) source: &'a Name,
    pub(crate) last_change: UnixSeconds,
    pub(crate) clamped_from: Option<UnixSeconds>,
    pub(crate) row: &'a Row,
}

/// What an event does to rows, by their places.
#[derive(Clone, Debug)]
pub(crate) enum Move<R> {
    /// This row stands there from now on.
    Changed(usize, R),
    /// None does.
    Removed(usize),
    /// Nobody vouches for these any more, since then.
    Lapsed(Box<[usize]>, UnixSeconds),
    /// This source vouches for these again.
    CameBack(Box<[usize]>, Name),
    /// The daemon restarted, and what was written before moved by so much.
    Restarted(i64),
    /// Nothing stands anywhere.
    Cleared,
}

/// Rows by place. A place without a row is one that a row has left, or has not come to yet.
#[derive(Clone, Debug)]
pub(crate) struct Seats<R>(Vec<Option<R>>);

impl<R> Default for Seats<R> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<R: Kept> Seats<R> {
    /// Lets an event happen at `now` and tells the place of each row that it touched, removed ones included.
    pub(crate) fn apply(&mut self, happened: &Move<R>, now: UnixSeconds, mut touched: impl FnMut(usize)) {
        match happened {
            Move::Changed(place, row) => {
                self.put(*place, Some(row.clone()));
                touched(*place);
            }
            Move::Removed(place) => {
                self.put(*place, None);
                touched(*place);
            }
            Move::Lapsed(places, until) => {
                self.change(places, touched, |row| row.vouch().good_until = Some(*until));
            }
            Move::CameBack(places, source) => self.change(places, touched, |row| {
                *row.vouch() = vouched(now);
                row.belongs_to(source);
            }),
            Move::Restarted(drift_secs) => {
                for (place, row) in self.0.iter_mut().enumerate() {
                    let Some(row) = row else { continue };
                    *row.vouch() = row.vouch().shifted(*drift_secs).restarted(now);
                    row.restart(*drift_secs, now);
                    touched(place);
                }
            }
            Move::Cleared => {
                for (place, row) in self.0.iter_mut().enumerate().filter(|(_, row)| row.is_some()) {
                    *row = None;
                    touched(place);
                }
            }
        }
    }

    pub(crate) fn put(&mut self, place: usize, row: Option<R>) {
        if self.0.len() <= place {
            self.0.resize(place.saturating_add(1), None);
        }
        if let Some(seat) = self.0.get_mut(place) {
            *seat = row;
        }
    }

    pub(crate) fn row(&self, place: usize) -> Option<&R> {
        self.0.get(place)?.as_ref()
    }

    /// One more than the largest place that a row ever had.
    pub(crate) fn places(&self) -> usize {
        self.0.len()
    }

    fn change(&mut self, places: &[usize], mut touched: impl FnMut(usize), change: impl Fn(&mut R)) {
        for place in places {
            if let Some(row) = self.0.get_mut(*place).and_then(Option::as_mut) {
                change(row);
                touched(*place);
            }
        }
    }
}

/// As long as no event says otherwise. For how long a report was good is not recorded; one that outlives a start
/// is told of there.
pub(crate) fn vouched(at: UnixSeconds) -> Vouch {
    Vouch { last_report: at, good_for: GoodFor::UntilRestart, good_until: None }
}
