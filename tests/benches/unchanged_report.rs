//! What does a heartbeat cost? A report of 10,000 rows that changes nothing, against parsing its JSON, in
//! processor time.

#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a benchmark prints, and ends where something is wrong")]

use std::sync::Arc;

use axum::body::Body;
use axum::http::Request;
use greenlight::store::open;
use greenlight::{Daemon, HttpSettings, ReportedRow, Tokens};
use greenlight_tests::Folder;
use greenlight_tests::measure::{pairs, report, spent};
use http_body_util::BodyExt;
use serde_json::Value;
use tower::ServiceExt;

/// What a report is parsed into.
#[derive(serde::Deserialize)]
struct Parsed {
    instances: Vec<ReportedRow>,
}

fn main() {
    let body = report(10_000, 1);
    println!("an unchanged report of 10,000 rows, {} kB, in process with a store on disk", body.len() / 1000);
    let folder = Folder::new();
    let tokens = Arc::new(Tokens::of(["a-token-for-a-benchmark".to_owned()]));
    let daemon = Daemon::builder().store(open(folder.path()).unwrap()).start().unwrap();
    let router = daemon.router(HttpSettings { tokens, ..HttpSettings::default() });
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let put = || {
        let request = Request::put("/sources/driver").header("authorization", "Bearer a-token-for-a-benchmark");
        let request = request.body(Body::from(body.clone())).unwrap();
        let router = router.clone();
        let (took, answer) = spent(|| {
            runtime.block_on(async {
                let answer = router.oneshot(request).await.unwrap();
                assert_eq!(answer.status(), 200);
                answer.into_body().collect().await.unwrap().to_bytes()
            })
        });
        (took, serde_json::from_slice::<Value>(&answer).unwrap())
    };
    assert_eq!(put().1["changed"].as_array().unwrap().len(), 10_000);
    let parse = || {
        let (took, parsed) = spent(|| serde_json::from_str::<Parsed>(&body).unwrap());
        assert_eq!(parsed.instances.len(), 10_000);
        took
    };
    let unchanged = || {
        let (took, answer) = put();
        assert_eq!(answer["changed"].as_array().unwrap().len(), 0);
        took
    };
    pairs(101, ["parsing its JSON into rows", "the whole request"], parse, unchanged);
}
