//! `/openapi.json`: the routes, for people and generators.

use axum::http::header;
use axum::response::{IntoResponse, Response};
use utoipa::openapi::path::{OperationBuilder, ParameterBuilder, ParameterIn, PathItem, PathItemBuilder};
use utoipa::openapi::request_body::RequestBodyBuilder;
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme};
use utoipa::openapi::{
    ComponentsBuilder, Content, ContentBuilder, HttpMethod, InfoBuilder, OpenApi, OpenApiBuilder, PathsBuilder,
    Required, ResponseBuilder,
};

use super::{json, schemas};

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
        .components(Some(schemas::add_to(ComponentsBuilder::new().security_scheme(TOKEN, bearer)).build()))
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
    let refusals: &[Told] = match (&route.method, route.query) {
        (HttpMethod::Put | HttpMethod::Delete, _) => {
            operation = operation.security(SecurityRequirement::new(TOKEN, [] as [&str; 0]));
            REFUSALS
        }
        (_, []) => &[],
        _ => &[("400", Holds::Shape("Problem"), "the query cannot be understood")],
    };
    for (status, holds, meaning) in route.answers.iter().chain(refusals) {
        let mut told = ResponseBuilder::new().description(*meaning).content(holds.content_type(), holds.content());
        if let Holds::OrLines(_) = holds {
            told = told.content(JSON_LINES, Content::default());
        }
        operation = operation.response(*status, told.build());
    }
    if let Some((holds, meaning)) = &route.body {
        operation = operation.request_body(Some(
            RequestBodyBuilder::new()
                .content(holds.content_type(), holds.content())
                .description(Some(*meaning))
                .required(Some(Required::True))
                .build(),
        ));
    }
    PathItemBuilder::new().operation(route.method.clone(), operation.build()).build()
}

const TOKEN: &str = "token";

/// What a body holds.
#[derive(Clone, Copy)]
enum Holds {
    /// Text for people.
    Text,
    /// JSON of a shape.
    Shape(&'static str),
    /// JSON of a shape, or the same as JSON lines.
    OrLines(&'static str),
    /// A JSON document of its own kind.
    OpenApi,
    /// Server-sent events.
    Events,
    /// Metrics.
    Metrics,
    /// What a browser shows.
    #[cfg(feature = "page")]
    Page,
}

impl Holds {
    fn content_type(self) -> &'static str {
        match self {
            Self::Text => "text/plain",
            Self::Shape("Problem") => "application/problem+json",
            Self::Shape(_) | Self::OrLines(_) | Self::OpenApi => "application/json",
            Self::Events => "text/event-stream",
            Self::Metrics => "application/openmetrics-text",
            #[cfg(feature = "page")]
            Self::Page => "text/html",
        }
    }

    fn content(self) -> Content {
        match self {
            Self::Shape(name) | Self::OrLines(name) => {
                ContentBuilder::new().schema(Some(schemas::reference(name))).build()
            }
            Self::Text | Self::OpenApi | Self::Events | Self::Metrics => Content::default(),
            #[cfg(feature = "page")]
            Self::Page => Content::default(),
        }
    }
}

/// An answer: its status, what it holds, and when it comes.
type Told = (&'static str, Holds, &'static str);

struct Route {
    method: HttpMethod,
    path: &'static str,
    summary: &'static str,
    query: &'static [(&'static str, &'static str)],
    answers: &'static [Told],
    body: Option<(Holds, &'static str)>,
}

const fn read(
    path: &'static str,
    summary: &'static str,
    query: &'static [(&'static str, &'static str)],
    answers: &'static [Told],
) -> Route {
    Route { method: HttpMethod::Get, path, summary, query, answers, body: None }
}

/// What lines are sent as.
pub(super) const JSON_LINES: &str = "application/jsonl";
const PROBLEM: Holds = Holds::Shape("Problem");
const REFUSALS: &[Told] = &[
    ("400", PROBLEM, "the body or the query cannot be understood"),
    ("401", PROBLEM, "no token, or not a valid one"),
    ("404", PROBLEM, "no such row is on the board"),
    ("408", PROBLEM, "the body did not arrive within 30 s"),
    ("409", PROBLEM, "another source holds the name, the sequence is stale, or the source is a configured one"),
    ("413", PROBLEM, "the body has more than 16 MiB, or the board would hold more than 100,000 rows"),
    ("422", PROBLEM, "a field, a name or a row breaks a limit; `path` says where"),
    ("503", PROBLEM, "shutting down"),
];
const BUSY: Told = ("503", PROBLEM, "as many large answers as are allowed are under way");
const STRICT: (&str, &str) = ("strict", "true: fields that are not known are refused, not passed over with a warning");
const WHAT_IF: &[(&str, &str)] = &[("stale_after", "judge under this horizon instead: 15m, 1h30m, seconds, or never")];
const ACCEPTED: &[Told] = &[
    ("200", Holds::Shape("Accepted"), "applied and durable"),
    ("202", Holds::Shape("Accepted"), "applied, but a restart would lose it: durable is false"),
];

const ROUTES: &[Route] = &[
    read(
        "/livez",
        "Whether the process runs and its board's task turns",
        &[],
        &[("200", Holds::Text, "ok"), ("503", Holds::Text, "stuck")],
    ),
    read("/healthz", "The same as /livez", &[], &[("200", Holds::Text, "ok"), ("503", Holds::Text, "stuck")]),
    read(
        "/readyz",
        "Whether traffic may come; the first line says why not",
        &[("verbose", "one line for each instance"), ("exclude", "judge without this instance; repeatable")],
        &[("200", Holds::Text, "ready"), ("503", Holds::Text, "not ready")],
    ),
    read(
        "/readyz/{name}",
        "Whether one instance is serving",
        &[],
        &[("200", Holds::Text, "it is"), ("503", Holds::Text, "it is not"), ("404", PROBLEM, "there is none")],
    ),
    read(
        "/app",
        "The snapshot: rows, clock and verdict of one instant",
        WHAT_IF,
        &[("200", Holds::Shape("App"), "the snapshot"), BUSY],
    ),
    read("/status", "The snapshot as a text table", WHAT_IF, &[("200", Holds::Text, "a table"), BUSY]),
    read(
        "/events",
        "Server-sent events: change, renew, beat, reset",
        &[("after", "the id of /app or of the last event seen; Last-Event-ID does the same")],
        &[
            ("200", Holds::Events, "a stream: the data of each event is a Change, a Renew, a Beat or a Reset"),
            ("503", PROBLEM, "shutting down"),
        ],
    ),
    read(
        "/history",
        "What happened, beginning with the board as it was before",
        &[
            ("from", "Unix seconds, RFC 3339, or so long ago as -7d; from the beginning if left out"),
            ("to", "the same, and not before `from`; until now if left out. Not included"),
            ("name", "only what is about this instance; repeatable"),
            ("limit", "at most so many events after those that tell the board as it was before; `next` goes on"),
            ("after", "the `next` of the answer before; the board is not told again"),
            ("lines", "true: JSON lines, the head first and the end last, as greenlight export writes them"),
        ],
        &[
            (
                "200",
                Holds::OrLines("History"),
                "the events of the window; with `lines` its head, each event and its end are a line",
            ),
            ("400", PROBLEM, "the query cannot be understood, or the window ends before it begins"),
            ("404", PROBLEM, "nothing is kept"),
            ("410", PROBLEM, "what followed `after` is not there any more"),
            BUSY,
        ],
    ),
    read(
        "/rotation",
        "Who gets traffic: members that are probed, with their last answers, and the prober's own trouble",
        &[],
        &[("200", Holds::Shape("Rotation"), "rotation at this moment"), BUSY],
    ),
    read("/metrics", "Metrics for Prometheus", &[], &[("200", Holds::Metrics, "metrics"), BUSY]),
    #[cfg(feature = "page")]
    read("/", "The status page", &[], &[("200", Holds::Page, "the page"), ("304", Holds::Page, "it has not changed")]),
    read("/openapi.json", "This description", &[], &[("200", Holds::OpenApi, "OpenAPI 3.1")]),
    Route {
        method: HttpMethod::Put,
        path: "/sources/{source}",
        summary: "The full report of a source: rows it no longer names are removed",
        query: &[STRICT],
        answers: ACCEPTED,
        body: Some((Holds::Shape("Report"), "all rows of the source")),
    },
    Route {
        method: HttpMethod::Delete,
        path: "/sources/{source}",
        summary: "Remove all rows of a source",
        query: &[],
        answers: ACCEPTED,
        body: None,
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
        body: Some((Holds::Shape("ReportedRow"), "a row; its name may be left out")),
    },
    Route {
        method: HttpMethod::Delete,
        path: "/sources/{source}/instances/{name}",
        summary: "Remove one row",
        query: &[],
        answers: ACCEPTED,
        body: None,
    },
];
