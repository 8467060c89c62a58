//! A connection, and what one question on it comes to.

use std::fmt;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use greenlight_core::rotation::{Answer, Cutting};
use rustix::net::RecvFlags;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::Instant;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::answer::{End, NotHttp, Reader, Step};
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
    stream: Stream,
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
        // Apart: most questions go to an address, and need no room for the state of a lookup.
        Place::Name(lookup) => {
            let by_name = async {
                let addresses = lookup.addresses().await?;
                facts.note(|progress| progress.stage = Stage::Connecting);
                connect_any(&addresses, &facts).await
            };
            Box::pin(by_name).await?
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
            // Apart: a session that begins is larger than all that a plain question needs.
            let session = Box::pin(connector.connect(tls.name.clone(), wire)).await;
            Stream::Tls(Box::new(session.map_err(|_| socket.ours_or(cut(&facts.read(), Cutting::Tls, "TLS")))?))
        }
    };
    let now = instant();
    facts.note(|progress| {
        progress.stage = Stage::Waiting;
        progress.connected_at = Some(now);
    });
    Ok(Connection { stream, socket, facts, uses: 0 })
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
    let Connection { stream, .. } = connection;
    let closed = || cut(&facts.read(), Cutting::Closed, "EOF");
    stream.write_all(&target.request).await.map_err(|_| closed())?;
    stream.flush().await.map_err(|_| closed())?;
    let mut reader = Reader::new();
    let mut head = None;
    loop {
        match (reader.step(target.header.as_deref()), head.take()) {
            (Ok(Step::Head { status, wanted }), _) => {
                let now = instant();
                facts.note(|progress| {
                    progress.stage = Stage::Reading;
                    progress.head_at = Some(now);
                });
                head = Some((status, wanted));
                continue;
            }
            (Ok(Step::Complete { keep }), Some((status, header))) => {
                let again = if keep { Again::Yes } else { Again::No };
                return Ok((Answered { status, header, body_bytes: reader.body_bytes }, again));
            }
            // The rest is never read.
            (Ok(Step::More), Some((status, header))) if reader.body_bytes >= enough_bytes => {
                return Ok((Answered { status, header, body_bytes: reader.body_bytes }, Again::No));
            }
            (Ok(Step::More), told) => head = told,
            (Err(NotHttp) | Ok(Step::Complete { .. }), None) => return Err(Trouble::Garbled),
            (Err(NotHttp), Some(_)) => {
                return Err(Trouble::Torn { by: Cutting::Garbled, code: "NOT_HTTP".into() });
            }
        }
        if reader.buffer.capacity() - reader.buffer.len() < LEAST_READ_BYTES {
            reader.buffer.reserve(READ_BYTES);
        }
        match (stream.read_buf(&mut reader.buffer).await, head.take()) {
            (Ok(1..), told) => head = told,
            (Ok(_), Some((status, header))) if reader.end() == End::Complete => {
                return Ok((Answered { status, header, body_bytes: reader.body_bytes }, Again::No));
            }
            (Ok(_), None) if reader.end() == End::NotHttp => return Err(Trouble::Garbled),
            (Ok(_) | Err(_), None) => return Err(closed()),
            (Ok(_) | Err(_), Some(_)) => {
                let (by, code) = broke(&facts.read()).unwrap_or((Cutting::Closed, "EOF".into()));
                return Err(Trouble::Torn { by, code });
            }
        }
    }
}

/// Less room than this is not worth a look.
const LEAST_READ_BYTES: usize = 256;
const READ_BYTES: usize = 16 * 1024;

/// Whether a connection may carry another question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Again {
    Yes,
    No,
}

/// How it broke off before the head was complete: what the socket said, else what is given.
fn cut(progress: &Progress, by: Cutting, code: &str) -> Trouble {
    let (by, code) = broke(progress).unwrap_or((by, code.into()));
    Trouble::Cut { by, code }
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
