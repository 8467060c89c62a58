//! The `greenlight` program: the daemon and its command line.

use std::process::ExitCode;

fn main() -> ExitCode {
    greenlight::cli::main().into()
}
