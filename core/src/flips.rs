//! The flips: every moment at which the verdict will change if nothing else happens.

use alloc::vec::Vec;

use crate::readiness::{Flip, Reason};
use crate::snapshot::Snapshot;
use crate::standing::Standing;
use crate::time::{Horizon, UnixSeconds, sort_by_moment};

/// As many flips as are listed: further ahead than anybody plans, and a bound on every answer.
pub const MAX_FLIPS: usize = 32;

impl Snapshot {
    /// The moments after `now`, in order, at which the verdict changes by time alone, at most [`MAX_FLIPS`].
    ///
    /// A row changes its standing by time at most twice: when its report ends, and when it ages out. The sweep
    /// goes through these moments in order and keeps count of who serves and who vetoes. O(n log n).
    pub fn flips(&self, horizon: Horizon, now: UnixSeconds) -> Vec<Flip> {
        let mut tally = Tally::default();
        let mut moments: Vec<(UnixSeconds, usize)> = Vec::new();
        for (place, row) in self.rows().enumerate() {
            tally.add(row.standing(horizon, now));
            moments.extend(row.facts().turning_points(horizon, now).into_iter().flatten().map(|at| (at, place)));
        }
        // Once nothing serves, time alone brings nothing back.
        sort_by_moment(&mut moments);
        let mut flips = Vec::new();
        let mut before = now;
        let mut ready = tally.is_ready();
        for group in moments.chunk_by(|one, other| one.0 == other.0) {
            let Some((at, _)) = group.first().copied() else { continue };
            let (mut aged_out, mut stopped_serving) = (None, None);
            for row in group.iter().filter_map(|(_, place)| self.at(*place)) {
                let (was, is) = (row.standing(horizon, before), row.standing(horizon, at));
                tally.remove(was);
                tally.add(is);
                if was == Standing::LiveDegraded && is != Standing::LiveDegraded {
                    aged_out = aged_out.or(Some(row));
                }
                if was == Standing::Serving && is != Standing::Serving {
                    stopped_serving = stopped_serving.or(Some(row));
                }
            }
            before = at;
            if tally.is_ready() != ready {
                ready = tally.is_ready();
                let because = if ready { aged_out } else { stopped_serving };
                flips.extend(because.map(|row| Flip { at_unix: at, ready, because: row.name().clone() }));
                if flips.len() >= MAX_FLIPS {
                    break;
                }
            }
        }
        flips
    }

    /// The first moment after `now` at which time alone changes anything about any row: what it amounts to,
    /// whether somebody vouches for it, since when it stands so, or when it ages out. Until then the order
    /// of the rows and the flips are the same too. `None` where nothing changes any more. O(n).
    pub fn next_turn(&self, horizon: Horizon, now: UnixSeconds) -> Option<UnixSeconds> {
        let turns = self.rows().flat_map(|row| {
            [row.vouch.good_until.filter(|until| *until > now), row.ages_out(horizon, now).filter(|at| *at > now)]
        });
        turns.flatten().min()
    }
}

/// How many rows serve, and how many veto.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    serving: usize,
    live_degraded: usize,
}

impl Tally {
    pub(crate) fn add(&mut self, standing: Standing) {
        if let Some(count) = self.count(standing) {
            *count = count.saturating_add(1);
        }
    }

    pub(crate) fn remove(&mut self, standing: Standing) {
        if let Some(count) = self.count(standing) {
            *count = count.saturating_sub(1);
        }
    }

    fn count(&mut self, standing: Standing) -> Option<&mut usize> {
        match standing {
            Standing::Serving => Some(&mut self.serving),
            Standing::LiveDegraded => Some(&mut self.live_degraded),
            Standing::StaleDegraded | Standing::NeverGreen => None,
        }
    }

    pub(crate) fn reason(self) -> Reason {
        Reason::of(self.serving > 0, self.live_degraded > 0)
    }

    fn is_ready(self) -> bool {
        self.reason().is_ready()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Board, Extent, GoodFor, Name, Report, ReportedRow};
    use alloc::format;

    #[test]
    fn until_the_next_turn_nothing_about_any_row_changes_and_at_it_something_does() {
        let mut board = Board::new();
        for (at, good_for) in [(0, GoodFor::Forever), (10, GoodFor::Seconds(25)), (20, GoodFor::Seconds(60))] {
            let rows = [(true, true), (false, true), (true, false), (false, false)]
                .into_iter()
                .map(|(serves, green)| ReportedRow {
                    name: format!("{serves}-{green}-{at}").into(),
                    serving_sha: serves.then(|| "a".into()),
                    last_green: green.then(|| "a".into()),
                    ..ReportedRow::default()
                })
                .collect();
            let source = Name::of_source(&format!("source-{at}")).unwrap();
            let report = Report { source, extent: Extent::Full, rows, good_for, sequence: None };
            board.report(report, UnixSeconds::new(at)).unwrap();
        }
        let snapshot = board.snapshot();
        for horizon in [Horizon::After(0), Horizon::After(7), Horizon::After(30), Horizon::Never] {
            let told = |now| {
                let rows = snapshot.rows().map(|row| {
                    (row.standing(horizon, now), row.is_confirmed(now), row.since(now), row.ages_out(horizon, now))
                });
                let rows: Vec<_> = rows.collect();
                (rows, snapshot.worst_first(horizon, now), snapshot.flips(horizon, now))
            };
            for now in 20..150 {
                let (now, after) = (UnixSeconds::new(now), UnixSeconds::new(now + 1));
                let turns = snapshot.next_turn(horizon, now) == Some(after);
                assert_eq!(told(now) != told(after), turns, "{horizon:?} at {now}");
            }
        }
    }
}
