//! A window of history as a file: JSON lines, the head first and the end last.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use super::event::Event;
use super::lives::Lives;
use crate::inert::Inert;
use crate::jsonl::{Json, Opening, Stranger};
use crate::name::Name;
use crate::time::{Horizon, UnixSeconds};

/// The name of this shape.
pub const SCHEMA: &str = "greenlight.history/1";

/// What stands before the events: what they are of.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Head {
    /// [`SCHEMA`].
    pub schema: Box<str>,
    /// The Greenlight that told it.
    pub version: Box<str>,
    /// The window's first second.
    pub from_unix: UnixSeconds,
    /// The first second after it.
    pub to_unix: UnixSeconds,
    /// Before which second the record is known to be complete.
    pub known_until_unix: UnixSeconds,
    /// The horizon by which the daemon judged when it told this; null is never.
    pub stale_after_secs: Horizon,
    /// From when on nothing has been pruned; null where nothing ever was.
    pub complete_from_unix: Option<UnixSeconds>,
    /// The instances that are told of, and no others; null where all are.
    pub names: Option<Vec<Name>>,
    /// Where a life of the daemon takes over from an earlier one.
    #[serde(flatten)]
    pub lives: Lives,
}

/// The last line: without it something is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct End {
    /// What is told of the end.
    pub end: Tail,
}

/// What stands after the events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Tail {
    /// How many events there were.
    pub events: u64,
    /// Where the answer goes on; null where nothing follows.
    pub next: Option<u64>,
}

/// Takes an export line by line and gives its events. It keeps none of them.
#[derive(Clone, Debug, Default)]
pub struct Reader {
    lines: u64,
    head: Option<Head>,
    events: u64,
    has_ended: bool,
}

impl Reader {
    /// Reads the next line, without its end; gives the event that it holds, and `None` for head and end.
    ///
    /// # Errors
    /// The line and what is wrong with it. What was read before stays as it was.
    pub fn read(&mut self, line: &str, json: &impl Json) -> Result<Option<Event>, ReadError> {
        let event = self.understand(line, json).map_err(|what| self.refused(what))?;
        self.lines = self.lines.saturating_add(1);
        Ok(event)
    }

    /// The head, once it has been read.
    pub fn head(&self) -> Option<&Head> {
        self.head.as_ref()
    }

    /// What is missing after the last line.
    ///
    /// # Errors
    /// A head or an end that did not come.
    pub fn check_end(&self) -> Result<(), ReadError> {
        match (&self.head, self.has_ended) {
            (None, _) => Err(self.refused(ReadProblem::NoHead)),
            (Some(_), false) => Err(self.refused(ReadProblem::Truncated)),
            (Some(_), true) => Ok(()),
        }
    }

    fn understand(&mut self, line: &str, json: &impl Json) -> Result<Option<Event>, ReadProblem> {
        if line.len() > MAX_LINE_BYTES {
            return Err(ReadProblem::LongLine(line.len()));
        }
        if self.has_ended {
            return Err(ReadProblem::AfterTheEnd);
        }
        if self.head.is_none() {
            // A newer head may have another shape: its schema is all that can be relied on.
            let Opening { schema } = json.read(line).map_err(|_| ReadProblem::NoHead)?;
            if *schema != *SCHEMA {
                return Err(match Stranger::of(&schema, SCHEMA) {
                    Stranger::Newer => ReadProblem::Newer(schema),
                    Stranger::Foreign => ReadProblem::Foreign(schema),
                });
            }
            self.head = Some(json.read(line).map_err(|words| ReadProblem::Head(words.into()))?);
            return Ok(None);
        }
        if line.starts_with("{\"end\":") {
            let End { end } = json.read(line).map_err(not_an_event)?;
            if end.events != self.events {
                return Err(ReadProblem::Missing { told: end.events, read: self.events });
            }
            if end.next.is_some() {
                return Err(ReadProblem::GoesOn);
            }
            self.has_ended = true;
            return Ok(None);
        }
        let event = json.read(line).map_err(not_an_event)?;
        self.events = self.events.saturating_add(1);
        Ok(Some(event))
    }

    fn refused(&self, what: ReadProblem) -> ReadError {
        ReadError { line: self.lines.saturating_add(1), what }
    }
}

fn not_an_event(words: String) -> ReadProblem {
    ReadProblem::Line(words.into())
}

/// Why an export is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadError {
    /// The line, from 1; one past the last where something is missing at the end.
    pub line: u64,
    /// What is wrong with it.
    pub what: ReadProblem,
}

/// What is wrong with a line of an export.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReadProblem {
    /// The first line is no head.
    NoHead,
    /// The schema of a version after this one.
    Newer(Box<str>),
    /// The schema of something else.
    Foreign(Box<str>),
    /// A head that lacks something, in the words of the reader of JSON.
    Head(Box<str>),
    /// A line that is no event, in the words of the reader of JSON.
    Line(Box<str>),
    /// A line of so many bytes, above [`MAX_LINE_BYTES`].
    LongLine(usize),
    /// Something stands behind the end.
    AfterTheEnd,
    /// The end is missing.
    Truncated,
    /// The end tells of another number of events.
    Missing {
        /// How many there were when it was written.
        told: u64,
        /// How many there are.
        read: u64,
    },
    /// It is one page of several.
    GoesOn,
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: ", self.line)?;
        match &self.what {
            ReadProblem::NoHead => f.write_str("the first line of an export is its head, and this is none"),
            ReadProblem::Newer(told) => {
                write!(f, "the export is {}, of a newer version; this one reads {SCHEMA}", Inert(told, MAX_SHOWN))
            }
            ReadProblem::Foreign(told) => {
                write!(f, "{} is no export of a history; this version reads {SCHEMA}", Inert(told, MAX_SHOWN))
            }
            ReadProblem::Head(words) => write!(f, "the head is wrong: {}", Inert(words, MAX_SHOWN)),
            ReadProblem::Line(words) => write!(f, "no event of a history: {}", Inert(words, MAX_SHOWN)),
            ReadProblem::LongLine(bytes) => write!(f, "the line is {bytes} bytes long, at most {MAX_LINE_BYTES}"),
            ReadProblem::AfterTheEnd => f.write_str("something stands behind the end"),
            ReadProblem::Truncated => f.write_str("the export breaks off before its end"),
            ReadProblem::Missing { told, read } => write!(f, "there were {told} events, and {read} of them are here"),
            ReadProblem::GoesOn => f.write_str("this is one page of several: export the whole window"),
        }
    }
}

impl core::error::Error for ReadError {}

/// How long a line may be: the largest row, every byte of it escaped.
pub const MAX_LINE_BYTES: usize = 8 << 20;
/// How many characters of a foreign text a refusal shows.
const MAX_SHOWN: usize = 200;
