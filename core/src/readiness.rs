//! The verdict: ready if and only if some instance is serving and no live instance fails to serve a green it
//! owns. It follows from a summary that is made when a report comes in, so that asking costs O(log n) and
//! allocates nothing.

use alloc::vec::Vec;
use core::fmt;

use crate::name::Name;
use crate::snapshot::{RowView, Snapshot};
use crate::time::{Horizon, Span, UnixSeconds, sort_by_moment};

/// Why the verdict is what it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Reason {
    /// No instance serves.
    NothingServing,
    /// Some instance serves, but a live one fails to serve a green that it owns.
    LiveDegraded,
    /// Neither.
    Ready,
}

impl Reason {
    /// The rule: ready if and only if something serves and nothing vetoes.
    pub(crate) fn of(serves: bool, vetoed: bool) -> Self {
        match (serves, vetoed) {
            (false, _) => Self::NothingServing,
            (true, true) => Self::LiveDegraded,
            (true, false) => Self::Ready,
        }
    }

    /// Whether traffic may come.
    pub fn is_ready(self) -> bool {
        match self {
            Self::Ready => true,
            Self::NothingServing | Self::LiveDegraded => false,
        }
    }

    /// The word for it on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NothingServing => "nothing_serving",
            Self::LiveDegraded => "live_degraded",
            Self::Ready => "ready",
        }
    }
}

/// Ready or not at one moment under one horizon, with the row to name. Its `Display` is the one line that a
/// person reads; it never holds a reason text from a source.
#[derive(Clone, Copy, Debug)]
pub struct Verdict<'a> {
    reason: Reason,
    /// The degraded row that blocks longest, or would if it were not stale; the first on the board of such.
    newest_degraded: Option<RowView<'a>>,
    unreported_since: Option<UnixSeconds>,
    horizon: Horizon,
    now: UnixSeconds,
}

impl<'a> Verdict<'a> {
    /// Whether traffic may come.
    pub fn is_ready(&self) -> bool {
        self.reason.is_ready()
    }

    /// Why.
    pub fn reason(&self) -> Reason {
        self.reason
    }

    /// The row that blocks longest, where a live degraded row blocks.
    pub fn blocking(&self) -> Option<RowView<'a>> {
        match self.reason {
            Reason::LiveDegraded => self.newest_degraded,
            Reason::NothingServing | Reason::Ready => None,
        }
    }
}

impl fmt::Display for Verdict<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lost = self.newest_degraded.filter(|row| row.lost_its_witness(self.now));
        match (self.reason, self.unreported_since) {
            (Reason::Ready, _) => f.write_str("ready"),
            (Reason::NothingServing, Some(restart)) => {
                write!(f, "no source has reported since the restart {} ago", Span(restart.age(self.now)))
            }
            (Reason::NothingServing, None) => match lost {
                Some(row) => write!(f, "{}", Silence { row, now: self.now }),
                None => f.write_str("nothing is serving"),
            },
            (Reason::LiveDegraded, _) => match (lost, self.newest_degraded) {
                (Some(row), _) => write!(f, "{}", Silence { row, now: self.now }),
                (None, Some(row)) => match row.ages_out(self.horizon, self.now) {
                    Some(at) => write!(f, "{} is degraded (stops blocking in {})", row.name(), Span(self.now.age(at))),
                    None => write!(f, "{} is degraded (blocks until it serves or leaves)", row.name()),
                },
                (None, None) => f.write_str("an instance is degraded"),
            },
        }
    }
}

/// "dev is unconfirmed: source driver has been silent for 11m (its report was good for 10m)".
struct Silence<'a> {
    row: RowView<'a>,
    now: UnixSeconds,
}

impl fmt::Display for Silence<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { row, now } = self;
        let silent = Span(row.silent_secs(*now));
        write!(f, "{} is unconfirmed: source {} has been silent for {silent}", row.name(), row.held.source)
    }
}

impl Snapshot {
    /// May traffic come here? O(log n), no allocation. Depends on the rows, the horizon and `now` alone.
    pub fn verdict(&self, horizon: Horizon, now: UnixSeconds) -> Verdict<'_> {
        let summary = self.summary();
        let newest = summary.newest_degraded(now);
        let vetoed = newest.is_some_and(|newest| !horizon.is_stale(newest.since.age(now)));
        Verdict {
            reason: Reason::of(summary.serves(now), vetoed),
            newest_degraded: newest.and_then(|newest| self.at(newest.place)),
            unreported_since: self.unreported_since(),
            horizon,
            now,
        }
    }

    /// The next moment after `now` at which the verdict changes by time alone, and what it becomes. The first
    /// of [`Snapshot::flips`], found without looking at every row: O(log n) where nothing lapses before it.
    pub fn next_flip(&self, horizon: Horizon, now: UnixSeconds) -> Option<(UnixSeconds, bool)> {
        let summary = self.summary();
        let was_ready = self.verdict(horizon, now).is_ready();
        let mut at = now;
        loop {
            // Between two lapses only ageing changes anything, and only the newest degraded row ages out last.
            let lapse = summary.next_lapse(at);
            let aged_out =
                summary.newest_degraded(at).and_then(|newest| horizon.ages_out(newest.since)).filter(|out| *out > at);
            at = match (lapse, aged_out) {
                (Some(lapse), Some(out)) => lapse.min(out),
                (Some(one), None) | (None, Some(one)) => one,
                (None, None) => return None,
            };
            let is_ready = self.verdict(horizon, at).is_ready();
            if is_ready != was_ready {
                return Some((at, is_ready));
            }
        }
    }

    /// Every list that `/app` shows, in board order. O(n log n), for the flips.
    pub fn judge(&self, horizon: Horizon, now: UnixSeconds) -> Judgement {
        use crate::standing::Standing;
        let verdict = self.verdict(horizon, now);
        let mut judgement = Judgement {
            ready: verdict.is_ready(),
            reason: verdict.reason(),
            lists: Lists {
                serving: Vec::new(),
                live_degraded: Vec::new(),
                stale_degraded: Vec::new(),
                never_green: Vec::new(),
                unconfirmed: Vec::new(),
                stale_after_secs: horizon,
                flips: self.flips(horizon, now),
            },
        };
        let lists = &mut judgement.lists;
        for row in self.rows() {
            let list = match row.standing(horizon, now) {
                Standing::Serving => &mut lists.serving,
                Standing::LiveDegraded => &mut lists.live_degraded,
                Standing::StaleDegraded => &mut lists.stale_degraded,
                Standing::NeverGreen => &mut lists.never_green,
            };
            list.push(row.name().clone());
            if !row.is_confirmed(now) {
                lists.unconfirmed.push(row.name().clone());
            }
        }
        judgement
    }
}

/// The verdict with every name behind it, in board order.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Judgement {
    /// Whether traffic may come.
    pub ready: bool,
    /// Why.
    pub reason: Reason,
    /// What stands behind it.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub lists: Lists,
}

/// What stands behind a verdict. Whoever puts a word of its own over the verdict still tells this.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Lists {
    /// Rows that serve.
    pub serving: Vec<Name>,
    /// Rows that veto.
    pub live_degraded: Vec<Name>,
    /// Rows that no longer veto.
    pub stale_degraded: Vec<Name>,
    /// Rows that never served.
    pub never_green: Vec<Name>,
    /// Rows that nobody vouches for, whatever their standing.
    pub unconfirmed: Vec<Name>,
    /// The horizon; null is never.
    pub stale_after_secs: Horizon,
    /// When `ready` changes by time alone.
    pub flips: Vec<Flip>,
}

/// A moment at which the verdict changes by time alone.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct Flip {
    /// When.
    pub at_unix: UnixSeconds,
    /// What the verdict becomes.
    pub ready: bool,
    /// The first row on the board whose standing changed then in the direction of the flip.
    pub because: Name,
}

/// A degraded row by when it began to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Newest {
    pub(crate) since: UnixSeconds,
    pub(crate) place: usize,
}

impl Newest {
    /// The one that blocks longest; of two that block equally long, the first on the board.
    fn or(self, other: Self) -> Self {
        if other.since > self.since || (other.since == self.since && other.place < self.place) { other } else { self }
    }
}

/// What a verdict at any moment under any horizon follows from.
#[derive(Debug)]
pub(crate) struct Summary {
    /// The newest of the rows that say they do not serve.
    degraded: Option<Newest>,
    /// Whether a row that serves is vouched for without end.
    serves_for_ever: bool,
    /// The rows that serve until a moment, one entry for each such moment, in rising order.
    lapses: Vec<Lapse>,
}

/// What is known of the rows that say they serve and whose report ends at one moment.
#[derive(Clone, Copy, Debug)]
struct Lapse {
    at: UnixSeconds,
    /// The newest of the rows that are degraded from `at` on or from an earlier lapse.
    newest_so_far: Option<Newest>,
}

impl Summary {
    pub(crate) fn of<'a>(rows: impl Iterator<Item = RowView<'a>>) -> Self {
        let newer = |old: Option<Newest>, new: Newest| Some(old.map_or(new, |old| old.or(new)));
        let mut degraded = None;
        let mut serves_for_ever = false;
        // What each row that serves until a moment will be from then on, and those moments in order.
        let mut lost: Vec<Option<Newest>> = Vec::new();
        let mut ends: Vec<(UnixSeconds, usize)> = Vec::new();
        for (place, row) in rows.enumerate() {
            let owns_a_green = row.held.row.last_green.is_some();
            let stamp = row.held.last_change;
            match (row.held.row.serving_sha.is_some(), row.vouch.good_until) {
                (false, _) if owns_a_green => degraded = newer(degraded, Newest { since: stamp, place }),
                (false, _) => {}
                (true, None) => serves_for_ever = true,
                (true, Some(end)) => {
                    ends.push((end, lost.len()));
                    lost.push(owns_a_green.then(|| Newest { since: stamp.max(end), place }));
                }
            }
        }
        sort_by_moment(&mut ends);
        let mut newest_so_far = None;
        let mut lapses: Vec<Lapse> = Vec::new();
        for (at, which) in ends {
            if let Some(newest) = lost.get(which).copied().flatten() {
                newest_so_far = newer(newest_so_far, newest);
            }
            // Rows of one report end together, and are one entry.
            match lapses.last_mut() {
                Some(entry) if entry.at == at => entry.newest_so_far = newest_so_far,
                Some(_) | None => lapses.push(Lapse { at, newest_so_far }),
            }
        }
        Self { degraded, serves_for_ever, lapses }
    }

    fn serves(&self, now: UnixSeconds) -> bool {
        self.serves_for_ever || self.lapses.last().is_some_and(|last| now < last.at)
    }

    fn newest_degraded(&self, now: UnixSeconds) -> Option<Newest> {
        let lapsed = self.lapses.partition_point(|lapse| lapse.at <= now);
        let lost = lapsed.checked_sub(1).and_then(|last| self.lapses.get(last)).and_then(|lapse| lapse.newest_so_far);
        match (self.degraded, lost) {
            (Some(one), Some(other)) => Some(one.or(other)),
            (one, other) => one.or(other),
        }
    }

    /// The first moment after `now` at which a row that says it serves loses its witness.
    fn next_lapse(&self, now: UnixSeconds) -> Option<UnixSeconds> {
        let lapsed = self.lapses.partition_point(|lapse| lapse.at <= now);
        self.lapses.get(lapsed).map(|lapse| lapse.at)
    }
}
