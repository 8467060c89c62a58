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
