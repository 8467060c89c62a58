//! One horizon of a sweep: who serves and who vetoes under it now, and since when it has said what it says.

use alloc::boxed::Box;
use alloc::collections::BTreeSet;

use super::past::Past;
use super::span::{Blame, MAX_BLAMED, Said, Stood};
use crate::flips::Tally;
use crate::readiness::Reason;
use crate::standing::Standing;
use crate::time::{Horizon, UnixSeconds};

/// Rows in board order: the order of each and its place in the past.
pub(super) type InOrder = BTreeSet<(u64, usize)>;

/// The state of a sweep under one horizon.
#[derive(Debug)]
pub(super) struct Lane {
    pub(super) horizon: Horizon,
    tally: Tally,
    vetoing: InOrder,
    pub(super) saying: Run<Said>,
}

impl Lane {
    pub(super) fn new(horizon: Horizon) -> Self {
        Self { horizon, tally: Tally::default(), vetoing: InOrder::new(), saying: Run::default() }
    }

    /// A row that stood so, at this order of the board and place of the past, does so no longer.
    pub(super) fn remove(&mut self, standing: Standing, key: (u64, usize)) {
        self.tally.remove(standing);
        if standing == Standing::LiveDegraded {
            self.vetoing.remove(&key);
        }
    }

    /// A row stands so from now on.
    pub(super) fn add(&mut self, standing: Standing, key: (u64, usize)) {
        self.tally.add(standing);
        if standing == Standing::LiveDegraded {
            self.vetoing.insert(key);
        }
    }

    pub(super) fn is_ready(&self) -> bool {
        self.tally.reason().is_ready()
    }

    /// The rows that veto.
    pub(super) fn vetoing(&self, past: &Past) -> Blame {
        first_of(&self.vetoing, past)
    }

    /// What the verdict is, where `degraded` are the rows that own a green and do not serve.
    pub(super) fn says(&self, degraded: &InOrder, past: &Past) -> Said {
        match self.tally.reason() {
            Reason::Ready => Said::Ready,
            reason @ Reason::LiveDegraded => Said::NotReady { reason, blame: self.vetoing(past) },
            reason @ Reason::NothingServing => Said::NotReady { reason, blame: first_of(degraded, past) },
        }
    }
}

fn first_of(rows: &InOrder, past: &Past) -> Blame {
    let names = rows.iter().take(MAX_BLAMED).filter_map(|(_, place)| past.name(*place)).cloned().collect();
    let more = rows.len().saturating_sub(MAX_BLAMED);
    Blame { names, more: u64::try_from(more).unwrap_or(u64::MAX) }
}

/// What an instance amounts to under one horizon, and since when.
#[derive(Clone, Debug, Default)]
pub(super) struct Place {
    /// Its standing as the lane counts it; `None` where it is not on the board.
    pub(super) counted: Option<Standing>,
    /// When time alone may change it next, as it stands in the queue.
    pub(super) due: Option<UnixSeconds>,
    pub(super) standing: Run<(Stood, Option<Box<str>>)>,
}

/// Something that stays the same for a while; `None` where there is nothing to tell of.
#[derive(Clone, Debug)]
pub(super) struct Run<T>(Option<(UnixSeconds, T)>);

impl<T> Default for Run<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T: PartialEq> Run<T> {
    /// What it becomes at `now`; gives what it had been since when, where that is another thing.
    pub(super) fn becomes(&mut self, value: Option<T>, now: UnixSeconds) -> Option<(UnixSeconds, T)> {
        if self.0.as_ref().map(|(_, value)| value) == value.as_ref() {
            return None;
        }
        core::mem::replace(&mut self.0, value.map(|value| (now, value))).filter(|(since, _)| *since < now)
    }
}
