//! What a board went through, and what its verdict was at every second of it, under any horizon.
//!
//! The daemon records [`Event`]s. A [`Sweep`] takes them in one at a time, in the order in which they were
//! recorded, and gives [`Told`] spans out as soon as they are finished: the verdict with the rows to blame, the
//! standing of each instance, and where two horizons differ. It keeps what is on the board, not what happened:
//! its memory is bounded by the number of instances. A record that is at hand as a whole is read once into a
//! [`Course`] and replayed under one horizon after another. [`Sums`] adds up what the spans say.
//!
//! Time is the daemon's. A clock that stepped back across a restart makes two lives claim the same seconds; the
//! later one holds, and since only the whole record can tell, [`Lives`] looks at the starts beforehand. Where
//! nobody was watching, or nothing was recorded, the answer is [`Said::NotWatching`]: neither up nor down.

mod event;
mod export;
mod lines;
mod lives;
mod past;
pub mod record;
mod replay;
mod span;
mod sums;

pub use crate::jsonl::Json;
pub use event::{Event, Happening, MAX_NAMES};
pub use export::{End, Entry, Expected, Head, MAX_LINE_BYTES, ReadError, ReadProblem, Reader, SCHEMA, Tail};
pub use lines::{Line, Question, answer};
pub use lives::Lives;
pub use past::Past;
pub use replay::{Course, Sweep, differences};
pub use span::{Blame, DifferenceSpan, MAX_BLAMED, Said, StandingSpan, Stood, Told, VerdictSpan, Window};
pub use sums::{InstanceSums, Running, Sums, VerdictSums};
