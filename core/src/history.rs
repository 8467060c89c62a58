//! What is recorded of a board's life, so that its verdict can be replayed later under any horizon.

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::name::Name;
use crate::row::Row;
use crate::time::UnixSeconds;

/// One thing that happened, in the daemon's time.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Event {
    /// When.
    pub at_unix: UnixSeconds,
    /// What.
    #[serde(flatten)]
    pub what: Happening,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Happening {
    /// A row changed, came, or came back: as it became. It is vouched for from then on.
    Changed {
        /// Which.
        name: Name,
        /// Who reported it.
        source: Name,
        /// Its stamp: the moment itself, or earlier for a row that brought its age or came back unchanged.
        last_change_unix: UnixSeconds,
        /// The row.
        row: Box<Row>,
    },
    /// A row left the board.
    Removed {
        /// Which.
        name: Name,
    },
    /// Rows lost their witness: their reports ended at this moment.
    Lapsed {
        /// Whose report it was.
        source: Name,
        /// Which rows.
        names: Vec<Name>,
    },
    /// Rows that nobody vouched for are vouched for again, unchanged.
    CameBack {
        /// Who vouches.
        source: Name,
        /// Which rows.
        names: Vec<Name>,
    },
    /// The daemon began to watch. Every row on the board that is not named lost its witness now, if it still
    /// had one.
    Started {
        /// Rows whose reports are good whatever happens.
        still_good: Vec<Name>,
        /// When the daemon before it was last known to watch; null where there was none.
        watched_until_unix: Option<UnixSeconds>,
    },
}
