//! The roll, step by step: old joins, the stream begins, new joins, old is told once, drains and exits, and the stream
//! goes on for a tail.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use greenlight_core::rehearsal::{Door, Ending, Event, Unfinished};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet, LocalSet, spawn_local};
use tokio::time::{Instant, timeout};

use super::bug::{Bug, strike};
use super::control::{Echo, control};
use super::guard::Guard;
use super::pace::Pacer;
use super::plan::{Launch, NEW, OLD, Prepared};
use super::priority::FIRST;
use super::prober::probe;
use super::process::Process;
use super::recorder::Handle;
use super::shared::{Shared, Until};
use super::since::{Since, micros};
use super::stream::{Stream, drive, due_us, leave_out};
use super::tries::{look, try_door};
use crate::ask::{Question, Ruling};
use crate::clock::instant;

/// A roll that is over.
#[derive(Debug)]
pub(super) struct Ended {
    pub(super) ticks: u64,
    pub(super) how: Ending,
}

/// Plays the roll in this thread.
///
/// # Errors
/// In words, where the old one gives nothing to measure by.
pub(super) fn play(
    prepared: Prepared,
    guard: &Guard,
    since: Since,
    record: Handle,
    stopped: watch::Receiver<bool>,
) -> Result<Ended, String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| format!("no runtime can be had: {error}"))?;
    let shared = Rc::new(Shared::new(&prepared.header, since, record));
    let host = prepared.launches.first().map_or(IpAddr::V4(Ipv4Addr::LOCALHOST), |launch| launch.address.ip());
    let echo = Echo::start(host).map_err(|error| format!("the echo server cannot be started: {error}"))?;
    // All threads that begin from here on measure.
    FIRST.apply();
    let local = LocalSet::new();
    local.block_on(&runtime, async {
        let mut roll = Roll {
            shared,
            echo,
            launches: prepared.launches,
            descriptors: prepared.descriptors,
            guard,
            processes: Vec::new(),
            tasks: JoinSet::new(),
            streaming: None,
            stopped,
            bug: prepared.bug,
        };
        let over = roll.steps().await;
        roll.finish(over).await
    })
}

struct Roll<'a> {
    shared: Rc<Shared>,
    echo: Echo,
    launches: Vec<Launch>,
    descriptors: u64,
    guard: &'a Guard,
    /// Those that were started, in order.
    processes: Vec<Process>,
    /// Probes, waits and the control lane.
    tasks: JoinSet<()>,
    streaming: Option<(Pacer, JoinHandle<()>)>,
    stopped: watch::Receiver<bool>,
    bug: Option<Bug>,
}

/// Why a roll is over before its last step.
enum Over {
    Unfinished(Unfinished, usize),
    Stopped,
    Failed(String),
    /// What the old one does is no measure for anything.
    Unmeasurable(String),
}

impl Roll<'_> {
    async fn steps(&mut self) -> Result<(), Over> {
        let options = self.shared.options.clone();
        self.shared.record.phase("old starts");
        self.start(OLD)?;
        self.joins(OLD).await?;
        let expected = self.measure().await?;
        // The first tick is due when the stream sees the join.
        self.pass(micros(options.lag_us)).await?;
        self.begin(expected)?;
        self.shared.record.phase("old alone");
        self.pass(micros(options.warm_up_us)).await?;
        strike(self.bug, Bug::Engine);
        self.shared.record.phase("new starts");
        self.start(NEW)?;
        self.joins(NEW).await?;
        self.tell_old()?;
        self.shared.record.phase("old drains");
        let limit = instant() + micros(options.drain_timeout_us);
        // One that has exited and still answers was not the server, or something else took its address.
        match self.until(limit, |shared| shared.has_exited(OLD) && !shared.is_in(OLD)).await? {
            Met::Yes => {}
            Met::TimeUp => return Err(Over::Unfinished(Unfinished::NeverExited, OLD)),
        }
        // Its traffic ends with its leave and the lag; the tail begins there.
        self.shared.record.phase("new alone");
        self.pass_anyway(micros(options.lag_us)).await?;
        self.pass_anyway(micros(options.tail_us)).await
    }

    /// Starts a process, and what watches it.
    fn start(&mut self, which: usize) -> Result<(), Over> {
        let Some(launch) = self.launches.get(which) else { return Ok(()) };
        let failed = |error| Over::Failed(format!("{} cannot be started: {error}", launch.name));
        let at_us = self.shared.since.now_us();
        let process = Process::start(launch, self.guard, self.descriptors).map_err(failed)?;
        self.shared.record.note(Event::Started { at_us, process: launch.name.into(), pid: process.id() });
        let end = process.end().map_err(failed)?;
        let pid = process.id();
        self.processes.push(process);
        let shared = Rc::clone(&self.shared);
        self.tasks.spawn_local(async move {
            if let Ok(end) = end.await {
                shared.exited(which, &end.exit, end.at);
            }
        });
        let target = Arc::clone(&launch.probe);
        self.tasks.spawn_local(probe(Rc::clone(&self.shared), which, pid, target, self.echo.address()));
        Ok(())
    }

    /// Waits until a process has joined.
    async fn joins(&mut self, which: usize) -> Result<(), Over> {
        let limit = instant() + micros(self.shared.options.start_timeout_us);
        let is_decided =
            move |shared: &Shared| shared.has_joined(which) || shared.has_exited(which) || shared.has_exited(OLD);
        let met = self.until(limit, is_decided).await?;
        if self.shared.has_joined(which) && !self.shared.has_exited(OLD) {
            return Ok(());
        }
        match met {
            Met::Yes if self.shared.has_exited(OLD) => Err(Over::Unfinished(Unfinished::EndedEarly, OLD)),
            Met::Yes => Err(Over::Unfinished(Unfinished::EndedEarly, which)),
            Met::TimeUp => Err(Over::Unfinished(Unfinished::NeverReady, which)),
        }
    }

    /// What the old one answers: the measure of everything that follows. One that is ready before it listens is
    /// waited for.
    async fn measure(&mut self) -> Result<u16, Over> {
        let expected = match self.shared.options.expect {
            Some(status) => status,
            None => self.answer_of_old().await?,
        };
        let at_us = self.shared.since.now_us();
        self.shared.record.note(Event::Expected { at_us, status: expected });
        Ok(expected)
    }

    async fn answer_of_old(&mut self) -> Result<u16, Over> {
        let old = self.launches.get(OLD).map(|launch| (Arc::clone(&launch.fresh), launch.url.clone()));
        let Some((target, url)) = old else { return Ok(200) };
        let limit = instant() + micros(self.shared.options.start_timeout_us);
        loop {
            let mut question = Question::on_new_connection(Arc::clone(&target), u64::MAX);
            let patience = limit.min(instant() + micros(self.shared.options.give_up_us));
            let ruling = tokio::select! {
                ruling = question.by(patience) => ruling,
                () = asked_to_stop(&mut self.stopped) => return Err(Over::Stopped),
            };
            let why = match ruling {
                Ruling::Decided { exchange, .. } => match exchange.result {
                    Ok(answered) if answered.status < 500 => return Ok(answered.status),
                    Ok(answered) => format!("it answers {}", answered.status),
                    Err(trouble) => trouble.code().to_owned(),
                },
                Ruling::Silent { .. } => "no answer".to_owned(),
            };
            if instant() >= limit {
                return Err(Over::Unmeasurable(format!(
                    "old is ready, but gives nothing to measure by at {url} ({why}): give another --path, or the status \
                     that is fine by --expect"
                )));
            }
            self.pass(BETWEEN_TRIES).await?;
        }
    }

    /// Begins the stream and the control lane.
    fn begin(&mut self, expected: u16) -> Result<(), Over> {
        let shared = Rc::clone(&self.shared);
        let first_us = shared.since.ceil_us(instant());
        shared.record.first_due(first_us);
        let (record, since, every_us) = (shared.record.clone(), shared.since, shared.options.every_us);
        let left_out = move |tick| leave_out(&record, tick, due_us(first_us, every_us, tick), since.now_us());
        let (pacer, dues) = Pacer::start(since.moment(first_us), micros(every_us), left_out)
            .map_err(|error| Over::Failed(format!("no thread can be had: {error}")))?;
        let stream = Rc::new(Stream::new(Rc::clone(&shared), &self.launches, first_us, expected, self.bug));
        self.streaming = Some((pacer, spawn_local(drive(stream, dues))));
        self.tasks.spawn_local(control(shared, self.echo.address()));
        Ok(())
    }

    /// The one SIGTERM.
    fn tell_old(&mut self) -> Result<(), Over> {
        let (Some(process), Some(launch)) = (self.processes.get(OLD), self.launches.get(OLD)) else { return Ok(()) };
        let at_us = self.shared.since.now_us();
        if process.exit().is_some() || process.terminate().is_err() {
            return Err(Over::Unfinished(Unfinished::EndedEarly, OLD));
        }
        self.shared.record.note(Event::Sigterm { at_us, process: launch.name.into() });
        let (shared, address, mut never) = (Rc::clone(&self.shared), launch.address, self.stopped.clone());
        self.tasks.spawn_local(async move {
            let limit = instant() + FOR_EVER;
            if shared.until(&mut never, limit, |shared| !shared.is_in(OLD)).await == Until::Met {
                try_door(shared, OLD, address).await;
            }
        });
        Ok(())
    }

    /// Lets time pass, while nothing may end.
    async fn pass(&mut self, how_long: Duration) -> Result<(), Over> {
        let limit = instant() + how_long;
        match self.until(limit, |shared| shared.has_exited(OLD)).await? {
            Met::TimeUp => Ok(()),
            Met::Yes => Err(Over::Unfinished(Unfinished::EndedEarly, OLD)),
        }
    }

    /// Lets time pass, whatever ends.
    async fn pass_anyway(&mut self, how_long: Duration) -> Result<(), Over> {
        self.until(instant() + how_long, |_| false).await.map(|_| ())
    }

    async fn until(&mut self, limit: Instant, is_so: impl Fn(&Shared) -> bool) -> Result<Met, Over> {
        match self.shared.until(&mut self.stopped, limit, is_so).await {
            Until::Met => Ok(Met::Yes),
            Until::TimeUp => Ok(Met::TimeUp),
            Until::Stopped => Err(Over::Stopped),
            Until::Full => Err(Over::Failed("the record is as long as one can be".into())),
        }
    }

    /// Ends the stream, kills what still runs, and says how it was.
    async fn finish(mut self, mut over: Result<(), Over>) -> Result<Ended, String> {
        self.shared.record.phase("it ends");
        let ticks = self.end_stream(&mut over).await;
        if let Err(Over::Unfinished(Unfinished::NeverReady, which)) = over {
            self.look_elsewhere(which).await;
        }
        self.tasks.abort_all();
        for (which, process) in self.processes.iter().enumerate() {
            let at_us = self.shared.since.now_us();
            if process.kill() {
                self.shared.record.note(Event::Killed { at_us, process: self.shared.name(which) });
            } else if let Some(exit) = process.exit() {
                self.shared.exited(which, &exit, instant());
            }
        }
        let how = match over {
            Ok(()) => Ending::Complete,
            Err(Over::Unfinished(because, which)) => {
                self.quote(because, which);
                Ending::Incomplete { because, process: self.shared.name(which) }
            }
            Err(Over::Stopped) => Ending::Interrupted,
            Err(Over::Failed(because)) => Ending::Failed { because: because.into() },
            Err(Over::Unmeasurable(words)) => return Err(words),
        };
        Ok(Ended { ticks, how })
    }

    /// Waits for what is under way, unless somebody asks to stop, and tells how many ticks were due.
    async fn end_stream(&mut self, over: &mut Result<(), Over>) -> u64 {
        let Some((pacer, driving)) = self.streaming.take() else { return 0 };
        let ticks = pacer.stop();
        let given_up = micros(self.shared.options.give_up_us) + STOPPED_WITHIN;
        let aborter = driving.abort_handle();
        let mut ending = pin!(timeout(given_up, driving));
        if !matches!(over, Err(Over::Stopped)) {
            tokio::select! {
                _ = &mut ending => {
                    // Where it took too long.
                    aborter.abort();
                    return ticks;
                }
                () = asked_to_stop(&mut self.stopped) => *over = Err(Over::Stopped),
            }
        }
        // Whatever has not ended by then has no outcome.
        let _ = timeout(STOPPED_WITHIN, ending).await;
        aborter.abort();
        ticks
    }

    /// The end of what a process wrote that never became ready.
    fn quote(&self, because: Unfinished, which: usize) {
        match because {
            Unfinished::NeverReady | Unfinished::EndedEarly => {}
            Unfinished::NeverExited => return,
        }
        if let Some(process) = self.processes.get(which) {
            let at_us = self.shared.since.now_us();
            let text = process.last_words();
            if !text.is_empty() {
                self.shared.record.note(Event::LastWords {
                    at_us,
                    process: self.shared.name(which),
                    text: text.into(),
                });
            }
        }
    }

    /// Whether one that never became ready listens on the other local address.
    async fn look_elsewhere(&self, which: usize) {
        let Some(asked) = self.launches.get(which).map(|launch| launch.ready_address) else { return };
        let other: IpAddr = match asked.ip() {
            IpAddr::V4(_) => Ipv6Addr::LOCALHOST.into(),
            IpAddr::V6(_) => Ipv4Addr::LOCALHOST.into(),
        };
        let found = SocketAddr::new(other, asked.port());
        if look(asked).await == Door::Closed && look(found).await == Door::Open {
            let (at_us, process) = (self.shared.since.now_us(), self.shared.name(which));
            let (asked, found) = (asked.to_string().into(), found.to_string().into());
            self.shared.record.note(Event::Elsewhere { at_us, process, asked, found });
        }
    }
}

/// Waits until somebody asks to stop.
async fn asked_to_stop(stopped: &mut watch::Receiver<bool>) {
    if stopped.wait_for(|is_stopped| *is_stopped).await.is_err() {
        // Nobody is left who could.
        std::future::pending::<()>().await;
    }
}

/// Whether what was waited for came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Met {
    Yes,
    TimeUp,
}

/// Between two questions to one that is ready and does not answer yet.
const BETWEEN_TRIES: Duration = Duration::from_millis(50);
/// Whoever stops a run waits for what is under way no longer than this.
const STOPPED_WITHIN: Duration = Duration::from_secs(1);
/// Longer than any drain.
const FOR_EVER: Duration = Duration::from_hours(24 * 365);
