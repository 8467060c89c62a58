//! What a replay keeps of a row: what its standing follows from, and what it served.

use alloc::sync::Arc;

use super::seats::{Changed, Kept};
use crate::facts::Facts;
use crate::name::Name;
use crate::row::{Stamp, Vouch};
use crate::time::UnixSeconds;

/// A row in brief.
#[derive(Clone, Debug)]
pub(crate) struct Brief {
    /// Its place on the board: rows stand in rising order.
    pub(crate) order: u64,
    pub(crate) serving_sha: Option<Arc<str>>,
    was_green: bool,
    stamp: Stamp,
    vouch: Vouch,
}

impl Brief {
    pub(crate) fn facts(&self) -> Facts {
        Facts {
            serves: self.serving_sha.is_some(),
            was_green: self.was_green,
            last_change: self.stamp.last_change,
            vouch: self.vouch,
        }
    }
}

impl Kept for Brief {
    fn of(change: &Changed<'_>, vouch: Vouch) -> Self {
        Self {
            order: change.order,
            serving_sha: change.row.serving_sha.as_deref().map(Into::into),
            was_green: change.row.last_green.is_some(),
            stamp: Stamp { last_change: change.last_change, clamped_from: change.clamped_from },
            vouch,
        }
    }

    fn vouch(&mut self) -> &mut Vouch {
        &mut self.vouch
    }

    /// By whom is nothing to a standing.
    fn belongs_to(&mut self, _source: &Name) {}

    fn restart(&mut self, drift_secs: i64, now: UnixSeconds) {
        self.stamp = Stamp::restarted(self.stamp.stored().shifted(drift_secs), now);
    }
}
