//! Generated lives, played second by second and replayed from their records.

use greenlight_core::UnixSeconds;
use greenlight_core::history::{Event, Lives, Past, Said, Sums, Sweep, Told, Window, record};

use crate::courses::check_course;
use crate::life::{at, kinds, played};
use crate::random::Random;
use crate::truth::HORIZONS;

const DAY: u64 = 86_400;
/// Places of the horizons that are compared.
pub(crate) const COMPARED: [[usize; 2]; 2] = [[2, 1], [2, 4]];

pub(crate) fn replayed(record: &[Event], window: Window, known_until: UnixSeconds) -> Vec<Told> {
    let mut lives = Lives::default();
    for event in record {
        lives.note(event);
    }
    let mut told = Vec::new();
    let mut tell = |span| told.push(span);
    let mut sweep = Sweep::new(window, &HORIZONS, lives);
    for [one, other] in COMPARED {
        sweep = sweep.comparing(one, other);
    }
    for event in record {
        sweep.push(event, &mut tell);
    }
    sweep.finish(known_until, &mut tell);
    told
}

#[track_caller]
fn check(seed: u64, secs: u64, every_secs: u64) {
    let life = played(seed, secs, every_secs);
    println!("seed {seed}: {:?}, {:?}", life.counts, kinds(&life.record));
    // The last start was at the end of the life, so that its one second was not said.
    let told = replayed(&life.record, life.truth.window, at(life.now));
    life.truth.check(&told);
    check_course(&life.record, life.truth.window, at(life.now), &told);
    for lane in 0..HORIZONS.len() {
        let mut sums = Sums::default();
        for told in &told {
            sums.add(lane, told);
        }
        let ready = life.truth.secs(lane, |said| *said == Said::Ready);
        let dark = life.truth.secs(lane, |said| *said == Said::NotWatching);
        assert_eq!((sums.verdict.ready_secs, sums.verdict.not_watched_secs), (ready, dark));
    }
}

#[test]
fn a_week_replayed_is_the_week_that_was() {
    check(1, 7 * DAY, 120);
}

#[test]
fn eventful_days_replayed_are_the_days_that_were() {
    for seed in 100..112 {
        check(seed, 4 * 3_600, 40);
    }
}

#[test]
fn many_things_in_one_second_are_what_they_come_to() {
    for seed in 200..208 {
        check(seed, 1_800, 2);
    }
}

#[test]
fn a_record_that_begins_later_says_the_same_of_what_follows() {
    for seed in 300..306 {
        let life = played(seed, 3 * 3_600, 30);
        let mut random = Random(seed);
        let cut = usize::try_from(random.below(life.record.len() as u64)).unwrap();
        let mut past = Past::new();
        for event in &life.record[..cut] {
            past.apply(event);
        }
        let mut record: Vec<Event> = record::of_board(past.rows().collect(), None, past.latest()).collect();
        record.extend_from_slice(&life.record[cut..]);
        let lost_until = record.iter().map(|event| event.at_unix).min().unwrap();
        let window = Window { from: life.truth.window.from.max(record[0].at_unix), ..life.truth.window };
        println!("seed {seed}: from event {cut} of {} on, {lost_until}", life.record.len());
        // Spans that end together come in the order of places, which another beginning gives to other rows.
        let spans = |record| {
            let mut spans: Vec<String> =
                replayed(record, window, at(life.now)).iter().map(|told| format!("{told:?}")).collect();
            spans.sort();
            spans
        };
        for (cut, whole) in spans(&record).iter().zip(&spans(&life.record)) {
            assert_eq!(cut, whole);
        }
    }
}
