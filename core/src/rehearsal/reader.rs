//! A record from its lines, one by one: what is foreign, newer, doubled or broken off is refused with its line,
//! and what stood before it stays readable.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;

use super::header::{Header, SCHEMA};
use super::record::{Ending, Event, Record, Tick};
use super::stream::MAX_PROCESSES;
use crate::inert::Inert;
use crate::jsonl::{Json, Opening, Stranger};
use crate::name::Name;

/// Takes a record in the order of its lines, as it is written or read back.
///
/// Invariant: all events kept belong to the header's processes, and no tick is kept twice.
#[derive(Debug, Default)]
pub struct Reader {
    lines: u64,
    header: Option<Header>,
    events: Vec<Event>,
    /// One bit for each tick.
    told: Vec<u64>,
    last_tick: Option<(u64, u64)>,
    last_us: i64,
    end: Option<(i64, u64, Ending)>,
}

impl Reader {
    /// Nothing read yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads the next line. A line that is refused leaves what was read before as it was.
    ///
    /// # Errors
    /// As [`Reader::take`], and what is no line of a record at all.
    pub fn read(&mut self, line: &str, json: &impl Json) -> Result<(), RecordError> {
        self.check_opening(line.len(), || json.read::<Opening>(line).ok().map(|opening| opening.schema))?;
        match json.read(line) {
            Ok(event) => self.take(event),
            Err(words) => self.refuse_line(words.into()),
        }
    }

    /// Looks at a line before it is read as an event: at its length in bytes, and, of the first one, at its schema, if
    /// it has one. A newer header may have another shape: its schema is all that can be relied on.
    ///
    /// # Errors
    /// A line that is too long, and a first one that is no header or a foreign or newer one.
    pub fn check_opening(&self, bytes: usize, schema: impl FnOnce() -> Option<Box<str>>) -> Result<(), RecordError> {
        if bytes > MAX_LINE_BYTES {
            return self.refuse(RecordProblem::LongLine(bytes));
        }
        if self.header.is_some() {
            return Ok(());
        }
        match schema() {
            Some(schema) if *schema == *SCHEMA => Ok(()),
            Some(schema) => self.refuse(RecordProblem::of_schema(schema)),
            None => self.refuse(RecordProblem::NoHeader),
        }
    }

    /// Refuses the next line, which is no event.
    ///
    /// # Errors
    /// Always: the line, and these words.
    pub fn refuse_line(&self, words: Box<str>) -> Result<(), RecordError> {
        self.refuse(RecordProblem::Line(words))
    }

    /// Takes the next event.
    ///
    /// # Errors
    /// The line and what is wrong with it: a foreign or newer schema, a second header, something behind the end, a
    /// tick that is told twice or beyond the number of ticks, a process nobody named.
    pub fn take(&mut self, event: Event) -> Result<(), RecordError> {
        self.check(&event)?;
        self.lines = self.lines.saturating_add(1);
        self.last_us = self.last_us.max(event.at_us().unwrap_or(i64::MIN));
        if let Event::Header(header) = event {
            self.header = Some(header);
        } else if let Event::End { at_us, ticks, how } = event {
            self.end = Some((at_us, ticks, how));
        } else {
            if let Event::Tick(Tick { tick, .. }) = event {
                self.note(tick);
                self.last_tick = self.last_tick.max(Some((tick, self.lines)));
            }
            self.events.push(event);
        }
        Ok(())
    }

    /// What was read; `None` where not even a header was. A record without its end has no ending.
    pub fn finish(self) -> Option<Record> {
        let header = self.header?;
        let known = self.last_tick.map_or(0, |(tick, _)| tick.saturating_add(1));
        let (end_us, ticks, ending) = match self.end {
            Some((at, ticks, how)) => (at, ticks, Some(how)),
            None => (self.last_us, known, None),
        };
        Some(Record { header, events: self.events, ticks, end_us, ending })
    }

    /// What is missing after the last line.
    ///
    /// # Errors
    /// A header or an end that did not come.
    pub fn check_end(&self) -> Result<(), RecordError> {
        match (&self.header, &self.end) {
            (None, _) => self.refuse(RecordProblem::NoHeader),
            (Some(_), None) => self.refuse(RecordProblem::Truncated),
            (Some(_), Some(_)) => Ok(()),
        }
    }

    fn check(&self, event: &Event) -> Result<(), RecordError> {
        if self.end.is_some() {
            return self.refuse(RecordProblem::AfterTheEnd);
        }
        match (event, &self.header) {
            (Event::Header(header), None) => check_header(header).or_else(|what| self.refuse(what)),
            (Event::Header(_), Some(_)) => self.refuse(RecordProblem::SecondHeader),
            (_, None) => self.refuse(RecordProblem::NoHeader),
            (Event::End { ticks, .. }, Some(_)) => match self.last_tick {
                Some((tick, line)) if tick >= *ticks => Err(RecordError { line, what: RecordProblem::NeverDue(tick) }),
                Some(_) | None => Ok(()),
            },
            _ if self.events.len() >= MAX_EVENTS => self.refuse(RecordProblem::TooLong),
            (Event::Tick(Tick { tick, .. }), Some(_)) if *tick >= MAX_TICKS => {
                self.refuse(RecordProblem::NeverDue(*tick))
            }
            (Event::Tick(Tick { tick, .. }), Some(_)) if self.is_told(*tick) => {
                self.refuse(RecordProblem::TickTwice(*tick))
            }
            (event, Some(header)) => match event.process() {
                Some(process) if !header.processes.iter().any(|one| *one.name == *process) => {
                    self.refuse(RecordProblem::UnknownProcess(process.into()))
                }
                Some(_) | None => Ok(()),
            },
        }
    }

    fn is_told(&self, tick: u64) -> bool {
        let (word, bit) = place_of(tick);
        self.told.get(word).is_some_and(|bits| bits & bit > 0)
    }

    fn note(&mut self, tick: u64) {
        let (word, bit) = place_of(tick);
        if word >= self.told.len() {
            self.told.resize(word.saturating_add(1), 0);
        }
        if let Some(bits) = self.told.get_mut(word) {
            *bits |= bit;
        }
    }

    fn refuse(&self, what: RecordProblem) -> Result<(), RecordError> {
        Err(RecordError { line: self.lines.saturating_add(1), what })
    }
}

impl Record {
    /// Puts a record together from its events.
    ///
    /// # Errors
    /// As [`Reader::take`] and [`Reader::check_end`].
    pub fn from_events(events: impl IntoIterator<Item = Event>) -> Result<Self, RecordError> {
        let mut reader = Reader::new();
        for event in events {
            reader.take(event)?;
        }
        reader.check_end()?;
        reader.finish().ok_or(RecordError { line: 1, what: RecordProblem::NoHeader })
    }
}

fn check_header(header: &Header) -> Result<(), RecordProblem> {
    if *header.schema != *SCHEMA {
        return Err(RecordProblem::of_schema(header.schema.clone()));
    }
    if header.options.every_us < 1 {
        return Err(RecordProblem::Header("no time between the ticks"));
    }
    if header.processes.is_empty() || header.processes.len() > MAX_PROCESSES {
        return Err(RecordProblem::Header("a roll has 1 to 16 processes"));
    }
    let mut names = header.processes.iter().map(|one| &*one.name);
    if names.clone().enumerate().any(|(place, name)| names.clone().take(place).any(|other| other == name)) {
        return Err(RecordProblem::Header("two processes of one name"));
    }
    if names.any(|name| Name::of_instance(name).is_err()) {
        return Err(RecordProblem::Header("a process with a name that is none"));
    }
    Ok(())
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
    /// The schema of a version after this one.
    Newer(Box<str>),
    /// The schema of something else.
    Foreign(Box<str>),
    /// A header that no run can have.
    Header(&'static str),
    /// A line that is no event, in the words of the reader of JSON.
    Line(Box<str>),
    /// A line of so many bytes, above [`MAX_LINE_BYTES`].
    LongLine(usize),
    /// More events than [`MAX_EVENTS`].
    TooLong,
    /// A header in the middle.
    SecondHeader,
    /// Something stands behind the end.
    AfterTheEnd,
    /// The end is missing.
    Truncated,
    /// A tick told twice.
    TickTwice(u64),
    /// A tick beyond the number of ticks.
    NeverDue(u64),
    /// A process that the header does not name.
    UnknownProcess(Box<str>),
}

impl RecordProblem {
    /// Ours with a higher number is newer, all else is foreign.
    fn of_schema(told: Box<str>) -> Self {
        match Stranger::of(&told, SCHEMA) {
            Stranger::Newer => Self::Newer(told),
            Stranger::Foreign => Self::Foreign(told),
        }
    }
}

impl fmt::Display for RecordError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: ", self.line)?;
        match &self.what {
            RecordProblem::NoHeader => f.write_str("the first line of a record is its header, and this is none"),
            RecordProblem::Newer(told) => {
                write!(f, "the record is {}, of a newer version; this one reads {SCHEMA}", Inert(told, MAX_SHOWN))
            }
            RecordProblem::Foreign(told) => {
                write!(f, "{} is no record of a rehearsal; this version reads {SCHEMA}", Inert(told, MAX_SHOWN))
            }
            RecordProblem::Header(words) => write!(f, "the header is wrong: {words}"),
            RecordProblem::Line(words) => write!(f, "no event of a record: {}", Inert(words, MAX_SHOWN)),
            RecordProblem::LongLine(bytes) => write!(f, "the line is {bytes} bytes long, at most {MAX_LINE_BYTES}"),
            RecordProblem::TooLong => write!(f, "the record has more than {MAX_EVENTS} events"),
            RecordProblem::SecondHeader => f.write_str("a second header"),
            RecordProblem::AfterTheEnd => f.write_str("something stands behind the end"),
            RecordProblem::Truncated => f.write_str("the record breaks off before its end"),
            RecordProblem::TickTwice(tick) => write!(f, "tick {tick} is told twice"),
            RecordProblem::NeverDue(tick) => write!(f, "tick {tick} was never due"),
            RecordProblem::UnknownProcess(process) => {
                write!(f, "process {} is not named in the header", Inert(process, MAX_SHOWN))
            }
        }
    }
}

impl core::error::Error for RecordError {}

/// How long a line may be: a header with two long commands, or the last words of a process, and room.
pub const MAX_LINE_BYTES: usize = 64 * 1024;

/// How many events a record may have: two and a half hours at a tick every 10 ms, some 200 MB in memory.
pub const MAX_EVENTS: usize = 1_000_000;

/// No run has so many ticks: each has an outcome, but where its sender died.
const MAX_TICKS: u64 = 16_000_000;

/// The word and the bit of a tick.
fn place_of(tick: u64) -> (usize, u64) {
    (usize::try_from(tick / 64).unwrap_or(usize::MAX), 1 << (tick % 64))
}

/// How many characters of a foreign text a refusal shows.
const MAX_SHOWN: usize = 200;
