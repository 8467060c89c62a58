//! Probes of one process: at fixed times, each on a connection of its own.

use std::io;
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use greenlight_core::rehearsal::{Event, SLOW_MACHINE};
use greenlight_core::rotation::{Answer, Silence};
use tokio::task::JoinSet;
use tokio::time::{sleep_until, timeout};

use super::control::exchange;
use super::shared::{Learned, Shared};
use super::since::micros;
use crate::ask::{BODY_IS_COMPLETE_AT, Question, Ruling, Target};
use crate::clock::instant;

/// Probes a process until it has ended and is out. Beside each probe our own echo server is asked: where that is
/// silent too, the machine is slow, and the probe says nothing of the process.
pub(super) async fn probe(shared: Rc<Shared>, process: usize, target: Arc<Target>, echo: SocketAddr) {
    let every = micros(shared.options.probe_every_us);
    let patience = micros(shared.options.probe_timeout_us);
    let mut late = JoinSet::new();
    let mut due = instant();
    while shared.is_in(process) || !shared.has_exited(process) {
        sleep_until(due).await;
        let due_us = shared.since.floor_us(due);
        let sent = instant();
        let mut beside = JoinSet::new();
        beside.spawn_local(exchange(echo));
        let mut question = Question::on_new_connection(Arc::clone(&target), BODY_IS_COMPLETE_AT);
        let (answer, lateness) = match question.by(sent + patience).await {
            Ruling::Decided { exchange, late } => (exchange.answer(), late),
            Ruling::Silent { late: lateness } => {
                // One answer is still awaited, as in the daemon: the first.
                while late.try_join_next().is_some() {}
                if late.is_empty() {
                    late.spawn_local(await_late(Rc::clone(&shared), process, due_us, question));
                }
                let answer = if is_slow(&mut beside).await {
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

/// Whether the echo that was asked for beside a probe has not come either.
async fn is_slow(beside: &mut JoinSet<io::Result<()>>) -> bool {
    // What lies in our system already is seen within a moment.
    !matches!(timeout(A_MOMENT, beside.join_next()).await, Ok(Some(Ok(Ok(())))))
}

/// Notes the answer to a probe that was taken for silent, if it comes.
async fn await_late(shared: Rc<Shared>, process: usize, due_us: i64, question: Question) {
    if let Ok(exchange) = timeout(LATE_AT_MOST, question).await {
        let at_us = shared.since.floor_us(exchange.ended_at);
        shared.record.note(Event::Late { at_us, due_us, process: shared.name(process), answer: exchange.answer() });
    }
}

/// Long enough to look at what has come, and short beside any timeout.
const A_MOMENT: Duration = Duration::from_millis(5);
/// For how long an answer is awaited after its probe was taken for silent.
const LATE_AT_MOST: Duration = Duration::from_secs(3);
