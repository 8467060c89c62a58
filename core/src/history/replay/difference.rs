//! Where two horizons say different things, and which rows make the difference.

use super::lane::Run;
use crate::history::span::{Blame, DifferenceSpan, Said, VerdictSpan};
use crate::time::UnixSeconds;

/// Two horizons that are compared.
#[derive(Debug)]
pub(super) struct Pair<Who> {
    lanes: [usize; 2],
    /// The place of the lane that is ready, that of the other, and the rows that make the difference.
    differs: Run<(usize, usize, Blame<Who>)>,
}

impl<Who: Clone + PartialEq> Pair<Who> {
    pub(super) fn of(lanes: [usize; 2]) -> Self {
        Self { lanes, differs: Run::default() }
    }

    pub(super) fn lanes(&self) -> [usize; 2] {
        self.lanes
    }

    /// Takes what both say from `now` on, and gives the difference that ends there. A board on which nothing serves is
    /// not ready under any horizon, so that the rows to blame are those that veto.
    pub(super) fn say(&mut self, says: [&Said<Who>; 2], now: UnixSeconds) -> Option<DifferenceSpan<Who>> {
        let [one, other] = self.lanes;
        let differs = match says {
            [Said::Ready, Said::NotReady { blame, .. }] => Some((one, other, blame.clone())),
            [Said::NotReady { blame, .. }, Said::Ready] => Some((other, one, blame.clone())),
            [Said::Ready, Said::Ready]
            | [Said::NotReady { .. }, Said::NotReady { .. }]
            | [Said::NotWatching, _]
            | [_, Said::NotWatching] => None,
        };
        self.becomes(differs, now)
    }

    /// Gives the difference that goes on up to the end.
    pub(super) fn end(&mut self, now: UnixSeconds) -> Option<DifferenceSpan<Who>> {
        self.becomes(None, now)
    }

    fn becomes(
        &mut self,
        differs: Option<(usize, usize, Blame<Who>)>,
        now: UnixSeconds,
    ) -> Option<DifferenceSpan<Who>> {
        let (from, (ready, not_ready, rows)) = self.differs.becomes(differs, now)?;
        Some(DifferenceSpan { ready, not_ready, from, to: now, rows })
    }
}

/// Where the verdicts of two replays over one window differ, in order. In what is told the first is lane 0 and the
/// other lane 1.
pub fn differences<Who: Clone + PartialEq>(
    one: &[VerdictSpan<Who>],
    other: &[VerdictSpan<Who>],
    mut tell: impl FnMut(DifferenceSpan<Who>),
) {
    let (mut ones, mut others) = (one.iter(), other.iter());
    let (mut one, mut other) = (ones.next(), others.next());
    let mut pair = Pair::of([0, 1]);
    let mut end = UnixSeconds::default();
    while let (Some(first), Some(second)) = (one, other) {
        if let Some(span) = pair.say([&first.said, &second.said], first.from.max(second.from)) {
            tell(span);
        }
        end = first.to.min(second.to);
        if first.to == end {
            one = ones.next();
        }
        if second.to == end {
            other = others.next();
        }
    }
    if let Some(span) = pair.end(end) {
        tell(span);
    }
}
