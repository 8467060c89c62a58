//! The board kept in one file, `board.redb`: a batch is a commit, and what has returned `Ok` survives a power cut.
//!
//! A file that cannot be understood is moved aside, loudly, and a new one begun: a daemon that does not start
//! because of yesterday's disk would be down for a reason that readiness has nothing to do with.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock, RwLockWriteGuard};

use ::redb::{Builder, Database, ReadableDatabase};
use tracing::{error, info, warn};

use greenlight_core::history::{Past, record};

use super::{Batch, Loaded, Store, StoreError};
use read::{load_all, read_state};
use tables::{FORMAT, trouble};

mod medium;
mod prune;
mod read;
mod reader;
mod tables;
mod write;

pub use medium::{FileMedium, Medium};
pub use reader::{EventReader, Opening, Page};

#[cfg(test)]
mod tests;

/// A board and its history in a database file.
///
/// After an error the database is opened again by the next call that needs it. What a failed
/// [`append`](Store::append) may have left behind, where only the last sync failed, is taken back by the next one
/// that succeeds; that one is refused unless it [replaces all](Batch::replaces_all).
pub struct RedbStore {
    medium: Box<dyn Medium>,
    shared: Arc<Shared>,
    /// What the last acknowledged commit left; `None` until the database has been opened.
    acknowledged: Option<State>,
    /// Whether a commit has failed since the last one that did not, so that the file may hold more.
    failed: bool,
    /// Whether the file lacks rows that the daemon believes kept, so that only a whole board will do.
    needs_whole: bool,
    set_aside: Option<String>,
    /// Whether the file was begun anew in the midst of a life, so that history has to be told the board.
    begun_anew: bool,
    /// See [`prune::LEAST_STEPS`].
    prune_steps: usize,
}

/// The open database, shared with readers of events. `None` while it has to be opened again.
#[derive(Default)]
struct Shared {
    database: RwLock<Option<Database>>,
}

/// Where the commits of a database have come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct State {
    /// How many batches it has taken.
    commits: u64,
    /// The newest event's sequence; 0 before the first.
    last_sequence: u64,
}

/// Opens the store of a data directory, or begins one there. The caller holds the
/// [lock](super::lock::Lock) of the directory.
///
/// # Errors
/// [`StoreError::Newer`] where a newer binary wrote it, and [`StoreError::Io`] where the disk or the system says
/// no; the file is then left as it is. A corrupt store is no error: see [`RedbStore::set_aside`].
pub fn open(dir: &Path) -> Result<RedbStore, StoreError> {
    RedbStore::on(Box::new(FileMedium::new(dir)))
}

impl RedbStore {
    /// Opens the store on any medium, so that tests can break it.
    ///
    /// # Errors
    /// See [`open`].
    pub fn on(medium: Box<dyn Medium>) -> Result<Self, StoreError> {
        let mut store = Self {
            medium,
            shared: Arc::default(),
            acknowledged: None,
            failed: false,
            needs_whole: false,
            set_aside: None,
            begun_anew: false,
            prune_steps: prune::LEAST_STEPS,
        };
        store.ensure_open()?;
        Ok(store)
    }

    /// Where the corrupt store that was met in this life lies now; `None` where none was.
    pub fn set_aside(&self) -> Option<&str> {
        self.set_aside.as_deref()
    }

    /// A handle that reads events while the store takes batches.
    pub fn events(&self) -> EventReader {
        EventReader::new(Arc::clone(&self.shared))
    }

    /// Makes sure that the database is open, beginning a new one where the old one is corrupt.
    fn ensure_open(&mut self) -> Result<(), StoreError> {
        if self.shared.is_open() {
            return Ok(());
        }
        let opened = match self.try_open() {
            Err(StoreError::Corrupt(why)) => {
                self.move_aside(&why)?;
                self.try_open()
            }
            other => other,
        };
        let (database, found) = opened.map_err(|error| match error {
            // A new file that is corrupt at once is a disk that lies; moving it aside again would never end.
            StoreError::Corrupt(why) => StoreError::Io(format!("a new store cannot be read back: {why}")),
            other => other,
        })?;
        if self.acknowledged.is_some_and(|acknowledged| acknowledged != found) {
            // Either a commit that was reported as failed is there, or an acknowledged one is not.
            warn!(?found, acknowledged = ?self.acknowledged, "the store holds another state than was acknowledged");
            self.needs_whole = true;
        }
        self.acknowledged.get_or_insert(found);
        *self.shared.write() = Some(database);
        Ok(())
    }

    fn try_open(&self) -> Result<(Database, State), StoreError> {
        let mut builder = Database::builder();
        builder.set_cache_size(CACHE_BYTES);
        if self.medium.is_there()? {
            self.refuse_newer(&builder)?;
        } else {
            guarded(|| {
                let database = self.medium.create(&builder).map_err(trouble)?;
                write::begin(&database)?;
                database.close().map_err(trouble)
            })?;
            self.medium.put_in_place()?;
        }
        // The check reads every page once. Without it a file that changed behind our back is trusted until a read
        // panics over it in the middle of the daemon's life.
        builder.set_check_integrity_on_open(true);
        guarded(|| {
            let database = self.medium.open(&builder).map_err(trouble)?;
            let state = read_state(&database)?;
            Ok((database, state))
        })
    }

    /// Looks at the format before anything is opened for writing, so that a newer store is not even repaired.
    /// Whatever else is wrong is found, and judged, by the opening itself.
    fn refuse_newer(&self, builder: &Builder) -> Result<(), StoreError> {
        let looked = guarded(|| {
            let database = self.medium.open_read_only(builder).map_err(trouble)?;
            let transaction = database.begin_read().map_err(trouble)?;
            tables::check_format(&transaction)
        });
        match looked {
            Err(newer @ StoreError::Newer { .. }) => Err(newer),
            Ok(()) | Err(StoreError::Io(_) | StoreError::Corrupt(_)) => Ok(()),
        }
    }

    fn move_aside(&mut self, why: &str) -> Result<(), StoreError> {
        *self.shared.write() = None;
        let path = self.medium.set_aside().map_err(|error| {
            StoreError::Io(format!("the store is corrupt ({why}) and cannot be moved aside: {error}"))
        })?;
        error!(
            moved_to = path,
            why,
            "the store is corrupt: moved aside, and a new one begun. Lost: every row with its stamp, the memory of removed rows, and the history"
        );
        // A daemon that has its rows in memory has to write all of them again; one that starts has none.
        self.needs_whole = self.acknowledged.take().is_some();
        self.begun_anew = self.needs_whole;
        self.failed = false;
        self.set_aside = Some(path);
        Ok(())
    }
}

impl Store for RedbStore {
    fn load(&mut self) -> Result<Loaded, StoreError> {
        self.ensure_open()?;
        let loaded = self.shared.with(|database| guarded(|| load_all(database)));
        match loaded {
            Ok(loaded) => Ok(loaded),
            Err(StoreError::Corrupt(why)) => {
                self.move_aside(&why)?;
                self.ensure_open()?;
                (self.needs_whole, self.begun_anew) = (false, false);
                Ok(Loaded::default())
            }
            Err(error) => {
                *self.shared.write() = None;
                Err(error)
            }
        }
    }

    fn append(&mut self, batch: &Batch) -> Result<(), StoreError> {
        self.ensure_open()?;
        if self.needs_whole && !batch.replaces_all {
            return Err(StoreError::Io("the store was begun anew: the whole board has to be written".to_owned()));
        }
        let acknowledged = self.acknowledged.unwrap_or(State { commits: 0, last_sequence: 0 });
        let steps = self.prune_steps;
        let anew = if self.begun_anew { Some(told_anew(batch)) } else { None };
        let batch = anew.as_ref().unwrap_or(batch);
        let written = self.shared.with(|database| guarded(|| write::append(database, acknowledged, batch, steps)));
        match written {
            Ok(state) => {
                if self.failed {
                    info!("the store takes batches again");
                }
                self.acknowledged = Some(state);
                self.failed = false;
                (self.needs_whole, self.begun_anew) = (false, false);
                Ok(())
            }
            Err(error) => {
                // After one failure redb refuses everything until it is opened again.
                self.failed = true;
                *self.shared.write() = None;
                Err(error)
            }
        }
    }

    fn events(&self) -> Option<EventReader> {
        Some(Self::events(self))
    }
}

impl fmt::Debug for RedbStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedbStore")
            .field("format", &FORMAT)
            .field("acknowledged", &self.acknowledged)
            .finish_non_exhaustive()
    }
}

impl Shared {
    fn is_open(&self) -> bool {
        self.database.read().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// Runs something on the open database. Readers and the writer do so side by side; only closing waits.
    fn with<T>(&self, run: impl FnOnce(&Database) -> Result<T, StoreError>) -> Result<T, StoreError> {
        match &*self.database.read().unwrap_or_else(PoisonError::into_inner) {
            Some(database) => run(database),
            None => Err(StoreError::Io("the store has failed and is not open again yet".to_owned())),
        }
    }

    fn write(&self) -> RwLockWriteGuard<'_, Option<Database>> {
        self.database.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").finish_non_exhaustive()
    }
}

/// The same whole board with a history that begins with it: what happened to the board before is not known here,
/// and so what happened since says nothing.
fn told_anew(batch: &Batch) -> Batch {
    let mut past = Past::new();
    for (held, vouch) in &batch.rows {
        past.put(Arc::clone(held), *vouch);
    }
    let now = batch.mark.map(|mark| mark.at_unix).or_else(|| batch.events.last().map(|event| event.at_unix));
    let events = now.map(|now| record::of_board(past.rows().collect(), None, now).collect());
    Batch { events: events.unwrap_or_default(), ..batch.clone() }
}

/// Turns a panic of the database, which a mangled file can cause, into the error that it is.
fn guarded<T>(run: impl FnOnce() -> Result<T, StoreError>) -> Result<T, StoreError> {
    // Whatever a panic leaves half done is dropped with the database: no caller goes on with one that panicked.
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|panic| {
        let said = panic.downcast_ref::<String>().map(String::as_str);
        let said = said.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("it did not say why");
        Err(StoreError::Corrupt(format!("the database gave up over it: {said}")))
    })
}

/// Rows are read once, at start, and written seldom: the cache serves commits, whose inner pages fit many times.
const CACHE_BYTES: usize = 8 * 1024 * 1024;
