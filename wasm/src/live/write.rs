//! Verdicts and flips as the objects that JSON would have made of them.

use alloc::string::ToString;
use alloc::vec::Vec;

use greenlight_core::{Flip, Horizon, Judgement, Name, Verdict};
use wasm_bindgen::prelude::*;

use crate::number::as_number;

#[wasm_bindgen]
extern "C" {
    /// An object that is being filled.
    type Object;

    #[wasm_bindgen(constructor)]
    fn new() -> Object;
    #[wasm_bindgen(method, setter)]
    fn set_ready(this: &Object, ready: bool);
    #[wasm_bindgen(method, setter)]
    fn set_reason(this: &Object, reason: &str);
    #[wasm_bindgen(method, setter)]
    fn set_text(this: &Object, text: &str);
    #[wasm_bindgen(method, setter)]
    fn set_serving(this: &Object, names: Vec<JsValue>);
    #[wasm_bindgen(method, setter)]
    fn set_live_degraded(this: &Object, names: Vec<JsValue>);
    #[wasm_bindgen(method, setter)]
    fn set_stale_degraded(this: &Object, names: Vec<JsValue>);
    #[wasm_bindgen(method, setter)]
    fn set_never_green(this: &Object, names: Vec<JsValue>);
    #[wasm_bindgen(method, setter)]
    fn set_unconfirmed(this: &Object, names: Vec<JsValue>);
    #[wasm_bindgen(method, setter)]
    fn set_stale_after_secs(this: &Object, secs: JsValue);
    #[wasm_bindgen(method, setter)]
    fn set_flips(this: &Object, flips: Vec<JsValue>);
    #[wasm_bindgen(method, setter)]
    fn set_blocking(this: &Object, name: JsValue);
    #[wasm_bindgen(method, setter)]
    fn set_at_unix(this: &Object, secs: f64);
    #[wasm_bindgen(method, setter)]
    fn set_because(this: &Object, name: &str);
}

pub(crate) fn horizon(horizon: Horizon) -> JsValue {
    Option::<u64>::from(horizon).map_or(JsValue::NULL, |secs| as_number(secs).into())
}

/// `readiness` of `/app`, but for `since_unix`, which only the daemon knows.
pub(crate) fn judgement(judgement: &Judgement, verdict: &Verdict<'_>) -> JsValue {
    let Judgement { ready, reason, lists } = judgement;
    let object = Object::new();
    object.set_ready(*ready);
    object.set_reason(reason.as_str());
    object.set_text(&verdict.to_string());
    object.set_serving(names(&lists.serving));
    object.set_live_degraded(names(&lists.live_degraded));
    object.set_stale_degraded(names(&lists.stale_degraded));
    object.set_never_green(names(&lists.never_green));
    object.set_unconfirmed(names(&lists.unconfirmed));
    object.set_stale_after_secs(horizon(lists.stale_after_secs));
    object.set_flips(flips(&lists.flips));
    object.into()
}

pub(crate) fn glance(verdict: &Verdict<'_>) -> JsValue {
    let object = Object::new();
    object.set_ready(verdict.is_ready());
    object.set_reason(verdict.reason().as_str());
    object.set_text(&verdict.to_string());
    object.set_blocking(verdict.blocking().map_or(JsValue::NULL, |row| name(row.name())));
    object.into()
}

pub(crate) fn flips(flips: &[Flip]) -> Vec<JsValue> {
    let mut all = Vec::new();
    for Flip { at_unix, ready, because } in flips {
        let flip = Object::new();
        flip.set_at_unix(as_number(at_unix.as_secs()));
        flip.set_ready(*ready);
        flip.set_because(because.as_str());
        all.push(flip.into());
    }
    all
}

fn names(names: &[Name]) -> Vec<JsValue> {
    names.iter().map(name).collect()
}

fn name(name: &Name) -> JsValue {
    JsValue::from_str(name.as_str())
}
