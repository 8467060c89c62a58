//! Boards with what the rules make of them natively, one JSON line each: what the page's wasm must make of them too.
//!
//! `judged_boards SEED COUNT` makes boards from a seed, by reports; `judged_boards SCENARIO…` plays files and stops at
//! each expectation.

use std::io::{self, BufWriter, Write};

use greenlight_core::scenario::{Action, Scenario, ScenarioReport};
use greenlight_core::{
    Board, Effects, Extent, GoodFor, Horizon, MAX_INTEGER, Name, Refusal, Renewed, Report, ReportedRow, RowView,
    Snapshot, UnixSeconds,
};
use greenlight_tests::{Asked, Dice};
use serde_json::{Value, json};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut out = BufWriter::new(io::stdout().lock());
    match Asked::here()? {
        Asked::Generated { mut dice, count } => {
            for _ in 0..count {
                writeln!(out, "{}", generated(&mut dice)?)?;
            }
        }
        Asked::Files(files) => {
            for file in &files {
                for line in played(&serde_json::from_str(&std::fs::read_to_string(file)?)?)? {
                    writeln!(out, "{line}")?;
                }
            }
        }
    }
    out.flush()?;
    Ok(())
}

/// A board made by a few reports, then one more report that the page hears of as events.
fn generated(dice: &mut Dice) -> Result<Value, Refusal> {
    let mut board = Board::new();
    let mut now = *dice.one_of(&[0, 1_000_000, 1_785_740_400, MAX_INTEGER - 1_000_000]);
    for _ in 0..dice.below(6) {
        board.report(report(dice)?, UnixSeconds::new(now)).ok();
        now = now.saturating_add(*dice.one_of(&[0, 1, 59, 60, 3599, 3600, 3601, 100_000]));
        if dice.below(8) == 0 {
            board.restart(UnixSeconds::new(now));
        }
    }
    let own = horizon(dice);
    let app = app(&board, own, now);
    let mut events = Vec::new();
    for _ in 0..dice.below(3) {
        now = now.saturating_add(dice.below(5000));
        let report = report(dice)?;
        // A report without rows that removes none is told to nobody, though it is one.
        if report.rows.is_empty() {
            continue;
        }
        if let Ok(effects) = board.report(report, UnixSeconds::new(now)) {
            events.extend(told(&board, &effects));
        }
    }
    // Also moments before the last report, and at the very ends of time.
    let asked = match dice.below(8) {
        0 => 0,
        1 => MAX_INTEGER,
        2 => now.saturating_sub(dice.below(10_000)),
        3 => now,
        _ => now.saturating_add(*dice.one_of(&[1, 59, 60, 61, 3599, 3600, 3601, 7200])),
    };
    let what_if = horizon(dice);
    Ok(json!({
        "app": app, "events": events, "now": asked,
        "own": judged(&board.snapshot(), own, asked),
        "stale_after": what_if, "what_if": judged(&board.snapshot(), what_if, asked),
    }))
}

/// The board at each expectation of a scenario.
fn played(scenario: &Scenario) -> Result<Vec<Value>, Refusal> {
    let mut board = Board::new();
    let mut lines = Vec::new();
    for step in &scenario.steps {
        // Steps of rotation need no moment.
        let at = step.at.unwrap_or_default();
        match &step.action {
            Action::Report { report, .. } => {
                board.report(of_scenario(report)?, at).ok();
            }
            Action::Remove(removal) => {
                board.remove(&removal.source, &removal.name, at).ok();
            }
            Action::Restart => board.restart(at),
            Action::Expect(expectation) => {
                let (own, now) = (scenario.stale_after_secs, at.as_secs());
                let what_if = expectation.stale_after_secs.unwrap_or(own);
                lines.push(json!({
                    "app": app(&board, own, now), "events": [], "now": now,
                    "own": judged(&board.snapshot(), own, now),
                    "stale_after": what_if, "what_if": judged(&board.snapshot(), what_if, now),
                }));
            }
            Action::Answer { .. } | Action::ExpectRotation(_) => {}
        }
    }
    Ok(lines)
}

fn of_scenario(report: &ScenarioReport) -> Result<Report, Refusal> {
    Ok(Report {
        source: Name::of_source(&report.source).map_err(Refusal::Source)?,
        extent: if report.partial { Extent::Partial } else { Extent::Full },
        rows: report.instances.clone(),
        good_for: report.good_for_secs.unwrap_or(GoodFor::UntilRestart),
        sequence: report.sequence,
    })
}

/// Everything that the wasm is asked, as it is to answer.
fn judged(snapshot: &Snapshot, horizon: Horizon, now: u64) -> Value {
    let now = UnixSeconds::new(now);
    let mut verdict = json!(snapshot.judge(horizon, now));
    verdict["text"] = snapshot.verdict(horizon, now).to_string().into();
    let each = |of: &dyn Fn(RowView<'_>) -> Value| -> Value { snapshot.rows().map(of).collect() };
    json!({
        "verdict": verdict,
        "blocking": snapshot.verdict(horizon, now).blocking().map(|row| row.name().to_string()),
        "standings": each(&|row| row.standing(horizon, now).as_str().into()),
        "unconfirmed": each(&|row| u8::from(!row.is_confirmed(now)).into()),
        "since": each(&|row| row.since(now).as_secs().into()),
        "ages_out": each(&|row| json!(row.ages_out(horizon, now))),
        "order": snapshot.worst_first(horizon, now),
    })
}

/// As much of `/app` as a judgement follows from, and all of a row's names.
fn app(board: &Board, own: Horizon, started: u64) -> Value {
    let snapshot = board.snapshot();
    json!({
        "instances": snapshot.rows().map(row_on_the_wire).collect::<Vec<_>>(),
        "readiness": { "stale_after_secs": own },
        "started_unix": snapshot.unreported_since().map_or(started, UnixSeconds::as_secs),
        "reported_since_start": board.has_been_reported_to(),
    })
}

fn row_on_the_wire(row: RowView<'_>) -> Value {
    json!({
        "name": row.name(), "phase": row.held.row.phase,
        "serving_sha": row.held.row.serving_sha, "last_green": row.held.row.last_green,
        "source": row.held.source, "last_change_unix": row.held.last_change,
        "last_report_unix": row.vouch.last_report, "good_for_secs": row.vouch.good_for,
        "good_until_unix": row.vouch.good_until,
    })
}

/// The events by which the page hears of a report.
fn told(board: &Board, effects: &Effects) -> Vec<Value> {
    let vouch = |row: RowView<'_>| {
        json!({
            "name": row.name(), "source": row.held.source, "last_report_unix": row.vouch.last_report,
            "good_for_secs": row.vouch.good_for, "good_until_unix": row.vouch.good_until,
        })
    };
    let named = |names: &[Name]| -> Vec<Value> {
        names.iter().filter_map(|name| board.row(name.as_str())).map(row_on_the_wire).collect()
    };
    let mut events = Vec::new();
    if effects.moves_the_revision() {
        let mut rows = named(&effects.changed);
        rows.extend(named(&effects.touched));
        events.push(json!({ "rows": rows, "removed": effects.removed }));
    }
    match &effects.renewed {
        Renewed::Nothing => {}
        Renewed::Source(source) => {
            let rows: Vec<Value> =
                board.snapshot().rows().filter(|row| row.held.source == *source).map(vouch).collect();
            events.push(json!({ "sources": rows.into_iter().take(1).collect::<Vec<_>>(), "rows": [] }));
        }
        Renewed::Rows(some) => {
            let rows: Vec<Value> = some.iter().filter_map(|name| board.row(name.as_str())).map(vouch).collect();
            events.push(json!({ "sources": [], "rows": rows }));
        }
    }
    events
}

fn report(dice: &mut Dice) -> Result<Report, Refusal> {
    let rows = (0..dice.below(9))
        .map(|_| {
            let sha = |dice: &mut Dice| (dice.below(2) == 0).then(|| "a1".into());
            ReportedRow {
                name: format!("{}{}", dice.one_of::<&str>(&["slot-", "ü/", "\"q\\", "🚦"]), dice.below(12)).into(),
                phase: Some((*dice.one_of::<&str>(&["serving", "building", "idle"])).into()),
                serving_sha: sha(dice),
                last_green: sha(dice),
                idle_secs: (dice.below(4) == 0).then(|| dice.below(10_000)),
                ..ReportedRow::default()
            }
        })
        .collect::<Vec<_>>();
    let mut seen = std::collections::BTreeSet::new();
    Ok(Report {
        source: Name::of_source(dice.one_of::<&str>(&["driver", "ci", "probe"])).map_err(Refusal::Source)?,
        extent: if dice.below(3) == 0 { Extent::Partial } else { Extent::Full },
        rows: rows.into_iter().filter(|row| seen.insert(row.name.clone())).collect(),
        good_for: *dice.one_of(&[
            GoodFor::Seconds(1),
            GoodFor::Seconds(60),
            GoodFor::Seconds(3600),
            GoodFor::Seconds(MAX_INTEGER),
            GoodFor::UntilRestart,
            GoodFor::Forever,
        ]),
        sequence: None,
    })
}

fn horizon(dice: &mut Dice) -> Horizon {
    *dice.one_of(&[
        Horizon::DEFAULT,
        Horizon::Never,
        Horizon::After(0),
        Horizon::After(1),
        Horizon::After(60),
        Horizon::After(900),
        Horizon::After(604_800),
        Horizon::After(MAX_INTEGER),
    ])
}
