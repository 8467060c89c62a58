//! An axum server as most are written: on SIGTERM it closes its listener, answers what is under way, and ends. With
//! an argument, so many milliseconds, it first answers 503 on `/readyz` for so long and goes on with everything else.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::Router;
use axum::http::StatusCode;
use axum::routing::get;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let port: u16 = arguments.next().ok_or("the first argument is the port")?.parse()?;
    let first_503 = Duration::from_millis(arguments.next().map_or(Ok(0), |text| text.parse())?);
    let leaving = Arc::new(AtomicBool::new(false));
    let ready = {
        let leaving = Arc::clone(&leaving);
        move || async move { if leaving.load(Ordering::SeqCst) { StatusCode::SERVICE_UNAVAILABLE } else { StatusCode::OK } }
    };
    let router = Router::new().route("/readyz", get(ready)).route("/", get(async || "here"));
    let mut termination = signal(SignalKind::terminate())?;
    let told = async move {
        termination.recv().await;
        leaving.store(true, Ordering::SeqCst);
        tokio::time::sleep(first_503).await;
    };
    axum::serve(TcpListener::bind(("127.0.0.1", port)).await?, router).with_graceful_shutdown(told).await?;
    Ok(())
}
