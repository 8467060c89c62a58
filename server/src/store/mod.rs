//! What is remembered: the seam between the board's task and whatever keeps its rows.
//!
//! The seam is `append(batch) -> durable` and `load() -> board`, nothing finer.

use std::sync::Arc;

use greenlight_core::history::Event;
use greenlight_core::{Held, Name, Remembered, UnixSeconds, Vouch};

pub mod lock;
mod memory;
mod redb;

pub use memory::MemoryStore;
pub use redb::{EventReader, FileMedium, Medium, Opening, Page, RedbStore, open};

/// Something that keeps a board through restarts. One owner at a time; calls block.
pub trait Store: Send {
    /// Everything that was kept, as the last life of the daemon wrote it.
    ///
    /// # Errors
    /// Where it cannot be read.
    fn load(&mut self) -> Result<Loaded, StoreError>;

    /// Keeps a batch, all or nothing. When it returns `Ok`, the batch survives a power cut.
    ///
    /// # Errors
    /// Where it cannot be made durable; nothing of the batch is then kept, and the store may be asked again. A
    /// batch that [replaces all](Batch::replaces_all) is never refused for what came before it.
    fn append(&mut self, batch: &Batch) -> Result<(), StoreError>;

    /// Whether what is kept survives a restart at all.
    fn keeps(&self) -> bool {
        true
    }

    /// A handle that reads events on other threads; `None` where no history is kept.
    fn events(&self) -> Option<EventReader> {
        None
    }
}

/// What changed, as it must be found after a restart.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    /// The batch is the whole board and its memory: whatever else was kept of rows and memory goes.
    pub replaces_all: bool,
    /// Rows as they are now, by [`Held::order`], with their vouches. Shared with the board, so that writing all of
    /// it copies none.
    pub rows: Vec<(Arc<Held>, Vouch)>,
    /// Rows that left the board, by [`Held::order`].
    pub removed: Vec<u64>,
    /// Only who vouches, of rows that are otherwise as they were kept, by [`Held::order`]. A row that is in
    /// `removed` too is gone.
    pub vouches: Vec<(u64, Vouch)>,
    /// Removed rows that are remembered now.
    pub remembered: Vec<Remembered>,
    /// Removed rows that are remembered no longer; one that is in `remembered` too is remembered.
    pub forgotten: Vec<Name>,
    /// What happened, for history, in order.
    pub events: Vec<Event>,
    /// That the daemon is watching.
    pub mark: Option<Mark>,
    /// Events before this moment are dropped, a slice with this and each later batch until it is done.
    pub prune_before: Option<UnixSeconds>,
}

impl Batch {
    /// Whether there is nothing to keep.
    pub fn is_empty(&self) -> bool {
        !self.replaces_all
            && self.rows.is_empty()
            && self.removed.is_empty()
            && self.vouches.is_empty()
            && self.remembered.is_empty()
            && self.forgotten.is_empty()
            && self.events.is_empty()
            && self.mark.is_none()
            && self.prune_before.is_none()
    }
}

/// A sign of life in the daemon's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Mark {
    /// The daemon's now.
    pub at_unix: UnixSeconds,
    /// How far the wall clock has moved away from the daemon's since its start, in seconds.
    pub drift_secs: i64,
}

/// What a store gives back at start.
#[derive(Clone, Debug, Default)]
pub struct Loaded {
    /// The rows that were on the board, in any order.
    pub rows: Vec<(Arc<Held>, Vouch)>,
    /// The memory of removed rows.
    pub remembered: Vec<Remembered>,
    /// The last sign of life; `None` for a new store.
    pub mark: Option<Mark>,
}

/// Why something could not be kept or read.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The disk or the system said no.
    #[error("{0}")]
    Io(String),
    /// What is there cannot be understood.
    #[error("the store is corrupt: {0}")]
    Corrupt(String),
    /// A newer Greenlight wrote it.
    #[error(
        "the store has format {found}, this binary knows formats up to {known}: start the newer binary, or give another --data"
    )]
    Newer {
        /// The store's.
        found: u64,
        /// The newest that this binary reads.
        known: u64,
    },
}
