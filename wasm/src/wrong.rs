//! What is wrong with a value of the wire.

use alloc::string::String;

use wasm_bindgen::prelude::*;

use crate::text::joined;

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_namespace = JSON)]
    fn stringify(value: &JsValue) -> JsValue;
}

/// A field, what it holds, and what was wanted. Which object it stood in is told by whoever knows.
pub(crate) struct Wrong {
    pub(crate) field: &'static str,
    wanted: &'static str,
    got: JsValue,
}

impl Wrong {
    pub(crate) fn new(field: &'static str, wanted: &'static str, got: JsValue) -> Self {
        Self { field, wanted, got }
    }

    pub(crate) fn text(&self) -> String {
        // Undefined has no JSON; nothing else that comes from a parsed file lacks one.
        let got = stringify(&self.got).as_string();
        let got = got.as_deref().map_or("missing", |text| if text.len() > GOT_BYTES { "something else" } else { text });
        joined(&[self.field, " is ", got, ", ", self.wanted, " is wanted"])
    }
}

impl From<Wrong> for JsError {
    fn from(wrong: Wrong) -> Self {
        Self::new(&wrong.text())
    }
}

/// A wrong value that is longer is not repeated in a message.
const GOT_BYTES: usize = 80;
