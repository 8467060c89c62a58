//! A wall clock that steps by a day moves no age, nor after the restart that follows.

use std::sync::Arc;

use axum::body::Body;
use axum::http::Request;
use greenlight::clock::{Clock, ManualTime};
use greenlight::store::open;
use greenlight::{Daemon, HttpSettings, ReportedRow};
use greenlight_tests::Folder;
use http_body_util::BodyExt;
use tower::ServiceExt;

async fn app(daemon: &Daemon) -> serde_json::Value {
    let request = Request::get("/app").body(Body::empty()).unwrap();
    let answer = daemon.router(HttpSettings::default()).oneshot(request).await.unwrap();
    serde_json::from_slice(&answer.into_body().collect().await.unwrap().to_bytes()).unwrap()
}

fn start(folder: &Folder, time: &Arc<ManualTime>) -> Daemon {
    let store = open(folder.path()).unwrap();
    Daemon::builder().clock(Clock::of(time.clone())).store(store).start().unwrap()
}

async fn stepped_by(step_secs: i64) {
    let folder = Folder::new();
    let time = ManualTime::at(1_785_000_000);
    let daemon = start(&folder, &time);
    let lane = ReportedRow { name: "lane".into(), last_green: Some("b1".into()), ..ReportedRow::default() };
    daemon.handle().publish("driver", vec![lane]).await.unwrap();
    time.advance(100);
    time.step_wall(step_secs);
    let before = app(&daemon).await;
    assert_eq!(before["instances"][0]["idle_secs"], 100);
    assert_eq!(before["clock"]["drift_secs"], step_secs);
    daemon.handle().stop().await;
    drop(daemon);
    time.advance(20);
    let daemon = start(&folder, &time);
    let after = app(&daemon).await;
    assert_eq!(after["instances"][0]["idle_secs"], 120, "{after}");
    assert_eq!(after["instances"][0]["standing"], "live_degraded");
    assert_eq!(after["clock"]["drift_secs"], 0);
    daemon.handle().stop().await;
}

#[tokio::test]
async fn forward() {
    stepped_by(86_400).await;
}

#[tokio::test]
async fn back() {
    stepped_by(-86_400).await;
}
