//! JSON as core's readers of lines need it.

use greenlight_core::history::Json;
use serde::de::DeserializeOwned;

/// Reads values by serde_json.
pub(crate) struct SerdeJson;

impl Json for SerdeJson {
    fn read<T: DeserializeOwned>(&self, text: &str) -> Result<T, String> {
        serde_json::from_str(text).map_err(|error| error.to_string())
    }
}
