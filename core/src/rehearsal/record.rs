//! The record of a rehearsal: JSON lines, the header first and the end last, times in microseconds since the
//! first due tick. What happened before that is negative.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;

use serde::{Deserialize, Serialize};

use crate::rotation::{Answer, Cause, MoveKind, RotationPolicy};

/// The schema that this version reads and writes.
pub const SCHEMA: &str = "greenlight.rehearsal/1";

/// What one tick came to. The sum of the classes equals the ticks, always.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// A complete final answer with the expected status, body read to its end.
    Ok,
    /// A complete final answer with another status below 500.
    Unexpected,
    /// The client gave up, and nobody had refused or cut it.
    Slow,
    /// Connection refused.
    Refused,
    /// Reset or closed before a complete head.
    Cut,
    /// The head arrived, the body did not.
    Torn,
    /// A complete 5xx.
    ServerError,
    /// Not HTTP.
    Garbled,
    /// Nobody was in rotation when it was due.
    Nobody,
    /// The client's own trouble: never held against the service, never called clean.
    Ours,
}

impl Class {
    /// All of them, in the order in which they are listed.
    pub const ALL: [Self; 10] = [
        Self::Ok,
        Self::Unexpected,
        Self::Slow,
        Self::Refused,
        Self::Cut,
        Self::Torn,
        Self::ServerError,
        Self::Garbled,
        Self::Nobody,
        Self::Ours,
    ];

    /// The word for it on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Unexpected => "unexpected",
            Self::Slow => "slow",
            Self::Refused => "refused",
            Self::Cut => "cut",
            Self::Torn => "torn",
            Self::ServerError => "server_error",
            Self::Garbled => "garbled",
            Self::Nobody => "nobody",
            Self::Ours => "ours",
        }
    }
}

/// How a request of a tick is connected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Lane {
    /// A new connection per request.
    Fresh,
    /// The asked member's most recently used idle connection, else a new one.
    Kept,
}

/// The first line: under which rules the run stood.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// [`SCHEMA`].
    pub schema: Box<str>,
    /// The time between two ticks, at least 1.
    pub every_us: i64,
    /// How long a probe may take; a tick sent later than this after it was due is late.
    pub probe_timeout_us: i64,
    /// How long a join or a leave takes to reach the stream.
    pub lag_us: i64,
    /// How many slow ticks are tolerated.
    pub max_slow: u64,
    /// When members join and leave.
    pub policy: RotationPolicy,
    /// The processes, in order of start. Round robin goes in this order.
    pub processes: Vec<Box<str>>,
}

/// One tick with its outcome.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tick {
    /// Its number, from 0.
    pub tick: u64,
    /// When it was due.
    pub due_us: i64,
    /// When it was sent; null where nobody was asked.
    pub sent_us: Option<i64>,
    /// When it ended.
    pub end_us: i64,
    /// Its lane.
    pub lane: Lane,
    /// Who was asked; null where nobody was in rotation.
    pub process: Option<Box<str>>,
    /// What it came to.
    pub class: Class,
    /// The name of the error, for example `ECONNREFUSED`.
    pub error: Option<Box<str>>,
    /// Whether the connection had carried a request before.
    pub reused: bool,
    /// Whether a kept connection turned out closed before anything was written, and another was opened.
    pub reopened: bool,
}

/// One thing that happened in the run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// The first line.
    Header(Header),
    /// A process was started.
    Started {
        /// When.
        at_us: i64,
        /// Which.
        process: Box<str>,
        /// Its number in the system.
        pid: u32,
    },
    /// The one SIGTERM was sent.
    Sigterm {
        /// When.
        at_us: i64,
        /// To whom.
        process: Box<str>,
    },
    /// A process ended by itself or by its SIGTERM, as learned from waiting for it.
    Exited {
        /// When.
        at_us: i64,
        /// Which.
        process: Box<str>,
        /// In words: `exit 0`, `signal 9`.
        exit: Box<str>,
    },
    /// Cleaning up after a run cut short: a SIGKILL of ours to the process group.
    Killed {
        /// When.
        at_us: i64,
        /// Which.
        process: Box<str>,
    },
    /// A probe learned something in time, or was taken for silent.
    Probe {
        /// When it was judged.
        at_us: i64,
        /// When it was due.
        due_us: i64,
        /// Who was asked.
        process: Box<str>,
        /// What was learned.
        answer: Answer,
        /// How late we ourselves came to its deadline; 0 where it was decided before.
        late_us: i64,
    },
    /// The answer to a probe that had been taken for silent. It changes nothing.
    Late {
        /// When it arrived.
        at_us: i64,
        /// When its probe was due.
        due_us: i64,
        /// Whose.
        process: Box<str>,
        /// What.
        answer: Answer,
    },
    /// A join or a leave.
    Move {
        /// When.
        at_us: i64,
        /// Who.
        process: Box<str>,
        /// Which of the two.
        #[serde(rename = "move")]
        kind: MoveKind,
        /// Why.
        cause: Cause,
    },
    /// A connection tried outside the count, after the process left rotation.
    Tried {
        /// When.
        at_us: i64,
        /// Of whom.
        process: Box<str>,
        /// Whether it was accepted.
        accepted: bool,
    },
    /// A tick.
    Tick(Tick),
    /// A request to the rehearsal's own echo server.
    Control {
        /// When it was due.
        due_us: i64,
        /// How long it took; null where it failed.
        took_us: Option<i64>,
    },
    /// The last line.
    End {
        /// When.
        at_us: i64,
        /// How many ticks were due.
        ticks: u64,
        /// How the run ended.
        how: Ending,
    },
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "ending", rename_all = "snake_case")]
pub enum Ending {
    /// The old one drained and exited, and the tail was played.
    Complete,
    /// The roll did not complete.
    Incomplete {
        /// What did not happen.
        because: Box<str>,
    },
    /// Somebody stopped it.
    Interrupted,
}

/// A whole record. Its header was the first line and its end the last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Under which rules it stood.
    pub header: Header,
    /// What happened, in order of the file, without header and end.
    pub events: Vec<Event>,
    /// How many ticks were due.
    pub ticks: u64,
    /// How it ended.
    pub ending: Ending,
}

impl Record {
    /// Puts a record together from its lines, already read as events.
    ///
    /// # Errors
    /// The line and what is wrong with it: a foreign or newer schema, a second header, an end that is missing or
    /// not the last, a tick that is told twice or beyond the number of ticks, a process nobody named.
    pub fn from_events(events: impl IntoIterator<Item = Event>) -> Result<Self, RecordError> {
        let mut header = None;
        let mut end = None;
        let mut kept = Vec::new();
        let mut last = 0;
        for (line, event) in (1_u64..).zip(events) {
            last = line;
            let refuse = |what| Err(RecordError { line, what });
            if end.is_some() {
                return refuse(RecordProblem::AfterTheEnd);
            }
            match (event, &header) {
                (Event::Header(told), None) if *told.schema == *SCHEMA && told.every_us > 0 => header = Some(told),
                (Event::Header(told), None) => return refuse(RecordProblem::Schema(told.schema)),
                (Event::Header(_), Some(_)) => return refuse(RecordProblem::SecondHeader),
                (_, None) => return refuse(RecordProblem::NoHeader),
                (Event::End { ticks, how, .. }, Some(_)) => end = Some((ticks, how)),
                (event, Some(header)) => {
                    if let Some(process) =
                        event.process().filter(|one| !header.processes.iter().any(|it| **it == **one))
                    {
                        return refuse(RecordProblem::UnknownProcess(process.into()));
                    }
                    kept.push(event);
                }
            }
        }
        let line = last.saturating_add(1);
        let Some(header) = header else { return Err(RecordError { line, what: RecordProblem::NoHeader }) };
        let Some((ticks, ending)) = end else { return Err(RecordError { line, what: RecordProblem::Truncated }) };
        let mut numbers = alloc::collections::BTreeSet::new();
        for (line, event) in (2_u64..).zip(&kept) {
            if let Event::Tick(Tick { tick, .. }) = event
                && (*tick >= ticks || !numbers.insert(*tick))
            {
                return Err(RecordError { line, what: RecordProblem::Tick(*tick) });
            }
        }
        Ok(Self { header, events: kept, ticks, ending })
    }

    /// The ticks that have an outcome.
    pub fn told_ticks(&self) -> impl Iterator<Item = &Tick> {
        self.events.iter().filter_map(|event| if let Event::Tick(tick) = event { Some(tick) } else { None })
    }

    /// The recorded joins and leaves: when, who, which, and why.
    pub fn moves(&self) -> impl DoubleEndedIterator<Item = (i64, &str, MoveKind, &Cause)> {
        self.events.iter().filter_map(|event| {
            if let Event::Move { at_us, process, kind, cause } = event {
                Some((*at_us, &**process, *kind, cause))
            } else {
                None
            }
        })
    }

    /// The SIGTERMs: when, and to whom.
    pub fn sigterms(&self) -> impl Iterator<Item = (i64, &str)> {
        self.events.iter().filter_map(|event| {
            if let Event::Sigterm { at_us, process } = event { Some((*at_us, &**process)) } else { None }
        })
    }

    /// When a process ended by itself or by its SIGTERM.
    pub fn exited(&self, name: &str) -> Option<i64> {
        self.events.iter().find_map(|event| {
            if let Event::Exited { at_us, process, .. } = event { (**process == *name).then_some(*at_us) } else { None }
        })
    }
}

impl Event {
    /// Which process it speaks of.
    fn process(&self) -> Option<&str> {
        match self {
            Self::Started { process, .. }
            | Self::Sigterm { process, .. }
            | Self::Exited { process, .. }
            | Self::Killed { process, .. }
            | Self::Probe { process, .. }
            | Self::Late { process, .. }
            | Self::Move { process, .. }
            | Self::Tried { process, .. } => Some(process),
            Self::Tick(tick) => tick.process.as_deref(),
            Self::Header(_) | Self::Control { .. } | Self::End { .. } => None,
        }
    }
}

/// Why a record is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordError {
    /// The line, from 1; one past the last where something is missing at the end.
    pub line: u64,
    /// What is wrong with it.
    pub what: RecordProblem,
}

/// What is wrong with a line of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecordProblem {
    /// The first line is no header.
    NoHeader,
    /// Another schema than [`SCHEMA`], or ticks without a time between them.
    Schema(Box<str>),
    /// A header in the middle.
    SecondHeader,
    /// Something stands behind the end.
    AfterTheEnd,
    /// The end is missing.
    Truncated,
    /// A tick told twice, or one beyond the number of ticks.
    Tick(u64),
    /// A process that the header does not name.
    UnknownProcess(Box<str>),
}

impl fmt::Display for RecordError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: ", self.line)?;
        match &self.what {
            RecordProblem::NoHeader => f.write_str("the first line of a record is its header"),
            RecordProblem::Schema(told) => write!(f, "the record is {told}, this version reads {SCHEMA}"),
            RecordProblem::SecondHeader => f.write_str("a second header"),
            RecordProblem::AfterTheEnd => f.write_str("something stands behind the end"),
            RecordProblem::Truncated => f.write_str("the record breaks off before its end"),
            RecordProblem::Tick(tick) => write!(f, "tick {tick} is told twice or was never due"),
            RecordProblem::UnknownProcess(process) => write!(f, "process {process} is not named in the header"),
        }
    }
}

impl core::error::Error for RecordError {}
