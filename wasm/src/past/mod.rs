//! The past: what was recorded of a board, and of the roll of a service, replayed under any policy.

mod history;

pub use history::History;
