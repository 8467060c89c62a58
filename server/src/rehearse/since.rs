//! Moments of a run, in whole microseconds since its start.

use std::time::Duration;

use tokio::time::Instant;

/// The start of a run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Since(Instant);

impl Since {
    pub(super) fn now() -> Self {
        Self(crate::clock::instant())
    }

    /// The last whole microsecond before a moment: for what has been.
    pub(super) fn floor_us(self, moment: Instant) -> i64 {
        let nanos = moment.saturating_duration_since(self.0).as_nanos();
        i64::try_from(nanos / 1000).unwrap_or(i64::MAX)
    }

    /// The first whole microsecond from a moment on: for moves, so that none counts for a tick that was due before.
    pub(super) fn ceil_us(self, moment: Instant) -> i64 {
        let nanos = moment.saturating_duration_since(self.0).as_nanos();
        i64::try_from(nanos.div_ceil(1000)).unwrap_or(i64::MAX)
    }

    /// The moment of a microsecond; the start for one before it.
    pub(super) fn moment(self, us: i64) -> Instant {
        self.0 + micros(us)
    }

    /// Now, rounded down.
    pub(super) fn now_us(self) -> i64 {
        self.floor_us(crate::clock::instant())
    }
}

/// So many microseconds; none where there are fewer.
pub(super) fn micros(us: i64) -> Duration {
    Duration::from_micros(u64::try_from(us).unwrap_or(0))
}
