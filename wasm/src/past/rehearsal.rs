//! The record of a rehearsal inside wasm: read line by line, summed up once, replayed under any policy.

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::num::NonZeroU32;

use greenlight_core::rehearsal::{
    Class, Doing, Lane, Membership, Reader, Record, Replay, States, Summary, Trial, Untold, processes, summarize,
};
use greenlight_core::rotation::{HoldLast, RotationPolicy};
use wasm_bindgen::prelude::*;

use super::event::Row;
use crate::number::{as_number, of_length, of_signed, to_signed};

/// A record. Lines go in until it is closed; then it answers. Times are in microseconds since the first due tick.
#[wasm_bindgen]
#[derive(Debug, Default)]
pub struct Roll {
    reader: Option<Reader>,
    record: Option<Record>,
    summary: Option<Summary>,
}

#[wasm_bindgen]
impl Roll {
    /// Nothing read yet.
    #[wasm_bindgen(constructor)]
    pub fn new() -> Self {
        Self { reader: Some(Reader::new()), ..Self::default() }
    }

    /// Takes the next line, of so many bytes: its numbers, a name (that of a process; in the first line the schema, if it
    /// says one), and a text. Where it is no event there are no numbers, and the text says why. Gives the line's number
    /// and what is wrong with it, if anything is; what stood before it stays read.
    pub fn take(&mut self, bytes: usize, numbers: &[f64], name: Option<String>, text: String) -> Option<String> {
        let reader = self.reader.as_mut()?;
        let name = name.map(String::into_boxed_str);
        let text = text.into_boxed_str();
        let opening = reader.check_opening(bytes, || name.clone());
        let taken = opening.and_then(|()| {
            if numbers.is_empty() { reader.refuse_line(text) } else { reader.take(Row { numbers, name, text }.event()) }
        });
        taken.err().map(|error| error.to_string())
    }

    /// No more lines come. What is missing after the last one, with its number; undefined where nothing is.
    pub fn close(&mut self) -> Option<String> {
        let reader = self.reader.take()?;
        let missing = reader.check_end().err().map(|error| error.to_string());
        self.record = reader.finish();
        self.summary = self.record.as_ref().map(summarize);
        missing
    }

    /// The sums, in the order in which the page names them. NaN is null. None where nothing could be read.
    pub fn sums(&self) -> Vec<f64> {
        let (Some(record), Some(summary)) = (&self.record, &self.summary) else { return Vec::new() };
        let Trial { policy, probe_timeout_us } = Trial::recorded(record);
        let fitness = &summary.fitness;
        let mut sums = Vec::from([
            f64::from(policy.silences_to_leave.get()),
            of_signed(probe_timeout_us),
            f64::from(policy.answers_to_join.get()),
            f64::from(u8::from(policy.hold_last == HoldLast::On)),
            f64::from(summary.exit),
            as_number(summary.ticks),
            as_number(summary.lost),
            as_number(summary.missed),
            summary.drain_margin_us.map_or(f64::NAN, of_signed),
            as_number(summary.reopened),
            of_signed(summary.longest_gap_us),
            of_signed(record.end_us),
            as_number(fitness.late_ticks),
            of_signed(fitness.late_p99_us),
            of_signed(fitness.late_max_us),
            as_number(fitness.without_outcome),
            as_number(fitness.late_probes),
            of_signed(fitness.late_probe_max_us),
            as_number(fitness.late_answers),
            as_number(fitness.faults),
            as_number(fitness.self_connects),
            as_number(fitness.control),
            as_number(fitness.control_failed),
            of_signed(fitness.control_max_us),
        ]);
        for classes in [&summary.totals, summary.lanes.of(Lane::Fresh), summary.lanes.of(Lane::Kept)] {
            sums.extend_from_slice(&[as_number(classes.sum()), as_number(classes.lost())]);
            for class in Class::ALL {
                sums.push(as_number(classes.of(class)));
            }
        }
        let states = States::of(record);
        for one in processes(record) {
            let turns = states.turns(one.name);
            sums.extend_from_slice(&[
                one.pid.map_or(f64::NAN, f64::from),
                as_number(one.sigterms),
                one.drain_us.map_or(f64::NAN, of_signed),
                f64::from(u8::from(one.killed)),
                of_length(turns.len()),
            ]);
            for (at_us, _, doing) in turns {
                sums.extend_from_slice(&[of_signed(*at_us), f64::from(*doing as u8)]);
            }
        }
        sums
    }

    /// The words, by their place: for what is counted and numbered (ten classes of ticks, eight things that a process
    /// does), the word on the roll, the line that says why, and all that went wrong.
    pub fn word(&self, place: usize) -> Option<String> {
        let summary = self.summary.as_ref()?;
        if let Some(class) = Class::ALL.get(place) {
            return Some(class.as_str().into());
        }
        let place = place - Class::ALL.len();
        if let Some(doing) = Doing::ALL.get(place) {
            return Some(doing.as_str().into());
        }
        match place - Doing::ALL.len() {
            0 => Some(summary.outcome.as_str().into()),
            1 => Some(summary.why.clone()),
            place => summary.findings.get(place - 2).map(ToString::to_string),
        }
    }

    /// The cause of a recorded move, by its place among them.
    pub fn cause(&self, place: usize) -> Option<String> {
        self.record.as_ref()?.moves().nth(place).map(|(.., cause)| cause.to_string())
    }

    /// Replays it: leaves, ticks for nobody, ticks unknown, until when it holds (NaN: throughout), the number of shifts,
    /// each with its moment, process and place (0 out, 1 in, 2 unknown), then the ticks for nobody (0) and the unknown
    /// ones (1), each with its due moment.
    pub fn replay(&self, silences: u32, timeout_us: f64, joins: u32, hold_last: bool) -> Vec<f64> {
        let Some(record) = &self.record else { return Vec::new() };
        let least = |number| NonZeroU32::new(number).unwrap_or(NonZeroU32::MIN);
        let policy = RotationPolicy {
            silences_to_leave: least(silences),
            answers_to_join: least(joins),
            hold_last: HoldLast::from(hold_last),
        };
        let replay = Replay::of(record, &Trial { policy, probe_timeout_us: to_signed(timeout_us) });
        let mut told = Vec::from([
            as_number(replay.leaves()),
            as_number(replay.ticks(Untold::Nobody)),
            as_number(replay.ticks(Untold::Unknown)),
            replay.holds_until_us.map_or(f64::NAN, of_signed),
            of_length(replay.shifts.len()),
        ]);
        for (at_us, process, to) in replay.shifts {
            let to = match to {
                Membership::Out => 0.,
                Membership::In => 1.,
                Membership::Unknown => 2.,
            };
            told.extend_from_slice(&[of_signed(at_us), of_length(process), to]);
        }
        for (due_us, what) in replay.untold {
            told.extend_from_slice(&[of_signed(due_us), f64::from(u8::from(what == Untold::Unknown))]);
        }
        told
    }
}
