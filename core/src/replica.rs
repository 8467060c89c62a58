//! A reader's copy of a board, kept up by the board's own events rather than by reports.

use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::name::Name;
use crate::row::{Held, Vouch};
use crate::snapshot::Snapshot;
use crate::time::UnixSeconds;

impl Snapshot {
    /// A copy of a board with these rows in this order, whatever order comes with them. `unreported_since` is
    /// that of [`Snapshot::new`].
    pub fn replica(rows: Vec<(Held, Vouch)>, unreported_since: Option<UnixSeconds>) -> Self {
        let placed = (0..).zip(rows).map(|(order, (held, vouch))| (Arc::new(Held { order, ..held }), vouch));
        Self::new(placed, unreported_since)
    }

    /// The snapshot after rows were removed and rows changed or came: removals first; a row that is on the
    /// board is replaced where it stands, any other is appended in the order given. The order that comes with
    /// a row is not looked at; each name comes once. O(n log n).
    #[must_use]
    pub fn changed(&self, removed: &[Name], rows: Vec<(Held, Vouch)>) -> Self {
        let removed = Index::of(removed.iter());
        let kept = self.rows().filter(|row| removed.place(row.name()).is_none());
        let mut board: Vec<(Arc<Held>, Vouch)> = kept.map(|row| (Arc::clone(row.held), *row.vouch)).collect();
        let names: Vec<Name> = board.iter().map(|(held, _)| held.name.clone()).collect();
        let there = Index::of(names.iter());
        let mut next_order = board.last().map_or(0, |(last, _)| last.order.saturating_add(1));
        let unreported_since = self.still_unreported(rows.iter().map(|(_, vouch)| vouch));
        for (mut held, vouch) in rows {
            if let Some(seat) = there.place(&held.name).and_then(|place| board.get_mut(place)) {
                held.order = seat.0.order;
                *seat = (Arc::new(held), vouch);
            } else {
                held.order = next_order;
                next_order = next_order.saturating_add(1);
                board.push((Arc::new(held), vouch));
            }
        }
        Self::new(board, unreported_since)
    }

    /// The snapshot after reports were renewed: that of a source holds for all rows it reports, and those of
    /// single rows. News that is older than what a row has is late, and passed over. O(n log n).
    #[must_use]
    pub fn renewed(&self, sources: &[(Name, Vouch)], rows: &[(Name, Vouch)]) -> Self {
        let by_source = Index::of(sources.iter().map(|(name, _)| name));
        let by_name = Index::of(rows.iter().map(|(name, _)| name));
        let board = self.rows().map(|row| {
            let of_source = by_source.place(&row.held.source).and_then(|place| sources.get(place));
            let of_row = by_name.place(row.name()).and_then(|place| rows.get(place));
            let mut newest = *row.vouch;
            for (_, news) in [of_source, of_row].into_iter().flatten() {
                if news.last_report >= newest.last_report {
                    newest = *news;
                }
            }
            (Arc::clone(row.held), newest)
        });
        Self::new(board, self.still_unreported(sources.iter().chain(rows).map(|(_, vouch)| vouch)))
    }

    /// The restart that nobody has reported since, unless one of these was told after it: what was told before
    /// vouches at the moment of the restart for nothing.
    fn still_unreported<'a>(&self, mut news: impl Iterator<Item = &'a Vouch>) -> Option<UnixSeconds> {
        self.unreported_since()
            .filter(|restart| !news.any(|vouch| vouch.last_report >= *restart && vouch.is_confirmed(*restart)))
    }
}

/// Where each name stands in a list. A sorted list rather than a map: it is read as often as it is written,
/// and a map would outweigh everything else here in a browser.
struct Index<'a>(Vec<(&'a Name, usize)>);

impl<'a> Index<'a> {
    fn of(names: impl Iterator<Item = &'a Name>) -> Self {
        let mut places: Vec<(&Name, usize)> = names.zip(0_usize..).collect();
        places.sort_unstable();
        Self(places)
    }

    fn place(&self, name: &Name) -> Option<usize> {
        let at = self.0.partition_point(|(other, _)| *other < name);
        self.0.get(at).filter(|(other, _)| *other == name).map(|(_, place)| *place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{GoodFor, Route, Row};
    use alloc::vec;

    fn held(name: &str, source: &str) -> Held {
        Held {
            order: 0,
            name: Name::of_instance(name).unwrap(),
            row: Row::default(),
            route: Route::default(),
            source: Name::of_source(source).unwrap(),
            last_change: UnixSeconds::new(0),
            clamped_from: None,
        }
    }

    fn reported(at: u64) -> Vouch {
        let at = UnixSeconds::new(at);
        Vouch { last_report: at, good_for: GoodFor::Seconds(60), good_until: GoodFor::Seconds(60).until(at) }
    }

    fn names(snapshot: &Snapshot) -> Vec<&str> {
        snapshot.rows().map(|row| row.name().as_str()).collect()
    }

    fn three() -> Snapshot {
        let rows = [held("a", "x"), held("b", "y"), held("c", "x")].map(|row| (row, reported(0)));
        Snapshot::replica(rows.into(), None)
    }

    #[test]
    fn a_removed_row_that_comes_back_stands_last_and_a_changed_one_stays_in_its_place() {
        let a = Name::of_instance("a").unwrap();
        let news = vec![(held("c", "y"), reported(9)), (held("a", "x"), reported(9)), (held("d", "x"), reported(9))];
        let after = three().changed(&[a], news);
        assert_eq!(names(&after), ["b", "c", "a", "d"]);
        assert_eq!(after.named("c").unwrap().held.source.as_str(), "y");
    }

    #[test]
    fn what_was_told_before_a_restart_is_no_report_since() {
        let restart = Some(UnixSeconds::new(100));
        let lapsed = Vouch { good_until: Some(UnixSeconds::new(100)), ..reported(90) };
        let board = Snapshot::replica(vec![(held("a", "x"), lapsed)], restart);
        let source = Name::of_source("x").unwrap();
        assert_eq!(board.renewed(&[(source.clone(), lapsed)], &[]).unreported_since(), restart);
        assert_eq!(board.changed(&[], vec![(held("a", "x"), lapsed)]).unreported_since(), restart);
        assert_eq!(board.renewed(&[(source, reported(100))], &[]).unreported_since(), None);
        assert_eq!(board.changed(&[], vec![(held("b", "y"), reported(101))]).unreported_since(), None);
    }

    #[test]
    fn a_renewal_of_a_source_holds_for_its_rows_and_late_news_for_none() {
        let source = |name: &str, at| (Name::of_source(name).unwrap(), reported(at));
        let row = |name: &str, at| (Name::of_instance(name).unwrap(), reported(at));
        let after = three().renewed(&[source("x", 30)], &[row("c", 40)]);
        let last =
            |snapshot: &Snapshot| -> Vec<u64> { snapshot.rows().map(|row| row.vouch.last_report.as_secs()).collect() };
        assert_eq!(last(&after), [30, 0, 40]);
        let late = after.renewed(&[source("x", 35)], &[]);
        assert_eq!(last(&late), [35, 0, 40]);
    }
}
