//! A socket of one's own, connected.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::task::Poll;

use rustix::io::Errno;
use rustix::net::sockopt::set_tcp_quickack;
use socket2::{Domain, Protocol, SockAddr, Socket, Type};
use tokio::net::TcpStream;

use super::progress::Facts;
use super::trouble::{Trouble, errno};

/// Connects to the first address that takes the connection. Where none does and we could not ask one, the trouble is
/// ours, whatever the others said: the peer may listen just there. Else it is that of the last one.
pub(super) async fn connect_any(addresses: &[SocketAddr], facts: &Facts) -> Result<Arc<TcpStream>, Trouble> {
    let (mut ours, mut theirs, mut beyond_us) = (None, None, None);
    for address in addresses {
        match connect(*address, facts).await {
            Ok(stream) => return Ok(stream),
            Err(trouble @ Trouble::Ours { .. }) => {
                let place = if has_way_to(*address) { &mut ours } else { &mut beyond_us };
                place.get_or_insert(trouble);
            }
            Err(trouble) => theirs = Some(trouble),
        }
    }
    Err(ours.or(theirs).or(beyond_us).unwrap_or(Trouble::NoSuchName))
}

/// Whether this machine has an address of its own from which that one can be asked. One without, as `::1` where there
/// is no IPv6, lacks nothing that it had, and its names would never be refused if that counted.
fn has_way_to(address: SocketAddr) -> bool {
    let any: IpAddr = match address.ip() {
        IpAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        IpAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    // Nothing is sent: the system only chooses a way. Where it lacks what that takes, it is short of something.
    let way = UdpSocket::bind((any, 0)).and_then(|socket| socket.connect(address));
    let lacks = [Errno::NETUNREACH, Errno::HOSTUNREACH, Errno::ADDRNOTAVAIL, Errno::AFNOSUPPORT];
    !way.is_err_and(|error| errno(&error).is_some_and(|errno| lacks.contains(&errno)))
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

#[cfg(test)]
mod tests {
    use super::*;

    async fn trouble_of(addresses: &[SocketAddr]) -> Option<Trouble> {
        connect_any(addresses, &Facts::new()).await.err()
    }

    #[tokio::test]
    async fn an_address_that_we_could_not_ask_outweighs_one_that_refused() {
        let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        assert_eq!(trouble_of(&[closed]).await, Some(Trouble::Refused));
        // Our own system connects to no broadcast, though it has a way there.
        let unasked: SocketAddr = "127.255.255.255:9".parse().unwrap();
        for addresses in [[closed, unasked], [unasked, closed]] {
            let trouble = trouble_of(&addresses).await;
            assert!(matches!(trouble, Some(Trouble::Ours { .. })), "{addresses:?}: {trouble:?}");
        }
    }

    #[tokio::test]
    async fn an_address_to_which_this_machine_has_no_way_says_nothing() {
        let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        // Documentation's own network: nobody has a way there, unless by a default route.
        let nowhere: SocketAddr = "[2001:db8::1]:9".parse().unwrap();
        if !has_way_to(nowhere) {
            assert_eq!(trouble_of(&[nowhere, closed]).await, Some(Trouble::Refused));
            assert!(matches!(trouble_of(&[nowhere]).await, Some(Trouble::Ours { .. })));
        }
        assert!(has_way_to(closed));
    }
}
