//! What is recorded: the one place that says which events a board's life leaves behind.
//!
//! A daemon calls one of these for whatever it does to its board, in the order in which it does it, and before it
//! lets anything else happen at a later moment it has asked for the lapses until then.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use super::event::{Event, Happening};
use crate::board::Board;
use crate::name::Name;
use crate::report::Effects;
use crate::snapshot::{RowView, Snapshot};
use crate::time::UnixSeconds;

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
    happened.extend(effects.changed.iter().filter_map(|name| board.row(name)).map(Happening::changed));
    if !effects.confirmed_again.is_empty() {
        let changed: BTreeSet<&Name> = effects.changed.iter().collect();
        let names: Vec<Name> =
            effects.confirmed_again.iter().filter(|name| !changed.contains(name)).cloned().collect();
        if !names.is_empty() {
            happened.push(Happening::CameBack { source: source.clone(), names });
        }
    }
    for ((until, source), names) in grouped(effects.lapsed.iter().filter_map(|name| board.row(name)), now) {
        happened.push(Happening::lapsed(source, names, until, now));
    }
    happened.into_iter().map(|what| Event { at_unix: now, what }).collect()
}

/// The rows of which the reports ended after `watched`, up to when this was asked before, and not after `now`.
pub fn of_lapses(snapshot: &Snapshot, watched: UnixSeconds, now: UnixSeconds) -> Vec<Event> {
    grouped(snapshot.lapsed_between(watched, now), now)
        .into_iter()
        .map(|((at_unix, source), names)| Event { at_unix, what: Happening::lapsed(source, names, at_unix, at_unix) })
        .collect()
}

/// That a daemon began to watch at `now`, with its board as it was restored.
pub fn of_start(snapshot: &Snapshot, before: Option<LastLife>, now: UnixSeconds) -> Vec<Event> {
    let mut events = Vec::new();
    let still_good = snapshot.rows().filter(|row| row.is_confirmed(now)).map(|row| row.name().clone()).collect();
    let drift_secs = before.map_or(0, |before| before.drift_secs);
    events.push(Event {
        at_unix: now,
        what: Happening::Started {
            still_good,
            watched_until_unix: before.map(|before| before.watched_until),
            drift_secs,
        },
    });
    if let Some(before) = before {
        // What lapsed while the last life watched, it has recorded itself.
        let watched = before.watched_until.shifted(before.drift_secs);
        events.extend(grouped(snapshot.lapsed_between(watched, now.earlier(1)), now).into_iter().map(
            |((until, source), names)| Event { at_unix: now, what: Happening::lapsed(source, names, until, now) },
        ));
    }
    events
}

/// Rows by when their reports ended and by source, in board order.
fn grouped<'a>(
    rows: impl Iterator<Item = RowView<'a>>,
    now: UnixSeconds,
) -> BTreeMap<(UnixSeconds, Name), Vec<Name>> {
    let mut groups: BTreeMap<(UnixSeconds, Name), Vec<Name>> = BTreeMap::new();
    for row in rows {
        let until = row.vouch.good_until.unwrap_or(now);
        groups.entry((until, row.held.source.clone())).or_default().push(row.name().clone());
    }
    groups
}
