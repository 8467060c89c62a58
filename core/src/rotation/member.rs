//! One member: what it has answered, and the row it reports.

use alloc::boxed::Box;
use alloc::format;
use core::num::NonZeroU32;

use super::answer::{Answer, Cause};
use super::bearing::Bearing;
use crate::name::Name;
use crate::row::{GoodFor, MAX_TEXT_BYTES, ReportedRow, Row};

/// When a member joins and leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
pub struct RotationPolicy {
    /// The silence in a row at which a member leaves: 3 unless said. 1: at the first one.
    pub silences_to_leave: NonZeroU32,
    /// The ready answer in a row at which a member joins: 1 unless said.
    pub answers_to_join: NonZeroU32,
    /// Whether silence removes the last member that is in. On the wire: true holds it; false unless said.
    #[cfg_attr(feature = "serde", serde(with = "hold_last_as_bool"))]
    pub hold_last: HoldLast,
}

impl Default for RotationPolicy {
    fn default() -> Self {
        Self {
            silences_to_leave: NonZeroU32::MIN.saturating_add(2),
            answers_to_join: NonZeroU32::MIN,
            hold_last: HoldLast::Off,
        }
    }
}

/// Whether silence removes the last member that is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HoldLast {
    /// It does, as any other.
    Off,
    /// It does not. A no, a refusal and a cut still do.
    On,
}

impl From<bool> for HoldLast {
    fn from(on: bool) -> Self {
        if on { Self::On } else { Self::Off }
    }
}

/// Whether a member gets traffic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// It does.
    In,
    /// It does not.
    Out,
}

/// A join or a leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum MoveKind {
    /// From now on it gets traffic.
    Join,
    /// From now on it does not.
    Leave,
}

impl MoveKind {
    /// The word for it on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Join => "join",
            Self::Leave => "leave",
        }
    }
}

/// Whether an answer is a witness for what the member's row says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Renewal {
    /// Report the row, good for [`good_for`].
    Renews,
    /// Report nothing: the prober could not ask, the member is in only because it is the last, or nothing
    /// definite is known of it yet.
    Withheld,
}

/// Something that is probed, and gets traffic while it is in rotation. `T` is the driver's moment: kept, never
/// judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member<T> {
    name: Name,
    pub(super) policy: RotationPolicy,
    bearing: Bearing,
    since: T,
    moves: u64,
    faults: u64,
    last_answer: Option<(Answer, T)>,
    last_late: Option<(Answer, T)>,
    known: Known,
}

/// What the member's row says, and whether anything is said yet.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Known {
    told: Told,
    version: Option<Box<str>>,
    last_green: Option<Box<str>>,
    last_red_reason: Option<Box<str>>,
}

/// Whether anything definite is known of a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Told {
    /// Neither a join, a definite no, nor as many silences as make a leave. `on_board`: whether the row that a
    /// board held before says that it serves.
    Nothing { on_board: OnBoard },
    /// One of them.
    Something,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OnBoard {
    Serving,
    NotServing,
}

impl<T: Copy> Member<T> {
    /// A member that starts out. `before` is the row that a board held of it before a restart: its last green is
    /// kept, and so is its last red reason, so that a restart finds a dead member unchanged.
    pub fn new(name: Name, policy: RotationPolicy, before: Option<&Row>, at: T) -> Self {
        let serving = before.is_some_and(|row| row.serving_sha.is_some());
        Self {
            name,
            policy,
            bearing: Bearing::START,
            since: at,
            moves: 0,
            faults: 0,
            last_answer: None,
            last_late: None,
            known: Known {
                told: Told::Nothing { on_board: if serving { OnBoard::Serving } else { OnBoard::NotServing } },
                version: None,
                last_green: before.and_then(|row| row.last_green.clone()),
                last_red_reason: before.and_then(|row| row.last_red_reason.clone()),
            },
        }
    }

    /// What it is called.
    pub fn name(&self) -> &Name {
        &self.name
    }

    /// Whether it gets traffic.
    pub fn place(&self) -> Place {
        self.bearing.place
    }

    /// Since when it is in or out; for one that never moved, since it was added.
    pub fn since(&self) -> T {
        self.since
    }

    /// How many silences in a row, whether it is in or out.
    pub fn silences(&self) -> u32 {
        self.bearing.silences
    }

    /// How often it joined or left.
    pub fn moves(&self) -> u64 {
        self.moves
    }

    /// How often it could not be asked: the prober's own trouble.
    pub fn faults(&self) -> u64 {
        self.faults
    }

    /// The newest answer in time, a fault included.
    pub fn last_answer(&self) -> Option<(&Answer, T)> {
        self.last_answer.as_ref().map(|(answer, at)| (answer, *at))
    }

    /// The newest answer that came after its probe had been taken for silent. It changed nothing.
    pub fn last_late(&self) -> Option<(&Answer, T)> {
        self.last_late.as_ref().map(|(answer, at)| (answer, *at))
    }

    /// Whether the member is in only because it is the last one: it is as silent as makes any other leave.
    pub fn is_held(&self) -> bool {
        self.bearing.is_held(&self.policy)
    }

    /// The row that the member reports as an instance. It holds no counter and no time, so that equal facts are
    /// equal rows. `None` before the first join, the first definite no, and as many silences in a row as make a
    /// leave.
    ///
    /// The last red reason is the cause of the last leave and stays until the next one. Where none is known, or
    /// the board from before a restart says that the member served, the definite no that ends the ignorance
    /// stands for it.
    pub fn row(&self) -> Option<ReportedRow> {
        match self.known.told {
            Told::Nothing { .. } => return None,
            Told::Something => {}
        }
        let (phase, serving_sha) = match self.bearing.place {
            Place::In => ("serving", Some(self.known.version.clone().unwrap_or_else(|| UNVERSIONED.into()))),
            Place::Out => ("probing", None),
        };
        Some(ReportedRow {
            name: self.name.as_str().into(),
            phase: Some(phase.into()),
            serving_sha,
            last_green: self.known.last_green.clone(),
            last_red_reason: self.known.last_red_reason.clone(),
            ..ReportedRow::default()
        })
    }

    /// Takes an answer; `others_in` is how many other members are in.
    pub(super) fn handle(&mut self, answer: Answer, others_in: usize, at: T) -> (Option<(MoveKind, Cause)>, Renewal) {
        self.faults = self.faults.saturating_add(u64::from(matches!(answer, Answer::Fault { .. })));
        let verdict = self.bearing.judge(&self.policy, &answer, others_in);
        let moved = verdict.map(|(kind, in_a_row)| (kind, Cause { answer: answer.clone(), in_a_row }));
        if let Some((kind, cause)) = &moved {
            self.since = at;
            self.moves = self.moves.saturating_add(1);
            if *kind == MoveKind::Leave {
                self.known.last_red_reason = Some(format!("{cause}").into());
            }
        }
        let renewal = self.learn(&answer);
        self.last_answer = Some((answer, at));
        (moved, renewal)
    }

    /// Notes an answer that came after its probe had been taken for silent. Changes nothing.
    pub(super) fn note_late(&mut self, answer: Answer, at: T) {
        self.last_late = Some((answer, at));
    }

    /// Takes from the answer what the row says, and tells whether it is a witness for it.
    fn learn(&mut self, answer: &Answer) -> Renewal {
        let definite = match answer {
            Answer::Fault { .. } => return Renewal::Withheld,
            Answer::Ready { version, .. } => {
                if self.bearing.place == Place::In {
                    self.known.version = version.clone().filter(|text| is_a_version(text));
                    self.known.last_green = Some(self.known.version.clone().unwrap_or_else(|| UNVERSIONED.into()));
                }
                self.bearing.place == Place::In
            }
            Answer::NotReady { .. } | Answer::Refused { .. } | Answer::Cut { .. } => true,
            Answer::Silent { .. } => self.bearing.silences >= self.policy.silences_to_leave.get(),
        };
        if let (Told::Nothing { on_board }, true) = (self.known.told, definite) {
            self.known.told = Told::Something;
            if self.bearing.place == Place::Out
                && (on_board == OnBoard::Serving || self.known.last_red_reason.is_none())
            {
                let in_a_row = self.bearing.silences.max(1);
                self.known.last_red_reason = Some(format!("{}", Cause { answer: answer.clone(), in_a_row }).into());
            }
        }
        match self.known.told {
            Told::Something if !self.is_held() => Renewal::Renews,
            Told::Something | Told::Nothing { .. } => Renewal::Withheld,
        }
    }
}

/// For how long the report of a probed member is good: the longer of 30 s and three periods plus the timeout,
/// rounded up to whole seconds.
pub fn good_for(period_ms: u64, timeout_ms: u64) -> GoodFor {
    let millis = period_ms.saturating_mul(3).saturating_add(timeout_ms);
    GoodFor::Seconds(millis.div_ceil(1000).clamp(LEAST_GOOD_FOR_SECS, crate::time::MAX_INTEGER))
}

/// What a member serves where it does not say.
pub const UNVERSIONED: &str = "unversioned";

/// Members that are asked often are still vouched for over a restart of the prober that takes its time.
const LEAST_GOOD_FOR_SECS: u64 = 30;

/// A text that a row can hold as what it serves.
fn is_a_version(text: &str) -> bool {
    !text.is_empty() && text.len() <= MAX_TEXT_BYTES
}

#[cfg(feature = "serde")]
mod hold_last_as_bool {
    use super::HoldLast;
    use serde::{Deserialize, Deserializer, Serializer};

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's own shape")]
    pub(super) fn serialize<S: Serializer>(hold: &HoldLast, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bool(*hold == HoldLast::On)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<HoldLast, D::Error> {
        bool::deserialize(deserializer).map(HoldLast::from)
    }
}
