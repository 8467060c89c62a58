//! The daemon without its wire: one task owns the board, everybody else sends messages and reads snapshots.

mod difference;
pub(crate) mod hub;
mod keeper;
mod pending;
pub(crate) mod published;
pub(crate) mod renewals;
pub(crate) mod restored;
pub(crate) mod shared;
pub(crate) mod task;
pub(crate) mod wire;
mod writer;

use std::fmt;
use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock};

use arc_swap::ArcSwap;
use greenlight_core::{Extent, GoodFor, Horizon, Name, NameError, Refusal, Report, ReportedRow};
use tokio::sync::{mpsc, oneshot};

pub use self::task::Accepted;

use self::hub::Hub;
use self::published::Published;
use self::shared::Shared;
use self::task::{Command, Reply, Task};
use crate::clock::Clock;
use crate::metrics::Metrics;
use crate::store::{EventReader, MemoryStore, Store, StoreError};

/// How a daemon is to be run. Everything has a default.
pub struct Builder {
    clock: Clock,
    store: Box<dyn Store>,
    stale_after: Horizon,
    good_for: GoodFor,
    history_secs: u64,
    exit_when_the_task_ends: bool,
}

impl fmt::Debug for Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder").field("stale_after", &self.stale_after).finish_non_exhaustive()
    }
}

impl Builder {
    /// The clock. Default: the system's.
    #[must_use]
    pub fn clock(mut self, clock: Clock) -> Self {
        self.clock = clock;
        self
    }

    /// Where rows are kept. Default: nowhere, as `--data memory`.
    #[must_use]
    pub fn store(mut self, store: impl Store + 'static) -> Self {
        self.store = Box::new(store);
        self
    }

    /// How long a change counts. Default: one hour.
    #[must_use]
    pub fn stale_after(mut self, horizon: Horizon) -> Self {
        self.stale_after = horizon;
        self
    }

    /// For how long a report is good that does not say so itself. Default: ten minutes.
    #[must_use]
    pub fn good_for(mut self, good_for: GoodFor) -> Self {
        self.good_for = good_for;
        self
    }

    /// For how long history is kept, in seconds. Default: 30 days.
    #[must_use]
    pub fn history_secs(mut self, secs: u64) -> Self {
        self.history_secs = secs;
        self
    }

    /// The whole process ends if the board's task does: for a daemon of its own. Default: only its answers end.
    #[must_use]
    pub fn exit_when_the_task_ends(mut self) -> Self {
        self.exit_when_the_task_ends = true;
        self
    }

    /// Loads what was kept and starts the board's task on a thread of its own, and the store on another: one that
    /// hangs holds up neither reports nor the verdict for more than a few seconds.
    ///
    /// # Errors
    /// Where the store cannot be read, or the system gives no thread.
    pub fn start(self) -> Result<Daemon, StoreError> {
        let Self { clock, mut store, stale_after, good_for, history_secs, exit_when_the_task_ends } = self;
        let events = store.events();
        let restored = restored::restore(store.load()?, &clock);
        let boot = boot_word();
        let snapshot = restored.board.snapshot();
        let started = clock.started();
        let ready = snapshot.verdict(stale_after, started).is_ready();
        let no_thread = |error: std::io::Error| StoreError::Io(error.to_string());
        let (keeper, health) = restored.store(store, clock.now().earlier(history_secs)).map_err(no_thread)?;
        let shared = Arc::new(Shared {
            published: ArcSwap::from_pointee(Published {
                revision: 0,
                horizon: stale_after,
                sources: Arc::default(),
                reported_since_start: false,
                ready,
                // Before it nobody watched: neither ready nor not.
                ready_since: Some(started),
                next_flip: snapshot.next_flip(stale_after, started),
                store: health,
                unrecorded_since: keeper.0.unrecorded_since(),
                snapshot: snapshot.clone(),
            }),
            hub: Hub::new(boot),
            metrics: Metrics::default(),
            turned_ms: clock.now_ms().into(),
            shutting_down: false.into(),
            rotation: OnceLock::new(),
            clock: clock.clone(),
        });
        let task = Task {
            board: keeper.1,
            keeper: keeper.0,
            shared: Arc::clone(&shared),
            history_secs,
            watched: started,
            told: snapshot,
            due: task::Due::default(),
        };
        let (mailbox, inbox) = mpsc::channel(MAILBOX);
        spawn_task(task, inbox, exit_when_the_task_ends).map_err(no_thread)?;
        Ok(Daemon { handle: Handle { shared, mailbox, good_for, events } })
    }
}

/// A running daemon: a [`Handle`] to publish in process, and with [`Daemon::router`] its routes.
#[derive(Clone, Debug)]
pub struct Daemon {
    handle: Handle,
}

impl Daemon {
    /// How to run one.
    pub fn builder() -> Builder {
        Builder {
            clock: Clock::system(),
            store: Box::new(MemoryStore),
            stale_after: Horizon::DEFAULT,
            good_for: GoodFor::Seconds(600),
            history_secs: 30 * 24 * 3600,
            exit_when_the_task_ends: false,
        }
    }

    /// What to publish with.
    pub fn handle(&self) -> Handle {
        self.handle.clone()
    }
}

/// Publishes in process, and reads. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Handle {
    pub(crate) shared: Arc<Shared>,
    mailbox: mpsc::Sender<Command>,
    pub(crate) good_for: GoodFor,
    /// What happened, where the store keeps it.
    pub(crate) events: Option<EventReader>,
}

impl Handle {
    /// The full report of a source in this process, good until the next one or until this process restarts. Rows it
    /// no longer names are removed.
    ///
    /// # Errors
    /// A [`Refusal`] with its reasons, in [`PublishError::Refused`]; the board is then as it was.
    pub async fn publish(&self, source: &str, rows: Vec<ReportedRow>) -> Result<Accepted, PublishError> {
        let source = Name::of_source(source)?;
        self.report(Report { source, extent: Extent::Full, rows, good_for: GoodFor::UntilRestart, sequence: None })
            .await
    }

    /// Any report.
    ///
    /// # Errors
    /// As [`Handle::publish`].
    pub async fn report(&self, report: Report) -> Result<Accepted, PublishError> {
        self.ask(|reply| Command::Report(report, reply)).await
    }

    /// Removes one row of a source; it is remembered for 30 days.
    ///
    /// # Errors
    /// As [`Handle::publish`]: the row is unknown, or another source holds it.
    pub async fn remove(&self, source: Name, name: &str) -> Result<Accepted, PublishError> {
        self.ask(|reply| Command::Remove { source, name: name.into(), reply }).await
    }

    /// Removes all rows of a source.
    ///
    /// # Errors
    /// Only [`PublishError::Ended`].
    pub async fn remove_source(&self, source: Name) -> Result<Accepted, PublishError> {
        self.ask(|reply| Command::RemoveSource { source, reply }).await
    }

    /// Judges by another horizon from now on.
    ///
    /// # Errors
    /// Only [`PublishError::Ended`].
    pub async fn set_stale_after(&self, horizon: Horizon) -> Result<(), PublishError> {
        self.mailbox.send(Command::SetHorizon(horizon)).await.map_err(|_| PublishError::Ended)
    }

    /// Has the task look at the clock now, and waits until it has. A daemon does so by itself; a test that moves
    /// the time by hand asks for it.
    ///
    /// # Errors
    /// Only [`PublishError::Ended`].
    pub async fn tick(&self) -> Result<(), PublishError> {
        let (done, answer) = oneshot::channel();
        self.mailbox.send(Command::Tick(done)).await.map_err(|_| PublishError::Ended)?;
        answer.await.map_err(|_| PublishError::Ended)
    }

    /// From now on the daemon is not ready, and event streams end.
    pub fn begin_shutdown(&self) {
        self.shared.shutting_down.store(true, Ordering::Release);
        self.shared.hub.say(hub::frame("beat", None, &self.shared.beat()));
        self.shared.hub.close();
    }

    /// Stores what is not stored yet and ends the board's task.
    pub async fn stop(&self) {
        let (done, answer) = oneshot::channel();
        if self.mailbox.send(Command::Stop(done)).await.is_ok() {
            // An error means that the task has ended already.
            let _ = answer.await;
        }
    }

    /// Makes the board's task panic: for the test that this ends the process.
    #[doc(hidden)]
    pub async fn panic_for_test(&self) {
        let _ = self.mailbox.send(Command::Panic).await;
    }

    async fn ask(&self, command: impl FnOnce(Reply) -> Command) -> Result<Accepted, PublishError> {
        let (reply, answer) = oneshot::channel();
        self.mailbox.send(command(reply)).await.map_err(|_| PublishError::Ended)?;
        Ok(answer.await.map_err(|_| PublishError::Ended)??)
    }
}

/// Why nothing was published.
#[derive(Debug, thiserror::Error)]
pub enum PublishError {
    /// The source's name breaks the rule.
    #[error("source: {0}")]
    Source(#[from] NameError),
    /// The board refused it, with its reasons.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The daemon is shutting down: its board's task has ended.
    #[error("the daemon is shutting down")]
    Ended,
}

/// A commit may hold the task for a moment; so many callers wait in line before they wait outside it.
const MAILBOX: usize = 1024;

fn spawn_task(task: Task, inbox: mpsc::Receiver<Command>, exits: bool) -> std::io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
    std::thread::Builder::new().name("board".into()).spawn(move || {
        let guard = exits.then(|| AbortOnPanic);
        runtime.block_on(task.run(inbox));
        std::mem::forget(guard);
    })?;
    Ok(())
}

/// A daemon whose board has stopped would answer from what was true once.
struct AbortOnPanic;

impl Drop for AbortOnPanic {
    fn drop(&mut self) {
        tracing::error!("the board's task has ended by a bug of ours: the process ends, so that it is started anew");
        std::process::abort();
    }
}

/// Four letters and digits that are another after each start.
fn boot_word() -> String {
    let mut random = [0_u8; 4];
    // Without randomness two starts may share a word, and a client resumes where it should have been reset.
    if getrandom::fill(&mut random).is_err() {
        random = std::process::id().to_be_bytes();
    }
    random.iter().map(|byte| char::from(b"abcdefghijkmnpqrstuvwxyz23456789"[usize::from(byte % 32)])).collect()
}
