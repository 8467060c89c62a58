//! Everything that a record tells, as one object: what `--json` prints, and what the texts are made of.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::num::NonZeroU32;

use serde::Serialize;

use super::class::{Class, Lane};
use super::header::SCHEMA;
use super::record::{Event, Record, Tick};
use super::replay::{WhatIf, replay};
use super::states::{Doing, States, Turn};
use super::summary::{Summary, summarize};
use crate::rotation::{Cause, MoveKind, RotationPolicy};

/// Everything that a record tells.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Account<'a> {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// What it amounts to.
    #[serde(flatten)]
    pub summary: Summary,
    /// The status that counts as ok; null where it was not learned.
    pub expected_status: Option<u16>,
    /// The processes, in order of start.
    pub processes: Vec<Process<'a>>,
    /// The joins and leaves, in order.
    pub rotation: Vec<Moved<'a>>,
    /// Every tick that was missed and has an outcome, in order.
    pub misses: Vec<Miss<'a>>,
    /// What one, two and three silences would have made of the same probes.
    pub what_if: Vec<WhatIf>,
}

/// A process of the roll.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Process<'a> {
    /// What it is called.
    pub name: &'a str,
    /// Its command.
    pub command: &'a str,
    /// Its number in the system; null where it was not started.
    pub pid: Option<u32>,
    /// How many SIGTERMs it was sent.
    pub sigterms: u64,
    /// How it ended, in words; null where it had not.
    pub exit: Option<&'a str>,
    /// From its SIGTERM to its exit.
    pub drain_us: Option<i64>,
    /// Whether the rehearsal killed it, cleaning up.
    pub killed: bool,
    /// The end of its standard error, where it never became ready.
    pub last_words: Option<&'a str>,
}

/// A join or a leave.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Moved<'a> {
    /// When.
    pub at_us: i64,
    /// Who.
    pub process: &'a str,
    /// Which of the two.
    #[serde(rename = "move")]
    pub kind: MoveKind,
    /// The answer that caused it, in words.
    #[serde(serialize_with = "as_text")]
    pub cause: &'a Cause,
}

/// A missed tick, with its evidence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Miss<'a> {
    /// Its number.
    pub tick: u64,
    /// When it was due.
    pub due_us: i64,
    /// When it ended.
    pub end_us: i64,
    /// Who was asked; null where nobody was in rotation.
    pub process: Option<&'a str>,
    /// What it came to.
    pub class: Class,
    /// The status, where a complete head arrived.
    pub status: Option<u16>,
    /// The error's name.
    pub error: Option<&'a str>,
    /// Its lane.
    pub lane: Lane,
    /// The number of its connection.
    pub connection: Option<u64>,
    /// Which request on that it was, from 1.
    pub uses: u32,
    /// Whether it was a later one.
    pub reused: bool,
    /// What every process was doing when it was due.
    pub states_due: BTreeMap<&'a str, Doing>,
    /// What every process was doing when it ended.
    pub states_end: BTreeMap<&'a str, Doing>,
}

impl<'a> Account<'a> {
    /// Reads a record.
    pub fn of(record: &'a Record) -> Self {
        let states = States::of(record);
        Self {
            schema: SCHEMA,
            summary: summarize(record),
            expected_status: record.expected(),
            processes: processes(record),
            rotation: record
                .moves()
                .map(|(at_us, process, kind, cause)| Moved { at_us, process, kind, cause })
                .collect(),
            misses: misses(record, &states),
            what_if: (1..=3).filter_map(NonZeroU32::new).map(|silences| what_if(record, silences)).collect(),
        }
    }
}

/// The recorded probes under another number of silences, all else as it was.
pub fn what_if(record: &Record, silences_to_leave: NonZeroU32) -> WhatIf {
    replay(record, RotationPolicy { silences_to_leave, ..record.header.policy })
}

/// The processes, in order of start.
pub fn processes(record: &Record) -> Vec<Process<'_>> {
    let states = States::of(record);
    record.header.processes.iter().map(|one| process(record, &states, &one.name, &one.command)).collect()
}

fn process<'a>(record: &'a Record, states: &States<'_>, name: &'a str, command: &'a str) -> Process<'a> {
    let mut told = Process {
        name,
        command,
        pid: None,
        sigterms: 0,
        exit: None,
        drain_us: None,
        killed: states.turns(name).iter().any(|(_, turn, _)| *turn == Turn::Kill),
        last_words: None,
    };
    let mut sigterm = None;
    for event in record.events.iter().filter(|event| event.process() == Some(name)) {
        match event {
            Event::Started { pid, .. } => told.pid = Some(*pid),
            Event::Sigterm { at_us, .. } => {
                told.sigterms = told.sigterms.saturating_add(1);
                sigterm = sigterm.or(Some(*at_us));
            }
            Event::Exited { at_us, exit, .. } => {
                told.exit = Some(exit);
                // What the rehearsal killed did not drain.
                told.drain_us = sigterm.filter(|_| !told.killed).map(|sent| at_us.saturating_sub(sent));
            }
            Event::LastWords { text, .. } => told.last_words = Some(text),
            Event::Header(_)
            | Event::Killed { .. }
            | Event::Elsewhere { .. }
            | Event::Expected { .. }
            | Event::Probe { .. }
            | Event::Late { .. }
            | Event::Move { .. }
            | Event::Tried { .. }
            | Event::Tick(_)
            | Event::Control { .. }
            | Event::End { .. } => {}
        }
    }
    told
}

fn misses<'a>(record: &'a Record, states: &States<'_>) -> Vec<Miss<'a>> {
    let mut missed: Vec<&Tick> = record.told_ticks().filter(|tick| tick.class != Class::Ok).collect();
    missed.sort_unstable_by_key(|tick| tick.tick);
    let states_at =
        |at_us| record.header.processes.iter().map(|one| (&*one.name, states.at(&one.name, at_us))).collect();
    missed
        .into_iter()
        .map(|tick| Miss {
            tick: tick.tick,
            due_us: tick.due_us,
            end_us: tick.end_us,
            process: tick.process.as_deref(),
            class: tick.class,
            status: tick.status,
            error: tick.error.as_deref(),
            lane: tick.lane,
            connection: tick.connection,
            uses: tick.uses,
            reused: tick.is_reused(),
            states_due: states_at(tick.due_us),
            states_end: states_at(tick.end_us),
        })
        .collect()
}

fn as_text<S: serde::Serializer>(cause: &Cause, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(cause)
}
