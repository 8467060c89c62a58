//! The wire: one route table, one error mapping.

mod app;
mod auth;
mod events;
mod history;
pub(crate) mod json;
mod metrics;
mod openapi;
#[cfg(feature = "page")]
mod page;
mod problem;
mod query;
mod readyz;
mod rotation;
mod schemas;
#[cfg(feature = "cli")]
pub(crate) mod server;
mod status;
mod streamed;
mod text;
mod write;

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::Router;
use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderValue, Method, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, put};
use greenlight_core::Name;
use tower_http::cors::{AllowOrigin, CorsLayer};

pub use self::auth::Tokens;
pub use self::openapi::openapi;
#[cfg(feature = "page")]
pub use self::page::PageFiles;

use self::problem::Problem;
use self::streamed::HeavyReads;
use crate::daemon::shared::Shared;
use crate::daemon::{Daemon, Handle};

/// Who may do what over HTTP.
#[derive(Debug)]
pub struct HttpSettings {
    /// Who may write.
    pub tokens: Arc<Tokens>,
    /// Who may read; `None` lets everybody. `/livez` and `/readyz` are open in any case.
    pub read_tokens: Option<Arc<Tokens>>,
    /// Origins whose pages may read, or `*`.
    pub allow_origin: Vec<String>,
    /// Sources that are this daemon's own, and take no writes.
    pub configured_sources: BTreeSet<Name>,
    /// Where the page comes from.
    #[cfg(feature = "page")]
    pub page: PageFiles,
}

impl Default for HttpSettings {
    /// Nobody may write, everybody may read.
    fn default() -> Self {
        Self {
            tokens: Arc::new(Tokens::none()),
            read_tokens: None,
            allow_origin: Vec::new(),
            configured_sources: BTreeSet::new(),
            #[cfg(feature = "page")]
            page: PageFiles::default(),
        }
    }
}

/// What every handler gets.
#[derive(Clone, Debug)]
struct Api {
    handle: Handle,
    settings: Arc<HttpSettings>,
    heavy: HeavyReads,
}

impl Api {
    fn shared(&self) -> &Arc<Shared> {
        &self.handle.shared
    }
}

impl Daemon {
    /// The routes of this daemon, to be served or nested by whoever embeds it.
    pub fn router(&self, settings: HttpSettings) -> Router {
        let cors = cors(&settings.allow_origin);
        let api = Api { handle: self.handle(), settings: Arc::new(settings), heavy: HeavyReads::new() };
        let probes = Router::new()
            .route("/livez", get(readyz::livez))
            .route("/healthz", get(readyz::livez))
            .route("/readyz", get(readyz::readyz));
        let reads = Router::new()
            .route("/readyz/{*name}", get(readyz::readyz_of))
            .route("/app", get(app::app))
            .route("/status", get(status::status))
            .route("/events", get(events::events))
            .route("/history", get(history::history))
            .route("/rotation", get(rotation::rotation))
            .route("/metrics", get(metrics::metrics))
            .route("/openapi.json", get(openapi::handler))
            .layer(middleware::from_fn_with_state(api.clone(), admit_reader));
        let writes = Router::new()
            .route("/sources/{source}", put(write::put_source).delete(write::delete_source))
            .route("/sources/{source}/instances/{*name}", put(write::put_instance).delete(write::delete_instance));
        let routes = probes.merge(reads).layer(cors).merge(writes);
        // A folder of its own has plain names beside `/`, so the page gets whatever no other route takes.
        #[cfg(feature = "page")]
        let routes = routes.merge(
            Router::new()
                .route("/", get(page::page))
                .route("/assets/{*file}", get(page::page))
                .fallback(page::page)
                .layer(middleware::from_fn_with_state(api.clone(), admit_reader)),
        );
        #[cfg(not(feature = "page"))]
        let routes = routes.fallback(|| async { Problem::not_found("no such route: /openapi.json lists them all") });
        routes
            .method_not_allowed_fallback(|| async {
                Problem::new(
                    axum::http::StatusCode::METHOD_NOT_ALLOWED,
                    "Not that way",
                    "this route does not take that method: /openapi.json lists what each takes",
                )
            })
            .layer(middleware::from_fn_with_state(api.clone(), counted))
            .with_state(api)
    }
}

/// Closes what is not open to everybody.
async fn admit_reader(State(api): State<Api>, request: Request, next: Next) -> Response {
    if let Some(read_tokens) = &api.settings.read_tokens {
        let admitted = read_tokens
            .admit(request.headers())
            .or_else(|problem| api.settings.tokens.admit(request.headers()).map_err(|_| problem));
        if let Err(problem) = admitted {
            return problem.into_response();
        }
    }
    next.run(request).await
}

/// Counts every answer, and keeps caches from keeping any that does not say it may be kept.
async fn counted(State(api): State<Api>, request: Request, next: Next) -> Response {
    let route = request.extensions().get::<MatchedPath>().cloned();
    let mut response = next.run(request).await;
    let route = route.as_ref().map_or("none", MatchedPath::as_str);
    api.shared().metrics.request(route, response.status().as_u16());
    response.headers_mut().entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response.headers_mut().insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}

fn cors(origins: &[String]) -> CorsLayer {
    let allowed = if origins.iter().any(|origin| origin == "*") {
        AllowOrigin::any()
    } else {
        AllowOrigin::list(origins.iter().filter_map(|origin| HeaderValue::from_str(origin).ok()))
    };
    CorsLayer::new()
        .allow_origin(allowed)
        .allow_methods([Method::GET, Method::HEAD])
        .allow_headers([header::AUTHORIZATION, header::HeaderName::from_static("last-event-id")])
}
