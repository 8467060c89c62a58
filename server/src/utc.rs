//! A moment as people read it.

use std::fmt;

use greenlight_core::UnixSeconds;
use jiff::Timestamp;

/// Shows a moment as `2026-08-03 07:00:00Z`; beyond the year 9999 as its Unix seconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Utc(pub(crate) UnixSeconds);

impl fmt::Display for Utc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let secs = self.0.as_secs();
        match i64::try_from(secs).ok().and_then(|secs| Timestamp::from_second(secs).ok()) {
            Some(timestamp) => timestamp.strftime("%Y-%m-%d %H:%M:%SZ").fmt(f),
            None => secs.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::moment::Moment;

    #[test]
    fn a_moment_is_shown_as_it_is_read() {
        for (secs, shown) in [
            (0, "1970-01-01 00:00:00Z"),
            (951_825_599, "2000-02-29 11:59:59Z"),
            (1_785_740_400, "2026-08-03 07:00:00Z"),
            (253_402_207_200, "9999-12-30 22:00:00Z"),
        ] {
            assert_eq!(Utc(UnixSeconds::new(secs)).to_string(), shown);
            assert_eq!(shown.parse(), Ok(Moment::At(UnixSeconds::new(secs))));
        }
        assert_eq!(Utc(UnixSeconds::new(253_402_300_800)).to_string(), "253402300800");
        assert_eq!(Utc(UnixSeconds::MAX).to_string(), UnixSeconds::MAX.as_secs().to_string());
    }
}
