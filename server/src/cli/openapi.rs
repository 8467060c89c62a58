//! `greenlight openapi`: the description of the HTTP interface.

use super::console::Console;
use super::outcome::{Failure, Outcome};

pub(crate) fn run(console: &mut Console<'_>) -> Result<Outcome, Failure> {
    let document = crate::http::openapi();
    let text = serde_json::to_string_pretty(&document).map_err(Failure::not_found_out)?;
    console.say(text);
    Ok(Outcome::Yes)
}
