//! What the probes of a record would have learned within another time, as far as the record can say.
//!
//! Probes stay where they were. A shorter time makes a silence of an answer that took longer; a longer one makes of a
//! silence the late answer that was recorded. What was not asked, because a probe was still undecided and would not
//! have been, and what was asked and might not have been, is unknown.

use alloc::vec::Vec;

use super::fitness::SLOW_MACHINE;
use super::header::Options;
use super::order::in_order;
use super::record::{Event, Record};
use crate::rotation::{Answer, Silence};

/// What one probe would have learned; `None`: the record cannot say.
#[derive(Clone, Copy)]
pub(super) struct Heard<'a> {
    pub(super) at_us: i64,
    pub(super) process: usize,
    pub(super) answer: Option<&'a Answer>,
}

/// A recorded probe.
struct Probe<'a> {
    at_us: i64,
    due_us: i64,
    sent_us: i64,
    answer: &'a Answer,
    late_us: i64,
}

/// What one probe comes to within another time.
enum Said<'a> {
    /// This, then.
    Known(i64, &'a Answer),
    /// Anything, from then on and before then.
    Unknown(i64, i64),
}

/// What would have been heard, in order of time. Under the recorded time: what was heard, in order of the file.
pub(super) fn heard(record: &Record, timeout_us: i64) -> Vec<Heard<'_>> {
    let mut all = Vec::new();
    for (process, planned) in record.header.processes.iter().enumerate() {
        let of = |name: &str| *name == *planned.name;
        let mut late = Vec::new();
        for event in &record.events {
            if let Event::Late { at_us, due_us, process, answer } = event
                && of(process)
            {
                late.push((*due_us, *at_us, answer));
            }
        }
        let options = &record.header.options;
        let (busy_until, vague_until) = (i64::MIN, i64::MIN);
        let mut within = Within { options, process, timeout_us, busy_until, vague_until, late, past_late: 0 };
        for (place, event) in record.events.iter().enumerate() {
            if let Event::Probe { at_us, due_us, sent_us, process, answer, late_us } = event
                && of(process)
            {
                let sent_us = sent_us.unwrap_or(*due_us);
                let probe = Probe { at_us: *at_us, due_us: *due_us, sent_us, answer, late_us: *late_us };
                within.take(&probe, place, &mut all);
            }
        }
    }
    // Those of the recorded time are ordered by their places in the file.
    let order = in_order(all.len(), &|place| all.get(place).map_or(0, |(key, _)| *key));
    let mut ordered = Vec::with_capacity(all.len());
    for place in order {
        if let Some((_, one)) = all.get(place) {
            ordered.push(*one);
        }
    }
    ordered
}

/// The probes of one process within another time.
struct Within<'a> {
    options: &'a Options,
    process: usize,
    timeout_us: i64,
    /// What is due up to then would not have been asked: another one was undecided.
    busy_until: i64,
    /// What is due up to then need not have been asked.
    vague_until: i64,
    /// The answers to probes that had been taken for silent: when those were due, when it came, and what.
    late: Vec<(i64, i64, &'a Answer)>,
    /// So many of them belong to earlier probes.
    past_late: usize,
}

impl<'a> Within<'a> {
    fn take(&mut self, probe: &Probe<'a>, place: usize, all: &mut Vec<(i64, Heard<'a>)>) {
        let process = self.process;
        let mut push = |key, at_us, answer| all.push((key, Heard { at_us, process, answer }));
        if self.timeout_us == self.options.probe_timeout_us {
            return push(i64::try_from(place).unwrap_or(i64::MAX), probe.at_us, Some(probe.answer));
        }
        let decided_us = if probe.due_us <= self.busy_until {
            self.busy_until
        } else if probe.due_us <= self.vague_until {
            push(probe.due_us, probe.due_us, None);
            self.vague_until = self.vague_until.max(probe.due_us.saturating_add(self.timeout_us));
            probe.due_us
        } else {
            match self.said(probe) {
                Said::Known(at_us, answer) => {
                    push(at_us, at_us, Some(answer));
                    self.busy_until = at_us;
                    at_us
                }
                Said::Unknown(from_us, until_us) => {
                    push(from_us, from_us, None);
                    self.vague_until = until_us;
                    from_us
                }
            }
        };
        // Due while this one was undecided, and asked if it had not been.
        let every_us = self.options.probe_every_us.max(1);
        let past = decided_us.saturating_sub(probe.due_us).max(0).checked_div(every_us).unwrap_or(0);
        let mut due_us = probe.due_us.saturating_add(past.saturating_mul(every_us));
        for _ in 0..MAX_UNASKED {
            due_us = due_us.saturating_add(every_us);
            if due_us > probe.at_us {
                break;
            }
            push(due_us, due_us, None);
            self.vague_until = due_us.saturating_add(self.timeout_us);
        }
    }

    fn said(&mut self, probe: &Probe<'a>) -> Said<'a> {
        let until_us = probe.sent_us.saturating_add(self.timeout_us);
        let is_longer = self.timeout_us > self.options.probe_timeout_us;
        let was_silent = match probe.answer {
            Answer::Silent { by: Silence::Timeout } => true,
            Answer::Fault { code } if **code == *SLOW_MACHINE => true,
            Answer::Fault { .. } => return Said::Known(probe.at_us, probe.answer),
            Answer::Ready { .. }
            | Answer::NotReady { .. }
            | Answer::Refused { .. }
            | Answer::Cut { .. }
            | Answer::Silent { by: Silence::TooManyRequests } => false,
        };
        if was_silent && !is_longer {
            return Said::Known(until_us, probe.answer);
        }
        if was_silent {
            return match self.late(probe.due_us) {
                Some((at_us, answer)) if at_us <= until_us => Said::Known(at_us, answer),
                Some(_) => Said::Known(until_us, &SILENT),
                None => Said::Unknown(probe.at_us, until_us),
            };
        }
        if probe.at_us <= until_us || is_longer {
            Said::Known(probe.at_us, probe.answer)
        } else if probe.late_us > 0 {
            // It lay in our system when we came to the deadline, for nobody knows how long.
            Said::Unknown(probe.sent_us, until_us)
        } else {
            Said::Known(until_us, &SILENT)
        }
    }

    /// The answer to a probe that had been taken for silent.
    fn late(&mut self, due: i64) -> Option<(i64, &'a Answer)> {
        while let Some((due_us, at_us, answer)) = self.late.get(self.past_late) {
            if *due_us >= due {
                return (*due_us == due).then_some((*at_us, *answer));
            }
            self.past_late = self.past_late.saturating_add(1);
        }
        None
    }
}

/// So many unknown answers in a row say no more than that nothing is known.
const MAX_UNASKED: usize = 64;

static SILENT: Answer = Answer::Silent { by: Silence::Timeout };
