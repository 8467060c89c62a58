//! How many file descriptors the run may have, and how many it needs at most.

use std::sync::OnceLock;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use greenlight_core::rehearsal::Options;

/// The limit that is in force, after it was raised as far as it goes; and the one that was, which the processes get.
#[derive(Clone, Copy, Debug)]
pub(super) struct Descriptors {
    pub(super) allowed: u64,
    pub(super) before: u64,
}

/// Raises our limit as far as the system lets us. What it was is remembered from the first time on: a second run finds
/// it raised already.
pub(super) fn raise() -> Descriptors {
    static BEFORE: OnceLock<u64> = OnceLock::new();
    let limit = getrlimit(Resource::Nofile);
    let before = *BEFORE.get_or_init(|| limit.current.unwrap_or(u64::MAX));
    let raised = Rlimit { current: limit.maximum, maximum: limit.maximum };
    let allowed = match setrlimit(Resource::Nofile, raised) {
        Ok(()) => limit.maximum.unwrap_or(u64::MAX),
        Err(_) => limit.current.unwrap_or(u64::MAX),
    };
    Descriptors { allowed, before }
}

/// Lowers our own to what it was before somebody raised it.
pub(super) fn lower_to(soft: u64) {
    let limit = getrlimit(Resource::Nofile);
    // More descriptors than were meant do no harm.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: Some(soft), maximum: limit.maximum });
}

/// How many are open at most: a tick that nobody answers holds one until it is given up.
pub(super) fn needed(options: &Options, idle_kept: usize) -> u64 {
    let every = options.every_us.max(1);
    let under_way = u64::try_from(options.give_up_us.max(0) / every).unwrap_or(u64::MAX);
    let idle = u64::try_from(idle_kept).unwrap_or(u64::MAX).saturating_mul(2);
    under_way.saturating_add(idle).saturating_add(BESIDE)
}

/// The streams, the runtime, the record, the guard, the pipes of two processes, probes, tries and the control lane.
const BESIDE: u64 = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tick_that_nobody_answers_is_reckoned_with() {
        assert_eq!(needed(&Options::default(), 64), 1000 + 128 + 64);
        let often = Options { every_us: 1_000, give_up_us: 2_000_000, ..Options::default() };
        assert_eq!(needed(&often, 0), 2000 + 64);
    }
}
