//! What is recorded of a board's life, so that its verdict can be replayed later under any horizon.

mod flat;

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::name::Name;
use crate::row::Row;
use crate::time::UnixSeconds;

/// As many names stand in one event; more of them are told of in several.
pub const MAX_NAMES: usize = 1_000;

/// One thing that happened, in the daemon's time. Within one life of the daemon moments never fall.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(try_from = "flat::Flat")]
pub struct Event {
    /// When.
    pub at_unix: UnixSeconds,
    /// What.
    #[serde(flatten)]
    pub what: Happening,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Happening {
    /// A row changed, came, or came back: as it became. It is vouched for from then on.
    Changed {
        /// Which.
        name: Name,
        /// Its place on the board: rows stand in rising order.
        order: u64,
        /// Who reported it.
        source: Name,
        /// Its stamp: the moment itself, or earlier for a row that brought its age or came back unchanged.
        last_change_unix: UnixSeconds,
        /// The stamp as it is stored, where the one above was clamped to the moment of a restart.
        #[serde(skip_serializing_if = "Option::is_none")]
        stored_change_unix: Option<UnixSeconds>,
        /// The row.
        row: Box<Row>,
    },
    /// A row left the board.
    Removed {
        /// Which.
        name: Name,
    },
    /// Rows have no witness from this moment on.
    Lapsed {
        /// Whose report it was.
        source: Name,
        /// Which rows.
        names: Vec<Name>,
        /// When their reports ended, where that was not this moment: before a restart, or at an upstream that
        /// had lost them earlier.
        #[serde(skip_serializing_if = "Option::is_none")]
        good_until_unix: Option<UnixSeconds>,
    },
    /// Rows that nobody vouched for are vouched for again, unchanged; or somebody still vouches for them after a
    /// start.
    CameBack {
        /// Who vouches.
        source: Name,
        /// Which rows.
        names: Vec<Name>,
    },
    /// The daemon began to watch. Every row on the board lost its witness now, if it still had one; those that
    /// did not are told of at the same moment.
    Started {
        /// The last second that the daemon before it is known to have watched, in that daemon's own time; null
        /// where there was none.
        watched_until_unix: Option<UnixSeconds>,
        /// By how much every time that the daemon before it had written was moved at this start, since its clock
        /// had not followed the wall clock's steps.
        drift_secs: i64,
    },
    /// The daemon watches again, having done nothing at all for a while: it was stopped, or its machine slept.
    Resumed {
        /// The last second that it is known to have watched.
        watched_until_unix: UnixSeconds,
    },
    /// The board is told anew: whatever was told of rows before no longer counts, and the rows on the board
    /// follow at the same moment.
    Retold {
        /// Since when things happened that are not recorded; null where nothing is missing.
        missing_since_unix: Option<UnixSeconds>,
    },
}
