//! The snapshot: what readers of the board see. Immutable, cheap to clone, judged at any moment.

use alloc::collections::BTreeSet;
use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::facts::Facts;
use crate::name::Name;
use crate::readiness::Summary;
use crate::row::{Held, Vouch};
use crate::standing::Standing;
use crate::time::{Horizon, UnixSeconds};

/// All rows in board order with who vouches for each, and the summary from which a verdict follows in
/// O(log n). A clone shares everything.
///
/// Invariant: rows rise strictly in [`Held::order`], each has its vouch at the same place, and the summary is
/// that of these rows.
#[derive(Clone, Debug)]
pub struct Snapshot {
    rows: Arc<Vec<Arc<Held>>>,
    vouches: Arc<Vec<Vouch>>,
    summary: Arc<Summary>,
    unreported_since: Option<UnixSeconds>,
}

impl Snapshot {
    /// A snapshot of `rows` in the order given. `unreported_since` is the moment of the restart while no
    /// source has reported since then and rows were on the board.
    pub fn new(rows: impl IntoIterator<Item = (Arc<Held>, Vouch)>, unreported_since: Option<UnixSeconds>) -> Self {
        let (rows, vouches): (Vec<_>, Vec<_>) = rows.into_iter().unzip();
        Self::of_shared(Arc::new(rows), Arc::new(vouches), unreported_since)
    }

    pub(crate) fn of_shared(
        rows: Arc<Vec<Arc<Held>>>,
        vouches: Arc<Vec<Vouch>>,
        unreported_since: Option<UnixSeconds>,
    ) -> Self {
        let summary =
            Arc::new(Summary::of(rows.iter().zip(vouches.iter()).map(|(held, vouch)| RowView { held, vouch })));
        Self { rows, vouches, summary, unreported_since }
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The rows in board order.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = RowView<'_>> + DoubleEndedIterator + Clone {
        self.rows.iter().zip(self.vouches.iter()).map(|(held, vouch)| RowView { held, vouch })
    }

    /// The row at a place in board order.
    pub fn at(&self, place: usize) -> Option<RowView<'_>> {
        Some(RowView { held: self.rows.get(place)?, vouch: self.vouches.get(place)? })
    }

    /// The row of that name. O(n): a board finds its rows by name faster.
    pub fn named(&self, name: &str) -> Option<RowView<'_>> {
        self.rows().find(|row| row.held.name == *name)
    }

    /// The same snapshot without the rows of those names, and what is judged is judged without them.
    #[must_use]
    pub fn without(&self, names: &BTreeSet<&str>) -> Self {
        let kept = self.rows().filter(|row| !names.contains(row.held.name.as_str()));
        Self::new(kept.map(|row| (Arc::clone(row.held), *row.vouch)), self.unreported_since)
    }

    /// The moment of the restart, while no source has reported since and rows were on the board.
    pub fn unreported_since(&self) -> Option<UnixSeconds> {
        self.unreported_since
    }

    /// The first moment after `now` at which some row loses its witness. O(n).
    pub fn next_lapse(&self, now: UnixSeconds) -> Option<UnixSeconds> {
        self.vouches.iter().filter_map(|vouch| vouch.good_until).filter(|until| *until > now).min()
    }

    /// The rows whose reports ended after `from` and not after `upto`, in board order. O(n).
    pub fn lapsed_between(&self, from: UnixSeconds, upto: UnixSeconds) -> impl Iterator<Item = RowView<'_>> {
        self.rows().filter(move |row| row.vouch.good_until.is_some_and(|until| from < until && until <= upto))
    }

    pub(crate) fn summary(&self) -> &Summary {
        &self.summary
    }
}

impl Default for Snapshot {
    fn default() -> Self {
        Self::new([], None)
    }
}

/// One row of a snapshot with who vouches for it. Everything here depends on the moment it is asked for.
#[derive(Clone, Copy, Debug)]
pub struct RowView<'a> {
    /// The row.
    pub held: &'a Arc<Held>,
    /// Who vouches for it, and until when.
    pub vouch: &'a Vouch,
}

impl<'a> RowView<'a> {
    /// What the row is called.
    pub fn name(&self) -> &'a Name {
        &self.held.name
    }

    /// Whether somebody vouches for the row.
    pub fn is_confirmed(&self, now: UnixSeconds) -> bool {
        self.vouch.is_confirmed(now)
    }

    /// Since when the row stands as it does: its stamp, but where it says that it serves and nobody vouches
    /// for that any more, the moment the witness was lost if that is later.
    pub fn since(&self, now: UnixSeconds) -> UnixSeconds {
        self.facts().since(now)
    }

    /// What the row amounts to.
    pub fn standing(&self, horizon: Horizon, now: UnixSeconds) -> Standing {
        self.facts().standing(horizon, now)
    }

    pub(crate) fn facts(&self) -> Facts {
        let Held { row, last_change, .. } = &**self.held;
        Facts {
            serves: row.serving_sha.is_some(),
            was_green: row.last_green.is_some(),
            last_change: *last_change,
            vouch: *self.vouch,
        }
    }

    /// How long ago the row was last seen to change.
    pub fn idle_secs(&self, now: UnixSeconds) -> u64 {
        self.held.last_change.age(now)
    }

    /// Whether that is at least the horizon, whatever the standing.
    pub fn is_stale(&self, horizon: Horizon, now: UnixSeconds) -> bool {
        horizon.is_stale(self.idle_secs(now))
    }

    /// When a live degraded row stops blocking; `None` for every other standing and where nothing ages out.
    pub fn ages_out(&self, horizon: Horizon, now: UnixSeconds) -> Option<UnixSeconds> {
        match self.standing(horizon, now) {
            Standing::LiveDegraded => horizon.ages_out(self.since(now)),
            Standing::Serving | Standing::NeverGreen | Standing::StaleDegraded => None,
        }
    }

    /// For how long nobody has vouched anew. A follower that passes on a row which its upstream calls unconfirmed
    /// is no witness itself: silence then counts from the end of the last vouching.
    pub fn silent_secs(&self, now: UnixSeconds) -> u64 {
        let Vouch { last_report, good_until, .. } = *self.vouch;
        good_until.map_or(last_report, |until| until.min(last_report)).age(now)
    }

    /// Whether the row says that it serves though nobody vouches for it.
    pub fn lost_its_witness(&self, now: UnixSeconds) -> bool {
        self.held.row.serving_sha.is_some() && !self.is_confirmed(now)
    }
}
