//! A row as a source writes it, and every limit that it must keep.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use super::{Route, Row};
use crate::name::{Name, NameError};
use crate::time::MAX_INTEGER;

/// One row as a source writes it, not yet checked. What is left out is null, `[]` or 0, and the phase is
/// `idle`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default))]
pub struct ReportedRow {
    /// Identity, unique on the board.
    pub name: Box<str>,
    /// See [`Row::phase`].
    pub phase: Option<Box<str>>,
    /// See [`Row::serving_sha`].
    pub serving_sha: Option<Box<str>>,
    /// See [`Row::last_green`].
    pub last_green: Option<Box<str>>,
    /// See [`Row::last_red_sha`].
    pub last_red_sha: Option<Box<str>>,
    /// See [`Row::last_red_reason`]. A longer one is cut, with a mark, not refused.
    pub last_red_reason: Option<Box<str>>,
    /// See [`Row::last_red_files`]. Sorted and freed of doubles on arrival.
    pub last_red_files: Option<Vec<Box<str>>>,
    /// See [`Row::pending_sha`].
    pub pending_sha: Option<Box<str>>,
    /// See [`Row::draining`].
    pub draining: Option<u64>,
    /// See [`Route::proxy_port`].
    pub proxy_port: Option<u64>,
    /// See [`Route::public_host`].
    pub public_host: Option<Box<str>>,
    /// See [`Route::expires_at`].
    pub expires_at: Option<u64>,
    /// For how long the source has seen this row unchanged. Believed once, when the board meets a name that
    /// it neither holds nor remembers.
    pub idle_secs: Option<u64>,
    /// For how long nobody has vouched for this row, if nobody does: a follower says so of a row that its
    /// upstream calls unconfirmed. Such a row is taken over as it is, and the report renews nothing for it.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub lapsed_secs: Option<u64>,
}

/// A row that keeps every limit.
#[derive(Debug)]
pub(crate) struct CheckedRow {
    pub(crate) name: Box<str>,
    pub(crate) row: Row,
    pub(crate) route: Route,
    pub(crate) idle_secs: u64,
    pub(crate) lapsed_secs: Option<u64>,
}

impl ReportedRow {
    /// Checks the name.
    pub(crate) fn check_name(&self) -> Result<(), RowError> {
        Ok(Name::check(&self.name)?)
    }

    /// Checks every other limit, cuts a long reason and sorts the files, in place.
    pub(crate) fn check_fields(&mut self) -> Result<(), RowError> {
        short("phase", self.phase.as_deref())?;
        short("serving_sha", self.serving_sha.as_deref())?;
        short("last_green", self.last_green.as_deref())?;
        short("last_red_sha", self.last_red_sha.as_deref())?;
        short("pending_sha", self.pending_sha.as_deref())?;
        short("public_host", self.public_host.as_deref())?;
        integer("draining", self.draining)?;
        integer("proxy_port", self.proxy_port)?;
        integer("expires_at", self.expires_at)?;
        integer("idle_secs", self.idle_secs)?;
        self.last_red_reason = self.last_red_reason.take().map(cut_reason);
        self.last_red_files = self.last_red_files.take().map(sorted_files).transpose()?;
        Ok(())
    }

    /// What the board keeps of a row that was checked.
    pub(crate) fn into_checked(self) -> CheckedRow {
        CheckedRow {
            name: self.name,
            row: Row {
                phase: self.phase.unwrap_or_else(|| "idle".into()),
                serving_sha: self.serving_sha,
                last_green: self.last_green,
                last_red_sha: self.last_red_sha,
                last_red_reason: self.last_red_reason,
                last_red_files: self.last_red_files.unwrap_or_default(),
                pending_sha: self.pending_sha,
                draining: self.draining.unwrap_or(0),
            },
            route: Route { proxy_port: self.proxy_port, public_host: self.public_host, expires_at: self.expires_at },
            idle_secs: self.idle_secs.unwrap_or(0),
            lapsed_secs: self.lapsed_secs,
        }
    }
}

/// Which limit a row breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowError {
    /// Its name.
    Name(NameError),
    /// A text longer than [`MAX_TEXT_BYTES`].
    TextTooLong {
        /// The field.
        field: &'static str,
        /// How long it is.
        bytes: usize,
    },
    /// An integer above [`MAX_INTEGER`].
    IntegerTooLarge {
        /// The field.
        field: &'static str,
        /// What it is.
        value: u64,
    },
    /// More than [`MAX_FILES`] files.
    TooManyFiles(usize),
}

impl RowError {
    /// The field of a reported row that breaks the limit.
    pub fn field(&self) -> &'static str {
        match self {
            Self::Name(_) => "name",
            Self::TextTooLong { field, .. } | Self::IntegerTooLarge { field, .. } => field,
            Self::TooManyFiles(_) => "last_red_files",
        }
    }
}

impl From<NameError> for RowError {
    fn from(error: NameError) -> Self {
        Self::Name(error)
    }
}

impl fmt::Display for RowError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(error) => error.fmt(f),
            Self::TextTooLong { field, bytes } => {
                write!(f, "{field} has {bytes} bytes, at most {MAX_TEXT_BYTES} are allowed")
            }
            Self::IntegerTooLarge { field, value } => write!(f, "{field} is {value}, at most {MAX_INTEGER} is allowed"),
            Self::TooManyFiles(count) => {
                write!(f, "last_red_files names {count} files, at most {MAX_FILES} are allowed")
            }
        }
    }
}

impl core::error::Error for RowError {}

/// The longest text of a row, its reason apart.
pub const MAX_TEXT_BYTES: usize = 1024;
/// The longest reason, its mark included: what a build prints last, not its whole log.
pub const MAX_REASON_BYTES: usize = 16 * 1024;
/// The most files a row may name.
pub const MAX_FILES: usize = 1000;
/// What ends a reason that was cut.
const CUT_MARK: &str = " … (cut at 16 KiB)";

fn short(field: &'static str, text: Option<&str>) -> Result<(), RowError> {
    match text {
        Some(text) if text.len() > MAX_TEXT_BYTES => Err(RowError::TextTooLong { field, bytes: text.len() }),
        Some(_) | None => Ok(()),
    }
}

fn integer(field: &'static str, value: Option<u64>) -> Result<(), RowError> {
    match value {
        Some(value) if value > MAX_INTEGER => Err(RowError::IntegerTooLarge { field, value }),
        Some(_) | None => Ok(()),
    }
}

/// The mark fits within the limit, so that a reason that was cut once is not cut again by a follower.
fn cut_reason(reason: Box<str>) -> Box<str> {
    if reason.len() <= MAX_REASON_BYTES {
        return reason;
    }
    let room = MAX_REASON_BYTES.saturating_sub(CUT_MARK.len());
    let kept = reason.get(..reason.floor_char_boundary(room)).unwrap_or_default();
    let mut cut = String::with_capacity(kept.len().saturating_add(CUT_MARK.len()));
    cut.push_str(kept);
    cut.push_str(CUT_MARK);
    cut.into_boxed_str()
}

fn sorted_files(mut files: Vec<Box<str>>) -> Result<Vec<Box<str>>, RowError> {
    if let Some(long) = files.iter().find(|file| file.len() > MAX_TEXT_BYTES) {
        return Err(RowError::TextTooLong { field: "last_red_files", bytes: long.len() });
    }
    files.sort_unstable();
    files.dedup();
    if files.len() > MAX_FILES {
        return Err(RowError::TooManyFiles(files.len()));
    }
    files.shrink_to_fit();
    Ok(files)
}

/// A row as a source writes it, with no field that is not known here: another one is an error.
#[cfg(feature = "serde")]
#[derive(Debug, serde::Deserialize)]
pub struct KnownRow(#[serde(with = "KnownFields")] pub ReportedRow);

#[cfg(feature = "serde")]
impl From<KnownRow> for ReportedRow {
    fn from(KnownRow(row): KnownRow) -> Self {
        row
    }
}

/// The fields of a [`ReportedRow`] once more: serde reads a type either with unknown fields or without.
#[cfg(feature = "serde")]
#[derive(serde::Deserialize)]
#[serde(remote = "ReportedRow", deny_unknown_fields)]
struct KnownFields {
    name: Box<str>,
    phase: Option<Box<str>>,
    serving_sha: Option<Box<str>>,
    last_green: Option<Box<str>>,
    last_red_sha: Option<Box<str>>,
    last_red_reason: Option<Box<str>>,
    last_red_files: Option<Vec<Box<str>>>,
    pending_sha: Option<Box<str>>,
    draining: Option<u64>,
    proxy_port: Option<u64>,
    public_host: Option<Box<str>>,
    expires_at: Option<u64>,
    idle_secs: Option<u64>,
    #[serde(skip)]
    lapsed_secs: Option<u64>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;
    use alloc::vec;

    #[test]
    fn a_row_of_nothing_but_a_name_is_idle_and_never_green() {
        let checked = ReportedRow { name: "dev".into(), ..ReportedRow::default() }.into_checked();
        assert_eq!(&*checked.row.phase, "idle");
        assert_eq!(checked.row.last_green, None);
    }

    #[test]
    fn a_reason_is_cut_at_a_character_within_the_limit_and_only_once() {
        let long = "é".repeat(MAX_REASON_BYTES);
        let cut = cut_reason(long.into());
        assert!(cut.len() <= MAX_REASON_BYTES && cut.len() > MAX_REASON_BYTES - 4);
        assert!(cut.ends_with(CUT_MARK));
        assert_eq!(cut_reason(cut.clone()), cut);
        let whole: Box<str> = "x".repeat(MAX_REASON_BYTES).into();
        assert_eq!(cut_reason(whole.clone()), whole);
    }

    #[test]
    fn files_in_another_order_or_named_twice_are_the_same_files() {
        let files = |names: &[&str]| sorted_files(names.iter().map(|name| (*name).into()).collect()).unwrap();
        assert_eq!(files(&["b", "a", "b"]), files(&["a", "b"]));
    }

    #[test]
    fn each_limit_refuses_with_the_field_and_the_value() {
        let named = |edit: fn(&mut ReportedRow)| {
            let mut row = ReportedRow { name: "dev".into(), ..ReportedRow::default() };
            edit(&mut row);
            format!("{}", row.check_fields().unwrap_err())
        };
        assert!(named(|row| row.phase = Some("x".repeat(1025).into())).starts_with("phase has 1025 bytes"));
        assert!(named(|row| row.draining = Some(1 << 53)).starts_with("draining is 9007199254740992"));
        assert!(named(|row| row.proxy_port = Some(u64::MAX)).starts_with("proxy_port is"));
        assert!(named(|row| row.last_red_files = Some(vec!["x".repeat(1025).into()])).starts_with("last_red_files"));
        let many = (0..1001).map(|n| format!("{n}").into()).collect();
        let mut row = ReportedRow { name: "dev".into(), last_red_files: Some(many), ..ReportedRow::default() };
        assert_eq!(row.check_fields().unwrap_err(), RowError::TooManyFiles(1001));
    }
}
