//! What every process was doing at a moment, as the record has it.

use alloc::vec::Vec;

use serde::Serialize;

use super::order::in_order;
use super::record::{Event, Record};
use crate::rotation::MoveKind;

/// What a process is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Doing {
    /// It was not started yet.
    NotStarted,
    /// It runs and has not joined yet.
    Starting,
    /// It is in rotation.
    In,
    /// It was in rotation and is out, and nobody told it to stop.
    Out,
    /// It got its SIGTERM and is still in rotation.
    Told,
    /// It got its SIGTERM and is out of rotation.
    Draining,
    /// It ended.
    Exited,
    /// The rehearsal cleaned it up.
    Killed,
}

impl Doing {
    /// All of them, in their order.
    pub const ALL: [Self; 8] =
        [Self::NotStarted, Self::Starting, Self::In, Self::Out, Self::Told, Self::Draining, Self::Exited, Self::Killed];

    /// The words for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NotStarted => "not started",
            Self::Starting => "starting",
            Self::In => "in",
            Self::Out => "out",
            Self::Told => "told to stop",
            Self::Draining => "draining",
            Self::Exited => "exited",
            Self::Killed => "killed",
        }
    }
}

/// What changed what a process was doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Turn {
    /// It was started.
    Start,
    /// It joined rotation.
    Join,
    /// It got its SIGTERM.
    Sigterm,
    /// The rehearsal killed it.
    Kill,
    /// It ended.
    Exit,
    /// It left rotation.
    Leave,
}

/// When, which, and what it did from then on.
type Turns = Vec<(i64, Turn, Doing)>;

/// The turns of every process, in order of time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct States<'a> {
    of: Vec<(&'a str, Turns)>,
}

impl<'a> States<'a> {
    /// Reads them from a record.
    pub fn of(record: &'a Record) -> Self {
        let mut turns: Vec<(i64, &str, Turn)> = Vec::new();
        for event in &record.events {
            if let Some(turn) = turn_of(event) {
                turns.push(turn);
            }
        }
        // Turns of one moment stay in the order of the file: a join and its SIGTERM may share one.
        let order = in_order(turns.len(), &|place| turns.get(place).map_or(0, |(at, ..)| *at));
        let mut of: Vec<(&str, Turns)> = Vec::new();
        for planned in &record.header.processes {
            of.push((&*planned.name, Vec::new()));
        }
        for place in order {
            let Some((at, process, turn)) = turns.get(place).copied() else { continue };
            let Some((_, past)) = of.iter_mut().find(|(name, _)| *name == process) else { continue };
            let before = past.last().map_or(Doing::NotStarted, |(.., doing)| *doing);
            past.push((at, turn, after(before, turn)));
        }
        Self { of }
    }

    /// The turns of one process: when, which, and what it did from then on.
    pub fn turns(&self, process: &str) -> &[(i64, Turn, Doing)] {
        self.of.iter().find(|(name, _)| *name == process).map_or(&[], |(_, turns)| turns)
    }

    /// What a process was doing at a moment, a turn of that very moment included.
    pub fn at(&self, process: &str, at_us: i64) -> Doing {
        let turns = self.turns(process);
        let past = turns.partition_point(|(at, ..)| *at <= at_us);
        past.checked_sub(1).and_then(|last| turns.get(last)).map_or(Doing::NotStarted, |(.., doing)| *doing)
    }
}

fn turn_of(event: &Event) -> Option<(i64, &str, Turn)> {
    match event {
        Event::Started { at_us, process, .. } => Some((*at_us, process, Turn::Start)),
        Event::Sigterm { at_us, process } => Some((*at_us, process, Turn::Sigterm)),
        Event::Exited { at_us, process, .. } => Some((*at_us, process, Turn::Exit)),
        Event::Killed { at_us, process } => Some((*at_us, process, Turn::Kill)),
        Event::Move { at_us, process, kind: MoveKind::Join, .. } => Some((*at_us, process, Turn::Join)),
        Event::Move { at_us, process, kind: MoveKind::Leave, .. } => Some((*at_us, process, Turn::Leave)),
        Event::Header(_)
        | Event::LastWords { .. }
        | Event::Elsewhere { .. }
        | Event::Expected { .. }
        | Event::Probe { .. }
        | Event::Late { .. }
        | Event::Tried { .. }
        | Event::Tick(_)
        | Event::Control { .. }
        | Event::End { .. } => None,
    }
}

/// What an end began, no later move undoes: the prober learns of it after it happened.
const fn after(before: Doing, turn: Turn) -> Doing {
    match (before, turn) {
        (Doing::Killed, _) | (_, Turn::Kill) => Doing::Killed,
        (Doing::Exited, _) | (_, Turn::Exit) => Doing::Exited,
        (_, Turn::Start) => Doing::Starting,
        (Doing::Told | Doing::Draining, Turn::Join) | (Doing::In | Doing::Told, Turn::Sigterm) => Doing::Told,
        (Doing::Told | Doing::Draining, Turn::Leave)
        | (Doing::NotStarted | Doing::Starting | Doing::Out | Doing::Draining, Turn::Sigterm) => Doing::Draining,
        (Doing::NotStarted | Doing::Starting | Doing::In | Doing::Out, Turn::Join) => Doing::In,
        (Doing::NotStarted | Doing::Starting | Doing::In | Doing::Out, Turn::Leave) => Doing::Out,
    }
}
