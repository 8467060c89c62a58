//! `/metrics`: the Prometheus text format.

use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};

use super::Api;
use super::problem::Problem;
use crate::metrics::render;

pub(crate) async fn metrics(State(api): State<Api>) -> Result<Response, Problem> {
    let _permit = api.heavy.admit().await?;
    let rendered = tokio::task::spawn_blocking(move || render(api.shared())).await;
    match rendered {
        Ok(Ok(text)) => Ok(([(header::CONTENT_TYPE, CONTENT_TYPE)], text).into_response()),
        Ok(Err(_)) | Err(_) => {
            Err(Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "No metrics", "the metrics could not be written"))
        }
    }
}

const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
