//! What if: the recorded probes under another policy.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

use serde::Serialize;

use super::heard::heard;
use super::order::ticks_by_number;
use super::record::Record;
use super::stream::{Choice, Membership, Stream};
use crate::rotation::{Answer, Bearing, Cutting, MoveKind, Place, RotationPolicy, Silence};

/// What to try on a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trial {
    /// When members would join and leave.
    pub policy: RotationPolicy,
    /// How long a probe might take. Probes stay where they were recorded: what would not have been asked then, or not
    /// been awaited, is unknown.
    pub probe_timeout_us: i64,
}

impl Trial {
    /// What the run itself stood under.
    pub fn recorded(record: &Record) -> Self {
        Self { policy: record.header.policy, probe_timeout_us: record.header.options.probe_timeout_us }
    }
}

/// What a trial makes of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replay {
    /// From when on which process, by its number in order of start, was where. All start out.
    pub shifts: Vec<(i64, usize, Membership)>,
    /// The ticks that nobody would have been there to answer, and those of which nobody can say what they would have
    /// come to: when they were due.
    pub untold: Vec<(i64, Untold)>,
    /// From this moment on the replay no longer holds, because the SIGTERM would have moved; `None` where it holds
    /// throughout.
    pub holds_until_us: Option<i64>,
}

/// What is told of a tick that would not have come to what it came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Untold {
    /// Nobody would have been in rotation.
    Nobody,
    /// It would have gone to a process it was not sent to, or nobody can say: never called ok.
    Unknown,
}

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

/// The joins and leaves under a policy that can be told for certain, in order of the recorded answers.
pub fn moves(record: &Record, policy: RotationPolicy) -> Vec<ReplayedMove> {
    let trial = Trial { policy, ..Trial::recorded(record) };
    let told = shifts(record, &trial).into_iter().filter_map(|(at_us, process, to)| {
        let kind = match to {
            Membership::In => MoveKind::Join,
            Membership::Out => MoveKind::Leave,
            Membership::Unknown => return None,
        };
        let process = record.header.processes.get(process)?.name.clone();
        Some(ReplayedMove { at_us, process, kind })
    });
    told.collect()
}

/// Replays the record under a policy: nobody where nobody is in when a tick is due, else whose turn it is of those
/// who are in when it is sent.
pub fn replay(record: &Record, policy: RotationPolicy) -> WhatIf {
    Replay::of(record, &Trial { policy, ..Trial::recorded(record) }).what_if(&policy)
}

impl Replay {
    /// Replays the record: nobody where nobody is in when a tick is due, else whose turn it is of those who are in when
    /// it is sent.
    pub fn of(record: &Record, trial: &Trial) -> Self {
        let shifts = shifts(record, trial);
        let mut stream = Stream::new(record.header.options.lag_us);
        for (at_us, process, to) in &shifts {
            stream.shifted(*at_us, *process, *to);
        }
        let mut untold = Vec::new();
        for tick in ticks_by_number(record, &|_| true) {
            let asked = match stream.choose_if_known(tick.lane, tick.due_us, tick.sent_us.unwrap_or(tick.due_us)) {
                Some(Choice::Nobody) => {
                    untold.push((tick.due_us, Untold::Nobody));
                    continue;
                }
                Some(Choice::TooLate) => tick.process.is_none(),
                Some(Choice::Ask(process)) => {
                    let name = record.header.processes.get(process).map(|planned| &*planned.name);
                    name == tick.process.as_deref()
                }
                None => false,
            };
            if !asked {
                untold.push((tick.due_us, Untold::Unknown));
            }
        }
        Self { holds_until_us: holds_until(record, &shifts), shifts, untold }
    }

    /// How many leaves there are for certain: from in to out, whatever may have been in between.
    pub fn leaves(&self) -> u64 {
        let mut was_in = [false; super::stream::MAX_PROCESSES];
        let mut leaves = 0_u64;
        for (_, process, to) in &self.shifts {
            let Some(was_in) = was_in.get_mut(*process) else { continue };
            match to {
                Membership::In => *was_in = true,
                Membership::Out => {
                    leaves = leaves.saturating_add(u64::from(*was_in));
                    *was_in = false;
                }
                Membership::Unknown => {}
            }
        }
        leaves
    }

    /// How many ticks come to it.
    pub fn ticks(&self, what: Untold) -> u64 {
        self.untold.iter().fold(0, |sum: u64, (_, one)| sum.saturating_add(u64::from(*one == what)))
    }

    fn what_if(&self, policy: &RotationPolicy) -> WhatIf {
        WhatIf {
            silences_to_leave: policy.silences_to_leave.get(),
            leaves: self.leaves(),
            nobody: self.ticks(Untold::Nobody),
            unknown: self.ticks(Untold::Unknown),
            holds_until_us: self.holds_until_us,
        }
    }
}

/// From when on which process was where.
fn shifts(record: &Record, trial: &Trial) -> Vec<(i64, usize, Membership)> {
    let mut worlds = Worlds::of(record.header.processes.len());
    let mut shifts = Vec::new();
    let mut known = vec![Membership::Out; record.header.processes.len()];
    for one in heard(record, trial.probe_timeout_us) {
        match one.answer {
            Some(answer) => worlds.answer(&trial.policy, one.process, answer),
            None => worlds.answer_anything(&trial.policy, one.process),
        }
        // What one answers moves another only where it is held.
        for (process, was) in known.iter_mut().enumerate() {
            let is = worlds.membership(process);
            if is != *was {
                *was = is;
                shifts.push((one.at_us, process, is));
            }
        }
    }
    shifts
}

/// All states that the members may be in, one after another. One, as long as every answer is known.
struct Worlds {
    members: usize,
    /// `None`: there are too many of them to say anything.
    all: Option<Vec<Bearing>>,
}

impl Worlds {
    fn of(members: usize) -> Self {
        Self { members, all: Some(vec![Bearing::START; members]) }
    }

    fn answer(&mut self, policy: &RotationPolicy, process: usize, answer: &Answer) {
        for world in self.all.iter_mut().flat_map(|all| all.chunks_exact_mut(self.members)) {
            judge(world, policy, process, answer);
        }
        self.unite(policy);
    }

    fn answer_anything(&mut self, policy: &RotationPolicy, process: usize) {
        let Some(all) = &mut self.all else { return };
        // It may not have been asked at all, which is the state that stays.
        let before = all.clone();
        for answer in &ANYTHING {
            let mut others = before.clone();
            for world in others.chunks_exact_mut(self.members) {
                judge(world, policy, process, answer);
            }
            all.extend(others);
        }
        self.unite(policy);
    }

    /// Makes one of those in which everything goes on alike.
    fn unite(&mut self, policy: &RotationPolicy) {
        let Some(all) = &mut self.all else { return };
        if all.len() <= self.members {
            return;
        }
        for bearing in all.iter_mut() {
            *bearing = bearing.essence(policy);
        }
        let mut kept: Vec<Bearing> = Vec::new();
        for world in all.chunks_exact(self.members) {
            if !kept.chunks_exact(self.members).any(|other| other == world) {
                kept.extend_from_slice(world);
            }
        }
        let is_too_many = kept.len() > MAX_WORLDS.saturating_mul(self.members);
        self.all = (!is_too_many).then_some(kept);
    }

    fn membership(&self, process: usize) -> Membership {
        let Some(all) = &self.all else { return Membership::Unknown };
        let mut places = all.chunks_exact(self.members).filter_map(|world| world.get(process)).map(|one| one.place);
        let first = places.next();
        match first {
            Some(_) if places.any(|place| Some(place) != first) => Membership::Unknown,
            Some(Place::In) => Membership::In,
            Some(Place::Out) | None => Membership::Out,
        }
    }
}

fn judge(world: &mut [Bearing], policy: &RotationPolicy, process: usize, answer: &Answer) {
    let is_in = |(other, one): (usize, &Bearing)| usize::from(other != process && one.place == Place::In);
    let others_in = world.iter().enumerate().fold(0, |sum: usize, one| sum.saturating_add(is_in(one)));
    if let Some(member) = world.get_mut(process) {
        member.judge(policy, answer, others_in);
    }
}

/// The SIGTERM followed the join of the last process. Where that join comes at another moment, or never, the
/// replay holds only up to the earlier of it and the recorded signal.
fn holds_until(record: &Record, shifts: &[(i64, usize, Membership)]) -> Option<i64> {
    let (sigterm, _) = record.sigterms().next()?;
    let newest = record.header.processes.len().checked_sub(1)?;
    let name = &record.header.processes.get(newest)?.name;
    let recorded =
        record.moves().find(|(_, process, kind, _)| *kind == MoveKind::Join && **process == **name).map(|(at, ..)| at);
    let replayed = shifts.iter().find(|(_, process, _)| *process == newest);
    match replayed {
        Some((at, _, Membership::In)) if recorded == Some(*at) => None,
        Some((at, ..)) => Some((*at).min(sigterm)),
        None => recorded.is_some().then_some(sigterm),
    }
}

/// One answer of each kind that moves anybody.
static ANYTHING: [Answer; 3] = [
    Answer::Ready { status: 200, version: None },
    Answer::Cut { by: Cutting::Closed },
    Answer::Silent { by: Silence::Timeout },
];

/// How many states the members may be in: all of two members under six silences, and room.
const MAX_WORLDS: usize = 128;
