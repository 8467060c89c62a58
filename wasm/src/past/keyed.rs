//! Reads objects of parsed lines by their keys. One getter for all keys, each of which becomes a value of
//! JavaScript once: an import for each field, as the present has them, would weigh more than what it reads.

use alloc::string::String;
use alloc::vec::Vec;

use greenlight_core::UnixSeconds;
use wasm_bindgen::prelude::*;

use crate::number::whole;
use crate::wrong::Wrong;

#[wasm_bindgen]
extern "C" {
    /// Any object or list of the wire.
    pub(crate) type Keyed;

    #[wasm_bindgen(method, structural, indexing_getter)]
    pub(crate) fn at(this: &Keyed, key: &JsValue) -> JsValue;
    #[wasm_bindgen(method, structural, indexing_getter)]
    pub(crate) fn nth(this: &Keyed, place: u32) -> JsValue;
    #[wasm_bindgen(method, getter)]
    pub(crate) fn length(this: &Keyed) -> u32;

    #[wasm_bindgen(js_namespace = JSON, catch)]
    fn parse(text: &JsValue) -> Result<JsValue, Keyed>;
}

/// The value of a line of JSON.
///
/// # Errors
/// What is wrong with it, in the words of whoever reads JSON here.
pub(crate) fn parsed(line: &JsValue) -> Result<JsValue, String> {
    parse(line).map_err(|error| error.at(&JsValue::from_str("message")).as_string().unwrap_or_default())
}

/// The keys of a format as both sides know them, by their places in a list.
pub(crate) struct Keys {
    names: &'static [&'static str],
    values: Vec<JsValue>,
}

impl Keys {
    pub(crate) fn of(names: &'static [&'static str]) -> Self {
        Self { names, values: names.iter().map(|name| JsValue::from_str(name)).collect() }
    }
}

/// A line that is being read. What is wrong with it is kept until it has been read: it is the first fault that is
/// told, and what was read beside it is thrown away.
pub(crate) struct Reading<'a> {
    keys: &'a Keys,
    fault: Option<Wrong>,
}

impl<'a> Reading<'a> {
    pub(crate) fn of(keys: &'a Keys) -> Self {
        Self { keys, fault: None }
    }

    /// What was wrong first.
    pub(crate) fn fault(self) -> Option<Wrong> {
        self.fault
    }

    pub(crate) fn wrong(&mut self, key: usize, wanted: &'static str, got: JsValue) {
        if self.fault.is_none() {
            self.fault = Some(Wrong::new(self.keys.names.get(key).copied().unwrap_or_default(), wanted, got));
        }
    }

    /// `undefined` where there is no such key.
    pub(crate) fn get(&self, object: &Keyed, key: usize) -> JsValue {
        self.keys.values.get(key).map_or(JsValue::UNDEFINED, |key| object.at(key))
    }

    /// The object under a key, or the list.
    pub(crate) fn object(&mut self, object: &Keyed, key: usize) -> Option<Keyed> {
        let value = self.get(object, key);
        if value.is_object() {
            return Some(value.unchecked_into());
        }
        self.wrong(key, "an object or a list", value);
        None
    }

    pub(crate) fn whole(&mut self, object: &Keyed, key: usize) -> u64 {
        let value = self.get(object, key);
        self.whole_of(key, value)
    }

    /// `None` for null, and where it is left out.
    pub(crate) fn whole_if_any(&mut self, object: &Keyed, key: usize) -> Option<u64> {
        let value = self.get(object, key);
        if value.is_null() || value.is_undefined() { None } else { Some(self.whole_of(key, value)) }
    }

    fn whole_of(&mut self, key: usize, value: JsValue) -> u64 {
        whole(&value).unwrap_or_else(|| {
            self.wrong(key, "a whole number", value);
            0
        })
    }

    pub(crate) fn moment(&mut self, object: &Keyed, key: usize) -> UnixSeconds {
        UnixSeconds::new(self.whole(object, key))
    }

    pub(crate) fn moment_if_any(&mut self, object: &Keyed, key: usize) -> Option<UnixSeconds> {
        self.whole_if_any(object, key).map(UnixSeconds::new)
    }

    pub(crate) fn text(&mut self, object: &Keyed, key: usize) -> String {
        let value = self.get(object, key);
        value.as_string().unwrap_or_else(|| {
            self.wrong(key, "a text", value);
            String::new()
        })
    }
}
