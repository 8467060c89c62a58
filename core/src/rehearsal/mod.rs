//! A rehearsal read from its record: what every tick came to, the word on the roll, and what another policy
//! would have done. Everything here is a pure function of the record.
//!
//! Reading order: [`record`](Event), [`reader`](Reader), [`summary`](Summary), [`finding`](Finding),
//! [`replay`](WhatIf), then the three reports: [`text`], [`Account`], [`junit`].

mod account;
mod class;
mod finding;
mod fitness;
mod header;
mod heard;
mod junit;
mod length;
mod lines;
mod order;
mod reader;
mod record;
mod replay;
mod states;
mod stream;
mod summary;
mod text;
mod timeline;

pub use crate::jsonl::Json;
pub use account::{Account, Miss, Moved, Process, processes, what_if};
pub use class::{Class, Classes, Lane, Lanes};
pub use finding::{Finding, Told, findings};
pub use fitness::{Fitness, PROBE_LATE_US, ROTATION_TOO_OLD, SELF_CONNECT, SENT_TOO_LATE, SLOW_MACHINE, TOO_MANY};
pub use header::{Header, Machine, Options, Planned, SCHEMA, Spawn};
pub use junit::{Suites, junit};
pub use length::{Length, Moment};
pub use lines::WIDTH;
pub use reader::{MAX_EVENTS, MAX_LINE_BYTES, Reader, RecordError, RecordProblem};
pub use record::{Door, Ending, Event, Record, Tick, Unfinished};
pub use replay::{Replay, ReplayedMove, Trial, Untold, WhatIf, moves, replay};
pub use states::{Doing, States, Turn};
pub use stream::{Choice, MAX_PROCESSES, Membership, Stream};
pub use summary::{Outcome, Summary, summarize};
pub use text::{MAX_MISSES, text};
