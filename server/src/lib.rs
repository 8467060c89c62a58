//! Greenlight: a readiness verdict that can be trusted, as a daemon, or embedded in one.
//!
//! ```no_run
//! use greenlight::{Daemon, HttpSettings, ReportedRow};
//!
//! # async fn run() -> Result<(), Box<dyn std::error::Error>> {
//! let daemon = Daemon::builder().start()?;
//! let row = ReportedRow { name: "dev".into(), serving_sha: Some("a1b2c3d".into()), ..ReportedRow::default() };
//! daemon.handle().publish("my-driver", vec![row]).await?;
//! let listener = tokio::net::TcpListener::bind("127.0.0.1:8787").await?;
//! axum::serve(listener, daemon.router(HttpSettings::default())).await?;
//! # Ok(())
//! # }
//! ```
//!
//! [`Daemon::builder`] says what can be set, [`Handle`] publishes in process, [`store`] keeps rows over restarts, and
//! [`greenlight_core`], re-exported here, holds the rules.

#[cfg(feature = "cli")]
#[cfg_attr(not(any(test, feature = "rehearse")), expect(dead_code, reason = "kept connections are for a rehearsal"))]
mod ask;
#[cfg(feature = "cli")]
pub mod cli;
pub mod clock;
mod daemon;
#[cfg(feature = "engine")]
pub mod engine;
mod http;
mod metrics;
mod moment;
#[cfg(feature = "rehearse")]
mod rehearse;
#[cfg(feature = "cli")]
mod serve;
mod source;
pub mod store;
mod utc;

pub use greenlight_core::{self, GoodFor, Horizon, ReportedRow, UnixSeconds};

pub use daemon::{Accepted, Builder, Daemon, Handle, PublishError};
#[cfg(feature = "page")]
pub use http::PageFiles;
pub use http::{HttpSettings, Tokens, openapi};
