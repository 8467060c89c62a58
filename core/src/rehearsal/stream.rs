//! Whom a tick asks: the one rule of the stream, of the run and of its replay.

use alloc::vec::Vec;

use super::class::Lane;
use crate::rotation::MoveKind;

/// Who is in rotation as the stream sees it, and whose turn it is.
///
/// A process is a number below [`MAX_PROCESSES`], in order of start; round robin goes in that order, whoever joined
/// first, and each lane has its own turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stream {
    lag_us: i64,
    members: Members,
    /// From when on, and who.
    spans: Vec<(i64, Members)>,
    turns: [Turns; 2],
}

/// Whom a tick asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// Nobody was in when it was due.
    Nobody,
    /// Somebody was in when it was due, and nobody when it could be sent: we were too late.
    TooLate,
    /// This process.
    Ask(usize),
}

/// Whether a process is in rotation, as far as it can be said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Membership {
    /// It is not.
    Out,
    /// It is.
    In,
    /// Nobody can say.
    Unknown,
}

/// Who is in for certain, and who may be: one bit for each process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Members {
    certain: u16,
    possible: u16,
}

/// How many a lane has asked. Lost: it cannot be said any more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Turns {
    asked: usize,
    are_lost: bool,
}

impl Stream {
    /// Nobody is in. A move reaches the stream after the lag.
    pub const fn new(lag_us: i64) -> Self {
        Self {
            lag_us,
            members: Members { certain: 0, possible: 0 },
            spans: Vec::new(),
            turns: [Turns { asked: 0, are_lost: false }; 2],
        }
    }

    /// Takes a move, in order of their moments.
    pub fn moved(&mut self, at_us: i64, process: usize, kind: MoveKind) {
        let to = match kind {
            MoveKind::Join => Membership::In,
            MoveKind::Leave => Membership::Out,
        };
        self.shifted(at_us, process, to);
    }

    /// Takes a move of which it need not be known whether it happened.
    pub(super) fn shifted(&mut self, at_us: i64, process: usize, to: Membership) {
        let bit = u32::try_from(process).ok().and_then(|place| 1_u16.checked_shl(place)).unwrap_or(0);
        let (certain, possible) = match to {
            Membership::Out => (0, 0),
            Membership::In => (bit, bit),
            Membership::Unknown => (0, bit),
        };
        self.members = Members {
            certain: self.members.certain & !bit | certain,
            possible: self.members.possible & !bit | possible,
        };
        self.spans.push((at_us.saturating_add(self.lag_us), self.members));
    }

    /// Whom a tick asks that was due then and is sent now. Nobody is judged by when it was due, so that no lateness of
    /// ours hides it; whose turn it is by when it is sent, as a balancer does, so that no lateness of ours asks one
    /// that has left since.
    pub fn choose(&mut self, lane: Lane, due_us: i64, sent_us: i64) -> Choice {
        // Where every move was certain, so is every choice.
        self.choose_if_known(lane, due_us, sent_us).unwrap_or(Choice::TooLate)
    }

    /// The same where not every move is certain; `None`: nobody can say.
    pub(super) fn choose_if_known(&mut self, lane: Lane, due_us: i64, sent_us: i64) -> Option<Choice> {
        let [fresh, kept] = &mut self.turns;
        let turns = match lane {
            Lane::Fresh => fresh,
            Lane::Kept => kept,
        };
        let when_due = members_at(&self.spans, due_us);
        if when_due.possible == 0 {
            return Some(Choice::Nobody);
        }
        let Members { certain, possible } = members_at(&self.spans, sent_us);
        if when_due.certain == 0 || certain != possible {
            turns.are_lost = true;
            return None;
        }
        let mut place = turns.asked.checked_rem(certain.count_ones().try_into().unwrap_or(0));
        if place.is_some() {
            turns.asked = turns.asked.saturating_add(1);
        }
        if turns.are_lost && certain.count_ones() > 1 {
            return None;
        }
        // The process of that place among the bits that are set.
        for process in (0..MAX_PROCESSES).filter(|process| certain >> process & 1 == 1) {
            match place {
                Some(0) => return Some(Choice::Ask(process)),
                Some(_) | None => place = place.map(|place| place.saturating_sub(1)),
            }
        }
        Some(Choice::TooLate)
    }
}

fn members_at(spans: &[(i64, Members)], at_us: i64) -> Members {
    let past = spans.partition_point(|(from, _)| *from <= at_us);
    past.checked_sub(1).and_then(|last| spans.get(last)).map_or(Members::default(), |(_, members)| *members)
}

/// How many processes a roll may have: there are two, and room.
pub const MAX_PROCESSES: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_lane_takes_its_own_turns_in_order_of_start() {
        let mut stream = Stream::new(0);
        stream.moved(0, 1, MoveKind::Join);
        stream.moved(5, 0, MoveKind::Join);
        let mut ask = |lane| stream.choose(lane, 10, 10);
        assert_eq!([ask(Lane::Fresh), ask(Lane::Fresh)], [Choice::Ask(0), Choice::Ask(1)]);
        assert_eq!([ask(Lane::Kept), ask(Lane::Fresh)], [Choice::Ask(0), Choice::Ask(0)]);
    }

    #[test]
    fn a_move_reaches_the_stream_after_the_lag_to_the_microsecond() {
        let mut stream = Stream::new(100);
        stream.moved(50, 0, MoveKind::Join);
        assert_eq!(stream.choose(Lane::Fresh, 149, 149), Choice::Nobody);
        assert_eq!(stream.choose(Lane::Fresh, 150, 150), Choice::Ask(0));
        stream.moved(200, 0, MoveKind::Leave);
        assert_eq!(stream.choose(Lane::Fresh, 299, 299), Choice::Ask(0));
        assert_eq!(stream.choose(Lane::Fresh, 299, 300), Choice::TooLate);
        assert_eq!(stream.choose(Lane::Fresh, 300, 900), Choice::Nobody);
    }

    #[test]
    fn what_may_or_may_not_be_in_leaves_the_choice_unknown_and_the_turns_with_it() {
        let mut stream = Stream::new(0);
        stream.shifted(0, 0, Membership::In);
        stream.shifted(10, 1, Membership::Unknown);
        stream.shifted(20, 1, Membership::Out);
        stream.shifted(30, 1, Membership::In);
        let mut ask = |due_us| stream.choose_if_known(Lane::Kept, due_us, due_us);
        assert_eq!([ask(5), ask(15), ask(25), ask(35)], [Some(Choice::Ask(0)), None, Some(Choice::Ask(0)), None]);
        // The other lane was not due in between.
        assert_eq!(stream.choose_if_known(Lane::Fresh, 35, 35), Some(Choice::Ask(0)));
        stream.shifted(40, 1, Membership::Out);
        stream.shifted(40, 0, Membership::Unknown);
        assert_eq!(stream.choose_if_known(Lane::Fresh, 45, 45), None);
        stream.shifted(50, 0, Membership::Out);
        assert_eq!(stream.choose_if_known(Lane::Fresh, 55, 99), Some(Choice::Nobody));
    }
}
