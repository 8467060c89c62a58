//! One horizon of a sweep: who serves and who vetoes under it now, and since when it has said what it says.

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::rows::Rows;
use crate::flips::Tally;
use crate::history::past::sorted::{Key, Sorted};
use crate::history::span::{Blame, MAX_BLAMED, Said, Stood};
use crate::readiness::Reason;
use crate::standing::Standing;
use crate::time::{Horizon, UnixSeconds};

/// A row's standing, and its key where rows stand in board order: its order and its place in the past. `None` where
/// it is not on the board.
pub(super) type Counted = Option<(Standing, Key)>;

/// The state of a sweep under one horizon.
#[derive(Debug)]
pub(super) struct Lane<Who> {
    pub(super) horizon: Horizon,
    tally: Tally,
    vetoing: Ranked<Who>,
    /// Whether a row began or ceased to count since what it says was judged.
    pub(super) has_changed: bool,
    pub(super) saying: Run<Said<Who>>,
}

impl<Who: Clone> Lane<Who> {
    pub(super) fn new(horizon: Horizon) -> Self {
        Self { horizon, tally: Tally::default(), vetoing: Ranked::default(), has_changed: true, saying: Run::default() }
    }

    /// A row amounts to something else now, or stands elsewhere in the order of the board.
    pub(super) fn recount(&mut self, was: Counted, is: Counted) {
        if was == is {
            return;
        }
        self.has_changed = true;
        if let Some((standing, key)) = was {
            self.tally.remove(standing);
            if standing == Standing::LiveDegraded {
                self.vetoing.discard(key);
            }
        }
        if let Some((standing, key)) = is {
            self.tally.add(standing);
            if standing == Standing::LiveDegraded {
                self.vetoing.add(key);
            }
        }
    }

    /// What the verdict is, where `degraded` are the rows that own a green and do not serve.
    pub(super) fn says(&mut self, degraded: &mut Ranked<Who>, rows: &impl Rows<Who = Who>) -> Said<Who> {
        match self.tally.reason() {
            Reason::Ready => Said::Ready,
            reason @ Reason::LiveDegraded => Said::NotReady { reason, blame: self.vetoing.blame(rows) },
            reason @ Reason::NothingServing => Said::NotReady { reason, blame: degraded.blame(rows) },
        }
    }
}

/// Rows in board order, and the names of the first of them for as long as those stay the same: most of what happens
/// to a large board happens to none of them.
#[derive(Debug)]
pub(super) struct Ranked<Who> {
    ranks: Sorted,
    named: Option<Named<Who>>,
}

/// The first of them.
#[derive(Debug)]
struct Named<Who> {
    names: Arc<[Who]>,
    /// The last that is named, where others follow or may.
    last: Option<Key>,
}

impl<Who> Default for Ranked<Who> {
    fn default() -> Self {
        Self { ranks: Sorted::default(), named: None }
    }
}

impl<Who: Clone> Ranked<Who> {
    pub(super) fn add(&mut self, key: Key) {
        self.ranks.add(key);
        self.forget_names_up_from(key);
    }

    pub(super) fn discard(&mut self, key: Key) {
        self.ranks.discard(key);
        self.forget_names_up_from(key);
    }

    fn forget_names_up_from(&mut self, key: Key) {
        if self.named.as_ref().is_some_and(|named| named.last.is_none_or(|last| key <= last)) {
            self.named = None;
        }
    }

    fn blame(&mut self, rows: &impl Rows<Who = Who>) -> Blame<Who> {
        let Self { ranks, named } = self;
        let Named { names, .. } = named.get_or_insert_with(|| {
            let (mut names, mut last) = (Vec::with_capacity(ranks.len().min(MAX_BLAMED)), None);
            for key @ (_, place) in ranks.iter().take(MAX_BLAMED) {
                names.extend(rows.who(place));
                last = Some(key);
            }
            Named { last: last.filter(|_| names.len() == MAX_BLAMED), names: names.into() }
        });
        let more = ranks.len().saturating_sub(names.len());
        Blame { names: Arc::clone(names), more: u64::try_from(more).unwrap_or(u64::MAX) }
    }
}

/// What an instance amounts to under one horizon, and since when.
#[derive(Debug, Default)]
pub(super) struct Place {
    /// As what the lane counts it.
    pub(super) counted: Counted,
    pub(super) standing: Run<(Stood, Option<Arc<str>>)>,
}

/// Something that stays the same for a while; `None` where there is nothing to tell of.
#[derive(Debug)]
pub(super) struct Run<T>(Option<(UnixSeconds, T)>);

impl<T> Default for Run<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T> Run<T> {
    /// What it is now.
    pub(super) fn now(&self) -> Option<&T> {
        self.0.as_ref().map(|(_, value)| value)
    }
}

impl<T: PartialEq> Run<T> {
    /// What it becomes at `now`; gives what it had been since when, where that is another thing.
    pub(super) fn becomes(&mut self, value: Option<T>, now: UnixSeconds) -> Option<(UnixSeconds, T)> {
        if self.now() == value.as_ref() {
            return None;
        }
        core::mem::replace(&mut self.0, value.map(|value| (now, value))).filter(|(since, _)| *since < now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::past::seats::Seats;
    use alloc::collections::BTreeSet;

    #[test]
    fn the_rows_to_blame_are_the_first_of_those_that_are_ranked() {
        let (mut ranked, mut all) = (Ranked::default(), BTreeSet::new());
        let mut random: u64 = 11;
        for step in 0..20_000 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let place = usize::try_from((random >> 33) % 80).unwrap();
            // Twice as many come as go, until it goes the other way.
            let key = (u64::try_from(place / 2).unwrap(), place);
            if (random >> 40) % 3 > u64::from(step / 2_000 % 2 == 0) {
                ranked.discard(key);
                all.remove(&key);
            } else {
                ranked.add(key);
                all.insert(key);
            }
            let first: Vec<usize> = all.iter().take(MAX_BLAMED).map(|(_, place)| *place).collect();
            let more = u64::try_from(all.len() - first.len()).unwrap();
            assert_eq!(ranked.blame(&Seats::default()), Blame { names: first.into(), more });
        }
    }
}
