//! The prober: it asks every member in parallel, each at its own due times, decides who is in rotation, and reports
//! each member as an instance.
//!
//! It runs on a thread of its own, so that a busy daemon is no silent member, and the other way round. What it cannot
//! ask for want of something of its own moves nobody: it is told on `/rotation`, in metrics and in the log.

mod member;
mod report;
mod schedule;
mod state;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use greenlight_core::rotation::MemberId;
use greenlight_core::{Name, Row};
use hyper::header::HeaderName;
use tokio::sync::mpsc;
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::Instant;

use self::member::Asker;
use self::report::Reporter;
use self::schedule::{Schedule, jitter};
use self::state::Shared;
use crate::ask::{Target, Trust, Use};
use crate::cli::settings::Probe;
use crate::daemon::Handle;

/// The source as which members are reported.
pub(crate) const SOURCE: &str = "probe";

/// A running prober. It ends with the process.
#[derive(Debug)]
pub(crate) struct Prober {
    control: mpsc::Sender<Vec<Entry>>,
}

/// A member as it is configured, with all that asking it needs.
#[derive(Debug)]
struct Entry {
    probe: Probe,
    target: Arc<Target>,
}

impl Prober {
    /// Begins to ask.
    ///
    /// # Errors
    /// In words, where a member cannot be asked at all, or the system gives no thread.
    pub(crate) fn start(probes: &[Probe], handle: Handle) -> Result<Self, String> {
        let source = Name::of_source(SOURCE).map_err(|error| error.to_string())?;
        let entries = entries(probes)?;
        let (control, controls) = mpsc::channel(1);
        let shared = Arc::new(Shared::default());
        // There is one prober to a daemon.
        let _ = handle.shared.rotation.set(Arc::clone(&shared) as _);
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .max_blocking_threads(MAX_LOOKUPS)
            .on_thread_park(gather)
            .build()
            .map_err(|error| format!("the prober cannot be started: {error}"))?;
        let mut seed = [0; 2];
        // Without randomness all daemons ask at the same beat.
        let _ = getrandom::fill(&mut seed);
        let driver = Driver {
            reporter: Reporter { handle: handle.clone(), source, shared: Arc::clone(&shared) },
            shared,
            handle,
            tasks: JoinSet::new(),
            members: BTreeMap::new(),
            added: 0,
            start: u16::from_be_bytes(seed),
            epoch: crate::clock::instant(),
        };
        std::thread::Builder::new()
            .name("prober".into())
            .spawn(move || {
                let guard = AbortOnPanic;
                runtime.block_on(driver.run(entries, controls));
                std::mem::forget(guard);
            })
            .map_err(|error| format!("the prober cannot be started: {error}"))?;
        Ok(Self { control })
    }

    /// Asks these from now on. What is known of a member that is still asked the same stays; a probe that this cuts
    /// short counts as nothing.
    ///
    /// # Errors
    /// In words, where a member cannot be asked at all; then nothing changes.
    pub(crate) async fn set(&self, probes: &[Probe]) -> Result<(), String> {
        let entries = entries(probes)?;
        self.control.send(entries).await.map_err(|_| "the prober has ended".into())
    }
}

fn entries(probes: &[Probe]) -> Result<Vec<Entry>, String> {
    probes
        .iter()
        .map(|probe| {
            let trust = if probe.verify { Trust::Machine } else { Trust::Anybody };
            let in_words = |error: String| format!("probe {}: {error}", probe.name);
            let mut target = Target::new(&probe.url, Use::Once, trust).map_err(in_words)?;
            if let Some(header) = &probe.version_header {
                let name = HeaderName::from_bytes(header.as_bytes())
                    .map_err(|_| in_words(format!("{header:?} is no name of a header")))?;
                target = target.wanting(&name);
            }
            Ok(Entry { probe: probe.clone(), target: Arc::new(target) })
        })
        .collect()
}

/// What turns on the prober's thread.
#[derive(Debug)]
struct Driver {
    reporter: Reporter,
    shared: Arc<Shared>,
    handle: Handle,
    tasks: JoinSet<()>,
    members: BTreeMap<Name, Running>,
    added: u64,
    start: u16,
    epoch: Instant,
}

#[derive(Debug)]
struct Running {
    id: MemberId,
    probe: Probe,
    task: AbortHandle,
}

impl Driver {
    async fn run(mut self, entries: Vec<Entry>, mut controls: mpsc::Receiver<Vec<Entry>>) {
        self.apply(entries).await;
        let far = crate::clock::instant() + Duration::from_hours(1);
        let mut renew = std::pin::pin!(tokio::time::sleep_until(far));
        let mut is_due = false;
        loop {
            tokio::select! {
                entries = controls.recv() => match entries {
                    Some(entries) => self.apply(entries).await,
                    None => return,
                },
                () = self.shared.reports.notified() => {
                    if self.shared.lock().is_news() {
                        is_due = false;
                        self.reporter.report().await;
                    } else if !is_due {
                        is_due = true;
                        renew.as_mut().reset(crate::clock::instant() + RENEWALS_WAIT);
                    }
                }
                () = renew.as_mut(), if is_due => {
                    is_due = false;
                    self.reporter.report().await;
                }
                Some(ended) = self.tasks.join_next() => if ended.is_err_and(|error| error.is_panic()) { return drop(AbortOnPanic) },
            }
        }
    }

    /// Makes the members what is configured.
    async fn apply(&mut self, entries: Vec<Entry>) {
        let on_board = self.rows_on_board();
        let mut before = std::mem::take(&mut self.members);
        let mut order = Vec::new();
        for Entry { probe, target } in entries {
            let known = before.remove(&probe.name);
            let running = match known {
                Some(running) if running.probe == probe => running,
                Some(running) if running.probe.asks_the_same(&probe) => {
                    self.shared.lock().change(running.id, probe.clone());
                    if running.probe.every_ms == probe.every_ms && running.probe.timeout_ms == probe.timeout_ms {
                        Running { probe, ..running }
                    } else {
                        running.task.abort();
                        self.begin(running.id, probe, target)
                    }
                }
                other => {
                    if let Some(running) = other {
                        self.end(&running);
                    }
                    let row = on_board.get(&probe.name);
                    let id = self.shared.lock().add(probe.clone(), row, self.handle.shared.clock.now_ms());
                    self.begin(id, probe, target)
                }
            };
            order.push(running.id);
            self.members.insert(running.probe.name.clone(), running);
        }
        self.shared.lock().set_order(order);
        for running in before.values() {
            self.end(running);
        }
        for name in on_board.keys().filter(|name| !self.members.contains_key(*name)) {
            self.reporter.remove(name).await;
        }
    }

    fn begin(&mut self, id: MemberId, probe: Probe, target: Arc<Target>) -> Running {
        let every = Duration::from_millis(probe.every_ms);
        let asker = Asker {
            id,
            target,
            timeout: Duration::from_millis(probe.timeout_ms),
            schedule: Schedule::new(every, jitter(self.added, self.start)),
            epoch: self.epoch,
            shared: Arc::clone(&self.shared),
            clock: self.handle.shared.clock.clone(),
        };
        self.added = self.added.wrapping_add(1);
        Running { id, probe, task: self.tasks.spawn(asker.run()) }
    }

    fn end(&self, running: &Running) {
        running.task.abort();
        self.shared.lock().remove(running.id);
    }

    /// The rows of members that the board holds, from before a restart or a reload.
    fn rows_on_board(&self) -> BTreeMap<Name, Row> {
        let published = self.handle.shared.published.load();
        let ours = published.snapshot.rows().filter(|row| row.held.source == self.reporter.source);
        ours.map(|row| (row.name().clone(), row.held.row.clone())).collect()
    }
}

/// Waits a moment before the thread sleeps, where several probes are under way: what becomes ready meanwhile is seen
/// to in one go. To be woken for each single step of each probe would cost more than all that the probes do.
#[expect(clippy::disallowed_methods, reason = "it is no condition that is waited for, but that several come to hold")]
fn gather() {
    if member::under_way() >= WORTH_GATHERING {
        std::thread::sleep(GATHERED_FOR);
    }
}

/// A daemon whose prober has stopped would report nothing and say nothing.
struct AbortOnPanic;

impl Drop for AbortOnPanic {
    fn drop(&mut self) {
        tracing::error!("the prober has ended by a bug of ours: the process ends, so that it is started anew");
        std::process::abort();
    }
}

/// Fewer than this are not asked faster together.
const WORTH_GATHERING: u32 = 4;
/// A few of these pass before an answer is seen: little beside the shortest timeout that makes sense for so many.
const GATHERED_FOR: Duration = Duration::from_millis(1);
/// Members whose names are being looked up at the same moment; the others wait, which harms nobody.
const MAX_LOOKUPS: usize = 16;
/// Who vouches is told together for all that answered within so long; what is new is told at once.
const RENEWALS_WAIT: Duration = Duration::from_secs(1);
