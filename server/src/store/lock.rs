//! One daemon for each data directory.
//!
//! The lock is the system's, on the file `lock`: it goes with the process, however that ends. What stands in the
//! file is for people; it is believed only while somebody holds the lock.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Holds a data directory until it is dropped.
#[derive(Debug)]
pub struct Lock {
    file: File,
}

/// Why a data directory cannot be held.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Another daemon holds it.
    #[error("{dir} is in use by another daemon ({by}): stop that one, or give another --data, or --wait-for-lock")]
    Held {
        /// The directory.
        dir: PathBuf,
        /// Who, as the holder has written.
        by: String,
    },
    /// The directory cannot be used.
    #[error("{dir} cannot be used as a data directory: {why}")]
    Unusable {
        /// The directory.
        dir: PathBuf,
        /// What the system says, in words.
        why: String,
    },
}

/// Takes the directory for `holder`: who this is, in a line for people. The directory is made, for its owner only,
/// where it is missing.
///
/// # Errors
/// [`LockError::Held`] where another process or another [`Lock`] of this one holds it.
pub fn acquire(dir: &Path, holder: &str) -> Result<Lock, LockError> {
    let mut file = open(dir)?;
    match file.try_lock() {
        Ok(()) => Lock::write(dir, file, holder),
        Err(TryLockError::WouldBlock) => Err(LockError::Held { dir: dir.to_owned(), by: holder_in(&mut file) }),
        Err(TryLockError::Error(error)) => Err(unusable(dir, &error)),
    }
}

/// Waits, for as long as it takes, until the directory is free, and takes it. Blocks its thread.
///
/// # Errors
/// [`LockError::Unusable`].
pub fn wait(dir: &Path, holder: &str) -> Result<Lock, LockError> {
    let file = open(dir)?;
    file.lock().map_err(|error| unusable(dir, &error))?;
    Lock::write(dir, file, holder)
}

impl Lock {
    fn write(dir: &Path, mut file: File, holder: &str) -> Result<Self, LockError> {
        let text = holder.get(..holder.floor_char_boundary(MAX_HOLDER_BYTES)).unwrap_or_default();
        let written = file
            .set_len(0)
            .and_then(|()| file.rewind())
            .and_then(|()| file.write_all(text.as_bytes()))
            .and_then(|()| file.write_all(b"\n"));
        match written {
            Ok(()) => Ok(Self { file }),
            // Who holds it is a courtesy: a full disk, which the daemon outlives, must not keep it from starting.
            Err(error) if matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded) => {
                Ok(Self { file })
            }
            Err(error) => Err(unusable(dir, &error)),
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Closing the file frees the lock all the same; the name of one that left would only mislead.
        let _ = self.file.set_len(0);
        let _ = self.file.unlock();
    }
}

fn open(dir: &Path) -> Result<File, LockError> {
    match fs::metadata(dir) {
        Ok(found) if !found.is_dir() => {
            return Err(LockError::Unusable { dir: dir.to_owned(), why: "it is not a directory".to_owned() });
        }
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            DirBuilder::new().recursive(true).mode(0o700).create(dir).map_err(|error| unusable(dir, &error))?;
        }
        Err(error) => return Err(unusable(dir, &error)),
    }
    OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        // Its text belongs to whoever holds the lock, which is not known yet.
        .truncate(false)
        .mode(0o600)
        .open(dir.join("lock"))
        .map_err(|error| unusable(dir, &error))
}

fn holder_in(file: &mut File) -> String {
    let mut text = Vec::new();
    let most = u64::try_from(MAX_HOLDER_BYTES).unwrap_or(u64::MAX);
    let read = file.rewind().and_then(|()| file.take(most).read_to_end(&mut text));
    let text = String::from_utf8_lossy(&text);
    match (read, text.trim()) {
        // It holds the lock and has not written yet, or could not.
        (Err(_), _) | (Ok(_), "") => "it has not said which".to_owned(),
        (Ok(_), text) => text.to_owned(),
    }
}

fn unusable(dir: &Path, error: &io::Error) -> LockError {
    let why = match error.kind() {
        io::ErrorKind::PermissionDenied => "no permission to write there".to_owned(),
        io::ErrorKind::ReadOnlyFilesystem => "it is on a file system that is read-only".to_owned(),
        io::ErrorKind::NotADirectory => "a part of the path is not a directory".to_owned(),
        _ => error.to_string(),
    };
    LockError::Unusable { dir: dir.to_owned(), why }
}

/// A line: a process, an address and a moment.
const MAX_HOLDER_BYTES: usize = 1024;

#[cfg(test)]
mod tests;
