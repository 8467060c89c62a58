//! Following another daemon: its `/app` is polled, and what it says of its rows is reported here.
//!
//! Nothing is laundered. A row that upstream calls unconfirmed stays so; an upstream that is shutting down, cannot
//! be reached or answers nonsense renews nothing, and after three polls its rows lapse.

use std::time::Duration;

use greenlight_core::{Extent, GoodFor, Name, NameError, Report, ReportedRow};
use serde::Deserialize;
use tokio::time::MissedTickBehavior;

use crate::daemon::{Handle, PublishError};

/// One upstream.
#[derive(Clone, Debug)]
pub(crate) struct Upstream {
    /// Its address; without a path `/app` is asked for.
    pub(crate) url: String,
    /// What is put before the name of every row.
    pub(crate) prefix: String,
    /// From poll to poll.
    pub(crate) every_secs: u64,
}

impl Upstream {
    /// The source that its rows are reported as: `follow:` and the address, with `|` for `/`.
    pub(crate) fn source(&self) -> Result<Name, NameError> {
        let address = self.url.split_once("://").map_or(self.url.as_str(), |(_, address)| address);
        let place = format!(
            "follow:{}{}",
            address.trim_end_matches('/'),
            if self.prefix.is_empty() { String::new() } else { format!("+{}", self.prefix.trim_end_matches('/')) }
        );
        Name::of_source(&place.replace('/', "|"))
    }

    fn app_url(&self) -> String {
        let after_scheme = self.url.split_once("://").map_or(self.url.as_str(), |(_, address)| address);
        if after_scheme.trim_end_matches('/').contains('/') {
            self.url.clone()
        } else {
            format!("{}/app", self.url.trim_end_matches('/'))
        }
    }
}

/// Polls until the daemon ends.
pub(crate) async fn follow(upstream: Upstream, source: Name, handle: Handle) {
    let mut ticks = tokio::time::interval(Duration::from_secs(upstream.every_secs.max(1)));
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut trouble: Option<String> = None;
    loop {
        ticks.tick().await;
        let asked = upstream.clone();
        let answer = tokio::task::spawn_blocking(move || ask(&asked)).await.map_err(|error| error.to_string());
        let reported = match answer.and_then(|answer| answer) {
            Ok(rows) => {
                let good_for = GoodFor::Seconds(upstream.every_secs.max(1).saturating_mul(POLLS_GOOD_FOR));
                let report = Report { source: source.clone(), extent: Extent::Full, rows, good_for, sequence: None };
                match handle.report(report).await {
                    Ok(_) => Ok(()),
                    Err(PublishError::Ended) => return,
                    Err(error) => Err(error.to_string()),
                }
            }
            Err(error) => Err(error),
        };
        let now = reported.err();
        if now != trouble {
            if let Some(error) = &now {
                tracing::warn!(%source, %error, "upstream renews nothing");
            } else {
                tracing::info!(%source, "upstream reports again");
            }
            trouble = now;
        }
    }
}

fn ask(upstream: &Upstream) -> Result<Vec<ReportedRow>, String> {
    let agent: ureq::Agent = ureq::Agent::config_builder()
        .timeout_global(Some(TIMEOUT))
        .max_redirects(0)
        .max_idle_connections(0)
        .build()
        .into();
    let mut answer = agent.get(upstream.app_url()).call().map_err(|error| error.to_string())?;
    let body =
        answer.body_mut().with_config().limit(MAX_BODY_BYTES).read_to_vec().map_err(|error| error.to_string())?;
    rows_of(&body, &upstream.prefix)
}

/// The rows that an `/app` body reports, with the prefix before each name.
pub(crate) fn rows_of(body: &[u8], prefix: &str) -> Result<Vec<ReportedRow>, String> {
    let app: UpstreamApp = serde_json::from_slice(body).map_err(|error| format!("not an /app: {error}"))?;
    if app.readiness.is_some_and(|readiness| readiness.reason == "shutting_down") {
        return Err("upstream is shutting down".into());
    }
    let now_unix = app.now_unix;
    Ok(app
        .instances
        .into_iter()
        .map(|row| {
            let lapsed_secs = match (row.good_until_unix, now_unix) {
                (Some(until), Some(now)) if now >= until => Some(now - until),
                // Without a clock of its own upstream cannot say that this is still to come.
                (Some(_), None) => Some(0),
                (Some(_) | None, _) => None,
            };
            let name = format!("{prefix}{}", row.row.name).into();
            ReportedRow { name, lapsed_secs, ..row.row }
        })
        .collect())
}

/// What is read of another daemon's `/app`; a cargoless one has no ages and no clock.
#[derive(Deserialize)]
struct UpstreamApp {
    instances: Vec<UpstreamRow>,
    #[serde(default)]
    now_unix: Option<u64>,
    #[serde(default)]
    readiness: Option<UpstreamReadiness>,
}

#[derive(Deserialize)]
struct UpstreamReadiness {
    reason: String,
}

#[derive(Deserialize)]
struct UpstreamRow {
    #[serde(flatten)]
    row: ReportedRow,
    #[serde(default)]
    good_until_unix: Option<u64>,
}

/// What is polled is good for three polls: one may be lost, and one late.
const POLLS_GOOD_FOR: u64 = 3;
/// Connecting, asking and reading together.
const TIMEOUT: Duration = Duration::from_secs(10);
/// A full board with its reasons.
const MAX_BODY_BYTES: u64 = 64 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_that_upstream_calls_unconfirmed_is_reported_so() {
        let body =
            br#"{"instances":[{"name":"a","good_until_unix":90,"idle_secs":7},{"name":"b","good_until_unix":101},
            {"name":"c","good_until_unix":null}],"now_unix":100,"readiness":{"reason":"ready"},"more":1}"#;
        let rows = rows_of(body, "eu/").unwrap();
        let told: Vec<_> = rows.iter().map(|row| (&*row.name, row.lapsed_secs, row.idle_secs)).collect();
        assert_eq!(told, [("eu/a", Some(10), Some(7)), ("eu/b", None, None), ("eu/c", None, None)]);
    }

    #[test]
    fn an_upstream_that_is_shutting_down_or_answers_nonsense_reports_nothing() {
        for body in [
            r#"{"instances":[],"readiness":{"reason":"shutting_down"}}"#,
            r#"{"rows":[]}"#,
            "<html>",
            "",
            r#"{"instances":[{"name":5}]}"#,
        ] {
            assert!(rows_of(body.as_bytes(), "").is_err(), "{body}");
        }
    }

    #[test]
    fn an_upstream_has_a_source_name_and_an_address_to_ask() {
        let upstream = |url: &str, prefix: &str| {
            let upstream = Upstream { url: url.into(), prefix: prefix.into(), every_secs: 5 };
            (upstream.source().unwrap().to_string(), upstream.app_url())
        };
        assert_eq!(upstream("http://eu:8787", ""), ("follow:eu:8787".into(), "http://eu:8787/app".into()));
        assert_eq!(upstream("http://eu:8787/", "eu/"), ("follow:eu:8787+eu".into(), "http://eu:8787/app".into()));
        assert_eq!(upstream("https://x/y/app", "").0, "follow:x|y|app");
        assert_eq!(upstream("https://x/y/app", "").1, "https://x/y/app");
    }
}
