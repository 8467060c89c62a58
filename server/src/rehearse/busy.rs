//! Threads that burn processor time, so that a roll is rehearsed on a loaded machine.

use std::hint::spin_loop;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// Threads that burn processor time until this is dropped.
#[derive(Debug)]
pub(super) struct Busy(Arc<AtomicBool>);

impl Busy {
    /// Starts so many. Fewer where the system gives no more: the load is a wish, not a promise.
    pub(super) fn start(threads: u32) -> Self {
        let over = Arc::new(AtomicBool::new(false));
        for _ in 0..threads {
            let over = Arc::clone(&over);
            let burning = thread::Builder::new().name("busy".into()).spawn(move || {
                while !over.load(Ordering::Relaxed) {
                    spin_loop();
                }
            });
            if burning.is_err() {
                break;
            }
        }
        Self(over)
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
