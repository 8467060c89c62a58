use std::sync::{Condvar, Mutex};

use greenlight_core::history::{Happening, Past};
use greenlight_core::{Extent, GoodFor, Report, ReportedRow};

use super::super::pending::MAX_EVENTS;
use super::*;
use crate::store::{Loaded, StoreError};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Mood {
    #[default]
    Good,
    Bad,
    /// Answers nothing until it is in another.
    Absent,
}

/// A store with moods, and the batches that it took.
#[derive(Clone, Default)]
struct Moody(Arc<(Mutex<Mood>, Condvar, Mutex<Vec<Batch>>)>);

impl Moody {
    fn is(&self, mood: Mood) {
        *self.0.0.lock().unwrap() = mood;
        self.0.1.notify_all();
    }

    fn batches(&self) -> Vec<Batch> {
        self.0.2.lock().unwrap().clone()
    }

    fn events(&self) -> Vec<Event> {
        self.batches().into_iter().flat_map(|batch| batch.events).collect()
    }
}

impl Store for Moody {
    fn load(&mut self) -> Result<Loaded, StoreError> {
        Ok(Loaded::default())
    }

    fn append(&mut self, batch: &Batch) -> Result<(), StoreError> {
        let mood = *self.0.1.wait_while(self.0.0.lock().unwrap(), |mood| *mood == Mood::Absent).unwrap();
        if mood == Mood::Bad {
            return Err(StoreError::Io("in a mood".to_owned()));
        }
        self.0.2.lock().unwrap().push(batch.clone());
        Ok(())
    }
}

/// A board with two rows that change with every report, and its keeper.
struct Life {
    store: Moody,
    board: Board,
    keeper: Keeper,
}

/// Longer than any test runs.
const FOREVER: Duration = Duration::from_hours(1);

fn at(secs: u64) -> UnixSeconds {
    UnixSeconds::new(secs)
}

impl Life {
    fn new() -> Self {
        let (store, board) = (Moody::default(), Board::new());
        let keeper = Keeper::new(Box::new(store.clone()), Some(board.snapshot()), FOREVER).unwrap();
        Self { store, board, keeper }
    }

    fn report(&mut self, secs: u64) {
        self.report_on(&["dev", "lane"], secs);
    }

    fn report_on(&mut self, names: &[&str], secs: u64) {
        let source = Name::of_source("driver").unwrap();
        let rows = names.iter().map(|name| ReportedRow {
            name: (*name).into(),
            serving_sha: Some(format!("{secs}").into()),
            ..ReportedRow::default()
        });
        let report = Report {
            source: source.clone(),
            extent: Extent::Full,
            rows: rows.collect(),
            good_for: GoodFor::Seconds(5),
            sequence: None,
        };
        let effects = self.board.report(report, at(secs)).unwrap();
        for event in record::of_effects(&source, &effects, &self.board, at(secs)) {
            self.keeper.note(event);
        }
        self.keeper.note_memory(&effects.removed, &effects.forgotten);
        self.flush(secs);
    }

    fn flush(&mut self, secs: u64) {
        let mark = Mark { at_unix: at(secs), drift_secs: 0 };
        self.keeper.flush(&self.board, &self.board.snapshot(), mark, UnixSeconds::default());
    }

    /// A report that the store, which is away from then on, does not answer.
    fn report_to_nobody(&mut self, secs: u64) {
        self.store.is(Mood::Absent);
        self.keeper.writer.patience = Duration::ZERO;
        self.report(secs);
        // Whatever is waited for from now on is waited for in vain.
        self.keeper.writer.patience = FOREVER;
    }

    /// The store does again what it did not, in this mood, and is listened to.
    fn returns(&mut self, mood: Mood, secs: u64) {
        self.store.is(mood);
        self.keeper.try_a_last_time(at(secs));
        self.store.is(Mood::Good);
        self.flush(secs);
    }

    /// The history that the store has leads to the board, and no moment of it is told twice.
    #[track_caller]
    fn is_told(&self) {
        let mut past = Past::new();
        for event in &self.store.events() {
            past.apply(event);
        }
        for row in self.board.snapshot().rows() {
            let told = past.named(row.name()).unwrap();
            assert_eq!((&told.held.row, told.held.last_change), (&row.held.row, row.held.last_change));
        }
        assert_eq!(past.rows().count(), self.board.snapshot().len());
        assert_eq!(self.keeper.health(), StoreHealth { durable: true, trouble: None });
    }
}

/// When each change of `dev` is told of.
fn changes(events: &[Event]) -> Vec<u64> {
    let of_dev = |event: &&Event| matches!(&event.what, Happening::Changed { name, .. } if name.as_str() == "dev");
    events.iter().filter(of_dev).map(|event| event.at_unix.as_secs()).collect()
}

fn missing_since(events: &[Event]) -> Option<UnixSeconds> {
    events.iter().find_map(|event| match event.what {
        Happening::Retold { missing_since_unix } => missing_since_unix,
        _ => None,
    })
}

#[test]
fn after_a_hole_in_history_the_board_is_told_anew() {
    let mut life = Life::new();
    life.report(10);
    life.store.is(Mood::Bad);
    // Two rows each: so many are more than can wait.
    let last = 10 + u64::try_from(MAX_EVENTS).unwrap();
    for secs in 11..=last {
        life.report(secs);
    }
    assert!(!life.keeper.health().durable);
    life.store.is(Mood::Good);
    life.report(last + MAX_WAIT_SECS);
    let events = life.store.batches().pop().unwrap().events;
    let waited = events.iter().rev().find(|event| event.at_unix < at(last)).unwrap().at_unix;
    assert!(missing_since(&events).unwrap() >= waited, "nothing that waited comes after the beginning of the hole");
    life.is_told();
    // And goes on as before.
    life.report(last + 100);
    assert_eq!(life.store.batches().pop().unwrap().events.len(), 2);
}

#[test]
fn a_store_that_hangs_is_in_trouble_and_what_it_kept_all_the_same_is_told_once() {
    let mut life = Life::new();
    life.report(10);
    life.report_to_nobody(11);
    let trouble = StoreHealth { durable: false, trouble: Some(NO_ANSWER.to_owned()) };
    assert_eq!(life.keeper.health(), trouble);
    // Nobody waits for it any more.
    (12..=20).for_each(|secs| life.report(secs));
    assert_eq!((life.keeper.health(), life.keeper.retry_at()), (trouble, Some(at(20 + LOOK_EVERY_SECS))));
    assert_eq!(life.store.batches().len(), 1);

    life.returns(Mood::Good, 21);
    let batches = life.store.batches();
    let whole: Vec<bool> = batches.iter().map(|batch| batch.replaces_all).collect();
    assert_eq!(whole, [false; 3], "what it was given last is there: only the difference is lacking");
    assert_eq!(changes(&life.store.events()), (10..=20).collect::<Vec<_>>());
    life.is_told();
}

#[test]
fn a_store_that_hangs_and_then_refuses_gets_all_of_it_when_it_is_well() {
    let mut life = Life::new();
    life.report(10);
    life.report_to_nobody(11);
    (12..=20).for_each(|secs| life.report(secs));
    life.returns(Mood::Bad, 21);
    let batches = life.store.batches();
    assert!(batches.len() == 2 && batches[1].replaces_all && batches[1].rows.len() == 2);
    assert_eq!(changes(&life.store.events()), (10..=20).collect::<Vec<_>>());
    life.is_told();
}

#[test]
fn what_does_not_fit_beside_what_a_hanging_store_has_is_a_hole_and_is_told_of() {
    for mood in [Mood::Good, Mood::Bad] {
        let mut life = Life::new();
        life.report(10);
        life.report_to_nobody(11);
        let last = 11 + u64::try_from(MAX_EVENTS).unwrap();
        (12..=last).for_each(|secs| life.report(secs));
        life.returns(mood, last + 1);
        let events = life.store.events();
        // Two events for each second, the eleventh's among those that wait.
        let full = 11 + u64::try_from(MAX_EVENTS / 2).unwrap();
        assert_eq!(missing_since(&events), Some(at(full)), "{mood:?}");
        assert_eq!(changes(&events), (10..full).chain([last + 1]).collect::<Vec<_>>(), "{mood:?}");
        life.is_told();
    }
}

#[test]
fn a_row_that_left_while_the_store_hung_is_remembered_by_it() {
    let mut life = Life::new();
    life.report(10);
    life.report_to_nobody(11);
    life.report_on(&["dev"], 12);
    life.returns(Mood::Good, 13);
    let last = life.store.batches().pop().unwrap();
    assert!(!last.replaces_all && last.removed.len() == 1);
    let remembered: Vec<_> = last.remembered.iter().map(|gone| gone.name.as_str()).collect();
    assert_eq!(remembered, ["lane"]);
    life.is_told();
}

#[test]
fn the_last_attempt_is_made_whatever_trouble_there_is() {
    let mut life = Life::new();
    life.store.is(Mood::Bad);
    life.report(10);
    life.store.is(Mood::Good);
    life.keeper.try_a_last_time(at(10));
    life.flush(10);
    life.is_told();
}
