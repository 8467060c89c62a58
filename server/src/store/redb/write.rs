//! One batch, one commit.

use ::redb::{Database, Durability, ReadableTable, WriteTransaction};
use greenlight_core::UnixSeconds;
use greenlight_core::history::Happening;

use super::State;
use super::prune;
use super::tables::{
    COMMITS_KEY, EVENTS, FORMAT, FORMAT_KEY, LAST_SEQUENCE_KEY, MARK_KEY, MEMORY, META, NEVER, PAST, ROWS, STARTS,
    StoredMemory, StoredRow, VOUCHES, encode, pack, trouble,
};
use crate::store::{Batch, StoreError};

/// Makes every table of a new database and writes its format.
pub(super) fn begin(database: &Database) -> Result<(), StoreError> {
    let transaction = begin_durable(database)?;
    transaction.open_table(ROWS).map_err(trouble)?;
    transaction.open_table(VOUCHES).map_err(trouble)?;
    transaction.open_table(MEMORY).map_err(trouble)?;
    transaction.open_table(EVENTS).map_err(trouble)?;
    transaction.open_table(PAST).map_err(trouble)?;
    transaction.open_table(STARTS).map_err(trouble)?;
    let mut meta = transaction.open_table(META).map_err(trouble)?;
    meta.insert(FORMAT_KEY, FORMAT.to_string().as_str()).map_err(trouble)?;
    drop(meta);
    transaction.commit().map_err(trouble)
}

/// Writes a batch on top of the acknowledged state, and gives the state that it leaves.
pub(super) fn append(
    database: &Database,
    acknowledged: State,
    batch: &Batch,
    prune_steps: usize,
) -> Result<State, StoreError> {
    let transaction = begin_durable(database)?;
    if batch.replaces_all {
        transaction.delete_table(ROWS).map_err(trouble)?;
        transaction.delete_table(VOUCHES).map_err(trouble)?;
        transaction.delete_table(MEMORY).map_err(trouble)?;
    }
    write_board(&transaction, batch)?;
    write_memory(&transaction, batch)?;
    let last_sequence = write_events(&transaction, acknowledged.last_sequence, batch)?;
    // Twice what comes in goes out, so that the backlog shrinks under any load.
    let steps = prune_steps.saturating_add(batch.events.len().saturating_mul(2));
    prune::step(&transaction, batch.prune_before, steps)?;
    let state = State { commits: acknowledged.commits.wrapping_add(1), last_sequence };
    let mut meta = transaction.open_table(META).map_err(trouble)?;
    if let Some(mark) = &batch.mark {
        let text = serde_json::to_string(mark)
            .map_err(|error| StoreError::Io(format!("the mark cannot be written as JSON: {error}")))?;
        meta.insert(MARK_KEY, text.as_str()).map_err(trouble)?;
    }
    meta.insert(COMMITS_KEY, state.commits.to_string().as_str()).map_err(trouble)?;
    meta.insert(LAST_SEQUENCE_KEY, state.last_sequence.to_string().as_str()).map_err(trouble)?;
    drop(meta);
    transaction.commit().map_err(trouble)?;
    Ok(state)
}

fn begin_durable(database: &Database) -> Result<WriteTransaction, StoreError> {
    let mut transaction = database.begin_write().map_err(trouble)?;
    transaction
        .set_durability(Durability::Immediate)
        .map_err(|error| StoreError::Io(format!("a commit cannot be made durable: {error}")))?;
    Ok(transaction)
}

/// Rows, then vouches, then removals: what left the board within the batch stays off it.
fn write_board(transaction: &WriteTransaction, batch: &Batch) -> Result<(), StoreError> {
    let mut rows = transaction.open_table(ROWS).map_err(trouble)?;
    let mut vouches = transaction.open_table(VOUCHES).map_err(trouble)?;
    for (held, vouch) in &batch.rows {
        rows.insert(held.order, encode(&StoredRow::from(&**held))?.as_slice()).map_err(trouble)?;
        vouches.insert(held.order, pack(vouch)).map_err(trouble)?;
    }
    for (order, vouch) in &batch.vouches {
        vouches.insert(order, pack(vouch)).map_err(trouble)?;
    }
    for order in &batch.removed {
        rows.remove(order).map_err(trouble)?;
        vouches.remove(order).map_err(trouble)?;
    }
    Ok(())
}

/// What is forgotten first: a row that came back and left again within the batch is remembered, and one that left
/// and came back is on the board, where its memory does not count.
fn write_memory(transaction: &WriteTransaction, batch: &Batch) -> Result<(), StoreError> {
    let mut memory = transaction.open_table(MEMORY).map_err(trouble)?;
    for name in &batch.forgotten {
        memory.remove(name.as_str()).map_err(trouble)?;
    }
    for gone in &batch.remembered {
        memory.insert(gone.name.as_str(), encode(&StoredMemory::from(gone))?.as_slice()).map_err(trouble)?;
    }
    Ok(())
}

fn write_events(transaction: &WriteTransaction, acknowledged: u64, batch: &Batch) -> Result<u64, StoreError> {
    let mut events = transaction.open_table(EVENTS).map_err(trouble)?;
    let mut starts = transaction.open_table(STARTS).map_err(trouble)?;
    let newest = events.last().map_err(trouble)?.map_or(0, |(sequence, _)| sequence.value());
    if newest > acknowledged {
        // A batch whose last sync failed got through all the same. Its events will come again.
        events.retain_in(acknowledged.saturating_add(1).., |_, _| false).map_err(trouble)?;
        starts.retain_in(acknowledged.saturating_add(1).., |_, _| false).map_err(trouble)?;
    }
    let mut sequence = acknowledged;
    for event in &batch.events {
        sequence = sequence.saturating_add(1);
        events.insert(sequence, (event.at_unix.as_secs(), encode(event)?.as_slice())).map_err(trouble)?;
        if let Happening::Started { watched_until_unix, .. } = &event.what {
            let until = watched_until_unix.map_or(NEVER, UnixSeconds::as_secs);
            starts.insert(sequence, (event.at_unix.as_secs(), until)).map_err(trouble)?;
        }
    }
    Ok(sequence)
}
