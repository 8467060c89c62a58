//! The addresses of a name. A name that does not exist is an answer; a resolver that is out of order, or too slow, is
//! our own trouble.

use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::sync::{Mutex, PoisonError};

use dns_lookup::{AddrInfoHints, LookupErrorKind, SockType, getaddrinfo};
use tokio::task::JoinHandle;

use super::trouble::{Trouble, name};

type Found = Result<Vec<SocketAddr>, Trouble>;

/// A name that is looked up for each question, by the system's own resolver.
#[derive(Debug)]
pub(super) struct Lookup {
    host: Box<str>,
    port: u16,
    /// A lookup that outlived its question: the next one waits for it, so that a resolver that hangs is asked once.
    under_way: Mutex<Option<JoinHandle<Found>>>,
}

impl Lookup {
    pub(super) fn new(host: &str, port: u16) -> Self {
        Self { host: host.into(), port, under_way: Mutex::new(None) }
    }

    /// The addresses, one at least, in the resolver's order of preference.
    pub(super) async fn addresses(&self) -> Found {
        let before = self.slot().take();
        let task = before.unwrap_or_else(|| {
            let (host, port) = (self.host.clone(), self.port);
            tokio::task::spawn_blocking(move || resolve(&host, port))
        });
        let mut kept = Kept { lookup: self, task: Some(task) };
        let found = match &mut kept.task {
            Some(task) => task.await,
            None => return Err(Trouble::Ours { code: "DNS".into() }),
        };
        kept.task = None;
        // A task that panicked or was dropped with its runtime found nothing.
        found.unwrap_or_else(|_| Err(Trouble::Ours { code: "DNS".into() }))
    }

    fn slot(&self) -> std::sync::MutexGuard<'_, Option<JoinHandle<Found>>> {
        self.under_way.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Gives a lookup that is not over back when its question is dropped.
struct Kept<'a> {
    lookup: &'a Lookup,
    task: Option<JoinHandle<Found>>,
}

impl Drop for Kept<'_> {
    fn drop(&mut self) {
        if let Some(task) = self.task.take() {
            self.lookup.slot().get_or_insert(task);
        }
    }
}

fn resolve(host: &str, port: u16) -> Found {
    can_ask()?;
    let hints = AddrInfoHints { socktype: SockType::Stream.into(), ..AddrInfoHints::default() };
    let found = getaddrinfo(Some(host), None, Some(hints)).map_err(|error| match error.kind() {
        // A resolver that cannot open its own files says that the name is not there.
        LookupErrorKind::NoName | LookupErrorKind::NoData => can_ask().err().unwrap_or(Trouble::NoSuchName),
        LookupErrorKind::Memory => Trouble::Ours { code: "ENOMEM".into() },
        LookupErrorKind::System => Trouble::Ours { code: name(&io::Error::from(error)) },
        LookupErrorKind::Again
        | LookupErrorKind::Badflags
        | LookupErrorKind::Fail
        | LookupErrorKind::Family
        | LookupErrorKind::Socktype
        | LookupErrorKind::Service
        | LookupErrorKind::Unknown
        | LookupErrorKind::IO => Trouble::Ours { code: "DNS".into() },
    })?;
    let mut addresses: Vec<SocketAddr> = Vec::new();
    for one in found.take(MAX_ADDRESSES) {
        let address = one.map_err(|error| Trouble::Ours { code: name(&error) })?.sockaddr;
        addresses.push(SocketAddr::new(address.ip(), port));
    }
    if addresses.is_empty() { Err(Trouble::NoSuchName) } else { Ok(addresses) }
}

/// Whether a socket can be had at all.
fn can_ask() -> Result<(), Trouble> {
    UdpSocket::bind(("127.0.0.1", 0)).map(drop).map_err(|error| Trouble::Ours { code: name(&error) })
}

/// More than this no question gets to within its time.
const MAX_ADDRESSES: usize = 16;
