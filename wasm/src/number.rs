//! Whole numbers of the wire: in JavaScript all of them are floats.

/// The number for a count; exact, for it is at most 2^53 - 1.
#[expect(clippy::cast_precision_loss, reason = "nothing above 2^53 - 1 comes here")]
pub(crate) fn as_number(count: u64) -> f64 {
    count as f64
}

/// The number for a moment of either sign; exact within 2^53.
#[expect(clippy::cast_precision_loss, reason = "what was read was exact")]
pub(crate) fn of_signed(number: i64) -> f64 {
    number as f64
}

/// The number of elements; no list here has more than 2^32.
#[expect(clippy::cast_precision_loss, reason = "nothing above 2^53 comes here")]
pub(crate) fn of_length(length: usize) -> f64 {
    length as f64
}

/// A moment or a length of time: fractions are cut, and what is beyond either end is taken as that.
#[expect(clippy::cast_possible_truncation, reason = "the cast cuts and saturates, which is what is wanted")]
pub(crate) fn to_signed(number: f64) -> i64 {
    number as i64
}
