//! What the tables hold, and how it is written.

use std::borrow::Cow;
use std::io;

use ::redb::{Error, ReadTransaction, TableDefinition};
use greenlight_core::{GoodFor, Held, Name, Remembered, Route, Row, UnixSeconds, Vouch};
use serde::{Deserialize, Serialize};

use crate::store::StoreError;

/// The number of the format that this binary writes, and the newest that it reads.
pub(super) const FORMAT: u64 = 1;

/// Facts about the store, as JSON. Its name, its types and [`FORMAT_KEY`] hold for every format to come.
pub(super) const META: TableDefinition<'_, &str, &str> = TableDefinition::new("meta");
/// Rows by their order, as JSON of [`StoredRow`].
pub(super) const ROWS: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("rows");
/// Who vouches, by the row's order. Apart from the rows, so that a heartbeat writes 32 bytes a row.
pub(super) const VOUCHES: TableDefinition<'_, u64, (u64, u64, u64)> = TableDefinition::new("vouches");
/// Removed rows by name, as JSON of [`StoredMemory`].
pub(super) const MEMORY: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("memory");
/// Events by sequence, which starts at 1: the moment, so that it can be compared unread, and the event as JSON.
pub(super) const EVENTS: TableDefinition<'_, u64, (u64, &[u8])> = TableDefinition::new("events");
/// The board as it was when everything that has been pruned had happened: rows by name, as JSON of [`PastRow`].
pub(super) const PAST: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("past");
/// The starts among the events, by sequence: when, and until when the life before had watched; `u64::MAX` where
/// there was none. So that a reader learns which lives overtake others without reading every event.
pub(super) const STARTS: TableDefinition<'_, u64, (u64, u64)> = TableDefinition::new("starts");

pub(super) const FORMAT_KEY: &str = "format";
pub(super) const MARK_KEY: &str = "mark";
pub(super) const COMMITS_KEY: &str = "commits";
pub(super) const LAST_SEQUENCE_KEY: &str = "last_sequence";
pub(super) const PRUNED_KEY: &str = "pruned";

/// A row without its order, which is the key.
#[derive(Serialize, Deserialize)]
pub(super) struct StoredRow<'a> {
    pub(super) name: Name,
    #[serde(borrow)]
    pub(super) source: Cow<'a, str>,
    pub(super) last_change: UnixSeconds,
    pub(super) row: Cow<'a, Row>,
    pub(super) route: Cow<'a, Route>,
}

/// A row of the past, with all that history tells of it.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PastRow {
    pub(super) held: Held,
    pub(super) vouch: Vouch,
}

/// A removed row without its name, which is the key.
#[derive(Serialize, Deserialize)]
pub(super) struct StoredMemory<'a> {
    pub(super) last_change: UnixSeconds,
    pub(super) removed: UnixSeconds,
    pub(super) row: Cow<'a, Row>,
}

impl<'a> From<&'a Held> for StoredRow<'a> {
    fn from(held: &'a Held) -> Self {
        Self {
            name: held.name.clone(),
            source: Cow::Borrowed(&held.source),
            last_change: held.stored_change(),
            row: Cow::Borrowed(&held.row),
            route: Cow::Borrowed(&held.route),
        }
    }
}

impl<'a> From<&'a Remembered> for StoredMemory<'a> {
    fn from(gone: &'a Remembered) -> Self {
        let (last_change, removed) = gone.stored_times();
        Self { last_change, removed, row: Cow::Borrowed(&gone.row) }
    }
}

/// A vouch as three numbers: the report's moment; for how long it is good, 0 until a restart and `u64::MAX` for
/// ever; and until when, `u64::MAX` never ending.
pub(super) fn pack(vouch: &Vouch) -> (u64, u64, u64) {
    let good_for = match vouch.good_for {
        GoodFor::Seconds(secs) => secs,
        GoodFor::UntilRestart => UNTIL_RESTART,
        GoodFor::Forever => FOREVER,
    };
    (vouch.last_report.as_secs(), good_for, vouch.good_until.map_or(NEVER, UnixSeconds::as_secs))
}

pub(super) fn unpack((last_report, good_for, good_until): (u64, u64, u64)) -> Result<Vouch, StoreError> {
    let moment = |secs| UnixSeconds::try_from(secs).map_err(|error| StoreError::Corrupt(format!("a vouch: {error}")));
    Ok(Vouch {
        last_report: moment(last_report)?,
        good_for: match good_for {
            UNTIL_RESTART => GoodFor::UntilRestart,
            FOREVER => GoodFor::Forever,
            secs => GoodFor::from_secs(secs)
                .ok_or_else(|| StoreError::Corrupt(format!("a vouch: good for {secs} seconds")))?,
        },
        good_until: match good_until {
            NEVER => None,
            secs => Some(moment(secs)?),
        },
    })
}

/// Refuses a store that a newer binary wrote, before any other table is touched.
pub(super) fn check_format(transaction: &ReadTransaction) -> Result<(), StoreError> {
    let meta = transaction.open_table(META).map_err(trouble)?;
    let found: Option<u64> = meta_number(&meta, FORMAT_KEY)?;
    match found {
        Some(found) if found > FORMAT => Err(StoreError::Newer { found, known: FORMAT }),
        Some(FORMAT) => Ok(()),
        Some(found) => Err(StoreError::Corrupt(format!("format {found} never was"))),
        None => Err(StoreError::Corrupt("it has no format number".to_owned())),
    }
}

/// A number among the facts; `None` where it is not there.
pub(super) fn meta_number(
    meta: &impl ::redb::ReadableTable<&'static str, &'static str>,
    key: &str,
) -> Result<Option<u64>, StoreError> {
    meta.get(key).map_err(trouble)?.map(|text| decode(key, text.value().as_bytes())).transpose()
}

pub(super) fn encode(what: &impl Serialize) -> Result<Vec<u8>, StoreError> {
    serde_json::to_vec(what).map_err(|error| StoreError::Io(format!("cannot be written as JSON: {error}")))
}

pub(super) fn decode<'a, T: Deserialize<'a>>(what: &str, bytes: &'a [u8]) -> Result<T, StoreError> {
    serde_json::from_slice(bytes).map_err(|error| StoreError::Corrupt(format!("{what}: {error}")))
}

/// Tells what a failure of the database means. Corruption is only what is said of the bytes: a disk that does not
/// answer must not cost a store that may be whole.
pub(super) fn trouble(error: impl Into<Error>) -> StoreError {
    let error = error.into();
    match &error {
        Error::Io(io) => match io.kind() {
            // Not a database at all, or shorter than it says.
            io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof => StoreError::Corrupt(error.to_string()),
            _ => StoreError::Io(error.to_string()),
        },
        // Our own tables missing or with other types were not written by any Greenlight; a lock is poisoned only
        // by a panic.
        Error::Corrupted(_)
        | Error::TableTypeMismatch { .. }
        | Error::TableIsMultimap(_)
        | Error::TableIsNotMultimap(_)
        | Error::TypeDefinitionChanged { .. }
        | Error::TableDoesNotExist(_)
        | Error::UpgradeRequired(_)
        | Error::LockPoisoned(_) => StoreError::Corrupt(error.to_string()),
        // The library's enum may grow; what it adds is not taken for damage.
        _ => StoreError::Io(error.to_string()),
    }
}

const UNTIL_RESTART: u64 = 0;
const FOREVER: u64 = u64::MAX;
pub(super) const NEVER: u64 = u64::MAX;
