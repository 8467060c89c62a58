//! What comes to the board, what it changed, and why it was refused.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;

use crate::name::{Name, NameError};
use crate::row::{GoodFor, ReportedRow, RowError};

/// What a source says of its instances at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// Who says it.
    pub source: Name,
    /// Whether rows that it does not name leave the board.
    pub extent: Extent,
    /// The rows.
    pub rows: Vec<ReportedRow>,
    /// For how long it is good.
    pub good_for: GoodFor,
    /// Optional; must be greater than this source's last one since the board started.
    pub sequence: Option<u64>,
}

/// Whether a report speaks of all rows of its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// All of them: rows it no longer names are removed.
    Full,
    /// Only of those it names.
    Partial,
}

/// What a report or a removal changed. Names stand in the order in which they were named.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Effects {
    /// Rows whose stamp moved to now, new ones included (theirs may be older: see
    /// [`ReportedRow::idle_secs`](crate::ReportedRow::idle_secs)), and ones that came back from memory.
    pub changed: Vec<Name>,
    /// Rows of which only the route facts or the source changed: no stamp moved.
    pub touched: Vec<Name>,
    /// Rows that left the board and are remembered now.
    pub removed: Vec<Name>,
    /// Rows that left the memory: they came back, or were forgotten.
    pub forgotten: Vec<Name>,
    /// Rows that were unconfirmed and are vouched for again.
    pub confirmed_again: Vec<Name>,
    /// Rows that nobody vouches for after this: they changed, or came, or lost their witness, though the source
    /// itself says that it does not vouch for them.
    pub lapsed: Vec<Name>,
    /// Whose end of vouching moved.
    pub renewed: Renewed,
}

impl Effects {
    /// Whether any row changed, came or went: what the revision counts.
    pub fn moves_the_revision(&self) -> bool {
        !(self.changed.is_empty() && self.touched.is_empty() && self.removed.is_empty())
    }
}

/// Whose end of vouching a report moved.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Renewed {
    /// Nobody's.
    #[default]
    Nothing,
    /// That of all rows of this source, to the same moment.
    Source(Name),
    /// That of these rows.
    Rows(Vec<Name>),
}

/// Why a report or a removal changed nothing. All or nothing: a refused report leaves the board as it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// A row breaks a limit.
    Row {
        /// Its place in the report, from 0.
        index: usize,
        /// Its name as written, at most its first 253 bytes.
        name: Box<str>,
        /// The limit.
        error: RowError,
    },
    /// Two rows of one report have the same name.
    Duplicate {
        /// The name.
        name: Box<str>,
    },
    /// The name of a row is held by another source that vouches for it.
    Held {
        /// The row.
        name: Name,
        /// Who holds it.
        owner: Name,
    },
    /// A removal of a row that another source reported, whether or not it still vouches for it.
    OfAnother {
        /// The row.
        name: Name,
        /// Whose it is.
        owner: Name,
    },
    /// The sequence is not greater than the last one of this source.
    Sequence {
        /// The one that came.
        got: u64,
        /// The last one.
        last: u64,
    },
    /// An integer above 2^53 - 1 where the sequence stands.
    SequenceTooLarge(u64),
    /// The board would hold too many rows.
    TooManyRows {
        /// How many it would hold.
        rows: usize,
        /// How many it may hold.
        limit: usize,
    },
    /// Too many sources have reported that still have rows.
    TooManySources {
        /// How many the board knows at most.
        limit: usize,
    },
    /// A removal of a row that is not on the board.
    Unknown {
        /// The name as written.
        name: Box<str>,
    },
    /// A source name that breaks the rule.
    Source(NameError),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Row { index, name, error } => write!(f, "instances[{index}] ({name:?}): {error}"),
            Self::Duplicate { name } => write!(f, "two rows are named {name:?}: a report names each instance once"),
            Self::Held { name, owner } => write!(
                f,
                "{name} is held by source {owner}, whose report of it is still good: remove it there, or wait until that report lapses"
            ),
            Self::OfAnother { name, owner } => write!(
                f,
                "{name} is a row of source {owner}: remove it there. A row that nobody vouches for any more is taken over by whoever reports it"
            ),
            Self::Sequence { got, last } => write!(
                f,
                "sequence {got} is not greater than {last}, the last one of this source: a newer report has already come in"
            ),
            Self::SequenceTooLarge(got) => write!(f, "sequence is {got}, at most 9007199254740991 is allowed"),
            Self::TooManyRows { rows, limit } => {
                write!(f, "the board would hold {rows} rows, at most {limit} are allowed")
            }
            Self::TooManySources { limit } => {
                write!(f, "{limit} sources have rows on the board, no more are allowed: remove one with DELETE first")
            }
            Self::Unknown { name } => write!(f, "no row named {name:?} is on the board"),
            Self::Source(error) => write!(f, "source: {error}"),
        }
    }
}

impl core::error::Error for Refusal {}
