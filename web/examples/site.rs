//! Writes the page to a folder: what `greenlight page --out DIR` does, without the daemon around it.

use std::path::PathBuf;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args_os().nth(1).ok_or("the folder to write to is missing")?;
    greenlight_web::write_site(&PathBuf::from(folder))?;
    Ok(())
}
