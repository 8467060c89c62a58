//! A disk in memory that writes down what was asked of it, and can fail at a given request.

use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use ::redb::{Builder, Database, DatabaseError, ReadOnlyDatabase, StorageBackend};

use super::super::{Medium, RedbStore};
use crate::store::StoreError;

/// What can be lost in a power cut, or can fail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Request {
    Write { offset: usize, bytes: Vec<u8> },
    SetLen(usize),
    Sync,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Failing {
    Never,
    /// The request of this number from now on fails, and all after it.
    From(usize),
    /// Only the request of this number from now on fails.
    Once(usize),
}

#[derive(Debug)]
pub(super) struct State {
    pub(super) image: Vec<u8>,
    pub(super) log: Vec<Request>,
    failing: Failing,
    /// Requests since [`Disk::fail`].
    count: usize,
    /// The first request that failed since [`Disk::fail`].
    pub(super) failed: Option<Request>,
    there: bool,
    aside: usize,
}

#[derive(Clone, Debug)]
pub(super) struct Disk(Arc<Mutex<State>>);

impl Disk {
    pub(super) fn new() -> Self {
        Self::holding(Vec::new(), false)
    }

    pub(super) fn of(image: Vec<u8>) -> Self {
        Self::holding(image, true)
    }

    fn holding(image: Vec<u8>, there: bool) -> Self {
        let (log, failing, count, failed, aside) = (Vec::new(), Failing::Never, 0, None, 0);
        Self(Arc::new(Mutex::new(State { image, log, failing, count, failed, there, aside })))
    }

    pub(super) fn with<T>(&self, look: impl FnOnce(&mut State) -> T) -> T {
        look(&mut self.0.lock().unwrap())
    }

    pub(super) fn image(&self) -> Vec<u8> {
        self.with(|state| state.image.clone())
    }

    pub(super) fn fail(&self, failing: Failing) {
        self.with(|state| (state.failing, state.count, state.failed) = (failing, 0, None));
    }

    pub(super) fn store(&self) -> Result<RedbStore, StoreError> {
        RedbStore::on(Box::new(self.clone()))
    }

    fn request(&self, request: Request) -> io::Result<()> {
        self.with(|state| {
            let number = state.count;
            state.count += 1;
            let fails = match state.failing {
                Failing::Never => false,
                Failing::From(first) => number >= first,
                Failing::Once(only) => number == only,
            };
            if fails {
                state.failed.get_or_insert(request);
                return Err(io::Error::from(io::ErrorKind::StorageFull));
            }
            apply(&mut state.image, &request);
            state.log.push(request);
            Ok(())
        })
    }
}

/// Does to an image what was asked of the disk.
pub(super) fn apply(image: &mut Vec<u8>, request: &Request) {
    match request {
        Request::Write { offset, bytes } => {
            let end = offset + bytes.len();
            if image.len() < end {
                image.resize(end, 0);
            }
            image[*offset..end].copy_from_slice(bytes);
        }
        Request::SetLen(len) => image.resize(*len, 0),
        Request::Sync => {}
    }
}

impl StorageBackend for Disk {
    fn len(&self) -> io::Result<u64> {
        Ok(self.with(|state| u64::try_from(state.image.len()).unwrap()))
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.with(|state| {
            let start = usize::try_from(offset).unwrap();
            let bytes = start.checked_add(out.len()).and_then(|end| state.image.get(start..end));
            out.copy_from_slice(bytes.ok_or(io::ErrorKind::UnexpectedEof)?);
            Ok(())
        })
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.request(Request::SetLen(usize::try_from(len).unwrap()))
    }

    fn sync_data(&self) -> io::Result<()> {
        self.request(Request::Sync)
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.request(Request::Write { offset: usize::try_from(offset).unwrap(), bytes: data.to_vec() })
    }
}

impl Medium for Disk {
    fn is_there(&self) -> Result<bool, StoreError> {
        Ok(self.with(|state| state.there))
    }

    fn create(&self, builder: &Builder) -> Result<Database, DatabaseError> {
        self.with(|state| state.image.clear());
        builder.create_with_backend(self.clone())
    }

    fn put_in_place(&self) -> Result<(), StoreError> {
        self.with(|state| state.there = true);
        Ok(())
    }

    fn open(&self, builder: &Builder) -> Result<Database, DatabaseError> {
        builder.create_with_backend(self.clone())
    }

    fn open_read_only(&self, builder: &Builder) -> Result<ReadOnlyDatabase, DatabaseError> {
        builder.open_read_only_with_backend(self.clone())
    }

    fn set_aside(&self) -> io::Result<String> {
        self.with(|state| {
            state.there = false;
            state.aside += 1;
            Ok(format!("aside-{}", state.aside))
        })
    }
}

/// A directory of its own that goes with the test.
#[derive(Debug)]
pub(super) struct Dir(pub(super) PathBuf);

impl Dir {
    pub(super) fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let unique = format!("greenlight-store-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(unique);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(super) fn file(&self) -> PathBuf {
        self.0.join("board.redb")
    }
}

impl Drop for Dir {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
