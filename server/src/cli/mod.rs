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
mod environment;
mod log;
mod openapi;
mod outcome;
mod pace;
mod print_config;
mod publish;
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
pub use self::settings::{Data, Follow, Log, LogFormat, Settings};

use self::console::Console;
use self::outcome::Failure;

/// A readiness verdict that can be trusted: may traffic come here?
#[derive(Debug, Parser)]
#[command(name = "greenlight", version, max_term_width = 110, after_help = EXIT_CODES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run the daemon
    #[command(after_help = SERVE_HELP)]
    Serve(Box<serve::ServeArgs>),
    /// Run a daemon on a free port and watch the story of four slots
    #[command(after_help = DEMO_HELP)]
    Demo(demo::DemoArgs),
    /// Tell a daemon the state of one instance, or all that a source reports
    #[command(after_help = PUBLISH_HELP)]
    Publish(Box<publish::PublishArgs>),
    /// Ask a daemon what it says now
    #[command(after_help = STATUS_HELP)]
    Status(status::StatusArgs),
    /// Wait until an instance serves a build
    #[command(after_help = WAIT_HELP)]
    Wait(wait::WaitArgs),
    /// Play scenario files through the rules, with the times that they name
    #[command(after_help = TEST_HELP)]
    Test(test::TestArgs),
    /// Print the OpenAPI description of the HTTP interface, as JSON
    #[command(
        after_help = "Exit codes: 0 printed, 3 it could not be written.\n\nExample:\n  greenlight openapi > openapi.json"
    )]
    Openapi,
    /// Print a script by which a shell completes commands and flags
    #[command(after_help = COMPLETIONS_HELP)]
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
        Command::Test(args) => test::run(&args, console),
        Command::Openapi => openapi::run(console),
        Command::Completions(args) => Ok(completions::run(&args, console)),
    }
}

const EXIT_CODES: &str = "\
Exit codes of every command: 0 yes, 1 no, 2 the command line or a file was not understood, 3 it could not be found
out. Lengths of time are written 90s, 15m, 1h30m, 7d, or as a bare number of seconds.";

const SERVE_HELP: &str = "\
A flag comes before the environment (GREENLIGHT_BIND for --bind, and so on; lists apart by white space; an empty
variable is not set), that before the file, that before the default. A list is taken whole from the first of them
that names it. The file is TOML with the same names, stale_after for --stale-after; relative paths in it count
from its own folder. SIGHUP reads tokens and horizon again. SIGTERM ends: not ready at once, everything
else goes on for --drain, then what is in flight gets 5 s more.

  stale_after = \"30m\"
  [[follow]]
  url = \"https://eu.example.org\"
  prefix = \"eu/\"
  every = \"10s\"

Exit codes: 0 ended by a signal, or the configuration is printed; 2 the configuration is wrong; 3 it cannot run:
the address is taken, the data directory is held by another daemon, or cannot be used.

Examples:
  greenlight serve
  greenlight serve --bind 0.0.0.0:8787 --data /var/lib/greenlight --stale-after 30m
  greenlight serve --follow eu/=https://eu.example.org --print-config";

const DEMO_HELP: &str = "\
The daemon is the real one, at a horizon of one minute, with its data in a folder that goes when the demo ends.
The driver reports over HTTP, as yours would. Ctrl-C ends both.

Exit codes: 0 ended, 2 usage, 3 the daemon could not be run.

Examples:
  greenlight demo
  greenlight demo --bind 127.0.0.1:8787 --for 5m";

const PUBLISH_HELP: &str = "\
A row is published whole: a field that is not given is null (draining 0, phase idle). The daemon stamps it when it
sees it change; publishing the same again changes nothing but how long it is good.

The file of --report holds {\"instances\": [rows], \"good_for_secs\": 90, \"sequence\": 7}, or just the rows. Rows that
the source reported before and that it no longer names are removed. Fields that the daemon does not know are
refused, so that a slip of the pen does not go unseen.

Exit codes: 0 accepted (where the daemon cannot make it durable, that is told on standard error), 1 refused by the
daemon, 2 usage or a file that is no report, 3 the daemon could not be reached or could not do it.

Examples:
  greenlight publish dev --phase serving --serving-sha a1b2c3d
  greenlight publish lane --phase building --last-green 9f6e4d5 --last-red-sha c0ffee1 --last-red-reason 'exited 1'
  my-driver | greenlight publish --report - --source driver --good-for 90s";

const STATUS_HELP: &str = "\
Exit codes: 0 ready, 1 not ready, 2 usage, 3 not found out.

Examples:
  greenlight status
  greenlight status https://greenlight.example.org --json | jq .readiness";

const WAIT_HELP: &str = "\
A build is the one that is waited for if it has the same name, or if one of the two is a prefix of the other of 7
characters or more. It is asked once a second.

  serves      serving_sha is it, and somebody vouches for the row now
  went red    last_red_sha is it, and pending_sha is not: one that is being tried again is not red
  superseded  since the wait began another one came to serve, and nothing is pending

A name that is not on the board yet is waited for, and so is a daemon that restarts. One that was never reached is
given up after 10 s, or when --timeout ends if that is sooner.

Exit codes: 0 it serves it, 1 it went red or was superseded, 2 usage, 3 time is up or the daemon cannot be reached.

Examples:
  greenlight wait dev --sha \"$(git rev-parse HEAD)\"
  greenlight wait dev --sha a1b2c3d --timeout 5m";

const TEST_HELP: &str = "\
A scenario is JSON: a name, the horizon, and steps that report, remove, restart and expect, each at its moment.

  { \"scenario\": \"a dead slot ages out\", \"stale_after_secs\": 3600, \"steps\": [
    { \"at\": 0, \"report\": { \"source\": \"driver\", \"instances\": [
        { \"name\": \"dev\", \"serving_sha\": \"a1\", \"last_green\": \"a1\" }, { \"name\": \"lane\", \"last_green\": \"77\" } ] } },
    { \"at\": 3599, \"expect\": { \"ready\": false, \"live_degraded\": [\"lane\"] } },
    { \"at\": 3600, \"expect\": { \"ready\": true, \"stale_degraded\": [\"lane\"] } } ] }

Every expectation that does not hold is printed, and one line for each file.

Exit codes: 0 all hold, 1 some do not, 2 a file is not a scenario (it says where), 3 the answer could not be written.

Examples:
  greenlight test scenarios/
  greenlight test - < a-dead-slot-ages-out.json";

const COMPLETIONS_HELP: &str = "\
Exit codes: 0 printed, 2 usage, 3 it could not be written.

Example:
  greenlight completions bash > ~/.local/share/bash-completion/completions/greenlight";
