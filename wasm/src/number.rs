//! Whole numbers of the wire: in JavaScript all of them are floats.

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

/// The number for a moment of either sign; exact within 2^53.
#[cfg(feature = "past")]
#[expect(clippy::cast_precision_loss, reason = "what was read was exact")]
pub(crate) fn of_signed(number: i64) -> f64 {
    number as f64
}

/// The number of elements; no list here has more than 2^32.
#[cfg(feature = "past")]
#[expect(clippy::cast_precision_loss, reason = "nothing above 2^53 comes here")]
pub(crate) fn of_length(length: usize) -> f64 {
    length as f64
}

/// A moment or a length of time: fractions are cut, and what is beyond either end is taken as that.
#[cfg(feature = "past")]
#[expect(clippy::cast_possible_truncation, reason = "the cast cuts and saturates, which is what is wanted")]
pub(crate) fn to_signed(number: f64) -> i64 {
    number as i64
}
