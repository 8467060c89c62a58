//! Whom a tick asks: the one rule of the stream, of the run and of its replay.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use super::class::Lane;
use crate::rotation::MoveKind;

/// Who is in rotation as the stream sees it, and whose turn it is.
///
/// A process is a number, in order of start; round robin goes in that order, whoever joined first, and each lane has
/// its own turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stream {
    lag_us: i64,
    is_in: BTreeSet<usize>,
    /// From when on, and who.
    spans: Vec<(i64, Vec<usize>)>,
    turns: BTreeMap<Lane, usize>,
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

impl Stream {
    /// Nobody is in. A move reaches the stream after the lag.
    pub const fn new(lag_us: i64) -> Self {
        Self { lag_us, is_in: BTreeSet::new(), spans: Vec::new(), turns: BTreeMap::new() }
    }

    /// Takes a move, in order of their moments.
    pub fn moved(&mut self, at_us: i64, process: usize, kind: MoveKind) {
        match kind {
            MoveKind::Join => self.is_in.insert(process),
            MoveKind::Leave => self.is_in.remove(&process),
        };
        self.spans.push((at_us.saturating_add(self.lag_us), self.is_in.iter().copied().collect()));
    }

    /// Whom a tick asks that was due then and is sent now. Nobody is judged by when it was due, so that no lateness of
    /// ours hides it; whose turn it is by when it is sent, as a balancer does, so that no lateness of ours asks one
    /// that has left since.
    pub fn choose(&mut self, lane: Lane, due_us: i64, sent_us: i64) -> Choice {
        if self.members_at(due_us).is_empty() {
            return Choice::Nobody;
        }
        let turn = self.turns.get(&lane).copied().unwrap_or(0);
        let members = self.members_at(sent_us);
        match turn.checked_rem(members.len()).and_then(|place| members.get(place)).copied() {
            Some(process) => {
                self.turns.insert(lane, turn.saturating_add(1));
                Choice::Ask(process)
            }
            None => Choice::TooLate,
        }
    }

    fn members_at(&self, at_us: i64) -> &[usize] {
        let past = self.spans.partition_point(|(from, _)| *from <= at_us);
        past.checked_sub(1).and_then(|last| self.spans.get(last)).map_or(&[], |(_, members)| members)
    }
}

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
}
