//! Where the database lies: a file in the data directory, or whatever a test puts in its place.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use ::redb::{Builder, Database, DatabaseError, ReadOnlyDatabase};

use crate::store::StoreError;

/// A place for one database, which can be opened again after it failed.
pub trait Medium: Send {
    /// Whether a database has been put in place.
    ///
    /// # Errors
    /// Where that cannot be found out.
    fn is_there(&self) -> Result<bool, StoreError>;

    /// A new database, not in its place yet: a power cut before [`Medium::put_in_place`] leaves nothing behind.
    ///
    /// # Errors
    /// As the database has it.
    fn create(&self, builder: &Builder) -> Result<Database, DatabaseError>;

    /// Puts the database that was created, and closed, in its place, for good.
    ///
    /// # Errors
    /// Where the system says no.
    fn put_in_place(&self) -> Result<(), StoreError>;

    /// Opens what is in place.
    ///
    /// # Errors
    /// As the database has it.
    fn open(&self, builder: &Builder) -> Result<Database, DatabaseError>;

    /// Opens what is in place without writing to it.
    ///
    /// # Errors
    /// As the database has it.
    fn open_read_only(&self, builder: &Builder) -> Result<ReadOnlyDatabase, DatabaseError>;

    /// Moves what is in place aside and tells where it is now.
    ///
    /// # Errors
    /// Where the system says no.
    fn set_aside(&self) -> io::Result<String>;
}

/// The file `board.redb` in a data directory.
#[derive(Clone, Debug)]
pub struct FileMedium {
    dir: PathBuf,
}

impl FileMedium {
    /// The file's place in an existing directory.
    pub fn new(dir: &Path) -> Self {
        Self { dir: dir.to_owned() }
    }

    fn path(&self) -> PathBuf {
        self.dir.join("board.redb")
    }

    fn new_path(&self) -> PathBuf {
        self.dir.join("board.redb.new")
    }

    /// A name in a directory is durable only once the directory itself is.
    fn sync_dir(&self) -> io::Result<()> {
        File::open(&self.dir)?.sync_all()
    }
}

impl Medium for FileMedium {
    fn is_there(&self) -> Result<bool, StoreError> {
        let path = self.path();
        path.try_exists().map_err(|error| StoreError::Io(format!("{}: {error}", path.display())))
    }

    fn create(&self, builder: &Builder) -> Result<Database, DatabaseError> {
        match fs::remove_file(self.new_path()) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error.into()),
            Ok(()) | Err(_) => {}
        }
        builder.create(self.new_path())
    }

    fn put_in_place(&self) -> Result<(), StoreError> {
        fs::rename(self.new_path(), self.path())
            .and_then(|()| self.sync_dir())
            .map_err(|error| StoreError::Io(format!("{}: {error}", self.path().display())))
    }

    fn open(&self, builder: &Builder) -> Result<Database, DatabaseError> {
        builder.open(self.path())
    }

    fn open_read_only(&self, builder: &Builder) -> Result<ReadOnlyDatabase, DatabaseError> {
        builder.open_read_only(self.path())
    }

    fn set_aside(&self) -> io::Result<String> {
        for n in 1..=MOST_SET_ASIDE {
            let target = self.dir.join(format!("board.redb.corrupt-{n}"));
            if target.try_exists()? {
                continue;
            }
            fs::rename(self.path(), &target)?;
            self.sync_dir()?;
            return Ok(target.display().to_string());
        }
        Err(io::Error::other(format!("there are {MOST_SET_ASIDE} corrupt stores already: remove some")))
    }
}

/// A disk that spoils a store at every start is to be noticed, not to be filled.
const MOST_SET_ASIDE: u32 = 100;
