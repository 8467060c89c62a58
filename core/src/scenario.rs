//! Scenarios: a policy test that anybody can write, played through the rules with the times it names.
//!
//! The shapes below are those of the files; see the README for how to write one.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use serde::{Deserialize, Deserializer, Serialize};

use crate::board::Board;
use crate::name::Name;
use crate::readiness::{Flip, Reason};
use crate::report::{Extent, Refusal, Report};
use crate::rotation::{Answer, Cutting, Member, Refuser, Rotation, RotationPolicy, Silence};
use crate::row::{GoodFor, ReportedRow};
use crate::snapshot::{RowView, Snapshot};
use crate::standing::Standing;
use crate::time::{Horizon, UnixSeconds};

/// A scenario file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// What it shows, as a sentence.
    pub scenario: String,
    /// The horizon: one hour if left out, null is never.
    #[serde(default)]
    pub stale_after_secs: Horizon,
    /// When members join and leave.
    #[serde(default)]
    pub rotation: RotationPolicy,
    /// What happens, in this order.
    pub steps: Vec<Step>,
}

/// One step of a scenario, at its moment. Moments may step backwards: a clock did.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "RawStep")]
pub struct Step {
    /// When, in Unix seconds. Steps of rotation need none: no moment changes what they do.
    pub at: Option<UnixSeconds>,
    /// What.
    pub action: Action,
}

/// What a step does.
#[derive(Clone, Debug)]
pub enum Action {
    /// A source reports.
    Report {
        /// What it says.
        report: ScenarioReport,
        /// Whether the whole report must be refused.
        refused: bool,
    },
    /// A source takes one row away.
    Remove(Removal),
    /// The daemon restarts.
    Restart,
    /// What must hold now.
    Expect(Expectation),
    /// A probe of a member learned something.
    Answer {
        /// Which member. It begins to be one with its first answer.
        member: Name,
        /// What.
        answer: AnswerWord,
    },
    /// Who must be in rotation now.
    ExpectRotation(RotationExpectation),
}

/// An answer to a probe, by its kind alone.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerWord {
    /// A complete 200.
    Ready,
    /// A complete 503.
    NotReady,
    /// The connection was refused.
    Refused,
    /// The connection was reset.
    Cut,
    /// The probe's time was up.
    Silent,
    /// The prober could not ask.
    Fault,
}

impl From<AnswerWord> for Answer {
    fn from(word: AnswerWord) -> Self {
        match word {
            AnswerWord::Ready => Self::of_status(200, None),
            AnswerWord::NotReady => Self::of_status(503, None),
            AnswerWord::Refused => Self::Refused { by: Refuser::Host },
            AnswerWord::Cut => Self::Cut { by: Cutting::Reset },
            AnswerWord::Silent => Self::Silent { by: Silence::Timeout },
            AnswerWord::Fault => Self::Fault { code: "EMFILE".into() },
        }
    }
}

/// What must hold of the rotation. Only what is named is compared.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RotationExpectation {
    /// The members that get traffic, in the order of their first answer.
    #[serde(rename = "in")]
    pub members_in: Option<Vec<String>>,
    /// How many joins and leaves there were so far, of all members together.
    pub moves: Option<u64>,
}

/// A report in a scenario. Without `good_for_secs` it is good until the restart.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScenarioReport {
    /// Who reports.
    pub source: String,
    /// The rows; what is left out of one is null, `[]`, 0, and phase `idle`.
    #[serde(deserialize_with = "known_rows")]
    pub instances: Vec<ReportedRow>,
    /// For how long it is good.
    #[serde(default)]
    pub good_for_secs: Option<GoodFor>,
    /// Greater than the source's last one, or the report is refused.
    #[serde(default)]
    pub sequence: Option<u64>,
    /// Whether rows that it does not name stay.
    #[serde(default)]
    pub partial: bool,
}

/// A removal in a scenario.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Removal {
    /// Whose row.
    pub source: String,
    /// Which.
    pub name: String,
}

/// What must hold at one moment. Only what is named is compared.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Expectation {
    /// Judge under this horizon instead; null is never.
    #[serde(deserialize_with = "present")]
    pub stale_after_secs: Option<Horizon>,
    /// Whether traffic may come.
    #[serde(deserialize_with = "present")]
    pub ready: Option<bool>,
    /// Why.
    #[serde(deserialize_with = "present")]
    pub reason: Option<Reason>,
    /// See [`crate::Judgement`], as the lists below.
    #[serde(deserialize_with = "present")]
    pub serving: Option<Vec<String>>,
    /// Rows that veto.
    #[serde(deserialize_with = "present")]
    pub live_degraded: Option<Vec<String>>,
    /// Rows that no longer veto.
    #[serde(deserialize_with = "present")]
    pub stale_degraded: Option<Vec<String>>,
    /// Rows that never served.
    #[serde(deserialize_with = "present")]
    pub never_green: Option<Vec<String>>,
    /// Rows nobody vouches for.
    #[serde(deserialize_with = "present")]
    pub unconfirmed: Option<Vec<String>>,
    /// When the verdict changes by time alone.
    #[serde(deserialize_with = "present")]
    pub flips: Option<Vec<Flip>>,
    /// Single rows by name.
    pub rows: BTreeMap<String, RowExpectation>,
}

/// What must hold for one row.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RowExpectation {
    /// The stamp.
    #[serde(deserialize_with = "present")]
    pub last_change_unix: Option<UnixSeconds>,
    /// Its age.
    #[serde(deserialize_with = "present")]
    pub idle_secs: Option<u64>,
    /// Whether that is at least the horizon.
    #[serde(deserialize_with = "present")]
    pub stale: Option<bool>,
    /// What the row amounts to.
    #[serde(deserialize_with = "present")]
    pub standing: Option<Standing>,
    /// Since when.
    #[serde(deserialize_with = "present")]
    pub since_unix: Option<UnixSeconds>,
    /// When it stops blocking; null where it does not block, or never stops.
    #[serde(deserialize_with = "present")]
    pub ages_out_unix: Option<Option<UnixSeconds>>,
}

/// An expectation that does not hold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Miss {
    /// The step, from 1.
    pub step: usize,
    /// Its moment, where it has one.
    pub at: Option<UnixSeconds>,
    /// What was compared, for example `rows.dev.standing`.
    pub what: String,
    /// What the scenario says.
    pub expected: String,
    /// What the rules say.
    pub got: String,
}

impl fmt::Display for Miss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { step, at, what, expected, got } = self;
        write!(f, "step {step}")?;
        if let Some(at) = at {
            write!(f, " (at {at})")?;
        }
        write!(f, ": {what}: expected {expected}, got {got}")
    }
}

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

fn take(board: &mut Board, report: &ScenarioReport, now: UnixSeconds) -> Result<crate::report::Effects, Refusal> {
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
    let got = snapshot.judge(horizon, now);
    misses.check("ready", expected.ready.as_ref(), &got.ready);
    misses.check("reason", expected.reason.as_ref(), &got.reason);
    for (what, expected, got) in [
        ("serving", &expected.serving, &got.serving),
        ("live_degraded", &expected.live_degraded, &got.live_degraded),
        ("stale_degraded", &expected.stale_degraded, &got.stale_degraded),
        ("never_green", &expected.never_green, &got.never_green),
        ("unconfirmed", &expected.unconfirmed, &got.unconfirmed),
    ] {
        let got: Vec<String> = got.iter().map(|name| name.as_str().into()).collect();
        misses.check(what, expected.as_ref(), &got);
    }
    misses.check("flips", expected.flips.as_ref(), &got.flips);
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

/// A step as it stands in the file: exactly one thing happens.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawStep {
    at: Option<UnixSeconds>,
    report: Option<ScenarioReport>,
    #[serde(default)]
    refused: bool,
    remove: Option<Removal>,
    restart: Option<Empty>,
    expect: Option<Expectation>,
    member: Option<Name>,
    answer: Option<AnswerWord>,
    expect_rotation: Option<RotationExpectation>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Empty {}

impl TryFrom<RawStep> for Step {
    type Error = &'static str;

    fn try_from(raw: RawStep) -> Result<Self, Self::Error> {
        let RawStep { at, report, refused, remove, restart, expect, member, answer, expect_rotation } = raw;
        let answered = match (member, answer) {
            (Some(member), Some(answer)) => Some(Action::Answer { member, answer }),
            (None, None) => None,
            (Some(_), None) | (None, Some(_)) => return Err("member and answer stand side by side"),
        };
        let mut actions = [
            report.map(|report| Action::Report { report, refused }),
            remove.map(Action::Remove),
            restart.map(|Empty {}| Action::Restart),
            expect.map(Action::Expect),
            answered,
            expect_rotation.map(Action::ExpectRotation),
        ]
        .into_iter()
        .flatten();
        let (Some(action), None) = (actions.next(), actions.next()) else {
            return Err("a step holds exactly one of report, remove, restart, expect, member with answer, \
                        and expect_rotation");
        };
        if refused && !matches!(action, Action::Report { .. }) {
            return Err("refused stands only beside a report");
        }
        let needs_a_moment = match &action {
            Action::Report { .. } | Action::Remove(_) | Action::Restart | Action::Expect(_) => true,
            Action::Answer { .. } | Action::ExpectRotation(_) => false,
        };
        if needs_a_moment && at.is_none() {
            return Err("a step needs its moment, at, in Unix seconds");
        }
        Ok(Self { at, action })
    }
}

/// Tells a field that is null from one that is left out: null stands only where it means something.
fn present<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

/// A row as it stands in the file. Unlike a daemon, which must get on with newer drivers, a scenario refuses
/// a field it does not know: a slip of the pen would test nothing.
#[derive(Deserialize)]
#[serde(remote = "ReportedRow", deny_unknown_fields)]
struct KnownRow {
    name: Box<str>,
    phase: Option<Box<str>>,
    serving_sha: Option<Box<str>>,
    last_green: Option<Box<str>>,
    last_red_sha: Option<Box<str>>,
    last_red_reason: Option<Box<str>>,
    last_red_files: Option<Vec<Box<str>>>,
    pending_sha: Option<Box<str>>,
    draining: Option<u64>,
    proxy_port: Option<u64>,
    public_host: Option<Box<str>>,
    expires_at: Option<u64>,
    idle_secs: Option<u64>,
    #[serde(skip)]
    lapsed_secs: Option<u64>,
}

fn known_rows<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<ReportedRow>, D::Error> {
    #[derive(Deserialize)]
    struct Known(#[serde(with = "KnownRow")] ReportedRow);
    Ok(Vec::<Known>::deserialize(deserializer)?.into_iter().map(|row| row.0).collect())
}
