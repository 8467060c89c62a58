//! What comes out of a sweep: spans, half-open and within the window, each told as soon as it is finished.

use alloc::sync::Arc;

use crate::name::Name;
use crate::readiness::Reason;
use crate::standing::Standing;
use crate::time::UnixSeconds;

/// From when to when. Half-open; empty where it ends before it begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Its first second.
    pub from: UnixSeconds,
    /// The first second after it.
    pub to: UnixSeconds,
}

impl Window {
    /// How long it is.
    pub fn secs(self) -> u64 {
        self.from.age(self.to)
    }
}

/// A finished span. `Who` is what stands for an instance in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Told<Who = Name> {
    /// What the verdict was.
    Verdict(VerdictSpan<Who>),
    /// What an instance amounted to.
    Standing(StandingSpan<Who>),
    /// That two horizons said different things.
    Difference(DifferenceSpan<Who>),
}

/// For how long the same was said, with the same rows to blame. Under one horizon these spans follow each other
/// without holes and fill the window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerdictSpan<Who = Name> {
    /// Under which horizon: its place in the list that the sweep was given.
    pub lane: usize,
    /// Its first second.
    pub from: UnixSeconds,
    /// The first second after it.
    pub to: UnixSeconds,
    /// What was said.
    pub said: Said<Who>,
}

/// What the verdict was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said<Who = Name> {
    /// Traffic might come.
    Ready,
    /// It might not.
    NotReady {
        /// Why; never [`Reason::Ready`].
        reason: Reason,
        /// The rows that vetoed; where nothing served, every row that owned a green and did not serve it.
        blame: Blame<Who>,
    },
    /// Nobody was watching, or nothing was recorded: neither up nor down.
    NotWatching,
}

/// The rows behind something, in board order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blame<Who = Name> {
    /// The first of them, at most [`MAX_BLAMED`]. Shared with the spans before for as long as they are the same.
    pub names: Arc<[Who]>,
    /// How many there were beyond those.
    pub more: u64,
}

impl<Who> Default for Blame<Who> {
    /// Nobody.
    fn default() -> Self {
        Self { names: Arc::default(), more: 0 }
    }
}

/// As many rows are named as anybody reads; a span costs no more, whatever else was out.
pub const MAX_BLAMED: usize = 32;

/// For how long an instance was on the board, stood the same, and said that it served the same. Those of one
/// instance under one horizon follow each other in time; where it was not on the board there is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StandingSpan<Who = Name> {
    /// Under which horizon: its place in the list that the sweep was given.
    pub lane: usize,
    /// Which instance.
    pub name: Who,
    /// Its first second.
    pub from: UnixSeconds,
    /// The first second after it.
    pub to: UnixSeconds,
    /// What it amounted to.
    pub stood: Stood,
    /// What it said that it served. With any standing but `serving` nobody vouched for that.
    pub serving_sha: Option<Arc<str>>,
}

/// What an instance amounted to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stood {
    /// This.
    As(Standing),
    /// Nobody was watching.
    NotWatching,
}

impl Stood {
    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::As(standing) => standing.as_str(),
            Self::NotWatching => "not_watching",
        }
    }
}

/// For how long one horizon said ready and another one did not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DifferenceSpan<Who = Name> {
    /// The place of the horizon under which it was ready.
    pub ready: usize,
    /// The place of the one under which it was not.
    pub not_ready: usize,
    /// Its first second.
    pub from: UnixSeconds,
    /// The first second after it.
    pub to: UnixSeconds,
    /// The rows that make the difference: they vetoed under the one and were stale under the other.
    pub rows: Blame<Who>,
}
