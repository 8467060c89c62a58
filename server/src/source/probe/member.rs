//! The task of one member: it asks at each due time, and decides what the answer was.

use std::cell::Cell;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use greenlight_core::rotation::{Answer, MemberId, Silence};
use tokio::time::{Instant, Sleep, sleep_until};

use super::schedule::Schedule;
use super::state::{Learned, Shared};
use crate::ask::{BODY_IS_COMPLETE_AT, Exchange, Question, Ruling, Stage, Target};
use crate::clock::{Clock, instant};

/// One member and how it is asked.
#[derive(Debug)]
pub(super) struct Asker {
    pub(super) id: MemberId,
    pub(super) target: Arc<Target>,
    pub(super) timeout: Duration,
    pub(super) schedule: Schedule,
    /// Since when the schedule counts.
    pub(super) epoch: Instant,
    pub(super) shared: Arc<Shared>,
    pub(super) clock: Clock,
}

/// A question that was taken for silent.
#[derive(Debug)]
struct Awaited {
    question: Question,
    until: Instant,
}

impl Asker {
    /// Asks until it is dropped. A probe that is then under way counts as nothing.
    pub(super) async fn run(self) {
        let begun = instant();
        let mut timer = Box::pin(sleep_until(begun));
        let mut awaited: Option<Awaited> = None;
        let second = self.epoch + self.schedule.second_after(begun.saturating_duration_since(self.epoch));
        loop {
            self.wait(&mut awaited, timer.as_mut()).await;
            let question = self.ask(&mut awaited, timer.as_mut()).await;
            if let (Some(question), None) = (question, &awaited) {
                awaited = Some(Awaited { question, until: instant() + AWAITED_FOR });
            }
            let next = self.schedule.next_after(instant().saturating_duration_since(self.epoch));
            timer.as_mut().reset(second.max(self.epoch + next));
        }
    }

    /// Waits for the due time, and meanwhile for the answer to an earlier question.
    async fn wait(&self, awaited: &mut Option<Awaited>, mut due: Pin<&mut Sleep>) {
        while let Some(late) = awaited {
            tokio::select! {
                exchange = &mut late.question => self.note_late(awaited, &exchange),
                () = sleep_until(late.until) => *awaited = None,
                () = due.as_mut() => return,
            }
        }
        due.await;
    }

    /// Asks once. Gives the question back where it was taken for silent.
    async fn ask(&self, awaited: &mut Option<Awaited>, mut timer: Pin<&mut Sleep>) -> Option<Question> {
        let _under_way = UnderWay::new();
        let mut question = Question::on_new_connection(Arc::clone(&self.target), BODY_IS_COMPLETE_AT);
        let begun = instant();
        timer.as_mut().reset(begun + self.timeout);
        let ruling = self.rule(&mut question, awaited, timer).await;
        match ruling {
            Ruling::Decided { exchange, late } => {
                let took = exchange.ended_at.saturating_duration_since(exchange.begun_at);
                self.learn(Learned { answer: exchange.answer(), took, late });
                None
            }
            Ruling::Silent { late } => {
                let took = instant().saturating_duration_since(begun);
                let (answer, question) = match question.progress().stage {
                    // The member was not asked: the names' service is out of order.
                    Stage::Resolving => (Answer::Fault { code: "DNS_TIMEOUT".into() }, None),
                    Stage::Connecting | Stage::Waiting | Stage::Reading => {
                        (Answer::Silent { by: Silence::Timeout }, Some(question))
                    }
                };
                self.learn(Learned { answer, took, late });
                question
            }
        }
    }

    async fn rule(&self, question: &mut Question, awaited: &mut Option<Awaited>, timer: Pin<&mut Sleep>) -> Ruling {
        let mut ruling = std::pin::pin!(question.by_timer(timer));
        while let Some(late) = awaited {
            tokio::select! {
                ruling = ruling.as_mut() => return ruling,
                exchange = &mut late.question => self.note_late(awaited, &exchange),
                () = sleep_until(late.until) => *awaited = None,
            }
        }
        ruling.await
    }

    fn learn(&self, learned: Learned) {
        self.shared.take(self.id, learned, self.clock.now_ms());
    }

    fn note_late(&self, awaited: &mut Option<Awaited>, exchange: &Exchange) {
        *awaited = None;
        let took = exchange.ended_at.saturating_duration_since(exchange.begun_at);
        self.shared.lock().note_late(self.id, exchange.answer(), took, self.clock.now_ms());
    }
}

thread_local! {
    static UNDER_WAY: Cell<u32> = const { Cell::new(0) };
}

/// How many probes are under way on this thread.
pub(super) fn under_way() -> u32 {
    UNDER_WAY.get()
}

/// Counts as a probe that is under way until it is dropped.
struct UnderWay;

impl UnderWay {
    fn new() -> Self {
        UNDER_WAY.set(UNDER_WAY.get().saturating_add(1));
        Self
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        UNDER_WAY.set(UNDER_WAY.get().saturating_sub(1));
    }
}

/// So long the answer to a question that was taken for silent is still worth knowing.
const AWAITED_FOR: Duration = Duration::from_secs(3);
