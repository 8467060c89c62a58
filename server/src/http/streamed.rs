//! Large answers, made piece by piece from one snapshot, so that a reader costs the memory of a piece.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::body::Body;
use bytes::Bytes;
use http_body::Frame;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::problem::Problem;

/// The gate for heavy reads: so many at once, the others wait a little or are told to come back.
#[derive(Clone, Debug)]
pub(crate) struct HeavyReads(Arc<Semaphore>);

impl HeavyReads {
    pub(crate) fn new() -> Self {
        Self(Arc::new(Semaphore::new(AT_ONCE)))
    }

    /// Waits for a place.
    pub(crate) async fn admit(&self) -> Result<OwnedSemaphorePermit, Problem> {
        match tokio::time::timeout(PATIENCE, Arc::clone(&self.0).acquire_owned()).await {
            Ok(Ok(permit)) => Ok(permit),
            Ok(Err(_)) | Err(_) => Err(Problem::busy()),
        }
    }
}

/// A body whose pieces are made when the one before has gone out. `next` fills the piece it is given and tells
/// whether there is more. The permit is held to the end.
pub(crate) fn body(
    permit: OwnedSemaphorePermit,
    next: impl FnMut(&mut Vec<u8>) -> bool + Send + Unpin + 'static,
) -> Body {
    Body::new(Pieces { next, done: false, _permit: permit })
}

struct Pieces<F> {
    next: F,
    done: bool,
    _permit: OwnedSemaphorePermit,
}

impl<F: FnMut(&mut Vec<u8>) -> bool + Unpin> http_body::Body for Pieces<F> {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if self.done {
            return Poll::Ready(None);
        }
        let mut piece = Vec::with_capacity(PIECE_BYTES + PIECE_BYTES / 4);
        while piece.len() < PIECE_BYTES {
            if !(self.next)(&mut piece) {
                self.done = true;
                break;
            }
        }
        Poll::Ready(Some(Ok(Frame::data(Bytes::from(piece)))))
    }
}

/// Four readers of a full board keep both cores of a small machine busy; more would only make each slower.
const AT_ONCE: usize = 4;
/// A reader that waits longer has likely given up.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(10);
/// About what one write to a socket takes.
pub(super) const PIECE_BYTES: usize = 64 << 10;
