//! `/openapi.json`: the routes, for people and generators.

use axum::http::header;
use axum::response::{IntoResponse, Response};
use utoipa::openapi::{InfoBuilder, OpenApi, OpenApiBuilder};

use super::json;

pub(crate) async fn handler() -> Response {
    ([(header::CONTENT_TYPE, "application/json")], json::to_vec(&openapi())).into_response()
}

/// The OpenAPI 3.1 description of every route.
pub fn openapi() -> OpenApi {
    OpenApiBuilder::new()
        .info(InfoBuilder::new().title("Greenlight").version(env!("CARGO_PKG_VERSION")).build())
        .build()
}
