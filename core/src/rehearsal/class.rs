//! What a tick came to, and how many came to what.

use serde::{Deserialize, Serialize, Serializer};

/// What one tick came to. The sum of the classes equals the ticks, always.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// A complete final answer with the expected status, body read to its end.
    Ok,
    /// A complete final answer with another status below 500.
    Unexpected,
    /// The client gave up, and nobody had refused or cut it.
    Slow,
    /// Connection refused.
    Refused,
    /// Reset or closed before a complete head.
    Cut,
    /// The head arrived, the body did not.
    Torn,
    /// A complete 5xx.
    ServerError,
    /// Not HTTP.
    Garbled,
    /// Nobody was in rotation when it was due.
    Nobody,
    /// The client's own trouble: never held against the service, never called clean.
    Ours,
}

impl Class {
    /// All of them, in the order in which they are listed.
    pub const ALL: [Self; 10] = [
        Self::Ok,
        Self::Unexpected,
        Self::Slow,
        Self::Refused,
        Self::Cut,
        Self::Torn,
        Self::ServerError,
        Self::Garbled,
        Self::Nobody,
        Self::Ours,
    ];

    /// The word for it on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Unexpected => "unexpected",
            Self::Slow => "slow",
            Self::Refused => "refused",
            Self::Cut => "cut",
            Self::Torn => "torn",
            Self::ServerError => "server_error",
            Self::Garbled => "garbled",
            Self::Nobody => "nobody",
            Self::Ours => "ours",
        }
    }

    /// Whether the service lost the request: refused, cut, torn or garbled.
    pub const fn is_lost(self) -> bool {
        match self {
            Self::Refused | Self::Cut | Self::Torn | Self::Garbled => true,
            Self::Ok | Self::Unexpected | Self::Slow | Self::ServerError | Self::Nobody | Self::Ours => false,
        }
    }
}

/// How a request of a tick is connected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Lane {
    /// A new connection per request.
    Fresh,
    /// The asked member's most recently used idle connection, else a new one.
    Kept,
}

impl Lane {
    /// Both, in the order in which they are listed.
    pub const ALL: [Self; 2] = [Self::Fresh, Self::Kept];

    /// The lane of a tick: in turn, the first one fresh.
    pub const fn of_tick(tick: u64) -> Self {
        if tick.is_multiple_of(2) { Self::Fresh } else { Self::Kept }
    }

    /// The word for it on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Fresh => "fresh",
            Self::Kept => "kept",
        }
    }
}

/// How many ticks of each class, zeros included.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Classes([u64; Class::ALL.len()]);

impl Classes {
    pub(super) fn add(&mut self, class: Class, ticks: u64) {
        for (one, count) in Class::ALL.iter().zip(&mut self.0) {
            if *one == class {
                *count = count.saturating_add(ticks);
            }
        }
    }

    /// How many of one class.
    pub fn of(&self, class: Class) -> u64 {
        Class::ALL.iter().zip(self.0).find(|(one, _)| **one == class).map_or(0, |(_, count)| count)
    }

    /// How many of all classes.
    pub fn sum(&self) -> u64 {
        self.0.iter().fold(0, |sum, one| sum.saturating_add(*one))
    }

    /// Refused, cut, torn and garbled together.
    pub fn lost(&self) -> u64 {
        let lost = Class::ALL.into_iter().filter(|class| class.is_lost());
        lost.fold(0, |sum, class| sum.saturating_add(self.of(class)))
    }

    /// All but `ok`.
    pub fn missed(&self) -> u64 {
        self.sum().saturating_sub(self.of(Class::Ok))
    }
}

impl Serialize for Classes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(BY_WORD.into_iter().map(|class| (class.as_str(), self.of(class))))
    }
}

/// Each lane with its classes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lanes([Classes; Lane::ALL.len()]);

impl Lanes {
    /// The classes of one lane.
    pub const fn of(&self, lane: Lane) -> &Classes {
        let [fresh, kept] = &self.0;
        match lane {
            Lane::Fresh => fresh,
            Lane::Kept => kept,
        }
    }

    pub(super) fn add(&mut self, lane: Lane, class: Class) {
        let [fresh, kept] = &mut self.0;
        match lane {
            Lane::Fresh => fresh.add(class, 1),
            Lane::Kept => kept.add(class, 1),
        }
    }
}

impl Serialize for Lanes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(Lane::ALL.into_iter().map(|lane| (lane, self.of(lane))))
    }
}

/// As they are listed on the wire, where the order says nothing.
const BY_WORD: [Class; Class::ALL.len()] = [
    Class::Cut,
    Class::Garbled,
    Class::Nobody,
    Class::Ok,
    Class::Ours,
    Class::Refused,
    Class::ServerError,
    Class::Slow,
    Class::Torn,
    Class::Unexpected,
];
