//! Reading while reports come in: one body agrees with itself, and a stream misses nothing.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::body::Body;
use axum::http::Request;
use greenlight::{Daemon as Embedded, HttpSettings, ReportedRow};
use greenlight_core::{GoodFor, Held, Horizon, Name, Route, Row, Snapshot, UnixSeconds, Vouch};
use greenlight_tests::{Daemon, Folder, wait_until};
use http_body_util::BodyExt;
use serde_json::Value;
use tower::ServiceExt;

fn row(name: &str, serves: bool) -> ReportedRow {
    let serving_sha = serves.then(|| "a1".into());
    ReportedRow { name: name.into(), serving_sha, last_green: Some("a1".into()), ..ReportedRow::default() }
}

/// The snapshot that a body of `/app` tells of.
fn snapshot(app: &Value) -> Snapshot {
    let text = |value: &Value| value.as_str().map(Into::into);
    let rows = app["instances"].as_array().unwrap().iter().zip(0..).map(|(row, order)| {
        let held = Held {
            order,
            name: Name::of_instance(row["name"].as_str().unwrap()).unwrap(),
            row: Row { serving_sha: text(&row["serving_sha"]), last_green: text(&row["last_green"]), ..Row::default() },
            route: Route::default(),
            source: Name::of_source(row["source"].as_str().unwrap()).unwrap(),
            last_change: UnixSeconds::new(row["last_change_unix"].as_u64().unwrap()),
            clamped_from: None,
        };
        let vouch = Vouch {
            last_report: UnixSeconds::new(row["last_report_unix"].as_u64().unwrap()),
            good_for: serde_json::from_value::<GoodFor>(row["good_for_secs"].clone()).unwrap(),
            good_until: row["good_until_unix"].as_u64().map(UnixSeconds::new),
        };
        (Arc::new(held), vouch)
    });
    Snapshot::new(rows.collect::<Vec<_>>(), None)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_body_agrees_with_the_rule_on_its_own_rows_while_reports_flip_it() {
    const FLIPS: u32 = 10_000;
    let daemon = Embedded::builder().start().unwrap();
    let handle = daemon.handle();
    let done = Arc::new(AtomicBool::new(false));
    let flipping = {
        let done = Arc::clone(&done);
        tokio::spawn(async move {
            for flip in 0..FLIPS {
                let rows = vec![row("dev", true), row("lane", flip % 2 == 0)];
                handle.publish("driver", rows).await.unwrap();
            }
            done.store(true, Ordering::Release);
        })
    };
    let router = daemon.router(HttpSettings::default());
    let mut seen: BTreeMap<bool, u32> = BTreeMap::new();
    while !done.load(Ordering::Acquire) {
        let request = Request::get("/app").body(Body::empty()).unwrap();
        let answer = router.clone().oneshot(request).await.unwrap();
        let app: Value = serde_json::from_slice(&answer.into_body().collect().await.unwrap().to_bytes()).unwrap();
        let horizon: Horizon = serde_json::from_value(app["readiness"]["stale_after_secs"].clone()).unwrap();
        let now = UnixSeconds::new(app["now_unix"].as_u64().unwrap());
        let ready = snapshot(&app).verdict(horizon, now).is_ready();
        assert_eq!(app["ready"], ready, "{app}");
        assert_eq!(app["readiness"]["ready"], ready, "{app}");
        *seen.entry(ready).or_default() += 1;
    }
    flipping.await.unwrap();
    assert!(seen.len() == 2, "both verdicts were read: {seen:?}");
}

/// One event stream over a socket of its own.
struct Stream(BufReader<TcpStream>);

impl Stream {
    fn open(daemon: &Daemon, after: &str) -> Self {
        let address = daemon.url.strip_prefix("http://").unwrap();
        let mut socket = TcpStream::connect(address).unwrap();
        socket.set_read_timeout(Some(std::time::Duration::from_secs(20))).unwrap();
        write!(socket, "GET /events?after={after} HTTP/1.1\r\nhost: x\r\n\r\n").unwrap();
        Self(BufReader::new(socket))
    }

    /// The next event of one of these kinds, with its data; others are passed over.
    fn next(&mut self, kinds: &[&str]) -> (String, Value) {
        let mut kind = String::new();
        loop {
            let mut line = String::new();
            assert!(self.0.read_line(&mut line).unwrap() > 0, "the stream ended");
            if let Some(name) = line.trim_end().strip_prefix("event: ") {
                kind = name.to_owned();
            } else if let Some(data) = line.trim_end().strip_prefix("data: ")
                && kinds.contains(&kind.as_str())
            {
                return (kind, serde_json::from_str(data).unwrap());
            }
        }
    }
}

fn put(daemon: &Daemon, name: &str, draining: u32) {
    let path = format!("/sources/driver/instances/{name}?good_for_secs=600");
    let (status, answer) = daemon.put(&path, &format!(r#"{{"draining":{draining}}}"#));
    assert_eq!(status, 200, "{answer}");
}

#[test]
fn from_the_id_of_app_on_a_stream_misses_nothing_and_sees_nothing_twice_also_when_it_reconnects() {
    let folder = Folder::new();
    let mut daemon = Daemon::start(folder.path(), &[]);
    put(&daemon, "a", 0);
    let mut id = daemon.app()["id"].as_str().unwrap().to_owned();
    let mut expected: u64 = 1;
    for round in 0..5_u32 {
        for change in 1..=3 {
            put(&daemon, "a", round * 3 + change);
        }
        let mut stream = Stream::open(&daemon, &id);
        for _ in 0..3 {
            let (_, change) = stream.next(&["change", "reset"]);
            expected += 1;
            assert_eq!(change["revision"], expected, "{change}");
            assert_eq!(change["rows"][0]["draining"], expected - 1);
            id = change["id"].as_str().unwrap().to_owned();
        }
    }
    daemon.kill();
    let daemon = Daemon::start(folder.path(), &[]);
    assert_eq!(Stream::open(&daemon, &id).next(&["change", "reset"]).0, "reset");
}

#[test]
fn a_heartbeat_that_changes_no_row_reaches_a_stream_as_a_renewal_and_stores_no_change() {
    let folder = Folder::new();
    let daemon = Daemon::start(folder.path(), &[]);
    put(&daemon, "a", 1);
    let app = daemon.app();
    let until = app["instances"][0]["good_until_unix"].as_u64().unwrap();
    let mut stream = Stream::open(&daemon, app["id"].as_str().unwrap());
    wait_until(|| {
        put(&daemon, "a", 1);
        daemon.app()["instances"][0]["good_until_unix"].as_u64() > Some(until)
    });
    loop {
        let (kind, renew) = stream.next(&["renew", "change"]);
        assert_eq!(kind, "renew", "{renew}");
        if renew["sources"][0]["good_until_unix"].as_u64() > Some(until) {
            break;
        }
    }
    assert_eq!(daemon.app()["revision"], app["revision"]);
}

#[test]
fn idle_connections_however_many_do_not_keep_a_probe_out() {
    let folder = Folder::new();
    let daemon = Daemon::start(folder.path(), &[]);
    let idle: Vec<TcpStream> = (0..connections())
        .map_while(|_| TcpStream::connect(daemon.url.strip_prefix("http://").unwrap()).ok())
        .collect();
    println!("{} idle connections", idle.len());
    wait_until(|| daemon.get("/readyz").0 == 503 && daemon.get("/livez").0 == 200);
}

/// More than the daemon takes, as far as this process may open them, less some for itself.
fn connections() -> u64 {
    rustix::process::getrlimit(rustix::process::Resource::Nofile)
        .current
        .unwrap_or(u64::MAX)
        .saturating_sub(64)
        .min(10_200)
}
