//! Probes of one process: at fixed times, each on a connection of its own.

use std::cell::{Cell, RefCell};
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use greenlight_core::rehearsal::{Event, SLOW_MACHINE};
use greenlight_core::rotation::{Answer, Silence};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until};

use super::control::exchange;
use super::shared::{Learned, Shared};
use super::since::micros;
use super::starved::Starved;
use crate::ask::{BODY_IS_COMPLETE_AT, Exchange, Late, Question, Ruling, Target};
use crate::clock::instant;

/// Probes a process until it has ended and is out. Beside each probe our own echo server is asked again and again, and
/// where the answer takes long, the system is asked whether the process, which has this number, gets a processor: where
/// the machine is slow, no answer says nothing of the process.
pub(super) async fn probe(shared: Rc<Shared>, process: usize, pid: u32, target: Arc<Target>, echo: SocketAddr) {
    let every = micros(shared.options.probe_every_us);
    let patience = micros(shared.options.probe_timeout_us);
    let mut late = Late::new();
    let tell = |due_us: &i64, exchange: &Exchange| {
        let (at_us, process) = (shared.since.floor_us(exchange.ended_at), shared.name(process));
        shared.record.note(Event::Late { at_us, due_us: *due_us, process, answer: exchange.answer() });
    };
    let mut due = instant();
    while shared.is_in(process) || !shared.has_exited(process) {
        late.beside(sleep_until(due), tell).await;
        let due_us = shared.since.floor_us(due);
        let sent = instant();
        let beside = Rc::new(Beside::default());
        let mut watching = JoinSet::new();
        watching.spawn_local(watch(echo, Rc::clone(&beside)));
        watching.spawn_local(look(pid, sent + patience / SLOW_SHARE, Rc::clone(&beside)));
        let mut question = Question::on_new_connection(Arc::clone(&target), BODY_IS_COMPLETE_AT);
        let (answer, lateness) = match late.beside(question.by(sent + patience), tell).await {
            Ruling::Decided { exchange, late: lateness } => (exchange.answer(), lateness),
            Ruling::Silent { late: lateness } => {
                late.keep(question, due_us);
                let is_slow = beside.slowest() >= patience / SLOW_SHARE;
                let answer = if is_slow || beside.starved(pid) >= patience / SLOW_SHARE {
                    Answer::Fault { code: SLOW_MACHINE.into() }
                } else {
                    Answer::Silent { by: Silence::Timeout }
                };
                (answer, lateness)
            }
        };
        let late_us = i64::try_from(lateness.as_micros()).unwrap_or(i64::MAX);
        shared.learn(process, Learned { answer, due_us, sent_us: shared.since.floor_us(sent), late_us });
        // Due times that were met meanwhile are skipped.
        let now = instant();
        while due <= now {
            due += every;
        }
    }
}

/// What was seen of the machine while a probe was under way: how long echoes took, and how long the process waited for
/// a processor.
#[derive(Debug, Default)]
struct Beside {
    slowest: Cell<Duration>,
    /// Since when the newest is awaited.
    awaited: Cell<Option<Instant>>,
    starved: RefCell<Starved>,
}

impl Beside {
    /// The slowest so far, the newest included where it has not come yet.
    fn slowest(&self) -> Duration {
        let awaited = self.awaited.get().map_or(Duration::ZERO, |asked| instant().saturating_duration_since(asked));
        self.slowest.get().max(awaited)
    }

    /// For how long others kept the process from running, at least.
    fn starved(&self, pid: u32) -> Duration {
        let mut starved = self.starved.borrow_mut();
        starved.look(pid, instant());
        starved.by_others()
    }
}

/// Asks for one echo after the other, until it is dropped.
async fn watch(echo: SocketAddr, beside: Rc<Beside>) {
    loop {
        let asked = instant();
        beside.awaited.set(Some(asked));
        // One that cannot be had is as good as one that never comes.
        let took =
            if exchange(echo).await.is_ok() { instant().saturating_duration_since(asked) } else { Duration::MAX };
        beside.awaited.set(None);
        beside.slowest.set(beside.slowest.get().max(took));
        sleep_until(instant() + BETWEEN_ECHOES).await;
    }
}

/// Looks at a process from a moment on, until it is dropped. Most probes are answered before.
async fn look(pid: u32, from: Instant, beside: Rc<Beside>) {
    let mut due = from;
    loop {
        sleep_until(due).await;
        beside.starved.borrow_mut().look(pid, instant());
        due = instant() + BETWEEN_LOOKS;
    }
}

/// An echo takes a moment, and a process has more to do for an answer: a machine on which two bytes take a third of a
/// probe's time is slow, and so is one on which the process waits so long for a processor that others have.
const SLOW_SHARE: u32 = 3;
/// Several within the time of a usual probe.
const BETWEEN_ECHOES: Duration = Duration::from_millis(50);
/// A wait is seen by two looks; it is told only when it is over.
const BETWEEN_LOOKS: Duration = Duration::from_millis(25);
