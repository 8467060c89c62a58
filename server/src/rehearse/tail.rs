//! The last words of a process: the end of what it wrote, and nothing more, however much that was.

use std::collections::VecDeque;
use std::io::Read;
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// Reads what a process writes, so that it never waits for us, and keeps the end.
#[derive(Debug)]
pub(super) struct Tail {
    kept: Arc<Mutex<VecDeque<u8>>>,
    /// Closed once everything that wrote is gone.
    writers: Receiver<()>,
}

impl Tail {
    /// Reads both streams. One that no thread can be had for is not read, and a process that writes much waits.
    pub(super) fn of(out: Option<impl Read + Send + 'static>, err: Option<impl Read + Send + 'static>) -> Self {
        let kept = Arc::new(Mutex::new(VecDeque::new()));
        let (writing, writers) = mpsc::channel();
        if let Some(out) = out {
            follow(out, Arc::clone(&kept), writing.clone());
        }
        if let Some(err) = err {
            follow(err, Arc::clone(&kept), writing);
        }
        Self { kept, writers }
    }

    /// The last words, once both streams have ended or it has taken too long.
    pub(super) fn words(&self) -> String {
        // Nothing is ever sent: the wait ends when the last reader does.
        let _ = self.writers.recv_timeout(AT_MOST);
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(kept.make_contiguous()).into_owned()
    }
}

fn follow(mut stream: impl Read + Send + 'static, kept: Arc<Mutex<VecDeque<u8>>>, writing: Sender<()>) {
    // Without a thread the process still runs; its words are lost.
    let _ = thread::Builder::new().name("tail".into()).spawn(move || {
        let mut piece = [0_u8; 4096];
        loop {
            match stream.read(&mut piece) {
                Ok(0) => break,
                Ok(bytes) => {
                    let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
                    kept.extend(piece.get(..bytes).unwrap_or_default());
                    let over = kept.len().saturating_sub(KEPT_BYTES);
                    kept.drain(..over);
                }
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(_) => break,
            }
        }
        drop(writing);
    });
}

/// A panic with its backtrace, and little more: it stands in one line of the record.
const KEPT_BYTES: usize = 8 * 1024;
/// What a process wrote before it was killed lies in the pipe; something that it left behind may hold it open.
const AT_MOST: Duration = Duration::from_millis(500);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_end_is_kept() {
        let long = "x".repeat(KEPT_BYTES * 3) + "the end";
        let tail = Tail::of(Some(std::io::Cursor::new(long)), None::<std::io::Empty>);
        let words = tail.words();
        assert_eq!(words.len(), KEPT_BYTES);
        assert!(words.ends_with("the end"));
    }
}
