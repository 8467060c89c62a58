//! The socket under a question: it counts what is written, keeps the name of what goes wrong, and asks the system
//! itself where the deadline has passed.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

use super::progress::{Facts, Way};
use super::trouble;

/// One side of a connection.
#[derive(Debug)]
pub(super) struct Wire {
    pub(super) stream: Arc<TcpStream>,
    pub(super) facts: Arc<Facts>,
}

impl Wire {
    fn failed(&self, error: &io::Error) {
        let way = match trouble::errno(error) {
            Some(Errno::CONNRESET | Errno::PIPE | Errno::CONNABORTED) => Way::Reset,
            _ => Way::Other,
        };
        let name = trouble::name(error);
        self.facts.note(|progress| {
            // The first one is the cause of those that follow.
            progress.error.get_or_insert((way, name));
        });
    }

    fn wrote(&self, bytes: usize) {
        self.facts.note(|progress| progress.written_bytes = progress.written_bytes.saturating_add(bytes as u64));
    }

    /// Reads what lies in the system, whatever the runtime has heard of it.
    fn look(&self, buf: &mut ReadBuf<'_>) -> Poll<io::Result<usize>> {
        match rustix::net::recv(&*self.stream, buf.initialize_unfilled(), RecvFlags::DONTWAIT) {
            Ok((_, bytes)) => {
                buf.advance(bytes);
                Poll::Ready(Ok(bytes))
            }
            Err(Errno::AGAIN | Errno::INTR) => Poll::Pending,
            Err(errno) => Poll::Ready(Err(errno.into())),
        }
    }

    fn poll_some(&self, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<usize>> {
        loop {
            match self.stream.poll_read_ready(cx) {
                Poll::Pending if self.facts.is_last_look() => return self.look(buf),
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                Poll::Ready(Ok(())) => {}
            }
            match self.stream.try_read_buf(buf) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                result => return Poll::Ready(result),
            }
        }
    }

    fn poll_send(&self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        // A socket that has just connected takes what it is given: there is no need to wait until that is told.
        match rustix::net::send(&*self.stream, bytes, SendFlags::DONTWAIT | SendFlags::NOSIGNAL) {
            Ok(written) => return Poll::Ready(Ok(written)),
            Err(Errno::AGAIN | Errno::INTR) => {}
            Err(errno) => return Poll::Ready(Err(errno.into())),
        }
        loop {
            ready!(self.stream.poll_write_ready(cx))?;
            match self.stream.try_write(bytes) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                result => return Poll::Ready(result),
            }
        }
    }
}

impl AsyncRead for Wire {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match ready!(self.poll_some(cx, buf)) {
            Ok(0) => self.facts.note(|progress| progress.closed = true),
            Ok(_) => {}
            Err(error) => {
                self.failed(&error);
                return Poll::Ready(Err(error));
            }
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Wire {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match ready!(self.poll_send(cx, bytes)) {
            Ok(written) => {
                self.wrote(written);
                Poll::Ready(Ok(written))
            }
            Err(error) => {
                self.failed(&error);
                // Whoever answered before we asked, and left, has answered: reading tells.
                Poll::Ready(Ok(bytes.len()))
            }
        }
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        // The end of a connection is decided where it is dropped.
        Poll::Ready(Ok(()))
    }
}
