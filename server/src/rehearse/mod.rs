//! The rehearsal of a roll: two processes, a stream of requests, one SIGTERM, and a record of everything.
//!
//! [`preflight`](plan::preflight) turns what was asked for into what can be run, or says what to change. [`run`] then
//! owns a thread that says when a tick is due ([`pace`]), one in which everything is asked and decided ([`roll`],
//! [`stream`], [`prober`], [`control`]), one that puts it on record ([`recorder`]), and one that writes the record's
//! [`file`]. What it amounts to is decided by core, from the record alone. Processes are started through this program
//! itself, which tells a guard of its own ([`guard`]) before it becomes the server, so that none outlives us.

mod bug;
mod busy;
mod command;
mod control;
mod file;
pub(crate) mod guard;
mod limits;
mod mark;
mod pace;
mod plan;
mod ports;
mod priority;
mod prober;
mod process;
mod recorder;
mod roll;
mod shared;
mod since;
mod starved;
mod stream;
mod tail;
mod tries;

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use greenlight_core::rehearsal::{Ending, Event, Record};
use tokio::sync::watch;

#[cfg(debug_assertions)]
pub(crate) use self::bug::Bug;
pub(crate) use self::plan::{Plan, Prepared, preflight};
pub(crate) use self::recorder::Seen;

use self::guard::Guard;
use self::recorder::Recorder;
use self::since::Since;

/// A run that is over.
#[derive(Debug)]
pub(crate) struct Finished {
    /// Everything that happened.
    pub(crate) record: Record,
    /// Why its file is not whole, in words.
    pub(crate) file_trouble: Option<String>,
}

/// Why there is no record.
#[derive(Debug)]
pub(crate) enum Unrun {
    /// What was asked for gives nothing to measure by; in words, with what to do.
    Unmeasurable(String),
    /// It could not be begun.
    Failed(String),
}

/// Runs a rehearsal to its end. `stop` ends it early, and stays open; `look` sees how far it is, several times a
/// second.
///
/// # Errors
/// Where there is nothing to report.
pub(crate) fn run(mut prepared: Prepared, stop: &Receiver<()>, mut look: impl FnMut(&Seen)) -> Result<Finished, Unrun> {
    let failed = |what: &str, error: std::io::Error| Unrun::Failed(format!("{what}: {error}"));
    let since = Since::now();
    let guard = Guard::start().map_err(|error| failed("the guard of the processes cannot be started", error))?;
    let seen = Arc::new(Seen::default());
    let recorder = Recorder::start(prepared.record.take(), Arc::clone(&seen))
        .map_err(|error| failed("no thread can be had", error))?;
    recorder.handle().note(Event::Header(prepared.header.clone()));
    let (end_early, stopped) = watch::channel(false);
    let busy = busy::Busy::start(prepared.header.options.busy);
    let handle = recorder.handle();
    let engine = thread::Builder::new().name("rehearsal".into()).spawn(move || {
        let ended = roll::play(prepared, &guard, since, handle, stopped);
        guard.finish();
        ended
    });
    let engine = engine.map_err(|error| failed("no thread can be had", error))?;
    while !engine.is_finished() {
        match stop.recv_timeout(LOOK_EVERY) {
            Ok(()) => {
                // The engine may have come to its end just now.
                let _ = end_early.send(true);
            }
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
        }
        look(&seen);
    }
    drop(busy);
    let ended = match engine.join() {
        Ok(ended) => ended.map_err(Unrun::Unmeasurable)?,
        // Its processes were killed while the panic unwound, and the guard has seen to the rest.
        Err(_) => roll::Ended {
            ticks: seen.due(),
            how: Ending::Failed { because: "the rehearsal met a bug of its own; what it said stands above".into() },
        },
    };
    let at_us = since.now_us();
    recorder.handle().note(Event::End { at_us, ticks: ended.ticks, how: ended.how });
    recorder.finish().map_err(Unrun::Failed)
}

/// How often somebody who watches is told, and a wish to stop is heard.
const LOOK_EVERY: Duration = Duration::from_millis(100);
