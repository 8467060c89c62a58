//! What a command found out, and the exit code that says so.

use std::fmt;
use std::process::ExitCode;

/// The answer of a command that ran. Every command keeps to the first four, so that a script need not know which one
/// it called; a rehearsal has two more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Exit code 0: yes, it is so, it was done.
    Yes,
    /// Exit code 1: no. It was found out, and the answer is no.
    No,
    /// Exit code 2: the command was not understood, or what it was given to read was not.
    Usage,
    /// Exit code 3: it could not be found out: nobody answered, or time was up.
    NotFoundOut,
    /// Exit code 4: the roll that was rehearsed did not complete.
    Incomplete,
    /// Exit code 130: somebody stopped the rehearsal, and what it had found is told.
    Interrupted,
}

impl Outcome {
    /// The number that the process ends with.
    pub const fn exit_code(self) -> u8 {
        match self {
            Self::Yes => 0,
            Self::No => 1,
            Self::Usage => 2,
            Self::NotFoundOut => 3,
            Self::Incomplete => 4,
            Self::Interrupted => 130,
        }
    }
}

impl From<Outcome> for ExitCode {
    fn from(outcome: Outcome) -> Self {
        Self::from(outcome.exit_code())
    }
}

/// Why a command gave no answer. Shown on standard error as `greenlight: …`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// Exit code 2.
    Usage(String),
    /// Exit code 3.
    NotFoundOut(String),
}

impl Failure {
    pub(crate) fn usage(text: impl fmt::Display) -> Self {
        Self::Usage(text.to_string())
    }

    pub(crate) fn not_found_out(text: impl fmt::Display) -> Self {
        Self::NotFoundOut(text.to_string())
    }

    pub(crate) fn outcome(&self) -> Outcome {
        match self {
            Self::Usage(_) => Outcome::Usage,
            Self::NotFoundOut(_) => Outcome::NotFoundOut,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage(text) | Self::NotFoundOut(text) => f.write_str(text),
        }
    }
}
