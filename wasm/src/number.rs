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
