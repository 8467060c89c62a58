//! Nothing is kept.

use super::{Batch, Loaded, Store, StoreError};

/// Keeps nothing: after a restart every row is new, and no stamp is older than the restart.
#[derive(Clone, Copy, Debug, Default)]
pub struct MemoryStore;

impl Store for MemoryStore {
    fn load(&mut self) -> Result<Loaded, StoreError> {
        Ok(Loaded::default())
    }

    fn append(&mut self, _batch: &Batch) -> Result<(), StoreError> {
        Ok(())
    }

    fn keeps(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Mark;
    use greenlight_core::UnixSeconds;

    #[test]
    fn a_store_in_memory_takes_everything_and_gives_nothing_back() {
        let mut store = MemoryStore;
        let mark = Some(Mark { at_unix: UnixSeconds::new(1), drift_secs: 0 });
        store.append(&Batch { mark, ..Batch::default() }).unwrap();
        let loaded = store.load().unwrap();
        assert!(loaded.rows.is_empty() && loaded.remembered.is_empty() && loaded.mark.is_none());
        assert!(!store.keeps() && store.events().is_none());
    }
}
