//! Whole numbers of the wire: in JavaScript all of them are floats.

#[cfg(feature = "live")]
use greenlight_core::MAX_INTEGER;
#[cfg(feature = "live")]
use wasm_bindgen::JsValue;

#[cfg(feature = "live")]
/// A whole number from 0 to the largest integer that the wire knows.
pub(crate) fn whole(value: &JsValue) -> Option<u64> {
    let number = value.as_f64()?;
    let secs = saturating(number);
    (secs <= MAX_INTEGER && as_number(secs).total_cmp(&number).is_eq()).then_some(secs)
}

/// Floored, and the nearest there is for what lies beyond either end.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the cast floors what is positive and saturates at both ends, which is what is wanted"
)]
pub(crate) fn saturating(number: f64) -> u64 {
    number as u64
}

/// The number for a moment or a length; exact, for both are at most 2^53 - 1.
#[expect(clippy::cast_precision_loss, reason = "nothing above 2^53 - 1 comes here")]
pub(crate) fn as_number(secs: u64) -> f64 {
    secs as f64
}
