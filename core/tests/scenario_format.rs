//! What is not a scenario is refused where it goes wrong, and what does not hold is told.

#![cfg(feature = "scenario")]
#![expect(clippy::unwrap_used, reason = "what is not there fails the test")]

use greenlight_core::scenario::{Scenario, play};

const ROWS: &str = r#"{ "at": 10, "report": { "source": "a", "instances": [
    { "name": "dev", "serving_sha": "a1", "last_green": "a1" }, { "name": "lane", "last_green": "a1" } ] } }"#;

#[track_caller]
fn refused(steps: &str, why: &str) {
    let error = serde_json::from_str::<Scenario>(&format!("{{\"scenario\": \"s\",\n\"steps\": [\n{steps} ] }}"));
    let error = error.unwrap_err().to_string();
    assert!(error.contains(why) && error.contains("line 3"), "{error}");
}

fn misses(steps: &str) -> Vec<String> {
    let scenario: Scenario =
        serde_json::from_str(&format!("{{\"scenario\": \"s\", \"steps\": [ {ROWS}, {steps} ] }}")).unwrap();
    play(&scenario).iter().map(ToString::to_string).collect()
}

#[test]
fn a_malformed_scenario_is_refused_with_the_place() {
    refused(r#"{ "restart": {} }"#, "at");
    refused(r#"{ "at": 1 }"#, "exactly one");
    refused(r#"{ "at": 1, "restart": {}, "expect": {} }"#, "exactly one");
    refused(r#"{ "at": -1, "restart": {} }"#, "-1");
    refused(r#"{ "at": 9007199254740992, "restart": {} }"#, "9007199254740992");
    refused(r#"{ "at": 1, "restrat": {} }"#, "restrat");
    refused(r#"{ "at": 1, "expect": { "raedy": true } }"#, "raedy");
    refused(r#"{ "at": 1, "expect": { "rows": { "dev": { "standign": "serving" } } } }"#, "standign");
    refused(r#"{ "at": 1, "expect": { "reason": "unwell" } }"#, "unwell");
    refused(r#"{ "at": 1, "restart": {}, "refused": true }"#, "refused stands only beside a report");
    refused(r#"{ "at": 1, "report": { "source": "a", "instances": [], "good_for_secs": 0 } }"#, "from 1");
    refused(r#"{ "at": 1, "report": { "source": "a", "instances": [], "good_for_secs": "always" } }"#, "forever");
    refused(r#"{ "at": 1, "report": { "instances": [] } }"#, "source");
    refused(r#"{ "at": 1, "expect": { "ready": null } }"#, "null");
    refused(r#"{ "at": 1, "expect": { "flips": null } }"#, "null");
    refused(r#"{ "at": 1, "expect": { "rows": { "dev": { "stale": null } } } }"#, "null");
    refused(
        r#"{ "at": 1, "report": { "source": "a", "instances": [ { "name": "dev", "servign_sha": "a1" } ] } }"#,
        "servign_sha",
    );
}

#[test]
fn what_does_not_hold_is_told_with_what_was_expected_and_what_came() {
    let told = misses(
        r#"{ "at": 12, "expect": { "ready": true, "serving": [], "rows": { "dev": { "idle_secs": 3 }, "x": {} } } }"#,
    );
    let expected = [
        "step 2 (at 12): ready: expected true, got false",
        "step 2 (at 12): serving: expected [], got [\"dev\"]",
        "step 2 (at 12): rows.dev.idle_secs: expected 3, got 2",
        "step 2 (at 12): rows.x: expected a row, got none of that name",
    ];
    assert_eq!(told, expected);
    assert!(misses(r#"{ "at": 12, "expect": { "ready": false, "reason": "live_degraded" } }"#).is_empty());
}

#[test]
fn a_refusal_must_be_expected_and_an_expected_one_must_come() {
    let other = r#"{ "at": 12, "report": { "source": "b", "instances": [ { "name": "dev" } ] }"#;
    assert!(misses(&format!("{other}, \"refused\": true }}")).is_empty());
    let told = misses(&format!("{other} }}"));
    assert!(told[0].starts_with("step 2 (at 12): report: expected accepted, got refused: dev is held by source a"));
    let accepted = r#"{ "at": 12, "report": { "source": "a", "instances": [] }, "refused": true }"#;
    assert_eq!(misses(accepted), ["step 2 (at 12): report: expected refused, got accepted"]);
    assert_eq!(misses(r#"{ "at": 12, "remove": { "source": "a", "name": "y" } }"#).len(), 1);
}

#[test]
fn null_is_never_or_nothing_and_left_out_is_not_compared() {
    let ages_out = |what: &str| misses(&format!("{{ \"at\": 12, \"expect\": {{ {what} }} }}")).len();
    assert_eq!(ages_out(r#""rows": { "lane": { "ages_out_unix": null } }"#), 1);
    assert_eq!(ages_out(r#""rows": { "lane": {} }"#), 0);
    assert_eq!(ages_out(r#""stale_after_secs": null, "rows": { "lane": { "ages_out_unix": null } }"#), 0);
    assert_eq!(ages_out(r#""stale_after_secs": 2, "ready": true"#), 0);
}
