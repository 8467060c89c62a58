//! Rotation: which members get traffic. An answer comes in, at most one move goes out.
//!
//! A no, a refusal and a cut remove a member at once. Silence removes it only after several in a row, and never
//! lets it join: a slow answer is not a no. What the prober could not ask changes nothing.
//!
//! ```
//! use greenlight_core::Name;
//! use greenlight_core::rotation::{Answer, Member, MoveKind, Rotation, RotationPolicy, Silence};
//!
//! let mut rotation = Rotation::new();
//! let old = rotation.add(Member::new(Name::of_instance("old")?, RotationPolicy::default(), None, 0));
//! let mut ask = |answer, at| rotation.handle(old, answer, at).moved.map(|moved| moved.kind);
//!
//! assert_eq!(ask(Answer::of_status(200, None), 0), Some(MoveKind::Join));
//! assert_eq!(ask(Answer::Silent { by: Silence::Timeout }, 1), None);
//! assert_eq!(ask(Answer::Silent { by: Silence::Timeout }, 2), None);
//! assert_eq!(ask(Answer::of_status(200, None), 3), None);
//! assert_eq!(ask(Answer::of_status(503, None), 4), Some(MoveKind::Leave));
//! # Ok::<(), greenlight_core::NameError>(())
//! ```

mod answer;
mod bearing;
mod member;

use alloc::collections::BTreeMap;

#[cfg(feature = "rehearsal")]
pub(crate) use bearing::Bearing;

pub use answer::{Answer, Cause, Cutting, Refuser, Silence};
pub use member::{HoldLast, Member, MoveKind, Place, Renewal, RotationPolicy, UNVERSIONED, good_for};

/// Which member: given by [`Rotation::add`], never given twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MemberId(u64);

/// The members, in the order in which they were added, and which of them get traffic. `T` is the driver's
/// moment: kept, never judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rotation<T> {
    members: BTreeMap<MemberId, Member<T>>,
    next: u64,
}

impl<T> Default for Rotation<T> {
    fn default() -> Self {
        Self { members: BTreeMap::new(), next: 0 }
    }
}

impl<T: Copy> Rotation<T> {
    /// Nobody.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a member behind the others. One that was in elsewhere stays in.
    pub fn add(&mut self, member: Member<T>) -> MemberId {
        let id = MemberId(self.next);
        self.next = self.next.saturating_add(1);
        self.members.insert(id, member);
        id
    }

    /// Takes a member away. A probe of it that is still under way counts as nothing.
    pub fn remove(&mut self, id: MemberId) -> Option<Member<T>> {
        self.members.remove(&id)
    }

    /// Judges a member by another policy from its next answer on.
    pub fn set_policy(&mut self, id: MemberId, policy: RotationPolicy) {
        if let Some(member) = self.members.get_mut(&id) {
            member.policy = policy;
        }
    }

    /// Takes what a probe learned. An answer of somebody who is no member any more changes nothing.
    pub fn handle(&mut self, id: MemberId, answer: Answer, at: T) -> Effects<T> {
        // Only a silence asks who else is in.
        let others_in = match answer {
            Answer::Silent { .. } => self.members_in().filter(|(other, _)| *other != id).count(),
            Answer::Ready { .. }
            | Answer::NotReady { .. }
            | Answer::Refused { .. }
            | Answer::Cut { .. }
            | Answer::Fault { .. } => 0,
        };
        let Some(member) = self.members.get_mut(&id) else {
            return Effects { moved: None, renewal: Renewal::Withheld };
        };
        let (moved, renewal) = member.handle(answer, others_in, at);
        Effects { moved: moved.map(|(kind, cause)| Move { member: id, kind, cause, at }), renewal }
    }

    /// Notes the answer to a probe that had been taken for silent. It changes nothing but
    /// [`Member::last_late`].
    pub fn note_late(&mut self, id: MemberId, answer: Answer, at: T) {
        if let Some(member) = self.members.get_mut(&id) {
            member.note_late(answer, at);
        }
    }

    /// One member.
    pub fn member(&self, id: MemberId) -> Option<&Member<T>> {
        self.members.get(&id)
    }

    /// All members, in the order in which they were added.
    pub fn members(&self) -> impl Iterator<Item = (MemberId, &Member<T>)> {
        self.members.iter().map(|(id, member)| (*id, member))
    }

    /// Those that get traffic, in the same order.
    pub fn members_in(&self) -> impl Iterator<Item = (MemberId, &Member<T>)> {
        self.members().filter(|(_, member)| member.place() == Place::In)
    }
}

/// What an answer brought about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Effects<T> {
    /// The join or leave, where it moved the member.
    pub moved: Option<Move<T>>,
    /// Whether the member's row is to be reported.
    pub renewal: Renewal,
}

/// A join or a leave, with the answer that caused it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Move<T> {
    /// Who.
    pub member: MemberId,
    /// Which of the two.
    pub kind: MoveKind,
    /// Why.
    pub cause: Cause,
    /// When.
    pub at: T,
}
