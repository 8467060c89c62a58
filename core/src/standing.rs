//! What a row amounts to at one moment under one horizon.

use core::fmt;

/// The four standings. Only one of them vetoes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Standing {
    /// It serves, and somebody vouches for that now.
    Serving,
    /// It does not serve, and no build of it ever did. Does not gate.
    NeverGreen,
    /// It does not serve a green that it owns, and that is news: vetoes.
    LiveDegraded,
    /// It does not serve a green that it owns, and that is old. Named, but does not gate.
    StaleDegraded,
}

impl Standing {
    /// All of them, in the order in which they are counted and listed.
    pub const ALL: [Self; 4] = [Self::Serving, Self::LiveDegraded, Self::StaleDegraded, Self::NeverGreen];

    /// The word for it on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Serving => "serving",
            Self::NeverGreen => "never_green",
            Self::LiveDegraded => "live_degraded",
            Self::StaleDegraded => "stale_degraded",
        }
    }
}

impl fmt::Display for Standing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
