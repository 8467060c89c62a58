//! Dropping old events a slice at a time, without changing what a replay from the cut on shows.
//!
//! Events are passed in order of sequence, once each: what one does to the board is done to the board of the past,
//! by the same code that replays it, and the event is dropped. So the past is the board as it was when all that has
//! been passed had happened, and whatever was not passed follows from there. One event may take several slices; all
//! but a start may happen twice to a row without harm, and of a start it is noted up to which row it has happened.

use std::ops::Bound;
use std::sync::Arc;

use ::redb::{ReadableTable, Table, WriteTransaction};
use greenlight_core::history::{Event, Happening, Past};
use greenlight_core::{Name, UnixSeconds};
use serde::{Deserialize, Serialize};

use super::tables::{EVENTS, META, PAST, PRUNED_KEY, PastRow, STARTS, decode, encode, trouble};
use crate::store::StoreError;

/// How far pruning has come.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Pruned {
    /// Events before this moment are to go: the last cut that was asked for.
    pub(super) cut: UnixSeconds,
    /// Every event up to this sequence has been passed.
    pub(super) sequence: u64,
    /// From this moment on nothing is missing.
    pub(super) complete_from: UnixSeconds,
    /// The moment of the newest event that has been passed.
    #[serde(default)]
    pub(super) latest: UnixSeconds,
    /// How many of its names the next event has been passed for.
    names_done: usize,
    /// Up to which row the next event, a start, has happened.
    #[serde(default)]
    pub(super) rows_done: Option<String>,
}

/// Passes a slice of the events before the cut: the one asked for, or else the last one that was.
pub(super) fn step(
    transaction: &WriteTransaction,
    prune_before: Option<UnixSeconds>,
    steps: usize,
) -> Result<(), StoreError> {
    let mut meta = transaction.open_table(META).map_err(trouble)?;
    let before = read(&meta)?.unwrap_or_default();
    let mut slice = Slice {
        events: transaction.open_table(EVENTS).map_err(trouble)?,
        starts: transaction.open_table(STARTS).map_err(trouble)?,
        past: transaction.open_table(PAST).map_err(trouble)?,
        pruned: Pruned { cut: prune_before.unwrap_or(before.cut), ..before.clone() },
        reads_left: steps,
        rows_left: steps,
    };
    while slice.reads_left > 0 && slice.rows_left > 0 && slice.pass_next()? {}
    let after = slice.pruned;
    if after != before {
        let text = serde_json::to_string(&after)
            .map_err(|error| StoreError::Io(format!("pruning cannot be written as JSON: {error}")))?;
        meta.insert(PRUNED_KEY, text.as_str()).map_err(trouble)?;
    }
    Ok(())
}

/// How far pruning has come; `None` where it was never asked for.
pub(super) fn read(meta: &impl ReadableTable<&'static str, &'static str>) -> Result<Option<Pruned>, StoreError> {
    let pruned = meta.get(PRUNED_KEY).map_err(trouble)?;
    pruned.map(|text| decode("how far history is pruned", text.value().as_bytes())).transpose()
}

/// The work on one commit.
struct Slice<'t> {
    events: Table<'t, u64, (u64, &'static [u8])>,
    starts: Table<'t, u64, (u64, u64)>,
    past: Table<'t, &'static str, &'static [u8]>,
    pruned: Pruned,
    /// Events, the long ones counted as several, that may still be read.
    reads_left: usize,
    /// Rows of the past, the long ones counted as several, that may still be changed. Apart from the reads, so that
    /// an event too long for a slice still gets its share of rows done in each.
    rows_left: usize,
}

impl Slice<'_> {
    /// Passes the next event, or a part of it. False where none before the cut is left.
    fn pass_next(&mut self) -> Result<bool, StoreError> {
        let Some((sequence, event)) = self.next_old()? else {
            return Ok(false);
        };
        self.pruned.complete_from = self.pruned.complete_from.max(event.at_unix.min(self.pruned.cut));
        let done = match &event.what {
            Happening::Changed { name, .. } | Happening::Removed { name } => {
                self.happen(&event, std::iter::once(name.as_str()))?;
                true
            }
            Happening::Lapsed { names, .. } | Happening::CameBack { names, .. } => self.pass_names(&event, names)?,
            Happening::Started { .. } => self.pass_start(&event)?,
            Happening::Resumed { .. } => true,
            Happening::Retold { .. } => self.forget_all()?,
        };
        if done {
            self.pruned.sequence = sequence;
            self.pruned.latest = event.at_unix;
            self.pruned.names_done = 0;
            self.pruned.rows_done = None;
            self.events.remove(sequence).map_err(trouble)?;
            self.starts.remove(sequence).map_err(trouble)?;
        }
        Ok(true)
    }

    /// The next event, if it is from before the cut. One that seems later was written while the clock was ahead if a
    /// life that began after it began before the cut: within one life moments never fall.
    fn next_old(&mut self) -> Result<Option<(u64, Event)>, StoreError> {
        let cut = self.pruned.cut.as_secs();
        let Some(next) = self.events.range(self.pruned.sequence.saturating_add(1)..).map_err(trouble)?.next() else {
            return Ok(None);
        };
        let (sequence, value) = next.map_err(trouble)?;
        let (at, bytes) = value.value();
        if at >= cut {
            let mut is_overtaken = false;
            for start in self.starts.range(sequence.value().saturating_add(1)..).map_err(trouble)?.take(LOOK_AHEAD) {
                is_overtaken |= start.map_err(trouble)?.1.value().0 < cut;
            }
            if !is_overtaken {
                return Ok(None);
            }
        }
        self.reads_left = self.reads_left.saturating_sub(1 + bytes.len() / BYTES_A_STEP);
        Ok(Some((sequence.value(), decode("an event", bytes)?)))
    }

    /// Lets it happen to as many of the named rows as there is room for. True when all of them are done.
    fn pass_names(&mut self, event: &Event, names: &[Name]) -> Result<bool, StoreError> {
        while self.pruned.names_done < names.len() {
            if self.rows_left == 0 {
                return Ok(false);
            }
            let most = ROWS_AT_ONCE.min(self.rows_left);
            self.happen(event, names.iter().skip(self.pruned.names_done).take(most).map(Name::as_str))?;
            self.pruned.names_done += most;
        }
        Ok(true)
    }

    /// A start happens to every row, in the order of their names.
    fn pass_start(&mut self, event: &Event) -> Result<bool, StoreError> {
        while self.rows_left > 0 {
            let from = match &self.pruned.rows_done {
                Some(done) => Bound::Excluded(done.as_str()),
                None => Bound::Unbounded,
            };
            let most = ROWS_AT_ONCE.min(self.rows_left);
            let mut names = Vec::new();
            for entry in self.past.range::<&str>((from, Bound::Unbounded)).map_err(trouble)?.take(most) {
                names.push(entry.map_err(trouble)?.0.value().to_owned());
            }
            self.happen(event, names.iter().map(String::as_str))?;
            // Fewer than there was room for: these were the last.
            if names.len() < most {
                return Ok(true);
            }
            self.pruned.rows_done = names.pop();
        }
        Ok(false)
    }

    /// The board is told anew: nothing of it stays.
    fn forget_all(&mut self) -> Result<bool, StoreError> {
        while self.rows_left > 0 {
            if self.past.pop_first().map_err(trouble)?.is_none() {
                return Ok(true);
            }
            self.rows_left -= 1;
        }
        Ok(false)
    }

    /// Lets an event happen to these rows of the past, by the code that replays it.
    fn happen<'n>(&mut self, event: &Event, names: impl Iterator<Item = &'n str> + Clone) -> Result<(), StoreError> {
        let mut past = Past::new();
        for name in names.clone() {
            if let Some(bytes) = self.past.get(name).map_err(trouble)? {
                let bytes = bytes.value();
                let PastRow { held, vouch } = decode("a row of the past", bytes)?;
                past.put(Arc::new(held), vouch);
                self.rows_left = self.rows_left.saturating_sub(bytes.len() / BYTES_A_STEP);
            }
        }
        past.apply(event);
        for name in names {
            self.rows_left = self.rows_left.saturating_sub(1);
            match past.named(name) {
                Some(row) => {
                    let row = PastRow { held: (**row.held).clone(), vouch: *row.vouch };
                    self.past.insert(name, encode(&row)?.as_slice()).map_err(trouble)?;
                }
                None => {
                    self.past.remove(name).map_err(trouble)?;
                }
            }
        }
        Ok(())
    }
}

/// Events, and rows that they change, that every commit passes while there is a backlog: a few milliseconds.
pub(super) const LEAST_STEPS: usize = 1024;
/// A long event costs more to read, and a long row to change; a mebibyte, the longest row, costs a quarter of a
/// slice.
const BYTES_A_STEP: usize = 4096;
/// So many rows of the past are in memory together.
const ROWS_AT_ONCE: usize = 64;
/// How many lives may have begun while the clock was ahead before they hold up pruning until their time.
const LOOK_AHEAD: usize = 256;
