//! What readers are told of rotation: a copy, made under a short lock.

use std::fmt;
use std::time::Duration;

use greenlight_core::rotation::{Answer, Move};
use greenlight_core::{Name, UnixSeconds};
use serde::Serialize;

/// Somebody who decides about rotation, for `/rotation` and metrics.
pub(crate) trait Rotating: fmt::Debug + Send + Sync {
    /// What holds now.
    fn view(&self) -> View;

    /// What keeps the prober from asking, alone: it costs the same for any number of members.
    fn trouble(&self) -> Option<TroubleView>;
}

/// Rotation at one moment.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct View {
    /// In order of configuration.
    pub(crate) members: Vec<MemberView>,
    /// What keeps the prober from asking; null where nothing does.
    pub(crate) trouble: Option<TroubleView>,
    /// How long probes took, for metrics.
    #[serde(skip)]
    pub(crate) took: Took,
}

/// One member.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct MemberView {
    pub(crate) name: Name,
    pub(crate) url: String,
    pub(crate) in_rotation: bool,
    /// Whether it is in only because it is the last one.
    pub(crate) held_last: bool,
    pub(crate) since_unix: UnixSeconds,
    pub(crate) silences: u32,
    pub(crate) moves: u64,
    pub(crate) faults: u64,
    pub(crate) last_answer: Option<AnswerView>,
    pub(crate) last_late: Option<AnswerView>,
    pub(crate) last_move: Option<MoveView>,
    /// Why its row is not on the board; null where it is, or nothing is known of it yet.
    pub(crate) not_on_board: Option<Box<str>>,
    /// How many answers of each kind, for metrics.
    #[serde(skip)]
    pub(crate) answers: Vec<(&'static str, u64)>,
    #[serde(skip)]
    pub(crate) joins: u64,
    #[serde(skip)]
    pub(crate) leaves: u64,
}

/// An answer.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct AnswerView {
    pub(crate) kind: &'static str,
    pub(crate) status: Option<u16>,
    pub(crate) text: String,
    pub(crate) took_ms: u64,
    /// How late we came to its deadline ourselves.
    pub(crate) late_ms: u64,
    pub(crate) at_unix: UnixSeconds,
}

/// A join or a leave.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct MoveView {
    #[serde(rename = "move")]
    pub(crate) kind: &'static str,
    pub(crate) cause: String,
    pub(crate) at_unix: UnixSeconds,
}

/// The prober's own trouble: it says nothing of the members, and moves none.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct TroubleView {
    /// The name of the newest error.
    pub(crate) code: Box<str>,
    /// How many members could not be asked the last time.
    pub(crate) members: usize,
    pub(crate) since_unix: UnixSeconds,
}

impl AnswerView {
    pub(crate) fn of(answer: &Answer, took: Duration, late: Duration, at_ms: u64) -> Self {
        let millis = |span: Duration| u64::try_from(span.as_millis()).unwrap_or(u64::MAX);
        Self {
            kind: answer.kind(),
            status: answer.status(),
            text: answer.to_string(),
            took_ms: millis(took),
            late_ms: millis(late),
            at_unix: seconds_of(at_ms),
        }
    }
}

impl MoveView {
    pub(crate) fn of(moved: &Move<u64>) -> Self {
        Self { kind: moved.kind.as_str(), cause: moved.cause.to_string(), at_unix: seconds_of(moved.at) }
    }
}

/// A moment in milliseconds, as the wire tells it.
pub(crate) fn seconds_of(at_ms: u64) -> UnixSeconds {
    UnixSeconds::new(at_ms / 1000)
}

/// How long things took, in the shape of a histogram.
#[derive(Clone, Debug)]
pub(crate) struct Took {
    counts: [u64; BOUNDS_MS.len()],
    above: u64,
    sum_us: u64,
}

impl Default for Took {
    fn default() -> Self {
        Self { counts: [0; BOUNDS_MS.len()], above: 0, sum_us: 0 }
    }
}

impl Took {
    /// Counts one.
    pub(crate) fn note(&mut self, took_us: u64) {
        self.sum_us = self.sum_us.saturating_add(took_us);
        let place = BOUNDS_MS.iter().position(|bound| took_us <= bound * 1000);
        let count = match place.and_then(|place| self.counts.get_mut(place)) {
            Some(count) => count,
            None => &mut self.above,
        };
        *count = count.saturating_add(1);
    }

    /// All of them together, in seconds.
    #[expect(clippy::cast_precision_loss, reason = "a sum for a graph")]
    pub(crate) fn sum_secs(&self) -> f64 {
        self.sum_us as f64 / 1e6
    }

    /// How many there were.
    pub(crate) fn count(&self) -> u64 {
        self.counts.iter().sum::<u64>().saturating_add(self.above)
    }

    /// How many took up to so many seconds and more than the bound before.
    #[expect(clippy::cast_precision_loss, reason = "small bounds")]
    pub(crate) fn buckets(&self) -> Vec<(f64, u64)> {
        let within = BOUNDS_MS.iter().zip(self.counts).map(|(bound, count)| (*bound as f64 / 1000.0, count));
        within.chain([(f64::MAX, self.above)]).collect()
    }
}

const BOUNDS_MS: [u64; 11] = [1, 3, 10, 30, 100, 200, 300, 500, 1_000, 3_000, 10_000];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_length_of_time_is_counted_once_and_a_bound_belongs_to_its_bucket() {
        let mut took = Took::default();
        for took_us in [0, 1_000, 1_001, 10_000_000, 10_000_001, u64::MAX / 2] {
            took.note(took_us);
        }
        let counts: Vec<u64> = took.buckets().iter().map(|(_, count)| *count).collect();
        assert_eq!(counts, [2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2]);
        assert_eq!(took.count(), 6);
    }
}
