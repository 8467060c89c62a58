//! Who goes first on a loaded machine: what measures, so that its own lateness is not taken for that of the service.
//! The versions, the echo server and the threads of `--busy` stay where they were.

use rustix::process::{getpriority_process, setpriority_process};

/// How far behind others a thread stands: the system's niceness.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Niceness(pub(super) i32);

impl Niceness {
    /// That of this thread.
    pub(super) fn now() -> Self {
        Self(getpriority_process(None).unwrap_or(0))
    }

    /// Gives it to this thread.
    pub(super) fn apply(self) {
        // Forbidden to most, and then everybody is equal: how late we were is told in any case.
        let _ = setpriority_process(None, self.0);
    }
}

/// Before whatever a machine usually runs, behind what it runs for itself.
pub(super) const FIRST: Niceness = Niceness(-15);
