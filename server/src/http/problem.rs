//! The one error mapping: every failure on the wire is an RFC 9457 problem with a detail that a person can act on.

use std::borrow::Cow;

use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use greenlight_core::Refusal;
use serde::Serialize;

use super::json;
use crate::daemon::PublishError;

/// What went wrong, for whoever asked.
#[derive(Debug, Serialize)]
pub(crate) struct Problem {
    #[serde(rename = "type")]
    kind: &'static str,
    title: &'static str,
    #[serde(serialize_with = "as_number")]
    status: StatusCode,
    detail: Cow<'static, str>,
    /// Where in the body, as `instances[3].draining`.
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    /// Who holds the name that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    owner: Option<String>,
    #[serde(skip)]
    header: Option<(HeaderName, HeaderValue)>,
}

impl Problem {
    pub(crate) fn new(status: StatusCode, title: &'static str, detail: impl Into<Cow<'static, str>>) -> Self {
        Self { kind: "about:blank", title, status, detail: detail.into(), path: None, owner: None, header: None }
    }

    /// The same problem, at a place in the body.
    pub(crate) fn at(mut self, path: String) -> Self {
        self.path = Some(path);
        self
    }

    fn with_header(mut self, name: HeaderName, value: &'static str) -> Self {
        self.header = Some((name, HeaderValue::from_static(value)));
        self
    }

    pub(crate) fn not_found(detail: impl Into<Cow<'static, str>>) -> Self {
        Self::new(StatusCode::NOT_FOUND, "Not found", detail)
    }

    pub(crate) fn bad_query(detail: impl Into<Cow<'static, str>>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "The query cannot be understood", detail)
    }

    /// What kept a report of one row from being taken, whose body is that row itself.
    pub(crate) fn of_one_row(error: PublishError) -> Self {
        match error {
            PublishError::Refused(Refusal::Row { name, error, .. }) => {
                Self::new(StatusCode::UNPROCESSABLE_ENTITY, ROW_BREAKS_A_LIMIT, format!("{name:?}: {error}"))
                    .at(error.field().into())
            }
            PublishError::Refused(refusal) => refusal.into(),
            error @ (PublishError::Source(_) | PublishError::Ended) => error.into(),
        }
    }

    pub(crate) fn no_token() -> Self {
        Self::new(
            StatusCode::UNAUTHORIZED,
            "A token is needed",
            "send `Authorization: Bearer TOKEN`; the daemon's own token is in the file `token` of its data directory, unless --token-file names another",
        )
        .with_header(header::WWW_AUTHENTICATE, "Bearer")
    }

    pub(crate) fn wrong_token() -> Self {
        Self::new(
            StatusCode::UNAUTHORIZED,
            "The token is not valid",
            "the token that was sent is none of those in the daemon's token file",
        )
        .with_header(header::WWW_AUTHENTICATE, "Bearer error=\"invalid_token\"")
    }

    pub(crate) fn shutting_down() -> Self {
        Self::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "Shutting down",
            "the daemon is shutting down: ask again once it is back",
        )
        .with_header(header::RETRY_AFTER, "5")
    }

    #[cfg(feature = "cli")]
    pub(crate) fn crowded() -> Self {
        Self::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "Too many connections",
            "as many connections as are allowed are open: only /livez and /readyz are answered until some close",
        )
        .with_header(header::RETRY_AFTER, "1")
    }

    pub(crate) fn busy() -> Self {
        Self::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "Busy",
            "as many large answers as are allowed are under way: ask again in a moment",
        )
        .with_header(header::RETRY_AFTER, "1")
    }
}

const ROW_BREAKS_A_LIMIT: &str = "A row breaks a limit";

impl From<Refusal> for Problem {
    fn from(refusal: Refusal) -> Self {
        let unprocessable = |path: Option<String>, owner: Option<String>, status: StatusCode, title: &'static str| {
            let mut problem = Self::new(status, title, refusal.to_string());
            problem.path = path;
            problem.owner = owner;
            problem
        };
        match &refusal {
            Refusal::Row { index, error, .. } => unprocessable(
                Some(format!("instances[{index}].{}", error.field())),
                None,
                StatusCode::UNPROCESSABLE_ENTITY,
                ROW_BREAKS_A_LIMIT,
            ),
            Refusal::Duplicate { .. } => {
                unprocessable(None, None, StatusCode::UNPROCESSABLE_ENTITY, "A name stands twice")
            }
            Refusal::Held { owner, .. } => {
                unprocessable(None, Some(owner.to_string()), StatusCode::CONFLICT, "The name is held")
            }
            Refusal::OfAnother { owner, .. } => {
                unprocessable(None, Some(owner.to_string()), StatusCode::CONFLICT, "A row of another source")
            }
            Refusal::Sequence { .. } => unprocessable(None, None, StatusCode::CONFLICT, "The report is late"),
            Refusal::SequenceTooLarge(_) => unprocessable(
                Some("sequence".into()),
                None,
                StatusCode::UNPROCESSABLE_ENTITY,
                "The sequence is too large",
            ),
            Refusal::TooManyRows { .. } => unprocessable(None, None, StatusCode::PAYLOAD_TOO_LARGE, "Too many rows"),
            Refusal::TooManySources { .. } => {
                unprocessable(None, None, StatusCode::UNPROCESSABLE_ENTITY, "Too many sources")
            }
            Refusal::Unknown { .. } => unprocessable(None, None, StatusCode::NOT_FOUND, "No such row"),
            Refusal::Source(_) => {
                unprocessable(None, None, StatusCode::UNPROCESSABLE_ENTITY, "The source cannot be named so")
            }
        }
    }
}

impl From<PublishError> for Problem {
    fn from(error: PublishError) -> Self {
        match error {
            PublishError::Source(error) => Refusal::Source(error).into(),
            PublishError::Refused(refusal) => refusal.into(),
            PublishError::Ended => Self::shutting_down(),
        }
    }
}

impl IntoResponse for Problem {
    fn into_response(mut self) -> Response {
        let header = self.header.take();
        let content_type = [(header::CONTENT_TYPE, "application/problem+json")];
        let mut response = (self.status, content_type, json::to_vec(&self)).into_response();
        if let Some((name, value)) = header {
            response.headers_mut().insert(name, value);
        }
        response
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands it over so")]
fn as_number<S: serde::Serializer>(status: &StatusCode, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u16(status.as_u16())
}
