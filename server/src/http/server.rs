//! The listener: connections are bounded below the descriptor limit, with room kept for probes.
//!
//! Up to the limit a connection may ask for anything. Above it one may ask only whether the daemon is live and
//! ready, must ask at once, and is closed after its answer; where even that room is full, the one that has been
//! silent longest makes room. So idle connections, however many, never keep a probe out.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::{Request, Response, header};
use axum::response::IntoResponse;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio_io_timeout::TimeoutStream;
use tokio_util::task::TaskTracker;
use tower::ServiceExt;

use super::problem::Problem;

/// What routes serve now: a daemon that stands by gets its own later.
pub(crate) type Routes = watch::Receiver<Router>;

/// A bound socket that is not served yet.
#[derive(Debug)]
pub(crate) struct Server {
    listener: TcpListener,
    general: Arc<Semaphore>,
}

/// Told to a running [`Server`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Take connections.
    Serve,
    /// Take no new ones; finish the requests in flight.
    Finish,
}

impl Server {
    /// Binds the address. Raises the soft limit of descriptors to the hard one first.
    /// `outgoing` descriptors are left for what this process asks others.
    pub(crate) async fn bind(address: SocketAddr, outgoing: usize) -> io::Result<Self> {
        let descriptors = raise_descriptor_limit();
        let kept = KEPT_DESCRIPTORS.saturating_add(outgoing);
        let general = usize::try_from(descriptors).unwrap_or(usize::MAX).saturating_sub(kept);
        let listener = TcpListener::bind(address).await?;
        Ok(Self { listener, general: Arc::new(Semaphore::new(general.clamp(MIN_CONNECTIONS, MAX_CONNECTIONS))) })
    }

    /// Where it listens.
    pub(crate) fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves until told to finish, and then until every request in flight has its answer.
    pub(crate) async fn run(self, routes: Routes, mut phase: watch::Receiver<Phase>) {
        let connections = TaskTracker::new();
        let mut probes: VecDeque<tokio::task::AbortHandle> = VecDeque::new();
        loop {
            let accepted = tokio::select! {
                accepted = self.listener.accept() => accepted,
                () = finish(&mut phase) => break,
            };
            let stream = match accepted {
                Ok((stream, _)) => stream,
                Err(error) => {
                    tracing::warn!(%error, "a connection could not be taken");
                    if !is_of_one_connection(&error) {
                        // Without descriptors the next try fails the same way: let some end first.
                        tokio::time::sleep(Duration::from_millis(50)).await;
                    }
                    continue;
                }
            };
            let permit = Arc::clone(&self.general).try_acquire_owned().ok();
            let is_general = permit.is_some();
            let task = connections.spawn(serve(stream, permit, routes.clone(), phase.clone()));
            if !is_general {
                probes.retain(|probe| !probe.is_finished());
                probes.push_back(task.abort_handle());
                if probes.len() > PROBE_CONNECTIONS
                    && let Some(oldest) = probes.pop_front()
                {
                    oldest.abort();
                }
            }
        }
        drop(self.listener);
        connections.close();
        connections.wait().await;
    }
}

async fn serve(
    stream: TcpStream,
    permit: Option<OwnedSemaphorePermit>,
    routes: Routes,
    mut phase: watch::Receiver<Phase>,
) {
    // An answer is one write: nothing is gained by waiting for more.
    let _ = stream.set_nodelay(true);
    let mut stream = TimeoutStream::new(stream);
    stream.set_write_timeout(Some(WRITE_TIMEOUT));
    let only_probes = permit.is_none();
    let service = service_fn(move |request| answer(routes.borrow().clone(), request, only_probes));
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(if only_probes { PROBE_HEADER_TIMEOUT } else { HEADER_TIMEOUT })
        .keep_alive(!only_probes)
        .max_buf_size(MAX_HEADER_BYTES)
        .serve_connection(TokioIo::new(Box::pin(stream)), service);
    let mut connection = std::pin::pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = finish(&mut phase) => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::trace!(%error, "a connection ended early");
    }
    drop(permit);
}

async fn answer(routes: Router, request: Request<Incoming>, only_probes: bool) -> Result<Response<Body>, Infallible> {
    if only_probes && !matches!(request.uri().path(), "/livez" | "/healthz" | "/readyz") {
        let mut response = Problem::crowded().into_response();
        response.headers_mut().insert(header::CONNECTION, header::HeaderValue::from_static("close"));
        return Ok(response);
    }
    routes.oneshot(request.map(Body::new)).await
}

/// Waits until told to finish, or until nobody could tell any more.
async fn finish(phase: &mut watch::Receiver<Phase>) {
    let _ = phase.wait_for(|phase| *phase == Phase::Finish).await;
}

/// Whether the next connection may fare better: the peer went away between its call and ours.
fn is_of_one_connection(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted | io::ErrorKind::ConnectionReset | io::ErrorKind::ConnectionRefused
    )
}

fn raise_descriptor_limit() -> u64 {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: limit.maximum, maximum: limit.maximum };
    if setrlimit(Resource::Nofile, raised).is_err() {
        return limit.current.unwrap_or(u64::MAX);
    }
    limit.maximum.unwrap_or(u64::MAX)
}

/// Descriptors that are not for ordinary connections: files, the store, probes, and what a library opens.
const KEPT_DESCRIPTORS: usize = 64 + PROBE_CONNECTIONS;
/// So many connections above the limit are heard as probes.
const PROBE_CONNECTIONS: usize = 64;
/// Even under a tiny descriptor limit somebody must be able to ask.
const MIN_CONNECTIONS: usize = 8;
/// What memory for buffers allows: some tens of kilobytes each.
const MAX_CONNECTIONS: usize = 10_000;
/// A client that takes longer for its headers, or is idle longer between requests, is closed.
const HEADER_TIMEOUT: Duration = Duration::from_secs(10);
const PROBE_HEADER_TIMEOUT: Duration = Duration::from_secs(2);
/// A client that takes nothing for so long is gone, or too slow to wait for.
const WRITE_TIMEOUT: Duration = Duration::from_secs(10);
/// Names in queries are long; nothing else is.
const MAX_HEADER_BYTES: usize = 64 << 10;
