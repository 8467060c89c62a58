//! The past: what was recorded of a board, and of the roll of a service, replayed under any policy.

mod event;
mod history;
mod numbers;
mod rehearsal;
mod replayed;

pub use history::History;
pub use rehearsal::Roll;
