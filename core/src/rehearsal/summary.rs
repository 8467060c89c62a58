//! What a record amounts to: classes and their sums, fitness, the outcome and its exit code.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde::Serialize;

use super::class::{Class, Classes, Lanes};
use super::finding::{Finding, Ticks, findings};
use super::fitness::Fitness;
use super::header::Options;
use super::length::Length;
use super::order::sorted;
use super::record::{Door, Ending, Event, Record, Unfinished};
use crate::inert::Inert;
use crate::rotation::MoveKind;

/// The word on a rehearsal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Nobody was refused.
    Kept,
    /// Somebody was.
    Broken,
    /// The rehearsal cannot tell.
    Inconclusive,
    /// The roll did not complete.
    Incomplete,
    /// Somebody stopped it.
    Interrupted,
}

impl Outcome {
    /// The word for it on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Kept => "kept",
            Self::Broken => "broken",
            Self::Inconclusive => "inconclusive",
            Self::Incomplete => "incomplete",
            Self::Interrupted => "interrupted",
        }
    }

    /// The exit code: 0, 1, 3, 4 or 130.
    pub const fn exit(self) -> u8 {
        match self {
            Self::Kept => 0,
            Self::Broken => 1,
            Self::Inconclusive => 3,
            Self::Incomplete => 4,
            Self::Interrupted => 130,
        }
    }
}

/// What a record amounts to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// The word on it.
    pub outcome: Outcome,
    /// Its exit code.
    pub exit: u8,
    /// One line that says why.
    pub why: String,
    /// Everything that went wrong, the most telling first, each a line.
    #[serde(serialize_with = "as_texts")]
    pub findings: Vec<Finding>,
    /// How many ticks were due.
    pub ticks: u64,
    /// Every class; their sum is `ticks`.
    pub totals: Classes,
    /// Refused, cut, torn and garbled.
    pub lost: u64,
    /// All but `ok`.
    pub missed: u64,
    /// For how long after leaving rotation the old one was last seen to accept; null where nothing was tried.
    pub drain_margin_us: Option<i64>,
    /// Kept connections that were closed before anything was written.
    pub reopened: u64,
    /// Each lane with its classes. A tick without outcome belongs to none.
    pub lanes: Lanes,
    /// The longest time between the ends of two good answers, or since the first due tick.
    pub longest_gap_us: i64,
    /// How well the rehearsal itself did.
    pub fitness: Fitness,
}

/// Sums a record up.
pub fn summarize(record: &Record) -> Summary {
    let mut totals = Classes::default();
    let mut lanes = Lanes::default();
    let mut reopened = 0_u64;
    for tick in record.told_ticks() {
        totals.add(tick.class, 1);
        lanes.add(tick.lane, tick.class);
        reopened = reopened.saturating_add(u64::from(tick.reopened));
    }
    let fitness = Fitness::of(record);
    // A tick whose sender died is the client's own trouble, and the sum stays whole.
    totals.add(Class::Ours, fitness.without_outcome);
    let findings = findings(record, &totals);
    let outcome = outcome(record, &totals, &fitness, &findings);
    Summary {
        outcome,
        exit: outcome.exit(),
        why: why(record, outcome, &totals, &fitness, &findings),
        findings,
        ticks: record.ticks,
        lost: totals.lost(),
        missed: totals.missed(),
        drain_margin_us: leave_to_drain(record).and_then(|(process, left)| margin(record, process, left)),
        reopened,
        lanes,
        longest_gap_us: longest_gap(record).map_or(0, |(from, to)| to.saturating_sub(from)),
        totals,
        fitness,
    }
}

/// 130, 4, 1, 3, 0, in this order where several hold.
fn outcome(record: &Record, totals: &Classes, fitness: &Fitness, findings: &[Finding]) -> Outcome {
    match &record.ending {
        Some(Ending::Interrupted) => return Outcome::Interrupted,
        Some(Ending::Incomplete { .. }) => return Outcome::Incomplete,
        Some(Ending::Complete | Ending::Failed { .. }) | None => {}
    }
    let is_broken = Class::ALL.into_iter().any(|class| breaks(class, totals.of(class), &record.header.options));
    if is_broken || findings.iter().any(Finding::breaks_alone) {
        return Outcome::Broken;
    }
    match &record.ending {
        Some(Ending::Complete) if totals.of(Class::Ours) == 0 && !fitness.is_unfit(record.ticks) => Outcome::Kept,
        Some(_) | None => Outcome::Inconclusive,
    }
}

/// Whether so many ticks of a class break the promise.
pub(super) fn breaks(class: Class, ticks: u64, options: &Options) -> bool {
    match class {
        Class::Ok | Class::Ours => false,
        Class::Slow => ticks > options.max_slow,
        Class::Unexpected
        | Class::Refused
        | Class::Cut
        | Class::Torn
        | Class::ServerError
        | Class::Garbled
        | Class::Nobody => ticks > 0,
    }
}

/// Who got the SIGTERM, and from when on it was out of rotation with it: its last leave, or the signal where that
/// came later.
pub(super) fn leave_to_drain(record: &Record) -> Option<(&str, i64)> {
    let (told, leaving) = record.sigterms().next()?;
    let (left, ..) =
        record.moves().rev().find(|(_, process, kind, _)| *kind == MoveKind::Leave && **process == *leaving)?;
    Some((leaving, left.max(told)))
}

/// The last connection accepted before the first one refused, from the leave on.
fn margin(record: &Record, leaving: &str, left: i64) -> Option<i64> {
    let mut margin = None;
    for event in &record.events {
        let Event::Tried { at_us, process, found } = event else { continue };
        if **process != *leaving || *at_us < left {
            continue;
        }
        match found {
            Door::Open => margin = Some(at_us.saturating_sub(left)),
            Door::Closed => return Some(margin.unwrap_or(0)),
            Door::Silent | Door::Ours => {}
        }
    }
    margin
}

/// From when to when the longest wait for a good answer lasted; `None` where no tick was due.
pub(super) fn longest_gap(record: &Record) -> Option<(i64, i64)> {
    if record.ticks == 0 {
        return None;
    }
    let mut good = Vec::new();
    for tick in record.told_ticks() {
        if tick.class == Class::Ok {
            good.push(tick.end_us);
        }
    }
    let mut ends = sorted(&good);
    // The stream ends with its last tick, not with the clean-up after it.
    let due = i64::try_from(record.ticks).unwrap_or(i64::MAX).saturating_mul(record.header.options.every_us);
    ends.push(due.max(ends.last().copied().unwrap_or(0)));
    let mut last = 0_i64;
    let mut longest = (0_i64, 0_i64);
    for end in ends {
        if end.saturating_sub(last) > longest.1.saturating_sub(longest.0) {
            longest = (last, end);
        }
        last = end;
    }
    Some(longest)
}

/// One line: the most telling cause that the record itself shows.
fn why(record: &Record, outcome: Outcome, totals: &Classes, fitness: &Fitness, findings: &[Finding]) -> String {
    match outcome {
        Outcome::Kept => match totals.of(Class::Slow) {
            0 => "nobody was refused".into(),
            slow => format!("nobody was refused; {} slow, within the tolerance", Ticks(slow)),
        },
        Outcome::Broken => findings.first().map_or_else(|| "a tick was missed".into(), |first| format!("{first}")),
        Outcome::Interrupted => "the rehearsal was stopped before the roll was over".into(),
        Outcome::Incomplete => why_incomplete(record),
        Outcome::Inconclusive => why_inconclusive(record, totals, fitness),
    }
}

fn why_incomplete(record: &Record) -> String {
    let options = &record.header.options;
    let Some(Ending::Incomplete { because, process }) = &record.ending else {
        return "the roll did not complete".into();
    };
    match because {
        Unfinished::NeverReady => {
            let words = format!(
                "the roll did not complete: {process} was not ready within {}",
                Length(options.start_timeout_us)
            );
            match record.elsewhere(process) {
                Some((asked, found)) => format!("{words}: nobody listens at {asked}, somebody does at {found}"),
                None => words,
            }
        }
        Unfinished::EndedEarly => {
            let exit = record.exited(process).map_or("unknown", |(_, exit)| exit);
            format!("the roll did not complete: {process} ended by itself ({exit})")
        }
        Unfinished::NeverExited => match record.exited(process) {
            None => format!(
                "the roll did not complete: {process} did not exit within {} of its SIGTERM",
                Length(options.drain_timeout_us)
            ),
            Some((_, exit)) => format!(
                "the roll did not complete: the process of {process} ended ({exit}), but something still answers at its \
                 address: it started the server as a process of its own, which no SIGTERM reached; start the server by \
                 exec, in a script as under --shell"
            ),
        },
    }
}

fn why_inconclusive(record: &Record, totals: &Classes, fitness: &Fitness) -> String {
    match &record.ending {
        Some(Ending::Failed { because }) => {
            return format!("the rehearsal could not go on: {}", Inert(because, MAX_SHOWN));
        }
        None => return "the record breaks off before its end".into(),
        Some(Ending::Complete | Ending::Incomplete { .. } | Ending::Interrupted) => {}
    }
    let ours = totals.of(Class::Ours);
    if fitness.without_outcome > 0 {
        format!("{} without outcome", Ticks(fitness.without_outcome))
    } else if ours > 0 {
        let error = record.told_ticks().find(|tick| tick.class == Class::Ours).and_then(|tick| tick.error.as_deref());
        let error = Inert(error.unwrap_or("unnamed"), MAX_SHOWN);
        format!("the rehearsal had trouble of its own for {} (first {error})", Ticks(ours))
    } else if record.ticks == 0 {
        "nothing was asked".into()
    } else if fitness.control_failed > 0 {
        format!("the rehearsal's own echo server failed {} times: unfit to judge", fitness.control_failed)
    } else {
        let limit = Length(record.header.options.probe_timeout_us);
        format!("{} of {} were sent later than {limit}: unfit to judge", fitness.late_ticks, Ticks(record.ticks))
    }
}

fn as_texts<S: serde::Serializer>(findings: &[Finding], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(findings.iter().map(|finding| format!("{finding}")))
}

/// How many characters of a foreign text a line shows.
const MAX_SHOWN: usize = 200;
