//! `greenlight publish`: one row, or the full report of a source.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use clap::{Args, value_parser};
use greenlight_core::{GoodFor, MAX_INTEGER, Name, Span};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::client::{Answer, Target, encoded};
use super::console::Console;
use super::environment::Environment;
use super::outcome::{Failure, Outcome};
use super::values;

/// What is published.
#[derive(Args, Debug)]
pub(crate) struct PublishArgs {
    /// The instance
    #[arg(value_parser = values::instance_name, required_unless_present = "report")]
    name: Option<Name>,

    /// The full report of the source, from a JSON file; - reads standard input
    #[arg(long, value_name = "FILE", conflicts_with_all = ["name", "RowFlags"])]
    report: Option<PathBuf>,

    /// Who reports
    #[arg(long, default_value = "cli", value_parser = values::source_name)]
    source: Name,

    /// For how long this is good: a length of time from 1s, until_restart, or forever [default: the daemon's own
    /// --good-for]
    #[arg(long, value_name = "SPAN", value_parser = values::good_for)]
    good_for: Option<GoodFor>,

    /// Refused unless it is greater than the last one of this source, so that a late retry undoes nothing
    #[arg(long, value_name = "NUMBER", value_parser = value_parser!(u64).range(0..=MAX_INTEGER))]
    sequence: Option<u64>,

    /// Print the daemon's answer as JSON
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    row: RowFlags,

    #[command(flatten)]
    target: Target,
}

/// One flag for each field of a row; what is not given is null, or the field's own zero.
#[derive(Args, Clone, Debug, Default)]
#[group(id = "RowFlags", multiple = true)]
struct RowFlags {
    /// A free word: building, serving, … Shown, never judged [default: idle]
    #[arg(long, value_name = "WORD", help_heading = "Row")]
    phase: Option<String>,

    /// The build that it serves now; without this flag it serves nothing
    #[arg(long, value_name = "SHA", help_heading = "Row")]
    serving_sha: Option<String>,

    /// The newest build that served [default: the one of --serving-sha]
    #[arg(long, value_name = "SHA", help_heading = "Row")]
    last_green: Option<String>,

    /// The newest build that failed
    #[arg(long, value_name = "SHA", help_heading = "Row")]
    last_red_sha: Option<String>,

    /// Why it failed. Beyond 16 KiB it is cut
    #[arg(long, value_name = "TEXT", help_heading = "Row")]
    last_red_reason: Option<String>,

    /// A file that shows why it failed (repeatable, at most 1000)
    #[arg(long, value_name = "FILE", help_heading = "Row")]
    last_red_file: Vec<String>,

    /// The newest build that waits
    #[arg(long, value_name = "SHA", help_heading = "Row")]
    pending_sha: Option<String>,

    /// How many demoted children still drain [default: 0]
    #[arg(long, value_name = "NUMBER", value_parser = value_parser!(u64).range(0..=MAX_INTEGER), help_heading = "Row")]
    draining: Option<u64>,

    /// The port that a proxy reaches it at
    #[arg(long, value_name = "PORT", value_parser = value_parser!(u64).range(0..=MAX_INTEGER), help_heading = "Row")]
    proxy_port: Option<u64>,

    /// The host name that the public reaches it by
    #[arg(long, value_name = "HOST", help_heading = "Row")]
    public_host: Option<String>,

    /// When its route ends, in Unix seconds
    #[arg(long, value_name = "SECONDS", value_parser = value_parser!(u64).range(0..=MAX_INTEGER), help_heading = "Row")]
    expires_at: Option<u64>,

    /// For how long it has been as it is: seconds, or a length of time. Believed only where the daemon meets the
    /// name for the first time
    #[arg(long, value_name = "SPAN", value_parser = values::span, help_heading = "Row")]
    idle_secs: Option<Span>,
}

impl RowFlags {
    /// The row as it goes over the wire, its name left to the path. What was not given is left out.
    fn body(&self) -> Value {
        let mut row = Map::new();
        let mut set = |field: &str, value: Option<Value>| row.extend(value.map(|value| (field.to_owned(), value)));
        let text = |text: &Option<String>| text.clone().map(Value::from);
        set("phase", text(&self.phase));
        set("serving_sha", text(&self.serving_sha));
        set("last_green", text(&self.last_green).or_else(|| text(&self.serving_sha)));
        set("last_red_sha", text(&self.last_red_sha));
        set("last_red_reason", text(&self.last_red_reason));
        set("last_red_files", (!self.last_red_file.is_empty()).then(|| json!(self.last_red_file)));
        set("pending_sha", text(&self.pending_sha));
        set("draining", self.draining.map(Value::from));
        set("proxy_port", self.proxy_port.map(Value::from));
        set("public_host", text(&self.public_host));
        set("expires_at", self.expires_at.map(Value::from));
        set("idle_secs", self.idle_secs.map(|Span(secs)| Value::from(secs)));
        Value::Object(row)
    }
}

pub(crate) fn run(
    args: &PublishArgs,
    environment: &Environment,
    console: &mut Console<'_>,
) -> Result<Outcome, Failure> {
    let (path, body) = request(args, console)?;
    let client = args.target.client(environment)?;
    let answer = client.put(&path, body.to_string().as_bytes())?;
    match answer.status {
        200 | 202 => told(&answer, args.json, console),
        400..=499 => {
            console.note(format_args!("greenlight: refused: {}", answer.problem()));
            Ok(Outcome::No)
        }
        _ => Err(Failure::not_found_out(format_args!("{}: {}", client.base(), answer.problem()))),
    }
}

fn request(args: &PublishArgs, console: &mut Console<'_>) -> Result<(String, Value), Failure> {
    let source = encoded(&args.source);
    match (&args.name, &args.report) {
        (Some(name), _) => {
            let mut path = format!("/sources/{source}/instances/{}?strict=true", encoded(name));
            path.extend(args.good_for.map(|good_for| format!("&good_for_secs={}", in_query(good_for))));
            path.extend(args.sequence.map(|sequence| format!("&sequence={sequence}")));
            Ok((path, args.row.body()))
        }
        (None, Some(file)) => {
            let mut report = report(file, console)?;
            // A flag comes before what the file says.
            report.extend(args.good_for.map(|good_for| ("good_for_secs".to_owned(), json!(good_for))));
            report.extend(args.sequence.map(|sequence| ("sequence".to_owned(), json!(sequence))));
            Ok((format!("/sources/{source}?strict=true"), Value::Object(report)))
        }
        (None, None) => Err(Failure::usage("name an instance, or give --report FILE")),
    }
}

fn in_query(good_for: GoodFor) -> String {
    match good_for {
        GoodFor::Seconds(secs) => secs.to_string(),
        GoodFor::UntilRestart => "until_restart".into(),
        GoodFor::Forever => "forever".into(),
    }
}

/// The report in a file; an array stands for its rows. What the rows hold is the daemon's to judge.
fn report(file: &Path, console: &mut Console<'_>) -> Result<Map<String, Value>, Failure> {
    let (name, text) = if file == Path::new("-") {
        ("standard input".to_owned(), read(console.input()))
    } else {
        (file.display().to_string(), fs::File::open(file).and_then(read))
    };
    let text = text.map_err(|error| Failure::usage(format_args!("{name}: {error}")))?;
    match serde_json::from_str(&text) {
        Ok(Value::Object(report)) => Ok(report),
        Ok(rows @ Value::Array(_)) => Ok(Map::from_iter([("instances".to_owned(), rows)])),
        Ok(_) => Err(Failure::usage(format_args!("{name}: a report is an object with instances, or an array of rows"))),
        Err(error) => Err(Failure::usage(format_args!("{name} is not JSON: {error}"))),
    }
}

fn read(mut from: impl Read) -> std::io::Result<String> {
    let mut text = String::new();
    from.by_ref().take(MAX_REPORT_BYTES + 1).read_to_string(&mut text)?;
    if u64::try_from(text.len()).is_ok_and(|bytes| bytes > MAX_REPORT_BYTES) {
        return Err(std::io::Error::other("is larger than 16 MiB, the most that a daemon takes"));
    }
    Ok(text)
}

/// What the daemon's own limit on a body is.
const MAX_REPORT_BYTES: u64 = 16 * 1024 * 1024;

fn told(answer: &Answer, as_json: bool, console: &mut Console<'_>) -> Result<Outcome, Failure> {
    #[derive(Deserialize)]
    struct Accepted {
        revision: u64,
        changed: Vec<String>,
        removed: Vec<String>,
        #[serde(default)]
        warnings: Vec<String>,
    }

    let accepted: Accepted = serde_json::from_slice(&answer.body)
        .map_err(|error| Failure::not_found_out(format_args!("the daemon's answer cannot be understood: {error}")))?;
    if as_json {
        console.say(String::from_utf8_lossy(&answer.body).trim_end());
    } else {
        let mut parts = Vec::new();
        for (word, names) in [("changed", &accepted.changed), ("removed", &accepted.removed)] {
            if !names.is_empty() {
                parts.push(format!("{word} {}", super::console::listed(names)));
            }
        }
        let what = if parts.is_empty() { "nothing changed".into() } else { parts.join("; ") };
        console.say(format_args!("revision {}: {what}", accepted.revision));
    }
    for warning in &accepted.warnings {
        console.note(format_args!("greenlight: warning: {}", super::console::inert(warning)));
    }
    if answer.status == 202 {
        console.note(
            "greenlight: applied, but not durable: the daemon's store is in trouble, and a restart would forget this \
             (/app says why)",
        );
    }
    Ok(Outcome::Yes)
}
