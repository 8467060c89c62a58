//! Reads objects of parsed lines by their keys. One getter for all keys, each of which becomes a value of
//! JavaScript once: an import for each field, as the present has them, would weigh more than what it reads.

use alloc::boxed::Box;
use alloc::string::String;

use greenlight_core::UnixSeconds;
use wasm_bindgen::prelude::*;

use crate::number::whole;
use crate::wrong::Wrong;

#[wasm_bindgen]
extern "C" {
    /// Any object or list of the wire.
    pub(crate) type Keyed;

    #[wasm_bindgen(method, structural, indexing_getter)]
    fn at(this: &Keyed, key: &JsValue) -> JsValue;
    #[wasm_bindgen(method, structural, indexing_getter)]
    pub(crate) fn nth(this: &Keyed, place: u32) -> JsValue;
    #[wasm_bindgen(method, getter)]
    pub(crate) fn length(this: &Keyed) -> u32;

    #[wasm_bindgen(js_namespace = JSON, catch)]
    fn parse(text: &JsValue) -> Result<JsValue, Keyed>;
}

/// A key as both sides know it.
pub(crate) struct Key(&'static str, JsValue);

impl Key {
    pub(crate) fn new(key: &'static str) -> Self {
        Self(key, JsValue::from_str(key))
    }

    pub(crate) fn wrong(&self, wanted: &'static str, got: JsValue) -> Wrong {
        Wrong::new(self.0, wanted, got)
    }
}

/// The value of a line of JSON.
///
/// # Errors
/// What is wrong with it, in the words of whoever reads JSON here.
pub(crate) fn parsed(line: &JsValue) -> Result<JsValue, String> {
    parse(line).map_err(|error| error.at(&JsValue::from_str("message")).as_string().unwrap_or_default())
}

impl Keyed {
    /// `None` for what has no keys.
    pub(crate) fn of(value: JsValue) -> Option<Self> {
        value.is_object().then(|| value.unchecked_into())
    }

    /// `undefined` where there is no such key.
    pub(crate) fn get(&self, key: &Key) -> JsValue {
        self.at(&key.1)
    }

    pub(crate) fn object(&self, key: &Key) -> Result<Self, Wrong> {
        let value = self.get(key);
        if value.is_object() { Ok(value.unchecked_into()) } else { Err(key.wrong("an object", value)) }
    }

    pub(crate) fn list(&self, key: &Key) -> Result<Self, Wrong> {
        let value = self.get(key);
        if value.is_array() { Ok(value.unchecked_into()) } else { Err(key.wrong("a list", value)) }
    }

    pub(crate) fn whole(&self, key: &Key) -> Result<u64, Wrong> {
        let value = self.get(key);
        whole(&value).ok_or_else(|| key.wrong("a whole number", value))
    }

    /// `None` for null, and where it is left out.
    pub(crate) fn whole_if_any(&self, key: &Key) -> Result<Option<u64>, Wrong> {
        let value = self.get(key);
        if value.is_null() || value.is_undefined() {
            return Ok(None);
        }
        whole(&value).map(Some).ok_or_else(|| key.wrong("a whole number or null", value))
    }

    pub(crate) fn moment(&self, key: &Key) -> Result<UnixSeconds, Wrong> {
        self.whole(key).map(UnixSeconds::new)
    }

    pub(crate) fn moment_if_any(&self, key: &Key) -> Result<Option<UnixSeconds>, Wrong> {
        Ok(self.whole_if_any(key)?.map(UnixSeconds::new))
    }

    pub(crate) fn text(&self, key: &Key) -> Result<Box<str>, Wrong> {
        let value = self.get(key);
        value.as_string().map(String::into_boxed_str).ok_or_else(|| key.wrong("a text", value))
    }
}
