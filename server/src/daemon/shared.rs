//! What the board's task and the readers share: nothing here is ever locked against a reader of the verdict.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use arc_swap::ArcSwap;
use greenlight_core::history::record::ASLEEP_SECS;

use super::hub::Hub;
use super::published::{Published, reason_word};
use super::wire::{Beat, ProberHealth};
use crate::clock::Clock;
use crate::metrics::Metrics;
use crate::source::view::{Rotating, View};

/// Shared by the task, the routes and the sources.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) clock: Clock,
    pub(crate) published: ArcSwap<Published>,
    pub(crate) hub: Hub,
    pub(crate) metrics: Metrics,
    /// When the task last turned, in milliseconds of the daemon's time.
    pub(crate) turned_ms: AtomicU64,
    pub(crate) shutting_down: AtomicBool,
    /// Who decides about rotation, where anybody does.
    pub(crate) rotation: OnceLock<Arc<dyn Rotating>>,
}

impl Shared {
    pub(crate) fn is_shutting_down(&self) -> bool {
        self.shutting_down.load(Ordering::Acquire)
    }

    /// Whether the task has turned lately.
    pub(crate) fn task_turns(&self) -> bool {
        self.clock.now_ms().saturating_sub(self.turned_ms.load(Ordering::Relaxed)) < STUCK_AFTER_MS
    }

    /// Who is in rotation now; nobody where nobody is probed.
    pub(crate) fn rotation(&self) -> View {
        self.rotation.get().map(|rotation| rotation.view()).unwrap_or_default()
    }

    /// Whether members can be asked.
    pub(crate) fn prober(&self) -> ProberHealth {
        ProberHealth { trouble: self.rotation.get().and_then(|rotation| rotation.trouble()) }
    }

    /// What the daemon says now.
    pub(crate) fn beat(&self) -> Beat {
        let published: Arc<Published> = self.published.load_full();
        let now_unix_ms = self.clock.now_ms();
        let shutting_down = self.is_shutting_down();
        let verdict = published.verdict(self.clock.now());
        Beat {
            now_unix_ms,
            id: self.hub.id(published.revision).to_string(),
            ready: verdict.is_ready() && !shutting_down,
            reason: reason_word(verdict.reason(), shutting_down),
            store: published.store.clone(),
            prober: self.prober(),
        }
    }
}

/// A task that has not turned for so long is stuck, and history says that it was not watching.
const STUCK_AFTER_MS: u64 = ASLEEP_SECS * 1000;
