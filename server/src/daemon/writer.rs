//! The store's own thread. Whoever gives it a batch waits for the answer for a while and no longer: a disk that hangs
//! answers nothing at all, and the board must not stand still with it.

use std::any::Any;
use std::io;
use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TryRecvError, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::store::{Batch, Store, StoreError};

/// A store that works on a thread of its own, on one batch at a time.
pub(super) struct Writer {
    /// `None` once it is ending.
    batches: Option<SyncSender<Batch>>,
    answers: Receiver<Answer>,
    /// `None` once it has ended.
    thread: Option<JoinHandle<()>>,
    pub(super) patience: Duration,
}

/// A batch, as it was given, and what became of it.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) batch: Batch,
    pub(super) result: Result<(), StoreError>,
}

impl Writer {
    /// A thread for `store`, the answers of which are waited for as long as `patience`.
    ///
    /// # Errors
    /// Where no thread can be had.
    pub(super) fn start(mut store: Box<dyn Store>, patience: Duration) -> io::Result<Self> {
        // There is never more than one batch, and so never more than one answer.
        let (batches, given) = sync_channel::<Batch>(1);
        let (answer, answers) = sync_channel(1);
        let thread = thread::Builder::new().name("store".into()).spawn(move || {
            while let Ok(batch) = given.recv() {
                let result = store.append(&batch);
                if answer.send(Answer { batch, result }).is_err() {
                    break;
                }
            }
            // Whoever sees the answers end may open the store at once.
            drop(store);
            drop(answer);
        })?;
        Ok(Self { batches: Some(batches), answers, thread: Some(thread), patience })
    }

    /// Has a batch kept, and waits, for a large one longer. `None` where that takes too long: then the answer has to be
    /// [awaited](Self::wait) or [looked for](Self::look) before the next batch.
    pub(super) fn append(&mut self, batch: Batch) -> Option<Answer> {
        let thousands = (batch.rows.len() + batch.vouches.len() + batch.events.len()) / 1_000;
        let longer = FOR_A_THOUSAND.saturating_mul(u32::try_from(thousands).unwrap_or(u32::MAX));
        match self.batches.as_ref().map(|batches| batches.send(batch)) {
            Some(Ok(())) => self.wait_for(self.patience.saturating_add(longer)),
            Some(Err(_)) | None => self.lost(),
        }
    }

    /// Waits for the answer that is still to come. `None` where that takes too long again.
    pub(super) fn wait(&mut self) -> Option<Answer> {
        self.wait_for(self.patience)
    }

    fn wait_for(&mut self, patience: Duration) -> Option<Answer> {
        match self.answers.recv_timeout(patience) {
            Ok(answer) => Some(answer),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => self.lost(),
        }
    }

    /// The answer that was still to come, if it is there. Does not wait.
    pub(super) fn look(&mut self) -> Option<Answer> {
        match self.answers.try_recv() {
            Ok(answer) => Some(answer),
            Err(TryRecvError::Empty) => None,
            Err(TryRecvError::Disconnected) => self.lost(),
        }
    }

    /// The thread ends by itself only if the store panics: that is a bug of ours here as there.
    fn lost(&mut self) -> ! {
        let panic: Box<dyn Any + Send> = match self.thread.take().map(JoinHandle::join) {
            Some(Err(panic)) => panic,
            Some(Ok(())) | None => Box::new("the store's thread has ended"),
        };
        resume_unwind(panic)
    }
}

impl Drop for Writer {
    /// Lets go of the store, unless it hangs: then its thread does, if it ever comes back.
    fn drop(&mut self) {
        drop(self.batches.take());
        // At most an answer that nobody reads any more, and then the end.
        while self.thread.is_some() && self.answers.recv_timeout(self.patience).is_ok() {}
    }
}

/// So long a report waits for its commit: many times what a laden disk takes, and less than clients wait for an
/// answer.
pub(super) const PATIENCE: Duration = Duration::from_secs(5);
/// And so much longer for each thousand rows and events, so that a full board on a slow disk is not taken for a disk
/// that hangs: 15 s for a report that changes 100,000 rows.
const FOR_A_THOUSAND: Duration = Duration::from_millis(50);

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;
    use crate::store::Loaded;

    /// A store that panics.
    struct Mad;

    impl Store for Mad {
        fn load(&mut self) -> Result<Loaded, StoreError> {
            Ok(Loaded::default())
        }

        fn append(&mut self, _batch: &Batch) -> Result<(), StoreError> {
            panic!("mad")
        }
    }

    #[test]
    fn a_panic_of_the_store_is_one_of_whoever_asked_it() {
        let mut writer = Writer::start(Box::new(Mad), PATIENCE).unwrap();
        let panic = catch_unwind(AssertUnwindSafe(|| writer.append(Batch::default()))).unwrap_err();
        assert_eq!(panic.downcast_ref::<&str>(), Some(&"mad"));
        drop(writer);
    }
}
