//! What went wrong, as the record itself shows it. The first finding is the one that a report's last word names.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;

use super::class::{Class, Classes};
use super::fitness::count;
use super::length::Length;
use super::order::ticks_by_number;
use super::record::{Door, Event, Record, Tick};
use super::states::{States, Turn};
use crate::rotation::{Answer, MoveKind};

/// One thing that went wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    /// A process that had its SIGTERM refused while it was still asked.
    ClosedEarly {
        /// Which.
        process: Box<str>,
        /// From its first refusal to the end of its traffic, at least; below 0 where that came first, `None` where it
        /// never left.
        before_us: Option<i64>,
        /// How much of that is the lag of the balancer.
        lag_us: i64,
        /// How many ticks it refused.
        ticks: u64,
    },
    /// A process ended while it was still asked.
    ExitedEarly {
        /// Which.
        process: Box<str>,
        /// How it ended.
        exit: Box<str>,
        /// Whether it had its SIGTERM.
        told: Told,
        /// From its end to the end of its traffic; below 0 where that came first, `None` where it never left.
        before_us: Option<i64>,
        /// How much of that is the lag of the balancer.
        lag_us: i64,
        /// How many ticks it refused.
        ticks: u64,
    },
    /// A process that had its SIGTERM left rotation because a probe was refused or cut, not because it had said no:
    /// whoever had been sent to it just then would have been lost, though no tick was.
    LeftUnsaid {
        /// Which.
        process: Box<str>,
        /// How the probe failed, in words.
        cause: String,
        /// From its SIGTERM to the end of its traffic.
        within_us: i64,
        /// How much of that is the lag of the balancer.
        lag_us: i64,
    },
    /// A process refused after it joined, before it had served anybody.
    ReadyTooEarly {
        /// Which.
        process: Box<str>,
        /// From its join to its last refusal.
        for_us: i64,
        /// How many ticks it refused.
        ticks: u64,
    },
    /// A process that had served refused, and nobody had told it to stop.
    StoppedListening {
        /// Which.
        process: Box<str>,
        /// How many ticks it refused.
        ticks: u64,
    },
    /// Ticks that were due while nobody was in rotation.
    NobodyIn {
        /// How many.
        ticks: u64,
        /// Who left before the first of them, and why; `None` where nobody had joined.
        left: Option<(Box<str>, String)>,
    },
    /// A process cut, tore or garbled answers.
    Lost {
        /// Which.
        process: Box<str>,
        /// How.
        class: Class,
        /// How many.
        ticks: u64,
        /// How many of them ended after its SIGTERM.
        after_sigterm: u64,
        /// How many of them were on a connection that had carried a request before.
        reused: u64,
    },
    /// A process gave complete answers of another status.
    Answered {
        /// Which.
        process: Box<str>,
        /// Which of the two kinds.
        class: Class,
        /// The first such status.
        status: Option<u16>,
        /// How many.
        ticks: u64,
    },
    /// The client gave up.
    Slow {
        /// How many.
        ticks: u64,
        /// How many are tolerated.
        allowed: u64,
    },
}

/// Whether somebody had told a process to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told {
    /// It had its SIGTERM.
    Yes,
    /// Nobody had.
    No,
}

/// All findings of a record, the most telling first.
pub fn findings(record: &Record, totals: &Classes) -> Vec<Finding> {
    let states = States::of(record);
    let ticks = ticks_by_number(record, &|tick| tick.class != Class::Ok);
    let names = || record.header.processes.iter().map(|planned| &*planned.name);
    let of = |process: &str, class: Class| -> Vec<&Tick> {
        ticks.iter().copied().filter(|tick| tick.class == class && tick.process.as_deref() == Some(process)).collect()
    };
    let mut all = Vec::new();
    for process in names() {
        let before = all.len();
        refusals(record, &states, process, &of(process, Class::Refused), &mut all);
        if all.len() == before {
            all.extend(left_unsaid(record, &states, process));
        }
    }
    nobody(record, &ticks, &mut all);
    for process in names() {
        for class in [Class::Cut, Class::Torn, Class::Garbled] {
            let lost = of(process, class);
            if !lost.is_empty() {
                let told = told_at(&states, process);
                all.push(Finding::Lost {
                    process: process.into(),
                    class,
                    ticks: count(lost.iter()),
                    after_sigterm: count(lost.iter().filter(|tick| told.is_some_and(|at| at <= tick.end_us))),
                    reused: count(lost.iter().filter(|tick| tick.is_reused())),
                });
            }
        }
        for class in [Class::ServerError, Class::Unexpected] {
            let answered = of(process, class);
            if let Some(first) = answered.first() {
                let ticks = count(answered.iter());
                all.push(Finding::Answered { process: process.into(), class, status: first.status, ticks });
            }
        }
    }
    let slow = totals.of(Class::Slow);
    if slow > 0 {
        all.push(Finding::Slow { ticks: slow, allowed: record.header.options.max_slow });
    }
    all
}

fn told_at(states: &States<'_>, process: &str) -> Option<i64> {
    states.turns(process).iter().find(|(_, turn, _)| *turn == Turn::Sigterm).map(|(at, ..)| *at)
}

/// One finding for the refusals after a process was told to stop or ended, one for those before.
fn refusals(record: &Record, states: &States<'_>, process: &str, refused: &[&Tick], all: &mut Vec<Finding>) {
    let told = told_at(states, process);
    let exited = record.exited(process);
    let is_over =
        |tick: &&&Tick| told.is_some_and(|at| at <= tick.end_us) || exited.is_some_and(|(at, _)| at <= tick.end_us);
    let over: Vec<&Tick> = refused.iter().filter(is_over).copied().collect();
    let before: Vec<&Tick> = refused.iter().filter(|tick| !is_over(tick)).copied().collect();
    let lag_us = record.header.options.lag_us;
    if let Some(first) = over.iter().map(|tick| tick.end_us).min() {
        // The end of its traffic: the leave that the tick did not see when it was sent, and what the balancer lags
        // behind it. It may land before the refusal does.
        let sent = over.iter().map(|tick| tick.sent_us.unwrap_or(tick.due_us)).min().unwrap_or(first);
        let end = record
            .moves()
            .filter(|(_, one, kind, _)| *one == process && *kind == MoveKind::Leave)
            .map(|(at, ..)| at.saturating_add(lag_us))
            .find(|at| *at > sent);
        let ticks = count(over.iter());
        all.push(match exited {
            Some((at, exit)) if at <= first.saturating_add(NOTICED_WITHIN_US) => Finding::ExitedEarly {
                process: process.into(),
                exit: exit.into(),
                told: if told.is_some_and(|told| told <= at) { Told::Yes } else { Told::No },
                before_us: end.map(|end| end.saturating_sub(at)),
                lag_us,
                ticks,
            },
            Some(_) | None => Finding::ClosedEarly {
                process: process.into(),
                before_us: end.map(|end| end.saturating_sub(first)),
                lag_us,
                ticks,
            },
        });
    }
    let served = record
        .told_ticks()
        .filter(|tick| tick.class == Class::Ok && tick.process.as_deref() == Some(process))
        .map(|tick| tick.end_us)
        .min();
    let (early, stopped): (Vec<&Tick>, Vec<&Tick>) =
        before.into_iter().partition(|tick| served.is_none_or(|at| tick.end_us < at));
    if let Some(last) = early.iter().map(|tick| tick.end_us).max() {
        let joined = states.turns(process).iter().find(|(_, turn, _)| *turn == Turn::Join).map_or(0, |(at, ..)| *at);
        let (for_us, ticks) = (last.saturating_sub(joined), count(early.iter()));
        all.push(Finding::ReadyTooEarly { process: process.into(), for_us, ticks });
    }
    if !stopped.is_empty() {
        all.push(Finding::StoppedListening { process: process.into(), ticks: count(stopped.iter()) });
    }
}

/// A leave after the SIGTERM that no answer announced. Where our own probes were far behind, the no may have been said
/// and not heard; and where readiness is asked elsewhere, its end says nothing of a listener that still accepted.
fn left_unsaid(record: &Record, states: &States<'_>, process: &str) -> Option<Finding> {
    let told = told_at(states, process)?;
    let options = &record.header.options;
    let (left, .., cause) =
        record.moves().find(|(at, one, kind, _)| *one == process && *kind == MoveKind::Leave && *at >= told)?;
    match cause.answer {
        Answer::Refused { .. } | Answer::Cut { .. } => {}
        Answer::Ready { .. } | Answer::NotReady { .. } | Answer::Silent { .. } | Answer::Fault { .. } => return None,
    }
    let is_asked_elsewhere =
        record.header.processes.iter().any(|one| *one.name == *process && !one.is_asked_where_it_serves());
    let was_open =
        |event: &Event| matches!(event, Event::Tried { process: one, found: Door::Open, .. } if **one == *process);
    if is_asked_elsewhere && record.events.iter().any(was_open) {
        return None;
    }
    let asked = record.events.iter().rev().find_map(|event| {
        if let Event::Probe { at_us, due_us, process: one, answer, .. } = event {
            let counts = **one == *process && *at_us < left && !matches!(answer, Answer::Fault { .. });
            counts.then_some(*due_us)
        } else {
            None
        }
    });
    let behind = options.probe_every_us.saturating_add(options.probe_timeout_us).saturating_mul(2);
    if asked.is_none_or(|due| left.saturating_sub(due) > behind) {
        return None;
    }
    Some(Finding::LeftUnsaid {
        process: process.into(),
        cause: format!("{cause}"),
        within_us: left.saturating_add(options.lag_us).saturating_sub(told),
        lag_us: options.lag_us,
    })
}

/// One finding for each leave that left nobody in, and one for the time before anybody joined.
fn nobody(record: &Record, missed: &[&Tick], all: &mut Vec<Finding>) {
    let lag_us = record.header.options.lag_us;
    let leaves: Vec<_> = record.moves().filter(|(_, _, kind, _)| *kind == MoveKind::Leave).collect();
    // One for the time before the first leave, and one for that after each.
    let mut of_leave = vec![0_u64; leaves.len().saturating_add(1)];
    for tick in missed.iter().filter(|tick| tick.class == Class::Nobody) {
        let left = leaves.partition_point(|(at, ..)| at.saturating_add(lag_us) <= tick.due_us);
        if let Some(ticks) = of_leave.get_mut(left) {
            *ticks = ticks.saturating_add(1);
        }
    }
    for (past, ticks) in of_leave.into_iter().enumerate().filter(|(_, ticks)| *ticks > 0) {
        let left = past.checked_sub(1).and_then(|place| leaves.get(place));
        let left = left.map(|(_, process, _, cause)| ((*process).into(), format!("{cause}")));
        all.push(Finding::NobodyIn { ticks, left });
    }
}

impl Finding {
    /// Whether it breaks the promise though no tick was lost.
    pub const fn breaks_alone(&self) -> bool {
        match self {
            Self::LeftUnsaid { .. } => true,
            Self::ClosedEarly { .. }
            | Self::ExitedEarly { .. }
            | Self::ReadyTooEarly { .. }
            | Self::StoppedListening { .. }
            | Self::NobodyIn { .. }
            | Self::Lost { .. }
            | Self::Answered { .. }
            | Self::Slow { .. } => false,
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ClosedEarly { process, before_us, lag_us, ticks } => {
                write!(f, "{process} closed its listener ")?;
                if before_us.is_some_and(|us| us > 0) {
                    f.write_str("at least ")?;
                }
                write!(f, "{}", Before(*before_us, *lag_us))?;
                write!(f, ": {} refused", Ticks(*ticks))
            }
            Self::ExitedEarly { process, exit, told, before_us, lag_us, ticks } => {
                write!(f, "{process} closed its listener as it ended ({exit}), ")?;
                match told {
                    Told::Yes => {}
                    Told::No => f.write_str("though nobody had told it to, ")?,
                }
                write!(f, "{}", Before(*before_us, *lag_us))?;
                write!(f, ": {} refused", Ticks(*ticks))
            }
            Self::LeftUnsaid { process, cause, within_us, lag_us } => write!(
                f,
                "{process} closed its listener up to {} before it left rotation{}: a probe learned it ({cause}), and no \
                 tick by luck",
                Length(*within_us),
                Lag(*lag_us)
            ),
            Self::ReadyTooEarly { process, for_us, ticks } => write!(
                f,
                "{process} was declared ready too early: for {} after it joined it refused {}",
                Length(*for_us),
                Ticks(*ticks)
            ),
            Self::StoppedListening { process, ticks } => {
                write!(
                    f,
                    "{process} refused {} though it was in rotation and nobody had told it to stop",
                    Ticks(*ticks)
                )
            }
            Self::NobodyIn { ticks, left: Some((process, cause)) } => {
                write!(f, "nobody was in rotation for {}: {process} had left ({cause})", Ticks(*ticks))
            }
            Self::NobodyIn { ticks, left: None } => {
                write!(f, "nobody was in rotation for {}: nobody had joined", Ticks(*ticks))
            }
            Self::Lost { process, class, ticks, after_sigterm, reused } => {
                let verb = match class {
                    Class::Torn => "tore the answers of",
                    Class::Garbled => "garbled the answers of",
                    Class::Ok
                    | Class::Unexpected
                    | Class::Slow
                    | Class::Refused
                    | Class::Cut
                    | Class::ServerError
                    | Class::Nobody
                    | Class::Ours => "cut",
                };
                write!(f, "{process} {verb} {}", Ticks(*ticks))?;
                write!(f, ": {after_sigterm} after its SIGTERM, {reused} on a used connection")
            }
            Self::Answered { process, class, status, ticks } => {
                write!(f, "{process} gave {} another answer than expected ({}", Ticks(*ticks), class.as_str())?;
                match status {
                    Some(status) => write!(f, ", first {status})"),
                    None => f.write_str(")"),
                }
            }
            Self::Slow { ticks, allowed } => {
                write!(f, "the client gave up on {}, and {allowed} are tolerated", Ticks(*ticks))
            }
        }
    }
}

/// A number of ticks.
pub(super) struct Ticks(pub(super) u64);

impl fmt::Display for Ticks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            1 => f.write_str("1 tick"),
            many => write!(f, "{many} ticks"),
        }
    }
}

/// For how long before the end of its traffic. What was noticed only after that happened with it.
struct Before(Option<i64>, i64);

impl fmt::Display for Before {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(us) if us > 0 => write!(f, "{} before it left rotation{}", Length(us), Lag(self.1)),
            Some(_) => write!(f, "just as it left rotation{}", Lag(self.1)),
            None => f.write_str("while it was in rotation, which it never left"),
        }
    }
}

/// What the balancer lags behind, where it does.
struct Lag(i64);

impl fmt::Display for Lag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 > 0 { write!(f, " and a lag of {} was over", Length(self.0)) } else { Ok(()) }
    }
}

/// A process closes its sockets before its end can be waited for: a refusal so shortly before the end that was
/// noticed is of the end.
const NOTICED_WITHIN_US: i64 = 20_000;
