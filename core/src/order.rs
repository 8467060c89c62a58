//! Worst first: the order in which a person wants to read a board.

use alloc::vec::Vec;

use crate::snapshot::Snapshot;
use crate::standing::Standing;
use crate::time::{Horizon, UnixSeconds, sort_by_moment};

impl Snapshot {
    /// The places of all rows, worst first: what vetoes, what vetoed until it aged out, what never served, and
    /// what serves; among equals the latest news first, and of equally late ones the first on the board. Rows
    /// that serve stand in board order: which of them changed last is no reason to move them about.
    /// O(n log n).
    pub fn worst_first(&self, horizon: Horizon, now: UnixSeconds) -> Vec<usize> {
        let (mut live, mut stale, mut never, mut serving) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for (place, row) in self.rows().enumerate() {
            let standing = row.standing(horizon, now);
            let group = match standing {
                Standing::LiveDegraded => &mut live,
                Standing::StaleDegraded => &mut stale,
                Standing::NeverGreen => &mut never,
                Standing::Serving => &mut serving,
            };
            // Turned round, so that the latest comes first and equals keep their order.
            let until_the_end = UnixSeconds::MAX.as_secs().saturating_sub(row.since(now).as_secs());
            let key = if standing == Standing::Serving { 0 } else { until_the_end };
            group.push((UnixSeconds::new(key), place));
        }
        let mut order = Vec::with_capacity(self.len());
        for mut group in [live, stale, never, serving] {
            sort_by_moment(&mut group);
            order.extend(group.into_iter().map(|(_, place)| place));
        }
        order
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Board, Extent, GoodFor, Name, Report, ReportedRow};
    use alloc::vec;

    #[test]
    fn what_vetoes_comes_first_and_what_serves_comes_last_in_board_order() {
        let row = |name: &str, serving: bool, green: bool| ReportedRow {
            name: name.into(),
            serving_sha: serving.then(|| "a".into()),
            last_green: green.then(|| "a".into()),
            ..ReportedRow::default()
        };
        let mut board = Board::new();
        for (at, rows) in [
            (0, vec![row("dev", true, true), row("old", false, true), row("wip", false, false)]),
            (5_000, vec![row("lane", false, true), row("blue", true, true)]),
            (5_010, vec![row("late", false, true)]),
        ] {
            let report = Report {
                source: Name::of_source("driver").unwrap(),
                extent: Extent::Partial,
                rows,
                good_for: GoodFor::Forever,
                sequence: None,
            };
            board.report(report, UnixSeconds::new(at)).unwrap();
        }
        let snapshot = board.snapshot();
        let names = |horizon| -> Vec<&str> {
            let order = snapshot.worst_first(horizon, UnixSeconds::new(5_020));
            order.into_iter().map(|place| snapshot.at(place).unwrap().name().as_str()).collect()
        };
        assert_eq!(names(Horizon::DEFAULT), ["late", "lane", "old", "wip", "dev", "blue"]);
        assert_eq!(names(Horizon::After(15)), ["late", "lane", "old", "wip", "dev", "blue"]);
        assert_eq!(names(Horizon::After(0)), ["late", "lane", "old", "wip", "dev", "blue"]);
    }
}
