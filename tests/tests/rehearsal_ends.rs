//! However a rehearsal ends, it reports what it can, and leaves no process behind; and its own trouble is never held
//! against the service.

#![expect(clippy::unwrap_used, reason = "a helper of a test fails the test")]

use std::process::{Child, Command};
use std::time::Duration;

use greenlight_tests::rehearsal::{Rehearsal, Rehearsed, all_gone, fault_server, is_there};
use greenlight_tests::{binary, wait_until};
use rustix::process::{Pid, Signal, kill_process};

fn signal(process: u32, signal: Signal) {
    let pid = i32::try_from(process).ok().and_then(Pid::from_raw).unwrap();
    kill_process(pid, signal).unwrap();
}

/// Lets time pass without a clock.
fn pause(millis: u64) {
    let (_open, nothing) = std::sync::mpsc::channel::<()>();
    let _ = nothing.recv_timeout(Duration::from_millis(millis));
}

/// How many ticks the record tells of so far.
fn ticks(rehearsal: &Rehearsal) -> usize {
    std::fs::read_to_string(rehearsal.record()).unwrap_or_default().matches("\"event\":\"tick\"").count()
}

#[test]
fn ctrl_c_gives_a_partial_report_and_leaves_no_process() {
    let rehearsal = Rehearsal::of("").with(&["--warm-up", "60s"]);
    let child = rehearsal.start();
    wait_until(|| ticks(&rehearsal) > 10);
    signal(child.id(), Signal::INT);
    let output = child.wait_with_output().unwrap();
    let rehearsed = rehearsal.over(&output);
    assert_eq!(rehearsed.exit, Some(130), "{}", rehearsed.text);
    assert!(rehearsed.text.starts_with("INTERRUPTED") && rehearsed.total("ok") > 10, "{}", rehearsed.text);
    assert_eq!(rehearsed.sigterms("old"), 0);
    rehearsed.left_nothing();
}

/// Stops a rehearsal, which then ends at once with what it has.
#[track_caller]
fn stop(rehearsal: Rehearsal, mut child: Child) -> Rehearsed {
    signal(child.id(), Signal::INT);
    wait_until(|| child.try_wait().unwrap().is_some());
    let rehearsed = rehearsal.over(&child.wait_with_output().unwrap());
    assert_eq!(rehearsed.exit, Some(130), "{}", rehearsed.text);
    rehearsed.left_nothing();
    rehearsed
}

/// Whether the record tells so far that something happened to a process.
fn tells(rehearsal: &Rehearsal, event: &str, process: &str) -> bool {
    let text = std::fs::read_to_string(rehearsal.record()).unwrap_or_default();
    let words = [format!("\"event\":\"{event}\""), format!("\"process\":\"{process}\"")];
    text.lines().any(|line| words.iter().all(|words| line.contains(words)))
}

#[test]
fn ctrl_c_is_heard_while_the_measure_is_awaited() {
    // The measure is taken by one request, which nobody answers.
    let rehearsal = Rehearsal::of("--fault hold=100").without("--expect").with(&[
        "--give-up",
        "10m",
        "--start-timeout",
        "10m",
        "--every",
        "1s",
    ]);
    let child = rehearsal.start();
    wait_until(|| rehearsal.log("old").iter().any(|line| line == "held"));
    let rehearsed = stop(rehearsal, child);
    assert_eq!(rehearsed.told["ticks"], 0, "{}", rehearsed.text);
}

#[test]
fn ctrl_c_is_heard_while_requests_that_hang_are_awaited_after_the_tail() {
    let rehearsal =
        Rehearsal::of_two("", "--fault hold=1").with(&["--give-up", "5m", "--every", "200ms", "--max-slow", "1"]);
    let child = rehearsal.start();
    wait_until(|| tells(&rehearsal, "exited", "old"));
    // The tail is over long before.
    pause(2000);
    stop(rehearsal, child);
}

#[test]
fn a_rehearsal_that_is_killed_leaves_no_process_and_a_record_that_can_be_explained() {
    let rehearsal = Rehearsal::of("").with(&["--warm-up", "60s"]);
    let mut child = rehearsal.start();
    wait_until(|| ticks(&rehearsal) > 10);
    let pids = rehearsal.pids();
    assert_eq!(pids.len(), 1);
    child.kill().unwrap();
    child.wait().unwrap();
    all_gone(&pids);
    let explained = Command::new(binary()).arg("explain").arg(rehearsal.record()).output().unwrap();
    assert_eq!(explained.status.code(), Some(3));
    assert!(explained.stdout.starts_with(b"INCONCLUSIVE"));
}

/// A version that leaves something behind in a session of its own, as a daemon does; and where its number stands.
fn with_a_daemon(folder: &greenlight_tests::Folder) -> (String, std::path::PathBuf) {
    let number = folder.path().join("number");
    let server = fault_server();
    let command = format!("setsid sleep 600 & echo $! >> {}; exec {}", number.display(), server.display());
    (command, number)
}

fn daemons(number: &std::path::Path) -> Vec<i32> {
    let text = std::fs::read_to_string(number).unwrap_or_default();
    text.lines().map(|line| line.parse().unwrap()).collect()
}

#[test]
fn what_became_a_daemon_does_not_outlive_the_rehearsal() {
    let folder = greenlight_tests::Folder::new();
    let (command, number) = with_a_daemon(&folder);
    let rehearsed = Rehearsal::of_commands(&command, &command).by_shell().run();
    rehearsed.kept();
    let daemons = daemons(&number);
    assert_eq!(daemons.len(), 2);
    all_gone(&daemons);
}

#[test]
fn what_became_a_daemon_does_not_outlive_a_rehearsal_that_is_killed() {
    let folder = greenlight_tests::Folder::new();
    let (command, number) = with_a_daemon(&folder);
    let rehearsal = Rehearsal::of_commands(&command, &command).by_shell().with(&["--warm-up", "60s"]);
    let mut child = rehearsal.start();
    wait_until(|| ticks(&rehearsal) > 10);
    let daemons = daemons(&number);
    assert_eq!(daemons.iter().filter(|pid| is_there(**pid)).count(), 1);
    child.kill().unwrap();
    child.wait().unwrap();
    all_gone(&daemons);
}

#[test]
fn a_rehearsal_that_stood_still_for_400_ms_blames_nobody() {
    let rehearsal = Rehearsal::of("").with(&["--warm-up", "3s"]);
    let child = rehearsal.start();
    wait_until(|| ticks(&rehearsal) > 50);
    signal(child.id(), Signal::STOP);
    pause(400);
    signal(child.id(), Signal::CONT);
    let rehearsed = rehearsal.over(&child.wait_with_output().unwrap());
    assert!(matches!(rehearsed.exit, Some(0 | 3)), "{}", rehearsed.text);
    assert_eq!(
        (rehearsed.told["missed"].as_u64(), rehearsed.told["lost"].as_u64()),
        (Some(0), Some(0)),
        "{}",
        rehearsed.text
    );
    assert!(rehearsed.told["fitness"]["late_max_us"].as_i64() > Some(300_000), "{}", rehearsed.text);
    let moves = rehearsed.told["rotation"].as_array().unwrap();
    assert_eq!(moves.iter().filter(|moved| moved["move"] == "leave").count(), 1, "{}", rehearsed.text);
    // Due times are exact multiples, none left out and none twice.
    let text = std::fs::read_to_string(rehearsed.record()).unwrap();
    let mut due: Vec<i64> = text
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .filter(|event| event["event"] == "tick")
        .map(|event| event["due_us"].as_i64().unwrap())
        .collect();
    due.sort_unstable();
    assert!((0..).zip(&due).all(|(tick, due)| *due == tick * 10_000));
}

#[test]
fn a_thousand_requests_that_hang_are_held_without_trouble_of_ours() {
    let rehearsal =
        Rehearsal::of("--fault hold=100000").with(&["--every", "4ms", "--give-up", "5s", "--warm-up", "6s"]);
    let rehearsed = rehearsal.run();
    assert_eq!(rehearsed.exit, Some(1), "{}", rehearsed.text);
    assert!(!rehearsed.text.contains("EMFILE"), "{}", rehearsed.text);
    if rehearsed.is_fit() {
        assert_eq!(rehearsed.total("ours"), 0, "{}", rehearsed.text);
        assert!(rehearsed.total("slow") > 1000, "{}", rehearsed.text);
    }
    assert_eq!(rehearsed.told["lost"].as_u64(), Some(0), "{}", rehearsed.text);
}

#[test]
fn too_few_descriptors_are_told_before_anything_starts() {
    let rehearsal = Rehearsal::of("");
    let command = rehearsal.command();
    let limited = Command::new("sh")
        .args(["-c", "ulimit -n 64 && exec \"$@\"", "sh"])
        .arg(command.get_program())
        .args(command.get_args())
        .output()
        .unwrap();
    assert_eq!(limited.status.code(), Some(2));
    let words = String::from_utf8_lossy(&limited.stderr).into_owned();
    assert!(words.contains("file descriptors are needed") && words.contains("ulimit"), "{words}");
}

#[test]
fn what_is_wrong_before_the_start_is_said_with_what_to_do() {
    let refused = |arguments: &[&str]| {
        let output = Command::new(binary()).arg("rehearse").args(arguments).output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let ports = format!("{port}-{}", port.saturating_add(3));
    for (arguments, words) in [
        (vec!["--old", "no-such-server"], "there is no command"),
        (vec!["--old", "sh", "--ready", ":9/readyz"], "both versions would be asked at"),
        (vec!["--old", "sh", "--ports", &ports], "cannot be used"),
        (vec!["--old", "sh", "--record", "/no/such/folder/record"], "--record"),
        (vec!["--old", "sh", "--every", "soon"], "is not a length of time"),
        (vec!["--old", "sh", "--host", "no-such-name.invalid"], "invalid IP address"),
        (vec![], "--old"),
    ] {
        let (exit, said) = refused(&arguments);
        assert_eq!(exit, Some(2), "{arguments:?}: {said}");
        assert!(said.contains(words), "{said}");
    }
}

#[test]
fn several_runs_are_summed_up() {
    let rehearsal = Rehearsal::of("").with(&["--runs", "2"]);
    let output = rehearsal.command().output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    // On a machine that is loaded from outside one may not be able to tell.
    assert!(matches!(output.status.code(), Some(0 | 3)), "{said}");
    assert!(said.contains("run 1 of 2: ") && said.contains("run 2 of 2: ") && said.contains("\n2 runs: "), "{said}");
    if output.status.code() == Some(0) {
        assert!(said.starts_with("run 1 of 2: kept\nrun 2 of 2: kept\n2 runs: 2 kept; "), "{said}");
    }
}

#[test]
fn several_runs_are_one_document_of_xml_and_a_line_of_json_each_with_the_sums_last() {
    let said = |form: &str| {
        let rehearsal = Rehearsal::of("").with(&["--runs", "2"]);
        let output = rehearsal.command().arg(form).output().unwrap();
        // On a machine that is loaded from outside one may not be able to tell.
        assert!(matches!(output.status.code(), Some(0 | 3)), "{output:?}");
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let (_, xml) = said("--junit");
    let counted = |what: &str| xml.matches(what).count();
    assert_eq!((counted("<?xml"), counted("<testsuites "), counted("<testsuite ")), (1, 1, 2), "{xml}");
    assert!(xml.contains("<testsuite name=\"run 2 of 2\"") && xml.ends_with("</testsuites>\n"), "{xml}");
    let (exit, json) = said("--json");
    let lines: Vec<serde_json::Value> = json.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let [first, second, sum] = lines.as_slice() else { panic!("two runs and a sum: {json}") };
    let ticks = |of: &serde_json::Value| of["ticks"].as_u64().unwrap();
    assert_eq!((sum["runs"].as_u64(), ticks(sum)), (Some(2), ticks(first) + ticks(second)), "{sum}");
    assert_eq!(sum["exit"].as_i64(), exit.map(Into::into), "{sum}");
    assert_eq!(
        sum["outcomes"].as_object().unwrap().values().filter_map(serde_json::Value::as_u64).sum::<u64>(),
        2,
        "{sum}"
    );
    assert_eq!((sum["lost"].as_u64(), sum["outcomes"]["broken"].as_u64()), (Some(0), Some(0)), "{sum}");
}

#[test]
fn the_versions_of_every_run_have_the_limit_of_descriptors_that_we_were_started_with() {
    let folder = greenlight_tests::Folder::new();
    let limits = folder.path().join("limits");
    let server = format!("ulimit -n >> {}; exec {}", limits.display(), fault_server().display());
    let rehearsal = Rehearsal::of_commands(&server, &server).by_shell().with(&["--runs", "2", "--give-up", "1s"]);
    let command = rehearsal.command();
    let limited = Command::new("sh")
        .args(["-c", "ulimit -Sn 256 && exec \"$@\"", "sh"])
        .arg(command.get_program())
        .args(command.get_args())
        .output()
        .unwrap();
    assert!(matches!(limited.status.code(), Some(0 | 3)), "{}", String::from_utf8_lossy(&limited.stderr));
    assert_eq!(std::fs::read_to_string(&limits).unwrap(), "256\n".repeat(4));
}

#[test]
fn a_bug_of_the_engine_is_told_and_leaves_no_process() {
    let rehearsed = Rehearsal::of("").with(&["--bug", "engine"]).run();
    assert_eq!(rehearsed.exit, Some(3), "{}", rehearsed.text);
    assert!(rehearsed.says("the rehearsal met a bug of its own"), "{}", rehearsed.text);
    assert!(rehearsed.notes.contains("this bug was asked for"), "{}", rehearsed.notes);
    let pids = rehearsed.pids();
    assert_eq!(pids.len(), 1);
    all_gone(&pids);
}

#[test]
fn a_tick_whose_sender_met_a_bug_has_no_outcome_and_the_sum_shows_it() {
    let rehearsed = Rehearsal::of("").with(&["--bug", "sender"]).run();
    assert_eq!(rehearsed.exit, Some(3), "{}", rehearsed.text);
    assert!(rehearsed.why().contains("3 ticks without outcome"), "{}", rehearsed.why());
    assert_eq!((rehearsed.total("ours"), rehearsed.told["lost"].as_u64()), (3, Some(0)), "{}", rehearsed.text);
    rehearsed.left_nothing();
}

/// Runs a rehearsal in a network of its own with so few ports for clients. `None`: the system gives no such network.
fn with_client_ports(ports: &str, rehearsal: &Rehearsal) -> Option<std::process::Output> {
    let command = rehearsal.command();
    let words = "ip link set lo up && echo \"$PORTS\" > /proc/sys/net/ipv4/ip_local_port_range || exit 99; exec \"$@\"";
    // The superuser may; others may as the superuser of a user namespace of their own, where that is allowed.
    [&["-n"][..], &["-rn"]].into_iter().find_map(|flags| {
        let mut unshared = Command::new("unshare");
        unshared.args(flags).args(["sh", "-c", words, "sh"]).arg(command.get_program()).args(command.get_args());
        let output = unshared.env("PORTS", ports).output().ok()?;
        let is_made = output.status.code() != Some(99) && !output.stderr.starts_with(b"unshare:");
        is_made.then_some(output)
    })
}

#[test]
fn with_four_client_ports_the_trouble_is_ours_and_nobody_refused() {
    let rehearsal = Rehearsal::of("--fault hold=100000@fresh").with(&["--give-up", "2s", "--max-slow", "100000"]);
    let Some(output) = with_client_ports("32768 32771", &rehearsal) else {
        // Said even where a test's own output is hidden.
        let _ = std::fs::write("/dev/tty", NO_NAMESPACE);
        eprintln!("{NO_NAMESPACE}");
        return;
    };
    let rehearsed = rehearsal.over(&output);
    assert_eq!(rehearsed.exit, Some(3), "{}{}", rehearsed.text, rehearsed.notes);
    assert!(rehearsed.total("ours") > 0, "{}", rehearsed.text);
    assert_eq!((rehearsed.total("refused"), rehearsed.told["lost"].as_u64()), (0, Some(0)), "{}", rehearsed.text);
    assert!(rehearsed.says("EADDRNOTAVAIL"), "{}", rehearsed.text);
    // The one leave is that of the SIGTERM.
    let moves = rehearsed.told["rotation"].as_array().unwrap();
    assert_eq!(moves.iter().filter(|moved| moved["move"] == "leave").count(), 1, "{}", rehearsed.text);
    rehearsed.left_nothing();
}

const NO_NAMESPACE: &str = "\nNOT TESTED: four client ports. No network namespace can be made here: run as the \
                            superuser, with util-linux and iproute2\n";
