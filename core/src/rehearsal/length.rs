//! Lengths of time and moments as a report shows them. Rounded down: a margin is never shown longer than it was.

use core::fmt;

/// A length of time in microseconds, as people read it: `0.4 ms`, `90.0 ms`, `5.0 s`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Length(pub i64);

impl fmt::Display for Length {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (sign, us) = (if self.0 < 0 { "-" } else { "" }, self.0.unsigned_abs());
        if us < SECOND {
            let text = (us / MILLISECOND, us % MILLISECOND / (MILLISECOND / 10));
            write!(f, "{sign}{}.{} ms", text.0, text.1)
        } else {
            write!(f, "{sign}{}.{} s", us / SECOND, us % SECOND / (SECOND / 10))
        }
    }
}

/// A moment in microseconds since the first due tick, in seconds to the millisecond: `1.230 s`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment(pub i64);

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (sign, us) = (if self.0 < 0 { "-" } else { "" }, self.0.unsigned_abs());
        write!(f, "{sign}{}.{:03} s", us / SECOND, us % SECOND / MILLISECOND)
    }
}

const MILLISECOND: u64 = 1_000;
const SECOND: u64 = 1_000_000;

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn lengths_are_rounded_down_to_what_a_person_needs() {
        for (us, shown) in [
            (0, "0.0 ms"),
            (99, "0.0 ms"),
            (450, "0.4 ms"),
            (999_999, "999.9 ms"),
            (1_000_000, "1.0 s"),
            (5_099_999, "5.0 s"),
            (-1_500, "-1.5 ms"),
            (i64::MIN, "-9223372036854.7 s"),
        ] {
            assert_eq!(Length(us).to_string(), shown);
        }
    }

    #[test]
    fn moments_are_told_to_the_millisecond() {
        for (us, shown) in [(0, "0.000 s"), (1_230_999, "1.230 s"), (-2_104_000, "-2.104 s")] {
            assert_eq!(Moment(us).to_string(), shown);
        }
    }
}
