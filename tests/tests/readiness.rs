//! The situations that the rule was made for, over HTTP with a short horizon.

use greenlight_tests::{Daemon, Folder, wait_until};

const DEV: &str = r#"{"name":"dev","phase":"serving","serving_sha":"a1","last_green":"a1"}"#;

fn report(daemon: &Daemon, rows: &str) {
    let (status, answer) = daemon.put("/sources/driver", &format!(r#"{{"instances":[{rows}],"good_for_secs":600}}"#));
    assert_eq!(status, 200, "{answer}");
}

#[test]
fn one_live_slot_beside_dead_ones_is_ready_and_names_them() {
    let folder = Folder::new();
    let daemon = Daemon::start(folder.path(), &[]);
    assert_eq!(daemon.get("/readyz"), (503, "not ready: nothing is serving\n".into()));
    assert_eq!(daemon.get("/livez"), (200, "ok\n".into()));
    report(&daemon, &format!(r#"{DEV},{{"name":"merge","last_green":"77","idle_secs":3542400}}"#));
    assert_eq!(daemon.get("/readyz"), (200, "ready\n".into()));
    assert_eq!(daemon.app()["readiness"]["stale_degraded"], serde_json::json!(["merge"]));
    assert_eq!(daemon.get("/readyz/dev").0, 200);
    assert_eq!(daemon.get("/readyz/merge").0, 503);
    assert_eq!(daemon.get("/readyz/nobody").0, 404);
}

#[test]
fn nothing_serving_is_not_ready_however_old_it_is() {
    let folder = Folder::new();
    let daemon = Daemon::start(folder.path(), &[]);
    report(&daemon, r#"{"name":"merge","last_green":"77","idle_secs":3542400},{"name":"new"}"#);
    assert_eq!(daemon.get("/readyz"), (503, "not ready: nothing is serving\n".into()));
}

#[test]
fn a_break_blocks_and_ages_out_at_the_second_the_flip_named_with_no_request_in_between() {
    let folder = Folder::new();
    let daemon = Daemon::start(folder.path(), &["--stale-after", "3s"]);
    let dead = r#"{"name":"merge","last_green":"77","idle_secs":3542400}"#;
    report(&daemon, &format!(r#"{DEV},{dead},{{"name":"lane","serving_sha":"b1","last_green":"b1"}}"#));
    assert_eq!(daemon.get("/readyz").0, 200);
    report(&daemon, &format!(r#"{DEV},{dead},{{"name":"lane","phase":"building","last_green":"b1"}}"#));
    let app = daemon.app();
    assert_eq!(daemon.get("/readyz").0, 503);
    assert_eq!(app["readiness"]["live_degraded"], serde_json::json!(["lane"]));
    let flip = app["readiness"]["flips"][0].clone();
    assert_eq!((&flip["ready"], &flip["because"]), (&true.into(), &"lane".into()));
    wait_until(|| {
        let app = daemon.app();
        // Each body agrees with its own clock: ready exactly from the second that the flip named.
        assert_eq!(app["ready"].as_bool().unwrap(), app["now_unix"].as_u64() >= flip["at_unix"].as_u64(), "{app}");
        app["ready"] == true
    });
    assert_eq!(daemon.app()["readiness"]["since_unix"], flip["at_unix"]);
}

#[test]
fn a_second_daemon_on_one_directory_is_refused_and_told_who_holds_it() {
    let folder = Folder::new();
    let daemon = Daemon::start(folder.path(), &[]);
    let second = std::process::Command::new(greenlight_tests::binary())
        .args(["serve", "--bind", "127.0.0.1:0", "--data"])
        .arg(folder.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&second.stderr);
    assert!(!second.status.success() && said.contains(&daemon.id().to_string()), "{said}");
}

#[test]
fn one_that_waits_for_the_directory_is_live_and_not_ready_and_takes_over() {
    let folder = Folder::new();
    let mut first = Daemon::start(folder.path(), &[]);
    report(&first, DEV);
    let second = Daemon::start_unready(folder.path(), &["--wait-for-lock"]);
    assert_eq!(second.get("/livez").0, 200);
    let (status, why) = second.get("/readyz");
    assert!(status == 503 && why.contains("standing by"), "{why}");
    first.kill();
    wait_until(|| second.get("/app").0 == 200);
    assert_eq!(second.app()["instances"][0]["name"], "dev");
    assert!(second.get("/readyz").1.starts_with("not ready: no source has reported since the restart"));
}

#[test]
fn on_the_signal_it_is_not_ready_at_once_goes_on_for_the_drain_and_exits_with_0() {
    let folder = Folder::new();
    let mut daemon = Daemon::start(folder.path(), &["--drain", "2s"]);
    report(&daemon, DEV);
    let process = rustix::process::Pid::from_raw(daemon.id().try_into().unwrap()).unwrap();
    rustix::process::kill_process(process, rustix::process::Signal::TERM).unwrap();
    wait_until(|| daemon.get("/readyz").0 == 503);
    assert_eq!(daemon.get("/readyz"), (503, "not ready: shutting down\n".into()));
    assert_eq!(daemon.app()["readiness"]["reason"], "shutting_down");
    assert_eq!(daemon.get("/events").0, 503);
    assert_eq!(daemon.ended(), Some(0));
}

#[test]
fn history_tells_what_changed_left_and_who_began_to_watch() {
    let folder = Folder::new();
    let daemon = Daemon::start(folder.path(), &[]);
    report(&daemon, DEV);
    report(&daemon, "");
    let page = |query: &str| -> serde_json::Value {
        serde_json::from_str(&daemon.get(&format!("/history?{query}")).1).unwrap()
    };
    let told = |page: &serde_json::Value| -> Vec<String> {
        page["events"].as_array().unwrap().iter().map(|event| event["event"].as_str().unwrap().to_owned()).collect()
    };
    let whole = page("from=-1h");
    assert_eq!(told(&whole), ["started", "changed", "removed"], "{whole}");
    assert!(whole["next"].is_null(), "{whole}");
    let first = page("from=-1h&limit=2");
    assert_eq!(told(&first), ["started", "changed"], "{first}");
    let rest = page(&format!("from=-1h&after={}", first["next"]));
    assert_eq!(told(&rest), ["removed"], "{rest}");
    assert_eq!(told(&page("from=-1h&name=dev")), ["started", "changed", "removed"]);
    assert_eq!(told(&page("from=-1h&name=lane")), ["started"]);
    assert_eq!(told(&page("from=2000-01-01T00:00:00Z")), ["started", "changed", "removed"]);
    let lines = daemon.get("/history?lines").1;
    assert_eq!(lines.lines().count(), 5, "a head, three events and an end: {lines}");
    assert!(lines.ends_with("{\"end\":{\"events\":3,\"next\":null}}\n"), "{lines}");
    for (query, words) in [
        ("from=yesterday", "from is a moment: Unix seconds, 2026-08-03T14:05:00Z, or so long ago as -7d"),
        ("to=", "to is a moment: "),
        ("limit=0", "limit is a whole number of at least 1"),
        ("after=-1", "after is a whole number of at least 0"),
    ] {
        let (status, problem) = daemon.get(&format!("/history?{query}"));
        assert!(status == 400 && problem.contains(words), "{query}: {status} {problem}");
    }
}

#[test]
fn every_route_is_described() {
    let folder = Folder::new();
    let daemon = Daemon::start(folder.path(), &[]);
    let described: serde_json::Value = serde_json::from_str(&daemon.get("/openapi.json").1).unwrap();
    let paths = described["paths"].as_object().unwrap();
    assert_eq!(described["openapi"], "3.1.0");
    for path in [
        "/livez",
        "/healthz",
        "/readyz",
        "/app",
        "/status",
        "/events",
        "/history",
        "/rotation",
        "/metrics",
        "/openapi.json",
        "/",
    ] {
        assert!(paths[path]["get"]["responses"].is_object(), "{path}");
        assert!(daemon.url.is_empty() || path == "/events" || daemon.get(path).0 != 404, "{path}");
    }
    assert!(paths["/sources/{source}/instances/{name}"]["put"]["requestBody"].is_object());
}
