//! A moment as people write it: Unix seconds, RFC 3339, or so long ago as `-7d`.

use std::str::FromStr;

use greenlight_core::{Span, UnixSeconds};
use jiff::Timestamp;

/// A moment, which may need to be told what time it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moment {
    /// This one.
    At(UnixSeconds),
    /// So many seconds before now.
    Ago(u64),
}

impl Moment {
    /// Which moment it is, asked `now`.
    pub(crate) fn asked(self, now: UnixSeconds) -> UnixSeconds {
        match self {
            Self::At(moment) => moment,
            Self::Ago(secs) => now.earlier(secs),
        }
    }
}

impl FromStr for Moment {
    /// How one is written.
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, &'static str> {
        let wrong = "Unix seconds, 2026-08-03T14:05:00Z, or so long ago as -7d";
        if let Some(ago) = text.strip_prefix('-') {
            return ago.parse::<Span>().map(|Span(secs)| Self::Ago(secs)).map_err(|_| wrong);
        }
        if text.bytes().all(|byte| byte.is_ascii_digit()) {
            let secs: u64 = text.parse().map_err(|_| wrong)?;
            return UnixSeconds::try_from(secs).map(Self::At).map_err(|_| wrong);
        }
        rfc_3339(text).map(Self::At).ok_or(wrong)
    }
}

/// The second in which an RFC 3339 time lies; `None` for what is none, or lies before 1970. In a query the `+` of a
/// zone reads as a space and is taken for one.
fn rfc_3339(text: &str) -> Option<UnixSeconds> {
    let timestamp: Timestamp = match text.rsplit_once(' ') {
        Some((time, zone)) if time.contains(':') => [time, zone].join("+").parse().ok()?,
        Some(_) | None => text.parse().ok()?,
    };
    // Floored, also where it lies a fraction of a second before 1970.
    u64::try_from(timestamp.as_nanosecond().div_euclid(1_000_000_000)).ok().map(UnixSeconds::new)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Option<u64> {
        match text.parse() {
            Ok(Moment::At(moment)) => Some(moment.as_secs()),
            Ok(Moment::Ago(_)) | Err(_) => None,
        }
    }

    #[test]
    fn moments_are_read_as_people_write_them() {
        for (text, secs) in [
            ("0", 0),
            ("1785740400", 1_785_740_400),
            ("1970-01-01T00:00:00Z", 0),
            ("2000-02-29T12:00:00z", 951_825_600),
            ("2026-08-03T07:00:00Z", 1_785_740_400),
            ("2026-08-03T09:00:00+02:00", 1_785_740_400),
            ("2026-08-03 09:00:00 02:00", 1_785_740_400),
            ("2026-08-03T01:30:00.999-05:30", 1_785_740_400),
            ("2016-12-31T23:59:60Z", 1_483_228_799),
            ("2100-03-01T00:00:00Z", 4_107_542_400),
        ] {
            assert_eq!(at(text), Some(secs), "{text}");
        }
        assert_eq!("-7d".parse(), Ok(Moment::Ago(604_800)));
        assert_eq!(Moment::Ago(60).asked(UnixSeconds::new(100)), UnixSeconds::new(40));
        assert_eq!(Moment::Ago(600).asked(UnixSeconds::new(100)), UnixSeconds::new(0));
    }

    #[test]
    fn what_is_no_moment_is_refused() {
        for text in [
            "",
            "-",
            "yesterday",
            "-5y",
            "9007199254740992",
            "2026-08-03",
            "2026-08-03T07:00:00",
            "2026-13-03T07:00:00Z",
            "2026-02-29T07:00:00Z",
            "2026-08-00T07:00:00Z",
            "2026-08-03T24:00:00Z",
            "2026-08-03T07:60:00Z",
            "2026-08-03T07:00:00.Z",
            "2026-08-03T07:00:00+2:00",
            "2026-08-03T07:00:00+02:00x",
            "2026-08-03T07:00:00é",
            "1969-12-31T23:59:59Z",
            "+026-08-03T07:00:00Z",
        ] {
            assert!(text.parse::<Moment>().is_err(), "{text}");
        }
    }
}
