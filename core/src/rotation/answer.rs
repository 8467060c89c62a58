//! What one probe learned, and what it amounts to.

use alloc::boxed::Box;
use core::fmt;

/// What one probe learned. On the wire: `kind` with what belongs to it beside it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(tag = "kind", rename_all = "snake_case"))]
pub enum Answer {
    /// A complete 2xx.
    Ready {
        /// The status, 200 to 299.
        status: u16,
        /// What the version header said, where one is asked for and given.
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
        version: Option<Box<str>>,
    },
    /// Any other complete answer, but 429.
    NotReady {
        /// The status.
        status: u16,
    },
    /// Nobody is there.
    Refused {
        /// Who said so.
        by: Refuser,
    },
    /// The answer broke off before it was complete: a refusal that took longer.
    Cut {
        /// How.
        by: Cutting,
    },
    /// No complete answer in time, or 429.
    Silent {
        /// Which of the two.
        by: Silence,
    },
    /// The prober could not ask. Says nothing of the member.
    Fault {
        /// The name of the error, for example `EMFILE`.
        code: Box<str>,
    },
}

/// Who said that nobody is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Refuser {
    /// The system at the address: no listener.
    Host,
    /// The names' service: the name does not exist (NXDOMAIN).
    Names,
}

/// How an answer broke off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Cutting {
    /// The connection was reset.
    Reset,
    /// The connection was closed.
    Closed,
    /// What came is not HTTP.
    Garbled,
    /// No session could be agreed on.
    Tls,
}

/// Which kind of silence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Silence {
    /// The probe's time was up.
    Timeout,
    /// 429: asked to ask less, which is no answer to the question.
    TooManyRequests,
}

impl Answer {
    /// What a complete answer of this status amounts to. An interim status (1xx) is not complete: pass it over.
    pub fn of_status(status: u16, version: Option<Box<str>>) -> Self {
        match status {
            200..=299 => Self::Ready { status, version },
            429 => Self::Silent { by: Silence::TooManyRequests },
            _ => Self::NotReady { status },
        }
    }

    /// The word for it on the wire.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Ready { .. } => "ready",
            Self::NotReady { .. } => "not_ready",
            Self::Refused { .. } => "refused",
            Self::Cut { .. } => "cut",
            Self::Silent { .. } => "silent",
            Self::Fault { .. } => "fault",
        }
    }

    /// The status, where the answer was complete.
    pub const fn status(&self) -> Option<u16> {
        match self {
            Self::Ready { status, .. } | Self::NotReady { status } => Some(*status),
            Self::Silent { by: Silence::TooManyRequests } => Some(429),
            Self::Refused { .. } | Self::Cut { .. } | Self::Silent { by: Silence::Timeout } | Self::Fault { .. } => {
                None
            }
        }
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ready { status, .. } | Self::NotReady { status } => write!(f, "answered {status}"),
            Self::Refused { by: Refuser::Host } => f.write_str("connection refused"),
            Self::Refused { by: Refuser::Names } => f.write_str("the name does not exist"),
            Self::Cut { by: Cutting::Reset } => f.write_str("connection reset before the answer was complete"),
            Self::Cut { by: Cutting::Closed } => f.write_str("connection closed before the answer was complete"),
            Self::Cut { by: Cutting::Garbled } => f.write_str("the answer is not HTTP"),
            Self::Cut { by: Cutting::Tls } => f.write_str("no TLS session"),
            Self::Silent { by: Silence::Timeout } => f.write_str("silent"),
            Self::Silent { by: Silence::TooManyRequests } => f.write_str("answered 429"),
            Self::Fault { code } => write!(f, "could not be asked: {code}"),
        }
    }
}

/// The answer that moved a member, with how many of its kind in a row that took.
///
/// Its `Display` tells no time and counts nothing but the policy's own numbers, so that equal causes are equal
/// texts: "answered 503", "silent 3 times in a row".
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Cause {
    /// The answer.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub answer: Answer,
    /// How many in a row: 1 for whatever moves at once.
    pub in_a_row: u32,
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.answer, self.in_a_row) {
            (answer, 0 | 1) => answer.fmt(f),
            (Answer::Silent { by: Silence::Timeout }, many) => write!(f, "silent {many} times in a row"),
            // The 429 is the last of several silences, which need not all have been one.
            (Answer::Silent { by: Silence::TooManyRequests }, many) => {
                write!(f, "silent {many} times in a row, answered 429 at last")
            }
            (answer, many) => write!(f, "{answer} {many} times in a row"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;

    #[test]
    fn only_2xx_is_ready_and_only_429_is_silence() {
        for status in 200..=599 {
            let kind = Answer::of_status(status, None).kind();
            let expected = match status {
                200..=299 => "ready",
                429 => "silent",
                _ => "not_ready",
            };
            assert_eq!(kind, expected, "{status}");
            assert_eq!(Answer::of_status(status, None).status(), Some(status));
        }
    }

    #[test]
    fn a_cause_says_how_many_in_a_row_where_it_took_more_than_one() {
        let told = |answer, in_a_row| format!("{}", Cause { answer, in_a_row });
        assert_eq!(told(Answer::NotReady { status: 503 }, 1), "answered 503");
        assert_eq!(told(Answer::Silent { by: Silence::Timeout }, 3), "silent 3 times in a row");
        assert_eq!(told(Answer::of_status(200, None), 2), "answered 200 2 times in a row");
    }
}
