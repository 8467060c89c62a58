//! Reading a whole board back.

use std::collections::BTreeSet;
use std::sync::Arc;

use ::redb::{Database, ReadableDatabase, ReadableTable, ReadableTableMetadata};
use greenlight_core::{Held, Name, Remembered};

use super::State;
use super::tables::{
    COMMITS_KEY, EVENTS, LAST_SEQUENCE_KEY, MARK_KEY, MEMORY, META, ROWS, StoredMemory, StoredRow, VOUCHES,
    check_format, decode, meta_number, trouble, unpack,
};
use crate::store::{Loaded, StoreError};

/// Checks the format and that every table is there, and tells where the commits have come to.
pub(super) fn read_state(database: &Database) -> Result<State, StoreError> {
    let transaction = database.begin_read().map_err(trouble)?;
    check_format(&transaction)?;
    transaction.open_table(EVENTS).map_err(trouble)?;
    let meta = transaction.open_table(META).map_err(trouble)?;
    Ok(State {
        commits: meta_number(&meta, COMMITS_KEY)?.unwrap_or(0),
        last_sequence: meta_number(&meta, LAST_SEQUENCE_KEY)?.unwrap_or(0),
    })
}

pub(super) fn load_all(database: &Database) -> Result<Loaded, StoreError> {
    let transaction = database.begin_read().map_err(trouble)?;
    check_format(&transaction)?;
    let meta = transaction.open_table(META).map_err(trouble)?;
    let mark = meta.get(MARK_KEY).map_err(trouble)?;
    let mark = mark.map(|text| decode("the mark", text.value().as_bytes())).transpose()?;

    let rows = transaction.open_table(ROWS).map_err(trouble)?;
    let vouches = transaction.open_table(VOUCHES).map_err(trouble)?;
    let mut sources = BTreeSet::new();
    let mut loaded = Loaded { rows: Vec::with_capacity(length(&rows)?), remembered: Vec::new(), mark };
    let mut vouches = vouches.iter().map_err(trouble)?;
    for entry in rows.iter().map_err(trouble)? {
        let (order, bytes) = entry.map_err(trouble)?;
        let order = order.value();
        let stored: StoredRow<'_> = decode("a row", bytes.value())?;
        // The two tables are written together, so they are walked together. A vouch for a row that is gone is
        // passed over.
        let mut vouch = vouches.next().transpose().map_err(trouble)?;
        while vouch.as_ref().is_some_and(|(of, _)| of.value() < order) {
            vouch = vouches.next().transpose().map_err(trouble)?;
        }
        let vouch = vouch
            .filter(|(of, _)| of.value() == order)
            .ok_or_else(|| StoreError::Corrupt(format!("nobody vouches for the row of {}", stored.name)))?;
        let vouch = unpack(vouch.1.value())?;
        let source = shared_name(&mut sources, &stored.source)?;
        let held = Held {
            order,
            name: stored.name,
            row: stored.row.into_owned(),
            route: stored.route.into_owned(),
            source,
            last_change: stored.last_change,
            clamped_from: None,
        };
        loaded.rows.push((Arc::new(held), vouch));
    }

    let memory = transaction.open_table(MEMORY).map_err(trouble)?;
    loaded.remembered.reserve_exact(length(&memory)?);
    for entry in memory.iter().map_err(trouble)? {
        let (name, bytes) = entry.map_err(trouble)?;
        let stored: StoredMemory<'_> = decode("a remembered row", bytes.value())?;
        let name = name.value();
        loaded.remembered.push(Remembered {
            name: Name::of_instance(name).map_err(|error| StoreError::Corrupt(format!("a remembered row: {error}")))?,
            row: stored.row.into_owned(),
            last_change: stored.last_change,
            removed: stored.removed,
            clamped_from: None,
        });
    }
    Ok(loaded)
}

/// One copy of the name for all rows of a source, as the board has it.
fn shared_name(known: &mut BTreeSet<Name>, text: &str) -> Result<Name, StoreError> {
    if let Some(name) = known.get(text) {
        return Ok(name.clone());
    }
    let name = Name::of_source(text).map_err(|error| StoreError::Corrupt(format!("a row's source: {error}")))?;
    known.insert(name.clone());
    Ok(name)
}

/// How much room to make. The length is the file's own word, so it is not believed beyond what a board holds.
fn length(table: &impl ReadableTableMetadata) -> Result<usize, StoreError> {
    let length = table.len().map_err(trouble)?;
    Ok(usize::try_from(length).unwrap_or(usize::MAX).min(greenlight_core::MAX_ROWS))
}
