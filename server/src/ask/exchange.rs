//! A connection, and what one question on it comes to.

use std::fmt;
use std::future::{Future, poll_fn};
use std::io;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use greenlight_core::rotation::{Answer, Cutting};
use http_body_util::Empty;
use hyper::body::{Body, Incoming};
use hyper::client::conn::http1::{Builder, Connection as Driver, SendRequest};
use hyper::{Response, header};
use hyper_util::rt::TokioIo;
use rustix::net::RecvFlags;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::Instant;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::MAX_HEAD_BYTES;
use super::connect::{connect, connect_any, end, met_itself};
use super::progress::{Facts, Progress, Stage, Way};
use super::target::{Place, Target, Use};
use super::trouble::Trouble;
use super::wire::Wire;
use crate::clock::instant;

/// What one question came to.
#[derive(Debug)]
pub(crate) struct Exchange {
    /// The complete answer, or why there is none.
    pub(crate) result: Result<Answered, Trouble>,
    /// When it was asked.
    pub(crate) begun_at: Instant,
    /// When it was decided.
    pub(crate) ended_at: Instant,
    /// How far it came: when connected, when the head was there, what was written.
    pub(crate) progress: Progress,
    /// How many questions the connection had carried before this one. 0: it was new.
    pub(crate) earlier_uses: u32,
    /// The connection, where it may carry another question.
    pub(crate) connection: Option<Connection>,
}

impl Exchange {
    /// What it means to rotation.
    pub(crate) fn answer(&self) -> Answer {
        match &self.result {
            Ok(answered) => Answer::of_status(answered.status, answered.header.clone()),
            Err(trouble) => trouble.answer(),
        }
    }
}

/// A complete answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Answered {
    /// The final status.
    pub(crate) status: u16,
    /// The value of the header that the target wants, where it is given and is text.
    pub(crate) header: Option<Box<str>>,
    /// How many bytes of the body were read.
    pub(crate) body_bytes: u64,
}

/// A connection to a target. Dropping it ends it.
pub(crate) struct Connection {
    sender: SendRequest<Empty<Bytes>>,
    driver: Driver<TokioIo<Stream>, Empty<Bytes>>,
    socket: Socket,
    pub(super) facts: Arc<Facts>,
    uses: u32,
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection").field("uses", &self.uses).finish_non_exhaustive()
    }
}

impl Connection {
    /// How many questions it has carried.
    pub(crate) fn uses(&self) -> u32 {
        self.uses
    }

    /// Whether the peer has neither closed it nor sent anything that nobody asked for, as far as our system knows.
    pub(crate) fn is_idle(&self) -> bool {
        use rustix::io::Errno;
        let flags = RecvFlags::DONTWAIT | RecvFlags::PEEK;
        matches!(rustix::net::recv(&*self.socket.stream, &mut [0_u8; 1], flags), Err(Errno::AGAIN | Errno::INTR))
    }
}

/// The socket, whose end is decided here.
struct Socket {
    stream: Arc<TcpStream>,
    reset: Use,
}

impl Socket {
    /// The trouble, unless the connection has met itself.
    fn ours_or(&self, trouble: Trouble) -> Trouble {
        if met_itself(&self.stream) { Trouble::Ours { code: "SELF_CONNECT".into() } } else { trouble }
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        match self.reset {
            Use::Once => end(&self.stream),
            Use::Again => {}
        }
    }
}

/// Connects, and speaks TLS where the target does.
pub(super) async fn open(target: &Target, facts: Arc<Facts>) -> Result<Connection, Trouble> {
    let stream = match &target.place {
        Place::Address(address) => {
            facts.note(|progress| progress.stage = Stage::Connecting);
            connect(*address, &facts).await?
        }
        Place::Name(lookup) => {
            let addresses = lookup.addresses().await?;
            facts.note(|progress| progress.stage = Stage::Connecting);
            connect_any(&addresses, &facts).await?
        }
    };
    begin_on(stream, target, facts).await
}

/// Speaks TLS where the target does, on a connection that is there.
pub(super) async fn begin_on(
    stream: Arc<TcpStream>,
    target: &Target,
    facts: Arc<Facts>,
) -> Result<Connection, Trouble> {
    let socket = Socket { stream: Arc::clone(&stream), reset: target.connection };
    let wire = Wire { stream, facts: Arc::clone(&facts) };
    let stream = match &target.tls {
        None => Stream::Plain(wire),
        Some(tls) => {
            let connector = TlsConnector::from(Arc::clone(&tls.config));
            let session = connector.connect(tls.name.clone(), wire).await;
            Stream::Tls(Box::new(session.map_err(|_| socket.ours_or(cut(&facts.read(), Cutting::Tls, "TLS")))?))
        }
    };
    let (sender, driver) = Builder::new()
        .max_buf_size(MAX_HEAD_BYTES)
        .handshake(TokioIo::new(stream))
        .await
        .map_err(|_| cut(&facts.read(), Cutting::Closed, "EOF"))?;
    let now = instant();
    facts.note(|progress| {
        progress.stage = Stage::Waiting;
        progress.connected_at = Some(now);
    });
    Ok(Connection { sender, driver, socket, facts, uses: 0 })
}

/// Asks, and reads the answer to its end or to so many bytes of its body. Tells with it whether the connection may
/// be used again.
pub(super) async fn converse(
    connection: &mut Connection,
    target: &Target,
    enough_bytes: u64,
) -> Result<(Answered, Again), Trouble> {
    let result = put(connection, target, enough_bytes).await;
    result.map_err(|trouble| connection.socket.ours_or(trouble))
}

async fn put(connection: &mut Connection, target: &Target, enough_bytes: u64) -> Result<(Answered, Again), Trouble> {
    let facts = Arc::clone(&connection.facts);
    if connection.uses > 0 && !connection.is_idle() {
        return Err(cut(&facts.read(), Cutting::Closed, "EOF"));
    }
    connection.uses = connection.uses.saturating_add(1);
    let mut driver = Driving { driver: &mut connection.driver, is_over: false };
    let sender = &mut connection.sender;
    let ready = poll_fn(|cx| driver.beside(cx, |cx| sender.poll_ready(cx))).await;
    if ready.is_none_or(|ready| ready.is_err()) {
        return Err(cut(&facts.read(), Cutting::Closed, "EOF"));
    }
    let mut answer = pin!(sender.send_request(target.request()));
    let response = match poll_fn(|cx| driver.beside(cx, |cx| answer.as_mut().poll(cx))).await {
        Some(Ok(response)) => response,
        Some(Err(error)) if error.is_parse() => return Err(Trouble::Garbled),
        Some(Err(_)) | None => return Err(cut(&facts.read(), Cutting::Closed, "EOF")),
    };
    let now = instant();
    facts.note(|progress| {
        progress.stage = Stage::Reading;
        progress.head_at = Some(now);
    });
    let status = response.status().as_u16();
    let header = target.header.as_ref().and_then(|name| value_of(&response, name));
    let closes = response
        .headers()
        .get_all(header::CONNECTION)
        .iter()
        .any(|value| value.as_bytes().eq_ignore_ascii_case(b"close"));
    let mut body = response.into_body();
    let mut body_bytes = 0_u64;
    loop {
        let frame = poll_fn(|cx| driver.beside(cx, |cx| Pin::new(&mut body).poll_frame(cx))).await;
        match frame {
            Some(None) => {
                let again = if closes || driver.is_over { Again::No } else { Again::Yes };
                return Ok((Answered { status, header, body_bytes }, again));
            }
            Some(Some(Ok(frame))) => {
                body_bytes = body_bytes.saturating_add(frame.data_ref().map_or(0, |data| data.len() as u64));
                if body_bytes >= enough_bytes {
                    // The rest is never read.
                    return Ok((Answered { status, header, body_bytes }, Again::No));
                }
            }
            Some(Some(Err(_))) | None => return Err(torn(&facts.read())),
        }
    }
}

/// Whether a connection may carry another question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Again {
    Yes,
    No,
}

/// The half of hyper that reads and writes, polled in the same task as the half that asks.
struct Driving<'a> {
    driver: &'a mut Driver<TokioIo<Stream>, Empty<Bytes>>,
    is_over: bool,
}

impl Driving<'_> {
    /// Moves the connection on, then polls what waits for it. `None`: the connection is over and that still waits.
    fn beside<T>(
        &mut self,
        cx: &mut Context<'_>,
        mut waiting: impl FnMut(&mut Context<'_>) -> Poll<T>,
    ) -> Poll<Option<T>> {
        if !self.is_over {
            self.is_over = self.driver.poll_without_shutdown(cx).is_ready();
        }
        match waiting(cx) {
            Poll::Ready(value) => Poll::Ready(Some(value)),
            Poll::Pending if self.is_over => Poll::Ready(None),
            Poll::Pending => Poll::Pending,
        }
    }
}

fn value_of(response: &Response<Incoming>, name: &header::HeaderName) -> Option<Box<str>> {
    let value = response.headers().get(name)?;
    std::str::from_utf8(value.as_bytes()).ok().map(str::trim).filter(|text| !text.is_empty()).map(Into::into)
}

/// How it broke off before the head was complete: what the socket said, else what is given.
fn cut(progress: &Progress, by: Cutting, code: &str) -> Trouble {
    let (by, code) = broke(progress).unwrap_or((by, code.into()));
    Trouble::Cut { by, code }
}

fn torn(progress: &Progress) -> Trouble {
    let (by, code) = broke(progress).unwrap_or((Cutting::Garbled, "NOT_HTTP".into()));
    Trouble::Torn { by, code }
}

fn broke(progress: &Progress) -> Option<(Cutting, Box<str>)> {
    match &progress.error {
        Some((Way::Reset, code)) => Some((Cutting::Reset, code.clone())),
        Some((Way::Other, code)) => Some((Cutting::Closed, code.clone())),
        None => progress.closed.then(|| (Cutting::Closed, "EOF".into())),
    }
}

/// Plain or within TLS.
enum Stream {
    Plain(Wire),
    Tls(Box<TlsStream<Wire>>),
}

impl AsyncRead for Stream {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(wire) => Pin::new(wire).poll_read(cx, buf),
            Self::Tls(session) => Pin::new(session).poll_read(cx, buf),
        }
    }
}

impl AsyncWrite for Stream {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Plain(wire) => Pin::new(wire).poll_write(cx, bytes),
            Self::Tls(session) => Pin::new(session).poll_write(cx, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(wire) => Pin::new(wire).poll_flush(cx),
            Self::Tls(session) => Pin::new(session).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(wire) => Pin::new(wire).poll_shutdown(cx),
            Self::Tls(session) => Pin::new(session).poll_shutdown(cx),
        }
    }
}
