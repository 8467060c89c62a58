//! `greenlight history`, `export` and `import`: what happened, and what the verdict was under any horizon.

mod lines;
mod show;

use std::fs;
use std::io::{BufReader, BufWriter, Read, Seek, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use greenlight_core::history::{Head, Lives};
use greenlight_core::{Horizon, Name};

use self::lines::{Broken, Lines};
use self::show::{Form, Showing};
use super::client::{Client, Target, encoded};
use super::console::{Console, listed};
use super::environment::Environment;
use super::outcome::{Failure, Outcome};
use super::values;
use crate::utc::Utc;

/// Which part of history.
#[derive(Args, Debug)]
pub(crate) struct Window {
    /// From when on: -7d, Unix seconds, or 2026-08-03T14:05:00Z
    #[arg(long, value_name = "MOMENT", default_value = "-1d", allow_hyphen_values = true, value_parser = values::moment)]
    from: String,

    /// Up to when, not included [default: now]
    #[arg(long, value_name = "MOMENT", allow_hyphen_values = true, value_parser = values::moment)]
    until: Option<String>,

    /// Only this instance, as if there were no other; may be given several times
    #[arg(long, value_name = "NAME", value_parser = values::instance_name)]
    name: Vec<greenlight_core::Name>,
}

/// How it is judged and shown.
#[derive(Args, Debug)]
pub(crate) struct Judged {
    /// Horizons to judge by, apart by commas; each is compared with the first [default: the daemon's own]
    #[arg(long, value_name = "SPANS", value_delimiter = ',', value_parser = values::horizon)]
    stale_after: Vec<Horizon>,

    /// A line of JSON for each span of the verdict and of each instance, and in the end the sums
    #[arg(long, conflicts_with = "csv")]
    json: bool,

    /// The sums of each horizon as CSV, in seconds
    #[arg(long)]
    csv: bool,
}

/// What `greenlight history` takes.
#[derive(Args, Debug)]
pub(crate) struct HistoryArgs {
    #[command(flatten)]
    window: Window,

    #[command(flatten)]
    judged: Judged,

    #[command(flatten)]
    target: Target,
}

/// What `greenlight export` takes.
#[derive(Args, Debug)]
pub(crate) struct ExportArgs {
    #[command(flatten)]
    window: Window,

    /// The file to write; one that is there is replaced when the new one is whole [default: standard output]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,

    #[command(flatten)]
    target: Target,
}

/// What `greenlight import` takes.
#[derive(Args, Debug)]
pub(crate) struct ImportArgs {
    /// What greenlight export wrote
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// Of a file that is refused, show what stands before the line that is wrong
    #[arg(long)]
    salvage: bool,

    #[command(flatten)]
    judged: Judged,
}

/// Asks a daemon for a window and judges it as it comes.
pub(crate) fn run(
    args: &HistoryArgs,
    environment: &Environment,
    console: &mut Console<'_>,
) -> Result<Outcome, Failure> {
    let client = args.target.client(environment)?;
    let mut lines = Lines::of(BufReader::new(ask(&client, &args.window)?));
    let head = lines.head().map_err(|broken| unusable(&client, &broken))?.clone();
    note_what_is_not_in_it(&head, console);
    let mut showing = Showing::begin(&head, args.judged.horizons(&head), args.judged.form(), head.lives.clone());
    while let Some(event) = lines.next_event().map_err(|broken| unusable(&client, &broken))? {
        showing.push(&event, console);
    }
    showing.finish(head.known_until_unix, console);
    Ok(Outcome::Yes)
}

/// Writes a window as JSON lines, having seen that it is whole.
pub(crate) fn export(
    args: &ExportArgs,
    environment: &Environment,
    console: &mut Console<'_>,
) -> Result<Outcome, Failure> {
    let client = args.target.client(environment)?;
    let answer = ask(&client, &args.window)?;
    match &args.out {
        None => {
            copy(answer, &client, |line| {
                console.write(line);
                Ok(())
            })?;
        }
        Some(file) => {
            let unwritable = |error| Failure::not_found_out(format_args!("{}: {error}", file.display()));
            // Beside it, so that it takes its place by a rename.
            let part = file.with_added_extension("part");
            let written = fs::File::create(&part).map_err(unwritable).and_then(|part| {
                let mut part = BufWriter::new(part);
                let events = copy(answer, &client, |line| part.write_all(line).map_err(unwritable))?;
                part.into_inner().map_err(|error| unwritable(error.into_error()))?.sync_all().map_err(unwritable)?;
                Ok(events)
            });
            let renamed = written.and_then(|events| fs::rename(&part, file).map(|()| events).map_err(unwritable));
            match renamed {
                Ok(events) => console.note(format_args!("{events} events in {}", file.display())),
                Err(failure) => {
                    // It is of no use; that it cannot be removed either says nothing new.
                    let _ = fs::remove_file(&part);
                    return Err(failure);
                }
            }
        }
    }
    Ok(Outcome::Yes)
}

/// Judges a window from a file: first it is read through, then judged, so that nothing is said of a broken one.
pub(crate) fn import(args: &ImportArgs, console: &mut Console<'_>) -> Result<Outcome, Failure> {
    let name = args.file.display();
    let unreadable = |error: std::io::Error| Failure::usage(format_args!("{name}: {error}"));
    let mut file = open(&args.file, console)?;
    let mut lines = Lines::of(BufReader::new(&mut file));
    let mut restarts = Lives::default();
    let mut newest = None;
    let broken = loop {
        match lines.next_event() {
            Ok(Some(event)) => {
                restarts.note(&event);
                newest = Some(event.at_unix);
            }
            Ok(None) => break None,
            Err(broken) => break Some(broken),
        }
    };
    let read = lines.read_so_far();
    let head = lines.known_head().cloned();
    if let Some(broken) = &broken {
        console.note(format_args!("greenlight: {name}: {broken}"));
    }
    let head = match (head, &broken) {
        (Some(head), None) => head,
        (Some(head), Some(_)) if args.salvage => head,
        (_, _) => return Ok(Outcome::Usage),
    };
    // Of a part it is known only up to its newest event.
    let known_until = if broken.is_none() { head.known_until_unix } else { newest.unwrap_or_default() };
    if broken.is_some() {
        console.note(format_args!("what stands before it: {read} events, until {}", Utc(known_until)));
    }
    note_what_is_not_in_it(&head, console);
    file.rewind().map_err(unreadable)?;
    let mut lines = Lines::of(BufReader::new(&mut file));
    let mut showing = Showing::begin(&head, args.judged.horizons(&head), args.judged.form(), restarts);
    for _ in 0..read {
        match lines.next_event() {
            Ok(Some(event)) => showing.push(&event, console),
            Ok(None) => break,
            Err(broken) => return Err(Failure::usage(format_args!("{name}: it has changed meanwhile: {broken}"))),
        }
    }
    showing.finish(known_until, console);
    Ok(if broken.is_none() { Outcome::Yes } else { Outcome::Usage })
}

/// Says what the sums cannot: that what was before has been dropped, and whose they are.
fn note_what_is_not_in_it(head: &Head, console: &mut Console<'_>) {
    if let Some(complete_from) = head.complete_from_unix.filter(|from| *from > head.from_unix) {
        console.note(format_args!(
            "greenlight: what was before {} is no longer kept: it counts as not watched",
            Utc(complete_from)
        ));
    }
    if let Some(names) = &head.names {
        let names: Vec<&str> = names.iter().map(Name::as_str).collect();
        console.note(format_args!(
            "greenlight: only {} was asked for: the verdict is what it would be with nothing else on the board",
            listed(&names)
        ));
    }
}

impl Judged {
    fn horizons(&self, head: &Head) -> Vec<Horizon> {
        if self.stale_after.is_empty() { vec![head.stale_after_secs] } else { self.stale_after.clone() }
    }

    fn form(&self) -> Form {
        match (self.json, self.csv) {
            (true, _) => Form::Json,
            (false, true) => Form::Csv,
            (false, false) => Form::Table,
        }
    }
}

fn ask(client: &Client, window: &Window) -> Result<impl Read + use<>, Failure> {
    let mut path = format!("/history?lines&from={}", encoded(&window.from));
    path.extend(window.until.iter().map(|until| format!("&to={}", encoded(until))));
    path.extend(window.name.iter().map(|name| format!("&name={}", encoded(name))));
    match client.stream(&path)? {
        Ok(body) => Ok(body),
        Err(answer) => {
            let told = format!("{}: {}", client.base(), answer.problem());
            // The daemon's clock says what the moments mean, and so whether they make a window.
            Err(if answer.status == 400 { Failure::usage(told) } else { Failure::not_found_out(told) })
        }
    }
}

/// Hands every line on, head and end too, and tells how many events there were.
fn copy(
    answer: impl Read,
    client: &Client,
    mut take: impl FnMut(&[u8]) -> Result<(), Failure>,
) -> Result<u64, Failure> {
    let mut lines = Lines::of(BufReader::new(answer));
    while let Some(line) = lines.next_line().map_err(|broken| unusable(client, &broken))? {
        take(line)?;
    }
    Ok(lines.read_so_far())
}

fn unusable(client: &Client, broken: &Broken) -> Failure {
    Failure::not_found_out(format_args!("the answer of {} is of no use: {broken}", client.base()))
}

/// A file, or what standard input has.
fn open(path: &Path, console: &mut Console<'_>) -> Result<Box<dyn ReadSeek>, Failure> {
    let unreadable = |error| Failure::usage(format_args!("{}: {error}", path.display()));
    if path == Path::new("-") {
        let mut all = Vec::new();
        let mut input = console.input().take(MAX_INPUT_BYTES + 1);
        input.read_to_end(&mut all).map_err(unreadable)?;
        if all.len() as u64 > MAX_INPUT_BYTES {
            return Err(Failure::usage(format_args!(
                "standard input has more than {MAX_INPUT_BYTES} bytes: give a file"
            )));
        }
        return Ok(Box::new(std::io::Cursor::new(all)));
    }
    Ok(Box::new(fs::File::open(path).map_err(unreadable)?))
}

trait ReadSeek: Read + Seek {}

impl<T: Read + Seek> ReadSeek for T {}

/// It is read twice, so that of standard input all is kept.
const MAX_INPUT_BYTES: u64 = 256 << 20;
