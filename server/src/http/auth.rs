//! Who may write, and where reading is closed too, who may read.
//!
//! Tokens are compared in constant time and stand in no log, error or debug output.

use std::fmt;
use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arc_swap::ArcSwap;
use axum::http::{HeaderMap, header};
use subtle::ConstantTimeEq;

use super::problem::Problem;

/// The tokens of a file, one per line, all valid; read again when the file changes.
pub struct Tokens {
    file: Option<PathBuf>,
    read: ArcSwap<Read>,
}

struct Read {
    tokens: Vec<String>,
    version: Option<Version>,
}

/// What changes when a file does, also when it is replaced within one second.
type Version = (i64, i64, u64, u64);

impl Tokens {
    /// No token is valid: nobody may write.
    pub fn none() -> Self {
        Self { file: None, read: ArcSwap::from_pointee(Read { tokens: Vec::new(), version: None }) }
    }

    /// These tokens and no file.
    pub fn of(tokens: impl IntoIterator<Item = String>) -> Self {
        let tokens = tokens.into_iter().filter(|token| !token.is_empty()).collect();
        Self { file: None, read: ArcSwap::from_pointee(Read { tokens, version: None }) }
    }

    /// The tokens of a file. Empty lines and lines that begin with `#` are none.
    ///
    /// # Errors
    /// Where the file cannot be read, or holds no token.
    pub fn of_file(file: &Path) -> io::Result<Self> {
        let read = read_file(file)?;
        Ok(Self { file: Some(file.into()), read: ArcSwap::from_pointee(read) })
    }

    /// The token file of a data directory, made with a new token, mode 0600, where there is none.
    ///
    /// # Errors
    /// Where it can be neither read nor made.
    pub fn of_data(directory: &Path) -> io::Result<Self> {
        let file = directory.join("token");
        match fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&file) {
            Ok(mut new) => {
                let mut random = [0_u8; 32];
                getrandom::fill(&mut random).map_err(io::Error::other)?;
                let token: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
                io::Write::write_all(&mut new, format!("{token}\n").as_bytes())?;
                new.sync_all()?;
                tracing::info!(file = %file.display(), "made a token for writing");
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
        Self::of_file(&file)
    }

    /// Reads the file again if it is another than it was. Where it cannot be read, the tokens stay as they are.
    pub fn refresh(&self) {
        let Some(file) = &self.file else { return };
        let version = fs::metadata(file).ok().map(|metadata| version(&metadata));
        if version == self.read.load().version {
            return;
        }
        match read_file(file) {
            Ok(read) => {
                tracing::info!(file = %file.display(), tokens = read.tokens.len(), "the token file changed");
                self.read.store(Arc::new(read));
            }
            Err(error) => {
                tracing::warn!(file = %file.display(), %error, "the token file cannot be read: the tokens stay as they are");
                let tokens = self.read.load().tokens.clone();
                self.read.store(Arc::new(Read { tokens, version }));
            }
        }
    }

    /// Whether the request carries one of the tokens.
    pub(crate) fn admit(&self, headers: &HeaderMap) -> Result<(), Problem> {
        self.refresh();
        let value = headers.get(header::AUTHORIZATION).ok_or_else(Problem::no_token)?;
        let sent = value
            .to_str()
            .ok()
            .and_then(|value| value.split_once(' '))
            .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"))
            .map(|(_, token)| token.trim())
            .ok_or_else(Problem::no_token)?;
        // Every token is compared, so that the time tells nothing of which one was nearly right.
        let valid = self
            .read
            .load()
            .tokens
            .iter()
            .fold(false, |valid, token| bool::from(token.as_bytes().ct_eq(sent.as_bytes())) | valid);
        if valid { Ok(()) } else { Err(Problem::wrong_token()) }
    }
}

impl fmt::Debug for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tokens").field("file", &self.file).finish_non_exhaustive()
    }
}

fn read_file(file: &Path) -> io::Result<Read> {
    let text = fs::read_to_string(file)?;
    let tokens: Vec<String> = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(str::to_owned)
        .collect();
    if tokens.is_empty() {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "the file holds no token: write one per line"));
    }
    let version = fs::metadata(file).ok().map(|metadata| version(&metadata));
    Ok(Read { tokens, version })
}

fn version(metadata: &fs::Metadata) -> Version {
    (metadata.mtime(), metadata.mtime_nsec(), metadata.ino(), metadata.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    fn headers(value: &str) -> HeaderMap {
        HeaderMap::from_iter([(header::AUTHORIZATION, HeaderValue::from_str(value).unwrap())])
    }

    #[test]
    fn any_of_the_tokens_is_valid_and_nothing_else() {
        let tokens = Tokens::of(["one".into(), "two".into()]);
        assert!(tokens.admit(&headers("Bearer two")).is_ok());
        assert!(tokens.admit(&headers("bearer one")).is_ok());
        for wrong in ["Bearer three", "Bearer", "Bearer ", "Basic one", "one", "Bearer on"] {
            assert!(tokens.admit(&headers(wrong)).is_err(), "{wrong}");
        }
        assert!(tokens.admit(&HeaderMap::new()).is_err());
        assert!(Tokens::none().admit(&headers("Bearer ")).is_err());
    }

    #[test]
    fn a_token_stands_in_no_debug_output() {
        assert!(!format!("{:?}", Tokens::of(["secret".into()])).contains("secret"));
    }
}
