//! The memory of removed rows: a row that leaves the board and comes back unchanged keeps its stamp.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use crate::name::Name;
use crate::row::Row;
use crate::time::UnixSeconds;

/// A row that left the board.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Remembered {
    /// Identity.
    pub name: Name,
    /// The row as it was.
    pub row: Row,
    /// Its stamp.
    pub last_change: UnixSeconds,
    /// When it left.
    pub removed: UnixSeconds,
    /// Stamp and removal as they are stored, where those in memory were clamped to the moment of a restart.
    pub clamped_from: Option<(UnixSeconds, UnixSeconds)>,
}

impl Remembered {
    /// The stamp and the removal as they belong in a store: never the clamped ones.
    pub fn stored_times(&self) -> (UnixSeconds, UnixSeconds) {
        self.clamped_from.unwrap_or((self.last_change, self.removed))
    }
}

/// Removed rows, the oldest removal forgotten first.
///
/// Invariant: `by_removal` holds exactly the removal and name of each entry of `rows`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Memory {
    rows: BTreeMap<Name, Remembered>,
    by_removal: BTreeSet<(UnixSeconds, Name)>,
}

impl Memory {
    /// For how long a removed row is remembered: 30 days.
    pub(crate) const KEPT_SECS: u64 = 30 * 24 * 3600;

    pub(crate) fn insert(&mut self, gone: Remembered) {
        self.take(&gone.name);
        self.by_removal.insert((gone.removed, gone.name.clone()));
        self.rows.insert(gone.name.clone(), gone);
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Remembered> {
        self.rows.get(name)
    }

    pub(crate) fn take(&mut self, name: &str) -> Option<Remembered> {
        let gone = self.rows.remove(name)?;
        self.by_removal.remove(&(gone.removed, gone.name.clone()));
        Some(gone)
    }

    /// Forgets what was removed too long ago, and tells what.
    pub(crate) fn forget_old(&mut self, now: UnixSeconds) -> Vec<Name> {
        self.forget_while(|_, removed| removed.age(now) >= Self::KEPT_SECS)
    }

    /// Forgets the oldest removals beyond `limit`, and tells what.
    pub(crate) fn forget_beyond(&mut self, limit: usize) -> Vec<Name> {
        self.forget_while(|kept, _| kept > limit)
    }

    fn forget_while(&mut self, goes: impl Fn(usize, UnixSeconds) -> bool) -> Vec<Name> {
        let mut forgotten = Vec::new();
        while let Some((removed, name)) = self.by_removal.first()
            && goes(self.rows.len(), *removed)
        {
            let name = name.clone();
            self.take(&name);
            forgotten.push(name);
        }
        forgotten
    }

    /// Every stamp and removal that is stored later than `now` is taken to be now.
    pub(crate) fn clamp(&mut self, now: UnixSeconds) {
        let clamped = |gone: &Remembered| {
            let (last_change, removed) = gone.stored_times();
            (last_change.min(now), removed.min(now))
        };
        let other: Vec<Name> = self
            .rows
            .values()
            .filter(|gone| (gone.last_change, gone.removed) != clamped(gone))
            .map(|gone| gone.name.clone())
            .collect();
        for name in other {
            if let Some(gone) = self.take(&name) {
                let stored = gone.stored_times();
                let (last_change, removed) = clamped(&gone);
                let clamped_from = ((last_change, removed) != stored).then_some(stored);
                self.insert(Remembered { last_change, removed, clamped_from, ..gone });
            }
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Remembered> {
        self.rows.values()
    }
}
