//! When a tick is due: a thread of its own that does nothing else, with absolute deadlines.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::time::Instant;

use crate::clock::instant;

/// Says when ticks are due, until it is stopped or dropped. Those that a late thread missed come at once, none is left
/// out and none comes twice.
#[derive(Debug)]
pub(super) struct Pacer {
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<u64>>,
}

impl Pacer {
    /// Begins with tick 0 at `first`. The ticks are told in order; where too many wait to be taken up, the number goes
    /// to `left_out` instead.
    ///
    /// # Errors
    /// Where no thread can be had.
    pub(super) fn start(
        first: Instant,
        every: Duration,
        mut left_out: impl FnMut(u64) + Send + 'static,
    ) -> std::io::Result<(Self, Receiver<u64>)> {
        let (due, dues) = channel(MAX_WAITING);
        let over = Arc::new(AtomicBool::new(false));
        let is_over = Arc::clone(&over);
        let thread = thread::Builder::new()
            .name("pace".into())
            .spawn(move || pace(first, every, &is_over, &due, &mut left_out))?;
        Ok((Self { over, thread: Some(thread) }, dues))
    }

    /// Ends it, and tells how many ticks were due.
    pub(super) fn stop(mut self) -> u64 {
        self.end()
    }

    fn end(&mut self) -> u64 {
        self.over.store(true, Ordering::Release);
        match self.thread.take() {
            Some(thread) => {
                thread.thread().unpark();
                // It does nothing that panics.
                thread.join().unwrap_or(0)
            }
            None => 0,
        }
    }
}

impl Drop for Pacer {
    fn drop(&mut self) {
        self.end();
    }
}

fn pace(
    first: Instant,
    every: Duration,
    is_over: &AtomicBool,
    due: &Sender<u64>,
    left_out: &mut impl FnMut(u64),
) -> u64 {
    let mut deadline = first;
    for tick in 0.. {
        loop {
            if is_over.load(Ordering::Acquire) {
                return tick;
            }
            let left = deadline.saturating_duration_since(instant());
            if left.is_zero() {
                break;
            }
            thread::park_timeout(left);
        }
        if due.try_send(tick).is_err() {
            left_out(tick);
        }
        // From deadline to deadline: no lateness adds up.
        deadline += every;
    }
    u64::MAX
}

/// How many ticks may wait to be taken up: ten seconds at a thousand a second, of a stopped or starved machine.
const MAX_WAITING: usize = 10_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_come_in_order_none_left_out_and_none_twice() {
        let every = Duration::from_micros(200);
        let (pacer, mut dues) = Pacer::start(instant(), every, |tick| panic!("{tick} was left out")).unwrap();
        let told: Vec<u64> = (0..50).map(|_| dues.blocking_recv().unwrap()).collect();
        let ticks = pacer.stop();
        let rest: Vec<u64> = std::iter::from_fn(|| dues.try_recv().ok()).collect();
        assert_eq!(told.into_iter().chain(rest).collect::<Vec<_>>(), (0..ticks).collect::<Vec<_>>());
    }

    #[test]
    fn ticks_that_were_missed_come_at_once() {
        let long_ago = instant().checked_sub(Duration::from_millis(400)).unwrap();
        let (pacer, mut dues) = Pacer::start(long_ago, Duration::from_millis(10), |_| ()).unwrap();
        for tick in 0..40 {
            assert_eq!(dues.blocking_recv(), Some(tick));
        }
        assert!(pacer.stop() >= 40);
    }

    #[test]
    fn a_tick_that_finds_no_room_is_told_apart() {
        let long_ago = instant().checked_sub(Duration::from_secs(11)).unwrap();
        let (told, left_out) = std::sync::mpsc::channel();
        let (pacer, dues) =
            Pacer::start(long_ago, Duration::from_millis(1), move |tick| told.send(tick).unwrap()).unwrap();
        assert_eq!(left_out.recv().unwrap(), u64::try_from(MAX_WAITING).unwrap());
        drop(dues);
        assert!(pacer.stop() > 10_000);
    }
}
