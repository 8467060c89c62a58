//! A window of history as a file: JSON lines, the head first and the end last.

use alloc::boxed::Box;
use alloc::string::{String, ToString};
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

/// What a line of an export holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// The first one.
    Head(Head),
    /// One between.
    Event(Event),
    /// The last one.
    End(Tail),
}

/// What may stand in the next line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// The head and nothing else.
    Head,
    /// An event, or the end.
    EventOrEnd,
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
        let entry = self.understand(line, json)?;
        self.take(entry)
    }

    /// Takes what the next line holds, from whoever reads it; gives the event that it is, and `None` for head and
    /// end.
    ///
    /// # Errors
    /// As [`Reader::read`], but for what is no line at all.
    pub fn take(&mut self, entry: Entry) -> Result<Option<Event>, ReadError> {
        let expected = self.expected()?;
        let event = match (entry, expected) {
            (Entry::Head(head), Expected::Head) => {
                self.check_schema(&head.schema)?;
                if head.to_unix < head.from_unix {
                    return Err(self.refused(ReadProblem::Head("its window ends before it begins".into())));
                }
                self.head = Some(head);
                None
            }
            (Entry::Head(_), Expected::EventOrEnd) => return Err(self.refused(ReadProblem::SecondHead)),
            (Entry::Event(_) | Entry::End(_), Expected::Head) => return Err(self.refused(ReadProblem::NoHead)),
            (Entry::End(end), Expected::EventOrEnd) => {
                if end.events != self.events {
                    return Err(self.refused(ReadProblem::Missing { told: end.events, read: self.events }));
                }
                if end.next.is_some() {
                    return Err(self.refused(ReadProblem::GoesOn));
                }
                self.has_ended = true;
                None
            }
            (Entry::Event(event), Expected::EventOrEnd) => {
                self.events = self.events.saturating_add(1);
                Some(event)
            }
        };
        self.lines = self.lines.saturating_add(1);
        Ok(event)
    }

    /// What the next line is to hold.
    ///
    /// # Errors
    /// Nothing may stand behind the end.
    pub fn expected(&self) -> Result<Expected, ReadError> {
        match (self.has_ended, &self.head) {
            (true, _) => Err(self.refused(ReadProblem::AfterTheEnd)),
            (false, None) => Ok(Expected::Head),
            (false, Some(_)) => Ok(Expected::EventOrEnd),
        }
    }

    /// Whether a head of this schema can be read. A newer one may have another shape, so this is asked first.
    ///
    /// # Errors
    /// What it is instead.
    pub fn check_schema(&self, schema: &str) -> Result<(), ReadError> {
        if *schema == *SCHEMA {
            return Ok(());
        }
        Err(self.refused(match Stranger::of(schema, SCHEMA) {
            Stranger::Newer => ReadProblem::Newer(schema.into()),
            Stranger::Foreign => ReadProblem::Foreign(schema.into()),
        }))
    }

    /// Refuses the next line, for whoever reads it.
    pub fn refused(&self, what: ReadProblem) -> ReadError {
        ReadError { line: self.lines.saturating_add(1), what }
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

    fn understand(&self, line: &str, json: &impl Json) -> Result<Entry, ReadError> {
        if line.len() > MAX_LINE_BYTES {
            return Err(self.refused(ReadProblem::LongLine(line.len())));
        }
        match self.expected()? {
            Expected::Head => {
                let Opening { schema } = json.read(line).map_err(|_| self.refused(ReadProblem::NoHead))?;
                self.check_schema(&schema)?;
                json.read(line).map(Entry::Head).map_err(|words| self.refused(ReadProblem::Head(words.into())))
            }
            Expected::EventOrEnd if line.starts_with("{\"end\":") => {
                json.read(line).map(|End { end }| Entry::End(end)).map_err(|words| self.not_an_event(words))
            }
            Expected::EventOrEnd => json.read(line).map(Entry::Event).map_err(|words| self.not_an_event(words)),
        }
    }

    fn not_an_event(&self, words: String) -> ReadError {
        self.refused(ReadProblem::Line(words.into()))
    }
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
    /// A head that lacks something, in the words of the reader of JSON; or whose window is none.
    Head(Box<str>),
    /// A line that is no event, in the words of the reader of JSON.
    Line(Box<str>),
    /// A line of so many bytes, above [`MAX_LINE_BYTES`].
    LongLine(usize),
    /// A head in the middle.
    SecondHead,
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

impl ReadError {
    /// The line and the reason, in words. Put together by hand: this is read in browsers too, where the machinery
    /// of a formatter would outweigh the words.
    pub fn words(&self) -> String {
        let mut words = String::from("line ");
        let mut say = |text: &str| words.push_str(text);
        say(&self.line.to_string());
        say(": ");
        match &self.what {
            ReadProblem::NoHead => say("the first line of an export is its head, and this is none"),
            ReadProblem::Newer(told) => {
                say("the export is ");
                say(&inert(told));
                say(", of a newer version; this one reads ");
                say(SCHEMA);
            }
            ReadProblem::Foreign(told) => {
                say(&inert(told));
                say(" is no export of a history; this version reads ");
                say(SCHEMA);
            }
            ReadProblem::Head(why) => {
                say("the head is wrong: ");
                say(&inert(why));
            }
            ReadProblem::Line(why) => {
                say("no event of a history: ");
                say(&inert(why));
            }
            ReadProblem::LongLine(bytes) => {
                say("the line is ");
                say(&bytes.to_string());
                say(" bytes long, at most ");
                say(&MAX_LINE_BYTES.to_string());
            }
            ReadProblem::SecondHead => say("a second head"),
            ReadProblem::AfterTheEnd => say("something stands behind the end"),
            ReadProblem::Truncated => say("the export breaks off before its end"),
            ReadProblem::Missing { told, read } => {
                say("there were ");
                say(&told.to_string());
                say(" events, and ");
                say(&read.to_string());
                say(" of them are here");
            }
            ReadProblem::GoesOn => say("this is one page of several: export the whole window"),
        }
        words
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words())
    }
}

fn inert(text: &str) -> String {
    let mut shown = String::new();
    // Writing to a string cannot fail.
    let _ = Inert(text, MAX_SHOWN).push_to(&mut shown);
    shown
}

impl core::error::Error for ReadError {}

/// How long a line may be: the largest row, every byte of it escaped.
pub const MAX_LINE_BYTES: usize = 8 << 20;
/// How many characters of a foreign text a refusal shows.
const MAX_SHOWN: usize = 200;
