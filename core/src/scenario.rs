//! Scenarios: a policy test that anybody can write, played through the rules with the times it names.
//!
//! The shapes below are those of the files; see the README for how to write one.

mod play;

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use serde::{Deserialize, Deserializer, Serialize};

pub use self::play::play;
use crate::name::Name;
use crate::readiness::{Flip, Reason};
use crate::rotation::{Answer, Cutting, Refuser, RotationPolicy, Silence};
use crate::row::{GoodFor, KnownRow, ReportedRow};
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

/// Unlike a daemon, which must get on with newer drivers, a scenario refuses a field that it does not know: a slip
/// of the pen would test nothing.
fn known_rows<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<ReportedRow>, D::Error> {
    Ok(Vec::<KnownRow>::deserialize(deserializer)?.into_iter().map(Into::into).collect())
}
