//! `/history`: what happened, a page at a time.

use axum::extract::State;
use axum::http::{Uri, header};
use axum::response::{IntoResponse, Response};
use greenlight_core::history::Event;
use greenlight_core::{MAX_INTEGER, Span, UnixSeconds};
use serde::Serialize;

use super::problem::Problem;
use super::{Api, json, query};

pub(crate) async fn history(State(api): State<Api>, uri: Uri) -> Result<Response, Problem> {
    let pairs = query::pairs(&uri)?;
    let now = api.shared().clock.now();
    let from = moment(&pairs, "from", now)?.unwrap_or_default();
    let to = moment(&pairs, "to", now)?.unwrap_or(UnixSeconds::new(MAX_INTEGER));
    let after = query::integer(&pairs, "after")?.unwrap_or(0);
    let Some(reader) = api.handle.events.clone() else {
        return Err(Problem::not_found("this daemon keeps no history: it was started with --data memory"));
    };
    let _permit = api.heavy.admit().await?;
    let page = tokio::task::spawn_blocking(move || {
        let events = reader.events(from, to, after, PAGE)?;
        Ok::<_, crate::store::StoreError>((events, reader.complete_from()?))
    })
    .await
    .map_err(|_| Problem::shutting_down())?;
    let (events, complete_from_unix) = page.map_err(|error| {
        tracing::warn!(%error, "history cannot be read");
        Problem::new(
            axum::http::StatusCode::SERVICE_UNAVAILABLE,
            "History cannot be read",
            "the store is in trouble: the daemon's log says which",
        )
    })?;
    let next = events.last().map(|(sequence, _)| *sequence);
    let events = events.into_iter().map(|(_, event)| event).collect();
    let body = json::to_vec(&Page { events, next, complete_from_unix });
    Ok(([(header::CONTENT_TYPE, "application/json")], body).into_response())
}

/// A moment under a key: Unix seconds, or so long before now as `-7d`.
fn moment(pairs: &[(String, String)], key: &str, now: UnixSeconds) -> Result<Option<UnixSeconds>, Problem> {
    let Some(value) = query::last(pairs, key) else { return Ok(None) };
    let wrong = || Problem::bad_query(format!("{key} is a moment: Unix seconds, or so long ago as -7d"));
    Ok(Some(match value.strip_prefix('-') {
        Some(ago) => now.earlier(ago.parse::<Span>().map_err(|_| wrong())?.0),
        None => UnixSeconds::new(value.parse().map_err(|_| wrong())?),
    }))
}

#[derive(Serialize)]
struct Page {
    events: Vec<Event>,
    /// To be given as `after` for the next page; null where there was nothing more.
    next: Option<u64>,
    /// From when on nothing has been pruned; null where nothing ever was.
    complete_from_unix: Option<UnixSeconds>,
}

/// So many events a page.
const PAGE: usize = 1_000;
