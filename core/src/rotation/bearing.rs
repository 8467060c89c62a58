//! All that a member's moves depend on, and the one rule by which an answer moves it.

use super::answer::Answer;
use super::member::{HoldLast, MoveKind, Place, RotationPolicy};

/// Where a member stands, and how many answers of a kind it has given in a row.
///
/// Invariant: `ready_in_a_row` is 0 while the member is in; `silences` is 0 unless the last answer that was no
/// fault was a silence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bearing {
    pub(crate) place: Place,
    pub(crate) silences: u32,
    ready_in_a_row: u32,
}

impl Bearing {
    /// Every member starts out.
    pub(crate) const START: Self = Self { place: Place::Out, silences: 0, ready_in_a_row: 0 };

    /// Counts the answer, and says whether it moves the member and how many in a row that took; `others_in` is how
    /// many other members are in.
    pub(crate) fn judge(
        &mut self,
        policy: &RotationPolicy,
        answer: &Answer,
        others_in: usize,
    ) -> Option<(MoveKind, u32)> {
        let moved = match answer {
            Answer::Fault { .. } => None,
            Answer::Ready { .. } => {
                self.silences = 0;
                if self.place == Place::In {
                    return None;
                }
                self.ready_in_a_row = self.ready_in_a_row.saturating_add(1);
                let enough = self.ready_in_a_row >= policy.answers_to_join.get();
                enough.then_some((MoveKind::Join, self.ready_in_a_row))
            }
            Answer::NotReady { .. } | Answer::Refused { .. } | Answer::Cut { .. } => {
                self.silences = 0;
                self.ready_in_a_row = 0;
                (self.place == Place::In).then_some((MoveKind::Leave, 1))
            }
            Answer::Silent { .. } => {
                self.silences = self.silences.saturating_add(1);
                self.ready_in_a_row = 0;
                let held = policy.hold_last == HoldLast::On && others_in == 0;
                // A member that was held before has been silent for longer; its cause is the same.
                let leaves = self.is_held(policy) && !held;
                leaves.then_some((MoveKind::Leave, policy.silences_to_leave.get()))
            }
        };
        if let Some((kind, _)) = moved {
            self.ready_in_a_row = 0;
            self.place = match kind {
                MoveKind::Join => Place::In,
                MoveKind::Leave => Place::Out,
            };
        }
        moved
    }

    /// Whether the member is in though it is as silent as makes one leave.
    pub(crate) fn is_held(&self, policy: &RotationPolicy) -> bool {
        self.place == Place::In && self.silences >= policy.silences_to_leave.get()
    }

    /// What its next moves depend on: silences above those that make one leave, and those of one that is out, add
    /// nothing.
    #[cfg(feature = "rehearsal")]
    pub(crate) fn essence(self, policy: &RotationPolicy) -> Self {
        let silences = match self.place {
            Place::In => self.silences.min(policy.silences_to_leave.get()),
            Place::Out => 0,
        };
        Self { silences, ..self }
    }
}
