//! Time as a command needs it: what time it is, and a pause that something may end early.

use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::Duration;

use crate::clock::Clock;

/// Where a command takes its time from; in a test, one that stands still until it is waited for.
pub(crate) trait Pace {
    /// Milliseconds since some fixed moment; never steps.
    fn now_ms(&self) -> u64;
    /// Waits so long, or until somebody asks to end.
    fn pause(&mut self, how_long: Duration) -> Pause;
}

/// How a pause ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pause {
    /// It is over.
    Over,
    /// Somebody asks to end.
    Ended,
}

/// Real time.
#[derive(Debug)]
pub(crate) struct RealPace {
    clock: Clock,
    end: Receiver<()>,
    /// Kept so that the channel stays open where nobody else may end a pause.
    _ender: Sender<()>,
}

impl RealPace {
    /// A pace, and what ends its pauses.
    pub(crate) fn new() -> (Self, Sender<()>) {
        let (ender, end) = mpsc::channel();
        (Self { clock: Clock::system(), end, _ender: ender.clone() }, ender)
    }
}

impl Pace for RealPace {
    fn now_ms(&self) -> u64 {
        self.clock.now_ms()
    }

    fn pause(&mut self, how_long: Duration) -> Pause {
        match self.end.recv_timeout(how_long) {
            Ok(()) => Pause::Ended,
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => Pause::Over,
        }
    }
}

#[cfg(test)]
pub(crate) mod testing {
    use super::{Pace, Pause};
    use std::time::Duration;

    /// A time that moves only where it is waited for.
    #[derive(Debug, Default)]
    pub(crate) struct ManualPace {
        pub(crate) now_ms: u64,
    }

    impl Pace for ManualPace {
        fn now_ms(&self) -> u64 {
            self.now_ms
        }

        fn pause(&mut self, how_long: Duration) -> Pause {
            self.now_ms += u64::try_from(how_long.as_millis()).unwrap();
            Pause::Over
        }
    }
}
