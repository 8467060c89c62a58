//! Each way to lose a request is counted exactly, and nothing else is.

use std::collections::BTreeMap;

use greenlight_tests::rehearsal::{Rehearsal, Rehearsed};

const CLASSES: [&str; 9] =
    ["unexpected", "slow", "refused", "cut", "torn", "server_error", "garbled", "nobody", "ours"];

/// Seven faults of a kind on each lane are seven ticks of a class on each lane.
#[track_caller]
fn check(fault: &str, class: &str, exit: i32) {
    let arguments = format!("--fault {fault}=7@fresh --fault {fault}=7@kept");
    let rehearsed = Rehearsal::of(&arguments).with(&["--give-up", "2s"]).run();
    for lane in ["fresh", "kept"] {
        let expected = if class == "ok" { 0 } else { 7 };
        // A machine that is loaded from outside gives us trouble of our own, and nobody else any.
        for other in CLASSES.into_iter().filter(|other| *other != "ours" || rehearsed.is_fit()) {
            let expected = if other == class { expected } else { 0 };
            assert_eq!(rehearsed.of_lane(lane, other), expected, "{fault}: {other} of {lane}\n{}", rehearsed.text);
        }
    }
    sums_up(&rehearsed);
    match exit {
        0 => rehearsed.kept(),
        exit => assert_eq!(rehearsed.exit, Some(exit), "{}", rehearsed.text),
    }
}

#[track_caller]
fn sums_up(rehearsed: &Rehearsed) {
    let sum: u64 = CLASSES.iter().map(|class| rehearsed.total(class)).sum();
    assert_eq!(Some(sum + rehearsed.total("ok")), rehearsed.told["ticks"].as_u64());
}

#[test]
fn a_connection_closed_before_the_answer_is_cut() {
    check("close", "cut", 1);
}

#[test]
fn a_connection_reset_before_the_answer_is_cut() {
    check("reset", "cut", 1);
}

#[test]
fn half_a_body_is_torn() {
    check("tear", "torn", 1);
}

#[test]
fn what_is_not_http_is_garbled() {
    check("garble", "garbled", 1);
}

#[test]
fn a_complete_500_is_a_server_error() {
    check("error", "server_error", 1);
}

#[test]
fn a_complete_404_is_unexpected() {
    check("other", "unexpected", 1);
}

#[test]
fn a_request_that_is_given_up_is_slow_and_nothing_else() {
    check("hold", "slow", 1);
}

#[test]
fn a_complete_answer_and_a_reset_behind_it_is_ok() {
    check("ok-reset", "ok", 0);
}

#[test]
fn slow_requests_are_tolerated_up_to_the_number_said() {
    let slow = |most: &str| Rehearsal::of("--fault hold=3").with(&["--give-up", "1s", "--max-slow", most]).run();
    let kept = slow("3");
    kept.kept();
    assert_eq!(kept.total("slow"), 3);
    assert!(kept.text.contains("lost 0, slow 3"), "{}", kept.text);
    assert_eq!(slow("2").exit, Some(1));
}

#[test]
fn while_the_listener_is_shut_new_connections_are_refused_and_kept_ones_go_on() {
    let rehearsed = Rehearsal::of("--shut-at 10:200").with(&["--warm-up", "1s", "--probe-every", "2s"]).run();
    let refused = rehearsed.of_lane("fresh", "refused");
    // Two hundred milliseconds of every second tick, on a machine that may stand still meanwhile.
    assert!(refused >= 1, "{}", rehearsed.text);
    assert_eq!(rehearsed.of_lane("kept", "refused"), 0, "{}", rehearsed.text);
    assert_eq!(rehearsed.told["lost"].as_u64(), Some(refused), "{}", rehearsed.text);
    assert_eq!(rehearsed.log("old")[..2], ["closed", "opened"]);
    for miss in rehearsed.told["misses"].as_array().unwrap() {
        assert_eq!((&miss["error"], &miss["process"]), (&"ECONNREFUSED".into(), &"old".into()));
    }
    sums_up(&rehearsed);
}

#[test]
fn a_kept_connection_that_was_closed_in_between_is_opened_again_and_nothing_is_lost() {
    let rehearsed = Rehearsal::of("--keep 3").with(&["--warm-up", "1s"]).run();
    rehearsed.kept();
    let opened_again = rehearsed.events("tick").iter().filter(|tick| tick["reopened"] == true).count();
    assert!(opened_again > 0, "{}", rehearsed.text);
    assert_eq!(rehearsed.told["reopened"].as_u64(), u64::try_from(opened_again).ok());
    let mut uses: BTreeMap<u64, u32> = BTreeMap::new();
    for tick in rehearsed.events("tick").iter().filter(|tick| tick["lane"] == "kept" && tick["process"] == "old") {
        *uses.entry(tick["connection"].as_u64().unwrap()).or_default() += 1;
    }
    assert!(uses.len() > 1 && uses.values().any(|uses| *uses == 3), "{uses:?}");
}

#[test]
fn a_kept_connection_that_dies_with_the_question_on_it_is_cut_and_marked_as_used_before() {
    let rehearsed = Rehearsal::of("--after 20 --fault close=1@kept --fault close=1@fresh").run();
    assert_eq!(rehearsed.exit, Some(1), "{}", rehearsed.text);
    let misses = rehearsed.told["misses"].as_array().unwrap();
    let reused_of = |lane: &str| -> Vec<bool> {
        let cut = misses.iter().filter(|miss| miss["lane"] == lane && miss["class"] == "cut");
        cut.filter_map(|miss| miss["reused"].as_bool()).collect()
    };
    assert_eq!((reused_of("kept"), reused_of("fresh")), (vec![true], vec![false]), "{}", rehearsed.text);
    assert_eq!(rehearsed.told["reopened"], 0, "{}", rehearsed.text);
    assert!(rehearsed.says("old cut 2 ticks: 0 after its SIGTERM, 1 on a used connection"), "{}", rehearsed.text);
}
