//! The process's own log: whatever a source says, a line is one inert line; and no token stands in it, nor anywhere
//! else that somebody may read.

#![expect(clippy::unwrap_used, reason = "a helper of a test fails the test")]

use std::fs::{self, File};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};

use greenlight_tests::{Connection, Daemon, Folder, greenlight, wait_until};
use serde_json::Value;

/// Control characters, an escape that clears a screen, a forged line, a turned reading direction, hidden tags. As
/// JSON writes them.
const HOSTILE: &str = r"\u0007\u001b[2J\r\n2026-01-01T00:00:00Z ERROR forged\u202e\u2028\u0085\ud83d\ude00\udb40\udc41";

/// A daemon that logs all it can into a file.
fn logging(folder: &Folder, arguments: &[&str]) -> (Daemon, PathBuf) {
    let log = folder.path().join("log");
    let arguments = [&["--log", "trace", "--drain", "0"], arguments].concat();
    let daemon = Daemon::start_logging(&folder.path().join("data"), &arguments, File::create(&log).unwrap());
    wait_until(|| daemon.get("/status").0 == 200);
    (daemon, log)
}

fn ended(mut daemon: Daemon, log: &Path) -> String {
    daemon.terminate();
    assert_eq!(daemon.ended(), Some(0));
    fs::read_to_string(log).unwrap()
}

/// Another daemon whose every answer is hostile, in one of several ways after another.
fn hostile_upstream() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        let bodies = [
            format!(r#"{{"instances":"{HOSTILE}"}}"#),
            format!(r#"{{"instances":[{{"name":"{HOSTILE}"}}]}}"#),
            format!(r#"{{"instances":[],"readiness":{{"reason":{{"{HOSTILE}":1}}}}}}"#),
        ];
        for (socket, body) in listener.incoming().zip(bodies.iter().cycle()) {
            let Ok(mut socket) = socket else { return };
            let _ = socket.read(&mut [0; 4096]);
            let _ = write!(socket, "HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}", body.len());
        }
    });
    url
}

/// Says hostile things at every door, so that whatever is logged of them is logged.
fn say_hostile_things(daemon: &Daemon) {
    let row = |serving: &str| {
        format!(
            r#"{{"name":"dev","phase":"{HOSTILE}","serving_sha":{serving},"last_green":"{HOSTILE}","last_red_sha":"{HOSTILE}",
                "last_red_reason":"{HOSTILE}","last_red_files":["{HOSTILE}"],"pending_sha":"{HOSTILE}","public_host":"{HOSTILE}"}}"#
        )
    };
    let report = |row: &str| format!(r#"{{"instances":[{row}],"good_for_secs":1}}"#);
    let hostile = format!("\"{HOSTILE}\"");
    // It serves, degrades, is refused under hostile names, and lapses.
    assert_eq!(daemon.put("/sources/driver", &report(&row(&hostile))).0, 200);
    assert_eq!(daemon.put("/sources/driver", &report(&row("null"))).0, 200);
    assert_eq!(daemon.put("/sources/driver", &report(&row(&hostile))).0, 200);
    assert_eq!(daemon.put("/sources/driver", &report(&format!(r#"{{"name":"{HOSTILE}"}}"#))).0, 422);
    assert_eq!(daemon.put("/sources/driver", &report(&format!(r#"{{"name":"dev","draining":"{HOSTILE}"}}"#))).0, 422);
    assert_eq!(daemon.put("/sources/driver?strict=true", &format!(r#"{{"{HOSTILE}":1,"instances":[]}}"#)).0, 422);
    let in_path = "%1b%5b2J%0a%e2%80%ae";
    assert_eq!(daemon.put(&format!("/sources/{in_path}"), "{\"instances\":[]}").0, 422);
    for path in ["/readyz/", "/history?from=", "/app?stale_after=", "/events?after=", "/readyz?exclude=", "/"] {
        let mut connection = Connection::open(daemon);
        connection.send(&format!(
            "GET {path}{in_path} HTTP/1.1\r\nhost: \u{202e}\r\nuser-agent: \u{202e}\u{85}\r\nlast-event-id: \u{202e}\r\n\r\n"
        ));
        connection.read_until("\r\n");
    }
    let mut connection = Connection::open(daemon);
    connection.send("\u{1b}[2J\u{202e} / HTTP/1.1\r\n\r\n");
    connection.rest();
}

fn a_log_of_hostile_things(format: &str) -> String {
    let folder = Folder::new();
    let upstream = hostile_upstream();
    let config = folder.path().join("greenlight.toml");
    fs::write(&config, format!("[[follow]]\nurl = \"{upstream}\"\nevery = \"1s\"\n")).unwrap();
    let (daemon, log) = logging(&folder, &["--log-format", format, "--config", config.to_str().unwrap()]);
    say_hostile_things(&daemon);
    // Its report was good for a second, and each way of the upstream has had its turn.
    wait_until(|| {
        let log = fs::read_to_string(&log).unwrap();
        log.contains("nobody vouches") && log.matches("upstream renews nothing").count() >= 3
    });
    ended(daemon, &log)
}

#[track_caller]
fn check_inert(line: &str) {
    assert!(!line.chars().any(greenlight_core::is_invisible), "{line:?}");
}

#[test]
fn each_line_of_the_log_is_inert_and_none_is_forged() {
    let log = a_log_of_hostile_things("text");
    for line in log.lines() {
        check_inert(line);
        assert!(line.starts_with("20") && !line.starts_with("2026-01-01T00:00:00Z ERROR forged"), "{line:?}");
    }
    assert!(log.contains(r"\u{202e}"), "what an upstream says is told: {log}");
}

#[test]
fn each_line_of_a_log_in_json_is_inert_json() {
    let log = a_log_of_hostile_things("json");
    for line in log.lines() {
        check_inert(line);
        assert!(serde_json::from_str::<Value>(line).is_ok_and(|event| event["level"].is_string()), "{line:?}");
    }
}

/// All that anybody can read of a daemon with that token, after it was tried rightly and wrongly.
fn everything_readable(folder: &Folder, token: &str, arguments: &[&str]) -> Vec<String> {
    let (daemon, log) = logging(folder, arguments);
    let row = r#"{"instances":[{"name":"dev","serving_sha":"a1"}],"good_for_secs":1}"#;
    let mut read = Vec::new();
    let mut longer = token.to_owned();
    longer.push('x');
    for (authorization, status) in [
        (format!("Bearer {token}"), 200),
        (format!("Bearer {longer}"), 401),
        (format!("Bearer {}", &token[1..]), 401),
        (format!("Basic {token}"), 401),
        (token.to_owned(), 401),
        (String::new(), 401),
    ] {
        let (got, body) = daemon.put_as(&authorization, "/sources/driver", row);
        assert_eq!(got, status, "{body}");
        read.push(body);
    }
    read.push(daemon.put_as(&format!("Bearer {token}"), "/sources/driver", "{").1);
    read.push(daemon.put_as(&format!("Bearer {token}"), "/sources/driver/instances/a%20b", "{}").1);
    for path in ["/app", "/metrics", "/status", "/readyz?verbose", "/history", "/openapi.json", "/nowhere", "/livez"] {
        read.push(daemon.get(path).1);
    }
    let mut stream = Connection::open(&daemon);
    stream.send(&format!("GET /events HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {token}\r\n\r\n"));
    read.push(stream.read_until("event: beat\n"));
    let data = folder.path().join("data");
    let printed = greenlight(&[&["serve", "--print-config", "--data", data.to_str().unwrap()], arguments].concat(), "");
    assert_eq!(printed.code, Some(0), "{printed:?}");
    read.extend([printed.out, printed.err]);
    let url = daemon.url.clone();
    for file in
        arguments.last().map(|file| (*file).to_owned()).into_iter().chain([data.join("token").display().to_string()])
    {
        let published = greenlight(&["publish", "dev", "--to", &url, "--token-file", &file, "--source", "a"], "");
        read.extend([published.out, published.err]);
    }
    read.push(ended(daemon, &log));
    read
}

#[track_caller]
fn check_nowhere(token: &str, read: &[String]) {
    assert!(token.len() > 20 && read.len() > 15);
    // A part that is long enough to guess the rest from would be as bad.
    for part in [&token[..12], &token[token.len() - 12..]] {
        assert_eq!(read.iter().find(|text| text.contains(part)), None, "{part}");
    }
}

#[test]
fn a_token_that_was_given_stands_nowhere() {
    let folder = Folder::new();
    let token = "s3cr3t-given-token-0123456789";
    let file = folder.path().join("tokens");
    fs::write(&file, format!("# ours\n{token}\n")).unwrap();
    check_nowhere(token, &everything_readable(&folder, token, &["--token-file", file.to_str().unwrap()]));
}

#[test]
fn a_token_that_was_made_stands_nowhere_but_in_its_file() {
    let folder = Folder::new();
    let data = folder.path().join("data");
    // Made by a first start, so that it is known before the log begins.
    let first = Daemon::start(&data, &[]);
    let token = first.token();
    drop(first);
    check_nowhere(&token, &everything_readable(&folder, &token, &[]));
    // And by a start that makes it while it logs all it can.
    fs::remove_file(data.join("token")).unwrap();
    let (daemon, log) = logging(&folder, &[]);
    let made = daemon.token();
    assert_ne!(made, token);
    let log = ended(daemon, &log);
    assert!(log.contains("made a token") && !log.contains(&made[..12]), "{log}");
}
