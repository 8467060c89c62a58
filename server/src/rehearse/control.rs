//! The control lane: requests to an echo server of our own. Where even those are slow, everything is.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::rc::Rc;
use std::time::Duration;

use greenlight_core::rehearsal::Event;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until, timeout_at};

use super::shared::Shared;
use super::since::micros;
use crate::clock::instant;

/// Echoes, and asks every so often how long that takes, until it is dropped.
///
/// # Errors
/// Where nobody can listen.
pub(super) async fn control(shared: Rc<Shared>, host: IpAddr) -> io::Result<()> {
    let listener = TcpListener::bind((host, 0)).await?;
    let address = listener.local_addr()?;
    let mut tasks = JoinSet::new();
    tasks.spawn_local(echo(listener));
    let mut due = instant();
    loop {
        sleep_until(due).await;
        while tasks.try_join_next().is_some() {}
        // A question that hangs holds up none of those after it.
        tasks.spawn_local(ask(Rc::clone(&shared), address, due));
        let now = instant();
        while due <= now {
            due += EVERY;
        }
    }
}

async fn ask(shared: Rc<Shared>, address: SocketAddr, due: Instant) {
    let answer = timeout_at(due + micros(shared.options.give_up_us), exchange(address)).await;
    let took_us = match answer {
        Ok(Ok(())) => Some(shared.since.now_us().saturating_sub(shared.since.floor_us(due))),
        Ok(Err(_)) | Err(_) => None,
    };
    shared.record.note(Event::Control { due_us: shared.since.floor_us(due), took_us });
}

async fn exchange(address: SocketAddr) -> io::Result<()> {
    let mut stream = TcpStream::connect(address).await?;
    // A minute's wait of each port would use them up.
    stream.set_zero_linger()?;
    stream.write_all(&[QUESTION]).await?;
    match stream.read_u8().await? {
        QUESTION => Ok(()),
        _ => Err(io::ErrorKind::InvalidData.into()),
    }
}

async fn echo(listener: TcpListener) {
    let mut open = JoinSet::new();
    loop {
        match listener.accept().await {
            Ok((mut stream, _)) => {
                while open.try_join_next().is_some() {}
                open.spawn_local(async move {
                    if let Ok(byte) = stream.read_u8().await {
                        // Whoever asked is gone: nobody waits for it.
                        let _ = stream.write_all(&[byte]).await;
                    }
                });
            }
            // Out of descriptors, or the like: the one who asks sees it, and the next may fare better.
            Err(_) => tokio::time::sleep(Duration::from_millis(10)).await,
        }
    }
}

const QUESTION: u8 = b'?';
/// Often enough to have several within any trouble that a roll has.
const EVERY: Duration = Duration::from_millis(100);
