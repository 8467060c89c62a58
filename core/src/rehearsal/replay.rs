//! What if: the recorded probes under another policy.

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use serde::Serialize;

use super::class::Lane;
use super::record::{Event, Record, Tick};
use crate::name::Name;
use crate::rotation::{Member, MoveKind, Rotation, RotationPolicy};

/// A move as the replay has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplayedMove {
    /// When.
    pub at_us: i64,
    /// Who.
    pub process: Box<str>,
    /// Which of the two.
    pub kind: MoveKind,
}

/// What another policy would have made of the same probes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WhatIf {
    /// The policy's number of silences.
    pub silences_to_leave: u32,
    /// How many leaves.
    pub leaves: u64,
    /// Ticks for which nobody would have been in rotation.
    pub nobody: u64,
    /// Ticks that would have gone to a process they were not sent to: never called ok.
    pub unknown: u64,
    /// From this moment on the replay no longer holds, because the SIGTERM would have moved; null where it holds
    /// throughout.
    pub holds_until_us: Option<i64>,
}

/// The joins and leaves under a policy, in order of the recorded answers.
pub fn moves(record: &Record, policy: RotationPolicy) -> Vec<ReplayedMove> {
    let mut rotation = Rotation::new();
    let mut ids = BTreeMap::new();
    for planned in &record.header.processes {
        // The reader takes only headers with good names.
        if let Ok(name) = Name::of_instance(&planned.name) {
            ids.insert(&*planned.name, rotation.add(Member::new(name, policy, None, i64::MIN)));
        }
    }
    let mut all = Vec::new();
    for event in &record.events {
        if let Event::Probe { at_us, process, answer, .. } = event
            && let Some(id) = ids.get(&**process)
            && let Some(moved) = rotation.handle(*id, answer.clone(), *at_us).moved
        {
            all.push(ReplayedMove { at_us: *at_us, process: process.clone(), kind: moved.kind });
        }
    }
    all
}

/// Replays the record under a policy: nobody where nobody is in when a tick is due, else whose turn it is of those
/// who are in when it is sent.
pub fn replay(record: &Record, policy: RotationPolicy) -> WhatIf {
    let moves = moves(record, policy);
    let leaves = moves.iter().fold(0, |sum: u64, one| sum.saturating_add(u64::from(one.kind == MoveKind::Leave)));
    let stream = Stream::of(record, &moves);
    let mut ticks: Vec<&Tick> = record.told_ticks().collect();
    ticks.sort_unstable_by_key(|tick| tick.tick);
    let mut asked: BTreeMap<Lane, usize> = BTreeMap::new();
    let (mut nobody, mut unknown) = (0_u64, 0_u64);
    for tick in ticks {
        if stream.members_at(tick.due_us).is_empty() {
            nobody = nobody.saturating_add(1);
            continue;
        }
        let members = stream.members_at(tick.sent_us.unwrap_or(tick.due_us));
        let turn = asked.entry(tick.lane).or_default();
        let member = turn.checked_rem(members.len()).and_then(|place| members.get(place)).copied();
        *turn = turn.saturating_add(usize::from(member.is_some()));
        unknown = unknown.saturating_add(u64::from(member != tick.process.as_deref()));
    }
    WhatIf {
        silences_to_leave: policy.silences_to_leave.get(),
        leaves,
        nobody,
        unknown,
        holds_until_us: holds_until(record, &moves),
    }
}

/// Who is in, as the stream sees it: in order of start, whoever joined first.
struct Stream<'a> {
    /// From when on, and who; the last one of a moment holds.
    spans: Vec<(i64, Vec<&'a str>)>,
}

impl<'a> Stream<'a> {
    fn of(record: &'a Record, moves: &[ReplayedMove]) -> Self {
        let mut is_in: BTreeSet<&str> = BTreeSet::new();
        let mut spans = Vec::new();
        for moved in moves {
            match moved.kind {
                MoveKind::Join => is_in.insert(&moved.process),
                MoveKind::Leave => is_in.remove(&*moved.process),
            };
            let names = record.header.processes.iter().map(|planned| &*planned.name);
            let at_us = moved.at_us.saturating_add(record.header.options.lag_us);
            spans.push((at_us, names.filter(|name| is_in.contains(name)).collect()));
        }
        Self { spans }
    }

    fn members_at(&self, at_us: i64) -> &[&'a str] {
        let past = self.spans.partition_point(|(from, _)| *from <= at_us);
        past.checked_sub(1).and_then(|last| self.spans.get(last)).map_or(&[], |(_, members)| members)
    }
}

/// The SIGTERM followed the join of the last process. Where that join comes at another moment, or never, the
/// replay holds only up to the earlier of it and the recorded signal.
fn holds_until(record: &Record, moves: &[ReplayedMove]) -> Option<i64> {
    let (sigterm, _) = record.sigterms().next()?;
    let newest = &record.header.processes.last()?.name;
    let recorded = record
        .moves()
        .find(|(_, process, kind, _)| *kind == MoveKind::Join && **process == **newest)
        .map(|(at, ..)| at);
    let replayed = moves.iter().find(|one| one.kind == MoveKind::Join && one.process == *newest).map(|one| one.at_us);
    (recorded != replayed).then(|| replayed.map_or(sigterm, |at| at.min(sigterm)))
}
