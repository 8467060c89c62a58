//! How far a question has come, told while it is under way.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::time::Instant;

/// How far a question has come.
#[derive(Clone, Debug)]
pub(crate) struct Progress {
    /// What is waited for.
    pub(crate) stage: Stage,
    /// Bytes of this question that our system took, of TLS its records. 0: the peer cannot know of it.
    pub(crate) written_bytes: u64,
    /// When the connection was there; `None` before, and on a kept one.
    pub(crate) connected_at: Option<Instant>,
    /// When the head was complete.
    pub(crate) head_at: Option<Instant>,
    /// The name of the error that reading or writing gave.
    pub(super) error: Option<(Way, Box<str>)>,
    /// Whether the peer has closed its side.
    pub(super) closed: bool,
}

/// What a question waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// The address of the name.
    Resolving,
    /// The connection, its TLS session included.
    Connecting,
    /// The head of the answer.
    Waiting,
    /// The body.
    Reading,
}

/// Which way an error came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    Reset,
    Other,
}

/// Shared by a question and its socket.
#[derive(Debug)]
pub(super) struct Facts {
    progress: Mutex<Progress>,
    last_look: AtomicBool,
}

impl Facts {
    pub(super) fn new() -> Self {
        Self { progress: Mutex::new(Progress::begun()), last_look: AtomicBool::new(false) }
    }

    /// As at the beginning, for the next question on the same connection.
    pub(super) fn begin_again(&self) {
        *self.lock() = Progress { stage: Stage::Waiting, ..Progress::begun() };
    }

    pub(super) fn read(&self) -> Progress {
        self.lock().clone()
    }

    pub(super) fn note(&self, note: impl FnOnce(&mut Progress)) {
        note(&mut self.lock());
    }

    /// Whether the system is to be asked itself, whatever was heard of it: the deadline has passed.
    pub(super) fn is_last_look(&self) -> bool {
        self.last_look.load(Ordering::Relaxed)
    }

    pub(super) fn set_last_look(&self, last_look: bool) {
        self.last_look.store(last_look, Ordering::Relaxed);
    }

    fn lock(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Progress {
    fn begun() -> Self {
        Self {
            stage: Stage::Resolving,
            written_bytes: 0,
            connected_at: None,
            head_at: None,
            error: None,
            closed: false,
        }
    }
}
