//! A disk that fills up under the real daemon.

#![expect(clippy::unwrap_used, reason = "a helper of a test fails the test")]

use std::fs;
use std::io::{ErrorKind, Write};
use std::path::Path;
use std::process::Command;

use greenlight_tests::{Daemon, Folder, wait_until};
use serde_json::{Value, json};

/// A small file system of its own in memory, gone at the end.
struct Mounted<'a>(&'a Path);

impl<'a> Mounted<'a> {
    /// Mounts one, where this process may. Why not, where it may not.
    fn at(path: &'a Path) -> Result<Self, String> {
        fs::create_dir_all(path).unwrap();
        let ran = Command::new("mount").args(["-t", "tmpfs", "-o", "size=24m", "tmpfs"]).arg(path).output();
        match ran {
            Ok(ran) if ran.status.success() => Ok(Self(path)),
            Ok(ran) => Err(String::from_utf8_lossy(&ran.stderr).trim().to_owned()),
            Err(error) => Err(error.to_string()),
        }
    }
}

impl Drop for Mounted<'_> {
    fn drop(&mut self) {
        // What is still open is let go of when it closes.
        let _ = Command::new("umount").arg("-l").arg(self.0).output();
    }
}

/// Writes a file until nothing more fits.
fn fill(file: &Path) {
    let mut filler = fs::OpenOptions::new().append(true).create(true).open(file).unwrap();
    for piece in [1 << 20, 1 << 12] {
        let piece = vec![0; piece];
        while filler.write_all(&piece).map_err(|error| assert_eq!(error.kind(), ErrorKind::StorageFull)).is_ok() {}
    }
}

/// Forty rows that each carry as long a reason as a row may.
fn report(daemon: &Daemon, round: usize, serving: &Value) -> (u16, Value) {
    let reason = format!("{round:07} ").repeat(2000);
    let mut rows: Vec<Value> =
        (0..40).map(|lane| json!({"name": format!("lane-{lane:02}"), "last_red_reason": reason})).collect();
    rows.push(json!({"name": "dev", "serving_sha": serving, "last_green": "a1", "draining": round}));
    let body = json!({"instances": rows, "good_for_secs": 600}).to_string();
    let (status, answer) = daemon.put("/sources/driver", &body);
    (status, serde_json::from_str(&answer).unwrap())
}

#[test]
fn a_full_disk_keeps_no_report_from_the_verdict_is_told_and_when_there_is_room_again_all_is_stored() {
    let folder = Folder::new();
    let disk = folder.path().join("disk");
    let _mounted = match Mounted::at(&disk) {
        Ok(mounted) => mounted,
        Err(why) => {
            eprintln!("SKIPPED: no small file system can be mounted here, so that no disk fills up: {why}");
            return;
        }
    };
    let log = folder.path().join("log");
    let mut daemon = Daemon::start_logging(&disk.join("data"), &[], fs::File::create(&log).unwrap());
    wait_until(|| daemon.get("/status").0 == 200);
    assert_eq!(report(&daemon, 0, &json!("a1")).0, 200);
    assert_eq!(daemon.get("/readyz").0, 200);
    fill(&disk.join("filler"));

    // What the store's file still has room for within itself is durable; then it is not, and that is said.
    let (status, answer) = (1..100)
        .map(|round| report(&daemon, round, &json!("a1")))
        .find(|(status, _)| *status != 200)
        .expect("the disk is full within a hundred reports");
    assert_eq!((status, &answer["durable"]), (202, &false.into()), "{answer}");
    let (status, answer) = report(&daemon, 100, &Value::Null);
    assert_eq!((status, &answer["durable"]), (202, &false.into()), "{answer}");
    assert_eq!(daemon.get("/readyz"), (503, "not ready: nothing is serving\n".into()));
    let app = daemon.app();
    let trouble = app["store"]["trouble"].as_str().unwrap_or_default();
    assert!(app["store"]["durable"] == false && trouble.contains("space"), "{}", app["store"]);
    assert!(daemon.get("/status").1.contains("store: not durable"));
    let metrics = daemon.get("/metrics").1;
    assert!(metrics.contains("greenlight_store_up 0.0\n"), "{} {metrics}", daemon.app()["store"]);
    let logged = fs::read_to_string(&log).unwrap();
    let said = logged.lines().filter(|line| line.contains("ERROR") && line.contains("the store does not take"));
    assert_eq!(said.count(), 1, "told once, not with each report: {logged}");

    fs::remove_file(disk.join("filler")).unwrap();
    wait_until(|| daemon.app()["store"] == json!({"durable": true}));
    assert!(daemon.get("/metrics").1.contains("greenlight_store_up 1.0\n"));
    assert!(fs::read_to_string(&log).unwrap().contains("the store is well again"));
    let stamps = |daemon: &Daemon| -> Vec<Value> {
        let app = daemon.app();
        let rows = app["instances"].as_array().unwrap().iter();
        rows.map(|row| json!([row["name"], row["draining"], row["last_change_unix"], row["last_red_reason"]])).collect()
    };
    let before = stamps(&daemon);
    assert_eq!((before.len(), &before[40][1]), (41, &100.into()));
    daemon.kill();
    let mut daemon = Daemon::start(&disk.join("data"), &[]);
    assert_eq!(stamps(&daemon), before);
    daemon.kill();
}
