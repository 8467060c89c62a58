//! Builds what browsers download: the rules as wasm, the page's files with hashes, both compressed and embedded.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "that is how a build script and cargo talk"
)]

mod shorten;
mod site;
mod wasm;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

fn main() -> ExitCode {
    match build() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // As it is: the compiler's own words would be unreadable as the debug form of a text.
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn build() -> Result<(), Box<dyn Error>> {
    let out = PathBuf::from(std::env::var_os("OUT_DIR").ok_or("cargo sets OUT_DIR")?);
    let web = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").ok_or("cargo sets CARGO_MANIFEST_DIR")?);
    let root = web.parent().ok_or("web/ lies in the workspace")?;
    watch(root);
    let glue = wasm::build(root, &out)?;
    site::embed(&[&web.join("static"), &glue], &out)?;
    Ok(())
}

/// Naming one input takes away cargo's own guess, so every input is named.
fn watch(root: &Path) {
    for input in [
        "web/build",
        "web/static",
        "web/Cargo.toml",
        "wasm/src",
        "wasm/Cargo.toml",
        "core/src",
        "core/Cargo.toml",
        "Cargo.toml",
        "Cargo.lock",
        "rust-toolchain.toml",
    ] {
        println!("cargo::rerun-if-changed={}", root.join(input).display());
    }
    println!("cargo::rerun-if-env-changed={}", wasm::KEEP_OUT);
}
