//! The keeper: what of the board is stored, and what is still to be.
//!
//! It knows the snapshot that the store holds, and writes the difference to the one on the board. Where the
//! store is in trouble the board goes on without it; once it is well again the whole board is written. A store that
//! does not answer is in trouble too: what it was given counts as stored only once it has said so.

use std::collections::BTreeSet;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use greenlight_core::history::{Event, record};
use greenlight_core::{Board, MAX_ROWS, Name, Snapshot, UnixSeconds};

use super::difference::Difference;
use super::pending::{Flow, Hole, Pending};
use super::published::StoreHealth;
use super::writer::{Answer, Writer};
use crate::store::{Batch, Mark, Store};

/// Writes what changed, and remembers what the store lacks.
pub(crate) struct Keeper {
    writer: Writer,
    /// What the store holds, or will hold once it has answered; `None` where that is not known, so that only the whole
    /// board will do.
    stored: Option<Snapshot>,
    pending: Pending,
    left_memory: BTreeSet<Name>,
    entered_memory: BTreeSet<Name>,
    trouble: Option<Trouble>,
    /// Whether the store has a batch that it has not answered for.
    answer: Awaited,
    keeps: bool,
}

#[derive(Debug)]
struct Trouble {
    error: String,
    retry_at: UnixSeconds,
    wait_secs: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Awaited {
    No,
    Yes,
}

impl Keeper {
    /// A keeper of a board that `store` holds as `stored`; `None` where it has to be written anew. Each batch is
    /// waited for as long as `patience`.
    ///
    /// # Errors
    /// Where the system gives no thread.
    pub(crate) fn new(store: Box<dyn Store>, stored: Option<Snapshot>, patience: Duration) -> io::Result<Self> {
        let keeps = store.keeps();
        Ok(Self {
            writer: Writer::start(store, patience)?,
            stored,
            pending: Pending::default(),
            left_memory: BTreeSet::new(),
            entered_memory: BTreeSet::new(),
            trouble: None,
            answer: Awaited::No,
            keeps,
        })
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
        self.pending.note(event, if self.trouble.is_some() { Flow::Held } else { Flow::Free });
    }

    /// Notes which rows entered the memory of removed ones, and which left it.
    pub(crate) fn note_memory(&mut self, entered: &[Name], left: &[Name]) {
        if self.stored.is_none() {
            // The whole memory is written with the whole board.
            return;
        }
        self.entered_memory.extend(entered.iter().cloned());
        self.left_memory.extend(left.iter().cloned());
        if self.entered_memory.len() + self.left_memory.len() > MAX_MOVES {
            self.write_all_next();
        }
    }

    /// Whether something is noted that has not been stored.
    pub(crate) fn has_notes(&self) -> bool {
        !self.pending.nothing_waits()
    }

    /// From which moment on history lacks what is noted; `None` where it lacks nothing.
    pub(crate) fn unrecorded_since(&self) -> Option<UnixSeconds> {
        self.pending.since()
    }

    /// When a store in trouble is to be asked again.
    pub(crate) fn retry_at(&self) -> Option<UnixSeconds> {
        self.trouble.as_ref().map(|trouble| trouble.retry_at)
    }

    /// The next [`flush`](Self::flush) is the last: it is tried whatever trouble there is, and an answer that is still
    /// to come is waited for once more.
    pub(crate) fn try_a_last_time(&mut self, now: UnixSeconds) {
        if self.answer == Awaited::Yes
            && let Some(answer) = self.writer.wait()
        {
            self.take(answer, now);
        }
        if let Some(trouble) = &mut self.trouble {
            trouble.retry_at = now;
        }
    }

    /// Stores whatever of the board the store lacks, with a sign of life. Blocks until it is durable or refused, or
    /// the patience has an end; while an answer is still to come it does not block.
    pub(crate) fn flush(&mut self, board: &Board, snapshot: &Snapshot, mark: Mark, prune_before: UnixSeconds) {
        let now = mark.at_unix;
        if self.retry_at().is_some_and(|at| now < at) {
            return;
        }
        if self.answer == Awaited::Yes {
            match self.writer.look().map(|answer| self.take(answer, now)) {
                Some(Taken::Kept) => {}
                Some(Taken::Refused) => return,
                None => return self.wait_on(now),
            }
        }
        let mut batch = match &self.stored {
            Some(stored) => self.difference(stored, board, snapshot),
            None => whole(board, snapshot),
        };
        let (events, missing_since) = self.pending.send();
        batch.events = events;
        if missing_since.is_some() {
            batch.events.extend(record::of_board(snapshot.rows().collect(), missing_since, now));
        }
        batch.mark = Some(mark);
        batch.prune_before = Some(prune_before);
        self.stored = Some(snapshot.clone());
        self.entered_memory.clear();
        self.left_memory.clear();
        self.answer = Awaited::Yes;
        match self.writer.append(batch).map(|answer| self.take(answer, now)) {
            Some(Taken::Kept) => {
                if self.trouble.take().is_some() {
                    tracing::info!(rows = snapshot.len(), "the store is well again: it has the whole board");
                }
            }
            Some(Taken::Refused) => {}
            None => self.wait_on(now),
        }
    }

    /// Takes what became of a batch. Where it was refused its events wait, and the whole board is written next.
    fn take(&mut self, answer: Answer, now: UnixSeconds) -> Taken {
        self.answer = Awaited::No;
        match answer.result {
            Ok(()) => {
                if let Some(Hole { since, events }) = self.pending.kept() {
                    let since_unix = since.as_secs();
                    tracing::warn!(
                        events,
                        since_unix,
                        "history has a hole: more happened than could wait for the store"
                    );
                }
                Taken::Kept
            }
            Err(error) => {
                self.pending.refused(answer.batch.events);
                self.write_all_next();
                let trouble = self.in_trouble(error.to_string());
                trouble.wait_secs = (trouble.wait_secs * 2).clamp(1, MAX_WAIT_SECS);
                trouble.retry_at = now.later(trouble.wait_secs);
                Taken::Refused
            }
        }
    }

    fn write_all_next(&mut self) {
        self.stored = None;
        self.entered_memory.clear();
        self.left_memory.clear();
    }

    /// The answer is still to come: to look for it costs nothing.
    fn wait_on(&mut self, now: UnixSeconds) {
        self.in_trouble(NO_ANSWER.to_owned()).retry_at = now.later(LOOK_EVERY_SECS);
    }

    fn in_trouble(&mut self, error: String) -> &mut Trouble {
        let trouble = self.trouble.get_or_insert_with(|| {
            tracing::error!(%error, "the store does not take what is reported: reports move the verdict and are answered 202, but a restart would lose them; free space or mend the data directory");
            Trouble { error: String::new(), retry_at: UnixSeconds::default(), wait_secs: 0 }
        });
        trouble.error = error;
        trouble
    }

    fn difference(&self, stored: &Snapshot, board: &Board, snapshot: &Snapshot) -> Batch {
        let difference = Difference::between(stored, snapshot);
        let remembered = |name: &&Name| board.remembers(name).is_some();
        Batch {
            replaces_all: false,
            rows: difference.rows,
            removed: difference.removed.iter().map(|held| held.order).collect(),
            vouches: difference.vouches.into_iter().map(|(held, vouch)| (held.order, vouch)).collect(),
            remembered: self.entered_memory.iter().filter_map(|name| board.remembers(name).cloned()).collect(),
            forgotten: self.left_memory.iter().filter(|name| !remembered(name)).cloned().collect(),
            ..Batch::default()
        }
    }
}

/// What became of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Taken {
    Kept,
    Refused,
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

/// Of so many rows it is known singly that they entered or left the memory while an answer is awaited: beyond it the
/// whole memory, which holds as many, costs no more to write.
const MAX_MOVES: usize = MAX_ROWS;
/// A store in trouble is asked again at least so often.
const MAX_WAIT_SECS: u64 = 30;
/// An answer that is still to come is looked for so often.
const LOOK_EVERY_SECS: u64 = 1;
/// The trouble of a store that does not answer. It says the same for as long as it lasts, so that it is told once.
const NO_ANSWER: &str =
    "a write to the store does not end: the disk of the data directory hangs or is far too slow for what is reported";

#[cfg(test)]
mod tests;
