//! Time as the rules see it: whole Unix seconds that come in as arguments, and the horizon that says how
//! long a change counts. The only comparison that decides staleness is here, in [`Horizon::is_stale`].

use core::fmt;
use core::str::FromStr;

/// The largest integer anywhere in Greenlight: 2^53 - 1, the largest that JSON readers keep exact.
pub const MAX_INTEGER: u64 = 9_007_199_254_740_991;

/// A moment in whole seconds since 1970-01-01T00:00:00Z, at most [`MAX_INTEGER`]. Sums saturate there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "u64", into = "u64"))]
pub struct UnixSeconds(u64);

impl UnixSeconds {
    /// The last moment that can be told.
    pub const MAX: Self = Self(MAX_INTEGER);

    /// The moment `secs` after the epoch; a larger number than [`MAX_INTEGER`] is taken as that.
    pub const fn new(secs: u64) -> Self {
        Self(if secs > MAX_INTEGER { MAX_INTEGER } else { secs })
    }

    /// Seconds since the epoch.
    pub const fn as_secs(self) -> u64 {
        self.0
    }

    /// How many seconds ago this was at `now`. A moment still to come has age 0: it reads as just now, so
    /// that a clock that stepped back fails towards *not ready*.
    pub const fn age(self, now: Self) -> u64 {
        now.0.saturating_sub(self.0)
    }

    /// The moment `secs` later, at most [`UnixSeconds::MAX`].
    #[must_use]
    pub const fn later(self, secs: u64) -> Self {
        Self::new(self.0.saturating_add(secs))
    }

    /// The moment `secs` earlier, at least the epoch.
    #[must_use]
    pub const fn earlier(self, secs: u64) -> Self {
        Self(self.0.saturating_sub(secs))
    }

    /// The moment `secs` later, or earlier where that is negative; within the bounds of both.
    #[must_use]
    pub const fn shifted(self, secs: i64) -> Self {
        if secs < 0 { self.earlier(secs.unsigned_abs()) } else { self.later(secs.unsigned_abs()) }
    }
}

impl TryFrom<u64> for UnixSeconds {
    type Error = TooLate;

    fn try_from(secs: u64) -> Result<Self, TooLate> {
        if secs > MAX_INTEGER { Err(TooLate(secs)) } else { Ok(Self(secs)) }
    }
}

/// Puts places in the order of their moments, those of one moment in their own order. One function for every
/// such list: a sort is most of what a caller weighs in a browser.
#[inline(never)]
pub(crate) fn sort_by_moment(moments: &mut [(UnixSeconds, usize)]) {
    moments.sort_unstable();
}

/// A number of seconds above [`MAX_INTEGER`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLate(pub u64);

impl fmt::Display for TooLate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is not a moment: at most {MAX_INTEGER} seconds are allowed", self.0)
    }
}

impl core::error::Error for TooLate {}

impl From<UnixSeconds> for u64 {
    fn from(moment: UnixSeconds) -> Self {
        moment.0
    }
}

impl fmt::Display for UnixSeconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// How long a change counts. On the wire: a number of seconds, or null for [`Horizon::Never`]; in texts,
/// queries and flags: `15m`, `1h30m`, `90` (seconds), or `never`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(from = "Option<u64>", into = "Option<u64>"))]
pub enum Horizon {
    /// So many seconds. Zero: every change is stale at once, so nothing ever vetoes.
    After(u64),
    /// Nothing ages out: a degraded instance vetoes for ever.
    Never,
}

impl Horizon {
    /// One hour: a cold build takes up to 30 minutes, and twice that is room.
    pub const DEFAULT: Self = Self::After(3600);

    /// Whether a change of this age no longer counts. Half-open: one second before the horizon it counts,
    /// exactly at the horizon it does not.
    pub const fn is_stale(self, age_secs: u64) -> bool {
        match self {
            Self::After(horizon_secs) => age_secs >= horizon_secs,
            Self::Never => false,
        }
    }

    /// The first moment at which a change made at `since` no longer counts. `None` under
    /// [`Horizon::Never`]; saturates at [`UnixSeconds::MAX`].
    pub const fn ages_out(self, since: UnixSeconds) -> Option<UnixSeconds> {
        match self {
            Self::After(horizon_secs) => Some(since.later(horizon_secs)),
            Self::Never => None,
        }
    }
}

impl Default for Horizon {
    fn default() -> Self {
        Self::DEFAULT
    }
}

impl From<Option<u64>> for Horizon {
    fn from(secs: Option<u64>) -> Self {
        secs.map_or(Self::Never, Self::After)
    }
}

impl From<Horizon> for Option<u64> {
    fn from(horizon: Horizon) -> Self {
        match horizon {
            Horizon::After(secs) => Some(secs),
            Horizon::Never => None,
        }
    }
}

impl fmt::Display for Horizon {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::After(secs) => write!(f, "{}", Span(*secs)),
            Self::Never => f.write_str("never"),
        }
    }
}

impl FromStr for Horizon {
    type Err = SpanError;

    fn from_str(text: &str) -> Result<Self, SpanError> {
        if text == "never" {
            return Ok(Self::Never);
        }
        text.parse::<Span>().map(|span| Self::After(span.0))
    }
}

/// A length of time in whole seconds, as people write it: `12s`, `42m`, `1h5m`, `41d`, `2w`, or a bare
/// number of seconds.
///
/// Shown, it is rounded down to what a person needs: seconds below a minute, minutes below an hour, hours
/// and minutes below two days, days from there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span(pub u64);

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let secs = self.0;
        let (minutes, hours, days) = (secs / MINUTE, secs / HOUR, secs / DAY);
        if secs < MINUTE {
            write!(f, "{secs}s")
        } else if secs < HOUR {
            write!(f, "{minutes}m")
        } else if days < 2 {
            match minutes % 60 {
                0 => write!(f, "{hours}h"),
                rest => write!(f, "{hours}h{rest}m"),
            }
        } else {
            write!(f, "{days}d")
        }
    }
}

impl FromStr for Span {
    type Err = SpanError;

    fn from_str(text: &str) -> Result<Self, SpanError> {
        let mut total: u64 = 0;
        let mut rest = text;
        if rest.is_empty() {
            return Err(SpanError::Empty);
        }
        while !rest.is_empty() {
            let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
            // Both places lie between characters; asking costs a browser less than the panic of not asking.
            let (number, tail) = rest.split_at_checked(digits).ok_or(SpanError::NotASpan)?;
            let number: u64 = number.parse().map_err(|_| SpanError::NotASpan)?;
            let letters = tail.find(|c: char| c.is_ascii_digit()).unwrap_or(tail.len());
            let (unit, tail) = tail.split_at_checked(letters).ok_or(SpanError::NotASpan)?;
            let unit_secs = match unit {
                "s" => 1,
                // A bare number is seconds, but `1h5` could mean two things: say which.
                "" if total == 0 && tail.is_empty() => 1,
                "m" => MINUTE,
                "h" => HOUR,
                "d" => DAY,
                "w" => WEEK,
                _ => return Err(SpanError::NotASpan),
            };
            total = number
                .checked_mul(unit_secs)
                .and_then(|secs| total.checked_add(secs))
                .filter(|secs| *secs <= MAX_INTEGER)
                .ok_or(SpanError::TooLong)?;
            rest = tail;
        }
        Ok(Self(total))
    }
}

/// Why a text is not a length of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpanError {
    /// Nothing was written.
    Empty,
    /// Not numbers each followed by s, m, h, d or w.
    NotASpan,
    /// More than [`MAX_INTEGER`] seconds.
    TooLong,
}

impl fmt::Display for SpanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Empty => "is empty: write a length of time such as 90s, 15m, 1h30m or 7d",
            Self::NotASpan => "is not a length of time: write 90s, 15m, 1h30m or 7d",
            Self::TooLong => "is longer than 9007199254740991 seconds",
        })
    }
}

impl core::error::Error for SpanError {}

const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;
const WEEK: u64 = 7 * DAY;

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn a_stamp_exactly_as_old_as_the_horizon_is_stale() {
        let horizon = Horizon::After(3600);
        assert!(!horizon.is_stale(3599));
        assert!(horizon.is_stale(3600));
        assert!(horizon.is_stale(3601));
    }

    #[test]
    fn under_never_nothing_is_stale_and_under_zero_everything_is() {
        for age in [0, 1, MAX_INTEGER, u64::MAX] {
            assert!(!Horizon::Never.is_stale(age));
            assert!(Horizon::After(0).is_stale(age));
        }
    }

    #[test]
    fn a_moment_still_to_come_has_age_zero() {
        assert_eq!(UnixSeconds::new(10).age(UnixSeconds::new(3)), 0);
        assert_eq!(UnixSeconds::new(3).age(UnixSeconds::new(10)), 7);
    }

    #[test]
    fn sums_saturate_at_the_largest_integer() {
        assert_eq!(UnixSeconds::new(u64::MAX), UnixSeconds::MAX);
        assert_eq!(UnixSeconds::MAX.later(u64::MAX), UnixSeconds::MAX);
        assert_eq!(UnixSeconds::new(3).earlier(4), UnixSeconds::new(0));
    }

    #[test]
    fn spans_are_read_and_shown_as_people_write_them() {
        for (text, secs, shown) in [
            ("0", 0, "0s"),
            ("12s", 12, "12s"),
            ("90", 90, "1m"),
            ("15m", 900, "15m"),
            ("1h", 3600, "1h"),
            ("1h5m", 3900, "1h5m"),
            ("47h", 169_200, "47h"),
            ("2d", 172_800, "2d"),
            ("1w", 604_800, "7d"),
        ] {
            assert_eq!(text.parse(), Ok(Span(secs)), "{text}");
            assert_eq!(Span(secs).to_string(), shown);
        }
    }

    #[test]
    fn what_is_not_a_span_is_refused() {
        for (text, why) in [
            ("", SpanError::Empty),
            ("m", SpanError::NotASpan),
            ("-5m", SpanError::NotASpan),
            ("5 m", SpanError::NotASpan),
            ("1h5", SpanError::NotASpan),
            ("1.5h", SpanError::NotASpan),
            ("5y", SpanError::NotASpan),
            ("9007199254740992", SpanError::TooLong),
            ("9007199254740991w", SpanError::TooLong),
        ] {
            assert_eq!(text.parse::<Span>(), Err(why), "{text}");
        }
        assert_eq!("never".parse::<Horizon>(), Ok(Horizon::Never));
        assert_eq!("15m".parse::<Horizon>(), Ok(Horizon::After(900)));
    }
}
