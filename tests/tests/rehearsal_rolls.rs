//! What rolls come to: who leaves, who is told, what is named as the cause.

#![expect(clippy::unwrap_used, reason = "a helper of a test fails the test")]

use greenlight_tests::rehearsal::{Rehearsal, Rehearsed, fault_server};
use serde_json::Value;

fn leaves(rehearsed: &Rehearsed) -> Vec<Value> {
    let moves = rehearsed.told["rotation"].as_array().unwrap();
    moves.iter().filter(|moved| moved["move"] == "leave").cloned().collect()
}

/// The old one with so many stalled probes while it is alone.
fn stalled(probes: u32) -> Rehearsed {
    Rehearsal::of(&format!("--stall-ready 5:{probes}")).with(&["--warm-up", "2500ms"]).run()
}

#[test]
fn one_or_two_stalled_probes_make_nobody_leave_and_under_one_silence_they_would() {
    for probes in [1, 2] {
        let rehearsed = stalled(probes);
        rehearsed.kept();
        // The one leave is that of the SIGTERM.
        let leaves = leaves(&rehearsed);
        assert_eq!((leaves.len(), &leaves[0]["cause"]), (1, &"answered 503".into()));
        let one = &rehearsed.told["what_if"][0];
        assert_eq!(one["silences_to_leave"], 1);
        assert!(one["leaves"].as_u64() >= Some(2) && one["nobody"].as_u64() >= Some(1), "{}", rehearsed.text);
        assert_eq!(rehearsed.told["what_if"][2]["nobody"], 0);
    }
}

#[test]
fn three_stalled_probes_are_one_leave_and_nobody_until_the_next_answer_and_no_refusal() {
    let rehearsed = stalled(3);
    let moves = rehearsed.told["rotation"].as_array().unwrap();
    let left = moves.iter().position(|moved| moved["cause"] == "silent 3 times in a row").unwrap();
    assert_eq!((&moves[left]["move"], &moves[left + 1]["move"]), (&"leave".into(), &"join".into()));
    let at = |place: usize| moves[place]["at_us"].as_i64().unwrap();
    // Ticks are due at multiples of 10 ms; one that is due with a move sees it.
    let due_before = |us: i64| (us + 9_999) / 10_000;
    let nobody = u64::try_from(due_before(at(left + 1)) - due_before(at(left))).unwrap();
    assert_eq!((rehearsed.total("nobody"), rehearsed.total("refused")), (nobody, 0), "{}", rehearsed.text);
    assert_eq!((rehearsed.exit, rehearsed.sigterms("old")), (Some(1), 1));
    assert!(rehearsed.why().contains("old had left (silent 3 times in a row)"), "{}", rehearsed.why());
}

#[test]
fn a_graceful_server_is_kept_and_its_margin_is_told() {
    let rehearsed = Rehearsal::of("--grace 1000").run();
    rehearsed.kept();
    assert_eq!((rehearsed.sigterms("old"), rehearsed.sigterms("new")), (1, 0));
    let margin = rehearsed.told["drain_margin_us"].as_i64().unwrap();
    assert!((200_000..1_500_000).contains(&margin), "{}", rehearsed.text);
    assert!(rehearsed.says("safe for balancers that lag up to"), "{}", rehearsed.text);
    rehearsed.left_nothing();
}

#[test]
fn a_lag_within_the_margin_is_kept_and_one_beyond_it_is_broken() {
    let kept = Rehearsal::of("--grace 1500").with(&["--lag", "200ms"]).run();
    kept.kept();
    let broken = Rehearsal::of("--grace 300").with(&["--lag", "1s"]).run();
    assert_eq!(broken.exit, Some(1), "{}", broken.text);
    assert!(broken.why().starts_with("old ") && broken.why().contains("a lag of 1.0 s"), "{}", broken.why());
}

#[test]
fn a_server_that_closes_its_listener_on_the_signal_is_named_with_the_lag() {
    let rehearsed = Rehearsal::of("--on-term close --grace 2000").run();
    assert_eq!(rehearsed.exit, Some(1), "{}", rehearsed.text);
    let why = rehearsed.why();
    assert!(why.starts_with("old closed its listener ") && why.contains(" ms before it left rotation"), "{why}");
    assert_eq!(rehearsed.of_lane("fresh", "refused"), rehearsed.told["lost"].as_u64().unwrap());
}

#[test]
fn a_server_that_exits_on_the_signal_is_named_and_each_refusal_says_so() {
    let rehearsed = Rehearsal::of("--on-term exit").run();
    assert_eq!(rehearsed.exit, Some(1), "{}", rehearsed.text);
    let misses = rehearsed.told["misses"].as_array().unwrap();
    let refused: Vec<_> = misses.iter().filter(|miss| miss["class"] == "refused").collect();
    // A probe may come before any tick.
    let (how, why) = (if refused.is_empty() { "up to " } else { "as it ended (exit 0), " }, rehearsed.why());
    assert!(why.starts_with(&format!("old closed its listener {how}")), "{why}");
    assert!(why.contains(" ms before it left rotation"), "{why}");
    // What was refused before the exit could be waited for cannot know of it yet.
    let learned = rehearsed.exit_learned_us("old").unwrap();
    let mut after = refused.iter().filter(|miss| miss["due_us"].as_i64() > Some(learned));
    assert!(after.all(|miss| miss["states_due"]["old"] == "exited"), "{}", rehearsed.text);
}

#[test]
fn one_that_is_ready_before_it_listens_is_named_ready_too_early() {
    let rehearsed = Rehearsal::of_two("--ready-apart", "--ready-apart --listen-after 500")
        .with(&["--ready", ":{ready_port}/readyz"])
        .run();
    assert_eq!(rehearsed.exit, Some(1), "{}", rehearsed.text);
    assert!(rehearsed.why().contains("new was declared ready too early"), "{}", rehearsed.why());
    let misses = rehearsed.told["misses"].as_array().unwrap();
    assert!(misses.iter().all(|miss| miss["process"] == "new"), "{}", rehearsed.text);
}

#[test]
fn without_a_new_one_that_is_ready_nobody_is_told_to_stop() {
    let rehearsed = Rehearsal::of_two("", "--never-ready").with(&["--start-timeout", "6s"]).run();
    assert_eq!((rehearsed.exit, rehearsed.sigterms("old")), (Some(4), 0), "{}", rehearsed.text);
    assert!(rehearsed.why().contains("new was not ready within 6.0 s"), "{}", rehearsed.why());
    assert_eq!(rehearsed.told["lost"].as_u64(), Some(0));
    rehearsed.left_nothing();
}

#[test]
fn one_that_cannot_start_is_quoted() {
    let rehearsed = Rehearsal::of_two("", "--fail 'no luck today'").run();
    assert_eq!((rehearsed.exit, rehearsed.sigterms("old")), (Some(4), 0), "{}", rehearsed.text);
    assert!(rehearsed.text.contains("| fault-server: no luck today"), "{}", rehearsed.text);
    assert_eq!(rehearsed.told["lost"].as_u64(), Some(0));
}

#[test]
fn a_new_one_that_flaps_after_it_joined_gets_the_old_one_no_second_signal() {
    let rehearsed = Rehearsal::of_two("--grace 2000", "--flap 3").with(&["--tail", "1s"]).run();
    assert_eq!(rehearsed.sigterms("old"), 1, "{}", rehearsed.text);
    let of_new = leaves(&rehearsed).iter().filter(|moved| moved["process"] == "new").count();
    assert_eq!(of_new, 3, "{}", rehearsed.text);
    assert_eq!(rehearsed.told["processes"][0]["sigterms"], 1);
}

#[test]
fn an_old_one_that_never_exits_is_found_and_killed() {
    for mode in ["ignore", "hang"] {
        let arguments = format!("--on-term {mode}");
        let rehearsed = Rehearsal::of(&arguments).with(&["--drain-timeout", "2s"]).run();
        assert_eq!((rehearsed.exit, rehearsed.sigterms("old")), (Some(4), 1), "{}", rehearsed.text);
        assert!(rehearsed.why().contains("old did not exit within 2.0 s of its SIGTERM"), "{}", rehearsed.why());
        assert_eq!(rehearsed.told["processes"][0]["killed"], true);
        rehearsed.left_nothing();
    }
}

#[test]
fn a_command_that_ends_and_leaves_its_server_behind_is_no_roll_that_completed() {
    // The shell starts the server as a process of its own, and the SIGTERM meets the shell alone.
    let server = fault_server();
    let old = format!("{} & wait", server.display());
    let rehearsed =
        Rehearsal::of_commands(&old, &server.display().to_string()).by_shell().with(&["--drain-timeout", "2s"]).run();
    assert_eq!(rehearsed.exit, Some(4), "{}", rehearsed.text);
    let why = rehearsed.why();
    assert!(why.contains("the process of old ended (signal 15), but something still answers at its address"), "{why}");
    assert!(why.contains("exec"), "{why}");
    assert_eq!(rehearsed.told["lost"].as_u64(), Some(0), "{}", rehearsed.text);
}

#[test]
fn a_readiness_port_that_closes_on_the_signal_is_no_refusal_while_the_traffic_port_serves_on() {
    let rehearsed = Rehearsal::of_two("--ready-apart --ready-closes --grace 1500", "--ready-apart")
        .with(&["--ready", ":{ready_port}/readyz"])
        .run();
    rehearsed.kept();
    assert_eq!(leaves(&rehearsed)[0]["cause"], "connection refused", "{}", rehearsed.text);
    assert!(rehearsed.told["drain_margin_us"].as_i64() > Some(500_000), "{}", rehearsed.text);
}

/// The ticks that asked a process.
fn ticks_of(rehearsed: &Rehearsed, process: &str) -> Vec<Value> {
    rehearsed.events("tick").into_iter().filter(|tick| tick["process"] == process).collect()
}

fn sent_us(tick: &Value) -> i64 {
    tick["sent_us"].as_i64().unwrap()
}

#[test]
fn whoever_waits_in_the_queue_of_a_listener_that_closes_is_cut_and_not_refused() {
    // One worker of 30 ms and a request every 10 ms: two of three wait when the signal comes.
    let rehearsed = Rehearsal::of_two("--ready-apart --one-worker 30 --on-term close --grace 500", "--ready-apart")
        .with(&["--ready", ":{ready_port}/readyz"])
        .run();
    assert_eq!(rehearsed.exit, Some(1), "{}", rehearsed.text);
    let ticks = ticks_of(&rehearsed, "old");
    let of = |class: &str| -> Vec<&Value> { ticks.iter().filter(|tick| tick["class"] == class).collect() };
    let (cut, refused) = (of("cut"), of("refused"));
    assert!(cut.len() > 5 && cut.iter().all(|tick| tick["error"] == "ECONNRESET"), "{}", rehearsed.text);
    assert_eq!(u64::try_from(cut.len() + refused.len()).ok(), rehearsed.told["lost"].as_u64(), "{}", rehearsed.text);
    // Those that came before the close were in the queue, those behind it found nobody.
    let last_cut = cut.iter().map(|tick| sent_us(tick)).max();
    assert!(refused.iter().all(|tick| Some(sent_us(tick)) >= last_cut), "{}", rehearsed.text);
    // Whoever was taken up has an answer, the one that was being served when the signal came among them.
    let served = rehearsed.log("old").into_iter().filter(|line| line == "served").count();
    assert!(served > 0 && of("ok").len() == served, "{served} were served: {}", rehearsed.text);
}

#[test]
fn all_that_ask_a_process_between_its_end_and_its_leave_are_refused() {
    let rehearsed = Rehearsal::of("--on-term exit").with(&["--probe-every", "500ms", "--warm-up", "1200ms"]).run();
    assert_eq!(rehearsed.exit, Some(1), "{}", rehearsed.text);
    let ended = rehearsed.exit_learned_us("old").unwrap();
    let asked: Vec<Value> = ticks_of(&rehearsed, "old").into_iter().filter(|tick| sent_us(tick) > ended).collect();
    assert!(asked.iter().all(|tick| tick["class"] == "refused"), "{}", rehearsed.text);
    let refused = u64::try_from(asked.len()).unwrap();
    assert!((refused..=refused + 3).contains(&rehearsed.total("refused")), "{}", rehearsed.text);
}

#[test]
fn one_that_listens_on_the_other_local_address_is_named_with_both() {
    let rehearsed = Rehearsal::of("").with(&["--host", "::1", "--start-timeout", "3s"]).run();
    assert_eq!((rehearsed.exit, rehearsed.sigterms("old")), (Some(4), 0), "{}", rehearsed.text);
    let why = rehearsed.why();
    assert!(why.contains("nobody listens at [::1]:") && why.contains("somebody does at 127.0.0.1:"), "{why}");
    rehearsed.left_nothing();
}

#[test]
fn what_other_programs_of_the_machine_lose_is_not_held_against_the_roll() {
    let full = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
    full.bind(&"127.0.0.1:0".parse::<std::net::SocketAddr>().unwrap().into()).unwrap();
    full.listen(1).unwrap();
    let address = full.local_addr().unwrap();
    // Nobody takes them up: what does not fit into the queue is dropped by the system, and counted there.
    let waiting: Vec<_> = (0..8)
        .map(|_| {
            let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
            socket.set_nonblocking(true).unwrap();
            let _ = socket.connect(&address);
            socket
        })
        .collect();
    Rehearsal::of("").run().kept();
    drop(waiting);
}
