//! When something around the board breaks: its store, its task, a daemon that it follows.

#![expect(clippy::unwrap_used, reason = "a helper of a test fails the test")]

use std::io::{Read, Write};
use std::net::TcpListener;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};

use axum::body::Body;
use axum::http::Request;
use greenlight::clock::{Clock, ManualTime};
use greenlight::store::{Batch, EventReader, Loaded, RedbStore, Store, StoreError, open};
use greenlight::{Daemon as Embedded, HttpSettings, ReportedRow};
use greenlight_tests::{Daemon, Folder, wait_until};
use http_body_util::BodyExt;
use tower::ServiceExt;

/// A store that takes nothing while it is told to fail.
struct Failing(RedbStore, Arc<AtomicBool>);

impl Store for Failing {
    fn load(&mut self) -> Result<Loaded, StoreError> {
        self.0.load()
    }

    fn append(&mut self, batch: &Batch) -> Result<(), StoreError> {
        if self.1.load(Ordering::SeqCst) {
            return Err(StoreError::Io("no space left on device".into()));
        }
        self.0.append(batch)
    }
}

/// A store on a disk that answers nothing while it is told to hang.
#[derive(Clone)]
struct Disk(Arc<(Mutex<bool>, Condvar)>);

impl Disk {
    fn hangs(&self, hangs: bool) {
        *self.0.0.lock().unwrap() = hangs;
        self.0.1.notify_all();
    }
}

struct Hanging(RedbStore, Disk);

impl Store for Hanging {
    fn load(&mut self) -> Result<Loaded, StoreError> {
        self.0.load()
    }

    fn append(&mut self, batch: &Batch) -> Result<(), StoreError> {
        let (hangs, changed) = &*self.1.0;
        drop(changed.wait_while(hangs.lock().unwrap(), |hangs| *hangs).unwrap());
        self.0.append(batch)
    }

    fn events(&self) -> Option<EventReader> {
        Some(self.0.events())
    }
}

async fn get(daemon: &Embedded, path: &str) -> (u16, String) {
    let request = Request::get(path).body(Body::empty()).unwrap();
    let answer = daemon.router(HttpSettings::default()).oneshot(request).await.unwrap();
    let status = answer.status().as_u16();
    (status, String::from_utf8(answer.into_body().collect().await.unwrap().to_bytes().to_vec()).unwrap())
}

fn row(name: &str) -> ReportedRow {
    let green = Some("a1".into());
    ReportedRow { name: name.into(), serving_sha: green.clone(), last_green: green, ..ReportedRow::default() }
}

#[tokio::test]
async fn a_store_in_trouble_keeps_no_report_from_the_verdict_and_gets_the_whole_board_when_it_is_well() {
    let folder = Folder::new();
    let (time, fails) = (ManualTime::at(1_785_000_000), Arc::new(AtomicBool::new(false)));
    let start = || {
        let store = Failing(open(folder.path()).unwrap(), Arc::clone(&fails));
        Embedded::builder().clock(Clock::of(time.clone())).store(store).start().unwrap()
    };
    let daemon = start();
    assert!(daemon.handle().publish("driver", vec![row("a")]).await.unwrap().durable);
    fails.store(true, Ordering::SeqCst);
    let mut broken = row("b");
    broken.serving_sha = None;
    let accepted = daemon.handle().publish("driver", vec![row("a"), broken]).await.unwrap();
    assert!(!accepted.durable);
    assert_eq!(get(&daemon, "/readyz").await.0, 503);
    assert!(get(&daemon, "/app").await.1.contains(r#""store":{"durable":false,"trouble":"no space left on device"}"#));
    assert!(get(&daemon, "/metrics").await.1.contains("greenlight_store_up 0"));
    fails.store(false, Ordering::SeqCst);
    time.advance(60);
    daemon.handle().tick().await.unwrap();
    assert!(get(&daemon, "/metrics").await.1.contains("greenlight_store_up 1"));
    daemon.handle().stop().await;
    let app: serde_json::Value = serde_json::from_str(&get(&start(), "/app").await.1).unwrap();
    let names: Vec<_> = app["instances"].as_array().unwrap().iter().map(|row| row["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["a", "b"]);
}

#[test]
fn a_disk_that_hangs_keeps_no_report_from_the_verdict_and_gets_what_it_lacks_when_it_answers() {
    let folder = Folder::new();
    let (time, disk) = (ManualTime::at(1_785_000_000), Disk(Arc::default()));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let start = || {
        let store = Hanging(open(folder.path()).unwrap(), disk.clone());
        Embedded::builder().clock(Clock::of(time.clone())).store(store).start().unwrap()
    };
    let daemon = start();
    let publish = |rows| runtime.block_on(daemon.handle().publish("driver", rows)).unwrap();
    let get = |path| runtime.block_on(get(&daemon, path));
    let known_until = || {
        let lines = get("/history?lines").1;
        let head: serde_json::Value = serde_json::from_str(lines.lines().next().unwrap()).unwrap();
        head["known_until_unix"].as_u64().unwrap_or_else(|| panic!("{lines}"))
    };
    assert!(publish(vec![row("a")]).durable);
    time.advance(10);
    assert_eq!(known_until(), 1_785_000_011, "the second that runs is told as far as it is");
    disk.hangs(true);
    let mut broken = row("b");
    broken.serving_sha = None;
    // The first waits for the disk, for a while; from then on nobody does.
    assert!(!publish(vec![row("a"), broken]).durable);
    assert_eq!(get("/readyz").0, 503);
    assert!(!publish(vec![row("a"), row("c")]).durable);
    assert_eq!((get("/readyz").0, get("/livez").0), (200, 200));
    assert!(get("/app").1.contains(r#""store":{"durable":false,"trouble":"a write to the store does not end"#));
    assert!(get("/metrics").1.contains("greenlight_store_up 0"));
    // What happened since is not recorded yet, and history does not pass for whole.
    time.advance(10);
    assert_eq!(known_until(), 1_785_000_010);

    disk.hangs(false);
    wait_until(|| {
        time.advance(1);
        runtime.block_on(daemon.handle().tick()).unwrap();
        get("/metrics").1.contains("greenlight_store_up 1")
    });
    assert!(known_until() > 1_785_000_020);
    let lines = get("/history?lines").1;
    let told = |name: &str| lines.matches(&format!(r#""event":"changed","name":"{name}""#)).count();
    assert_eq!((told("a"), told("b"), told("c"), lines.matches("retold").count()), (1, 1, 1, 0), "{lines}");
    runtime.block_on(daemon.handle().stop());
    // Whoever reads history holds the store open.
    drop(daemon);
    let app: serde_json::Value = serde_json::from_str(&runtime.block_on(self::get(&start(), "/app")).1).unwrap();
    let names: Vec<_> = app["instances"].as_array().unwrap().iter().map(|row| row["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["a", "c"]);
}

/// Does nothing unless the test below starts it as a process of its own.
#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "how a test tells its own child what to do")]
async fn child() {
    if std::env::var_os("GREENLIGHT_TEST_CHILD").is_some() {
        let daemon = Embedded::builder().exit_when_the_task_ends().start().unwrap();
        daemon.handle().panic_for_test().await;
        std::future::pending::<()>().await;
    }
}

#[test]
fn a_panic_in_the_task_of_the_board_ends_the_process() {
    let ended = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child"])
        .env("GREENLIGHT_TEST_CHILD", "1")
        .output()
        .unwrap();
    assert_eq!(std::os::unix::process::ExitStatusExt::signal(&ended.status), Some(6), "{ended:?}");
}

/// Answers every request with what `body` says at that moment, until the test ends.
fn upstream(body: impl Fn() -> Option<String> + Send + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for socket in listener.incoming() {
            let Ok(mut socket) = socket else { return };
            let _ = socket.read(&mut [0; 4096]);
            if let Some(body) = body() {
                let _ = write!(socket, "HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}", body.len());
            }
        }
    });
    url
}

#[test]
fn a_cargoless_app_is_followed_and_when_it_answers_nonsense_its_rows_lapse() {
    let folder = Folder::new();
    let well = Arc::new(AtomicBool::new(true));
    let url = upstream({
        let well = Arc::clone(&well);
        move || well.load(Ordering::SeqCst).then(|| include_str!("../fixtures/cargoless-app.json").to_owned())
    });
    let config = folder.path().join("greenlight.toml");
    std::fs::write(&config, format!("[[follow]]\nurl = \"{url}\"\nprefix = \"eu/\"\nevery = \"1s\"\n")).unwrap();
    let daemon = Daemon::start(&folder.path().join("data"), &["--config", config.to_str().unwrap()]);
    wait_until(|| daemon.app()["instances"].as_array().is_some_and(|rows| rows.len() == 4));
    let app = daemon.app();
    assert_eq!(app["readiness"]["serving"], serde_json::json!(["eu/dev"]));
    assert_eq!(app["readiness"]["live_degraded"].as_array().unwrap().len(), 3);
    let source = app["instances"][0]["source"].as_str().unwrap();
    assert_eq!(daemon.put(&format!("/sources/{source}"), r#"{"instances":[]}"#).0, 409);
    well.store(false, Ordering::SeqCst);
    wait_until(|| daemon.app()["readiness"]["unconfirmed"].as_array().is_some_and(|rows| rows.len() == 4));
    assert_eq!(daemon.app()["readiness"]["reason"], "nothing_serving");
}
