//! The page as files, for any static host.

use std::io;
use std::path::{Path, PathBuf};

use crate::assets;

/// A copy obeys `?daemon=`, so it may ask any daemon; a static host sets no header, so the page says it itself.
const HEAD_OF_A_COPY: &str = "<meta name=\"greenlight-copy\" content=\"static\">\n\
<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' data:; connect-src 'self' https: http:; worker-src 'self'; base-uri 'none'; form-action 'none'\">\n";

/// Writes the page to `folder`, which is made if it is missing, and gives the files that it wrote. What else
/// lies there stays.
///
/// # Errors
/// Where a file or a folder cannot be written; its path is in the message.
pub fn write_site(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut written = Vec::new();
    for asset in assets() {
        let path = folder.join(asset.path);
        let bytes = if asset.is_immutable() { asset.plain.to_vec() } else { as_a_copy(asset.plain) };
        write(&path, &bytes).map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))?;
        written.push(path);
    }
    Ok(written)
}

fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::write(path, bytes)
}

fn as_a_copy(index: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(index);
    text.replacen("<meta charset=\"utf-8\">\n", &format!("<meta charset=\"utf-8\">\n{HEAD_OF_A_COPY}"), 1).into_bytes()
}
