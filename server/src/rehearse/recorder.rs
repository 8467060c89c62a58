//! What happens is put on record by a thread of its own, so that nothing holds up the stream. The record in memory and
//! its [file](super::file) are made of the same events, in the same order.

use std::fs::File;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use greenlight_core::rehearsal::{Class, Event, Reader};

use super::Finished;
use super::file::RecordFile;

/// How far a run is, for whoever watches.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    ticks: AtomicU64,
    missed: AtomicU64,
    due: AtomicU64,
    phase: Mutex<&'static str>,
    is_full: AtomicBool,
}

impl Seen {
    /// Ticks with an outcome.
    pub(crate) fn ticks(&self) -> u64 {
        self.ticks.load(Ordering::Relaxed)
    }

    /// Those that were not ok.
    pub(crate) fn missed(&self) -> u64 {
        self.missed.load(Ordering::Relaxed)
    }

    /// How many ticks are known to have been due.
    pub(super) fn due(&self) -> u64 {
        self.due.load(Ordering::Relaxed)
    }

    /// What the roll is at, in words.
    pub(crate) fn phase(&self) -> &'static str {
        *self.phase.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the record can take no more.
    pub(super) fn is_full(&self) -> bool {
        self.is_full.load(Ordering::Relaxed)
    }
}

enum Note {
    Event(Event),
    FirstDue(i64),
}

/// Where events are told.
#[derive(Clone, Debug)]
pub(super) struct Handle {
    notes: SyncSender<Note>,
    seen: Arc<Seen>,
}

impl Handle {
    /// Takes an event, its times since the start of the run.
    pub(super) fn note(&self, event: Event) {
        if let Event::Tick(tick) = &event {
            self.seen.ticks.fetch_add(1, Ordering::Relaxed);
            self.seen.due.fetch_max(tick.tick.saturating_add(1), Ordering::Relaxed);
            self.seen.missed.fetch_add(u64::from(tick.class != Class::Ok), Ordering::Relaxed);
        }
        // A recorder that is gone has told why where it is joined.
        let _ = self.notes.send(Note::Event(event));
    }

    /// Says when the first tick is due: from there times count in the record.
    pub(super) fn first_due(&self, us: i64) {
        let _ = self.notes.send(Note::FirstDue(us));
    }

    /// Says what the roll is at.
    pub(super) fn phase(&self, phase: &'static str) {
        *self.seen.phase.lock().unwrap_or_else(PoisonError::into_inner) = phase;
    }

    /// How far the run is.
    pub(super) fn seen(&self) -> &Seen {
        &self.seen
    }
}

/// The thread that writes.
#[derive(Debug)]
pub(super) struct Recorder {
    handle: Handle,
    thread: JoinHandle<(Reader, Option<String>)>,
}

impl Recorder {
    /// Begins a record, in a file too where one is wanted.
    ///
    /// # Errors
    /// Where no thread can be had.
    pub(super) fn start(file: Option<(File, PathBuf)>, seen: Arc<Seen>) -> std::io::Result<Self> {
        let file = file.map(|(file, path)| RecordFile::start(file, path)).transpose()?;
        let (notes, told) = mpsc::sync_channel(NOTES_AHEAD);
        let handle = Handle { notes, seen: Arc::clone(&seen) };
        let thread = thread::Builder::new().name("record".into()).spawn(move || write(&told, file, &seen))?;
        Ok(Self { handle, thread })
    }

    pub(super) fn handle(&self) -> Handle {
        self.handle.clone()
    }

    /// Ends it. Every other handle must be gone.
    ///
    /// # Errors
    /// In words, where there is no record at all.
    pub(super) fn finish(self) -> Result<Finished, String> {
        let Self { handle, thread } = self;
        drop(handle);
        let (reader, file_trouble) = thread.join().map_err(|_| "the record is lost: a bug of ours".to_owned())?;
        let record = reader.finish().ok_or("the record has no beginning: a bug of ours")?;
        Ok(Finished { record, file_trouble })
    }
}

struct Writing<'a> {
    reader: Reader,
    file: Option<RecordFile>,
    trouble: Option<String>,
    seen: &'a Seen,
}

fn write(told: &Receiver<Note>, file: Option<RecordFile>, seen: &Seen) -> (Reader, Option<String>) {
    let mut writing = Writing { reader: Reader::new(), file, trouble: None, seen };
    // What comes before the first tick is due waits until its times can be told.
    let mut early = Vec::new();
    let mut first_due = None;
    for note in told {
        match (note, first_due) {
            (Note::Event(header @ Event::Header(_)), _) => writing.take(header),
            (Note::Event(event), Some(due)) => writing.take(event.later(due)),
            (Note::Event(event), None) => early.push(event),
            (Note::FirstDue(us), _) => {
                let back = us.saturating_neg();
                first_due = Some(back);
                early.drain(..).for_each(|event| writing.take(event.later(back)));
            }
        }
    }
    // Where no tick was ever due, times count from the start.
    early.drain(..).for_each(|event| writing.take(event));
    let Writing { reader, file, trouble, .. } = writing;
    let of_file = file.and_then(|file| file.finish(LAST_WRITE));
    (reader, trouble.or(of_file))
}

impl Writing<'_> {
    fn take(&mut self, event: Event) {
        let line = self.file.is_some().then(|| serde_json::to_vec(&event));
        if let Err(error) = self.reader.take(event) {
            // The only one that can be: it is too long.
            self.seen.is_full.store(true, Ordering::Relaxed);
            self.trouble.get_or_insert_with(|| error.to_string());
            return;
        }
        match (&self.file, line) {
            (Some(file), Some(Ok(line))) => file.append(&line),
            (_, Some(Err(error))) => {
                self.trouble.get_or_insert_with(|| format!("lacks an event: {error}"));
            }
            (_, None) | (None, Some(Ok(_))) => {}
        }
    }
}

/// Events wait for the thread that keeps them in memory, which waits for nothing: more than a second of the fastest
/// stream. Whoever meets a full queue waits, and the time that this takes is ours, as the record then says.
const NOTES_AHEAD: usize = 16_384;
/// So long the end of the file is waited for.
const LAST_WRITE: Duration = Duration::from_secs(10);

#[cfg(test)]
mod tests {
    use super::*;
    use greenlight_core::rehearsal::{Ending, Header, Machine, Options, Planned, SCHEMA};
    use greenlight_core::rotation::RotationPolicy;

    #[test]
    fn times_count_from_the_first_due_tick_whenever_that_is_known() {
        let seen = Arc::new(Seen::default());
        let recorder = Recorder::start(None, Arc::clone(&seen)).unwrap();
        let handle = recorder.handle();
        let old = || "old".into();
        let planned = Planned { name: old(), command: old(), address: old(), ready: old() };
        handle.note(Event::Header(Header {
            schema: SCHEMA.into(),
            version: "1".into(),
            options: Options::default(),
            policy: RotationPolicy::default(),
            machine: Machine::default(),
            processes: vec![planned],
        }));
        handle.note(Event::Started { at_us: 100, process: old(), pid: 1 });
        handle.first_due(1_000);
        handle.note(Event::Sigterm { at_us: 1_500, process: old() });
        handle.note(Event::End { at_us: 2_000, ticks: 0, how: Ending::Complete });
        drop(handle);
        let finished = recorder.finish().unwrap();
        let moments: Vec<_> = finished.record.events.iter().filter_map(Event::at_us).collect();
        assert_eq!((moments, finished.record.end_us), (vec![-900, 500], 1_000));
    }
}
