//! How the process ends: by a signal step by step, by a second one at once.

use greenlight_tests::{Connection, Daemon, Folder, wait_until};

const DEV: &str = r#"{"serving_sha":"a1","last_green":"a1"}"#;

fn path(name: &str) -> String {
    format!("/sources/driver/instances/{name}?good_for_secs=600")
}

/// A report of a row of which the last byte has not been sent.
fn unfinished(daemon: &Daemon, name: &str) -> Connection {
    let mut connection = Connection::open(daemon);
    connection.send(&format!(
        "PUT {} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {}\r\ncontent-length: {}\r\n\r\n{}",
        path(name),
        daemon.token(),
        DEV.len(),
        &DEV[..DEV.len() - 1],
    ));
    connection
}

#[test]
fn each_step_comes_in_turn_with_a_slow_request_a_stuck_one_and_a_stream_open() {
    let folder = Folder::new();
    let mut daemon = Daemon::start(folder.path(), &["--drain", "4s"]);
    assert_eq!(daemon.put(&path("dev"), DEV).0, 200);
    assert_eq!(daemon.get("/readyz").0, 200);
    let mut stream = Connection::open(&daemon);
    stream.send("GET /events HTTP/1.1\r\nhost: x\r\n\r\n");
    stream.read_until("event: beat\n");
    let (mut slow, mut stuck) = (unfinished(&daemon, "slow"), unfinished(&daemon, "stuck"));

    daemon.terminate();
    // Not ready at once, the stream ends with a last word, and nobody joins any more.
    wait_until(|| daemon.get("/readyz") == (503, "not ready: shutting down\n".into()));
    let last_words = stream.read_until("\r\n0\r\n\r\n");
    assert!(last_words.contains(r#""ready":false,"reason":"shutting_down""#), "{last_words}");
    let (status, problem) = daemon.get("/events");
    assert!(status == 503 && problem.contains("shutting down"), "{status} {problem}");
    assert_eq!(daemon.get("/readyz/dev").0, 503);
    assert_eq!(
        daemon.get("/readyz?exclude=lane").1,
        "not ready: shutting down\nwarning: exclude: no instance is named lane\n"
    );
    // Everything else goes on.
    assert_eq!(daemon.get("/livez").0, 200);
    let app = daemon.app();
    assert_eq!((&app["ready"], &app["readiness"]["reason"]), (&false.into(), &"shutting_down".into()));
    assert!(daemon.get("/status").1.starts_with("NOT READY: shutting down\n"));
    assert_eq!(daemon.put(&path("late"), DEV).0, 200);

    // Then nobody gets in, and the request in flight may still finish.
    wait_until(|| Connection::try_open(&daemon).is_err());
    slow.send("}");
    let answer = slow.read_until("}");
    assert!(answer.starts_with("HTTP/1.1 200 ") && answer.contains(r#""changed":["slow"]"#), "{answer}");
    // The one that does not finish is cut, well before its own time is up.
    assert_eq!(stuck.rest(), "");
    assert_eq!(daemon.ended(), Some(0));

    let daemon = Daemon::start(folder.path(), &[]);
    let app = daemon.app();
    let names: Vec<_> = app["instances"].as_array().unwrap().iter().map(|row| row["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["dev", "late", "slow"]);
}

#[test]
fn a_second_signal_ends_it_at_once_and_the_exit_code_says_so() {
    let folder = Folder::new();
    let mut daemon = Daemon::start(folder.path(), &["--drain", "1h"]);
    assert_eq!(daemon.put(&path("dev"), DEV).0, 200);
    let mut stuck = unfinished(&daemon, "stuck");
    daemon.terminate();
    wait_until(|| daemon.get("/readyz").0 == 503);
    daemon.terminate();
    assert_eq!(daemon.ended(), Some(1));
    assert_eq!(stuck.rest(), "");
    // What was acknowledged is there, and the directory is free.
    assert_eq!(Daemon::start(folder.path(), &[]).app()["instances"][0]["name"], "dev");
}

#[test]
fn one_that_stands_by_ends_by_one_signal() {
    let folder = Folder::new();
    let _holder = Daemon::start(folder.path(), &[]);
    let mut second = Daemon::start_unready(folder.path(), &["--wait-for-lock", "--drain", "1h"]);
    wait_until(|| second.get("/livez").0 == 200);
    second.terminate();
    assert_eq!(second.ended(), Some(0));
}
