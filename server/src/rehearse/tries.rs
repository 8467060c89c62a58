//! The drain margin: after the old one has left rotation, a connection is tried every 50 ms, outside the count, until
//! it is refused.

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

use greenlight_core::rehearsal::{Door, Event};
use tokio::net::TcpStream;
use tokio::time::{sleep_until, timeout};

use super::shared::Shared;
use crate::clock::instant;

/// Tries until it is refused.
pub(super) async fn try_door(shared: Rc<Shared>, process: usize, address: SocketAddr) {
    let mut due = instant();
    loop {
        let found = look(address).await;
        let at_us = shared.since.now_us();
        shared.record.note(Event::Tried { at_us, process: shared.name(process), found });
        match found {
            Door::Closed => return,
            Door::Open | Door::Silent | Door::Ours => {}
        }
        let now = instant();
        while due <= now {
            due += EVERY;
        }
        sleep_until(due).await;
    }
}

/// Connects and hangs up.
pub(super) async fn look(address: SocketAddr) -> Door {
    match timeout(PATIENCE, TcpStream::connect(address)).await {
        Ok(Ok(stream)) => match stream.local_addr() {
            // Nobody listens there: we met ourselves.
            Ok(ours) if ours == address => Door::Closed,
            Ok(_) | Err(_) => Door::Open,
        },
        Ok(Err(error)) => match error.kind() {
            ErrorKind::ConnectionRefused | ErrorKind::ConnectionReset => Door::Closed,
            _ => Door::Ours,
        },
        Err(_) => Door::Silent,
    }
}

const EVERY: Duration = Duration::from_millis(50);
/// A connection that takes longer waits in a queue: somebody listens, and is behind.
const PATIENCE: Duration = Duration::from_secs(1);
