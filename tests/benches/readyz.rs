//! Does `/readyz` cost more with more instances? The same question to two daemons, one with 10 rows and one with
//! 100,000, in turn: in process through the router, in processor time; and over a socket each, by the clock.

#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a benchmark prints, and ends where something is wrong")]

use axum::body::Body;
use axum::http::Request;
use greenlight::{Daemon as Embedded, HttpSettings, ReportedRow};
use greenlight_tests::measure::{Asker, pairs, report, spent};
use greenlight_tests::{Daemon, Folder};
use http_body_util::BodyExt;
use tower::ServiceExt;

fn main() {
    println!("/readyz, in process: processor time of 1,000 requests through the router");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let [few, many] = [10, 100_000].map(|rows| {
        let daemon = Embedded::builder().start().unwrap();
        let rows = (0..rows).map(|row| ReportedRow {
            name: format!("slot-{row}").into(),
            serving_sha: Some("a1".into()),
            last_green: Some("a1".into()),
            ..ReportedRow::default()
        });
        runtime.block_on(daemon.handle().publish("driver", rows.collect())).unwrap();
        let router = daemon.router(HttpSettings::default());
        let runtime = &runtime;
        move || {
            let ask = async {
                for _ in 0..1000 {
                    let request = Request::get("/readyz").body(Body::empty()).unwrap();
                    let answer = router.clone().oneshot(request).await.unwrap();
                    assert_eq!(answer.status(), 200);
                    assert_eq!(answer.into_body().collect().await.unwrap().to_bytes(), "ready\n");
                }
            };
            spent(|| runtime.block_on(ask)).0
        }
    });
    pairs(101, ["10 instances", "100,000 instances"], few, many);

    println!("/readyz, over a socket: 200 requests on one connection");
    let folders = [Folder::new(), Folder::new()];
    let daemons = [0, 1].map(|which| Daemon::start(folders[which].path(), &[]));
    for (daemon, rows) in daemons.iter().zip([10, 100_000]) {
        assert_eq!(daemon.put("/sources/driver", &report(rows, 1)).0, 200);
    }
    let [few, many] = [0, 1].map(|which| {
        let mut asker = Asker::new(&daemons[which].url, "/readyz");
        move || (0..200).map(|_| asker.ask()).sum()
    });
    pairs(101, ["10 instances", "100,000 instances"], few, many);
}
