//! What a store should hold, and random batches from a seed.

use std::collections::BTreeMap;
use std::sync::Arc;

use greenlight_core::history::{Event, Happening};
use greenlight_core::{GoodFor, Held, Name, Remembered, Route, Row, UnixSeconds, Vouch};

use crate::store::{Batch, EventReader, Loaded, Mark, Store};

/// SplitMix64: enough to vary cases, and the same everywhere.
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % bound
    }

    pub(super) fn index(&mut self, bound: usize) -> usize {
        usize::try_from(self.below(u64::try_from(bound).unwrap())).unwrap()
    }

    pub(super) fn one_in(&mut self, chance: u64) -> bool {
        self.below(chance) == 0
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Model {
    pub(super) rows: BTreeMap<u64, (Arc<Held>, Vouch)>,
    pub(super) memory: BTreeMap<Name, Remembered>,
    pub(super) mark: Option<Mark>,
    pub(super) events: Vec<(u64, Event)>,
}

impl Model {
    pub(super) fn take(&mut self, batch: &Batch) {
        if batch.replaces_all {
            self.rows.clear();
            self.memory.clear();
        }
        for (held, vouch) in &batch.rows {
            let held = Held { last_change: held.stored_change(), clamped_from: None, ..(**held).clone() };
            self.rows.insert(held.order, (Arc::new(held), *vouch));
        }
        for (order, vouch) in &batch.vouches {
            if let Some(row) = self.rows.get_mut(order) {
                row.1 = *vouch;
            }
        }
        for order in &batch.removed {
            self.rows.remove(order);
        }
        for name in &batch.forgotten {
            self.memory.remove(name);
        }
        for gone in &batch.remembered {
            let (last_change, removed) = gone.stored_times();
            let gone = Remembered { last_change, removed, clamped_from: None, ..gone.clone() };
            self.memory.insert(gone.name.clone(), gone);
        }
        for event in &batch.events {
            let sequence = self.events.last().map_or(0, |(sequence, _)| *sequence) + 1;
            self.events.push((sequence, event.clone()));
        }
        self.mark = batch.mark.or(self.mark);
    }

    /// The same board in one batch.
    pub(super) fn whole(&self) -> Batch {
        Batch {
            replaces_all: true,
            rows: self.rows.values().cloned().collect(),
            remembered: self.memory.values().cloned().collect(),
            mark: self.mark,
            ..Batch::default()
        }
    }

    pub(super) fn of(store: &mut impl Store) -> Self {
        let Loaded { rows, remembered, mark } = store.load().unwrap();
        let events = all_events(&store.events().unwrap());
        let rows: BTreeMap<_, _> = rows.into_iter().map(|row| (row.0.order, row)).collect();
        Self { rows, memory: remembered.into_iter().map(|gone| (gone.name.clone(), gone)).collect(), mark, events }
    }
}

/// All events that have not been pruned, in pages of three.
pub(super) fn all_events(reader: &EventReader) -> Vec<(u64, Event)> {
    let pruned = reader.opening(UnixSeconds::default(), UnixSeconds::MAX).unwrap().after;
    let mut all: Vec<(u64, Event)> = Vec::new();
    loop {
        let after = all.last().map_or(pruned, |(sequence, _)| *sequence);
        let page = reader.page(after, u64::MAX, 3).unwrap();
        if page.is_empty() {
            return all;
        }
        all.extend(page.into_iter().map(|(sequence, json)| (sequence, serde_json::from_slice(&json).unwrap())));
    }
}

pub(super) fn at(secs: u64) -> UnixSeconds {
    UnixSeconds::new(secs)
}

pub(super) fn name(text: &str) -> Name {
    Name::of_instance(text).unwrap()
}

pub(super) fn row(random: &mut Random) -> Row {
    let text = |random: &mut Random| (!random.one_in(3)).then(|| format!("ü\"{}", random.below(1 << 40)).into());
    let length = random.index(3000);
    Row {
        phase: ["idle", "serving", "日本"][random.index(3)].into(),
        serving_sha: text(random),
        last_green: text(random),
        last_red_sha: text(random),
        last_red_reason: random.one_in(4).then(|| "x\n".repeat(length).into()),
        last_red_files: (0..random.below(3)).map(|n| format!("f{n}").into()).collect(),
        pending_sha: text(random),
        draining: random.below(4),
    }
}

pub(super) fn vouch(random: &mut Random) -> Vouch {
    let last_report = at(random.below(10_000));
    let good_for = match random.below(3) {
        0 => GoodFor::Forever,
        1 => GoodFor::UntilRestart,
        _ => GoodFor::Seconds(1 + random.below(1000)),
    };
    Vouch { last_report, good_for, good_until: if random.one_in(5) { None } else { Some(at(random.below(20_000))) } }
}

pub(super) fn held(order: u64, random: &mut Random) -> Arc<Held> {
    let route = Route { proxy_port: random.one_in(2).then_some(80), public_host: None, expires_at: Some(order) };
    Arc::new(Held {
        order,
        name: name(&format!("team/row-{order}")),
        row: row(random),
        route,
        source: name(["driver", "ci"][random.index(2)]),
        last_change: at(500),
        clamped_from: random.one_in(3).then(|| at(random.below(10_000))),
    })
}

/// A batch as a board could give it: rows come, change and go; memory with them.
pub(super) fn batch(model: &Model, next_order: &mut u64, moment: u64, random: &mut Random) -> Batch {
    let mut batch =
        Batch { mark: random.one_in(3).then_some(Mark { at_unix: at(moment), drift_secs: -3 }), ..Batch::default() };
    for _ in 0..random.below(4) {
        batch.rows.push((held(*next_order, random), vouch(random)));
        *next_order += 1;
    }
    for order in model.rows.keys() {
        match random.below(12) {
            0 => batch.rows.push((held(*order, random), vouch(random))),
            1 => batch.vouches.push((*order, vouch(random))),
            2 => {
                batch.removed.push(*order);
                let clamped_from = random.one_in(3).then(|| (at(1), at(random.below(99))));
                let (name, row) = (model.rows[order].0.name.clone(), row(random));
                batch.remembered.push(Remembered { name, row, last_change: at(3), removed: at(4), clamped_from });
            }
            _ => {}
        }
    }
    batch.forgotten.extend(model.memory.keys().filter(|_| random.one_in(8)).cloned());
    for (held, _) in &batch.rows {
        let what = Happening::Changed {
            name: held.name.clone(),
            order: held.order,
            source: held.source.clone(),
            last_change_unix: at(moment),
            stored_change_unix: None,
            row: Box::new(held.row.clone()),
        };
        batch.events.push(Event { at_unix: at(moment), what });
    }
    if random.one_in(20) {
        let mut after = model.clone();
        after.take(&batch);
        let events = std::mem::take(&mut batch.events);
        return Batch { events, ..after.whole() };
    }
    batch
}
