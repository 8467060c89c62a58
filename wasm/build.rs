//! Says where the crate does without std: in what the page loads.

#![expect(clippy::disallowed_methods, reason = "cargo tells a build script so")]

fn main() {
    println!("cargo::rustc-check-cfg=cfg(bare)");
    let wasm = std::env::var_os("CARGO_CFG_TARGET_ARCH").is_some_and(|arch| arch == "wasm32");
    if wasm && std::env::var_os("CARGO_FEATURE_SCENARIO").is_none() {
        println!("cargo::rustc-cfg=bare");
    }
}
