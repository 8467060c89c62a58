//! `greenlight completions SHELL`: a script by which a shell completes commands and flags.

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use super::Cli;
use super::console::Console;
use super::outcome::Outcome;

/// Which shell.
#[derive(Args, Debug)]
pub(crate) struct CompletionsArgs {
    /// The shell that is to read the script
    shell: Shell,
}

pub(crate) fn run(args: &CompletionsArgs, console: &mut Console<'_>) -> Outcome {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "greenlight", &mut script);
    console.write(&script);
    Outcome::Yes
}
