//! `greenlight status [URL]`: what the daemon says now.

use clap::Args;
use serde::Deserialize;

use super::client::{Answer, TIMEOUT, Target};
use super::console::{Console, inert_lines};
use super::environment::Environment;
use super::outcome::{Failure, Outcome};
use super::values;

/// Which daemon, and in which form.
#[derive(Args, Debug)]
pub(crate) struct StatusArgs {
    /// The daemon's address, as --to
    #[arg(value_name = "URL", value_parser = values::daemon, conflicts_with = "to")]
    url: Option<String>,

    /// Print /app as JSON instead of the table
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    target: Target,
}

pub(crate) fn run(args: StatusArgs, environment: &Environment, console: &mut Console<'_>) -> Result<Outcome, Failure> {
    let StatusArgs { url, json, target } = args;
    let target = Target { to: url.or(target.to), ..target };
    let client = target.client(environment)?;
    let answer = client.get(if json { "/app" } else { "/status" }, TIMEOUT)?;
    if answer.status != 200 {
        return Err(Failure::not_found_out(format_args!("{}: {}", client.base(), answer.problem())));
    }
    // The verdict comes from the body that is shown, so that the two cannot disagree.
    let ready = if json { said_in_json(&answer) } else { said_in_text(&answer) };
    let ready = ready.ok_or_else(|| {
        Failure::not_found_out(format_args!("{} answers, but not as a Greenlight: look at the address", client.base()))
    })?;
    if json {
        console.write(&answer.body);
    } else {
        console.write(inert_lines(&String::from_utf8_lossy(&answer.body)).to_string().as_bytes());
    }
    Ok(if ready { Outcome::Yes } else { Outcome::No })
}

fn said_in_json(answer: &Answer) -> Option<bool> {
    #[derive(Deserialize)]
    struct App {
        ready: bool,
    }
    serde_json::from_slice::<App>(&answer.body).ok().map(|app| app.ready)
}

/// The first line is `READY`, or `NOT READY: …`.
fn said_in_text(answer: &Answer) -> Option<bool> {
    let text = std::str::from_utf8(&answer.body).ok()?;
    match text.lines().next()?.split(':').next()? {
        "READY" => Some(true),
        "NOT READY" => Some(false),
        _ => None,
    }
}
