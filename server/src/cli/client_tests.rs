//! The commands that speak to a daemon, against a little server that answers what it is told.

use std::ffi::OsString;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::PathBuf;
use std::sync::mpsc::{self, Receiver};
use std::thread;

use serde_json::{Value, json};

use super::console::testing::captured;
use super::environment::Environment;
use super::outcome::Outcome;

/// What one request was.
#[derive(Debug)]
struct Asked {
    line: String,
    head: String,
    body: String,
}

/// Answers each connection with the next of `answers`, each a status line and a body.
fn server(answers: Vec<(&'static str, String)>) -> (String, Receiver<Asked>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (tell, asked) = mpsc::channel();
    thread::spawn(move || {
        for (status, body) in answers {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = Vec::new();
            let mut piece = [0; 4096];
            let (head, length) = loop {
                let read = stream.read(&mut piece).unwrap();
                request.extend_from_slice(&piece[..read]);
                if let Some(end) = request.windows(4).position(|window| window == b"\r\n\r\n") {
                    let head = String::from_utf8(request[..end].to_vec()).unwrap().to_ascii_lowercase();
                    let length = head
                        .lines()
                        .find_map(|line| line.strip_prefix("content-length: "))
                        .map_or(0, |length| length.parse().unwrap());
                    break (end + 4, length);
                }
            };
            while request.len() < head + length {
                let read = stream.read(&mut piece).unwrap();
                request.extend_from_slice(&piece[..read]);
            }
            let text = String::from_utf8(request).unwrap();
            tell.send(Asked {
                line: text.lines().next().unwrap().to_owned(),
                head: text[..head].to_owned(),
                body: text[head..].to_owned(),
            })
            .unwrap();
            let length = body.len();
            write!(stream, "HTTP/1.1 {status}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}").unwrap();
        }
    });
    (url, asked)
}

/// Runs a command line in an environment without a home.
fn run(arguments: &[&str], input: &str) -> (Outcome, String, String) {
    run_in(&Environment::default(), arguments, input)
}

fn run_in(environment: &Environment, arguments: &[&str], input: &str) -> (Outcome, String, String) {
    let arguments = ["greenlight"].iter().chain(arguments).map(OsString::from);
    captured(input, |console| super::run(arguments, environment, console))
}

fn accepted(changed: &[&str], removed: &[&str]) -> String {
    json!({"revision": 812, "changed": changed, "removed": removed}).to_string()
}

/// A file that is removed again.
struct TokenFile(PathBuf);

impl TokenFile {
    fn new(text: &str) -> Self {
        let mut random = [0_u8; 8];
        getrandom::fill(&mut random).unwrap();
        let path = std::env::temp_dir().join(format!("greenlight-test-{:016x}", u64::from_be_bytes(random)));
        fs::write(&path, text).unwrap();
        Self(path)
    }

    fn path(&self) -> &str {
        self.0.to_str().unwrap()
    }
}

impl Drop for TokenFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// What one `publish` sends: the request line and the body.
#[track_caller]
fn published(arguments: &[&str], input: &str) -> (String, Value) {
    let (url, asked) = server(vec![("200 OK", accepted(&["dev"], &[]))]);
    let arguments: Vec<&str> = ["publish"].iter().chain(arguments).copied().chain(["--to", &url]).collect();
    let (outcome, out, err) = run(&arguments, input);
    assert_eq!((outcome, out.as_str()), (Outcome::Yes, "revision 812: changed dev\n"), "{err}");
    let asked = asked.recv().unwrap();
    assert!(asked.head.to_ascii_lowercase().contains("content-type: application/json"), "{}", asked.head);
    (asked.line, serde_json::from_str(&asked.body).unwrap())
}

#[test]
fn every_flag_of_a_row_is_its_field_on_the_wire() {
    for (flag, value, field, wire) in [
        ("--phase", "building", "phase", json!("building")),
        ("--last-green", "a1", "last_green", json!("a1")),
        ("--last-red-sha", "c0", "last_red_sha", json!("c0")),
        ("--last-red-reason", "exited 1", "last_red_reason", json!("exited 1")),
        ("--last-red-file", "src/a.rs", "last_red_files", json!(["src/a.rs"])),
        ("--pending-sha", "b2", "pending_sha", json!("b2")),
        ("--draining", "2", "draining", json!(2)),
        ("--proxy-port", "8201", "proxy_port", json!(8201)),
        ("--public-host", "x.example.org", "public_host", json!("x.example.org")),
        ("--expires-at", "1785800000", "expires_at", json!(1_785_800_000_u64)),
        ("--idle-secs", "41d", "idle_secs", json!(3_542_400)),
        ("--idle-secs", "90", "idle_secs", json!(90)),
    ] {
        let (line, body) = published(&["dev", flag, value], "");
        assert_eq!(line, "PUT /sources/cli/instances/dev?strict=true HTTP/1.1");
        assert_eq!(body, json!({ field: wire }), "{flag}");
    }
    assert_eq!(published(&["dev"], "").1, json!({}));
}

#[test]
fn what_serves_is_green_unless_something_else_is_given() {
    assert_eq!(published(&["dev", "--serving-sha", "a1"], "").1, json!({"serving_sha": "a1", "last_green": "a1"}));
    assert_eq!(
        published(&["dev", "--serving-sha", "a1", "--last-green", "b2"], "").1,
        json!({"serving_sha": "a1", "last_green": "b2"})
    );
}

#[test]
fn a_row_is_put_under_its_encoded_name_with_how_long_it_is_good() {
    let (line, _) =
        published(&["eu/dev ü".replace(' ', "").as_str(), "--source", "my+driver", "--good-for", "90s"], "");
    assert_eq!(line, "PUT /sources/my%2Bdriver/instances/eu%2Fdev%C3%BC?strict=true&good_for_secs=90 HTTP/1.1");
    let (line, _) = published(&["dev", "--good-for", "until_restart", "--sequence", "7"], "");
    assert_eq!(line, "PUT /sources/cli/instances/dev?strict=true&good_for_secs=until_restart&sequence=7 HTTP/1.1");
}

#[test]
fn a_report_is_sent_as_it_is_and_rows_alone_are_one() {
    let report = json!({"instances": [{"name": "dev"}], "good_for_secs": "forever", "unheard_of": 1});
    let (line, body) = published(&["--report", "-", "--source", "driver"], &report.to_string());
    assert_eq!((line.as_str(), body), ("PUT /sources/driver?strict=true HTTP/1.1", report));
    let (_, body) = published(&["--report", "-", "--good-for", "10m", "--sequence", "7"], r#"[{"name":"dev"}]"#);
    assert_eq!(body, json!({"instances": [{"name": "dev"}], "good_for_secs": 600, "sequence": 7}));
}

#[test]
fn what_is_no_report_is_usage_and_nothing_is_sent() {
    for (arguments, input, why) in [
        (&["publish", "--report", "-"][..], "{", "standard input is not JSON: EOF"),
        (&["publish", "--report", "-"], "7", "a report is an object"),
        (&["publish", "--report", "/does/not/exist"], "", "/does/not/exist: "),
        (&["publish", "dev", "--token-file", "/does/not/exist"], "", "token file /does/not/exist: "),
    ] {
        let (outcome, _, err) = run(arguments, input);
        assert_eq!(outcome, Outcome::Usage, "{arguments:?}");
        assert!(err.starts_with("greenlight: ") && err.contains(why), "{err}");
    }
    for arguments in [
        &["publish"][..],
        &["publish", "a b"],
        &["publish", "dev", "--source", "a/b"],
        &["publish", "dev", "--report", "-"],
        &["publish", "--report", "-", "--phase", "x"],
        &["publish", "dev", "--good-for", "0"],
        &["publish", "dev", "--draining", "-1"],
        &["publish", "dev", "--draining", "9007199254740992"],
        &["publish", "dev", "--to", "ftp://a"],
        &["wait", "dev"],
        &["wait", "dev", "--sha", ""],
        &["status", "http://a", "--to", "http://b"],
        &["test"],
        &["nonsense"],
    ] {
        assert_eq!(run(arguments, "").0, Outcome::Usage, "{arguments:?}");
    }
}

#[test]
fn a_refusal_is_no_and_says_why() {
    let problem = json!({"title": "Held", "status": 409, "detail": "dev is held by \u{1b}[2Jdriver", "path": "name"});
    let (url, _asked) = server(vec![("409 Conflict", problem.to_string())]);
    let (outcome, out, err) = run(&["publish", "dev", "--to", &url], "");
    assert_eq!((outcome, out.as_str()), (Outcome::No, ""));
    assert_eq!(err, "greenlight: refused: Held at name: dev is held by \\u{1b}[2Jdriver\n");
}

#[test]
fn what_is_not_durable_is_accepted_and_told() {
    let (url, _asked) = server(vec![("202 Accepted", accepted(&[], &["a", "b"]))]);
    let (outcome, out, err) = run(&["publish", "dev", "--to", &url], "");
    assert_eq!((outcome, out.as_str()), (Outcome::Yes, "revision 812: removed a, b\n"));
    assert!(err.contains("not durable"), "{err}");
}

#[test]
fn an_accepted_report_can_be_told_as_json() {
    let (url, _asked) = server(vec![("200 OK", accepted(&[], &[]))]);
    let (outcome, out, _) = run(&["publish", "dev", "--json", "--to", &url], "");
    assert_eq!((outcome, out), (Outcome::Yes, format!("{}\n", accepted(&[], &[]))));
}

#[test]
fn trouble_of_the_daemon_or_another_server_is_not_found_out() {
    for status in ["500 Internal Server Error", "503 Service Unavailable", "302 Found\r\nlocation: http://127.0.0.1:9/"]
    {
        let (url, asked) = server(vec![(status, "<html>".into())]);
        let (outcome, _, err) = run(&["publish", "dev", "--to", &url], "");
        assert_eq!(outcome, Outcome::NotFoundOut, "{status}: {err}");
        assert!(err.contains(&status[..3]), "{err}");
        assert_eq!(asked.iter().count(), 1, "nothing is tried twice or followed");
    }
}

#[test]
fn a_daemon_that_is_not_there_is_named_with_what_to_try() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", free.local_addr().unwrap());
    drop(free);
    for arguments in [&["publish", "dev"][..], &["status"], &["wait", "dev", "--sha", "c0ffee1", "--timeout", "0"]] {
        let arguments: Vec<&str> = arguments.iter().copied().chain(["--to", &url]).collect();
        let (outcome, _, err) = run(&arguments, "");
        assert_eq!(outcome, Outcome::NotFoundOut, "{arguments:?}");
        assert!(err.contains(&url) && err.contains("greenlight serve"), "{err}");
    }
}

#[test]
fn a_token_is_read_from_its_file_and_shown_nowhere() {
    let file = TokenFile::new("# ours\n\n  s3cret  \nother\n");
    let (url, asked) = server(vec![("200 OK", accepted(&[], &[])), ("403 Forbidden", String::new())]);
    let (_, out, err) = run(&["publish", "dev", "--to", &url, "--token-file", file.path()], "");
    assert!(asked.recv().unwrap().head.to_ascii_lowercase().contains("authorization: bearer s3cret\r\n"));
    assert!(!out.contains("s3cret") && !err.contains("s3cret"));
    let environment: Environment =
        [("GREENLIGHT_TO", url.as_str()), ("GREENLIGHT_TOKEN_FILE", file.path())].into_iter().collect();
    let (outcome, out, err) = run_in(&environment, &["publish", "dev"], "");
    assert!(asked.recv().unwrap().head.to_ascii_lowercase().contains("authorization: bearer s3cret\r\n"));
    assert_eq!(outcome, Outcome::No);
    assert!(!out.contains("s3cret") && !err.contains("s3cret"));
}

#[test]
fn a_token_that_no_header_carries_is_usage() {
    for text in ["a b\n", "ü\n", "", "# nothing\n"] {
        let file = TokenFile::new(text);
        assert_eq!(run(&["publish", "dev", "--token-file", file.path()], "").0, Outcome::Usage, "{text:?}");
    }
}

#[test]
fn without_a_token_the_daemon_is_asked_and_its_no_says_what_was_missing() {
    let (url, asked) = server(vec![("401 Unauthorized", json!({"title": "A token is needed"}).to_string())]);
    let (outcome, _, err) = run(&["publish", "dev", "--to", &url], "");
    assert_eq!(outcome, Outcome::No);
    assert!(!asked.recv().unwrap().head.to_ascii_lowercase().contains("authorization"));
    assert!(err.starts_with("greenlight: refused: A token is needed (no token was sent: "), "{err}");
}

#[test]
fn the_status_is_that_of_the_body_which_is_shown() {
    for (status, body, outcome) in [
        ("200 OK", "READY\nhorizon 1h\n", Outcome::Yes),
        ("200 OK", "NOT READY: nothing is serving\n", Outcome::No),
        ("200 OK", "<html>READY</html>", Outcome::NotFoundOut),
        ("404 Not Found", "no", Outcome::NotFoundOut),
        ("200 OK", "", Outcome::NotFoundOut),
    ] {
        let (url, asked) = server(vec![(status, body.into())]);
        let (got, out, _) = run(&["status", &url], "");
        assert_eq!((got, asked.recv().unwrap().line.as_str()), (outcome, "GET /status HTTP/1.1"), "{body}");
        assert_eq!(out, if outcome == Outcome::NotFoundOut { "" } else { body });
    }
    for (body, outcome) in [
        (r#"{"ready": true, "instances": []}"#, Outcome::Yes),
        (r#"{"ready": false}"#, Outcome::No),
        (r#"{"reday": true}"#, Outcome::NotFoundOut),
    ] {
        let (url, asked) = server(vec![("200 OK", body.into())]);
        let (got, _, _) = run(&["status", "--json", "--to", &format!("{url}/")], "");
        assert_eq!((got, asked.recv().unwrap().line.as_str()), (outcome, "GET /app HTTP/1.1"));
    }
}

#[test]
fn a_hostile_status_moves_no_cursor() {
    let (url, _asked) = server(vec![("200 OK", "READY\n\u{1b}[2J\u{202e}x\n".into())]);
    assert_eq!(run(&["status", &url], "").1, "READY\n\\u{1b}[2J\\u{202e}x\n");
}

#[test]
fn a_wait_looks_at_the_row_of_that_name() {
    let app = |serving: &str, unconfirmed: &[&str]| {
        let instances = json!([{"name": "other", "serving_sha": "c0ffee1"}, {"name": "dev", "serving_sha": serving}]);
        json!({"instances": instances, "readiness": {"unconfirmed": unconfirmed}}).to_string()
    };
    for (body, outcome) in [
        (app("c0ffee1234", &[]), Outcome::Yes),
        (app("c0ffee1234", &["dev"]), Outcome::NotFoundOut),
        (app("a1b2c3d", &[]), Outcome::NotFoundOut),
        (r#"{"instances":[{"name":"dev","last_red_sha":"c0ffee1234"}]}"#.into(), Outcome::No),
    ] {
        let (url, asked) = server(vec![("200 OK", body.clone())]);
        let (got, _, err) = run(&["wait", "dev", "--sha", "c0ffee1", "--timeout", "0", "--to", &url], "");
        assert_eq!((got, asked.recv().unwrap().line.as_str()), (outcome, "GET /app HTTP/1.1"), "{body}: {err}");
    }
}

#[test]
fn a_daemon_under_a_path_and_only_a_daemon_is_spoken_to() {
    let (url, asked) = server(vec![("200 OK", "READY\n".into())]);
    assert_eq!(run(&["status", &format!("{url}/green/")], "").0, Outcome::Yes);
    assert_eq!(asked.recv().unwrap().line, "GET /green/status HTTP/1.1");
    assert_eq!(run(&["status", &format!("{url}/?a=b")], "").0, Outcome::Usage);
}
