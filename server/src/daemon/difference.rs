//! What differs between two snapshots of one board: the one source of what is stored, streamed and counted.

use std::sync::Arc;

use greenlight_core::{Held, Name, Snapshot, Vouch};

/// From an older snapshot to a newer one of the same board.
#[derive(Debug, Default)]
pub(crate) struct Difference {
    /// Rows that are new or not what they were, with their vouches.
    pub(crate) rows: Vec<(Arc<Held>, Vouch)>,
    /// Rows that are gone.
    pub(crate) removed: Vec<Arc<Held>>,
    /// Rows that are what they were but vouched for otherwise.
    pub(crate) vouches: Vec<(Arc<Held>, Vouch)>,
}

impl Difference {
    /// Walks both in board order. Rows are shared between snapshots, so that equal ones are one pointer.
    pub(crate) fn between(older: &Snapshot, newer: &Snapshot) -> Self {
        let mut difference = Self::default();
        let (mut old, mut new) = (older.rows().peekable(), newer.rows().peekable());
        loop {
            let (was, is) = match (old.peek(), new.peek()) {
                (None, None) => return difference,
                // The pointers first: most rows are unchanged, and need not be looked into.
                (Some(was), Some(is)) if Arc::ptr_eq(was.held, is.held) || was.held.order == is.held.order => {
                    (old.next(), new.next())
                }
                (Some(was), Some(is)) if was.held.order < is.held.order => (old.next(), None),
                (Some(_), None) => (old.next(), None),
                (_, Some(_)) => (None, new.next()),
            };
            match (was, is) {
                (Some(was), Some(is)) if !Arc::ptr_eq(was.held, is.held) => {
                    difference.rows.push((Arc::clone(is.held), *is.vouch));
                }
                (Some(was), Some(is)) if was.vouch != is.vouch => {
                    difference.vouches.push((Arc::clone(is.held), *is.vouch));
                }
                (Some(was), None) => difference.removed.push(Arc::clone(was.held)),
                (None, Some(is)) => difference.rows.push((Arc::clone(is.held), *is.vouch)),
                (Some(_), Some(_)) | (None, None) => {}
            }
        }
    }

    /// Whether a row changed, came or went: what the revision counts.
    pub(crate) fn moves_the_revision(&self) -> bool {
        !(self.rows.is_empty() && self.removed.is_empty())
    }

    /// The names of the rows that are gone and have not come back under the same name in this step.
    pub(crate) fn removed_names(&self) -> impl Iterator<Item = &Name> {
        self.removed.iter().map(|held| &held.name)
    }
}
