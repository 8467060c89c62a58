//! Reading history while batches go on.

use std::sync::Arc;

use ::redb::{ReadTransaction, ReadableDatabase, ReadableTable, TableError};
use greenlight_core::UnixSeconds;
use greenlight_core::history::{Event, Lives, Past};

use super::prune::{self, Pruned};
use super::tables::{EVENTS, LAST_SEQUENCE_KEY, META, NEVER, PAST, PastRow, STARTS, decode, meta_number, trouble};
use super::{Shared, guarded};
use crate::store::StoreError;

/// Reads events on any thread while the store takes batches; neither waits for the other.
#[derive(Clone, Debug)]
pub struct EventReader {
    shared: Arc<Shared>,
}

/// Where a window of history begins and ends.
#[derive(Debug)]
pub struct Opening {
    /// The board as it was before the first event of the window.
    pub past: Past,
    /// Whether anything is known of what was before: else the record begins with the window.
    pub is_known: bool,
    /// The events of the window come after this sequence,
    pub after: u64,
    /// and up to this one.
    pub last: u64,
    /// Up to this one events have been dropped.
    pub pruned: u64,
    /// From which moment on a replay is exact, because nothing after it was dropped; `None` where nothing ever was.
    pub complete_from: Option<UnixSeconds>,
    /// The lives that begin within these events.
    pub lives: Lives,
}

/// Events as they are stored: each is JSON, with its sequence.
pub type Page = Vec<(u64, Vec<u8>)>;

impl EventReader {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        Self { shared }
    }

    /// The board as it was before the first event at `from` or later, and which events make the window that ends
    /// before `to`. Every event before the window is read; memory for the rows on the board.
    ///
    /// # Errors
    /// Where the store cannot be read now, or holds an event that cannot be understood.
    pub fn opening(&self, from: UnixSeconds, to: UnixSeconds) -> Result<Opening, StoreError> {
        self.read(|transaction| {
            let meta = transaction.open_table(META).map_err(trouble)?;
            let newest: u64 = meta_number(&meta, LAST_SEQUENCE_KEY)?.unwrap_or(0);
            let pruned = prune::read(&meta)?.unwrap_or_default();
            let (mut past, mut after) = (read_past(transaction, &pruned)?, pruned.sequence);
            let events = transaction.open_table(EVENTS).map_err(trouble)?;
            let mut is_first = true;
            for entry in events.range(pruned.sequence.saturating_add(1)..).map_err(trouble)? {
                let (sequence, value) = entry.map_err(trouble)?;
                let (at, bytes) = value.value();
                // A start that has happened to a part of the rows has to be finished, wherever the window begins.
                let is_begun = std::mem::take(&mut is_first) && pruned.rows_done.is_some();
                if at >= from.as_secs() && !is_begun {
                    break;
                }
                let event: Event = decode("an event", bytes)?;
                match pruned.rows_done.as_deref().filter(|_| is_begun) {
                    Some(done) => past = finished(&past, done, &event),
                    None => past.apply(&event),
                }
                after = sequence.value();
            }
            let mut lives = Lives::default();
            let mut ends_after = after;
            each_start(transaction, after, |sequence, at, watched_until| {
                lives.note_start(at, watched_until);
                if at < to {
                    ends_after = sequence;
                }
            })?;
            // Within one life moments never fall: the first event that is too late ends the window.
            let mut last = newest;
            for entry in events.range(ends_after.saturating_add(1)..).map_err(trouble)? {
                let (sequence, value) = entry.map_err(trouble)?;
                if value.value().0 >= to.as_secs() {
                    last = sequence.value().saturating_sub(1);
                    break;
                }
            }
            Ok(Opening {
                past,
                is_known: after > 0,
                after,
                last: last.max(after),
                pruned: pruned.sequence,
                complete_from: Some(pruned.complete_from).filter(|moment| *moment > UnixSeconds::default()),
                lives,
            })
        })
    }

    /// One page of events after a sequence and up to another, in the order in which they were appended. It ends
    /// after `limit` events, or after as many as make [`PAGE_BYTES`]; it is empty only where no more follow.
    ///
    /// # Errors
    /// Where the store cannot be read now, or what is asked for has been pruned.
    pub fn page(&self, after: u64, last: u64, limit: usize) -> Result<Page, StoreError> {
        self.read(|transaction| {
            let meta = transaction.open_table(META).map_err(trouble)?;
            let pruned = prune::read(&meta)?.unwrap_or_default();
            if pruned.sequence > after {
                return Err(StoreError::Io("the events that were to follow have been pruned meanwhile".to_owned()));
            }
            let events = transaction.open_table(EVENTS).map_err(trouble)?;
            let mut page = Vec::new();
            let mut page_bytes: usize = 0;
            for entry in events.range(after.saturating_add(1)..).map_err(trouble)? {
                let (sequence, value) = entry.map_err(trouble)?;
                if sequence.value() > last || page.len() >= limit || page_bytes >= PAGE_BYTES {
                    break;
                }
                let (_, bytes) = value.value();
                page_bytes = page_bytes.saturating_add(bytes.len());
                page.push((sequence.value(), bytes.to_vec()));
            }
            Ok(page)
        })
    }

    /// Before which moment events are dropped, a slice with every commit; the epoch where nothing is.
    ///
    /// # Errors
    /// Where the store cannot be read now.
    pub fn dropped_before(&self) -> Result<UnixSeconds, StoreError> {
        self.read(|transaction| {
            let meta = transaction.open_table(META).map_err(trouble)?;
            Ok(prune::read(&meta)?.unwrap_or_default().cut)
        })
    }

    fn read<T>(&self, run: impl FnOnce(&ReadTransaction) -> Result<T, StoreError>) -> Result<T, StoreError> {
        self.shared.with(|database| {
            guarded(|| {
                let transaction = database.begin_read().map_err(trouble)?;
                run(&transaction)
            })
        })
    }
}

/// The board as it was when all that has been pruned had happened.
fn read_past(transaction: &ReadTransaction, pruned: &Pruned) -> Result<Past, StoreError> {
    let mut past = Past::new();
    past.begin(pruned.latest);
    let rows = match transaction.open_table(PAST) {
        Ok(rows) => rows,
        // Nothing has been pruned since there is such a table.
        Err(TableError::TableDoesNotExist(_)) => return Ok(past),
        Err(error) => return Err(trouble(error)),
    };
    for entry in rows.iter().map_err(trouble)? {
        let PastRow { held, vouch } = decode("a row of the past", entry.map_err(trouble)?.1.value())?;
        past.put(Arc::new(held), vouch);
    }
    Ok(past)
}

/// The board after a start that has happened already to the rows up to `done`.
fn finished(past: &Past, done: &str, start: &Event) -> Past {
    let mut rest = Past::new();
    for row in past.rows().filter(|row| row.name().as_str() > done) {
        rest.put(Arc::clone(row.held), *row.vouch);
    }
    rest.apply(start);
    for row in past.rows().filter(|row| row.name().as_str() <= done) {
        rest.put(Arc::clone(row.held), *row.vouch);
    }
    rest
}

fn each_start(
    transaction: &ReadTransaction,
    after: u64,
    mut take: impl FnMut(u64, UnixSeconds, Option<UnixSeconds>),
) -> Result<(), StoreError> {
    let starts = match transaction.open_table(STARTS) {
        Ok(starts) => starts,
        Err(TableError::TableDoesNotExist(_)) => return Ok(()),
        Err(error) => return Err(trouble(error)),
    };
    for entry in starts.range(after.saturating_add(1)..).map_err(trouble)? {
        let (sequence, value) = entry.map_err(trouble)?;
        let (at, until) = value.value();
        take(sequence.value(), UnixSeconds::new(at), (until != NEVER).then(|| UnixSeconds::new(until)));
    }
    Ok(())
}

/// A page ends after so much: what a reader holds in memory, the longest event apart.
const PAGE_BYTES: usize = 256 * 1024;
