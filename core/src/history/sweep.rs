//! The sweep: events in, spans out, under several horizons at once.
//!
//! It holds one moment. What happens at that moment is gathered, for what is said of a second is what holds at its
//! end; only when the moment passes are the rows judged that were touched, by the same rule that judges a row on
//! the board, and what changed is told. Between two events time alone changes a row, at moments that wait in a
//! queue.

use alloc::vec::Vec;

use super::event::{Event, Happening};
use super::lane::{Lane, Place, Ranked, Run};
use super::lives::Lives;
use super::past::{Detail, Past};
use super::sorted::{Key, Sorted};
use super::span::{Blame, DifferenceSpan, Said, StandingSpan, Stood, Told, VerdictSpan, Window};
use crate::flips::turning_points;
use crate::standing::Standing;
use crate::time::{Horizon, UnixSeconds};

/// Replays a record over a window. O(log n) for an event that touches one of n rows, for each horizon; memory for
/// the rows on the board, and nothing for what has been told.
#[derive(Debug)]
pub struct Sweep {
    window: Window,
    lives: Lives,
    life: u64,
    past: Past,
    lanes: Vec<Lane>,
    pairs: Vec<Pair>,
    rows: Vec<Judged>,
    /// Rows that own a green and do not serve: the same under every horizon.
    degraded: Ranked,
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

/// A row of the past as the lanes count it.
#[derive(Debug)]
struct Judged {
    is_touched: bool,
    /// Where it stands among the degraded rows, if it is one.
    degraded: Option<Key>,
    /// When time alone may change it next, as it stands in the queue.
    due: Option<UnixSeconds>,
    lanes: Vec<Place>,
}

/// Two horizons that are compared.
#[derive(Debug)]
struct Pair {
    lanes: [usize; 2],
    /// Which of them is ready, which is not, and the rows that make the difference.
    differs: Run<(usize, usize, Blame)>,
}

impl Sweep {
    /// A sweep over a window under these horizons. `lives` are those of the record that will be pushed.
    pub fn new(window: Window, horizons: &[Horizon], lives: Lives) -> Self {
        Self {
            window,
            lives,
            life: 0,
            past: Past::new(Detail::Standing),
            lanes: horizons.iter().copied().map(Lane::new).collect(),
            pairs: Vec::new(),
            rows: Vec::new(),
            degraded: Ranked::default(),
            degraded_changed: false,
            queue: Sorted::default(),
            touched: Vec::new(),
            moment: window.from,
            watch: Watch::NotWatching,
            watch_changed: true,
        }
    }

    /// Tells too where the horizons at these places of the list differ. To be called before the first event.
    #[must_use]
    pub fn comparing(mut self, one: usize, other: usize) -> Self {
        self.pairs.push(Pair { lanes: [one, other], differs: Run::default() });
        self
    }

    /// Takes the next event, in the order in which they were recorded, and tells what it finished. An event of
    /// before the window only makes the board; one that comes late counts from the moment that has been reached.
    pub fn push(&mut self, event: &Event, tell: &mut impl FnMut(Told)) {
        match &event.what {
            Happening::Started { watched_until_unix, .. } => {
                // Without an end to the life before, it was never known to be watching.
                if let Some(until) = watched_until_unix {
                    self.stop_watching_after(*until, event.at_unix, tell);
                }
                self.life = self.life.saturating_add(1);
                self.go_to(event.at_unix, tell);
                self.set_watch(Watch::Watching);
            }
            Happening::Resumed { watched_until_unix } => {
                self.stop_watching_after(*watched_until_unix, event.at_unix, tell);
                self.go_to(event.at_unix, tell);
                self.set_watch(Watch::Watching);
            }
            Happening::Retold { missing_since_unix } => {
                if let Some(since) = missing_since_unix {
                    self.stop_watching(*since, tell);
                }
                self.go_to(event.at_unix, tell);
                self.set_watch(Watch::Watching);
            }
            Happening::Changed { .. }
            | Happening::Removed { .. }
            | Happening::Lapsed { .. }
            | Happening::CameBack { .. } => self.go_to(event.at_unix, tell),
        }
        let Self { past, rows, touched, lanes, .. } = self;
        past.apply_and_tell(event, |place| touch(rows, touched, lanes.len(), place));
    }

    /// Tells the rest, where the record is known to be complete before `known_until`: from there to the end of the
    /// window nobody was watching.
    pub fn finish(mut self, known_until: UnixSeconds, tell: &mut impl FnMut(Told)) {
        // No life comes after this one, whatever was said beforehand.
        self.lives = Lives::default();
        if known_until < self.window.to {
            self.stop_watching(known_until, tell);
        }
        self.go_to(self.window.to, tell);
        let end = self.window.to;
        for place in 0..self.rows.len() {
            self.tell_standing(place, None, end, tell);
        }
        for (index, lane) in self.lanes.iter_mut().enumerate() {
            tell_verdict(lane, index, None, end, tell);
        }
        for pair in &mut self.pairs {
            tell_difference(pair, None, end, tell);
        }
    }

    /// Nobody watched after that second and before `again`, if there is one between.
    fn stop_watching_after(&mut self, until: UnixSeconds, again: UnixSeconds, tell: &mut impl FnMut(Told)) {
        if until.later(1) < again {
            self.stop_watching(until.later(1), tell);
        }
    }

    fn stop_watching(&mut self, from: UnixSeconds, tell: &mut impl FnMut(Told)) {
        self.go_to(from, tell);
        self.set_watch(Watch::NotWatching);
    }

    fn set_watch(&mut self, watch: Watch) {
        self.watch_changed |= self.watch != watch;
        self.watch = watch;
    }

    /// Lets time pass, but not beyond the window, nor into what a later life holds.
    fn go_to(&mut self, moment: UnixSeconds, tell: &mut impl FnMut(Told)) {
        let moment = moment.min(self.window.to).min(self.lives.held_until(self.life));
        while self.moment < moment {
            self.judge(tell);
            let next = match self.watch {
                Watch::Watching => self.queue.first().map(|(due, _)| UnixSeconds::new(due)),
                // Nobody sees what time does then.
                Watch::NotWatching => None,
            };
            self.moment = next.unwrap_or(moment).min(moment);
        }
    }

    /// Judges what the moment has come to.
    fn judge(&mut self, tell: &mut impl FnMut(Told)) {
        let Self { queue, rows, touched, lanes, past, .. } = self;
        while let Some(key @ (_, place)) = queue.first().filter(|(due, _)| *due <= self.moment.as_secs()) {
            queue.discard(key);
            touch(rows, touched, lanes.len(), place);
        }
        let has_other_watch = core::mem::take(&mut self.watch_changed);
        if has_other_watch {
            for place in 0..past.places() {
                touch(rows, touched, lanes.len(), place);
            }
        } else if touched.is_empty() {
            return;
        }
        let mut touched = core::mem::take(&mut self.touched);
        for place in touched.drain(..) {
            self.judge_row(place, tell);
        }
        self.touched = touched;
        self.judge_board(has_other_watch, tell);
    }

    /// Counts a row as what it amounts to now.
    fn judge_row(&mut self, place: usize, tell: &mut impl FnMut(Told)) {
        let now = self.moment;
        let row = self.past.row(place);
        let Some(judged) = self.rows.get_mut(place) else { return };
        judged.is_touched = false;
        let mut due: Option<UnixSeconds> = None;
        for (lane, seat) in self.lanes.iter_mut().zip(&mut judged.lanes) {
            let counted = row.map(|row| (row.standing(lane.horizon, now), (row.held.order, place)));
            lane.recount(seat.counted, counted);
            seat.counted = counted;
            for turn in row.map_or([None; 2], |row| turning_points(row, lane.horizon, now)) {
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
        self.tell_standing(place, Some(self.watch), now, tell);
        self.past.release(place);
    }

    /// Tells what the instance in a place had been until now, where it is something else; without a watch, at the
    /// end of all.
    fn tell_standing(&mut self, place: usize, watch: Option<Watch>, now: UnixSeconds, tell: &mut impl FnMut(Told)) {
        let row = self.past.row(place);
        let (Some(judged), Some(name)) = (self.rows.get_mut(place), self.past.name(place)) else { return };
        for (lane, seat) in judged.lanes.iter_mut().enumerate() {
            let stands = match (watch, seat.counted, row) {
                (Some(Watch::Watching), Some((counted, _)), Some(row)) => {
                    Some((Stood::As(counted), row.held.row.serving_sha.clone()))
                }
                (Some(Watch::NotWatching), _, Some(_)) => Some((Stood::NotWatching, None)),
                (_, _, _) => None,
            };
            if let Some((from, (stood, serving_sha))) = seat.standing.becomes(stands, now) {
                tell(Told::Standing(StandingSpan { lane, name: name.clone(), from, to: now, stood, serving_sha }));
            }
        }
    }

    /// Says what follows from the rows, where any of them counts as something else.
    fn judge_board(&mut self, has_other_watch: bool, tell: &mut impl FnMut(Told)) {
        let now = self.moment;
        let all_say_anew = core::mem::take(&mut self.degraded_changed) || has_other_watch;
        for (index, lane) in self.lanes.iter_mut().enumerate().filter(|(_, lane)| lane.has_changed || all_say_anew) {
            let said = match self.watch {
                Watch::Watching => lane.says(&mut self.degraded, &self.past),
                Watch::NotWatching => Said::NotWatching,
            };
            tell_verdict(lane, index, Some(said), now, tell);
        }
        for pair in &mut self.pairs {
            let [one, other] = pair.lanes;
            let (Some(first), Some(second)) = (self.lanes.get(one), self.lanes.get(other)) else { continue };
            if !(has_other_watch || first.has_changed || second.has_changed) {
                continue;
            }
            let differ = match (self.watch, first.is_ready(), second.is_ready()) {
                (Watch::Watching, true, false) => Some((one, other)),
                (Watch::Watching, false, true) => Some((other, one)),
                (Watch::Watching | Watch::NotWatching, _, _) => None,
            };
            let differs = differ.and_then(|(ready, not_ready)| {
                let lane = self.lanes.get_mut(not_ready)?;
                Some((ready, not_ready, lane.vetoing(&self.past)))
            });
            tell_difference(pair, differs, now, tell);
        }
        for lane in &mut self.lanes {
            lane.has_changed = false;
        }
    }
}

/// Notes that a row has to be judged.
fn touch(rows: &mut Vec<Judged>, touched: &mut Vec<usize>, lanes: usize, place: usize) {
    while rows.len() <= place {
        let lanes = (0..lanes).map(|_| Place::default()).collect();
        rows.push(Judged { is_touched: false, degraded: None, due: None, lanes });
    }
    if let Some(row) = rows.get_mut(place)
        && !core::mem::replace(&mut row.is_touched, true)
    {
        touched.push(place);
    }
}

fn tell_verdict(lane: &mut Lane, index: usize, said: Option<Said>, now: UnixSeconds, tell: &mut impl FnMut(Told)) {
    if let Some((from, said)) = lane.saying.becomes(said, now) {
        tell(Told::Verdict(VerdictSpan { lane: index, from, to: now, said }));
    }
}

fn tell_difference(
    pair: &mut Pair,
    differs: Option<(usize, usize, Blame)>,
    now: UnixSeconds,
    tell: &mut impl FnMut(Told),
) {
    if let Some((from, (ready, not_ready, rows))) = pair.differs.becomes(differs, now) {
        tell(Told::Difference(DifferenceSpan { ready, not_ready, from, to: now, rows }));
    }
}
