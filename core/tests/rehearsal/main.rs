//! A record gives its classes, its outcome and its why; another policy gives another rotation; and the reports are
//! pure functions of it.

#![cfg(feature = "rehearsal")]
#![expect(clippy::unwrap_used, reason = "a record that cannot be set up fails the test")]

mod findings;
mod reader;
mod replay;
mod reports;
mod story;
mod summary;
mod timeouts;
mod truth;
