//! `/livez` and `/readyz`: what a kubelet asks. Nothing here waits for anything.

use std::collections::BTreeSet;
use std::fmt::Write;

use axum::extract::{Path, State};
use axum::http::{StatusCode, Uri};
use greenlight_core::{Horizon, RowView, Span, Standing, UnixSeconds, Verdict};

use super::problem::Problem;
use super::text::Inert;
use super::{Api, query};
use crate::daemon::shared::Shared;

/// 200 while the process runs and its board's task turns.
pub(crate) async fn livez(State(api): State<Api>) -> (StatusCode, &'static str) {
    if api.shared().task_turns() {
        (StatusCode::OK, "ok\n")
    } else {
        (StatusCode::SERVICE_UNAVAILABLE, "the board's task has not turned for a minute\n")
    }
}

/// 200 or 503, and why on the first line.
pub(crate) async fn readyz(State(api): State<Api>, uri: Uri) -> Result<(StatusCode, String), Problem> {
    if uri.query().is_none() {
        return Ok(plain(&api));
    }
    let pairs = query::pairs(&uri)?;
    let verbose = query::flag(&pairs, "verbose");
    let exclude: BTreeSet<String> =
        pairs.into_iter().filter(|(key, _)| key == "exclude").map(|(_, name)| name).collect();
    if !verbose && exclude.is_empty() {
        return Ok(plain(&api));
    }
    // Every row is looked at: off the threads that answer probes.
    tokio::task::spawn_blocking(move || judged(&api, verbose, &exclude)).await.map_err(|_| Problem::shutting_down())
}

/// 200 if and only if the instance is serving.
pub(crate) async fn readyz_of(
    State(api): State<Api>,
    Path(name): Path<String>,
) -> Result<(StatusCode, String), Problem> {
    let shared = api.shared();
    let published = shared.published.load();
    let now = shared.clock.now();
    let row = published
        .snapshot
        .named(&name)
        .ok_or_else(|| Problem::not_found(format!("no instance is named {name:?}; /app lists them all")))?;
    if shared.is_shutting_down() {
        return Ok((StatusCode::SERVICE_UNAVAILABLE, "not ready: shutting down\n".into()));
    }
    Ok(match row.standing(published.horizon, now) {
        Standing::Serving => (StatusCode::OK, format!("{name} is serving\n")),
        Standing::LiveDegraded | Standing::StaleDegraded | Standing::NeverGreen => {
            (StatusCode::SERVICE_UNAVAILABLE, format!("not ready: {}\n", Told { row, horizon: published.horizon, now }))
        }
    })
}

fn plain(api: &Api) -> (StatusCode, String) {
    let shared = api.shared();
    let published = shared.published.load();
    first_line(shared, published.verdict(shared.clock.now()))
}

/// The daemon's own word, and where it has none the rule's.
fn first_line(shared: &Shared, verdict: Verdict<'_>) -> (StatusCode, String) {
    if shared.is_shutting_down() {
        (StatusCode::SERVICE_UNAVAILABLE, "not ready: shutting down\n".into())
    } else if verdict.is_ready() {
        (StatusCode::OK, "ready\n".into())
    } else {
        (StatusCode::SERVICE_UNAVAILABLE, format!("not ready: {verdict}\n"))
    }
}

fn judged(api: &Api, verbose: bool, exclude: &BTreeSet<String>) -> (StatusCode, String) {
    let shared = api.shared();
    let published = shared.published.load_full();
    let (horizon, now) = (published.horizon, shared.clock.now());
    let excluded: BTreeSet<&str> = exclude.iter().map(String::as_str).collect();
    let snapshot = published.snapshot.without(&excluded);
    let (status, mut text) = first_line(shared, snapshot.verdict(horizon, now));
    let known: BTreeSet<&str> =
        published.snapshot.rows().map(|row| row.name().as_str()).filter(|name| excluded.contains(name)).collect();
    for unknown in excluded.difference(&known) {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "warning: exclude: no instance is named {}", Inert(unknown, 300));
    }
    if verbose {
        for row in published.snapshot.rows() {
            let mark = match row.standing(horizon, now) {
                Standing::Serving => "[+]",
                Standing::LiveDegraded => "[-]",
                Standing::StaleDegraded => "[~]",
                Standing::NeverGreen => "[ ]",
            };
            let excluded = if known.contains(row.name().as_str()) { " (excluded)" } else { "" };
            let _ = writeln!(text, "{mark} {}{excluded}", Told { row, horizon, now });
        }
    }
    (status, text)
}

/// What a row amounts to, in words and without a reason text from a source.
struct Told<'a> {
    row: RowView<'a>,
    horizon: Horizon,
    now: UnixSeconds,
}

impl std::fmt::Display for Told<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { row, horizon, now } = *self;
        let standing = row.standing(horizon, now);
        write!(f, "{} is {}", row.name(), in_words(standing))?;
        if !row.is_confirmed(now) {
            let silent = Span(row.vouch.last_report.age(now));
            write!(f, ", unconfirmed: source {} has been silent for {silent}", row.held.source)?;
        }
        match (standing, row.ages_out(horizon, now)) {
            (Standing::LiveDegraded, Some(at)) => write!(f, " (stops blocking in {})", Span(now.age(at))),
            (Standing::LiveDegraded, None) => f.write_str(" (blocks until it serves or leaves)"),
            (Standing::StaleDegraded, _) => {
                write!(f, " (unchanged for {}, blocks no more)", Span(row.since(now).age(now)))
            }
            (Standing::Serving | Standing::NeverGreen, _) => Ok(()),
        }
    }
}

pub(crate) fn in_words(standing: Standing) -> &'static str {
    match standing {
        Standing::Serving => "serving",
        Standing::LiveDegraded => "live degraded",
        Standing::StaleDegraded => "stale degraded",
        Standing::NeverGreen => "never green",
    }
}
