//! `greenlight serve`: the daemon, with what it is run with.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;
use greenlight_core::{GoodFor, Horizon};

use super::config::Inputs;
use super::console::Console;
use super::environment::Environment;
use super::log;
use super::outcome::{Failure, Outcome};
use super::settings::{Data, Follow, LogFormat, Probe};
use super::values;
use crate::serve::Ended;

/// The flags that set something; one that was not given is `None` or empty.
#[derive(Args, Clone, Debug, Default)]
pub struct ServeFlags {
    /// Where to listen; port 0 takes a free one [default: 127.0.0.1:8787]
    #[arg(long, value_name = "ADDRESS", value_parser = values::address)]
    pub bind: Option<SocketAddr>,

    /// Where the board is kept, or the word memory to keep nothing over a restart
    /// [default: $XDG_STATE_HOME/greenlight, or ~/.local/state/greenlight]
    #[arg(long, value_name = "DIR", value_parser = values::data)]
    pub data: Option<Data>,

    /// The horizon: how long a change counts. A degraded instance blocks until its last change is so old; never
    /// blocks for ever, 0 never blocks [default: 1h]
    #[arg(long, value_name = "SPAN", value_parser = values::horizon)]
    pub stale_after: Option<Horizon>,

    /// For how long a report is good that does not say so itself: a length of time from 1s, until_restart, or
    /// forever [default: 10m]
    #[arg(long, value_name = "SPAN", value_parser = values::good_for)]
    pub good_for: Option<GoodFor>,

    /// Who may write: a file of tokens, one a line, read again when it changes [default: one token is made in
    /// DIR/token at the first start]
    #[arg(long, value_name = "FILE")]
    pub token_file: Option<PathBuf>,

    /// Who may read: a file of tokens; without it reads are open. /livez and /readyz are open in any case
    #[arg(long, value_name = "FILE")]
    pub read_token_file: Option<PathBuf>,

    /// How long to go on serving, not ready, when asked to end [default: 5s]
    #[arg(long, value_name = "SPAN", value_parser = values::secs)]
    pub drain: Option<u64>,

    /// How long history is kept; 0 keeps none [default: 30d]
    #[arg(long, value_name = "SPAN", value_parser = values::secs)]
    pub history: Option<u64>,

    /// Stand by, live and not ready, while another daemon holds the data directory, instead of giving up
    #[arg(long, value_name = "BOOL", value_parser = values::yes_or_no, num_args = 0..=1, require_equals = true,
          default_missing_value = "true")]
    pub wait_for_lock: Option<bool>,

    /// Follow another daemon: poll its /app every 10s and report its rows here. PREFIX stands before their names:
    /// eu/=https://eu.example.org. Without a path, /app is asked for (repeatable)
    #[arg(long, value_name = "[PREFIX=]URL", value_parser = values::follow)]
    pub follow: Vec<Follow>,

    /// Probe a member every 1s, and report it here as an instance: dev=http://127.0.0.1:8080/readyz. The file says
    /// more of each (repeatable)
    #[arg(long, value_name = "NAME=URL", value_parser = values::probe)]
    pub probe: Vec<Probe>,

    /// An origin whose pages may read, or * (repeatable)
    #[arg(long, value_name = "ORIGIN", value_parser = values::origin)]
    pub allow_origin: Vec<String>,

    /// Serve the page from this folder, instead of the one within the binary
    #[arg(long, value_name = "DIR")]
    pub web_dir: Option<PathBuf>,

    /// Which events are logged: a level, or as greenlight=debug,info [default: info]
    #[arg(long, value_name = "FILTER", value_parser = values::log_filter)]
    pub log: Option<String>,

    /// How events are logged, to standard error: text or json [default: text]
    #[arg(long, value_name = "FORMAT", value_parser = values::log_format)]
    pub log_format: Option<LogFormat>,

    /// The configuration file [env: GREENLIGHT_CONFIG; default: $XDG_CONFIG_HOME/greenlight/greenlight.toml if
    /// it is there; never one in the working directory]
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
}

/// What `serve` was asked.
#[derive(Args, Debug)]
pub(crate) struct ServeArgs {
    #[command(flatten)]
    flags: ServeFlags,

    /// Print the effective configuration, with where each value came from, and end. Tokens are never printed
    #[arg(long)]
    print_config: bool,
}

pub(crate) fn run(args: ServeArgs, environment: &Environment, console: &mut Console<'_>) -> Result<Outcome, Failure> {
    let ServeArgs { flags, print_config } = args;
    let inputs = Inputs { flags, environment: environment.clone() };
    let resolved = inputs.read().map_err(Failure::usage)?;
    if print_config {
        console.write(resolved.to_toml().as_bytes());
        return Ok(Outcome::Yes);
    }
    log::begin(&resolved.settings.log);
    let reload = move || inputs.read().map(|resolved| resolved.settings).map_err(|error| error.to_string());
    match crate::serve::run(resolved.settings, reload).map_err(Failure::NotFoundOut)? {
        Ended::InOrder => Ok(Outcome::Yes),
        Ended::AtOnce => Ok(Outcome::No),
    }
}
