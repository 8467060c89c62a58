//! The task of one member: it asks at each due time, and decides what the answer was.

use std::cell::Cell;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use greenlight_core::rotation::{Answer, MemberId, Silence};
use tokio::time::{Instant, Sleep, sleep_until};

use super::schedule::Schedule;
use super::state::{Learned, Shared};
use crate::ask::{BODY_IS_COMPLETE_AT, Exchange, Late, Question, Ruling, Stage, Target};
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

impl Asker {
    /// Asks until it is dropped. A probe that is then under way counts as nothing.
    pub(super) async fn run(self) {
        let begun = instant();
        let mut timer = Box::pin(sleep_until(begun));
        let mut late = Late::new();
        let second = self.epoch + self.schedule.second_after(begun.saturating_duration_since(self.epoch));
        loop {
            late.beside(timer.as_mut(), |(), exchange| self.note_late(exchange)).await;
            self.ask(&mut late, timer.as_mut()).await;
            let next = self.schedule.next_after(instant().saturating_duration_since(self.epoch));
            timer.as_mut().reset(second.max(self.epoch + next));
        }
    }

    /// Asks once.
    async fn ask(&self, late: &mut Late<()>, mut timer: Pin<&mut Sleep>) {
        let _under_way = UnderWay::new();
        let mut question = Question::on_new_connection(Arc::clone(&self.target), BODY_IS_COMPLETE_AT);
        let begun = instant();
        timer.as_mut().reset(begun + self.timeout);
        let ruling = late.beside(question.by_timer(timer), |(), exchange| self.note_late(exchange)).await;
        match ruling {
            Ruling::Decided { exchange, late } => {
                let took = exchange.ended_at.saturating_duration_since(exchange.begun_at);
                self.learn(Learned { answer: exchange.answer(), took, late });
            }
            Ruling::Silent { late: lateness } => {
                let took = instant().saturating_duration_since(begun);
                let answer = match question.progress().stage {
                    // The member was not asked: the names' service is out of order.
                    Stage::Resolving => Answer::Fault { code: "DNS_TIMEOUT".into() },
                    Stage::Connecting | Stage::Waiting | Stage::Reading => {
                        late.keep(question, ());
                        Answer::Silent { by: Silence::Timeout }
                    }
                };
                self.learn(Learned { answer, took, late: lateness });
            }
        }
    }

    fn learn(&self, learned: Learned) {
        self.shared.take(self.id, learned, self.clock.now_ms());
    }

    fn note_late(&self, exchange: &Exchange) {
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
