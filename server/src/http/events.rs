//! `/events`: server-sent events. What changed, who vouches, and every few seconds that the daemon lives.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, Uri, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_core::Stream;
use http_body::Frame;
use tokio_stream::wrappers::BroadcastStream;

use super::problem::Problem;
use super::{Api, query};
use crate::daemon::hub::frame;
use crate::daemon::renewals;

pub(crate) async fn events(State(api): State<Api>, headers: HeaderMap, uri: Uri) -> Result<Response, Problem> {
    let pairs = query::pairs(&uri)?;
    // A browser that reconnects sends the header, and the address with `after` stays what it was.
    let after = match headers.get("last-event-id") {
        Some(id) => Some(id.to_str().unwrap_or_default()),
        None => query::last(&pairs, "after"),
    };
    let shared = api.shared();
    let subscription = shared.hub.subscribe(after).ok_or_else(Problem::shutting_down)?;
    let mut backlog: VecDeque<Bytes> = subscription.backlog.into();
    backlog.push_back(frame("renew", None, &renewals::all(&shared.published.load().snapshot)));
    backlog.push_back(frame("beat", None, &shared.beat()));
    let body = Body::new(EventBody { backlog, live: BroadcastStream::new(subscription.receiver) });
    let headers =
        [(header::CONTENT_TYPE, "text/event-stream"), (header::CACHE_CONTROL, "no-store"), (ACCEL_BUFFERING, "no")];
    Ok((headers, body).into_response())
}

/// A proxy that gathers a stream before it passes it on would make every beat late.
const ACCEL_BUFFERING: header::HeaderName = header::HeaderName::from_static("x-accel-buffering");

/// First what was missed, then what is said. Ends with the daemon, or when it falls too far behind.
struct EventBody {
    backlog: VecDeque<Bytes>,
    live: BroadcastStream<Bytes>,
}

impl http_body::Body for EventBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if let Some(frame) = self.backlog.pop_front() {
            return Poll::Ready(Some(Ok(Frame::data(frame))));
        }
        match Pin::new(&mut self.live).poll_next(context) {
            Poll::Ready(Some(Ok(frame))) => Poll::Ready(Some(Ok(Frame::data(frame)))),
            // It has fallen behind: its client comes back with the last id it saw.
            Poll::Ready(Some(Err(_)) | None) => Poll::Ready(None),
            Poll::Pending => Poll::Pending,
        }
    }
}
