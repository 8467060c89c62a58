//! History, held against life: what a record says of every second is what the board had said at that second.

#![cfg(feature = "history")]
#![expect(clippy::unwrap_used, reason = "what is not there fails the test")]
#![expect(clippy::print_stdout, reason = "a seed is told with what became of it")]

mod courses;
mod exports;
mod laws;
mod life;
mod random;
mod situations;
mod truth;
mod weeks;
