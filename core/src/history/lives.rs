//! The lives of a daemon, and where a later one holds what an earlier one had claimed.

use alloc::vec::Vec;

use super::event::{Event, Happening};
use crate::time::UnixSeconds;

/// Where lives are overtaken by later ones: all that a sweep, which goes forward only, has to know beforehand.
///
/// Bounded by how often a clock stepped back across a restart: a start that comes after everything before it
/// leaves nothing here.
///
/// Invariant: entries rise strictly in both life and moment.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Lives {
    overtaking: Vec<Overtaking>,
    #[serde(skip)]
    started: u64,
    #[serde(skip)]
    latest: Option<UnixSeconds>,
}

/// A life that began before the end of an earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
struct Overtaking {
    /// Counted from 1 for the first start.
    life: u64,
    from_unix: UnixSeconds,
}

impl Lives {
    /// Takes note of an event; only starts matter.
    pub fn note(&mut self, event: &Event) {
        match &event.what {
            Happening::Started { watched_until_unix, .. } => self.note_start(event.at_unix, *watched_until_unix),
            Happening::Changed { .. }
            | Happening::Removed { .. }
            | Happening::Lapsed { .. }
            | Happening::CameBack { .. }
            | Happening::Resumed { .. }
            | Happening::Retold { .. } => {}
        }
    }

    /// Takes note of a start by its two moments.
    pub fn note_start(&mut self, at: UnixSeconds, watched_until: Option<UnixSeconds>) {
        self.started = self.started.saturating_add(1);
        let before = self.latest.max(watched_until);
        if before.is_some_and(|before| at <= before) {
            while self.overtaking.last().is_some_and(|last| last.from_unix >= at) {
                self.overtaking.pop();
            }
            self.overtaking.push(Overtaking { life: self.started, from_unix: at });
        }
        self.latest = before.max(Some(at));
    }

    /// When a later life takes over from this one, counted from 0 for what comes before the first start.
    pub fn held_until(&self, life: u64) -> UnixSeconds {
        let later = self.overtaking.partition_point(|overtaking| overtaking.life <= life);
        self.overtaking.get(later).map_or(UnixSeconds::MAX, |overtaking| overtaking.from_unix)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(secs: u64) -> UnixSeconds {
        UnixSeconds::new(secs)
    }

    fn lives(starts: &[(u64, Option<u64>)]) -> Lives {
        let mut lives = Lives::default();
        for (begun, before) in starts {
            lives.note_start(at(*begun), before.map(at));
        }
        lives
    }

    #[test]
    fn lives_that_follow_each_other_overtake_nothing() {
        let lives = lives(&[(10, None), (20, Some(19)), (30, Some(20)), (31, Some(30))]);
        assert_eq!(lives.overtaking, []);
        assert_eq!(lives.held_until(1), UnixSeconds::MAX);
    }

    #[test]
    fn a_life_that_begins_within_an_earlier_one_holds_from_its_start() {
        let lives = lives(&[(100, None), (50, Some(150)), (200, Some(60))]);
        assert_eq!((lives.held_until(0), lives.held_until(1)), (at(50), at(50)));
        assert_eq!(lives.held_until(2), UnixSeconds::MAX);
    }

    #[test]
    fn of_several_steps_back_the_furthest_holds_for_all_before_it() {
        let lives = lives(&[(100, None), (120, Some(150)), (80, Some(130)), (90, Some(95))]);
        assert_eq!(lives.held_until(0), at(80));
        assert_eq!(lives.held_until(1), at(80));
        assert_eq!(lives.held_until(2), at(80));
        assert_eq!(lives.held_until(3), at(90));
        assert_eq!(lives.held_until(4), UnixSeconds::MAX);
    }
}
