//! A rehearsal read from its record: what every tick came to, the word on the roll, and what another policy
//! would have done. Everything here is a pure function of the record.

pub mod record;
pub mod replay;
pub mod summary;

pub use record::{Class, Ending, Event, Header, Lane, Record, RecordError, RecordProblem, SCHEMA, Tick};
pub use replay::{ReplayedMove, WhatIf, moves, replay};
pub use summary::{Classes, Fitness, Outcome, Summary, summarize};
