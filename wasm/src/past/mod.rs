//! The past: what was recorded of a board, and of the roll of a service, replayed under any policy.

use alloc::string::{String, ToString};

use wasm_bindgen::prelude::*;

/// The version of the rules.
#[wasm_bindgen(js_name = pastVersion)]
pub fn past_version() -> String {
    env!("CARGO_PKG_VERSION").to_string()
}
