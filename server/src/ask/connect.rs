//! A socket of one's own, connected.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::task::Poll;

use rustix::io::Errno;
use rustix::net::sockopt::set_tcp_quickack;
use socket2::{Domain, Protocol, SockAddr, Socket, Type};
use tokio::net::TcpStream;

use super::progress::Facts;
use super::trouble::{Trouble, errno};

/// Connects to the first address that takes the connection. Where none does, the trouble is that of the last one
/// that says anything of the peer.
pub(super) async fn connect_any(addresses: &[SocketAddr], facts: &Facts) -> Result<Arc<TcpStream>, Trouble> {
    let mut trouble = None;
    for address in addresses {
        match connect(*address, facts).await {
            Ok(stream) => return Ok(stream),
            Err(ours @ Trouble::Ours { .. }) => trouble = trouble.or(Some(ours)),
            Err(theirs) => trouble = Some(theirs),
        }
    }
    Err(trouble.unwrap_or(Trouble::NoSuchName))
}

/// Connects to one address.
pub(super) async fn connect(address: SocketAddr, facts: &Facts) -> Result<Arc<TcpStream>, Trouble> {
    let (socket, connected) = begin(address).map_err(|error| Trouble::at_once(&error))?;
    let stream = TcpStream::from_std(socket.into()).map_err(|error| Trouble::at_once(&error))?;
    // On the same machine it is there already: nobody needs to be woken to learn that.
    if connected == Connected::NotYet && stream.peer_addr().is_err() {
        established(&stream, facts).await.map_err(|error| Trouble::while_connecting(&error))?;
    }
    Ok(Arc::new(stream))
}

/// Whether a connection has met itself: a port that is free may be given to the very connection that asks for it.
/// It then reads its own question, which is no answer; so this is asked only where there is none.
pub(super) fn met_itself(stream: &TcpStream) -> bool {
    matches!((stream.local_addr(), stream.peer_addr()), (Ok(local), Ok(peer)) if local == peer)
}

/// Ends a connection for good, by a reset, as checkers have long done: closed in order, a port would be taken for a
/// minute after each question, here or on the peer. What was asked has been answered, or is given up.
pub(super) fn end(stream: &TcpStream) {
    // An error means that the connection has ended already.
    let _ = stream.set_zero_linger();
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Connected {
    AtOnce,
    NotYet,
}

fn begin(address: SocketAddr) -> io::Result<(Socket, Connected)> {
    let kind = Type::STREAM.nonblocking().cloexec();
    let socket = Socket::new_raw(Domain::for_address(address), kind, Some(Protocol::TCP))?;
    // The last word of the handshake rides along with the question, which follows at once: one packet less, and the
    // peer is woken once. Where that cannot be had, it costs more.
    let _ = set_tcp_quickack(&socket, false);
    match socket.connect(&SockAddr::from(address)) {
        Ok(()) => Ok((socket, Connected::AtOnce)),
        Err(error) if errno(&error) == Some(Errno::INPROGRESS) => Ok((socket, Connected::NotYet)),
        Err(error) => Err(error),
    }
}

/// Waits until the connection is there, or failed.
async fn established(stream: &TcpStream, facts: &Facts) -> io::Result<()> {
    std::future::poll_fn(|cx| {
        let ready = stream.poll_write_ready(cx);
        if ready.is_pending() && !facts.is_last_look() {
            return Poll::Pending;
        }
        if let Some(error) = stream.take_error()? {
            return Poll::Ready(Err(error));
        }
        // Where nobody told us that it is there, the system tells whether there is a peer.
        match ready {
            Poll::Pending if stream.peer_addr().is_err() => Poll::Pending,
            Poll::Pending | Poll::Ready(_) => Poll::Ready(Ok(())),
        }
    })
    .await
}
