//! An export as it comes from a file or a daemon: one line at a time, so that its length costs no memory.

use std::fmt;
use std::io::{self, BufRead, Read as _};

use greenlight_core::history::{Event, Head, MAX_LINE_BYTES, ReadError, ReadProblem, Reader};

use crate::cli::json_lines::SerdeJson;

/// The lines of an export.
pub(super) struct Lines<R> {
    input: R,
    reader: Reader,
    line: Vec<u8>,
    events: u64,
}

/// Why an export could not be read to its end.
#[derive(Debug)]
pub(super) enum Broken {
    /// A line that is refused.
    Refused(ReadError),
    /// It breaks off: the system, or the other side, gave no more.
    Input(io::Error),
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(error) => error.fmt(f),
            Self::Input(error) => error.fmt(f),
        }
    }
}

impl<R: BufRead> Lines<R> {
    pub(super) fn of(input: R) -> Self {
        Self { input, reader: Reader::default(), line: Vec::new(), events: 0 }
    }

    /// The head, which is the first line.
    pub(super) fn head(&mut self) -> Result<&Head, Broken> {
        if self.reader.head().is_none() {
            self.read()?;
        }
        match self.reader.head() {
            Some(head) => Ok(head),
            None => Err(Broken::Refused(ReadError { line: 1, what: ReadProblem::NoHead })),
        }
    }

    /// The head, where it has been read.
    pub(super) fn known_head(&self) -> Option<&Head> {
        self.reader.head()
    }

    /// How many events have been read.
    pub(super) fn read_so_far(&self) -> u64 {
        self.events
    }

    /// The next event; `None` after the end.
    pub(super) fn next_event(&mut self) -> Result<Option<Event>, Broken> {
        loop {
            match self.read()? {
                Found::Event(event) => return Ok(Some(event)),
                Found::Frame => {}
                Found::Nothing => return Ok(None),
            }
        }
    }

    /// The next line as it is, with its end, having been understood; `None` after the last.
    pub(super) fn next_line(&mut self) -> Result<Option<&[u8]>, Broken> {
        Ok(match self.read()? {
            Found::Event(_) | Found::Frame => Some(&self.line),
            Found::Nothing => None,
        })
    }

    /// Reads a line.
    fn read(&mut self) -> Result<Found, Broken> {
        self.line.clear();
        let mut most = (&mut self.input).take(MAX_LINE_BYTES as u64 + 2);
        most.read_until(b'\n', &mut self.line).map_err(Broken::Input)?;
        if self.line.is_empty() {
            return self.reader.check_end().map(|()| Found::Nothing).map_err(Broken::Refused);
        }
        let (line, is_whole) = match self.line.strip_suffix(b"\n") {
            Some(line) => (line, true),
            None => (&*self.line, self.line.len() > MAX_LINE_BYTES),
        };
        // What is no text at all is no JSON either, and is refused as such.
        let text = std::str::from_utf8(line).unwrap_or("\u{fffd}");
        let event = self.reader.read(text, &SerdeJson).map_err(|error| match error.what {
            ReadProblem::Line(_) if !is_whole => Broken::Refused(ReadError { what: ReadProblem::Truncated, ..error }),
            _ => Broken::Refused(error),
        })?;
        Ok(match event {
            Some(event) => {
                self.events += 1;
                Found::Event(event)
            }
            None => Found::Frame,
        })
    }
}

/// What a line is.
enum Found {
    Event(Event),
    /// The head or the end.
    Frame,
    /// There is no further line, and none is missing.
    Nothing,
}
