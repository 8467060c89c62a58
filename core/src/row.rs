//! The row: the observable state of one instance, and what makes two rows differ.

mod reported;
mod vouch;

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::name::Name;
use crate::time::UnixSeconds;

pub(crate) use self::reported::CheckedRow;
#[cfg(feature = "serde")]
pub use self::reported::KnownRow;
pub use self::reported::{MAX_FILES, MAX_REASON_BYTES, MAX_TEXT_BYTES, ReportedRow, RowError};
pub use self::vouch::{GoodFor, Vouch};

/// What counts in an instance's state. Two rows differ if any field here differs; each one alone refreshes
/// the stamp.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Row {
    /// A free word from the source, shown and never judged. `idle` where a report leaves it out.
    pub phase: Box<str>,
    /// What it serves now; `None` serves nothing.
    pub serving_sha: Option<Box<str>>,
    /// The newest build that served; `None` was never green.
    pub last_green: Option<Box<str>>,
    /// The newest failure.
    pub last_red_sha: Option<Box<str>>,
    /// Why it failed, at most [`MAX_REASON_BYTES`].
    pub last_red_reason: Option<Box<str>>,
    /// Evidence for the failure: sorted, without doubles, at most [`MAX_FILES`].
    pub last_red_files: Vec<Box<str>>,
    /// The newest sha waiting.
    pub pending_sha: Option<Box<str>>,
    /// Demoted children that are still draining.
    pub draining: u64,
}

/// Where an instance is reached. Carried along; a change here refreshes no stamp.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Route {
    /// The port a proxy reaches it at.
    pub proxy_port: Option<u64>,
    /// The host name the public reaches it by.
    pub public_host: Option<Box<str>>,
    /// When the route ends, in Unix seconds.
    pub expires_at: Option<u64>,
}

/// One row on the board: what was reported, by whom, and when it was last seen to change.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Held {
    /// The place on the board: rows stand in rising order.
    pub order: u64,
    /// Identity.
    pub name: Name,
    /// What counts.
    pub row: Row,
    /// Where it is reached.
    pub route: Route,
    /// Who reports it.
    pub source: Name,
    /// The stamp: when this board last saw the row change.
    pub last_change: UnixSeconds,
    /// The stamp as it is stored, where the one in memory was clamped to the moment of a restart.
    pub clamped_from: Option<UnixSeconds>,
}

impl Held {
    /// The stamp as it belongs in a store: never the clamped one.
    pub fn stored_change(&self) -> UnixSeconds {
        self.stamp().stored()
    }

    /// Takes up the stamp that was stored, at a restart `now`: one from later than that is taken to be now.
    pub(crate) fn restart_from(&mut self, stored: UnixSeconds, now: UnixSeconds) {
        let Stamp { last_change, clamped_from } = Stamp::restarted(stored, now);
        self.last_change = last_change;
        self.clamped_from = clamped_from;
    }

    fn stamp(&self) -> Stamp {
        Stamp { last_change: self.last_change, clamped_from: self.clamped_from }
    }
}

/// When a row was last seen to change: as it counts, and as it is stored where that is another moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    pub(crate) last_change: UnixSeconds,
    pub(crate) clamped_from: Option<UnixSeconds>,
}

impl Stamp {
    /// As it belongs in a store.
    pub(crate) fn stored(self) -> UnixSeconds {
        self.clamped_from.unwrap_or(self.last_change)
    }

    /// One that was stored, at a restart `now`: from later than that, it is taken to be now.
    pub(crate) fn restarted(stored: UnixSeconds, now: UnixSeconds) -> Self {
        Self { last_change: stored.min(now), clamped_from: (stored > now).then_some(stored) }
    }
}
