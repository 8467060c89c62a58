//! How long a report of a row is good, and who vouches for it.

use crate::time::{MAX_INTEGER, UnixSeconds};

/// For how long a report is good. On the wire: a number of seconds from 1, `"until_restart"` or `"forever"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GoodFor {
    /// So many seconds from the moment of the report, at least 1.
    Seconds(u64),
    /// Until the next report, or until this daemon restarts: for a driver in the same process.
    UntilRestart,
    /// Until the next report, whatever happens: the source has said so.
    Forever,
}

impl GoodFor {
    /// The first moment at which a report made `now` no longer vouches; `None` is never.
    pub fn until(self, now: UnixSeconds) -> Option<UnixSeconds> {
        match self {
            Self::Seconds(secs) => Some(now.later(secs)),
            Self::UntilRestart | Self::Forever => None,
        }
    }

    /// Reads the word for a report without a number.
    pub fn from_word(word: &str) -> Option<Self> {
        match word {
            "until_restart" => Some(Self::UntilRestart),
            "forever" => Some(Self::Forever),
            _ => None,
        }
    }

    /// Reads a number of seconds; `None` unless it is from 1 to [`MAX_INTEGER`].
    pub fn from_secs(secs: u64) -> Option<Self> {
        (1..=MAX_INTEGER).contains(&secs).then_some(Self::Seconds(secs))
    }
}

/// Who vouches for a row, and until when. Kept beside the row, so that a heartbeat copies no rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Vouch {
    /// When the last report that named the row came in.
    pub last_report: UnixSeconds,
    /// For how long that report said it was good.
    pub good_for: GoodFor,
    /// The first moment at which nobody vouches any more; `None` is never.
    pub good_until: Option<UnixSeconds>,
}

impl Vouch {
    /// Whether somebody vouches at `now`. At `good_until` itself nobody does.
    pub fn is_confirmed(&self, now: UnixSeconds) -> bool {
        self.good_until.is_none_or(|until| now < until)
    }

    /// The same vouch after a restart at `now`: unless its report was good for ever, it ended now at the latest.
    #[must_use]
    pub fn restarted(self, now: UnixSeconds) -> Self {
        let good_until = match self.good_for {
            GoodFor::Forever => self.good_until,
            GoodFor::Seconds(_) | GoodFor::UntilRestart => Some(self.good_until.map_or(now, |until| until.min(now))),
        };
        Self { good_until, ..self }
    }

    /// The same vouch with every time moved by so much.
    #[must_use]
    pub fn shifted(self, secs: i64) -> Self {
        Self {
            last_report: self.last_report.shifted(secs),
            good_until: self.good_until.map(|until| until.shifted(secs)),
            ..self
        }
    }
}

#[cfg(feature = "serde")]
mod wire {
    use super::{GoodFor, MAX_INTEGER};
    use core::fmt;

    impl serde::Serialize for GoodFor {
        fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            match self {
                Self::Seconds(secs) => serializer.serialize_u64(*secs),
                Self::UntilRestart => serializer.serialize_str("until_restart"),
                Self::Forever => serializer.serialize_str("forever"),
            }
        }
    }

    impl<'de> serde::Deserialize<'de> for GoodFor {
        fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            deserializer.deserialize_any(Reader)
        }
    }

    struct Reader;

    impl serde::de::Visitor<'_> for Reader {
        type Value = GoodFor;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "a whole number of seconds from 1 to {MAX_INTEGER}, \"until_restart\" or \"forever\"")
        }

        fn visit_u64<E: serde::de::Error>(self, secs: u64) -> Result<GoodFor, E> {
            GoodFor::from_secs(secs).ok_or_else(|| E::invalid_value(serde::de::Unexpected::Unsigned(secs), &self))
        }

        fn visit_i64<E: serde::de::Error>(self, secs: i64) -> Result<GoodFor, E> {
            // JavaScript readers hand over small whole numbers as signed.
            u64::try_from(secs)
                .ok()
                .and_then(GoodFor::from_secs)
                .ok_or_else(|| E::invalid_value(serde::de::Unexpected::Signed(secs), &self))
        }

        fn visit_str<E: serde::de::Error>(self, word: &str) -> Result<GoodFor, E> {
            GoodFor::from_word(word).ok_or_else(|| E::invalid_value(serde::de::Unexpected::Str(word), &self))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_stops_vouching_exactly_at_its_end() {
        let vouch = Vouch {
            last_report: UnixSeconds::new(0),
            good_for: GoodFor::Seconds(90),
            good_until: GoodFor::Seconds(90).until(UnixSeconds::new(0)),
        };
        assert!(vouch.is_confirmed(UnixSeconds::new(89)));
        assert!(!vouch.is_confirmed(UnixSeconds::new(90)));
    }
}
