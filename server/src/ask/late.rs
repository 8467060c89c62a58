//! The answer to a question that was taken for silent: it is still awaited, one at a time and not for ever, and told
//! apart, since it changes nothing any more.

use std::fmt;
use std::future::Future;
use std::pin::pin;
use std::time::Duration;

use tokio::time::{Instant, sleep_until};

use super::exchange::Exchange;
use super::question::Question;
use crate::clock::instant;

/// What is still awaited of one peer, with what the one who asks wants to know of it again.
pub(crate) struct Late<T> {
    awaited: Option<Awaited<T>>,
}

struct Awaited<T> {
    question: Question,
    until: Instant,
    of: T,
}

impl<T> Late<T> {
    /// Nothing is awaited yet.
    pub(crate) const fn new() -> Self {
        Self { awaited: None }
    }

    /// Awaits this answer from now on, for up to 3 s; where an earlier one is awaited still, that one alone.
    pub(crate) fn keep(&mut self, question: Question, of: T) {
        if self.awaited.is_none() {
            self.awaited = Some(Awaited { question, until: instant() + AWAITED_FOR, of });
        }
    }

    /// Does something, and tells of the late answer where it comes meanwhile.
    pub(crate) async fn beside<F: Future>(&mut self, work: F, mut tell: impl FnMut(&T, &Exchange)) -> F::Output {
        let mut work = pin!(work);
        while let Some(Awaited { question, until, of }) = &mut self.awaited {
            tokio::select! {
                done = work.as_mut() => return done,
                exchange = question => tell(of, &exchange),
                () = sleep_until(*until) => {}
            }
            self.awaited = None;
        }
        work.await
    }
}

impl<T> fmt::Debug for Late<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let question = self.awaited.as_ref().map(|awaited| &awaited.question);
        f.debug_struct("Late").field("question", &question).finish_non_exhaustive()
    }
}

/// So long the answer to a question that was taken for silent is still worth knowing.
const AWAITED_FOR: Duration = Duration::from_secs(3);
