//! The judging: rows and time in, spans out, under several horizons at once.
//!
//! It holds one moment. What happens at that moment is gathered, for what is said of a second is what holds at its
//! end; only when the moment passes are the rows judged that were touched, by the same rule that judges a row on
//! the board, and what changed is told. Between two events time alone changes a row, at moments that wait in a
//! queue.

use alloc::vec::Vec;

use super::difference::Pair;
use super::lane::{Lane, Place, Ranked};
use super::passage::{Begins, Passage};
use super::rows::Rows;
use crate::history::lives::Lives;
use crate::history::past::sorted::{Key, Sorted};
use crate::history::span::{Said, StandingSpan, Stood, Told, VerdictSpan, Window};
use crate::standing::Standing;
use crate::time::{Horizon, UnixSeconds};

/// Judges rows as they change, over a window.
#[derive(Debug)]
pub(super) struct Judging<Who> {
    window: Window,
    lives: Lives,
    life: u64,
    lanes: Vec<Lane<Who>>,
    pairs: Vec<Pair<Who>>,
    judged: Vec<Judged>,
    /// Rows that own a green and do not serve: the same under every horizon.
    degraded: Ranked<Who>,
    degraded_changed: bool,
    /// When time alone may change what a row amounts to under any of the horizons: the second, and its place.
    queue: Sorted,
    touched: Vec<usize>,
    /// The second that is being gathered.
    moment: UnixSeconds,
    watch: Watch,
    /// Whether `watch` is not what it was when the last moment was judged.
    watch_changed: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Watch {
    Watching,
    NotWatching,
}

/// A row as the lanes count it.
#[derive(Debug)]
struct Judged {
    is_touched: bool,
    /// Where it stands among the degraded rows, if it is one.
    degraded: Option<Key>,
    /// When time alone may change it next, as it stands in the queue.
    due: Option<UnixSeconds>,
    lanes: Vec<Place>,
}

impl<Who: Clone + PartialEq> Judging<Who> {
    pub(super) fn new(window: Window, horizons: &[Horizon], lives: Lives) -> Self {
        Self {
            window,
            lives,
            life: 0,
            lanes: horizons.iter().copied().map(Lane::new).collect(),
            pairs: Vec::new(),
            judged: Vec::new(),
            degraded: Ranked::default(),
            degraded_changed: false,
            queue: Sorted::default(),
            touched: Vec::new(),
            moment: window.from,
            watch: Watch::NotWatching,
            watch_changed: true,
        }
    }

    /// Tells too where the horizons at these places of the list differ.
    pub(super) fn compare(&mut self, one: usize, other: usize) {
        self.pairs.push(Pair::of([one, other]));
    }

    /// Lets time pass up to an event, with the rows as they have been since the last one.
    pub(super) fn pass(&mut self, passage: Passage, rows: &mut impl Rows<Who = Who>, tell: &mut impl FnMut(Told<Who>)) {
        if let Some(from) = passage.unwatched_from {
            self.stop_watching(from, rows, tell);
        }
        if passage.begins == Begins::Life {
            self.life = self.life.saturating_add(1);
        }
        self.go_to(passage.to, rows, tell);
        match passage.begins {
            Begins::Nothing => {}
            Begins::Watch | Begins::Life => self.set_watch(Watch::Watching),
        }
    }

    /// Notes that a row has to be judged, at the moment that has been reached.
    pub(super) fn touch(&mut self, place: usize) {
        while self.judged.len() <= place {
            let lanes = self.lanes.iter().map(|_| Place::default()).collect();
            self.judged.push(Judged { is_touched: false, degraded: None, due: None, lanes });
        }
        if let Some(row) = self.judged.get_mut(place)
            && !core::mem::replace(&mut row.is_touched, true)
        {
            self.touched.push(place);
        }
    }

    /// Tells the rest, where nobody is known to have watched from `known_until` on.
    pub(super) fn finish(
        mut self,
        known_until: UnixSeconds,
        rows: &mut impl Rows<Who = Who>,
        tell: &mut impl FnMut(Told<Who>),
    ) {
        // No life comes after this one, whatever was said beforehand.
        self.lives = Lives::default();
        if known_until < self.window.to {
            self.stop_watching(known_until, rows, tell);
        }
        self.go_to(self.window.to, rows, tell);
        let end = self.window.to;
        for place in 0..self.judged.len() {
            self.tell_standing(place, None, end, rows, tell);
        }
        for (index, lane) in self.lanes.iter_mut().enumerate() {
            tell_verdict(lane, index, None, end, tell);
        }
        for pair in &mut self.pairs {
            pair.end(end).into_iter().for_each(|span| tell(Told::Difference(span)));
        }
    }

    fn stop_watching(&mut self, from: UnixSeconds, rows: &mut impl Rows<Who = Who>, tell: &mut impl FnMut(Told<Who>)) {
        self.go_to(from, rows, tell);
        self.set_watch(Watch::NotWatching);
    }

    fn set_watch(&mut self, watch: Watch) {
        self.watch_changed |= self.watch != watch;
        self.watch = watch;
    }

    /// Lets time pass, but not beyond the window, nor into what a later life holds.
    fn go_to(&mut self, moment: UnixSeconds, rows: &mut impl Rows<Who = Who>, tell: &mut impl FnMut(Told<Who>)) {
        let moment = moment.min(self.window.to).min(self.lives.held_until(self.life));
        while self.moment < moment {
            self.judge(rows, tell);
            let next = match self.watch {
                Watch::Watching => self.queue.first().map(|(due, _)| UnixSeconds::new(due)),
                // Nobody sees what time does then.
                Watch::NotWatching => None,
            };
            self.moment = next.unwrap_or(moment).min(moment);
        }
    }

    /// Judges what the moment has come to.
    fn judge(&mut self, rows: &mut impl Rows<Who = Who>, tell: &mut impl FnMut(Told<Who>)) {
        while let Some(key @ (_, place)) = self.queue.first().filter(|(due, _)| *due <= self.moment.as_secs()) {
            self.queue.discard(key);
            self.touch(place);
        }
        let has_other_watch = core::mem::take(&mut self.watch_changed);
        if has_other_watch {
            for place in 0..rows.places() {
                self.touch(place);
            }
        } else if self.touched.is_empty() {
            return;
        }
        let mut touched = core::mem::take(&mut self.touched);
        for place in touched.drain(..) {
            self.judge_row(place, rows, tell);
            rows.release(place);
        }
        self.touched = touched;
        self.judge_board(has_other_watch, rows, tell);
    }

    /// Counts a row as what it amounts to now.
    fn judge_row(&mut self, place: usize, rows: &impl Rows<Who = Who>, tell: &mut impl FnMut(Told<Who>)) {
        let now = self.moment;
        let row = rows.row(place).map(|row| (row.facts(), (row.order, place)));
        let Some(judged) = self.judged.get_mut(place) else { return };
        judged.is_touched = false;
        let mut due: Option<UnixSeconds> = None;
        for (lane, seat) in self.lanes.iter_mut().zip(&mut judged.lanes) {
            let counted = row.map(|(facts, key)| (facts.standing(lane.horizon, now), key));
            lane.recount(seat.counted, counted);
            seat.counted = counted;
            for turn in row.map_or([None; 2], |(facts, _)| facts.turning_points(lane.horizon, now)) {
                due = match (due, turn) {
                    (Some(due), Some(turn)) => Some(due.min(turn)),
                    (one, other) => one.or(other),
                };
            }
        }
        if due != judged.due {
            if let Some(due) = judged.due {
                self.queue.discard((due.as_secs(), place));
            }
            if let Some(due) = due {
                self.queue.add((due.as_secs(), place));
            }
            judged.due = due;
        }
        // The same under every horizon, so that the first lane speaks for all.
        let degraded = match judged.lanes.first().and_then(|seat| seat.counted) {
            Some((Standing::LiveDegraded | Standing::StaleDegraded, key)) => Some(key),
            Some((Standing::Serving | Standing::NeverGreen, _)) | None => None,
        };
        if degraded != judged.degraded {
            if let Some(key) = judged.degraded {
                self.degraded.discard(key);
            }
            if let Some(key) = degraded {
                self.degraded.add(key);
            }
            judged.degraded = degraded;
            self.degraded_changed = true;
        }
        self.tell_standing(place, Some(self.watch), now, rows, tell);
    }

    /// Tells what the instance in a place had been until now, where it is something else; without a watch, at the
    /// end of all.
    fn tell_standing(
        &mut self,
        place: usize,
        watch: Option<Watch>,
        now: UnixSeconds,
        rows: &impl Rows<Who = Who>,
        tell: &mut impl FnMut(Told<Who>),
    ) {
        let row = rows.row(place);
        let Some(judged) = self.judged.get_mut(place) else { return };
        for (lane, seat) in judged.lanes.iter_mut().enumerate() {
            let stands = match (watch, seat.counted, row) {
                (Some(Watch::Watching), Some((counted, _)), Some(row)) => {
                    Some((Stood::As(counted), row.serving_sha.clone()))
                }
                (Some(Watch::NotWatching), _, Some(_)) => Some((Stood::NotWatching, None)),
                (_, _, _) => None,
            };
            if let Some((from, (stood, serving_sha))) = seat.standing.becomes(stands, now)
                && let Some(name) = rows.who(place)
            {
                tell(Told::Standing(StandingSpan { lane, name, from, to: now, stood, serving_sha }));
            }
        }
    }

    /// Says what follows from the rows, where any of them counts as something else.
    fn judge_board(&mut self, has_other_watch: bool, rows: &impl Rows<Who = Who>, tell: &mut impl FnMut(Told<Who>)) {
        let now = self.moment;
        let all_say_anew = core::mem::take(&mut self.degraded_changed) || has_other_watch;
        for (index, lane) in self.lanes.iter_mut().enumerate().filter(|(_, lane)| lane.has_changed || all_say_anew) {
            let said = match self.watch {
                Watch::Watching => lane.says(&mut self.degraded, rows),
                Watch::NotWatching => Said::NotWatching,
            };
            lane.has_changed = false;
            tell_verdict(lane, index, Some(said), now, tell);
        }
        for pair in &mut self.pairs {
            let says = pair.lanes().map(|lane| self.lanes.get(lane).and_then(|lane| lane.saying.now()));
            if let [Some(one), Some(other)] = says
                && let Some(span) = pair.say([one, other], now)
            {
                tell(Told::Difference(span));
            }
        }
    }
}

fn tell_verdict<Who: PartialEq>(
    lane: &mut Lane<Who>,
    index: usize,
    said: Option<Said<Who>>,
    now: UnixSeconds,
    tell: &mut impl FnMut(Told<Who>),
) {
    if let Some((from, said)) = lane.saying.becomes(said, now) {
        tell(Told::Verdict(VerdictSpan { lane: index, from, to: now, said }));
    }
}
