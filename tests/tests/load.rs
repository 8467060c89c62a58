//! Clients that are slow or many: none of them keeps a probe out, and none is waited for.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use greenlight_tests::{Connection, Daemon, Folder, wait_until};
use serde_json::{Value, json};

/// As many as a board holds.
const ROWS: usize = 100_000;
/// As many heavy reads as go on at once.
const HEAVY_READS: usize = 4;
/// Clients that send a byte a second, and as many that stop after one.
const SLOW_CLIENTS: usize = 150;
const TOKEN: &str = "a-token-of-this-test";

/// Does something again and again, with so long between, until the other end of the channel is gone.
fn until_done(done: &mpsc::Receiver<()>, pause: Duration, mut act: impl FnMut()) {
    while done.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
        act();
    }
}

fn a_full_board(daemon: &Daemon) {
    let rows: Vec<String> =
        (0..ROWS).map(|row| format!(r#"{{"name":"row-{row:06}","serving_sha":"a","last_green":"a"}}"#)).collect();
    let report = format!(r#"{{"instances":[{}],"good_for_secs":600}}"#, rows.join(","));
    let mut connection = Connection::open(daemon);
    connection.send(&format!(
        "PUT /sources/driver HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {}\r\ncontent-length: {}\r\n\r\n{report}",
        TOKEN,
        report.len()
    ));
    assert_eq!(connection.read_until("\r\n"), "HTTP/1.1 202 Accepted\r\n");
}

/// A reader of `/app` that has got the beginning, and takes the rest slowly.
fn slow_reader(daemon: &Daemon) -> Connection {
    let mut connection = Connection::open(daemon);
    connection.take_little();
    connection.send("GET /app HTTP/1.1\r\nhost: x\r\n\r\n");
    assert_eq!(connection.read_until("\r\n"), "HTTP/1.1 200 OK\r\n");
    connection
}

/// The daemon answers each of many probes while all of them go on.
fn check_probes(daemon: &Daemon) {
    for _ in 0..20 {
        assert_eq!(daemon.get("/readyz"), (200, "ready\n".into()));
        assert_eq!(daemon.get("/livez").0, 200);
    }
}

#[test]
fn slow_clients_and_slow_readers_of_a_full_board_keep_no_probe_out_and_a_fifth_reader_waits_or_is_refused() {
    let folder = Folder::new();
    let tokens = folder.path().join("tokens");
    std::fs::write(&tokens, TOKEN).unwrap();
    // Nothing here is about the store, and a first commit of a full board takes its time.
    let daemon = Daemon::start(Path::new("memory"), &["--token-file", tokens.to_str().unwrap()]);
    a_full_board(&daemon);
    let silent: Vec<Connection> = (0..SLOW_CLIENTS)
        .map(|_| {
            let mut connection = Connection::open(&daemon);
            connection.send("G");
            connection
        })
        .collect();
    let trickling: Vec<Connection> = (0..SLOW_CLIENTS).map(|_| Connection::open(&daemon)).collect();
    let mut readers: Vec<Connection> = (0..HEAVY_READS).map(|_| slow_reader(&daemon)).collect();
    let leaving = readers.pop();
    let cut = AtomicUsize::new(0);
    let fifth_is_in = AtomicBool::new(false);
    std::thread::scope(|scope| {
        // Within the scope, so that where the test fails they end too.
        let (trickle, trickles) = mpsc::channel();
        let (read, reads) = mpsc::channel();
        let (leave, leaves) = mpsc::channel();
        let cut = &cut;
        scope.spawn(move || {
            let mut open: Vec<_> = silent.into_iter().map(|silent| (silent, "")).collect();
            open.extend(trickling.into_iter().map(|trickling| (trickling, "x")));
            until_done(&trickles, Duration::from_secs(1), || {
                open.retain_mut(|(client, says)| {
                    let is_open = client.try_send(says).is_ok() && !client.is_closed();
                    cut.fetch_add(usize::from(!is_open), Ordering::Relaxed);
                    is_open
                });
            });
        });
        let slowly = |done: mpsc::Receiver<()>, mut readers: Vec<Connection>| {
            until_done(&done, Duration::from_millis(150), || {
                for reader in &mut readers {
                    assert!(reader.read(1 << 16).is_ok_and(|bytes| bytes > 0), "a slow reader was dropped");
                }
            });
        };
        scope.spawn(move || slowly(reads, readers));
        scope.spawn(move || slowly(leaves, leaving.into_iter().collect()));
        check_probes(&daemon);

        // Nobody makes room: the fifth waits a while and is told to come back.
        let mut fifth = Connection::open(&daemon);
        fifth.send("GET /status HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
        let refused = fifth.rest();
        assert!(refused.starts_with("HTTP/1.1 503 ") && refused.contains("retry-after: 1\r\n"), "{refused}");
        assert!(refused.contains("as many large answers as are allowed are under way"), "{refused}");
        check_probes(&daemon);

        // One leaves while the fifth waits: it gets its answer, and probes still get theirs.
        let (daemon, fifth_is_in) = (&daemon, &fifth_is_in);
        scope.spawn(move || {
            let mut fifth = Connection::open(daemon);
            fifth.send("GET /status HTTP/1.1\r\nhost: x\r\n\r\n");
            drop(leave);
            assert_eq!(fifth.read_until("\r\n"), "HTTP/1.1 200 OK\r\n");
            fifth_is_in.store(true, Ordering::Release);
        });
        wait_until(|| {
            check_probes(daemon);
            fifth_is_in.load(Ordering::Acquire)
        });
        // Clients that do not get to the end of their headers in time are closed, whether they trickle or not.
        wait_until(|| {
            check_probes(daemon);
            cut.load(Ordering::Relaxed) == 2 * SLOW_CLIENTS
        });
        drop((trickle, read));
    });
}

#[test]
fn a_client_that_never_reads_its_stream_is_dropped_while_publishing_goes_on() {
    let folder = Folder::new();
    let daemon = Daemon::start(folder.path(), &[]);
    let streams = || {
        let metrics = daemon.get("/metrics").1;
        let line = metrics.lines().find_map(|line| line.strip_prefix("greenlight_event_streams "));
        line.expect("streams are counted").to_owned()
    };
    let mut idle = Connection::open(&daemon);
    idle.take_little();
    idle.send("GET /events HTTP/1.1\r\nhost: x\r\n\r\n");
    let mut reader = Connection::open(&daemon);
    reader.send("GET /events HTTP/1.1\r\nhost: x\r\n\r\n");
    wait_until(|| streams() == "2.0" || streams() == "2");
    let mut published: u64 = 0;
    wait_until(|| {
        published += 1;
        // More than the buffers between us hold comes together soon: each change is most of a megabyte.
        let reason = format!("{published:07} ").repeat(2000);
        let rows: Vec<Value> =
            (0..50).map(|lane| json!({"name": format!("lane-{lane}"), "last_red_reason": reason})).collect();
        let (status, answer) = daemon.put("/sources/driver", &json!({ "instances": rows }).to_string());
        // Never waited for: each report is taken and answered meanwhile.
        assert_eq!(status, 200, "{answer}");
        // One that reads loses nothing by the other.
        reader.read_until(&format!("event: change\nid: {}.{published}\n", daemon.app()["boot"].as_str().unwrap()));
        reader.read_until("\n\n");
        streams().starts_with('1')
    });
    println!("dropped after {published} changes");
    assert_eq!(daemon.app()["revision"], published);
}
