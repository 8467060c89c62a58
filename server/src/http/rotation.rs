//! `/rotation`: who gets traffic, since when, and what the last probe learned.

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use serde::Serialize;

use super::problem::Problem;
use super::{Api, json};
use crate::source::view::View;

/// The name of this shape.
const SCHEMA: &str = "greenlight.rotation/1";

pub(crate) async fn rotation(State(api): State<Api>) -> Result<Response, Problem> {
    let _permit = api.heavy.admit().await?;
    let body = tokio::task::spawn_blocking(move || {
        let shared = api.shared();
        let mut body =
            json::to_vec(&Body { view: shared.rotation(), now_unix_ms: shared.clock.now_ms(), schema: SCHEMA });
        body.push(b'\n');
        body
    })
    .await
    .map_err(|_| Problem::shutting_down())?;
    Ok(([(header::CONTENT_TYPE, "application/json")], body).into_response())
}

#[derive(Serialize)]
struct Body {
    #[serde(flatten)]
    view: View,
    now_unix_ms: u64,
    schema: &'static str,
}
