//! How well the rehearsal itself did: it must not be the fault it looks for.

use alloc::vec::Vec;

use serde::Serialize;

use super::class::Class;
use super::header::Machine;
use super::order::sorted;
use super::record::{Event, Record};
use crate::rotation::Answer;

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
    /// Probes to whose deadline we ourselves came later than [`PROBE_LATE_US`].
    pub late_probes: u64,
    /// How late we came to one at most.
    pub late_probe_max_us: i64,
    /// Answers that came after their probe had been taken for silent.
    pub late_answers: u64,
    /// Probes that could not be asked.
    pub faults: u64,
    /// Connections that reached nobody but ourselves.
    pub self_connects: u64,
    /// Requests to the rehearsal's own echo server.
    pub control: u64,
    /// Those of them that failed.
    pub control_failed: u64,
    /// The slowest of those that did not.
    pub control_max_us: i64,
    /// What the run had at its disposal.
    #[serde(flatten)]
    pub machine: Machine,
}

impl Fitness {
    /// Reads it from a record.
    pub fn of(record: &Record) -> Self {
        let mut late = Vec::new();
        for tick in record.told_ticks() {
            if tick.sent_us.is_some() {
                late.push(tick.late_us());
            }
        }
        let late = sorted(&late);
        // The smallest value that at least 99 of 100 do not exceed: rank ceil(0.99 n).
        let rank = late.len().saturating_mul(99).div_ceil(100);
        let limit = record.header.options.probe_timeout_us;
        let mut fitness = Self {
            late_ticks: count(late.iter().filter(|us| **us > limit)),
            late_p99_us: rank.checked_sub(1).and_then(|place| late.get(place)).copied().unwrap_or(0),
            late_max_us: late.last().copied().unwrap_or(0),
            without_outcome: record.ticks.saturating_sub(count(record.told_ticks())),
            machine: record.header.machine,
            ..Self::default()
        };
        for event in &record.events {
            fitness.note(event);
        }
        fitness
    }

    /// Whether the run can judge nobody: more than one tick in a hundred was sent later than the probe timeout,
    /// the rehearsal's own echo server failed, or nothing was asked at all.
    pub fn is_unfit(&self, ticks: u64) -> bool {
        ticks == 0 || self.control_failed > 0 || self.late_ticks.saturating_mul(100) > ticks
    }

    fn note(&mut self, event: &Event) {
        match event {
            Event::Control { took_us, .. } => {
                self.control = self.control.saturating_add(1);
                match took_us {
                    Some(took) => self.control_max_us = self.control_max_us.max(*took),
                    None => self.control_failed = self.control_failed.saturating_add(1),
                }
            }
            Event::Probe { answer, late_us, .. } => {
                self.late_probes = self.late_probes.saturating_add(u64::from(*late_us > PROBE_LATE_US));
                self.late_probe_max_us = self.late_probe_max_us.max(*late_us);
                if let Answer::Fault { code } = answer {
                    self.faults = self.faults.saturating_add(1);
                    self.self_connects = self.self_connects.saturating_add(u64::from(**code == *SELF_CONNECT));
                }
            }
            Event::Late { .. } => self.late_answers = self.late_answers.saturating_add(1),
            Event::Tick(tick) => {
                let to_self = tick.class == Class::Ours && tick.error.as_deref() == Some(SELF_CONNECT);
                self.self_connects = self.self_connects.saturating_add(u64::from(to_self));
            }
            Event::Header(_)
            | Event::Started { .. }
            | Event::Sigterm { .. }
            | Event::Exited { .. }
            | Event::Killed { .. }
            | Event::LastWords { .. }
            | Event::Elsewhere { .. }
            | Event::Expected { .. }
            | Event::Move { .. }
            | Event::Tried { .. }
            | Event::End { .. } => {}
        }
    }
}

/// The name of the error where a connection to a free port of our own range reached ourselves.
pub const SELF_CONNECT: &str = "SELF_CONNECT";

/// The name of the error where a tick was sent so late that whoever was in when it was due had left.
pub const SENT_TOO_LATE: &str = "SENT_TOO_LATE";

/// The name of the error where a request was lost while our own probes were so far behind that nobody could know
/// whether the process was still in.
pub const ROTATION_TOO_OLD: &str = "ROTATION_TOO_OLD";

/// The name of the fault of a probe that got no answer in its time, where our own echo server took a third of that
/// time or more, or others kept the process so long from running: the machine was slow, and the process need not have
/// been silent.
pub const SLOW_MACHINE: &str = "SLOW_MACHINE";

/// The name of the error where a tick could not be taken up because too many were under way.
pub const TOO_MANY: &str = "TOO_MANY_UNDER_WAY";

/// From how late on a probe counts as judged late by us, in microseconds. A timer is a millisecond or two late on any
/// machine.
pub const PROBE_LATE_US: i64 = 10_000;

/// How many there are.
pub(super) fn count<T>(all: impl Iterator<Item = T>) -> u64 {
    all.fold(0, |sum: u64, _| sum.saturating_add(1))
}
