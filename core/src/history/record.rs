//! What is recorded: the one place that says which events a board's life leaves behind.
//!
//! A daemon calls one of these for whatever it does to its board, in the order in which it does it, and before it
//! lets anything else happen at a later moment it has asked for what time did until then.

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec;
use alloc::vec::Vec;

use super::event::{Event, Happening, MAX_NAMES};
use crate::board::Board;
use crate::name::Name;
use crate::report::Effects;
use crate::snapshot::{RowView, Snapshot};
use crate::time::UnixSeconds;

/// A daemon that has done nothing for longer than this was not watching: it turns every few seconds when nothing
/// happens, and a slow disk may hold it for a while.
pub const ASLEEP_SECS: u64 = 60;

/// How the life before a start ended, as far as it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LastLife {
    /// The last second that it is known to have watched, in its own time.
    pub watched_until: UnixSeconds,
    /// By how much the times that it had written were moved at the start.
    pub drift_secs: i64,
}

/// What a report or a removal by this source did at `now`. `board` is as it is after that.
pub fn of_effects(source: &Name, effects: &Effects, board: &Board, now: UnixSeconds) -> Vec<Event> {
    let mut happened: Vec<Happening> =
        effects.removed.iter().map(|name| Happening::Removed { name: name.clone() }).collect();
    happened.extend(effects.changed.iter().filter_map(|name| board.row(name)).map(changed));
    if !effects.confirmed_again.is_empty() {
        let changed: BTreeSet<&Name> = effects.changed.iter().collect();
        let names: Vec<Name> = effects.confirmed_again.iter().filter(|name| !changed.contains(name)).cloned().collect();
        happened.extend(came_back(source, &names));
    }
    happened.extend(lapsed(effects.lapsed.iter().filter_map(|name| board.row(name)), now));
    happened.into_iter().map(|what| Event { at_unix: now, what }).collect()
}

/// What time alone did after `watched`, up to when this was asked before, until `now`: the rows of which the reports
/// ended. Where that was long ago, the daemon was not watching between the two.
pub fn of_time(snapshot: &Snapshot, watched: UnixSeconds, now: UnixSeconds) -> Vec<Event> {
    let mut events = Vec::new();
    if watched.age(now) > ASLEEP_SECS {
        events.push(Event { at_unix: now, what: Happening::Resumed { watched_until_unix: watched } });
    }
    for ((at_unix, source), names) in grouped(snapshot.lapsed_between(watched, now), now) {
        events.extend(names.chunks(MAX_NAMES).map(|names| Event {
            at_unix,
            what: Happening::Lapsed { source: source.clone(), names: names.into(), good_until_unix: None },
        }));
    }
    events
}

/// That a daemon began to watch at `now`, with its board as it was restored.
pub fn of_start(snapshot: &Snapshot, before: Option<LastLife>, now: UnixSeconds) -> Vec<Event> {
    let mut happened = vec![Happening::Started {
        watched_until_unix: before.map(|before| before.watched_until),
        drift_secs: before.map_or(0, |before| before.drift_secs),
    }];
    let mut still_good: BTreeMap<&Name, Vec<Name>> = BTreeMap::new();
    for row in snapshot.rows().filter(|row| row.is_confirmed(now)) {
        still_good.entry(&row.held.source).or_default().push(row.name().clone());
    }
    happened.extend(still_good.into_iter().flat_map(|(source, names)| came_back(source, &names)));
    if let Some(before) = before {
        // What lapsed while the last life watched, it has recorded itself.
        let watched = before.watched_until.shifted(before.drift_secs);
        happened.extend(lapsed(snapshot.lapsed_between(watched, now.earlier(1)), now));
    }
    happened.into_iter().map(|what| Event { at_unix: now, what }).collect()
}

/// The board told anew at `now`, for a record that begins here or goes on after a hole: every row in the order
/// of the board, and then which of them nobody vouches for.
pub fn of_board(
    mut rows: Vec<RowView<'_>>,
    missing_since_unix: Option<UnixSeconds>,
    now: UnixSeconds,
) -> impl Iterator<Item = Event> {
    rows.sort_by_key(|row| row.held.order);
    let unconfirmed = rows.iter().copied().filter(|row| !row.is_confirmed(now));
    let lapsed = lapsed(unconfirmed, now);
    core::iter::once(Happening::Retold { missing_since_unix })
        .chain(rows.into_iter().map(changed))
        .chain(lapsed)
        .map(move |what| Event { at_unix: now, what })
}

/// That a row became what it is.
fn changed(row: RowView<'_>) -> Happening {
    Happening::Changed {
        name: row.name().clone(),
        order: row.held.order,
        source: row.held.source.clone(),
        last_change_unix: row.held.last_change,
        stored_change_unix: row.held.clamped_from,
        row: Box::new(row.held.row.clone()),
    }
}

fn came_back(source: &Name, names: &[Name]) -> Vec<Happening> {
    names.chunks(MAX_NAMES).map(|names| Happening::CameBack { source: source.clone(), names: names.into() }).collect()
}

/// That these rows have no witness at `now`, with when their reports ended.
fn lapsed<'a>(rows: impl Iterator<Item = RowView<'a>>, now: UnixSeconds) -> Vec<Happening> {
    let mut happened = Vec::new();
    for ((until, source), names) in grouped(rows, now) {
        happened.extend(names.chunks(MAX_NAMES).map(|names| Happening::Lapsed {
            source: source.clone(),
            names: names.into(),
            good_until_unix: (until != now).then_some(until),
        }));
    }
    happened
}

/// Rows by when their reports ended and by source, in the order given.
fn grouped<'a>(rows: impl Iterator<Item = RowView<'a>>, now: UnixSeconds) -> BTreeMap<(UnixSeconds, Name), Vec<Name>> {
    let mut groups: BTreeMap<(UnixSeconds, Name), Vec<Name>> = BTreeMap::new();
    for row in rows {
        let until = row.vouch.good_until.unwrap_or(now);
        groups.entry((until, row.held.source.clone())).or_default().push(row.name().clone());
    }
    groups
}
