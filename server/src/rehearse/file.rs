//! The file of a record. A thread of its own writes it, so that a disk that is slow, or hangs, holds up neither the
//! stream nor the record in memory; and what waits for the disk has a limit, beyond which the file is given up.

use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// A file that is being written.
#[derive(Debug)]
pub(super) struct RecordFile {
    path: PathBuf,
    shared: Arc<Shared>,
    /// Closed once the thread has ended.
    thread: Receiver<()>,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// What the thread has not taken yet, at most [`MOST_WAITING`].
    waiting: Vec<u8>,
    stage: Stage,
}

#[derive(Debug, Default)]
enum Stage {
    #[default]
    Open,
    /// Nothing more comes.
    Closed,
    /// Nothing more is written, for this reason.
    GivenUp(String),
}

impl RecordFile {
    /// Begins to write to `out`, of which `path` is the name.
    ///
    /// # Errors
    /// Where no thread can be had.
    pub(super) fn start(out: impl Write + Send + 'static, path: PathBuf) -> io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let (running, thread) = mpsc::channel();
        let for_thread = Arc::clone(&shared);
        thread::Builder::new().name("record-file".into()).spawn(move || {
            for_thread.write_all_to(out);
            drop(running);
        })?;
        Ok(Self { path, shared, thread })
    }

    /// Has a line written some time. Does not wait.
    pub(super) fn append(&self, line: &[u8]) {
        let mut state = self.shared.lock();
        match state.stage {
            Stage::Open if state.waiting.len() + line.len() >= MOST_WAITING => {
                state.give_up("the disk takes it more slowly than it comes".to_owned());
            }
            Stage::Open => {
                state.waiting.extend_from_slice(line);
                state.waiting.push(b'\n');
            }
            Stage::Closed | Stage::GivenUp(_) => return,
        }
        drop(state);
        self.shared.changed.notify_one();
    }

    /// Ends it: waits until all of it is written, but no longer than `patience`. Says why it is not whole, where it is
    /// not.
    pub(super) fn finish(self, patience: Duration) -> Option<String> {
        let Self { path, shared, thread } = self;
        shared.close();
        // One that was given up may hang still.
        let ended = if shared.why_given_up().is_some() {
            Err(RecvTimeoutError::Timeout)
        } else {
            thread.recv_timeout(patience)
        };
        let why = match (shared.why_given_up(), ended) {
            (Some(why), _) => why,
            (None, Err(RecvTimeoutError::Timeout)) => "the disk does not take the end of it".to_owned(),
            (None, Ok(()) | Err(RecvTimeoutError::Disconnected)) => return None,
        };
        Some(format!("{} is not whole: {why}", path.display()))
    }
}

impl Shared {
    fn write_all_to(&self, mut out: impl Write) {
        loop {
            let mut state = self.lock();
            while state.waiting.is_empty() && matches!(state.stage, Stage::Open) {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
            let piece = std::mem::take(&mut state.waiting);
            drop(state);
            let written = out.write_all(&piece).and_then(|()| out.flush());
            if let Err(error) = written {
                self.lock().give_up(error.to_string());
            }
            if piece.is_empty() {
                return;
            }
        }
    }

    fn close(&self) {
        let mut state = self.lock();
        match state.stage {
            Stage::Open => state.stage = Stage::Closed,
            Stage::Closed | Stage::GivenUp(_) => {}
        }
        drop(state);
        self.changed.notify_one();
    }

    fn why_given_up(&self) -> Option<String> {
        match &self.lock().stage {
            Stage::Open | Stage::Closed => None,
            Stage::GivenUp(why) => Some(why.clone()),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn give_up(&mut self, why: String) {
        self.waiting = Vec::new();
        match self.stage {
            Stage::Open | Stage::Closed => self.stage = Stage::GivenUp(why),
            Stage::GivenUp(_) => {}
        }
    }
}

/// So much waits for a disk: some ten seconds of the fastest stream, and many minutes of a usual one.
const MOST_WAITING: usize = 16 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    /// Longer than any test runs.
    const FOREVER: Duration = Duration::from_hours(1);

    /// A disk that takes nothing until it is let go, and then tells what it took.
    struct Hanging {
        let_go: Receiver<()>,
        took: mpsc::Sender<Vec<u8>>,
    }

    impl Hanging {
        fn new() -> (Self, mpsc::Sender<()>, Receiver<Vec<u8>>) {
            let (go, let_go) = mpsc::channel();
            let (took, taken) = mpsc::channel();
            (Self { let_go, took }, go, taken)
        }
    }

    impl Write for Hanging {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            // Ends with an error once it is let go.
            let _ = self.let_go.recv();
            // Nobody looks: nobody to tell.
            let _ = self.took.send(bytes.to_vec());
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn path() -> PathBuf {
        "run.jsonl".into()
    }

    #[test]
    fn what_waited_for_a_slow_disk_is_written_whole_and_in_order() {
        let (disk, go, taken) = Hanging::new();
        let file = RecordFile::start(disk, path()).unwrap();
        (0..1000).for_each(|line| file.append(format!("{line}").as_bytes()));
        drop(go);
        assert_eq!(file.finish(FOREVER), None);
        let all: Vec<u8> = taken.iter().flatten().collect();
        assert_eq!(String::from_utf8(all).unwrap(), (0..1000).map(|line| format!("{line}\n")).collect::<String>());
    }

    #[test]
    fn a_disk_that_hangs_costs_the_file_and_a_bounded_memory() {
        let (disk, go, _taken) = Hanging::new();
        let file = RecordFile::start(disk, path()).unwrap();
        let line = vec![b'x'; 1 << 16];
        (0..2 * MOST_WAITING / line.len()).for_each(|_| {
            file.append(&line);
            assert!(file.shared.lock().waiting.capacity() <= 2 * MOST_WAITING);
        });
        assert_eq!(file.shared.lock().waiting.capacity(), 0);
        // It is not waited for either.
        let why = file.finish(FOREVER);
        assert_eq!(why.as_deref(), Some("run.jsonl is not whole: the disk takes it more slowly than it comes"));
        drop(go);
    }

    #[test]
    fn a_disk_that_hangs_at_the_end_is_not_waited_for_long() {
        let (disk, go, _taken) = Hanging::new();
        let file = RecordFile::start(disk, path()).unwrap();
        file.append(b"the end");
        let why = file.finish(Duration::from_millis(10));
        assert_eq!(why.as_deref(), Some("run.jsonl is not whole: the disk does not take the end of it"));
        drop(go);
    }

    #[test]
    fn a_disk_that_is_full_says_so() {
        let file = RecordFile::start(io::Cursor::new([0_u8; 0]), path()).unwrap();
        file.append(b"a line");
        let why = file.finish(FOREVER).unwrap();
        assert!(why.starts_with("run.jsonl is not whole: ") && why.len() > 24, "{why}");
    }
}
