//! The present: a board, judged at any moment under any horizon.

mod read;
mod snapshot;
mod types;
mod write;

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use greenlight_core::{Horizon, SpanError, Standing};
use wasm_bindgen::prelude::*;

use crate::text::joined;

pub use snapshot::Snapshot;

/// Reads a horizon as people write it: `15m`, `1h30m`, `90` (seconds) or `never`, which is null.
///
/// # Errors
/// Where it is none: what to write instead.
#[wasm_bindgen(js_name = readHorizon, unchecked_return_type = "number | null")]
pub fn read_horizon(text: &str) -> Result<JsValue, JsError> {
    let horizon: Horizon = text
        .parse()
        .map_err(|error: SpanError| JsError::new(&joined(&["a horizon ", &error.to_string(), ", or never"])))?;
    Ok(write::horizon(horizon))
}

/// The words for the numbers that `Snapshot.standings` gives, by number.
#[wasm_bindgen(js_name = standingWords, unchecked_return_type = "Standing[]")]
pub fn standing_words() -> Vec<JsValue> {
    Standing::ALL.iter().map(|standing| JsValue::from_str(standing.as_str())).collect()
}

/// The version of the rules.
#[wasm_bindgen]
pub fn version() -> String {
    env!("CARGO_PKG_VERSION").to_string()
}
