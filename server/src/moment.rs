//! A moment as people write it: Unix seconds, RFC 3339, or so long ago as `-7d`.

use std::fmt;
use std::str::FromStr;

use greenlight_core::{Span, UnixSeconds};

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
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, &'static str> {
        let wrong = "is a moment: Unix seconds, 2026-08-03T14:05:00Z, or so long ago as -7d";
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

/// Shows a moment as `2026-08-03 07:00:00Z`; beyond the year 9999 as its Unix seconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Utc(pub(crate) UnixSeconds);

impl fmt::Display for Utc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let secs = self.0.as_secs();
        let (Ok(days), true) = (i64::try_from(secs / 86_400), secs <= LAST_OF_9999) else {
            return secs.fmt(f);
        };
        let (year, month, day) = date(days);
        let (hour, minute, second) = (secs / 3_600 % 24, secs / 60 % 60, secs % 60);
        write!(f, "{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}Z")
    }
}

/// The second in which an RFC 3339 time lies; `None` for what is none, or lies before 1970. The date and the time
/// may be apart by `T`, `t` or a space; in a query the `+` of a zone reads as a space and is taken for one.
fn rfc_3339(text: &str) -> Option<UnixSeconds> {
    let date = text.get(..10)?;
    let (year, month, day) = (digits(date.get(..4)?)?, digits(date.get(5..7)?)?, digits(date.get(8..10)?)?);
    let time = text.get(11..19)?;
    let (hour, minute, second) = (digits(time.get(..2)?)?, digits(time.get(3..5)?)?, digits(time.get(6..8)?)?);
    let apart = [date.get(4..5)?, date.get(7..8)?, time.get(2..3)?, time.get(5..6)?];
    if apart != ["-", "-", ":", ":"] || !matches!(text.get(10..11)?, "T" | "t" | " ") {
        return None;
    }
    // A leap second is the last second of its minute: Unix time has no other place for it.
    let in_range = (1..=days_in(year, month)?).contains(&day) && hour < 24 && minute < 60 && second <= 60;
    let rest = text.get(19..)?;
    let zone = match rest.strip_prefix('.') {
        Some(fraction) => {
            let zone = fraction.trim_start_matches(|digit: char| digit.is_ascii_digit());
            (zone.len() < fraction.len()).then_some(zone)?
        }
        None => rest,
    };
    let behind_utc = match zone {
        "Z" | "z" => 0,
        _ => {
            let (hours, minutes) = (digits(zone.get(1..3)?)?, digits(zone.get(4..6)?)?);
            let ahead = match (zone.get(..1)?, zone.get(3..4)?, zone.len()) {
                ("+" | " ", ":", 6) => 1,
                ("-", ":", 6) => -1,
                _ => return None,
            };
            (hours < 24 && minutes < 60).then_some(-ahead * (hours * 3_600 + minutes * 60))?
        }
    };
    let secs = days_before(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second.min(59) + behind_utc;
    in_range.then(|| u64::try_from(secs).ok()).flatten().map(UnixSeconds::new)
}

fn digits(text: &str) -> Option<i64> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

fn days_in(year: i64, month: i64) -> Option<i64> {
    let is_leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => Some(31),
        4 | 6 | 9 | 11 => Some(30),
        2 => Some(if is_leap { 29 } else { 28 }),
        _ => None,
    }
}

/// Days from 1970-01-01 to a date. Years are counted from March, so that the day that some have stands last.
fn days_before(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let month_from_march = (month + 9) % 12;
    // 153 days in every five months from March on.
    let day_of_year = (153 * month_from_march + 2) / 5 + day - 1;
    year * 365 + year / 4 - year / 100 + year / 400 + day_of_year - DAYS_TO_1970
}

/// Year, month and day, so many days after 1970-01-01.
fn date(days: i64) -> (i64, i64, i64) {
    let days = days + DAYS_TO_1970;
    // Years repeat every 400; within, the last day of each 4th, 100th and 400th is taken out before dividing.
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = (month_from_march + 2) % 12 + 1;
    (era * 400 + year_of_era + i64::from(month <= 2), month, day)
}

/// 9999-12-31T23:59:59Z.
const LAST_OF_9999: u64 = 253_402_300_799;
/// From the first of March of the year 0 to 1970-01-01.
const DAYS_TO_1970: i64 = 719_468;

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
    fn every_day_is_shown_as_it_is_read() {
        let mut last = String::new();
        for day in 0..=LAST_OF_9999 / 86_400 {
            let moment = UnixSeconds::new(day * 86_400 + day % 86_400);
            let shown = Utc(moment).to_string();
            assert!(shown > last, "{shown} after {last}");
            assert_eq!(shown.parse(), Ok(Moment::At(moment)), "{shown}");
            last = shown;
        }
        assert_eq!(Utc(UnixSeconds::new(LAST_OF_9999)).to_string(), "9999-12-31 23:59:59Z");
        assert_eq!(Utc(UnixSeconds::new(LAST_OF_9999 + 1)).to_string(), "253402300800");
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
