//! The clock: the one file that reads the time.
//!
//! The daemon's *now* is the wall clock at start plus the time since, by a clock that no step of the wall clock
//! moves and that goes on while the machine sleeps. So no age moves while the daemon runs, whatever happens to
//! the wall clock; how far that has gone away is told as the drift.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use greenlight_core::UnixSeconds;
use rustix::time::{ClockId, Timespec, clock_gettime};

/// Where a [`Clock`] reads. The system, or in tests a time that stands still until it is moved.
pub trait TimeSource: Send + Sync + 'static {
    /// What the wall clock says, in milliseconds since the Unix epoch. May step.
    fn wall_ms(&self) -> i64;
    /// Milliseconds since some fixed moment. Never steps, and counts the time asleep.
    fn steady_ms(&self) -> i64;
}

/// The daemon's time.
#[derive(Clone)]
pub struct Clock {
    source: Arc<dyn TimeSource>,
    wall_at_start_ms: i64,
    steady_at_start_ms: i64,
}

impl Clock {
    /// A clock that starts now, by the system's time.
    pub fn system() -> Self {
        Self::of(Arc::new(SystemTime))
    }

    /// A clock that starts now, by `source`.
    pub fn of(source: Arc<dyn TimeSource>) -> Self {
        let (wall_at_start_ms, steady_at_start_ms) = (source.wall_ms(), source.steady_ms());
        Self { source, wall_at_start_ms, steady_at_start_ms }
    }

    /// Milliseconds since the Unix epoch, in the daemon's time; 0 before it.
    pub fn now_ms(&self) -> u64 {
        u64::try_from(self.daemon_ms()).unwrap_or(0)
    }

    /// The moment for every rule: whole seconds, rounded down.
    pub fn now(&self) -> UnixSeconds {
        UnixSeconds::new(self.now_ms() / 1000)
    }

    /// How far the wall clock has moved away from the daemon's time since the start, in whole seconds towards
    /// zero. Positive where the wall clock is ahead.
    pub fn drift_secs(&self) -> i64 {
        (self.source.wall_ms() - self.daemon_ms()) / 1000
    }

    /// When the clock started.
    pub fn started(&self) -> UnixSeconds {
        UnixSeconds::new(u64::try_from(self.wall_at_start_ms).unwrap_or(0) / 1000)
    }

    fn daemon_ms(&self) -> i64 {
        self.wall_at_start_ms + (self.source.steady_ms() - self.steady_at_start_ms)
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Clock").field("now_ms", &self.now_ms()).finish_non_exhaustive()
    }
}

/// A time that stands still until it is moved: for tests, of this crate and of daemons that embed it.
#[derive(Debug)]
pub struct ManualTime {
    wall_ms: AtomicI64,
    steady_ms: AtomicI64,
}

impl ManualTime {
    /// A time at which the wall clock says `secs` since the Unix epoch.
    pub fn at(secs: i64) -> Arc<Self> {
        Arc::new(Self { wall_ms: AtomicI64::new(secs * 1000), steady_ms: AtomicI64::new(0) })
    }

    /// Lets `secs` pass.
    pub fn advance(&self, secs: i64) {
        self.wall_ms.fetch_add(secs * 1000, Ordering::SeqCst);
        self.steady_ms.fetch_add(secs * 1000, Ordering::SeqCst);
    }

    /// Moves the hands of the wall clock by `secs`, without any time passing.
    pub fn step_wall(&self, secs: i64) {
        self.wall_ms.fetch_add(secs * 1000, Ordering::SeqCst);
    }
}

impl TimeSource for ManualTime {
    fn wall_ms(&self) -> i64 {
        self.wall_ms.load(Ordering::SeqCst)
    }

    fn steady_ms(&self) -> i64 {
        self.steady_ms.load(Ordering::SeqCst)
    }
}

/// The moment for deadlines and for how long something took: of this process alone, and not told to anybody.
#[cfg(feature = "cli")]
#[expect(clippy::disallowed_methods, reason = "this is the file in which the time is read")]
pub(crate) fn instant() -> tokio::time::Instant {
    tokio::time::Instant::now()
}

struct SystemTime;

impl TimeSource for SystemTime {
    fn wall_ms(&self) -> i64 {
        millis(clock_gettime(ClockId::Realtime))
    }

    fn steady_ms(&self) -> i64 {
        millis(clock_gettime(STEADY))
    }
}

/// The kind that counts suspend, where the system has it.
#[cfg(any(target_os = "linux", target_os = "android"))]
const STEADY: ClockId = ClockId::Boottime;
#[cfg(not(any(target_os = "linux", target_os = "android")))]
const STEADY: ClockId = ClockId::Monotonic;

fn millis(time: Timespec) -> i64 {
    time.tv_sec * 1000 + time.tv_nsec / 1_000_000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_of_the_wall_clock_moves_the_drift_and_not_the_time() {
        let time = ManualTime::at(1000);
        let clock = Clock::of(time.clone());
        time.advance(5);
        time.step_wall(86_400);
        assert_eq!((clock.now().as_secs(), clock.drift_secs()), (1005, 86_400));
        time.step_wall(-2 * 86_400);
        assert_eq!((clock.now().as_secs(), clock.drift_secs()), (1005, -86_400));
        assert_eq!(clock.started().as_secs(), 1000);
    }
}
