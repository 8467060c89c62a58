//! Reads the wire's objects by their fields, and says what is wrong where. A deserializer for whole rows would
//! weigh more than the rules do, and read 5,000 of them thirty times slower.

use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use greenlight_core::{GoodFor, Held, Horizon, MAX_INTEGER, Name, Route, Row, UnixSeconds, Vouch};
use wasm_bindgen::prelude::*;

use crate::number::{as_number, saturating};
use crate::text::joined;

#[wasm_bindgen]
extern "C" {
    /// Any object of the wire. A getter of a field that is not there gives `undefined`.
    pub(crate) type Fields;

    #[wasm_bindgen(method, getter)]
    pub(crate) fn instances(this: &Fields) -> JsValue;
    #[wasm_bindgen(method, getter)]
    pub(crate) fn readiness(this: &Fields) -> JsValue;
    #[wasm_bindgen(method, getter)]
    pub(crate) fn stale_after_secs(this: &Fields) -> JsValue;
    #[wasm_bindgen(method, getter)]
    pub(crate) fn started_unix(this: &Fields) -> JsValue;
    #[wasm_bindgen(method, getter)]
    pub(crate) fn reported_since_start(this: &Fields) -> JsValue;
    #[wasm_bindgen(method, getter)]
    pub(crate) fn removed(this: &Fields) -> JsValue;
    #[wasm_bindgen(method, getter)]
    pub(crate) fn rows(this: &Fields) -> JsValue;
    #[wasm_bindgen(method, getter)]
    pub(crate) fn sources(this: &Fields) -> JsValue;
    #[wasm_bindgen(method, getter)]
    pub(crate) fn name(this: &Fields) -> JsValue;
    #[wasm_bindgen(method, getter)]
    pub(crate) fn source(this: &Fields) -> JsValue;
    #[wasm_bindgen(method, getter)]
    fn serving_sha(this: &Fields) -> JsValue;
    #[wasm_bindgen(method, getter)]
    fn last_green(this: &Fields) -> JsValue;
    #[wasm_bindgen(method, getter)]
    fn last_change_unix(this: &Fields) -> JsValue;
    #[wasm_bindgen(method, getter)]
    fn last_report_unix(this: &Fields) -> JsValue;
    #[wasm_bindgen(method, getter)]
    fn good_for_secs(this: &Fields) -> JsValue;
    #[wasm_bindgen(method, getter)]
    fn good_until_unix(this: &Fields) -> JsValue;

    /// A list of the wire.
    type List;

    #[wasm_bindgen(method, getter)]
    fn length(this: &List) -> u32;
    #[wasm_bindgen(method, structural, indexing_getter)]
    fn at(this: &List, place: u32) -> JsValue;

    #[wasm_bindgen(js_namespace = JSON)]
    fn stringify(value: &JsValue) -> JsValue;
}

/// What is wrong with a value: it becomes a message when it is known which list it stood in.
pub(crate) struct Wrong {
    field: &'static str,
    wanted: &'static str,
    got: JsValue,
}

impl Wrong {
    pub(crate) fn new(field: &'static str, wanted: &'static str, got: JsValue) -> Self {
        Self { field, wanted, got }
    }

    /// `list` is where the object stood, `place` which one of it it was.
    fn in_list(self, list: &str, place: u32) -> JsError {
        JsError::new(&joined(&[
            list,
            "[",
            &place.to_string(),
            "]",
            if self.field.is_empty() { "" } else { "." },
            &self.text(),
        ]))
    }

    fn text(&self) -> String {
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

/// The moment to judge at: fractions are floored, what lies before the epoch or after the last moment that
/// can be told is taken as that.
pub(crate) fn moment_of(now: f64) -> Result<UnixSeconds, JsError> {
    if now.is_nan() {
        Err(JsError::new("now is not a number, Unix seconds are wanted"))
    } else {
        Ok(UnixSeconds::new(saturating(now)))
    }
}

/// `undefined` is the daemon's own horizon, null is never.
pub(crate) fn horizon_or(value: &JsValue, own: Horizon) -> Result<Horizon, Wrong> {
    if value.is_undefined() { Ok(own) } else { horizon("stale_after", value) }
}

pub(crate) fn horizon(field: &'static str, value: &JsValue) -> Result<Horizon, Wrong> {
    optional(field, "whole seconds or null (never)", value).map(Horizon::from)
}

pub(crate) fn object(field: &'static str, value: JsValue) -> Result<Fields, Wrong> {
    if value.is_object() { Ok(value.unchecked_into()) } else { Err(Wrong::new(field, "an object", value)) }
}

/// Reads each element of a list, in order.
pub(crate) fn each<T>(
    list: &'static str,
    value: JsValue,
    read: fn(JsValue) -> Result<T, Wrong>,
) -> Result<Vec<T>, JsError> {
    if !value.is_array() {
        return Err(JsError::new(&joined(&[list, " is not a list"])));
    }
    let array: List = value.unchecked_into();
    let mut items = Vec::new();
    for place in 0..array.length() {
        items.push(read(array.at(place)).map_err(|wrong| wrong.in_list(list, place))?);
    }
    Ok(items)
}

/// A row of `/app` or of a `change`. Its place is whoever holds the list's affair.
pub(crate) fn row(value: JsValue) -> Result<(Held, Vouch), Wrong> {
    let fields = object("", value)?;
    let row = Row {
        serving_sha: presence("serving_sha", fields.serving_sha())?,
        last_green: presence("last_green", fields.last_green())?,
        ..Row::default()
    };
    let held = Held {
        order: 0,
        name: instance(fields.name())?,
        row,
        route: Route::default(),
        source: source(fields.source())?,
        last_change: moment("last_change_unix", &fields.last_change_unix())?,
        clamped_from: None,
    };
    Ok((held, vouch(&fields)?))
}

/// Who vouches for the rows of a source.
pub(crate) fn renewed_source(value: JsValue) -> Result<(Name, Vouch), Wrong> {
    let fields = object("", value)?;
    Ok((source(fields.source())?, vouch(&fields)?))
}

/// Who vouches for one row.
pub(crate) fn renewed_row(value: JsValue) -> Result<(Name, Vouch), Wrong> {
    let fields = object("", value)?;
    Ok((instance(fields.name())?, vouch(&fields)?))
}

pub(crate) fn instance(value: JsValue) -> Result<Name, Wrong> {
    let name = value.as_string().and_then(|text| Name::of_instance(&text).ok());
    name.ok_or_else(|| Wrong::new("name", "the name of an instance", value))
}

fn source(value: JsValue) -> Result<Name, Wrong> {
    let name = value.as_string().and_then(|text| Name::of_source(&text).ok());
    name.ok_or_else(|| Wrong::new("source", "the name of a source", value))
}

fn vouch(fields: &Fields) -> Result<Vouch, Wrong> {
    let until = optional("good_until_unix", "whole Unix seconds or null", &fields.good_until_unix())?;
    Ok(Vouch {
        last_report: moment("last_report_unix", &fields.last_report_unix())?,
        good_for: good_for(fields.good_for_secs())?,
        good_until: until.map(UnixSeconds::new),
    })
}

fn good_for(value: JsValue) -> Result<GoodFor, Wrong> {
    let read = match value.as_string() {
        Some(word) => GoodFor::from_word(&word),
        None => whole(&value).and_then(GoodFor::from_secs),
    };
    read.ok_or_else(|| {
        Wrong::new("good_for_secs", "a number of seconds from 1, \"until_restart\" or \"forever\"", value)
    })
}

pub(crate) fn moment(field: &'static str, value: &JsValue) -> Result<UnixSeconds, Wrong> {
    whole(value).map(UnixSeconds::new).ok_or_else(|| Wrong::new(field, "whole Unix seconds", value.clone()))
}

/// Whether there is a text: which one it is counts for no verdict, so it stays on the other side.
fn presence(field: &'static str, value: JsValue) -> Result<Option<Box<str>>, Wrong> {
    if value.is_string() {
        Ok(Some(Box::default()))
    } else if value.is_null() {
        Ok(None)
    } else {
        Err(Wrong::new(field, "a text or null", value))
    }
}

fn optional(field: &'static str, wanted: &'static str, value: &JsValue) -> Result<Option<u64>, Wrong> {
    if value.is_null() {
        return Ok(None);
    }
    whole(value).map(Some).ok_or_else(|| Wrong::new(field, wanted, value.clone()))
}

/// A whole number from 0 to the largest integer that the wire knows.
fn whole(value: &JsValue) -> Option<u64> {
    let number = value.as_f64()?;
    let secs = saturating(number);
    (secs <= MAX_INTEGER && as_number(secs).total_cmp(&number).is_eq()).then_some(secs)
}
