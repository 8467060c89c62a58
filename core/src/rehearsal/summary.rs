//! What a record amounts to: classes and their sums, fitness, the outcome and its exit code.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde::Serialize;

use super::record::{Class, Ending, Event, Lane, Record, Tick};
use crate::rotation::MoveKind;

/// How many ticks of each class, zeros included.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Classes(BTreeMap<&'static str, u64>);

impl Default for Classes {
    fn default() -> Self {
        Self(Class::ALL.iter().map(|class| (class.as_str(), 0)).collect())
    }
}

impl Classes {
    fn add(&mut self, class: Class, ticks: u64) {
        let count = self.0.entry(class.as_str()).or_default();
        *count = count.saturating_add(ticks);
    }

    /// How many of one class.
    pub fn of(&self, class: Class) -> u64 {
        self.0.get(class.as_str()).copied().unwrap_or(0)
    }

    /// How many of all classes.
    pub fn sum(&self) -> u64 {
        self.0.values().fold(0, |sum, one| sum.saturating_add(*one))
    }

    /// Refused, cut, torn and garbled together.
    pub fn lost(&self) -> u64 {
        [Class::Refused, Class::Cut, Class::Torn, Class::Garbled]
            .into_iter()
            .fold(0, |sum, class| sum.saturating_add(self.of(class)))
    }

    /// All but `ok`.
    pub fn missed(&self) -> u64 {
        self.sum().saturating_sub(self.of(Class::Ok))
    }
}

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

/// How well the rehearsal itself did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Fitness {
    /// Ticks sent later after their due time than the probe timeout.
    pub late_ticks: u64,
    /// The lateness that 99 of 100 ticks kept within.
    pub late_p99_us: i64,
    /// The largest lateness.
    pub late_max_us: i64,
    /// Ticks that have no outcome; counted as `ours`.
    pub without_outcome: u64,
    /// Requests to the rehearsal's own echo server that failed.
    pub control_failed: u64,
    /// The slowest of those that did not.
    pub control_max_us: i64,
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
    pub lanes: BTreeMap<Lane, Classes>,
    /// The longest time between the ends of two good answers, or since the first due tick.
    pub longest_gap_us: i64,
    /// How well the rehearsal itself did.
    pub fitness: Fitness,
}

/// Sums a record up.
pub fn summarize(record: &Record) -> Summary {
    let mut totals = Classes::default();
    let mut lanes = BTreeMap::from([(Lane::Fresh, Classes::default()), (Lane::Kept, Classes::default())]);
    let mut reopened = 0_u64;
    for tick in record.told_ticks() {
        totals.add(tick.class, 1);
        lanes.entry(tick.lane).or_default().add(tick.class, 1);
        reopened = reopened.saturating_add(u64::from(tick.reopened));
    }
    // A tick whose sender died is the client's own trouble, and the sum stays whole.
    let without_outcome = record.ticks.saturating_sub(totals.sum());
    totals.add(Class::Ours, without_outcome);
    let fitness = fitness(record, without_outcome);
    let outcome = outcome(record, &totals, &fitness);
    Summary {
        outcome,
        exit: outcome.exit(),
        why: why(record, outcome, &totals, &fitness),
        ticks: record.ticks,
        lost: totals.lost(),
        missed: totals.missed(),
        drain_margin_us: drain_margin(record),
        reopened,
        lanes,
        longest_gap_us: longest_gap(record),
        totals,
        fitness,
    }
}

/// 130, 4, 1, 3, 0, in this order where several hold.
fn outcome(record: &Record, totals: &Classes, fitness: &Fitness) -> Outcome {
    match &record.ending {
        Ending::Interrupted => return Outcome::Interrupted,
        Ending::Incomplete { .. } => return Outcome::Incomplete,
        Ending::Complete => {}
    }
    let broken = totals.lost() > 0
        || totals.of(Class::ServerError) > 0
        || totals.of(Class::Unexpected) > 0
        || totals.of(Class::Nobody) > 0
        || totals.of(Class::Slow) > record.header.max_slow;
    if broken {
        Outcome::Broken
    } else if totals.of(Class::Ours) > 0 || is_unfit(record, fitness) {
        Outcome::Inconclusive
    } else {
        Outcome::Kept
    }
}

/// More than one tick in a hundred was sent later than the probe timeout, or nothing was asked at all.
fn is_unfit(record: &Record, fitness: &Fitness) -> bool {
    record.ticks == 0 || fitness.late_ticks.saturating_mul(100) > record.ticks
}

fn fitness(record: &Record, without_outcome: u64) -> Fitness {
    let lateness = |tick: &Tick| tick.sent_us.map(|sent| sent.saturating_sub(tick.due_us).max(0));
    let mut late: Vec<i64> = record.told_ticks().filter_map(lateness).collect();
    late.sort_unstable();
    // The smallest value that at least 99 of 100 do not exceed: rank ceil(0.99 n).
    let rank = late.len().saturating_mul(99).div_ceil(100);
    let mut fitness = Fitness {
        late_ticks: late.iter().fold(0, |sum, us| sum.saturating_add(u64::from(*us > record.header.probe_timeout_us))),
        late_p99_us: rank.checked_sub(1).and_then(|place| late.get(place)).copied().unwrap_or(0),
        late_max_us: late.last().copied().unwrap_or(0),
        without_outcome,
        ..Fitness::default()
    };
    for event in &record.events {
        if let Event::Control { took_us, .. } = event {
            match took_us {
                Some(took) => fitness.control_max_us = fitness.control_max_us.max(*took),
                None => fitness.control_failed = fitness.control_failed.saturating_add(1),
            }
        }
    }
    fitness
}

/// When the process that got the SIGTERM left rotation for the last time, and who it is.
fn last_leave(record: &Record) -> Option<(&str, i64)> {
    let (_, leaving) = record.sigterms().next()?;
    let (left, ..) =
        record.moves().rev().find(|(_, process, kind, _)| *kind == MoveKind::Leave && **process == *leaving)?;
    Some((leaving, left))
}

fn drain_margin(record: &Record) -> Option<i64> {
    let (leaving, left) = last_leave(record)?;
    let tried = record.events.iter().filter_map(|event| {
        if let Event::Tried { at_us, process, accepted } = event {
            (**process == *leaving && *at_us >= left).then_some((*at_us, *accepted))
        } else {
            None
        }
    });
    let mut margin = None;
    for (at, accepted) in tried {
        if !accepted {
            return Some(margin.unwrap_or(0));
        }
        margin = Some(at.saturating_sub(left));
    }
    margin
}

fn longest_gap(record: &Record) -> i64 {
    let mut good: Vec<i64> =
        record.told_ticks().filter(|tick| tick.class == Class::Ok).map(|tick| tick.end_us).collect();
    good.sort_unstable();
    let mut last = 0_i64;
    let mut longest = 0_i64;
    for end in good {
        longest = longest.max(end.saturating_sub(last));
        last = end;
    }
    let due = i64::try_from(record.ticks).unwrap_or(i64::MAX).saturating_mul(record.header.every_us);
    longest.max(due.saturating_sub(last))
}

/// One line: the most telling cause that the record itself shows.
fn why(record: &Record, outcome: Outcome, totals: &Classes, fitness: &Fitness) -> String {
    match (outcome, &record.ending) {
        (Outcome::Kept, _) => "nobody was refused".into(),
        (Outcome::Interrupted, _) => "the rehearsal was stopped before the roll was over".into(),
        (Outcome::Incomplete, Ending::Incomplete { because }) => format!("the roll did not complete: {because}"),
        (Outcome::Incomplete, Ending::Complete | Ending::Interrupted) => "the roll did not complete".into(),
        (Outcome::Inconclusive, _) if totals.of(Class::Ours) > 0 => {
            format!("the rehearsal had trouble of its own: {} ticks", totals.of(Class::Ours))
        }
        (Outcome::Inconclusive, _) if record.ticks == 0 => "nothing was asked".into(),
        (Outcome::Inconclusive, _) => {
            format!("the rehearsal was late for {} ticks: unfit to judge", fitness.late_ticks)
        }
        (Outcome::Broken, _) => why_broken(record, totals),
    }
}

fn why_broken(record: &Record, totals: &Classes) -> String {
    let refused = record.told_ticks().find(|tick| tick.class == Class::Refused);
    if let Some((tick, process)) = refused.and_then(|tick| tick.process.as_ref().map(|process| (tick, process))) {
        let gone = record.exited(process).filter(|exit| *exit <= tick.end_us);
        let told = record.sigterms().any(|(at, one)| *one == **process && at <= tick.end_us);
        let left = record
            .moves()
            .find(|(at, one, kind, _)| **one == **process && *kind == MoveKind::Leave && *at > tick.end_us)
            .map(|(at, ..)| at);
        return match (gone, told, left) {
            (Some(exit), _, Some(left)) => {
                format!("{process} exited {} ms before it left rotation", left.saturating_sub(exit) / 1000)
            }
            (Some(_), _, None) => format!("{process} exited while it was still asked"),
            (None, true, Some(left)) => format!(
                "{process} closed its listener at least {} ms before it left rotation",
                left.saturating_sub(tick.end_us) / 1000
            ),
            (None, true, None) => format!("{process} closed its listener while it was still asked"),
            (None, false, _) => format!("{process} was declared ready too early: it refused while in rotation"),
        };
    }
    let worst = Class::ALL
        .into_iter()
        .filter(|class| !matches!(class, Class::Ok | Class::Ours))
        .max_by_key(|class| totals.of(*class));
    match worst {
        Some(Class::Nobody) => {
            let cause = record
                .moves()
                .find(|(_, _, kind, _)| *kind == MoveKind::Leave)
                .map(|(_, process, _, cause)| format!("{process} left: {cause}"));
            let cause = cause.unwrap_or_else(|| "nobody joined".into());
            format!("nobody was in rotation for {} ticks ({cause})", totals.of(Class::Nobody))
        }
        Some(class) => format!("{} ticks were {}", totals.of(class), Box::<str>::from(class.as_str())),
        None => "a tick was missed".into(),
    }
}
