//! Reading history while batches go on.

use std::sync::Arc;

use ::redb::ReadableDatabase;
use greenlight_core::UnixSeconds;
use greenlight_core::history::Event;

use super::tables::{EVENTS, META, decode, trouble};
use super::{Shared, guarded, prune};
use crate::store::StoreError;

/// Reads events on any thread while the store takes batches; neither waits for the other.
#[derive(Clone, Debug)]
pub struct EventReader {
    shared: Arc<Shared>,
}

impl EventReader {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        Self { shared }
    }

    /// One page of events with `from <= at_unix < to`, each with its sequence, in the order in which they were
    /// appended; only those after `after_sequence`, which is 0 for the first page.
    ///
    /// A page has at most `limit` events and ends early after 4 MiB of them; it is empty only where no more match.
    /// Sequences rise, with gaps. A replay needs what came before its window too: it reads from moment 0.
    ///
    /// # Errors
    /// Where the store cannot be read now, or holds an event that cannot be understood.
    pub fn events(
        &self,
        from: UnixSeconds,
        to: UnixSeconds,
        after_sequence: u64,
        limit: usize,
    ) -> Result<Vec<(u64, Event)>, StoreError> {
        let span = from.as_secs()..to.as_secs();
        self.shared.with(|database| {
            guarded(|| {
                let transaction = database.begin_read().map_err(trouble)?;
                let events = transaction.open_table(EVENTS).map_err(trouble)?;
                let mut page = Vec::new();
                let mut page_bytes: usize = 0;
                for entry in events.range(after_sequence.saturating_add(1)..).map_err(trouble)? {
                    if page.len() >= limit || page_bytes >= MAX_PAGE_BYTES {
                        break;
                    }
                    let (sequence, value) = entry.map_err(trouble)?;
                    let (at, bytes) = value.value();
                    if span.contains(&at) {
                        page_bytes = page_bytes.saturating_add(bytes.len());
                        page.push((sequence.value(), decode("an event", bytes)?));
                    }
                }
                Ok(page)
            })
        })
    }

    /// From which moment on a replay is exact, because nothing after it was dropped; `None` where nothing ever was.
    ///
    /// # Errors
    /// Where the store cannot be read now.
    pub fn complete_from(&self) -> Result<Option<UnixSeconds>, StoreError> {
        self.shared.with(|database| {
            guarded(|| {
                let transaction = database.begin_read().map_err(trouble)?;
                let meta = transaction.open_table(META).map_err(trouble)?;
                let pruned = prune::read(&meta)?.map(|pruned| pruned.complete_from);
                Ok(pruned.filter(|moment| *moment > UnixSeconds::default()))
            })
        })
    }
}

/// A row may have a mebibyte, so a page is bounded by bytes too.
const MAX_PAGE_BYTES: usize = 4 * 1024 * 1024;
