//! Compiles wasm/ by a cargo of its own and makes the glue beside it.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Set to anything, the build adds no target by itself.
pub(crate) const KEEP_OUT: &str = "GREENLIGHT_NO_RUSTUP";
const TARGET: &str = "wasm32-unknown-unknown";
const PROFILE: &str = "page";

/// What an outer build sets for itself and the inner one must not inherit: flags for another machine, wrappers
/// that only know the outer crates, and the target folder, whose lock the outer cargo holds.
const NOT_INHERITED: [&str; 12] = [
    "CARGO_ENCODED_RUSTFLAGS",
    "RUSTFLAGS",
    "CARGO_BUILD_RUSTFLAGS",
    "CARGO_BUILD_TARGET",
    "CARGO_TARGET_DIR",
    "CARGO_BUILD_TARGET_DIR",
    "CARGO_BUILD_BUILD_DIR",
    "RUSTC_WRAPPER",
    "RUSTC_WORKSPACE_WRAPPER",
    "CARGO_BUILD_RUSTC_WRAPPER",
    "CARGO_BUILD_RUSTC_WORKSPACE_WRAPPER",
    "LLVM_PROFILE_FILE",
];

/// The two modules that the page loads: what judges the present, and, when it is asked for, what replays the past.
const MODULES: [Module; 2] = [
    Module { name: "greenlight_wasm", folder: "", flags: &[] },
    Module {
        name: "greenlight_past",
        folder: "past-build",
        // A replay of a hundred thousand events is to take no longer than a blink.
        flags: &[
            "--no-default-features",
            "--features",
            "past",
            "--config",
            "profile.page.package.greenlight-core.opt-level=2",
        ],
    },
];

/// A wasm module's file has no hash in its name: in one folder, two sets of features would take each other's.
struct Module {
    name: &'static str,
    folder: &'static str,
    flags: &'static [&'static str],
}

/// Gives the folder with `greenlight_wasm.js`, `greenlight_past.js` and their `…_bg.wasm`.
pub(crate) fn build(root: &Path, out: &Path) -> Result<PathBuf, Box<dyn Error>> {
    have_the_target()?;
    let target_dir = target_dir(out)?;
    if std::env::var_os("CARGO_FEATURE_SCENARIO").is_some() {
        let with_scenarios = target_dir.join("scenario-build");
        // It is not what ships, so it need not be small: in one piece it would take minutes.
        let quick = [
            "--features",
            "scenario",
            "--config",
            "profile.page.lto=false",
            "--config",
            "profile.page.codegen-units=16",
        ];
        compile(root, &with_scenarios, &quick)?;
        make_glue(&with_scenarios, &empty(target_dir.join("scenario"))?, "greenlight_wasm")?;
    }
    let glue = empty(out.join("glue"))?;
    // Where the tests and an editor find the types, whatever the hash in this build's folder.
    let types = target_dir.join("types");
    std::fs::create_dir_all(&types)?;
    for Module { name, folder, flags } in MODULES {
        let compiled = target_dir.join(folder);
        compile(root, &compiled, flags)?;
        make_glue(&compiled, &glue, name)?;
        let declared = format!("{name}.d.ts");
        std::fs::copy(glue.join(&declared), types.join(&declared))?;
    }
    Ok(glue)
}

fn empty(folder: PathBuf) -> Result<PathBuf, Box<dyn Error>> {
    if folder.exists() {
        std::fs::remove_dir_all(&folder)?;
    }
    std::fs::create_dir_all(&folder)?;
    Ok(folder)
}

fn compile(root: &Path, target_dir: &Path, more: &[&str]) -> Result<(), Box<dyn Error>> {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo
        .current_dir(root)
        .args(["build", "--locked", "--package", "greenlight-wasm", "--lib", "--target", TARGET, "--profile", PROFILE])
        .args(more)
        .arg("--target-dir")
        .arg(target_dir);
    // Also what cargo tells this build script of its own crate: the inner ones would take it for theirs.
    let told = std::env::vars_os().map(|(name, _)| name).filter(|name| {
        name.to_str().is_some_and(|name| name.starts_with("CARGO_FEATURE_") || name.starts_with("CARGO_CFG_"))
    });
    for name in NOT_INHERITED.map(Into::into).into_iter().chain(told) {
        cargo.env_remove(name);
    }
    run(cargo, "the page's wasm does not build")
}

fn make_glue(target_dir: &Path, glue: &Path, name: &str) -> Result<(), Box<dyn Error>> {
    let module = target_dir.join(TARGET).join(PROFILE).join("greenlight_wasm.wasm");
    let mut bindgen = wasm_bindgen_cli_support::Bindgen::new();
    // As a library it would leave out where the wasm lies, and `init()` without arguments would throw.
    bindgen
        .input_path(&module)
        .out_name(name)
        .web(true)?
        .typescript(true)
        .omit_default_module_path(false)
        .remove_name_section(true)
        .remove_producers_section(true)
        .generate(glue)?;
    Ok(())
}

/// A folder of its own below the outer one, so that dev, release and test builds share one wasm build.
fn target_dir(out: &Path) -> Result<PathBuf, Box<dyn Error>> {
    let outer = out.ancestors().filter(|folder| folder.join("CACHEDIR.TAG").exists()).last();
    Ok(outer.ok_or("no target folder above OUT_DIR")?.join("page-wasm"))
}

fn have_the_target() -> Result<(), Box<dyn Error>> {
    if is_installed()? {
        return Ok(());
    }
    let by_hand = format!("rustup target add {TARGET}");
    if std::env::var_os(KEEP_OUT).is_some() {
        return Err(format!("the page needs Rust's {TARGET} target, and {KEEP_OUT} is set: run `{by_hand}`").into());
    }
    let mut rustup = Command::new("rustup");
    rustup.args(["target", "add", TARGET]);
    run(rustup, &format!("the page needs Rust's {TARGET} target, and rustup cannot add it: run `{by_hand}`"))
}

fn is_installed() -> Result<bool, Box<dyn Error>> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let told = Command::new(rustc).args(["--print", "target-libdir", "--target", TARGET]).output()?;
    let folder = PathBuf::from(String::from_utf8(told.stdout)?.trim());
    Ok(std::fs::read_dir(folder).is_ok_and(|mut files| {
        files.any(|file| file.is_ok_and(|file| file.file_name().to_string_lossy().starts_with("libcore-")))
    }))
}

fn run(mut command: Command, or: &str) -> Result<(), Box<dyn Error>> {
    let done = command.output().map_err(|error| format!("{or} ({error})"))?;
    if done.status.success() {
        return Ok(());
    }
    Err(format!("{or}\n{}", String::from_utf8_lossy(&done.stderr)).into())
}
