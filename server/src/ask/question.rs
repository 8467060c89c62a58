//! A question under way, and what it came to by a deadline.

use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::Instant;

use super::exchange::{Again, Connection, Exchange, converse, open};
use super::progress::{Facts, Progress};
use super::target::Target;
use crate::clock::instant;

/// A question under way. It begins when it is first polled, ends when it is decided, and is given up when dropped.
pub(crate) struct Question {
    facts: Arc<Facts>,
    asking: Pin<Box<dyn Future<Output = Exchange> + Send>>,
}

impl fmt::Debug for Question {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Question").field("progress", &self.progress()).finish_non_exhaustive()
    }
}

impl Question {
    /// Asks on a connection of its own. The answer is complete with its head and `enough_bytes` of its body;
    /// `u64::MAX`: with all of it.
    pub(crate) fn on_new_connection(target: Arc<Target>, enough_bytes: u64) -> Self {
        let facts = Arc::new(Facts::new());
        let shared = Arc::clone(&facts);
        let asking = Box::pin(async move {
            let begun_at = instant();
            match open(&target, Arc::clone(&shared)).await {
                Ok(connection) => ask(connection, &target, enough_bytes, begun_at).await,
                Err(trouble) => Exchange {
                    result: Err(trouble),
                    begun_at,
                    ended_at: instant(),
                    progress: shared.read(),
                    earlier_uses: 0,
                    connection: None,
                },
            }
        });
        Self { facts, asking }
    }

    /// Asks on a connection that was kept. Where that has been closed meanwhile, nothing is written and the question
    /// ends as cut with [`Progress::written_bytes`] 0. A peer that closes it just then makes that a cut as well, with
    /// what was written.
    pub(crate) fn on(connection: Connection, target: Arc<Target>, enough_bytes: u64) -> Self {
        let facts = Arc::clone(&connection.facts);
        facts.begin_again();
        let asking = Box::pin(async move {
            let begun_at = instant();
            ask(connection, &target, enough_bytes, begun_at).await
        });
        Self { facts, asking }
    }

    /// How far it has come.
    pub(crate) fn progress(&self) -> Progress {
        self.facts.read()
    }

    /// Awaits it until `deadline`. Where that passes, our own system is asked once more before it is ruled silent, so
    /// that what already lay there is taken for what it is, however late we came.
    pub(crate) async fn by(&mut self, deadline: Instant) -> Ruling {
        self.by_timer(pin!(tokio::time::sleep_until(deadline))).await
    }

    /// The same with a timer that is already set and may be set again.
    pub(crate) async fn by_timer(&mut self, mut timer: Pin<&mut tokio::time::Sleep>) -> Ruling {
        let decided = poll_fn(|cx| match Pin::new(&mut *self).poll(cx) {
            Poll::Ready(exchange) => Poll::Ready(Some(exchange)),
            Poll::Pending => timer.as_mut().poll(cx).map(|()| None),
        })
        .await;
        let deadline = timer.deadline();
        let exchange = match decided {
            Some(exchange) => Some(exchange),
            None => self.last_look().await,
        };
        match exchange {
            Some(exchange) => {
                let late = exchange.ended_at.saturating_duration_since(deadline);
                Ruling::Decided { exchange: Box::new(exchange), late }
            }
            None => Ruling::Silent { late: instant().saturating_duration_since(deadline) },
        }
    }

    async fn last_look(&mut self) -> Option<Exchange> {
        self.facts.set_last_look(true);
        let looked = poll_fn(|cx| match Pin::new(&mut *self).poll(cx) {
            Poll::Ready(exchange) => Poll::Ready(Some(exchange)),
            Poll::Pending => Poll::Ready(None),
        })
        .await;
        self.facts.set_last_look(false);
        looked
    }
}

impl Future for Question {
    type Output = Exchange;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Exchange> {
        self.asking.as_mut().poll(cx)
    }
}

/// What a question came to by its deadline.
#[derive(Debug)]
pub(crate) enum Ruling {
    /// It was decided.
    Decided {
        /// What it came to.
        exchange: Box<Exchange>,
        /// How late we came to the deadline with an answer that already lay in our system; zero where it was decided
        /// in time.
        late: Duration,
    },
    /// Nothing was there. The question may be awaited further.
    Silent {
        /// How late we came to the deadline.
        late: Duration,
    },
}

async fn ask(mut connection: Connection, target: &Target, enough_bytes: u64, begun_at: Instant) -> Exchange {
    let earlier_uses = connection.uses();
    let result = converse(&mut connection, target, enough_bytes).await;
    let ended_at = instant();
    let progress = connection.facts.read();
    match result {
        Ok((answered, again)) => Exchange {
            result: Ok(answered),
            begun_at,
            ended_at,
            progress,
            earlier_uses,
            connection: (again == Again::Yes).then_some(connection),
        },
        Err(trouble) => Exchange { result: Err(trouble), begun_at, ended_at, progress, earlier_uses, connection: None },
    }
}
