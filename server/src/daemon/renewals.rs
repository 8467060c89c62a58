//! Who vouches until when, told briefly: one entry for a source whose rows all share it, else one for each row.

use std::collections::{BTreeMap, BTreeSet};

use greenlight_core::{Name, Snapshot, Vouch};

use super::difference::Difference;
use super::wire::{Renew, RenewedRow, RenewedSource};

/// Everything that is known now, for a stream that begins.
pub(crate) fn all(snapshot: &Snapshot) -> Renew {
    of(snapshot, |_| true)
}

/// What moved from an older snapshot to this one; `None` where nothing did.
pub(crate) fn since(older: &Snapshot, snapshot: &Snapshot) -> Option<Renew> {
    let difference = Difference::between(older, snapshot);
    let moved: BTreeSet<u64> = difference.rows.iter().chain(&difference.vouches).map(|(held, _)| held.order).collect();
    (!moved.is_empty()).then(|| of(snapshot, |order| moved.contains(&order)))
}

fn of(snapshot: &Snapshot, moved: impl Fn(u64) -> bool) -> Renew {
    let mut by_source: BTreeMap<&Name, Shared> = BTreeMap::new();
    for row in snapshot.rows() {
        let shared =
            by_source.entry(&row.held.source).or_insert(Shared { vouch: *row.vouch, by_all: true, moved: false });
        shared.by_all &= shared.vouch == *row.vouch;
        shared.moved |= moved(row.held.order);
    }
    let mut renew = Renew::default();
    for (source, shared) in &by_source {
        if shared.by_all && shared.moved {
            renew.sources.push(RenewedSource { source: (*source).clone(), vouch: shared.vouch.into() });
        }
    }
    for row in snapshot.rows().filter(|row| moved(row.held.order)) {
        if by_source.get(&row.held.source).is_some_and(|shared| !shared.by_all) {
            renew.rows.push(RenewedRow { name: row.name().clone(), vouch: (*row.vouch).into() });
        }
    }
    renew
}

struct Shared {
    vouch: Vouch,
    by_all: bool,
    moved: bool,
}
