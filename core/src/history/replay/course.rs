//! The course: a record that is at hand as a whole, read once and replayed under one horizon after another.
//!
//! What an event does to rows is the same under every horizon. It is worked out when the event comes, so that a replay
//! only judges.

use alloc::vec::Vec;

use super::judging::Judging;
use super::passage::Passage;
use crate::history::event::Event;
use crate::history::lives::Lives;
use crate::history::past::brief::Brief;
use crate::history::past::seating::Seating;
use crate::history::past::seats::{Move, Seats};
use crate::history::span::{Told, Window};
use crate::name::Name;
use crate::time::{Horizon, UnixSeconds};

/// A record in the terms of a replay. Memory for every event, and for every instance that the record names.
#[derive(Debug, Default)]
pub struct Course {
    lives: Lives,
    rows: Seating<Brief>,
    steps: Vec<Step>,
}

/// An event.
#[derive(Debug)]
struct Step {
    passage: Passage,
    /// What it does to rows; nothing where `None`.
    happens: Option<Move<Brief>>,
}

impl Course {
    /// A record of nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next event, in the order in which they were recorded.
    pub fn push(&mut self, event: &Event) {
        self.lives.note(event);
        self.steps.push(Step { passage: Passage::to(event), happens: self.rows.seat(event) });
    }

    /// How many events there are.
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// Who is where: the name that each place stands for, from 0.
    pub fn names(&self) -> impl Iterator<Item = &Name> {
        (0..self.rows.places()).filter_map(|place| self.rows.name(place))
    }

    /// Tells what a [`Sweep`](super::Sweep) over the same window tells under one horizon, with places for names: the
    /// verdict, and each instance, both under lane 0. The record is known to be complete before `known_until`.
    pub fn replay(
        &self,
        window: Window,
        horizon: Horizon,
        known_until: UnixSeconds,
        tell: &mut dyn FnMut(Told<usize>),
    ) {
        // A caller's crate may be built to be small; what replays is not, for as long as it is not made anew there.
        let tell = &mut |told| tell(told);
        let mut rows = Seats::default();
        let mut judging = Judging::new(window, &[horizon], self.lives.clone());
        for Step { passage, happens } in &self.steps {
            judging.pass(*passage, &mut rows, tell);
            if let Some(happens) = happens {
                rows.apply(happens, passage.to, |place| judging.touch(place));
            }
        }
        judging.finish(known_until, &mut rows, tell);
    }
}
