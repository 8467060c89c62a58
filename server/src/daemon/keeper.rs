//! The keeper: what of the board is stored, and what is still to be.
//!
//! It knows the snapshot that the store holds, and writes the difference to the one on the board. Where the
//! store is in trouble the board goes on without it; once it is well again the whole board is written.

use std::sync::Arc;

use greenlight_core::history::{Event, record};
use greenlight_core::{Board, Name, Remembered, Snapshot, UnixSeconds};

use super::difference::Difference;
use super::published::StoreHealth;
use crate::store::{Batch, Mark, Store, StoreError};

/// Writes what changed, and remembers what the store lacks.
pub(crate) struct Keeper {
    store: Box<dyn Store>,
    /// What the store holds; `None` where that is not known, so that only the whole board will do.
    stored: Option<Snapshot>,
    events: Vec<Event>,
    /// Since when events were dropped, so that history has to be told the board anew; and how many.
    missing_since: Option<UnixSeconds>,
    events_dropped: u64,
    left_memory: Vec<Name>,
    entered_memory: Vec<Name>,
    trouble: Option<Trouble>,
    keeps: bool,
}

#[derive(Debug)]
struct Trouble {
    error: String,
    retry_at: UnixSeconds,
    wait_secs: u64,
}

impl Keeper {
    /// A keeper of a board that `store` holds as `stored`; `None` where it has to be written anew.
    pub(crate) fn new(store: Box<dyn Store>, stored: Option<Snapshot>) -> Self {
        let keeps = store.keeps();
        Self {
            store,
            stored,
            events: Vec::new(),
            missing_since: None,
            events_dropped: 0,
            left_memory: Vec::new(),
            entered_memory: Vec::new(),
            trouble: None,
            keeps,
        }
    }

    /// Whether everything acknowledged so far survives a restart, and why not.
    pub(crate) fn health(&self) -> StoreHealth {
        match &self.trouble {
            Some(trouble) => StoreHealth { durable: false, trouble: Some(trouble.error.clone()) },
            None if self.keeps => StoreHealth { durable: true, trouble: None },
            None => StoreHealth { durable: false, trouble: Some("--data memory keeps nothing over a restart".into()) },
        }
    }

    /// Notes something for history, to be stored with the next batch.
    pub(crate) fn note(&mut self, event: Event) {
        // What one turn brings is written with it; only while nothing can be written does it pile up.
        let has_room = self.trouble.is_none() || self.events.len() < MAX_PENDING_EVENTS;
        if has_room && self.missing_since.is_none() {
            self.events.push(event);
        } else {
            self.missing_since.get_or_insert(event.at_unix);
            self.events_dropped += 1;
        }
    }

    /// Notes which rows entered the memory of removed ones, and which left it.
    pub(crate) fn note_memory(&mut self, entered: &[Name], left: &[Name]) {
        if self.stored.is_none() {
            // The whole memory is written with the whole board.
            return;
        }
        self.entered_memory.extend_from_slice(entered);
        self.left_memory.extend_from_slice(left);
    }

    /// Whether something is noted that has not been stored.
    pub(crate) fn has_notes(&self) -> bool {
        !self.events.is_empty() || self.missing_since.is_some()
    }

    /// When a store in trouble is to be asked again.
    pub(crate) fn retry_at(&self) -> Option<UnixSeconds> {
        self.trouble.as_ref().map(|trouble| trouble.retry_at)
    }

    /// Stores whatever of the board the store lacks, with a sign of life. Blocks until it is durable or refused.
    pub(crate) fn flush(&mut self, board: &Board, snapshot: &Snapshot, mark: Mark, prune_before: UnixSeconds) {
        let now = mark.at_unix;
        if self.retry_at().is_some_and(|at| now < at) {
            return;
        }
        let mut batch = match &self.stored {
            Some(stored) => self.difference(stored, board, snapshot),
            None => whole(board, snapshot),
        };
        batch.events = std::mem::take(&mut self.events);
        let noted = batch.events.len();
        if self.missing_since.is_some() {
            batch.events.extend(record::of_board(snapshot.rows().collect(), self.missing_since, now));
        }
        batch.mark = Some(mark);
        batch.prune_before = Some(prune_before);
        if self.write(batch, now) {
            self.stored = Some(snapshot.clone());
            if self.missing_since.take().is_some() {
                let events = std::mem::take(&mut self.events_dropped);
                tracing::warn!(events, "history has a hole: more happened than could wait for the store");
            }
        } else {
            self.events.truncate(noted);
        }
    }

    /// Writes one batch. Where that fails its events wait, and the whole board is written when it next succeeds.
    fn write(&mut self, batch: Batch, now: UnixSeconds) -> bool {
        match self.store.append(&batch) {
            Ok(()) => {
                self.entered_memory.clear();
                self.left_memory.clear();
                if self.trouble.take().is_some() {
                    tracing::info!(rows = batch.rows.len(), "the store is well again: the whole board is written");
                }
                true
            }
            Err(error) => {
                self.events = batch.events;
                self.stored = None;
                self.fail(&error, now);
                false
            }
        }
    }

    fn difference(&self, stored: &Snapshot, board: &Board, snapshot: &Snapshot) -> Batch {
        let difference = Difference::between(stored, snapshot);
        let on_board: std::collections::BTreeSet<&Name> = self.left_memory.iter().collect();
        let remembered: Vec<Remembered> = self
            .entered_memory
            .iter()
            .collect::<std::collections::BTreeSet<_>>()
            .into_iter()
            .filter_map(|name| board.remembers(name).cloned())
            .collect();
        Batch {
            replaces_all: false,
            rows: difference.rows,
            removed: difference.removed.iter().map(|held| held.order).collect(),
            vouches: difference.vouches.into_iter().map(|(held, vouch)| (held.order, vouch)).collect(),
            remembered,
            forgotten: on_board.into_iter().filter(|name| board.remembers(name).is_none()).cloned().collect(),
            ..Batch::default()
        }
    }

    fn fail(&mut self, error: &StoreError, now: UnixSeconds) {
        let error = error.to_string();
        let trouble = self.trouble.get_or_insert_with(|| {
            tracing::error!(%error, "the store does not take what is reported: reports move the verdict and are answered 202, but a restart would lose them; free space or mend the data directory");
            Trouble { error: String::new(), retry_at: now, wait_secs: 0 }
        });
        trouble.error = error;
        trouble.wait_secs = (trouble.wait_secs * 2).clamp(1, MAX_WAIT_SECS);
        trouble.retry_at = now.later(trouble.wait_secs);
    }
}

/// The whole board and its memory.
fn whole(board: &Board, snapshot: &Snapshot) -> Batch {
    Batch {
        replaces_all: true,
        rows: snapshot.rows().map(|row| (Arc::clone(row.held), *row.vouch)).collect(),
        remembered: board.remembered().cloned().collect(),
        ..Batch::default()
    }
}

/// So many events wait for a store in trouble: beyond that history has a hole, and the board is told anew after it.
const MAX_PENDING_EVENTS: usize = 10_000;
/// A store in trouble is asked again at least so often.
const MAX_WAIT_SECS: u64 = 30;

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicBool, Ordering};

    use greenlight_core::history::{Happening, Past};
    use greenlight_core::{Extent, GoodFor, Report, ReportedRow};

    use super::*;
    use crate::store::Loaded;

    /// A store that takes nothing while it is in a mood.
    #[derive(Clone, Default)]
    struct Moody(Arc<(AtomicBool, Mutex<Vec<Batch>>)>);

    impl Store for Moody {
        fn load(&mut self) -> Result<Loaded, StoreError> {
            Ok(Loaded::default())
        }

        fn append(&mut self, batch: &Batch) -> Result<(), StoreError> {
            if self.0.0.load(Ordering::Relaxed) {
                return Err(StoreError::Io("in a mood".to_owned()));
            }
            self.0.1.lock().unwrap().push(batch.clone());
            Ok(())
        }
    }

    fn at(secs: u64) -> UnixSeconds {
        UnixSeconds::new(secs)
    }

    #[test]
    fn after_a_hole_in_history_the_board_is_told_anew() {
        let (store, mut board) = (Moody::default(), Board::new());
        let mut keeper = Keeper::new(Box::new(store.clone()), Some(board.snapshot()));
        let source = Name::of_source("driver").unwrap();
        let report = |keeper: &mut Keeper, board: &mut Board, secs: u64| {
            let rows = ["dev", "lane"].map(|name| ReportedRow {
                name: name.into(),
                serving_sha: Some(format!("{secs}").into()),
                ..ReportedRow::default()
            });
            let report = Report {
                source: source.clone(),
                extent: Extent::Full,
                rows: rows.into(),
                good_for: GoodFor::Seconds(5),
                sequence: None,
            };
            let effects = board.report(report, at(secs)).unwrap();
            for event in record::of_effects(&source, &effects, board, at(secs)) {
                keeper.note(event);
            }
            let mark = Mark { at_unix: at(secs), drift_secs: 0 };
            keeper.flush(board, &board.snapshot(), mark, UnixSeconds::default());
        };
        report(&mut keeper, &mut board, 10);
        store.0.0.store(true, Ordering::Relaxed);
        // Two rows each: so many are more than can wait.
        let last = 10 + u64::try_from(MAX_PENDING_EVENTS).unwrap();
        for secs in 11..=last {
            report(&mut keeper, &mut board, secs);
        }
        assert!(keeper.events.len() <= MAX_PENDING_EVENTS + 2 && !keeper.health().durable);
        store.0.0.store(false, Ordering::Relaxed);
        report(&mut keeper, &mut board, last + MAX_WAIT_SECS);
        let batches = store.0.1.lock().unwrap();
        let events = &batches.last().unwrap().events;
        let missing = events.iter().find_map(|event| match event.what {
            Happening::Retold { missing_since_unix } => missing_since_unix,
            _ => None,
        });
        let waited = events.iter().rev().find(|event| event.at_unix < at(last)).unwrap().at_unix;
        assert!(missing.unwrap() >= waited, "nothing that waited comes after the beginning of the hole");
        let mut past = Past::new();
        for event in batches.iter().flat_map(|batch| &batch.events) {
            past.apply(event);
        }
        for row in board.snapshot().rows() {
            let told = past.named(row.name()).unwrap();
            assert_eq!((&told.held.row, told.held.last_change), (&row.held.row, row.held.last_change));
        }
        drop(batches);
        // And goes on as before.
        report(&mut keeper, &mut board, last + 100);
        assert_eq!(store.0.1.lock().unwrap().last().unwrap().events.len(), 2);
    }
}
