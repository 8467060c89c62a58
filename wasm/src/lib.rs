//! The rules of Greenlight as the status page calls them: convert, call, convert. Nothing is decided here.
//!
//! ```js
//! import init, { Snapshot } from './greenlight_wasm.js';
//! await init();
//! const snapshot = new Snapshot(await (await fetch('/app')).json());
//! snapshot.verdict(Date.now() / 1000, 900).ready; // what if the horizon were 15 minutes?
//! ```

#![cfg_attr(bare, no_std)]

extern crate alloc;

#[cfg(bare)]
mod bare;
#[cfg(feature = "live")]
mod live;
#[cfg(any(feature = "live", feature = "past"))]
mod number;
#[cfg(feature = "past")]
mod past;
#[cfg(feature = "scenario")]
mod scenario;
mod text;

#[cfg(feature = "live")]
pub use live::{Snapshot, read_horizon, standing_words, version};
#[cfg(feature = "past")]
pub use past::{History, Roll};
#[cfg(feature = "scenario")]
pub use scenario::play_scenario;
