//! The life of a daemon: a real board, a clock that steps, a store that keeps what the daemon's keeper keeps, and
//! the record that it leaves.

use greenlight_core::history::record::{self, LastLife};
use greenlight_core::history::{Event, Happening, Window};
use greenlight_core::{
    Board, Effects, Extent, GoodFor, Held, Name, Refusal, Remembered, Report, ReportedRow, Snapshot, UnixSeconds, Vouch,
};

use crate::random::Random;
use crate::truth::Truth;

/// A sign of life is stored so often.
const FLUSH_EVERY_SECS: u64 = 10;
/// When played lives begin.
const BEGIN: u64 = 1_785_000_000;

pub(crate) fn at(secs: u64) -> UnixSeconds {
    UnixSeconds::new(secs)
}

/// A daemon that is watched while it runs.
pub(crate) struct Life {
    pub(crate) board: Board,
    /// What readers see of it, and how often it has been another.
    snapshot: Snapshot,
    snapshots: u64,
    /// Everything that survives a kill.
    stored: Stored,
    /// What is recorded and not yet stored.
    pending: Vec<Event>,
    pub(crate) record: Vec<Event>,
    pub(crate) truth: Truth,
    /// The daemon's time, and what the wall clock says.
    pub(crate) now: u64,
    wall: u64,
    /// Up to when lapses are recorded.
    watched: u64,
    flushed: u64,
    pub(crate) counts: Counts,
}

#[derive(Clone, Default)]
struct Stored {
    rows: Vec<(Held, Vouch)>,
    memory: Vec<Remembered>,
    mark: Option<(u64, i64)>,
}

/// What a life has seen, to show that a seed is worth its time.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) reports: u64,
    pub(crate) refused: u64,
    pub(crate) kills: u64,
    pub(crate) stops: u64,
    pub(crate) steps_back: u64,
    pub(crate) overtaken_secs: u64,
    pub(crate) slept_secs: u64,
}

impl Life {
    pub(crate) fn begin(now: u64, truth: Truth) -> Self {
        let mut life = Self {
            board: Board::new(),
            snapshot: Snapshot::default(),
            snapshots: 0,
            stored: Stored::default(),
            pending: Vec::new(),
            record: Vec::new(),
            truth,
            now,
            wall: now,
            watched: now,
            flushed: now,
            counts: Counts::default(),
        };
        life.start();
        life
    }

    /// Lets the second end: it is what it has become. Then the next one begins.
    pub(crate) fn pass_second(&mut self) {
        self.truth.say(at(self.now), &self.snapshot, self.snapshots);
        self.now += 1;
        self.wall += 1;
        if self.now - self.flushed >= FLUSH_EVERY_SECS {
            self.turn();
            self.flush();
        }
    }

    pub(crate) fn report(&mut self, report: Report) {
        self.turn();
        let source = report.source.clone();
        self.counts.reports += 1;
        let result = self.board.report(report, at(self.now));
        self.note(&source, result);
    }

    pub(crate) fn remove(&mut self, source: &Name, name: &str) {
        self.turn();
        let result = self.board.remove(source, name, at(self.now));
        self.note(source, result);
    }

    pub(crate) fn remove_source(&mut self, source: &Name) {
        self.turn();
        let effects = self.board.remove_source(source, at(self.now));
        self.note(source, Ok(effects));
    }

    /// Moves the hands of the wall clock.
    pub(crate) fn step_wall(&mut self, secs: i64) {
        self.wall = self.wall.checked_add_signed(secs).unwrap();
    }

    /// Nothing is done for a while: nobody is answered.
    pub(crate) fn sleep(&mut self, secs: u64) {
        self.turn();
        self.flush();
        self.truth.say(at(self.now), &self.snapshot, self.snapshots);
        self.now += secs;
        self.wall += secs;
        self.turn();
        self.flush();
        self.counts.slept_secs += secs;
    }

    /// The daemon stops, having stored everything.
    pub(crate) fn stop(&mut self, down_secs: u64) {
        self.turn();
        self.flush();
        self.truth.say(at(self.now), &self.snapshot, self.snapshots);
        self.counts.stops += 1;
        self.down(down_secs);
    }

    /// The daemon is killed: what was not stored is gone, and nobody knows how long it still watched.
    pub(crate) fn kill(&mut self, down_secs: u64) {
        self.truth.say(at(self.now), &self.snapshot, self.snapshots);
        self.pending.clear();
        let (mark, _) = self.stored.mark.unwrap();
        self.truth.forget(at(mark + 1));
        self.counts.kills += 1;
        self.down(down_secs);
    }

    fn down(&mut self, secs: u64) {
        let ended = self.now;
        self.wall += secs;
        self.now = self.wall;
        if self.now <= ended {
            self.counts.steps_back += 1;
            self.counts.overtaken_secs += ended - self.now;
        }
        self.start();
    }

    /// As the daemon restores what was stored.
    fn start(&mut self) {
        let now = at(self.now);
        let Stored { mut rows, mut memory, mark } = self.stored.clone();
        let drift_secs = mark.map_or(0, |(_, drift)| drift);
        for (held, vouch) in &mut rows {
            held.last_change = held.last_change.shifted(drift_secs);
            *vouch = vouch.shifted(drift_secs);
        }
        for gone in &mut memory {
            gone.last_change = gone.last_change.shifted(drift_secs);
            gone.removed = gone.removed.shifted(drift_secs);
        }
        self.board = Board::restore(rows, memory, now);
        let before = mark.map(|(watched_until, drift_secs)| LastLife { watched_until: at(watched_until), drift_secs });
        self.publish();
        self.pending = record::of_start(&self.snapshot, before, now);
        self.watched = self.now;
        self.truth.forget(now);
        self.wall = self.now;
        self.flush();
    }

    /// What every turn of the daemon's task begins with.
    fn turn(&mut self) {
        self.pending.extend(record::of_time(&self.snapshot, at(self.watched), at(self.now)));
        self.watched = self.now;
    }

    fn note(&mut self, source: &Name, result: Result<Effects, Refusal>) {
        self.publish();
        let Ok(effects) = result else {
            self.counts.refused += 1;
            return;
        };
        self.pending.extend(record::of_effects(source, &effects, &self.board, at(self.now)));
        if effects.moves_the_revision() || !self.pending.is_empty() {
            self.flush();
        }
    }

    fn publish(&mut self) {
        self.snapshot = self.board.snapshot();
        self.snapshots += 1;
    }

    fn flush(&mut self) {
        let as_stored = |held: &Held| Held { last_change: held.stored_change(), clamped_from: None, ..held.clone() };
        let removed_as_stored = |gone: &Remembered| {
            let (last_change, removed) = gone.stored_times();
            Remembered { last_change, removed, clamped_from: None, ..gone.clone() }
        };
        let drift = i64::try_from(self.wall).unwrap() - i64::try_from(self.now).unwrap();
        self.stored = Stored {
            rows: self.snapshot.rows().map(|row| (as_stored(row.held), *row.vouch)).collect(),
            memory: self.board.remembered().map(removed_as_stored).collect(),
            mark: Some((self.now, drift)),
        };
        self.record.append(&mut self.pending);
        self.flushed = self.now;
    }
}

/// One thing that happens to a daemon in a random life.
pub(crate) fn something(life: &mut Life, random: &mut Random) {
    let driver = Name::of_source("driver").unwrap();
    let ci = Name::of_source("ci").unwrap();
    let report = |source: &Name, extent, rows, good_for| Report {
        source: source.clone(),
        extent,
        rows,
        good_for,
        sequence: None,
    };
    match random.below(100) {
        0..=44 => {
            let good_for = good_for(random);
            life.report(report(&driver, Extent::Full, rows(&DRIVEN, 6, random), good_for));
        }
        45..=69 => {
            let good_for = good_for(random);
            life.report(report(&ci, Extent::Partial, rows(&BUILT, 2, random), good_for));
        }
        70..=79 => {
            // A follower, whose upstream has lost some of its rows.
            let mut rows = rows(&["up/a", "up/b", "dev"], 2, random);
            for row in &mut rows {
                row.lapsed_secs = random.one_in(2).then(|| random.below(4_000));
            }
            let follower = Name::of_source("follow").unwrap();
            let extent = if random.one_in(2) { Extent::Full } else { Extent::Partial };
            life.report(report(&follower, extent, rows, GoodFor::Seconds(30 + random.below(300))));
        }
        80..=87 => life.remove(&ci, random.pick::<&str>(&BUILT)),
        88..=89 => life.remove_source(&driver),
        90..=93 => life.step_wall(i64::try_from(random.below(7_200)).unwrap() - 3_600),
        94..=95 => life.stop(random.below(400)),
        96 => life.sleep(61 + random.below(4_000)),
        _ => life.kill(random.below(400)),
    }
}

const DRIVEN: [&str; 5] = ["dev", "lane", "merge", "feature-x", "blue/green"];
const BUILT: [&str; 4] = ["ci-1", "ci-2", "lane", "quoted\u{22}"];

fn good_for(random: &mut Random) -> GoodFor {
    match random.below(10) {
        0 => GoodFor::Forever,
        1 => GoodFor::UntilRestart,
        2 => GoodFor::Seconds(1 + random.below(20)),
        3..=6 => GoodFor::Seconds(600),
        _ => GoodFor::Seconds(60 + random.below(20_000)),
    }
}

/// Some of these rows, mostly as they were, so that identical reports and rows that come back are common.
fn rows(names: &[&str], most: u64, random: &mut Random) -> Vec<ReportedRow> {
    let mut rows: Vec<ReportedRow> = Vec::new();
    for _ in 0..=random.below(most) {
        let name = *random.pick(names);
        if rows.iter().any(|row| *row.name == *name) {
            continue;
        }
        let green = random.below(8) > 0;
        let serves = green && random.below(4) > 0;
        rows.push(ReportedRow {
            name: name.into(),
            serving_sha: serves.then(|| (*random.pick(&["a1", "a1", "a1", "b2"])).into()),
            last_green: green.then(|| "a1".into()),
            phase: Some((*random.pick(&["idle", "idle", "building"])).into()),
            idle_secs: random.one_in(4).then(|| random.below(200_000)),
            ..ReportedRow::default()
        });
    }
    rows
}

/// How often each kind of event stands in a record.
pub(crate) fn kinds(record: &[Event]) -> [usize; 5] {
    let mut kinds = [0; 5];
    for event in record {
        kinds[match event.what {
            Happening::Changed { .. } => 0,
            Happening::Removed { .. } => 1,
            Happening::Lapsed { .. } => 2,
            Happening::CameBack { .. } => 3,
            Happening::Started { .. } | Happening::Resumed { .. } | Happening::Retold { .. } => 4,
        }] += 1;
    }
    kinds
}

/// Plays a life of so many seconds from a seed, with something happening every so many seconds on average. Its window
/// goes beyond it on both sides: a clock may step before the beginning, and beyond the end.
pub(crate) fn played(seed: u64, secs: u64, every_secs: u64) -> Life {
    let mut random = Random(seed);
    let window = Window { from: at(BEGIN - 20_000), to: at(BEGIN + secs + 20_000) };
    let mut life = Life::begin(BEGIN, Truth::of(window));
    for _ in 0..secs {
        while random.one_in(every_secs) {
            something(&mut life, &mut random);
        }
        life.pass_second();
    }
    life.stop(0);
    life
}
