//! The control lane: requests to an echo server of our own, which has a thread of its own. Where even those are slow,
//! everything is, and no process was silent for that.

use std::io::{self, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use greenlight_core::rehearsal::Event;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until, timeout_at};

use super::shared::Shared;
use super::since::micros;
use crate::clock::instant;

/// The echo server. It ends when this is dropped.
#[derive(Debug)]
pub(super) struct Echo {
    address: SocketAddr,
    is_over: Arc<AtomicBool>,
}

impl Echo {
    /// Starts it.
    ///
    /// # Errors
    /// The system's.
    pub(super) fn start(host: IpAddr) -> io::Result<Self> {
        let listener = TcpListener::bind((host, 0))?;
        let address = listener.local_addr()?;
        let is_over = Arc::new(AtomicBool::new(false));
        let over = Arc::clone(&is_over);
        thread::Builder::new().name("echo".into()).spawn(move || {
            // One after the other: each takes as long as two bytes do.
            while !over.load(Ordering::Acquire) {
                // What fails is seen by the one who asks.
                let _ = listener.accept().and_then(|(stream, _)| echo(stream));
            }
        })?;
        Ok(Self { address, is_over })
    }

    /// Where it is asked.
    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Echo {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Release);
        // It looks after each connection; one that cannot be made leaves a thread that does nothing.
        let _ = std::net::TcpStream::connect(self.address);
    }
}

fn echo(mut stream: std::net::TcpStream) -> io::Result<()> {
    stream.set_read_timeout(Some(READ_AT_MOST))?;
    let mut byte = [0];
    stream.read_exact(&mut byte)?;
    stream.write_all(&byte)
}

/// Asks every so often how long an echo takes, until it is dropped.
pub(super) async fn control(shared: Rc<Shared>, echo: SocketAddr) {
    let mut tasks = JoinSet::new();
    let mut due = instant();
    loop {
        sleep_until(due).await;
        while tasks.try_join_next().is_some() {}
        // A question that hangs holds up none of those after it.
        tasks.spawn_local(ask(Rc::clone(&shared), echo, due));
        let now = instant();
        while due <= now {
            due += EVERY;
        }
    }
}

async fn ask(shared: Rc<Shared>, echo: SocketAddr, due: Instant) {
    let answer = timeout_at(due + micros(shared.options.give_up_us), exchange(echo)).await;
    let took_us = match answer {
        Ok(Ok(())) => Some(shared.since.now_us().saturating_sub(shared.since.floor_us(due))),
        Ok(Err(_)) | Err(_) => None,
    };
    shared.record.note(Event::Control { due_us: shared.since.floor_us(due), took_us });
}

/// Asks once.
///
/// # Errors
/// The system's.
pub(super) async fn exchange(echo: SocketAddr) -> io::Result<()> {
    let mut stream = TcpStream::connect(echo).await?;
    // A minute's wait of each port would use them up.
    stream.set_zero_linger()?;
    stream.write_all(&[QUESTION]).await?;
    match stream.read_u8().await? {
        QUESTION => Ok(()),
        _ => Err(io::ErrorKind::InvalidData.into()),
    }
}

const QUESTION: u8 = b'?';
/// Often enough to have several within any trouble that a roll has.
const EVERY: Duration = Duration::from_millis(100);
/// Only we ask, and at once; whoever else connects holds up nobody for longer.
const READ_AT_MOST: Duration = Duration::from_secs(1);
