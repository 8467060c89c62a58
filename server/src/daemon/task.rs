//! The board's task: the one writer. It drains its mailbox, applies all of it, makes one snapshot and one
//! commit, and tells the streams. If it ends, the process ends.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use greenlight_core::history::{Happening, record};
use greenlight_core::{Board, Effects, Horizon, Name, Refusal, Report, Snapshot, UnixSeconds};
use tokio::sync::{mpsc, oneshot};

use super::difference::Difference;
use super::keeper::Keeper;
use super::published::Published;
use super::renewals;
use super::shared::Shared;
use super::wire::{Change, PlainRow};
use crate::store::Mark;

/// What is asked of the board.
#[derive(Debug)]
pub(crate) enum Command {
    Report(Report, Reply),
    Remove {
        source: Name,
        name: Box<str>,
        reply: Reply,
    },
    RemoveSource {
        source: Name,
        reply: Reply,
    },
    SetHorizon(Horizon),
    /// Look at the clock now.
    Tick(oneshot::Sender<()>),
    /// Store everything and end.
    Stop(oneshot::Sender<()>),
    /// Our own bug, for the test that one ends the process.
    Panic,
}

pub(crate) type Reply = oneshot::Sender<Result<Accepted, Refusal>>;

/// What became of a report or a removal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accepted {
    /// The revision it led to.
    pub revision: u64,
    /// Rows whose stamp moved, and rows that came.
    pub changed: Vec<Name>,
    /// Rows that left.
    pub removed: Vec<Name>,
    /// Whether it survives a restart. False while the store is in trouble or keeps nothing.
    pub durable: bool,
}

/// The state that only this task touches.
pub(crate) struct Task {
    pub(crate) board: Board,
    pub(crate) keeper: Keeper,
    pub(crate) shared: Arc<Shared>,
    pub(crate) history_secs: u64,
    /// Up to when lapses are noted.
    pub(crate) watched: UnixSeconds,
    /// Who vouches, as the streams were last told.
    pub(crate) told: Snapshot,
    pub(crate) due: Due,
}

/// When what recurs is due, in milliseconds of the daemon's time.
#[derive(Debug, Default)]
pub(crate) struct Due {
    flush_ms: u64,
    beat_ms: u64,
    renew_ms: u64,
    renewals_wait: bool,
    said_ready: Option<bool>,
}

enum Turn {
    GoOn,
    Stop(oneshot::Sender<()>),
}

impl Task {
    /// Runs until it is told to stop or everybody who could ask is gone.
    pub(crate) async fn run(mut self, mut mailbox: mpsc::Receiver<Command>) {
        let mut commands = Vec::new();
        loop {
            let wait = Duration::from_millis(self.wait_ms());
            tokio::select! {
                count = mailbox.recv_many(&mut commands, MAX_BATCH) => if count == 0 { return },
                () = tokio::time::sleep(wait) => {}
            }
            match self.turn(commands.drain(..)) {
                Turn::GoOn => {}
                Turn::Stop(done) => {
                    // Whoever waits may open the store at once.
                    drop(self);
                    // Whoever asked has gone: nobody to tell.
                    let _ = done.send(());
                    return;
                }
            }
        }
    }

    fn turn(&mut self, commands: impl Iterator<Item = Command>) -> Turn {
        let now = self.shared.clock.now();
        self.shared.turned_ms.store(self.shared.clock.now_ms(), Ordering::Relaxed);
        self.note_time(now);
        let mut replies = Vec::new();
        let mut ticks = Vec::new();
        let mut stop = None;
        let mut horizon = self.shared.published.load().horizon;
        for command in commands {
            match command {
                Command::Report(report, reply) => {
                    let source = report.source.clone();
                    let result = self.board.report(report, now);
                    replies.push((reply, self.note(&source, result, now)));
                }
                Command::Remove { source, name, reply } => {
                    let result = self.board.remove(&source, &name, now);
                    replies.push((reply, self.note(&source, result, now)));
                }
                Command::RemoveSource { source, reply } => {
                    let effects = self.board.remove_source(&source, now);
                    replies.push((reply, self.note(&source, Ok(effects), now)));
                }
                Command::SetHorizon(new) => horizon = new,
                Command::Tick(done) => ticks.push(done),
                Command::Stop(done) => stop = Some(done),
                #[expect(clippy::panic, reason = "this is what it is for")]
                Command::Panic => panic!("asked to"),
            }
        }
        let changed = self.publish(horizon, now);
        if stop.is_some() {
            self.keeper.try_a_last_time(now);
        }
        self.store(changed || stop.is_some(), now);
        self.tell_renewals();
        self.beat();
        let (durable, revision) = {
            let published = self.shared.published.load();
            (published.store.durable, published.revision)
        };
        for (reply, result) in replies {
            let accepted = result.map(|effects| Accepted {
                revision,
                changed: effects.changed,
                removed: effects.removed,
                durable,
            });
            // A client that went away reads no answer.
            let _ = reply.send(accepted);
        }
        for done in ticks {
            let _ = done.send(());
        }
        stop.map_or(Turn::GoOn, Turn::Stop)
    }

    /// Notes what a report or a removal did, for history.
    fn note(&mut self, source: &Name, result: Result<Effects, Refusal>, now: UnixSeconds) -> Result<Effects, Refusal> {
        let effects = match result {
            Ok(effects) => {
                self.shared.metrics.accepted(source);
                effects
            }
            Err(refusal) => {
                self.shared.metrics.refused(source);
                return Err(refusal);
            }
        };
        for event in record::of_effects(source, &effects, &self.board, now) {
            if let Happening::CameBack { source, names } = &event.what {
                tracing::info!(%source, rows = names.len(), "source vouches again");
            }
            self.keeper.note(event);
        }
        self.keeper.note_memory(&effects.removed, &effects.forgotten);
        Ok(effects)
    }

    /// Notes what time alone did, for history.
    fn note_time(&mut self, now: UnixSeconds) {
        let published = self.shared.published.load();
        for event in record::of_time(&published.snapshot, self.watched, now) {
            if let Happening::Resumed { watched_until_unix } = &event.what {
                tracing::warn!(
                    since_unix = watched_until_unix.as_secs(),
                    "nothing was done for a while: this process was stopped, or its machine slept"
                );
            }
            if let Happening::Lapsed { source, names, .. } = &event.what {
                tracing::warn!(%source, rows = names.len(), at_unix = event.at_unix.as_secs(), "source has lapsed: nobody vouches for its rows");
            }
            self.keeper.note(event);
        }
        self.watched = now;
    }

    /// Swaps in what readers see. Tells whether there is something to store.
    fn publish(&mut self, horizon: Horizon, now: UnixSeconds) -> bool {
        let before = self.shared.published.load_full();
        let snapshot = self.board.snapshot();
        let difference = Difference::between(&before.snapshot, &snapshot);
        let revision = before.revision + u64::from(difference.moves_the_revision());
        let ready = snapshot.verdict(horizon, now).is_ready();
        let next_flip = snapshot.next_flip(horizon, now);
        let ready_since = if ready == before.ready {
            before.ready_since
        } else {
            Some(before.next_flip.filter(|(at, _)| *at <= now).map_or(now, |(at, _)| at))
        };
        if ready != before.ready {
            let verdict = snapshot.verdict(horizon, now);
            tracing::info!(ready, reason = verdict.reason().as_str(), %verdict, "the verdict changed");
        }
        self.shared.published.store(Arc::new(Published {
            snapshot: snapshot.clone(),
            revision,
            horizon,
            sources: Arc::new(self.board.sources().map(|(name, known)| (name.clone(), known.last_report)).collect()),
            reported_since_start: self.board.has_been_reported_to(),
            ready,
            ready_since,
            next_flip,
            store: before.store.clone(),
            unrecorded_since: before.unrecorded_since,
        }));
        if difference.moves_the_revision() {
            let change = Change {
                revision,
                id: self.shared.hub.id(revision).to_string(),
                rows: difference.rows.iter().map(|(held, vouch)| PlainRow { held, vouch }).collect(),
                removed: difference.removed_names().collect(),
            };
            self.shared.hub.change(revision, &change);
        }
        difference.moves_the_revision() || self.keeper.has_notes()
    }

    fn store(&mut self, changed: bool, now: UnixSeconds) {
        let now_ms = self.shared.clock.now_ms();
        let retry = self.keeper.retry_at().is_some_and(|at| at <= now);
        if !(changed || retry || now_ms >= self.due.flush_ms) {
            return;
        }
        self.due.flush_ms = now_ms + FLUSH_EVERY_MS;
        let mark = Mark { at_unix: now, drift_secs: self.shared.clock.drift_secs() };
        let published = self.shared.published.load_full();
        self.keeper.flush(&self.board, &published.snapshot, mark, now.earlier(self.history_secs));
        let (store, unrecorded_since) = (self.keeper.health(), self.keeper.unrecorded_since());
        if (&store, unrecorded_since) != (&published.store, published.unrecorded_since) {
            self.shared.published.store(Arc::new(Published { store, unrecorded_since, ..(*published).clone() }));
        }
    }

    fn tell_renewals(&mut self) {
        let now_ms = self.shared.clock.now_ms();
        // Too early to tell: then it is not worth looking either.
        self.due.renewals_wait = now_ms < self.due.renew_ms;
        if self.due.renewals_wait {
            return;
        }
        let published = self.shared.published.load();
        if let Some(renew) = renewals::since(&self.told, &published.snapshot) {
            self.shared.hub.say(super::hub::frame("renew", None, &renew));
            self.told = published.snapshot.clone();
            self.due.renew_ms = now_ms + RENEW_EVERY_MS;
        }
    }

    /// Says the verdict every few seconds, and at once when it flips.
    fn beat(&mut self) {
        let now_ms = self.shared.clock.now_ms();
        let beat = self.shared.beat();
        if self.due.said_ready != Some(beat.ready) || now_ms >= self.due.beat_ms {
            self.due.said_ready = Some(beat.ready);
            self.due.beat_ms = now_ms + BEAT_EVERY_MS;
            self.shared.hub.say(super::hub::frame("beat", None, &beat));
        }
    }

    /// How long until something is due even if nobody asks anything.
    fn wait_ms(&self) -> u64 {
        let now_ms = self.shared.clock.now_ms();
        let now = self.shared.clock.now();
        let published = self.shared.published.load();
        let of_second = |moment: UnixSeconds| moment.as_secs() * 1000;
        [
            Some(self.due.flush_ms),
            Some(self.due.beat_ms),
            published.next_flip.map(|(at, _)| of_second(at)).filter(|at| *at > now_ms),
            published.snapshot.next_lapse(now).map(of_second),
            self.keeper.retry_at().map(of_second),
            self.due.renewals_wait.then_some(self.due.renew_ms),
        ]
        .into_iter()
        .flatten()
        .min()
        .map_or(BEAT_EVERY_MS, |at| at.saturating_sub(now_ms).clamp(1, BEAT_EVERY_MS))
    }
}

/// So many commands are applied together, before readers and store see any of them.
const MAX_BATCH: usize = 256;
/// A sign of life is stored so often, and who vouches with it.
const FLUSH_EVERY_MS: u64 = 10_000;
/// A stream hears so often that the daemon lives.
const BEAT_EVERY_MS: u64 = 5_000;
/// Streams hear of heartbeats at most so often.
const RENEW_EVERY_MS: u64 = 1_000;
