//! The write plane: sources report over HTTP.

use axum::body::{Body, Bytes};
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use greenlight_core::{Extent, GoodFor, KnownRow, Name, Refusal, Report, ReportedRow};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::problem::Problem;
use super::{Api, json, query};
use crate::daemon::Accepted;

/// `PUT /sources/{source}`: the full report of a source.
pub(crate) async fn put_source(
    State(api): State<Api>,
    Path(source): Path<String>,
    uri: Uri,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let source = admit(&api, &headers, &source)?;
    let strict = query::flag(&query::pairs(&uri)?, "strict");
    let body = read(body).await?;
    let Parsed { value: FullReport { instances, good_for_secs, sequence }, warnings } = parse(body, strict).await?;
    let report = Report {
        source,
        extent: Extent::Full,
        rows: instances,
        good_for: good_for_secs.unwrap_or(api.handle.good_for),
        sequence,
    };
    Ok(answer(api.handle.report(report).await?, warnings))
}

/// `PUT /sources/{source}/instances/{name}`: one row, the others stay.
pub(crate) async fn put_instance(
    State(api): State<Api>,
    Path((source, name)): Path<(String, String)>,
    uri: Uri,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let source = admit(&api, &headers, &source)?;
    let pairs = query::pairs(&uri)?;
    let good_for = query::good_for(&pairs)?.unwrap_or(api.handle.good_for);
    let sequence = query::integer(&pairs, "sequence", 0)?;
    let body = read(body).await?;
    let Parsed { value: mut row, warnings } = parse::<ReportedRow>(body, query::flag(&pairs, "strict")).await?;
    if row.name.is_empty() {
        row.name = name.into();
    } else if *row.name != *name {
        return Err(Problem::new(
            StatusCode::UNPROCESSABLE_ENTITY,
            "Two names",
            format!("the path names {name:?} and the body {:?}: leave the one in the body out", row.name),
        )
        .at("name".into()));
    }
    let report = Report { source, extent: Extent::Partial, rows: vec![row], good_for, sequence };
    let accepted = api.handle.report(report).await.map_err(Problem::of_one_row)?;
    Ok(answer(accepted, warnings))
}

/// `DELETE /sources/{source}/instances/{name}`: remove one row.
pub(crate) async fn delete_instance(
    State(api): State<Api>,
    Path((source, name)): Path<(String, String)>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let source = admit(&api, &headers, &source)?;
    Ok(answer(api.handle.remove(source, &name).await?, Vec::new()))
}

/// `DELETE /sources/{source}`: remove all its rows.
pub(crate) async fn delete_source(
    State(api): State<Api>,
    Path(source): Path<String>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let source = admit(&api, &headers, &source)?;
    Ok(answer(api.handle.remove_source(source).await?, Vec::new()))
}

#[derive(Deserialize)]
struct FullReport {
    instances: Vec<ReportedRow>,
    #[serde(default)]
    good_for_secs: Option<GoodFor>,
    #[serde(default)]
    sequence: Option<u64>,
}

/// The same with no field that is not known here.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct KnownReport {
    instances: Vec<KnownRow>,
    #[serde(default)]
    good_for_secs: Option<GoodFor>,
    #[serde(default)]
    sequence: Option<u64>,
}

impl From<KnownReport> for FullReport {
    fn from(KnownReport { instances, good_for_secs, sequence }: KnownReport) -> Self {
        Self { instances: instances.into_iter().map(Into::into).collect(), good_for_secs, sequence }
    }
}

/// What a body may hold.
trait Readable: DeserializeOwned + Send + 'static {
    /// The same without unknown fields, which is read faster.
    type Known: DeserializeOwned + Into<Self>;
}

impl Readable for FullReport {
    type Known = KnownReport;
}

impl Readable for ReportedRow {
    type Known = KnownRow;
}

#[derive(Serialize)]
struct Answer {
    revision: u64,
    changed: Vec<Name>,
    removed: Vec<Name>,
    #[serde(skip_serializing_if = "Option::is_none")]
    durable: Option<bool>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
}

fn answer(accepted: Accepted, warnings: Vec<String>) -> Response {
    let Accepted { revision, changed, removed, durable } = accepted;
    let status = if durable { StatusCode::OK } else { StatusCode::ACCEPTED };
    let answer = Answer { revision, changed, removed, durable: (!durable).then_some(false), warnings };
    (status, [(header::CONTENT_TYPE, "application/json")], json::to_vec(&answer)).into_response()
}

/// Whether this request may write as that source.
fn admit(api: &Api, headers: &HeaderMap, source: &str) -> Result<Name, Problem> {
    api.settings.tokens.admit(headers)?;
    let source = Name::of_source(source).map_err(Refusal::Source)?;
    if api.settings.configured_sources.contains(&source) {
        return Err(Problem::new(
            StatusCode::CONFLICT,
            "A configured source",
            format!("source {source} is this daemon's own, by its configuration: report as another source"),
        ));
    }
    Ok(source)
}

/// The whole body, within its limits of size and time.
async fn read(body: Body) -> Result<Bytes, Problem> {
    let read =
        tokio::time::timeout(BODY_TIMEOUT, Limited::new(body, MAX_BODY_BYTES).collect()).await.map_err(|_| {
            Problem::new(StatusCode::REQUEST_TIMEOUT, "Too slow", "the body did not arrive within 30 s: send it again")
        })?;
    read.map(http_body_util::Collected::to_bytes).map_err(|error| {
        if error.is::<LengthLimitError>() {
            Problem::new(
                StatusCode::PAYLOAD_TOO_LARGE,
                "The body is too large",
                "a body has at most 16 MiB: report fewer rows, or row by row",
            )
        } else {
            Problem::new(StatusCode::BAD_REQUEST, "The body broke off", "the body did not arrive whole: send it again")
        }
    })
}

struct Parsed<T> {
    value: T,
    warnings: Vec<String>,
}

/// Reads JSON, off the threads that answer probes. Fields that we do not know are warned of, or refused.
async fn parse<T: Readable>(body: Bytes, strict: bool) -> Result<Parsed<T>, Problem> {
    if body.len() < SMALL_BODY_BYTES {
        return parse_now(&body, strict);
    }
    tokio::task::spawn_blocking(move || parse_now(&body, strict)).await.map_err(|_| Problem::shutting_down())?
}

fn parse_now<T: Readable>(body: &[u8], strict: bool) -> Result<Parsed<T>, Problem> {
    // Nearly every body holds only what we know. Noting what we do not, and where, costs half as much again.
    // One look at all bytes spares a look at each string.
    let known = str::from_utf8(body).ok().and_then(|text| serde_json::from_str::<T::Known>(text).ok());
    if let Some(known) = known {
        return Ok(Parsed { value: known.into(), warnings: Vec::new() });
    }
    let mut unknown: Vec<String> = Vec::new();
    let mut deserializer = serde_json::Deserializer::from_slice(body);
    let value = serde_ignored::deserialize(&mut deserializer, |path| {
        if unknown.len() < MAX_WARNINGS {
            unknown.push(place(&path));
        }
    })
    .and_then(|value| deserializer.end().map(|()| value))
    .map_err(|error| located::<T>(body, &error))?;
    match unknown.first() {
        Some(path) if strict => Err(Problem::new(
            StatusCode::UNPROCESSABLE_ENTITY,
            "An unknown field",
            format!("{path:?} is no field that this daemon knows: check how it is written, or leave ?strict=true out"),
        )
        .at(path.clone())),
        _ => {
            let warnings = unknown.into_iter().map(|path| format!("{path:?} is not known here and was passed over"));
            Ok(Parsed { value, warnings: warnings.collect() })
        }
    }
}

/// What is wrong and where, found by a second, slower reading.
fn located<T: DeserializeOwned>(body: &[u8], error: &serde_json::Error) -> Problem {
    if !error.is_data() {
        return Problem::new(StatusCode::BAD_REQUEST, "The body is not JSON", error.to_string());
    }
    let mut deserializer = serde_json::Deserializer::from_slice(body);
    match serde_path_to_error::deserialize::<_, T>(&mut deserializer) {
        Ok(_) => Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "The body does not fit", error.to_string()),
        Err(located) if located.path().iter().next().is_none() => {
            Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "The body does not fit", located.inner().to_string())
        }
        Err(located) => {
            let path = located.path().to_string();
            let detail = format!("{path}: {}", located.inner());
            Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "The body does not fit", detail).at(path)
        }
    }
}

/// A place in a body, written as a problem's `path` is everywhere: `instances[0].oops`.
fn place(path: &serde_ignored::Path<'_>) -> String {
    use serde_ignored::Path;
    match path {
        Path::Root => String::new(),
        Path::Seq { parent, index } => format!("{}[{index}]", place(parent)),
        Path::Map { parent, key } => match place(parent) {
            parent if parent.is_empty() => key.clone(),
            parent => format!("{parent}.{key}"),
        },
        Path::Some { parent } | Path::NewtypeStruct { parent } | Path::NewtypeVariant { parent } => place(parent),
    }
}

/// A hundred thousand rows of ordinary length.
const MAX_BODY_BYTES: usize = 16 << 20;
/// A body this small is read where it arrived: a thread costs more.
const SMALL_BODY_BYTES: usize = 16 << 10;
/// A driver on a slow line sends its rows in less.
const BODY_TIMEOUT: std::time::Duration = std::time::Duration::from_secs(30);
/// So many unknown fields are named.
const MAX_WARNINGS: usize = 20;
