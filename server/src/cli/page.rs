//! `greenlight page --out DIR`: the page as files, for any static host.

use std::path::PathBuf;

use super::console::Console;
use super::outcome::{Failure, Outcome};

#[derive(Debug, clap::Args)]
pub(crate) struct PageArgs {
    /// The folder to write to; it is made if it is missing
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

pub(crate) fn run(args: &PageArgs, console: &mut Console<'_>) -> Result<Outcome, Failure> {
    let written = greenlight_web::write_site(&args.out).map_err(Failure::not_found_out)?;
    console.say(format_args!(
        "{} files in {}; open it with ?daemon=https://HOST, and let the daemon --allow-origin its host",
        written.len(),
        args.out.display()
    ));
    Ok(Outcome::Yes)
}
