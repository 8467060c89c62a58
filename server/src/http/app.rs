//! `/app`: the snapshot. One instant: the rows, the clock and the verdict in one body agree.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{Uri, header};
use axum::response::{IntoResponse, Response};
use greenlight_core::{Horizon, Judgement, Lists, UnixSeconds};
use serde::Serialize;

use super::problem::Problem;
use super::{Api, json, query, streamed};
use crate::daemon::published::{Published, StoreHealth, reason_word};
use crate::daemon::wire::{JudgedRow, ProberHealth};

/// The name of this shape.
const SCHEMA: &str = "greenlight.app/1";

pub(crate) async fn app(State(api): State<Api>, uri: Uri) -> Result<Response, Problem> {
    let what_if = query::horizon(&query::pairs(&uri)?)?;
    let permit = api.heavy.admit().await?;
    let (published, now, tail) = tokio::task::spawn_blocking(move || {
        let shared = api.shared();
        let published = shared.published.load_full();
        let now_ms = shared.clock.now_ms();
        let now = UnixSeconds::new(now_ms / 1000);
        let tail = json::to_vec(&Tail::of(&api, &published, what_if, now_ms));
        (published, now, tail)
    })
    .await
    .map_err(|_| Problem::shutting_down())?;
    let horizon = what_if.unwrap_or(published.horizon);
    let mut place = 0;
    let body = streamed::body(permit, move |piece| {
        if place == 0 {
            piece.extend_from_slice(b"{\"instances\":[");
        }
        if let Some(row) = published.snapshot.at(place) {
            if place > 0 {
                piece.push(b',');
            }
            json::append(piece, &JudgedRow { row, horizon, now });
            place += 1;
            true
        } else {
            // The tail is an object of its own: its first brace becomes the comma between the two.
            piece.extend_from_slice(b"],");
            piece.extend_from_slice(tail.get(1..).unwrap_or_default());
            piece.push(b'\n');
            false
        }
    });
    Ok(([(header::CONTENT_TYPE, "application/json")], body).into_response())
}

/// Everything of `/app` but its rows.
#[derive(Serialize)]
struct Tail {
    ready: bool,
    readiness: Readiness,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    what_if: bool,
    now_unix: UnixSeconds,
    now_unix_ms: u64,
    boot: String,
    revision: u64,
    id: String,
    started_unix: UnixSeconds,
    reported_since_start: bool,
    clock: ClockHealth,
    store: StoreHealth,
    prober: ProberHealth,
    schema: &'static str,
    version: &'static str,
}

#[derive(Serialize)]
struct ClockHealth {
    drift_secs: i64,
}

/// The judgement under its wire names, with the daemon's own word over it.
#[derive(Serialize)]
struct Readiness {
    ready: bool,
    since_unix: Option<UnixSeconds>,
    reason: &'static str,
    text: String,
    #[serde(flatten)]
    lists: Lists,
}

impl Tail {
    fn of(api: &Api, published: &Arc<Published>, what_if: Option<Horizon>, now_unix_ms: u64) -> Self {
        let shared = api.shared();
        let now = UnixSeconds::new(now_unix_ms / 1000);
        let horizon = what_if.unwrap_or(published.horizon);
        let shutting_down = shared.is_shutting_down();
        let Judgement { ready, reason, lists } = published.snapshot.judge(horizon, now);
        let ready = ready && !shutting_down;
        let text =
            if shutting_down { "shutting down".into() } else { published.snapshot.verdict(horizon, now).to_string() };
        let since_unix = if what_if.is_some() || shutting_down { None } else { published.since(now) };
        Self {
            ready,
            readiness: Readiness { ready, since_unix, reason: reason_word(reason, shutting_down), text, lists },
            what_if: what_if.is_some(),
            now_unix: now,
            now_unix_ms,
            boot: shared.hub.boot().to_owned(),
            revision: published.revision,
            id: shared.hub.id(published.revision).to_string(),
            started_unix: shared.clock.started(),
            reported_since_start: published.reported_since_start,
            clock: ClockHealth { drift_secs: shared.clock.drift_secs() },
            store: published.store.clone(),
            prober: shared.prober(),
            schema: SCHEMA,
            version: env!("CARGO_PKG_VERSION"),
        }
    }
}
