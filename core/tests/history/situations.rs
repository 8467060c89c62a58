//! Situations by hand: what is said where, to the second.

use greenlight_core::history::{Event, Line, Question, Sums, Told, Window, answer, record};
use greenlight_core::{Extent, GoodFor, Horizon, Name, Report, ReportedRow};

use crate::life::{Life, at};
use crate::truth::{HORIZONS, Truth};
use crate::weeks::replayed;

const HOUR: usize = 2;
const NEVER: usize = 4;

fn life() -> Life {
    Life::begin(1_000, Truth::of(Window { from: at(0), to: at(20_000) }))
}

fn row(name: &str, serves: bool) -> ReportedRow {
    ReportedRow {
        name: name.into(),
        serving_sha: serves.then(|| "a1".into()),
        last_green: Some("a1".into()),
        ..ReportedRow::default()
    }
}

fn report(life: &mut Life, rows: Vec<ReportedRow>, good_for: GoodFor) {
    let source = Name::of_source("driver").unwrap();
    life.report(Report { source, extent: Extent::Full, rows, good_for, sequence: None });
}

fn until(life: &mut Life, moment: u64) {
    while life.now < moment {
        life.pass_second();
    }
}

/// The verdict under one horizon, a word for each span: `1000 ready`, `4600 not_ready lane`.
fn said(told: &[Told], lane: usize) -> Vec<String> {
    let mut said = Vec::new();
    for told in told {
        if let Told::Verdict(span) = told
            && span.lane == lane
        {
            let json = Line::Span { told, horizons: &HORIZONS }.to_string();
            let json: serde_json::Value = serde_json::from_str(&json).unwrap();
            let blame = json["blame"]
                .as_array()
                .map(|names| names.iter().map(|name| format!(" {}", name.as_str().unwrap())).collect::<String>());
            said.push(format!("{} {}{}", span.from, json["said"].as_str().unwrap(), blame.unwrap_or_default()));
        }
    }
    said
}

#[track_caller]
fn check(life: &Life, window: (u64, u64), lane: usize, expected: &[&str]) -> Vec<Told> {
    let window = Window { from: at(window.0), to: at(window.1) };
    let told = replayed(&life.record, window, at(life.now));
    assert_eq!(said(&told, lane), expected);
    told
}

fn sums(told: &[Told], lane: usize) -> Sums {
    let mut sums = Sums::default();
    for told in told {
        sums.add(lane, told);
    }
    sums
}

#[test]
fn a_dead_row_vetoes_until_exactly_the_horizon_and_is_masked_from_then_on() {
    let mut life = life();
    report(&mut life, vec![row("dev", true), row("x", false)], GoodFor::Forever);
    until(&mut life, 6_000);
    let told = check(&life, (1_000, 6_000), HOUR, &["1000 not_ready x", "4600 ready"]);
    let hour = sums(&told, HOUR);
    assert_eq!((hour.verdict.not_ready_secs, hour.verdict.flips), (3_600, 1));
    assert_eq!((hour.instances["x"].vetoed_secs, hour.instances["x"].masked_secs), (3_600, 1_400));
    check(&life, (1_000, 6_000), NEVER, &["1000 not_ready x"]);
    let differences: Vec<String> = told
        .iter()
        .filter(|told| matches!(told, Told::Difference(span) if span.not_ready == NEVER))
        .map(|told| Line::Span { told, horizons: &HORIZONS }.to_string())
        .collect();
    assert_eq!(
        differences,
        [
            r#"{"span":"difference","ready_under_secs":3600,"not_ready_under_secs":null,"from_unix":4600,"to_unix":6000,"rows":["x"],"more":0}"#
        ]
    );
}

#[test]
fn a_source_that_falls_silent_takes_its_serving_with_it_at_that_second() {
    let mut life = life();
    report(&mut life, vec![row("dev", true)], GoodFor::Seconds(90));
    until(&mut life, 1_200);
    report(&mut life, vec![row("dev", true)], GoodFor::Seconds(90));
    until(&mut life, 1_250);
    check(&life, (0, 1_250), HOUR, &["0 not_watching", "1000 ready", "1090 not_ready dev", "1200 ready"]);
}

#[test]
fn where_nobody_watched_it_is_neither_up_nor_down_and_no_flip() {
    let mut life = life();
    report(&mut life, vec![row("dev", true)], GoodFor::Seconds(600));
    until(&mut life, 1_017);
    // Killed: the last sign of life was at 1010.
    life.kill(83);
    until(&mut life, 1_150);
    report(&mut life, vec![row("dev", true)], GoodFor::Seconds(600));
    until(&mut life, 1_200);
    life.stop(0);
    let expected = ["1000 ready", "1011 not_watching", "1100 not_ready dev", "1150 ready", "1200 not_watching"];
    let told = check(&life, (1_000, 1_300), HOUR, &expected);
    check(&life, (1_000, 1_300), NEVER, &expected);
    let sums = sums(&told, HOUR);
    assert_eq!((sums.verdict.flips, sums.verdict.longest_not_ready_secs, sums.verdict.not_watched_secs), (1, 50, 189));
    assert_eq!(sums.instances["dev"].not_watched_secs, 189);
}

#[test]
fn a_daemon_that_slept_was_not_watching_and_what_lapsed_meanwhile_is_as_old_as_it_is() {
    let mut life = life();
    report(&mut life, vec![row("dev", true)], GoodFor::Seconds(600));
    until(&mut life, 1_100);
    life.sleep(4_000);
    until(&mut life, 5_250);
    let told = check(&life, (1_000, 5_250), HOUR, &["1000 ready", "1101 not_watching", "5100 not_ready dev"]);
    let told_of_dev: Vec<_> = told
        .iter()
        .filter_map(|told| match told {
            Told::Standing(span) if span.lane == HOUR => Some((span.from.as_secs(), span.stood.as_str())),
            Told::Verdict(_) | Told::Standing(_) | Told::Difference(_) => None,
        })
        .collect();
    // It lapsed at 1600, and ages out an hour later.
    let expected = [(1_000, "serving"), (1_101, "not_watching"), (5_100, "live_degraded"), (5_200, "stale_degraded")];
    assert_eq!(told_of_dev, expected);
}

#[test]
fn a_window_that_begins_where_nobody_watched_says_so() {
    let mut life = life();
    report(&mut life, vec![row("dev", true)], GoodFor::Forever);
    until(&mut life, 1_050);
    life.stop(100);
    until(&mut life, 1_200);
    check(&life, (1_100, 1_200), HOUR, &["1100 not_watching", "1150 ready"]);
    check(&life, (1_160, 1_200), HOUR, &["1160 ready"]);
    check(&life, (1_200, 1_200), HOUR, &[]);
}

#[test]
fn a_life_that_begins_before_the_last_one_ended_holds_from_its_start() {
    let mut life = life();
    report(&mut life, vec![row("dev", true)], GoodFor::Seconds(600));
    until(&mut life, 1_500);
    life.step_wall(-400);
    until(&mut life, 1_510);
    // Nobody vouches any more, and what was said of 1130 to 1510 is overtaken.
    life.stop(20);
    assert_eq!(life.now, 1_130);
    until(&mut life, 1_200);
    check(&life, (1_000, 1_300), HOUR, &["1000 ready", "1130 not_ready dev", "1200 not_watching"]);
    life.truth.check(&replayed(&life.record, life.truth.window, at(life.now)));
}

#[test]
fn after_a_step_of_the_clock_and_a_restart_a_row_is_as_old_as_it_was() {
    let mut life = life();
    report(&mut life, vec![row("dev", true), row("x", false)], GoodFor::Forever);
    until(&mut life, 3_000);
    life.step_wall(5_000);
    life.stop(100);
    // x has been out for 2100 s, whatever the clock says.
    assert_eq!(life.now, 8_100);
    until(&mut life, 10_000);
    check(&life, (1_000, 10_000), HOUR, &["1000 not_ready x", "3001 not_watching", "8100 not_ready x", "9600 ready"]);
}

#[test]
fn beyond_what_is_known_nobody_watched() {
    let mut life = life();
    report(&mut life, vec![row("dev", true)], GoodFor::Forever);
    let window = Window { from: at(900), to: at(2_000) };
    let told = replayed(&life.record, window, at(1_500));
    assert_eq!(said(&told, HOUR), ["900 not_watching", "1000 ready", "1500 not_watching"]);
    assert_eq!(said(&replayed(&[], window, at(1_500)), HOUR), ["900 not_watching"]);
}

#[test]
fn of_many_rows_to_blame_the_first_are_named_and_the_others_counted() {
    let mut life = life();
    let mut rows: Vec<ReportedRow> = (0..40).map(|number| row(&format!("i{number:02}"), false)).collect();
    rows.push(row("dev", true));
    report(&mut life, rows, GoodFor::Forever);
    until(&mut life, 1_010);
    let told = replayed(&life.record, Window { from: at(1_000), to: at(1_010) }, at(1_010));
    let verdict = told.iter().find(|told| matches!(told, Told::Verdict(span) if span.lane == HOUR)).unwrap();
    let json = Line::Span { told: verdict, horizons: &HORIZONS }.to_string();
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(
        (json["blame"].as_array().unwrap().len(), &json["blame"][31], &json["more"]),
        (32, &"i31".into(), &8.into())
    );
}

/// The same files are answered in wasm, to the same bytes.
#[test]
fn a_record_in_json_is_answered_in_json_to_the_byte() {
    let asked = include_str!("../../../tests/history/asked.json");
    let question: Question = serde_json::from_str(asked).unwrap();
    let answered = answer(&question);
    for line in answered.lines() {
        serde_json::from_str::<serde_json::Value>(line).unwrap();
    }
    assert_eq!(answered, include_str!("../../../tests/history/answered.jsonl"), "{answered}");
}

#[test]
fn what_was_recorded_is_read_as_it_was_written() {
    let mut life = life();
    report(&mut life, vec![row("dev", true), row("x", false)], GoodFor::Seconds(100));
    until(&mut life, 1_150);
    life.step_wall(-40);
    life.stop(0);
    let snapshot = life.board.snapshot();
    life.record.extend(record::of_board(snapshot.rows().collect(), Some(at(1_120)), at(life.now)));
    for event in &life.record {
        let json = serde_json::to_string(event).unwrap();
        assert_eq!(serde_json::from_str::<Event>(&json).unwrap(), *event, "{json}");
    }
}

#[test]
fn a_list_of_no_horizons_is_answered_with_nothing() {
    let question = Question {
        from_unix: at(0),
        to_unix: at(10),
        stale_after_secs: Vec::<Horizon>::new(),
        events: life().record,
        known_until_unix: None,
    };
    assert_eq!(answer(&question), "");
}
