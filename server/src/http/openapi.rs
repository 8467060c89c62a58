//! `/openapi.json`: the routes, for people and generators.

use axum::http::header;
use axum::response::{IntoResponse, Response};
use utoipa::openapi::path::{OperationBuilder, ParameterBuilder, ParameterIn, PathItem, PathItemBuilder};
use utoipa::openapi::request_body::RequestBodyBuilder;
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme};
use utoipa::openapi::{
    ComponentsBuilder, ContentBuilder, HttpMethod, InfoBuilder, OpenApi, OpenApiBuilder, PathsBuilder, Required,
    ResponseBuilder,
};

use super::json;

pub(crate) async fn handler() -> Response {
    ([(header::CONTENT_TYPE, "application/json")], json::to_vec(&openapi())).into_response()
}

/// The OpenAPI 3.1 description of every route.
pub fn openapi() -> OpenApi {
    let mut paths = PathsBuilder::new();
    for route in ROUTES {
        paths = paths.path(route.path, described(route));
    }
    let bearer = SecurityScheme::Http(HttpBuilder::new().scheme(HttpAuthScheme::Bearer).build());
    OpenApiBuilder::new()
        .info(InfoBuilder::new().title("Greenlight").version(env!("CARGO_PKG_VERSION")).build())
        .paths(paths.build())
        .components(Some(ComponentsBuilder::new().security_scheme(TOKEN, bearer).build()))
        .build()
}

fn described(route: &Route) -> PathItem {
    let mut operation = OperationBuilder::new().summary(Some(route.summary));
    for part in route.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}')) {
        operation = operation.parameter(
            ParameterBuilder::new().name(part).parameter_in(ParameterIn::Path).required(Required::True).build(),
        );
    }
    for (name, meaning) in route.query {
        operation = operation.parameter(
            ParameterBuilder::new().name(*name).parameter_in(ParameterIn::Query).description(Some(*meaning)).build(),
        );
    }
    for (status, content_type, meaning) in route.answers {
        let content = ContentBuilder::new().build();
        operation = operation
            .response(*status, ResponseBuilder::new().description(*meaning).content(*content_type, content).build());
    }
    if matches!(route.method, HttpMethod::Put | HttpMethod::Delete) {
        operation = operation.security(SecurityRequirement::new(TOKEN, [] as [&str; 0]));
        for (status, meaning) in REFUSALS {
            let content = ContentBuilder::new().build();
            let problem = ResponseBuilder::new().description(*meaning).content("application/problem+json", content);
            operation = operation.response(*status, problem.build());
        }
    }
    if matches!(route.method, HttpMethod::Put) {
        let content = ContentBuilder::new().build();
        operation = operation.request_body(Some(
            RequestBodyBuilder::new()
                .content("application/json", content)
                .description(Some(route.body))
                .required(Some(Required::True))
                .build(),
        ));
    }
    PathItemBuilder::new().operation(route.method.clone(), operation.build()).build()
}

const TOKEN: &str = "token";

struct Route {
    method: HttpMethod,
    path: &'static str,
    summary: &'static str,
    query: &'static [(&'static str, &'static str)],
    answers: &'static [(&'static str, &'static str, &'static str)],
    body: &'static str,
}

const fn read(
    path: &'static str,
    summary: &'static str,
    query: &'static [(&'static str, &'static str)],
    answers: &'static [(&'static str, &'static str, &'static str)],
) -> Route {
    Route { method: HttpMethod::Get, path, summary, query, answers, body: "" }
}

const REFUSALS: &[(&str, &str)] = &[
    ("400", "the body or the query cannot be understood"),
    ("401", "no token, or not a valid one"),
    ("409", "another source holds the name, the sequence is stale, or the source is a configured one"),
    ("413", "the body has more than 16 MiB, or the board would hold more than 100,000 rows"),
    ("422", "a field, a name or a row breaks a limit; `path` says where"),
];
const TEXT: &str = "text/plain";
const JSON: &str = "application/json";
const STRICT: (&str, &str) = ("strict", "true: fields that are not known are refused, not passed over with a warning");
const WHAT_IF: &[(&str, &str)] = &[("stale_after", "judge under this horizon instead: 15m, 1h30m, seconds, or never")];
const ACCEPTED: &[(&str, &str, &str)] = &[
    ("200", JSON, "applied and durable: {revision, changed, removed}"),
    ("202", JSON, "applied, but a restart would lose it: the same with durable false"),
];

const ROUTES: &[Route] = &[
    read(
        "/livez",
        "Whether the process runs and its board's task turns",
        &[],
        &[("200", TEXT, "ok"), ("503", TEXT, "stuck")],
    ),
    read("/healthz", "The same as /livez", &[], &[("200", TEXT, "ok"), ("503", TEXT, "stuck")]),
    read(
        "/readyz",
        "Whether traffic may come; the first line says why not",
        &[("verbose", "one line for each instance"), ("exclude", "judge without this instance; repeatable")],
        &[("200", TEXT, "ready"), ("503", TEXT, "not ready")],
    ),
    read(
        "/readyz/{name}",
        "Whether one instance is serving",
        &[],
        &[("200", TEXT, "it is"), ("503", TEXT, "it is not"), ("404", "application/problem+json", "there is none")],
    ),
    read("/app", "The snapshot: rows, clock and verdict of one instant", WHAT_IF, &[("200", JSON, "greenlight.app/1")]),
    read("/status", "The snapshot as a text table", WHAT_IF, &[("200", TEXT, "a table")]),
    read(
        "/events",
        "Server-sent events: change, renew, beat, reset",
        &[("after", "the id of /app or of the last event seen; Last-Event-ID does the same")],
        &[("200", "text/event-stream", "a stream"), ("503", "application/problem+json", "shutting down")],
    ),
    read(
        "/history",
        "What happened, a page at a time",
        &[
            ("from", "Unix seconds, or so long ago as -7d; from the beginning if left out"),
            ("to", "Unix seconds, or so long ago; until now if left out. Not included"),
            ("after", "the `next` of the page before"),
        ],
        &[("200", JSON, "{events, next, complete_from_unix}"), ("404", "application/problem+json", "nothing is kept")],
    ),
    read(
        "/rotation",
        "Who gets traffic: members that are probed, with their last answers, and the prober's own trouble",
        &[],
        &[("200", JSON, "greenlight.rotation/1")],
    ),
    read("/metrics", "Metrics for Prometheus", &[], &[("200", "application/openmetrics-text", "metrics")]),
    read("/openapi.json", "This description", &[], &[("200", JSON, "OpenAPI 3.1")]),
    Route {
        method: HttpMethod::Put,
        path: "/sources/{source}",
        summary: "The full report of a source: rows it no longer names are removed",
        query: &[STRICT],
        answers: ACCEPTED,
        body: "{instances: [rows], good_for_secs: seconds, \"until_restart\" or \"forever\", sequence}",
    },
    Route {
        method: HttpMethod::Delete,
        path: "/sources/{source}",
        summary: "Remove all rows of a source",
        query: &[],
        answers: ACCEPTED,
        body: "",
    },
    Route {
        method: HttpMethod::Put,
        path: "/sources/{source}/instances/{name}",
        summary: "One row, the others stay",
        query: &[
            STRICT,
            ("good_for_secs", "a number of seconds from 1, until_restart or forever"),
            ("sequence", "greater than the last one of this source"),
        ],
        answers: ACCEPTED,
        body: "a row; its name may be left out",
    },
    Route {
        method: HttpMethod::Delete,
        path: "/sources/{source}/instances/{name}",
        summary: "Remove one row",
        query: &[],
        answers: ACCEPTED,
        body: "",
    },
];
