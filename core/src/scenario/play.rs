//! Playing a scenario: each step onto a board and a rotation, each expectation compared.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use super::{Action, Expectation, Miss, Removal, RotationExpectation, RowExpectation, Scenario, ScenarioReport, Step};
use crate::board::Board;
use crate::name::Name;
use crate::readiness::Judgement;
use crate::report::{Effects, Extent, Refusal, Report};
use crate::rotation::{Answer, Member, Rotation};
use crate::row::GoodFor;
use crate::snapshot::{RowView, Snapshot};
use crate::time::{Horizon, UnixSeconds};

/// Plays a scenario and gives the expectations that do not hold, none when all do.
pub fn play(scenario: &Scenario) -> Vec<Miss> {
    let mut board = Board::new();
    let mut rotation = Rotation::new();
    let mut ids = BTreeMap::new();
    let mut misses = Vec::new();
    for (number, Step { at, action }) in (1_usize..).zip(&scenario.steps) {
        let mut misses = Misses { step: number, at: *at, all: &mut misses };
        // Every step that a moment matters to has one: see its reading.
        let now = at.unwrap_or_default();
        match action {
            Action::Report { report, refused } => {
                let expected = if *refused { "refused" } else { "accepted" };
                match (take(&mut board, report, now), refused) {
                    (Ok(_), false) | (Err(_), true) => {}
                    (Ok(_), true) => misses.add("report", expected, "accepted"),
                    (Err(refusal), false) => misses.add("report", expected, &format!("refused: {refusal}")),
                }
            }
            Action::Remove(Removal { source, name }) => {
                if let Err(refusal) = board.remove(source, name, now) {
                    misses.add("remove", "accepted", &format!("refused: {refusal}"));
                }
            }
            Action::Restart => board.restart(now),
            Action::Expect(expectation) => {
                let horizon = expectation.stale_after_secs.unwrap_or(scenario.stale_after_secs);
                compare(expectation, &board.snapshot(), horizon, now, &mut misses);
            }
            Action::Answer { member, answer } => {
                let id = *ids
                    .entry(member.clone())
                    .or_insert_with(|| rotation.add(Member::new(member.clone(), scenario.rotation, None, now)));
                rotation.handle(id, Answer::from(*answer), now);
            }
            Action::ExpectRotation(expectation) => compare_rotation(expectation, &rotation, &mut misses),
        }
    }
    misses
}

fn compare_rotation(expected: &RotationExpectation, got: &Rotation<UnixSeconds>, misses: &mut Misses<'_>) {
    let members_in: Vec<String> = got.members_in().map(|(_, member)| member.name().as_str().into()).collect();
    misses.check("rotation.in", expected.members_in.as_ref(), &members_in);
    let moves = got.members().fold(0_u64, |sum, (_, member)| sum.saturating_add(member.moves()));
    misses.check("rotation.moves", expected.moves.as_ref(), &moves);
}

fn take(board: &mut Board, report: &ScenarioReport, now: UnixSeconds) -> Result<Effects, Refusal> {
    let source = Name::of_source(&report.source).map_err(Refusal::Source)?;
    let report = Report {
        source,
        extent: if report.partial { Extent::Partial } else { Extent::Full },
        rows: report.instances.clone(),
        good_for: report.good_for_secs.unwrap_or(GoodFor::UntilRestart),
        sequence: report.sequence,
    };
    board.report(report, now)
}

fn compare(expected: &Expectation, snapshot: &Snapshot, horizon: Horizon, now: UnixSeconds, misses: &mut Misses<'_>) {
    let Judgement { ready, reason, lists } = snapshot.judge(horizon, now);
    misses.check("ready", expected.ready.as_ref(), &ready);
    misses.check("reason", expected.reason.as_ref(), &reason);
    for (what, expected, got) in [
        ("serving", &expected.serving, &lists.serving),
        ("live_degraded", &expected.live_degraded, &lists.live_degraded),
        ("stale_degraded", &expected.stale_degraded, &lists.stale_degraded),
        ("never_green", &expected.never_green, &lists.never_green),
        ("unconfirmed", &expected.unconfirmed, &lists.unconfirmed),
    ] {
        let got: Vec<String> = got.iter().map(|name| name.as_str().into()).collect();
        misses.check(what, expected.as_ref(), &got);
    }
    misses.check("flips", expected.flips.as_ref(), &lists.flips);
    for (name, expected) in &expected.rows {
        match snapshot.named(name) {
            Some(row) => compare_row(name, expected, row, (horizon, now), misses),
            None => misses.add(&format!("rows.{name}"), "a row", "none of that name"),
        }
    }
}

fn compare_row(
    name: &str,
    expected: &RowExpectation,
    row: RowView<'_>,
    (horizon, now): (Horizon, UnixSeconds),
    misses: &mut Misses<'_>,
) {
    let what = |field: &str| format!("rows.{name}.{field}");
    misses.check(&what("last_change_unix"), expected.last_change_unix.as_ref(), &row.held.last_change);
    misses.check(&what("idle_secs"), expected.idle_secs.as_ref(), &row.idle_secs(now));
    misses.check(&what("stale"), expected.stale.as_ref(), &row.is_stale(horizon, now));
    misses.check(&what("standing"), expected.standing.as_ref(), &row.standing(horizon, now));
    misses.check(&what("since_unix"), expected.since_unix.as_ref(), &row.since(now));
    misses.check(&what("ages_out_unix"), expected.ages_out_unix.as_ref(), &row.ages_out(horizon, now));
}

/// Where the misses of one step go.
struct Misses<'a> {
    step: usize,
    at: Option<UnixSeconds>,
    all: &'a mut Vec<Miss>,
}

impl Misses<'_> {
    fn check<T: PartialEq + fmt::Debug>(&mut self, what: &str, expected: Option<&T>, got: &T) {
        if let Some(expected) = expected
            && expected != got
        {
            self.add(what, &format!("{expected:?}"), &format!("{got:?}"));
        }
    }

    fn add(&mut self, what: &str, expected: &str, got: &str) {
        self.all.push(Miss {
            step: self.step,
            at: self.at,
            what: what.into(),
            expected: expected.into(),
            got: got.into(),
        });
    }
}
