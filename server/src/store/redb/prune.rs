//! Dropping old events a slice at a time, without changing what a replay from the cut on shows.
//!
//! Events are passed in order of sequence, once each. What has been passed stays only while an instance carries
//! it: an instance that was on the board carries its newest change; the newest coming back after that; and the
//! event at which it lost its witness after both. Anything else before the cut has been overtaken: an older change
//! by a newer one, a lapse by the vouching after it, a second lapse by the first. A carried event also touches
//! instances that do not carry it, but only as it really did, before what they do carry.

use std::collections::BTreeSet;
use std::ops::Bound;

use ::redb::{ReadableTable, Table, WriteTransaction};
use greenlight_core::history::{Event, Happening};
use greenlight_core::{Name, UnixSeconds};
use serde::{Deserialize, Serialize};

use super::tables::{CARRIED, CARRIERS, EVENTS, META, PRUNED_KEY, decode, trouble};
use crate::store::StoreError;

/// How far pruning has come.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Pruned {
    /// Events before this moment are to go: the last cut that was asked for.
    cut: UnixSeconds,
    /// Every event up to this sequence has been passed.
    sequence: u64,
    /// From this moment on nothing is missing.
    pub(super) complete_from: UnixSeconds,
    /// How many of its names the next event has been passed for.
    names_done: usize,
    /// Up to which carrying instance a start, which names those it spares, has been passed.
    carried_done: Option<String>,
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
        carried: transaction.open_table(CARRIED).map_err(trouble)?,
        carriers: transaction.open_table(CARRIERS).map_err(trouble)?,
        pruned: Pruned { cut: prune_before.unwrap_or(before.cut), ..before.clone() },
        reads_left: steps,
        names_left: steps,
    };
    while slice.reads_left > 0 && slice.names_left > 0 && slice.pass_next()? {}
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
    carried: Table<'t, &'static str, (u64, u64, u64)>,
    carriers: Table<'t, u64, u64>,
    pruned: Pruned,
    /// Events, the long ones counted as several, that may still be read.
    reads_left: usize,
    /// Names of instances that may still be looked up. Apart from the reads, so that an event too long for a slice
    /// still gets its share of names done in each.
    names_left: usize,
}

impl Slice<'_> {
    /// Passes the next event, or a part of it. False where none before the cut is left.
    fn pass_next(&mut self) -> Result<bool, StoreError> {
        let Some((sequence, event)) = self.next_old()? else {
            return Ok(false);
        };
        self.pruned.complete_from = self.pruned.complete_from.max(event.at_unix.min(self.pruned.cut));
        let done = match &event.what {
            Happening::Changed { name, .. } => {
                self.drop_carried(name)?;
                self.carry(name, (sequence, 0, 0))?;
                true
            }
            Happening::Removed { name } => {
                self.drop_carried(name)?;
                true
            }
            Happening::Lapsed { names, .. } => self.pass_names(names, |carried| match carried {
                (changed, back, 0) => (changed, back, sequence),
                lapsed_before => lapsed_before,
            })?,
            Happening::CameBack { names, .. } => self.pass_names(names, |(changed, _, _)| (changed, sequence, 0))?,
            Happening::Started { still_good, .. } => self.pass_start(sequence, still_good)?,
        };
        if done {
            self.pruned.sequence = sequence;
            self.pruned.names_done = 0;
            self.pruned.carried_done = None;
            self.drop_unless_carried(sequence)?;
        }
        Ok(true)
    }

    /// The next event, if it is from before the cut. One that seems later is so only if those after it are later
    /// too: else it was written while the clock was ahead.
    fn next_old(&mut self) -> Result<Option<(u64, Event)>, StoreError> {
        let cut = self.pruned.cut.as_secs();
        let mut range = self.events.range(self.pruned.sequence.saturating_add(1)..).map_err(trouble)?;
        let Some(next) = range.next() else {
            return Ok(None);
        };
        let (sequence, value) = next.map_err(trouble)?;
        let (at, bytes) = value.value();
        if at >= cut {
            let mut found = false;
            for later in range.take(LOOK_AHEAD) {
                found |= later.map_err(trouble)?.1.value().0 < cut;
            }
            if !found {
                return Ok(None);
            }
        }
        self.reads_left = self.reads_left.saturating_sub(1 + bytes.len() / BYTES_A_STEP);
        Ok(Some((sequence.value(), decode("an event", bytes)?)))
    }

    /// Changes what each named instance carries. True when all names are done.
    fn pass_names(
        &mut self,
        names: &[Name],
        becomes: impl Fn((u64, u64, u64)) -> (u64, u64, u64),
    ) -> Result<bool, StoreError> {
        for name in names.iter().skip(self.pruned.names_done) {
            if self.names_left == 0 {
                return Ok(false);
            }
            self.names_left -= 1;
            self.pruned.names_done += 1;
            self.change_carried(name, &becomes)?;
        }
        Ok(true)
    }

    /// A start takes the witness of every instance on the board that it does not name.
    fn pass_start(&mut self, sequence: u64, still_good: &[Name]) -> Result<bool, StoreError> {
        let spared: BTreeSet<&str> = still_good.iter().map(Name::as_str).collect();
        let from = match &self.pruned.carried_done {
            Some(name) => Bound::Excluded(name.as_str()),
            None => Bound::Unbounded,
        };
        let mut names = Vec::new();
        for entry in self.carried.range::<&str>((from, Bound::Unbounded)).map_err(trouble)?.take(self.names_left) {
            names.push(entry.map_err(trouble)?.0.value().to_owned());
        }
        // Fewer than there was room for: these were the last.
        let done = names.len() < self.names_left;
        self.names_left -= names.len();
        for name in &names {
            if !spared.contains(name.as_str()) {
                self.change_carried(name, |carried| match carried {
                    (changed, back, 0) => (changed, back, sequence),
                    lapsed_before => lapsed_before,
                })?;
            }
        }
        self.pruned.carried_done = names.pop().or_else(|| self.pruned.carried_done.take());
        Ok(done)
    }

    fn change_carried(
        &mut self,
        name: &str,
        becomes: impl Fn((u64, u64, u64)) -> (u64, u64, u64),
    ) -> Result<(), StoreError> {
        let carried = self.carried.get(name).map_err(trouble)?.map(|carried| carried.value());
        match carried {
            Some(carried) if becomes(carried) != carried => {
                self.carry(name, becomes(carried))?;
                self.release(carried)
            }
            // An instance that was not on the board carries nothing.
            Some(_) | None => Ok(()),
        }
    }

    fn carry(&mut self, name: &str, (changed, back, lapsed): (u64, u64, u64)) -> Result<(), StoreError> {
        self.carried.insert(name, (changed, back, lapsed)).map_err(trouble)?;
        for sequence in [changed, back, lapsed].into_iter().filter(|sequence| *sequence != 0) {
            let carriers = self.carriers_of(sequence)?;
            self.carriers.insert(sequence, carriers.saturating_add(1)).map_err(trouble)?;
        }
        Ok(())
    }

    fn drop_carried(&mut self, name: &str) -> Result<(), StoreError> {
        let carried = self.carried.remove(name).map_err(trouble)?.map(|carried| carried.value());
        carried.map_or(Ok(()), |carried| self.release(carried))
    }

    fn release(&mut self, (changed, back, lapsed): (u64, u64, u64)) -> Result<(), StoreError> {
        for sequence in [changed, back, lapsed].into_iter().filter(|sequence| *sequence != 0) {
            match self.carriers_of(sequence)? {
                0 | 1 => {
                    self.carriers.remove(sequence).map_err(trouble)?;
                    if sequence <= self.pruned.sequence {
                        self.events.remove(sequence).map_err(trouble)?;
                    }
                }
                more => {
                    self.carriers.insert(sequence, more - 1).map_err(trouble)?;
                }
            }
        }
        Ok(())
    }

    fn drop_unless_carried(&mut self, sequence: u64) -> Result<(), StoreError> {
        if self.carriers_of(sequence)? == 0 {
            self.events.remove(sequence).map_err(trouble)?;
        }
        Ok(())
    }

    fn carriers_of(&self, sequence: u64) -> Result<u64, StoreError> {
        Ok(self.carriers.get(sequence).map_err(trouble)?.map_or(0, |carriers| carriers.value()))
    }
}

/// Events, and names in them, that every commit passes while there is a backlog: a few milliseconds.
pub(super) const LEAST_STEPS: usize = 1024;
/// A long event costs more to read; a mebibyte, the longest row, costs a quarter of a slice.
const BYTES_A_STEP: usize = 4096;
/// How many events a clock that was ahead may have stamped before they hold up pruning until their time.
const LOOK_AHEAD: usize = 256;
