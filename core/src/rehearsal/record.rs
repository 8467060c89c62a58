//! The record of a rehearsal: JSON lines, the header first and the end last, times in microseconds since the
//! first due tick. What happened before that is negative.

use alloc::boxed::Box;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::class::{Class, Lane};
use super::header::Header;
use crate::rotation::{Answer, Cause, MoveKind};

/// One tick with its outcome.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tick {
    /// Its number, from 0.
    pub tick: u64,
    /// When it was due.
    pub due_us: i64,
    /// When it was sent, and the one to ask was chosen; null where nobody was in rotation.
    pub sent_us: Option<i64>,
    /// When it ended.
    pub end_us: i64,
    /// Its lane.
    pub lane: Lane,
    /// Who was asked; null where nobody was in rotation.
    pub process: Option<Box<str>>,
    /// What it came to.
    pub class: Class,
    /// The status, where a complete head arrived.
    pub status: Option<u16>,
    /// The name of the error, for example `ECONNREFUSED`.
    pub error: Option<Box<str>>,
    /// The number of the connection, counted over the whole run; null where none was made.
    pub connection: Option<u64>,
    /// Which request on its connection this was, from 1; 0 where none was made.
    pub uses: u32,
    /// Whether a kept connection turned out closed before anything was written, and another was opened.
    pub reopened: bool,
}

impl Tick {
    /// Whether the connection had carried a request before.
    pub fn is_reused(&self) -> bool {
        self.uses > 1
    }

    /// How late it was sent; 0 where it was not.
    pub fn late_us(&self) -> i64 {
        self.sent_us.map_or(0, |sent| sent.saturating_sub(self.due_us).max(0))
    }
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
    /// Cleaning up: a SIGKILL of ours to the process group.
    Killed {
        /// When.
        at_us: i64,
        /// Which.
        process: Box<str>,
    },
    /// The end of what a process wrote to its standard error, where it never became ready.
    LastWords {
        /// When it was given up.
        at_us: i64,
        /// Which.
        process: Box<str>,
        /// What.
        text: Box<str>,
    },
    /// A process that never became ready listens at another address, where nobody asks it.
    Elsewhere {
        /// When it was found.
        at_us: i64,
        /// Which.
        process: Box<str>,
        /// The address at which it was not found.
        asked: Box<str>,
        /// The address at which it is.
        found: Box<str>,
    },
    /// A status became the expected one: told by an option, or answered in preflight.
    Expected {
        /// When.
        at_us: i64,
        /// Which.
        status: u16,
    },
    /// A probe learned something in time, or was taken for silent.
    Probe {
        /// When it was judged.
        at_us: i64,
        /// When it was due.
        due_us: i64,
        /// When it was sent; null where it could not be.
        sent_us: Option<i64>,
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
        /// What it found.
        found: Door,
    },
    /// A tick.
    Tick(Tick),
    /// A request to the rehearsal's own echo server.
    Control {
        /// When it was due.
        due_us: i64,
        /// How long it took from then; null where it failed.
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

/// What a connection tried outside the count found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Door {
    /// It was accepted.
    Open,
    /// It was refused or reset.
    Closed,
    /// Neither in time.
    Silent,
    /// It could not be tried.
    Ours,
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
        because: Unfinished,
        /// Whose fault it was.
        process: Box<str>,
    },
    /// Somebody stopped it.
    Interrupted,
    /// The rehearsal itself could not go on.
    Failed {
        /// Why, in words.
        because: Box<str>,
    },
}

/// What a roll lacked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unfinished {
    /// The process did not join in time.
    NeverReady,
    /// It ended before it joined, or before anybody told it to.
    EndedEarly,
    /// It was not gone in time after its SIGTERM: it did not exit, or it did and something that it started still answers
    /// at its address.
    NeverExited,
}

/// A whole record, or the readable part of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Under which rules it stood.
    pub header: Header,
    /// What happened, in order of the file, without header and end.
    pub events: Vec<Event>,
    /// How many ticks were due; where the end is missing, as many as are known of.
    pub ticks: u64,
    /// When it ended; where the end is missing, the last moment known of.
    pub end_us: i64,
    /// How it ended; `None` where the record breaks off.
    pub ending: Option<Ending>,
}

impl Record {
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

    /// The status that counts as ok; `None` where it was not learned.
    pub fn expected(&self) -> Option<u16> {
        let mut told = self.events.iter().rev();
        told.find_map(|event| if let Event::Expected { status, .. } = event { Some(*status) } else { None })
    }

    /// Where a process was asked in vain, and where it listens.
    pub fn elsewhere(&self, name: &str) -> Option<(&str, &str)> {
        self.events.iter().find_map(|event| {
            if let Event::Elsewhere { process, asked, found, .. } = event {
                (**process == *name).then_some((&**asked, &**found))
            } else {
                None
            }
        })
    }

    /// When a process ended by itself or by its SIGTERM, and how.
    pub fn exited(&self, name: &str) -> Option<(i64, &str)> {
        self.events.iter().find_map(|event| {
            if let Event::Exited { at_us, process, exit } = event {
                (**process == *name).then_some((*at_us, &**exit))
            } else {
                None
            }
        })
    }
}

impl Event {
    /// Which process it speaks of.
    pub fn process(&self) -> Option<&str> {
        match self {
            Self::Started { process, .. }
            | Self::Sigterm { process, .. }
            | Self::Exited { process, .. }
            | Self::Killed { process, .. }
            | Self::LastWords { process, .. }
            | Self::Elsewhere { process, .. }
            | Self::Probe { process, .. }
            | Self::Late { process, .. }
            | Self::Move { process, .. }
            | Self::Tried { process, .. } => Some(process),
            Self::Tick(tick) => tick.process.as_deref(),
            Self::Header(_) | Self::Expected { .. } | Self::Control { .. } | Self::End { .. } => None,
        }
    }

    /// When it was over; `None` for the header.
    pub fn at_us(&self) -> Option<i64> {
        match self {
            Self::Started { at_us, .. }
            | Self::Sigterm { at_us, .. }
            | Self::Exited { at_us, .. }
            | Self::Killed { at_us, .. }
            | Self::LastWords { at_us, .. }
            | Self::Elsewhere { at_us, .. }
            | Self::Expected { at_us, .. }
            | Self::Probe { at_us, .. }
            | Self::Late { at_us, .. }
            | Self::Move { at_us, .. }
            | Self::Tried { at_us, .. }
            | Self::End { at_us, .. } => Some(*at_us),
            Self::Tick(tick) => Some(tick.end_us),
            Self::Control { due_us, took_us } => Some(due_us.saturating_add(took_us.unwrap_or(0))),
            Self::Header(_) => None,
        }
    }

    /// The same event so much later: times are measured from the start of the program until the first tick is due.
    #[must_use]
    pub fn later(mut self, by_us: i64) -> Self {
        match &mut self {
            Self::Header(_) => {}
            Self::Started { at_us, .. }
            | Self::Sigterm { at_us, .. }
            | Self::Exited { at_us, .. }
            | Self::Killed { at_us, .. }
            | Self::LastWords { at_us, .. }
            | Self::Elsewhere { at_us, .. }
            | Self::Expected { at_us, .. }
            | Self::Move { at_us, .. }
            | Self::Tried { at_us, .. }
            | Self::End { at_us, .. } => move_by(by_us, &mut [at_us]),
            Self::Late { at_us, due_us, .. } => move_by(by_us, &mut [at_us, due_us]),
            Self::Probe { at_us, due_us, sent_us, .. } => {
                move_by(by_us, &mut [at_us, due_us]);
                *sent_us = sent_us.map(|sent| sent.saturating_add(by_us));
            }
            Self::Tick(tick) => {
                move_by(by_us, &mut [&mut tick.due_us, &mut tick.end_us]);
                tick.sent_us = tick.sent_us.map(|sent| sent.saturating_add(by_us));
            }
            Self::Control { due_us, .. } => move_by(by_us, &mut [due_us]),
        }
        self
    }
}

fn move_by(by_us: i64, moments: &mut [&mut i64]) {
    for moment in moments {
        **moment = moment.saturating_add(by_us);
    }
}
