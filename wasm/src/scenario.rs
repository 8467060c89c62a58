//! Scenarios: policy tests, played by the rules in wasm.

use greenlight_core::scenario::{self, Scenario};
use serde::Serialize;
use wasm_bindgen::prelude::*;

/// Plays a scenario (an object, as parsed from its file) and gives the expectations that do not hold.
///
/// # Errors
/// Where the object is no scenario: what is wrong with it.
#[wasm_bindgen(js_name = playScenario, unchecked_return_type = "Miss[]")]
pub fn play_scenario(#[wasm_bindgen(unchecked_param_type = "object")] scenario: JsValue) -> Result<JsValue, JsError> {
    let scenario: Scenario = serde_wasm_bindgen::from_value(scenario)
        .map_err(|error| JsError::new(&format!("this is not a scenario: {error}")))?;
    // As JSON would have it: integers are numbers, for all of them are below 2^53.
    scenario::play(&scenario)
        .serialize(&serde_wasm_bindgen::Serializer::json_compatible())
        .map_err(|error| JsError::new(&error.to_string()))
}
