//! The command line: what can be asked for, and how the process answers.
//!
//! The environment is read here and nowhere else, and every command ends in an [`Outcome`].

mod client;
#[cfg(test)]
mod client_tests;
mod completions;
mod config;
mod config_file;
#[cfg(test)]
mod config_tests;
mod console;
mod demo;
mod demo_daemon;
mod demo_web;
mod environment;
#[cfg(feature = "rehearse")]
mod explain;
mod help;
mod history;
mod json_lines;
mod log;
mod openapi;
mod outcome;
mod pace;
#[cfg(feature = "page")]
mod page;
mod print_config;
mod publish;
#[cfg(feature = "rehearse")]
mod rehearse;
#[cfg(feature = "rehearse")]
mod rehearsed;
mod serve;
pub(crate) mod settings;
mod status;
mod story;
mod test;
mod values;
mod wait;
mod waiting;

use std::ffi::OsString;
use std::io;

use clap::{Parser, Subcommand};

pub use self::config::{ConfigError, Inputs, Resolved};
pub use self::config_file::ConfigFile;
pub use self::environment::Environment;
pub use self::outcome::Outcome;
pub use self::serve::ServeFlags;
pub use self::settings::{Data, Follow, Log, LogFormat, Probe, Settings};

use self::console::Console;
use self::outcome::Failure;

/// A readiness verdict that can be trusted: may traffic come here?
#[derive(Debug, Parser)]
#[command(name = "greenlight", version, max_term_width = 110, after_help = help::EXIT_CODES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run the daemon
    #[command(after_help = help::SERVE)]
    Serve(Box<serve::ServeArgs>),
    /// Run a daemon on a free port and watch the story of four slots
    #[command(after_help = help::DEMO)]
    Demo(demo::DemoArgs),
    /// Tell a daemon the state of one instance, or all that a source reports
    #[command(after_help = help::PUBLISH)]
    Publish(Box<publish::PublishArgs>),
    /// Ask a daemon what it says now
    #[command(after_help = help::STATUS)]
    Status(status::StatusArgs),
    /// Wait until an instance serves a build
    #[command(after_help = help::WAIT)]
    Wait(wait::WaitArgs),
    /// Judge what happened by any horizon, as a table, JSON or CSV
    #[command(after_help = help::HISTORY)]
    History(history::HistoryArgs),
    /// Write what happened as JSON lines, to keep or to attach to a ticket
    #[command(after_help = help::EXPORT)]
    Export(history::ExportArgs),
    /// Judge what greenlight export wrote, without any daemon
    #[command(after_help = help::IMPORT)]
    Import(history::ImportArgs),
    /// Roll from one version to the next under load, and count every request that is not answered well
    #[cfg(feature = "rehearse")]
    #[command(after_help = help::REHEARSE)]
    Rehearse(Box<rehearse::RehearseArgs>),
    /// Report on a rehearsal from its record alone
    #[cfg(feature = "rehearse")]
    #[command(after_help = help::EXPLAIN)]
    Explain(explain::ExplainArgs),
    /// Kill the processes of a rehearsal that did not take its leave; not for people
    #[cfg(feature = "rehearse")]
    #[command(name = crate::rehearse::guard::GUARD, hide = true, after_help = help::HELPER)]
    Guard,
    /// Become a process of a rehearsal; not for people
    #[cfg(feature = "rehearse")]
    #[command(name = crate::rehearse::guard::BECOME, hide = true, after_help = help::HELPER)]
    Become(rehearse::BecomeArgs),
    /// Play scenario files through the rules, with the times that they name
    #[command(after_help = help::TEST)]
    Test(test::TestArgs),
    /// Print the OpenAPI description of the HTTP interface, as JSON
    #[command(after_help = help::OPENAPI)]
    Openapi,
    /// Write the status page as files, for any static host
    #[cfg(feature = "page")]
    #[command(after_help = help::PAGE)]
    Page(page::PageArgs),
    /// Print a script by which a shell completes commands and flags
    #[command(after_help = help::COMPLETIONS)]
    Completions(completions::CompletionsArgs),
}

/// Runs the command that the process was started with. Reads the environment, writes to the standard streams.
pub fn main() -> Outcome {
    // The handles, not their locks: other threads log to standard error at the same time.
    let (mut input, mut out, mut err) = (io::stdin(), io::stdout(), io::stderr());
    let mut console = Console::new(&mut input, &mut out, &mut err);
    run(std::env::args_os(), &Environment::of_process(), &mut console)
}

/// Runs one command line, the program's name first.
fn run(arguments: impl IntoIterator<Item = OsString>, environment: &Environment, console: &mut Console<'_>) -> Outcome {
    let outcome = match Cli::try_parse_from(arguments) {
        Ok(cli) => dispatch(cli.command, environment, console).unwrap_or_else(|failure| {
            console.note(format_args!("greenlight: {failure}"));
            failure.outcome()
        }),
        Err(error) => {
            // Clap knows whether the stream takes colour, and which one is meant; one that is gone is no failure.
            let _ = error.print();
            if error.use_stderr() { Outcome::Usage } else { Outcome::Yes }
        }
    };
    console.finish(outcome)
}

fn dispatch(command: Command, environment: &Environment, console: &mut Console<'_>) -> Result<Outcome, Failure> {
    match command {
        Command::Serve(args) => serve::run(*args, environment, console),
        Command::Demo(args) => demo::run(&args, console),
        Command::Publish(args) => publish::run(&args, environment, console),
        Command::Status(args) => status::run(args, environment, console),
        Command::Wait(args) => wait::run(&args, environment, console),
        Command::History(args) => history::run(&args, environment, console),
        Command::Export(args) => history::export(&args, environment, console),
        Command::Import(args) => history::import(&args, console),
        #[cfg(feature = "rehearse")]
        Command::Rehearse(args) => rehearse::run(&args, environment, console),
        #[cfg(feature = "rehearse")]
        Command::Explain(args) => explain::run(&args, console),
        #[cfg(feature = "rehearse")]
        Command::Guard => {
            crate::rehearse::guard::guard();
            Ok(Outcome::Yes)
        }
        #[cfg(feature = "rehearse")]
        Command::Become(args) => rehearse::become_server(&args),
        Command::Test(args) => test::run(&args, console),
        Command::Openapi => openapi::run(console),
        #[cfg(feature = "page")]
        Command::Page(args) => page::run(&args, console),
        Command::Completions(args) => Ok(completions::run(&args, console)),
    }
}

#[cfg(test)]
mod tests {
    use super::Cli;
    use clap::CommandFactory;

    #[test]
    fn every_command_says_its_exit_codes_and_an_example() {
        let mut cli = Cli::command();
        cli.clone().debug_assert();
        for command in cli.get_subcommands_mut() {
            let help = command.render_long_help().to_string();
            assert!(help.contains("Exit codes: 0 ") && help.contains("Example"), "{help}");
        }
    }
}
