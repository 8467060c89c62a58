//! The story of the demo, as data: four slots, moment by moment. What the daemon makes of it is the daemon's.

use serde::Serialize;

/// The source that tells the story.
pub(crate) const SOURCE: &str = "demo";
/// The horizon under which it is told, in seconds.
pub(crate) const STALE_AFTER_SECS: u64 = 60;
/// How long the story takes, in seconds. Then it is told again from its second moment on.
pub(crate) const LENGTH_SECS: u64 = 150;

/// One moment of the story.
#[derive(Debug)]
pub(crate) struct Moment {
    /// Seconds since the story began.
    pub(crate) at_secs: u64,
    /// What happens.
    pub(crate) says: &'static str,
    /// What the driver reports from then on.
    pub(crate) slots: [Slot; 4],
    /// Whether the daemon must be ready then.
    #[cfg_attr(not(test), expect(dead_code, reason = "the test of the story looks at it"))]
    pub(crate) ready: bool,
}

/// One row, as a driver writes it.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Slot {
    name: &'static str,
    phase: &'static str,
    serving_sha: Option<&'static str>,
    last_green: Option<&'static str>,
    last_red_sha: Option<&'static str>,
    last_red_reason: Option<&'static str>,
    pending_sha: Option<&'static str>,
    idle_secs: u64,
}

/// A slot that serves one build, and perhaps builds the next.
const fn serving(name: &'static str, sha: &'static str, pending_sha: Option<&'static str>) -> Slot {
    let phase = if pending_sha.is_some() { "building" } else { "serving" };
    Slot { phase, serving_sha: Some(sha), pending_sha, ..dead(name, sha, 0) }
}

/// A slot that served once.
const fn dead(name: &'static str, last_green: &'static str, idle_secs: u64) -> Slot {
    Slot {
        name,
        phase: "idle",
        serving_sha: None,
        last_green: Some(last_green),
        last_red_sha: None,
        last_red_reason: None,
        pending_sha: None,
        idle_secs,
    }
}

const fn red(slot: Slot, sha: &'static str, reason: &'static str) -> Slot {
    Slot { last_red_sha: Some(sha), last_red_reason: Some(reason), ..slot }
}

const DAY: u64 = 24 * 3600;
const MERGE: Slot = red(dead("merge", "77ab012", 41 * DAY), "77ac012", "step `build` exited 1");
const FEATURE: Slot = dead("feature-x", "f001000", 23 * DAY);
const LANE: Slot = serving("lane", "9f6e4d5", None);
const LANE_BROKEN: Slot = red(dead("lane", "9f6e4d5", 0), "c0ffee1", "cannot change to worktree");
const LANE_BUILDING: Slot = Slot { phase: "building", pending_sha: Some("0badcaf"), ..LANE_BROKEN };
const LANE_AGAIN: Slot = red(serving("lane", "0badcaf", None), "c0ffee1", "cannot change to worktree");
const LANE_DROPPED: Slot = red(dead("lane", "0badcaf", 0), "dead10c", "step `start` exited 137");

const fn moment(at_secs: u64, says: &'static str, dev: Slot, lane: Slot, ready: bool) -> Moment {
    Moment { at_secs, says, slots: [dev, lane, MERGE, FEATURE], ready }
}

/// The story. The first moment is told once; the last one leads back to the second.
pub(crate) const STORY: [Moment; 11] = [
    moment(
        0,
        "four slots report: dev and lane serve, merge and feature-x have been dead for weeks",
        serving("dev", "a1b2c3d", None),
        LANE,
        true,
    ),
    moment(
        8,
        "dev builds its next commit, and goes on serving the last one",
        serving("dev", "a1b2c3d", Some("b2c3d4e")),
        LANE,
        true,
    ),
    moment(16, "dev serves the new one", serving("dev", "b2c3d4e", None), LANE, true),
    moment(
        24,
        "lane breaks: its worktree is gone. That is news, and blocks",
        serving("dev", "b2c3d4e", None),
        LANE_BROKEN,
        false,
    ),
    moment(
        32,
        "dev is busy again, which excuses nobody",
        serving("dev", "b2c3d4e", Some("c3d4e5f")),
        LANE_BROKEN,
        false,
    ),
    moment(40, "lane builds a fix", serving("dev", "b2c3d4e", Some("c3d4e5f")), LANE_BUILDING, false),
    moment(50, "lane serves again", serving("dev", "c3d4e5f", None), LANE_AGAIN, true),
    moment(
        60,
        "lane is dropped, and this time nobody looks after it",
        serving("dev", "c3d4e5f", None),
        LANE_DROPPED,
        false,
    ),
    moment(
        90,
        "dev goes on. lane says the same again and again, which is no news",
        serving("dev", "c3d4e5f", Some("d4e5f60")),
        LANE_DROPPED,
        false,
    ),
    moment(
        122,
        "a minute without news of lane: it has aged out, and blocks no longer. Nobody calls that recovery",
        serving("dev", "d4e5f60", None),
        LANE_DROPPED,
        true,
    ),
    moment(136, "somebody wants lane back, and it serves", serving("dev", "a1b2c3d", None), LANE, true),
];

#[cfg(test)]
mod tests {
    use super::*;
    use greenlight_core::{Board, Extent, GoodFor, Horizon, Name, Report, ReportedRow, UnixSeconds};

    #[test]
    fn the_rules_make_of_the_story_what_it_tells_also_the_second_time() {
        let mut board = Board::new();
        let horizon = Horizon::After(STALE_AFTER_SECS);
        let again = STORY.iter().skip(1).map(|moment| (moment.at_secs + LENGTH_SECS, moment));
        for (at, moment) in STORY.iter().map(|moment| (moment.at_secs, moment)).chain(again) {
            let now = UnixSeconds::new(10_000_000 + at);
            let rows = serde_json::to_string(&moment.slots).unwrap();
            let report = Report {
                source: Name::of_source(SOURCE).unwrap(),
                extent: Extent::Full,
                rows: serde_json::from_str::<Vec<ReportedRow>>(&rows).unwrap(),
                good_for: GoodFor::UntilRestart,
                sequence: None,
            };
            board.report(report, now).unwrap();
            let judged = board.snapshot().judge(horizon, now);
            assert_eq!(judged.ready, moment.ready, "{at}: {}", moment.says);
            let dead: Vec<&str> = judged.lists.stale_degraded.iter().map(greenlight_core::Name::as_str).collect();
            assert!(dead.ends_with(&["merge", "feature-x"]), "{at}: {dead:?}");
        }
    }

    #[test]
    fn the_moments_follow_one_another_within_the_story() {
        assert!(STORY.is_sorted_by(|one, next| one.at_secs < next.at_secs));
        assert!(STORY.last().is_some_and(|last| last.at_secs < LENGTH_SECS + STORY[1].at_secs));
    }
}
