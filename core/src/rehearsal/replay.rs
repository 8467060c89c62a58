//! What if: the recorded probes under another policy.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use serde::Serialize;

use super::record::{Event, Record, Tick};
use super::stream::{Choice, Stream};
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
    let names: Vec<&str> = record.header.processes.iter().map(|planned| &*planned.name).collect();
    let mut stream = Stream::new(record.header.options.lag_us);
    for moved in &moves {
        if let Some(process) = names.iter().position(|name| **name == *moved.process) {
            stream.moved(moved.at_us, process, moved.kind);
        }
    }
    let mut ticks: Vec<&Tick> = record.told_ticks().collect();
    ticks.sort_unstable_by_key(|tick| tick.tick);
    let (mut nobody, mut unknown) = (0_u64, 0_u64);
    for tick in ticks {
        let asked = match stream.choose(tick.lane, tick.due_us, tick.sent_us.unwrap_or(tick.due_us)) {
            Choice::Nobody => {
                nobody = nobody.saturating_add(1);
                continue;
            }
            Choice::TooLate => None,
            Choice::Ask(process) => names.get(process).copied(),
        };
        unknown = unknown.saturating_add(u64::from(asked != tick.process.as_deref()));
    }
    WhatIf {
        silences_to_leave: policy.silences_to_leave.get(),
        leaves,
        nobody,
        unknown,
        holds_until_us: holds_until(record, &moves),
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
