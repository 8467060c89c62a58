//! The rules of Greenlight: may traffic come here?
//!
//! Time comes in, decisions go out. Nothing here knows what time it is: whatever depends on it takes `now` as
//! its last argument, and no answer about freshness is kept without the `now` it was given for. There is no
//! I/O, no float and no hashing order either, so the same bytes come out natively and in WebAssembly.
//!
//! ```
//! use greenlight_core::{Board, Extent, GoodFor, Horizon, Name, Report, ReportedRow, UnixSeconds};
//!
//! let row = |name: &str, serves: bool| ReportedRow {
//!     name: name.into(),
//!     serving_sha: serves.then(|| "a1".into()),
//!     last_green: Some("a1".into()),
//!     ..ReportedRow::default()
//! };
//! let mut board = Board::new();
//! board.report(
//!     Report {
//!         source: Name::of_source("driver")?,
//!         extent: Extent::Full,
//!         rows: vec![row("dev", true), row("merge", false)],
//!         good_for: GoodFor::Forever,
//!         sequence: None,
//!     },
//!     UnixSeconds::new(1_000),
//! )?;
//! let snapshot = board.snapshot();
//! let at = |secs| snapshot.verdict(Horizon::DEFAULT, UnixSeconds::new(secs)).to_string();
//! assert_eq!(at(1_060), "merge is degraded (stops blocking in 59m)");
//! assert_eq!(at(4_600), "ready");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Reading order: [`time`](Horizon), [`row`](Row), [`board`](Board), [`snapshot`](Snapshot), [`readiness`](Verdict),
//! [`rotation`].

#![no_std]
#![warn(
    clippy::arithmetic_side_effects,
    clippy::as_conversions,
    clippy::indexing_slicing,
    clippy::float_arithmetic,
    clippy::wildcard_enum_match_arm,
    clippy::expect_used,
    clippy::panic
)]
#![cfg_attr(test, allow(clippy::arithmetic_side_effects, reason = "a test that overflows fails, as it should"))]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod board;
mod facts;
mod flips;
#[cfg(feature = "history")]
pub mod history;
mod inert;
#[cfg(any(feature = "history", feature = "rehearsal"))]
mod jsonl;
mod memory;
mod name;
mod order;
mod readiness;
#[cfg(feature = "rehearsal")]
pub mod rehearsal;
mod replica;
mod report;
pub mod rotation;
mod row;
#[cfg(feature = "scenario")]
pub mod scenario;
mod snapshot;
mod standing;
mod time;

pub use board::{Board, MAX_ROWS, MAX_SOURCES, SourceState};
pub use flips::MAX_FLIPS;
pub use inert::{Inert, JsonEscaped};
pub use memory::Remembered;
pub use name::{Name, NameError, is_invisible};
pub use readiness::{Flip, Judgement, Lists, Reason, Verdict};
pub use report::{Effects, Extent, Refusal, Renewed, Report};
#[cfg(feature = "serde")]
pub use row::KnownRow;
pub use row::{GoodFor, Held, MAX_FILES, MAX_REASON_BYTES, MAX_TEXT_BYTES, ReportedRow, Route, Row, RowError, Vouch};
pub use snapshot::{RowView, Snapshot};
pub use standing::Standing;
pub use time::{Horizon, MAX_INTEGER, Span, SpanError, TooLate, UnixSeconds};
