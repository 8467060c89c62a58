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
use crate::ask::{BODY_IS_COMPLETE_AT, Exchange, Late, Question, Ruling, Target};
use crate::clock::instant;

/// Probes a process until it has ended and is out. Beside each probe our own echo server is asked: where that is
/// silent too, the machine is slow, and the probe says nothing of the process.
pub(super) async fn probe(shared: Rc<Shared>, process: usize, target: Arc<Target>, echo: SocketAddr) {
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
        let mut beside = JoinSet::new();
        beside.spawn_local(exchange(echo));
        let mut question = Question::on_new_connection(Arc::clone(&target), BODY_IS_COMPLETE_AT);
        let (answer, lateness) = match late.beside(question.by(sent + patience), tell).await {
            Ruling::Decided { exchange, late: lateness } => (exchange.answer(), lateness),
            Ruling::Silent { late: lateness } => {
                late.keep(question, due_us);
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

/// Long enough to look at what has come, and short beside any timeout.
const A_MOMENT: Duration = Duration::from_millis(5);
