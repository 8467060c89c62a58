//! Names the page's files by their content, compresses them, and writes the Rust that embeds them.

use std::error::Error;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::shorten;

/// Below this a compressed answer saves no packet.
const WORTH_COMPRESSING_BYTES: usize = 256;

/// What the first verdict needs. The rest is asked for when it is there, so that it does not stand in its way.
const FIRST: [&str; 5] = ["first.js", "daemon.js", "dom.js", "greenlight_wasm.js", "greenlight_wasm_bg.wasm"];

struct File {
    name: String,
    bytes: Vec<u8>,
}

/// Embeds every file of `folders`, and the index, which is told where they are.
pub(crate) fn embed(folders: &[&Path], out: &Path) -> Result<(), Box<dyn Error>> {
    let mut files = Vec::new();
    for folder in folders {
        for entry in std::fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_file() && content_type(&path).is_some() {
                files.push(read(&path)?);
            }
        }
    }
    files.sort_by(|one, other| one.name.cmp(&other.name));
    let index = files.iter().position(|file| file.name == "index.html").ok_or("static/index.html is missing")?;
    let index = files.remove(index);

    let hash = hash_of(&files);
    let assets = out.join("assets");
    if assets.exists() {
        std::fs::remove_dir_all(&assets)?;
    }
    std::fs::create_dir_all(&assets)?;
    let mut code = String::from("&[\n");
    for file in &files {
        embed_one(&mut code, &assets, &format!("assets/{hash}/{}", file.name), file)?;
    }
    let index = File { name: index.name, bytes: with_addresses(&index.bytes, &files, &hash)?.into_bytes() };
    embed_one(&mut code, &assets, "index.html", &index)?;
    code.push_str("]\n");
    std::fs::write(out.join("files.rs"), code)?;
    Ok(())
}

fn read(path: &PathBuf) -> Result<File, Box<dyn Error>> {
    let name = path.file_name().and_then(|name| name.to_str()).ok_or("a file of the page has an odd name")?.to_owned();
    let bytes = std::fs::read(path)?;
    let bytes = match path.extension().and_then(|extension| extension.to_str()) {
        Some("js") => shorten::module(std::str::from_utf8(&bytes)?)
            .map_err(|wrong| format!("{}: {wrong}", path.display()))?
            .into_bytes(),
        Some("css") => shorten::sheet(std::str::from_utf8(&bytes)?).into_bytes(),
        Some(_) | None => bytes,
    };
    Ok(File { name, bytes })
}

fn content_type(path: &Path) -> Option<&'static str> {
    match path.to_str()? {
        // Declarations are for editors and tests.
        name if name.ends_with(".d.ts") => None,
        name => match Path::new(name).extension()?.to_str()? {
            "html" => Some("text/html; charset=utf-8"),
            "css" => Some("text/css; charset=utf-8"),
            "js" => Some("text/javascript; charset=utf-8"),
            "wasm" => Some("application/wasm"),
            "svg" => Some("image/svg+xml"),
            _ => None,
        },
    }
}

/// One hash for the whole folder: modules find each other by relative names, so they move together.
fn hash_of(files: &[File]) -> String {
    let mut hasher = Sha256::new();
    for file in files {
        hasher.update(file.name.as_bytes());
        hasher.update([0]);
        hasher.update(file.bytes.len().to_le_bytes());
        hasher.update(&file.bytes);
    }
    short_hex(&hasher.finalize())
}

fn short_hex(digest: &[u8]) -> String {
    digest.iter().take(8).fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// The index with the addresses of this build, and a preload for what it will ask for next: one round trip
/// instead of one for each level of imports.
fn with_addresses(index: &[u8], files: &[File], hash: &str) -> Result<String, Box<dyn Error>> {
    let text = std::str::from_utf8(index)?.replace("\"./", &format!("\"assets/{hash}/"));
    let mut preloads = String::new();
    for file in files.iter().filter(|file| FIRST.contains(&file.name.as_str())) {
        let address = format!("assets/{hash}/{}", file.name);
        match Path::new(&file.name).extension().and_then(|extension| extension.to_str()) {
            Some("js") => {
                writeln!(preloads, "<link rel=\"modulepreload\" href=\"{address}\">")?;
            }
            Some("wasm") => {
                writeln!(
                    preloads,
                    "<link rel=\"preload\" as=\"fetch\" crossorigin type=\"application/wasm\" href=\"{address}\">"
                )?;
            }
            Some(_) | None => {}
        }
    }
    Ok(text.replace("</head>", &format!("{preloads}</head>")))
}

fn embed_one(code: &mut String, assets: &Path, address: &str, file: &File) -> Result<(), Box<dyn Error>> {
    let plain = assets.join(&file.name);
    std::fs::write(&plain, &file.bytes)?;
    let kind = content_type(&plain).ok_or("a file of no known kind")?;
    let mut coded = String::new();
    for (field, bytes) in [("gzip", gzip(&file.bytes)?), ("brotli", brotli(&file.bytes)?)] {
        let worth = bytes.len() < file.bytes.len() && file.bytes.len() >= WORTH_COMPRESSING_BYTES;
        let value = if worth {
            let path = assets.join(format!("{}.{field}", file.name));
            std::fs::write(&path, bytes)?;
            format!("Some(include_bytes!({:?}))", text(&path)?)
        } else {
            "None".to_owned()
        };
        write!(coded, " {field}: {value},")?;
    }
    writeln!(
        code,
        "    Asset {{ path: {address:?}, content_type: {kind:?}, hash: {:?}, plain: include_bytes!({:?}),{coded} }},",
        short_hex(&Sha256::digest(&file.bytes)),
        text(&plain)?,
    )?;
    Ok(())
}

fn text(path: &Path) -> Result<&str, Box<dyn Error>> {
    path.to_str().ok_or_else(|| format!("{} is not UTF-8", path.display()).into())
}

fn gzip(bytes: &[u8]) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(bytes)?;
    Ok(encoder.finish()?)
}

fn brotli(bytes: &[u8]) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut coded = Vec::new();
    let best = brotli::enc::BrotliEncoderParams { quality: 11, lgwin: 22, ..Default::default() };
    brotli::BrotliCompress(&mut &*bytes, &mut coded, &best)?;
    Ok(coded)
}
