//! The board: a report goes in, the changes come out. The one place where stamps move.

mod admission;

use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use alloc::vec::Vec;

use self::admission::Admitted;
use crate::memory::{Memory, Remembered};
use crate::name::Name;
use crate::report::{Effects, Extent, Refusal, Renewed, Report};
use crate::row::{CheckedRow, Held, Vouch};
use crate::snapshot::{RowView, Snapshot};
use crate::time::UnixSeconds;

/// The most rows a board holds, and the most removed rows it remembers.
pub const MAX_ROWS: usize = 100_000;
/// The most sources whose last report is known; of those without rows the longest silent is forgotten first.
pub const MAX_SOURCES: usize = 10_000;

/// All rows with their stamps: the state of the daemon.
///
/// Methods that change it take a report or a removal with `now` and give [`Effects`], or a [`Refusal`] and
/// change nothing. Methods that read it go through a [`Snapshot`].
///
/// Invariant: `rows` rise in `order` and stand beside their `vouches`; `places` maps each name to its row's
/// order; no name is both on the board and in the memory; every row keeps the limits of its fields.
#[derive(Clone, Debug)]
pub struct Board {
    rows: Arc<Vec<Arc<Held>>>,
    vouches: Arc<Vec<Vouch>>,
    places: BTreeMap<Name, u64>,
    memory: Memory,
    sources: BTreeMap<Name, SourceState>,
    next_order: u64,
    limit: usize,
    unreported_since: Option<UnixSeconds>,
    has_been_reported_to: bool,
}

/// What a board knows of one source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SourceState {
    /// When its last report came in.
    pub last_report: UnixSeconds,
    last_sequence: Option<u64>,
}

impl Board {
    /// An empty board.
    pub fn new() -> Self {
        Self::holding_at_most(MAX_ROWS)
    }

    /// An empty board for so many rows, remembering as many.
    pub fn holding_at_most(limit: usize) -> Self {
        Self {
            rows: Arc::default(),
            vouches: Arc::default(),
            places: BTreeMap::new(),
            memory: Memory::default(),
            sources: BTreeMap::new(),
            next_order: 0,
            limit,
            unreported_since: None,
            has_been_reported_to: false,
        }
    }

    /// The board as it was stored, restarted at `now`. Rows may come in any order: they take their places by
    /// [`Held::order`]. Of two rows of one name the later place holds.
    pub fn restore(
        rows: impl IntoIterator<Item = (impl Into<Arc<Held>>, Vouch)>,
        memory: impl IntoIterator<Item = Remembered>,
        now: UnixSeconds,
    ) -> Self {
        let mut board = Self::new();
        let mut by_order: Vec<(Arc<Held>, Vouch)> =
            rows.into_iter().map(|(held, vouch)| (held.into(), vouch)).collect();
        by_order.sort_by_key(|(held, _)| held.order);
        board.places = by_order.iter().map(|(held, _)| (held.name.clone(), held.order)).collect();
        let (rows, vouches): (Vec<_>, Vec<_>) =
            by_order.into_iter().filter(|(held, _)| board.places.get(&held.name) == Some(&held.order)).unzip();
        board.next_order = rows.last().map_or(0, |last: &Arc<Held>| last.order.saturating_add(1));
        board.rows = Arc::new(rows);
        board.vouches = Arc::new(vouches);
        for gone in memory {
            if !board.places.contains_key(&gone.name) {
                board.memory.insert(gone);
            }
        }
        board.restart(now);
        board
    }

    /// A restart re-arms nothing and vouches for nothing: rows keep their stamps, a report that was not good
    /// for ever ends now at the latest, and sequences begin anew. Stamps and removals whose stored times are
    /// later than `now` are clamped to it, whatever an earlier restart made of them: the board becomes the one
    /// that [`Board::restore`] makes of what was stored.
    pub fn restart(&mut self, now: UnixSeconds) {
        for vouch in Arc::make_mut(&mut self.vouches) {
            *vouch = vouch.restarted(now);
        }
        if self.rows.iter().any(|held| held.last_change != held.stored_change().min(now)) {
            for held in Arc::make_mut(&mut self.rows) {
                let stored = held.stored_change();
                if held.last_change != stored.min(now) {
                    Arc::make_mut(held).restart_from(stored, now);
                }
            }
        }
        self.memory.clamp(now);
        self.sources.clear();
        self.has_been_reported_to = false;
        self.unreported_since = (!self.rows.is_empty()).then_some(now);
    }

    /// Takes a report in.
    ///
    /// # Errors
    /// See [`Refusal`]; the board is then as it was.
    pub fn report(&mut self, report: Report, now: UnixSeconds) -> Result<Effects, Refusal> {
        let Report { source, extent, mut rows, good_for, sequence } = report;
        let Admitted { places, named } = self.admit(&source, extent, &mut rows, sequence, now)?;

        let vouch = Vouch { last_report: now, good_for, good_until: good_for.until(now) };
        // Before the rows: one that comes back too late is not remembered.
        let mut effects = Effects { forgotten: self.memory.forget_old(now), ..Effects::default() };
        let all_vouched = rows.iter().all(|row| row.lapsed_secs.is_none());
        let mut moved = Vec::new();
        for (row, place) in rows.into_iter().zip(places) {
            moved.extend(self.put(&source, row.into_checked(), place, vouch, now, &mut effects));
        }
        effects.renewed = match extent {
            _ if moved.is_empty() => Renewed::Nothing,
            Extent::Full if all_vouched => Renewed::Source(source.clone()),
            Extent::Full | Extent::Partial => {
                let rows = moved.into_iter().filter_map(|place| self.rows.get(place));
                Renewed::Rows(rows.map(|held| held.name.clone()).collect())
            }
        };
        match extent {
            Extent::Full => {
                self.leave(&mut effects, now, |place, held| {
                    !named.get(place).copied().unwrap_or(true) && held.source == source
                });
            }
            Extent::Partial => {}
        }
        effects.forgotten.extend(self.memory.forget_beyond(self.limit));
        let last_sequence = sequence.or_else(|| self.sources.get(&source).and_then(|known| known.last_sequence));
        self.sources.insert(source, SourceState { last_report: now, last_sequence });
        self.has_been_reported_to = true;
        self.unreported_since = None;
        Ok(effects)
    }

    /// Removes one row of a source and remembers it.
    ///
    /// # Errors
    /// [`Refusal::Unknown`] where no such row is on the board, [`Refusal::OfAnother`] where it is another
    /// source's.
    pub fn remove(&mut self, source: &str, name: &str, now: UnixSeconds) -> Result<Effects, Refusal> {
        let Some(place) = self.place(name) else {
            return Err(Refusal::Unknown { name: name.into() });
        };
        if let Some(held) = self.rows.get(place)
            && held.source != *source
        {
            return Err(Refusal::OfAnother { name: held.name.clone(), owner: held.source.clone() });
        }
        let mut effects = Effects { forgotten: self.memory.forget_old(now), ..Effects::default() };
        self.leave(&mut effects, now, |at, _| at == place);
        effects.forgotten.extend(self.memory.forget_beyond(self.limit));
        Ok(effects)
    }

    /// Removes all rows of a source and remembers them. A source without rows is no error.
    pub fn remove_source(&mut self, source: &str, now: UnixSeconds) -> Effects {
        let mut effects = Effects { forgotten: self.memory.forget_old(now), ..Effects::default() };
        self.leave(&mut effects, now, |_, held| held.source == *source);
        effects.forgotten.extend(self.memory.forget_beyond(self.limit));
        effects
    }

    /// What readers see. O(n), once for each change.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot::of_shared(Arc::clone(&self.rows), Arc::clone(&self.vouches), self.unreported_since)
    }

    /// The row of that name.
    pub fn row(&self, name: &str) -> Option<RowView<'_>> {
        let place = self.place(name)?;
        Some(RowView { held: self.rows.get(place)?, vouch: self.vouches.get(place)? })
    }

    /// How many rows are on the board.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether none are.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Whether any source has reported since the board was made or restarted.
    pub fn has_been_reported_to(&self) -> bool {
        self.has_been_reported_to
    }

    /// The sources that have reported since the start, by name.
    pub fn sources(&self) -> impl Iterator<Item = (&Name, &SourceState)> {
        self.sources.iter()
    }

    /// The removed rows that are remembered, by name.
    pub fn remembered(&self) -> impl Iterator<Item = &Remembered> {
        self.memory.iter()
    }

    /// The removed row of that name, if it is remembered.
    pub fn remembers(&self, name: &str) -> Option<&Remembered> {
        self.memory.get(name)
    }

    /// Puts one admitted row in its place, `None` for one that is new. Gives the place where the end of its
    /// vouching moved.
    fn put(
        &mut self,
        source: &Name,
        checked: CheckedRow,
        place: Option<usize>,
        vouch: Vouch,
        now: UnixSeconds,
        effects: &mut Effects,
    ) -> Option<usize> {
        let CheckedRow { name, row, route, idle_secs, lapsed_secs } = checked;
        let Some(place) = place else {
            // The name was checked on admission.
            let name = Name::of_instance(&name).ok()?;
            let remembered = self.memory.take(&name);
            effects.forgotten.extend(remembered.iter().map(|gone| gone.name.clone()));
            let (last_change, clamped_from) = match remembered {
                Some(gone) if gone.row == row => (gone.last_change, gone.clamped_from.map(|(stamp, _)| stamp)),
                Some(_) => (now, None),
                None => (now.earlier(idle_secs), None),
            };
            let order = self.next_order;
            self.next_order = order.saturating_add(1);
            let held =
                Held { order, name: name.clone(), row, route, source: source.clone(), last_change, clamped_from };
            self.places.insert(name.clone(), order);
            Arc::make_mut(&mut self.rows).push(Arc::new(held));
            let vouch = match lapsed_secs {
                Some(secs) => {
                    effects.lapsed.push(name.clone());
                    Vouch { good_until: Some(now.earlier(secs)), ..vouch }
                }
                None => vouch,
            };
            Arc::make_mut(&mut self.vouches).push(vouch);
            effects.changed.push(name);
            return self.rows.len().checked_sub(1);
        };
        let held = self.rows.get(place)?;
        let changes = held.row != row;
        let touches = held.route != route || held.source != *source;
        if changes || touches {
            let name = held.name.clone();
            let held = Held {
                order: held.order,
                name: name.clone(),
                last_change: if changes { now } else { held.last_change },
                clamped_from: if changes { None } else { held.clamped_from },
                row,
                route,
                source: source.clone(),
            };
            if let Some(seat) = Arc::make_mut(&mut self.rows).get_mut(place) {
                *seat = Arc::new(held);
            }
            if changes { &mut effects.changed } else { &mut effects.touched }.push(name);
        }
        let seat = Arc::make_mut(&mut self.vouches).get_mut(place)?;
        let before = *seat;
        let after = match lapsed_secs {
            // What upstream vouches for no longer is not renewed here; it lapses now if it had not.
            Some(secs) => {
                let lapsed = now.earlier(secs);
                Vouch { good_until: Some(before.good_until.map_or(lapsed, |until| until.min(lapsed))), ..before }
            }
            None => vouch,
        };
        *seat = after;
        if !before.is_confirmed(now) && after.is_confirmed(now) {
            effects.confirmed_again.push(self.rows.get(place)?.name.clone());
        }
        if !after.is_confirmed(now) && (changes || before.good_until != after.good_until) {
            effects.lapsed.push(self.rows.get(place)?.name.clone());
        }
        (after != before).then_some(place)
    }

    /// Moves every row that `goes` from the board to the memory.
    fn leave(&mut self, effects: &mut Effects, now: UnixSeconds, goes: impl Fn(usize, &Held) -> bool) {
        let going: Vec<bool> = self.rows.iter().enumerate().map(|(place, held)| goes(place, held)).collect();
        if !going.contains(&true) {
            return;
        }
        let goes_at = |place: usize| going.get(place).copied().unwrap_or(false);
        for (_, held) in self.rows.iter().enumerate().filter(|(place, _)| goes_at(*place)) {
            self.places.remove(&held.name);
            self.memory.insert(Remembered {
                name: held.name.clone(),
                row: held.row.clone(),
                last_change: held.last_change,
                removed: now,
                clamped_from: held.clamped_from.map(|stamp| (stamp, now)),
            });
            effects.removed.push(held.name.clone());
        }
        keep(Arc::make_mut(&mut self.rows), |place| !goes_at(place));
        keep(Arc::make_mut(&mut self.vouches), |place| !goes_at(place));
    }

    /// As [`Board::place`]. Sources report their rows in board order, mostly: the place after that of the row
    /// before is looked at first, which spares a search by name.
    fn place_or_next(&self, name: &str, next: usize) -> Option<usize> {
        match self.rows.get(next) {
            Some(held) if held.name == *name => Some(next),
            Some(_) | None => self.place(name),
        }
    }

    fn place(&self, name: &str) -> Option<usize> {
        let order = self.places.get(name)?;
        self.rows.binary_search_by_key(order, |held| held.order).ok()
    }
}

impl Default for Board {
    fn default() -> Self {
        Self::new()
    }
}

fn keep<T>(items: &mut Vec<T>, keeps: impl Fn(usize) -> bool) {
    let mut place: usize = 0;
    items.retain(|_| {
        let kept = keeps(place);
        place = place.saturating_add(1);
        kept
    });
}
