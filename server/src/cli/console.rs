//! Where a command reads and writes: the standard streams, or buffers in a test.

use std::fmt;
use std::io::{self, ErrorKind, Read, Write};

use greenlight_core::is_invisible;

use super::outcome::Outcome;

/// The three streams of a command.
///
/// A reader that went away (`| head`) is not a failure: what is still to be said to it is dropped, and the
/// command goes on to its exit code. Any other failed write makes the outcome *not found out*.
pub(crate) struct Console<'a> {
    input: &'a mut dyn Read,
    out: &'a mut dyn Write,
    err: &'a mut dyn Write,
    out_state: OutState,
}

enum OutState {
    Open,
    ReaderGone,
    Failed(io::Error),
}

impl<'a> Console<'a> {
    pub(crate) fn new(input: &'a mut dyn Read, out: &'a mut dyn Write, err: &'a mut dyn Write) -> Self {
        Self { input, out, err, out_state: OutState::Open }
    }

    pub(crate) fn input(&mut self) -> &mut dyn Read {
        self.input
    }

    /// A line of the answer, on standard output.
    pub(crate) fn say(&mut self, line: impl fmt::Display) {
        self.write(format!("{line}\n").as_bytes());
    }

    /// The answer as it is, on standard output.
    pub(crate) fn write(&mut self, bytes: &[u8]) {
        self.attempt(|out| out.write_all(bytes).and_then(|()| out.flush()));
    }

    /// A line beside the answer, on standard error. Nobody can be told where that fails.
    pub(crate) fn note(&mut self, line: impl fmt::Display) {
        let _ = self.err.write_all(format!("{line}\n").as_bytes()).and_then(|()| self.err.flush());
    }

    /// A line beside the answer that takes the place of the one before, on a terminal.
    pub(crate) fn note_in_place(&mut self, line: impl fmt::Display) {
        let _ = self.err.write_all(format!("\r\u{1b}[K{line}").as_bytes()).and_then(|()| self.err.flush());
    }

    /// Whether whoever read standard output has gone: a command without end has nobody to go on for.
    pub(crate) fn reader_is_gone(&self) -> bool {
        matches!(self.out_state, OutState::ReaderGone)
    }

    /// The outcome, unless the answer could not be written down.
    pub(crate) fn finish(&mut self, outcome: Outcome) -> Outcome {
        match std::mem::replace(&mut self.out_state, OutState::Open) {
            OutState::Open | OutState::ReaderGone => outcome,
            OutState::Failed(error) => {
                self.note(format_args!("greenlight: the answer could not be written: {error}"));
                Outcome::NotFoundOut
            }
        }
    }

    fn attempt(&mut self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) {
        match self.out_state {
            OutState::Open => {}
            OutState::ReaderGone | OutState::Failed(_) => return,
        }
        if let Err(error) = write(self.out) {
            self.out_state = match error.kind() {
                ErrorKind::BrokenPipe => OutState::ReaderGone,
                _ => OutState::Failed(error),
            };
        }
    }
}

/// Text from elsewhere as a terminal may show it: control and format characters are escaped, so that nobody's
/// build reason moves a cursor or turns the reading direction.
pub(crate) fn inert(text: &str) -> Inert<'_> {
    Inert { text, keep_lines: false }
}

/// The same for text of several lines, which stay lines.
pub(crate) fn inert_lines(text: &str) -> Inert<'_> {
    Inert { text, keep_lines: true }
}

/// The first names and how many more, so that a report of 10,000 rows does not flood a terminal.
pub(crate) fn listed(names: &[impl AsRef<str>]) -> String {
    let shown: Vec<String> = names.iter().take(SHOWN_NAMES).map(|name| inert(name.as_ref()).to_string()).collect();
    match names.len().saturating_sub(SHOWN_NAMES) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

const SHOWN_NAMES: usize = 20;

pub(crate) struct Inert<'a> {
    text: &'a str,
    keep_lines: bool,
}

impl fmt::Display for Inert<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use fmt::Write as _;
        for c in self.text.chars() {
            if is_invisible(c) && !(self.keep_lines && c == '\n') {
                write!(f, "{}", c.escape_unicode())?;
            } else {
                f.write_char(c)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
pub(crate) mod testing {
    use super::{Console, Outcome};
    use std::io::{self, Write};

    /// Runs `command` on buffers and gives its result with what it said on standard output and error.
    pub(crate) fn captured<T>(input: &str, command: impl FnOnce(&mut Console<'_>) -> T) -> (T, String, String) {
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let result = command(&mut Console::new(&mut input.as_bytes(), &mut out, &mut err));
        (result, String::from_utf8(out).unwrap(), String::from_utf8(err).unwrap())
    }

    struct Failing(io::ErrorKind);

    impl Write for Failing {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(self.0.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[track_caller]
    fn check_failing(kind: io::ErrorKind, outcome: Outcome, notes: &str) {
        let mut err = Vec::new();
        let (mut input, mut out) = (io::empty(), Failing(kind));
        let mut console = Console::new(&mut input, &mut out, &mut err);
        console.say("one");
        console.say("two");
        assert_eq!(console.finish(Outcome::Yes), outcome);
        assert!(String::from_utf8(err).unwrap().starts_with(notes));
    }

    #[test]
    fn a_reader_that_went_away_changes_no_outcome() {
        check_failing(io::ErrorKind::BrokenPipe, Outcome::Yes, "");
    }

    #[test]
    fn an_answer_that_could_not_be_written_is_not_found_out() {
        check_failing(io::ErrorKind::StorageFull, Outcome::NotFoundOut, "greenlight: the answer could not be written");
    }

    #[test]
    fn hostile_text_is_escaped() {
        assert_eq!(super::inert("a\u{1b}[31m\u{202e}b\nc").to_string(), r"a\u{1b}[31m\u{202e}b\u{a}c");
        assert_eq!(super::inert_lines("a\u{7}\nb").to_string(), "a\\u{7}\nb");
    }
}
