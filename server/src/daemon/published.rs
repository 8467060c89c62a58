//! What readers see: one immutable instant of the board, swapped in whole.

use std::sync::Arc;

use greenlight_core::{Horizon, Name, Reason, Snapshot, UnixSeconds, Verdict};

/// One instant of the daemon's state. A reader takes it by a pointer swap and keeps it as long as it likes;
/// the rows, the clock and the verdict of one answer all come from the same one.
#[derive(Clone, Debug)]
pub(crate) struct Published {
    /// The rows and who vouches for them.
    pub(crate) snapshot: Snapshot,
    /// Counts the times a row changed, came or went, since the start.
    pub(crate) revision: u64,
    /// The daemon's own horizon.
    pub(crate) horizon: Horizon,
    /// When each source that has reported since the start did so last.
    pub(crate) sources: Arc<Vec<(Name, UnixSeconds)>>,
    /// Whether any source has reported since the start.
    pub(crate) reported_since_start: bool,
    /// The verdict when this was made.
    pub(crate) ready: bool,
    /// Since when the verdict had that value, at the earliest since the daemon began to watch; `None` where it is not
    /// known.
    pub(crate) ready_since: Option<UnixSeconds>,
    /// The next moment at which time alone changes it.
    pub(crate) next_flip: Option<(UnixSeconds, bool)>,
    /// How the store does.
    pub(crate) store: StoreHealth,
    /// From which moment on history lacks what happened, since the store has not taken it yet; `None` where it lacks
    /// nothing.
    pub(crate) unrecorded_since: Option<UnixSeconds>,
}

/// How the store does, for `/app`, metrics and answers to writes.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub(crate) struct StoreHealth {
    /// Whether what is acknowledged survives a restart.
    pub(crate) durable: bool,
    /// Why not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) trouble: Option<String>,
}

impl Published {
    /// The verdict at `now` under the daemon's horizon.
    pub(crate) fn verdict(&self, now: UnixSeconds) -> Verdict<'_> {
        self.snapshot.verdict(self.horizon, now)
    }

    /// Since when the verdict at `now` has its value. Time may have flipped it after this was made.
    pub(crate) fn since(&self, now: UnixSeconds) -> Option<UnixSeconds> {
        match self.next_flip {
            _ if self.verdict(now).is_ready() == self.ready => self.ready_since,
            Some((at, _)) => Some(at),
            None => None,
        }
    }
}

/// Why the daemon says ready or not: the rule's reason, or that it is on its way out.
pub(crate) fn reason_word(reason: Reason, shutting_down: bool) -> &'static str {
    if shutting_down { "shutting_down" } else { reason.as_str() }
}
