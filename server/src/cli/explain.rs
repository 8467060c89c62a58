//! `greenlight explain RECORD`: the report of a rehearsal, from its record alone.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use clap::Args;
use greenlight_core::rehearsal::{MAX_LINE_BYTES, Reader, Record, summarize};

use super::console::{Console, inert};
use super::json_lines::SerdeJson;
use super::outcome::{Failure, Outcome};
use super::rehearsed::{Form, outcome};

/// What is explained.
#[derive(Args, Debug)]
pub(crate) struct ExplainArgs {
    /// The record of a rehearsal; - reads standard input
    #[arg(value_name = "RECORD")]
    record: PathBuf,

    #[command(flatten)]
    form: Form,
}

pub(crate) fn run(args: &ExplainArgs, console: &mut Console<'_>) -> Result<Outcome, Failure> {
    let (record, trouble) = if args.record == Path::new("-") {
        read(BufReader::new(console.input()))
    } else {
        let file = File::open(&args.record)
            .map_err(|error| Failure::usage(format_args!("{}: {error}", args.record.display())))?;
        read(BufReader::new(file))
    };
    let place = if args.record == Path::new("-") { "standard input".into() } else { args.record.display().to_string() };
    let told = trouble.map(|words| format!("{place}: {}", inert(&words)));
    match (record, told) {
        (None, words) => Err(Failure::Usage(words.unwrap_or_else(|| format!("{place}: is empty")))),
        (Some(record), words) => {
            if let Some(words) = words {
                console.note(format_args!("greenlight: {words}; what stands before is reported"));
            }
            args.form.say(&record, console)?;
            Ok(outcome(summarize(&record).outcome))
        }
    }
}

/// What can be read, and why no more.
fn read(mut input: impl BufRead) -> (Option<Record>, Option<String>) {
    let mut reader = Reader::new();
    let mut line = Vec::new();
    loop {
        line.clear();
        match input.by_ref().take(LONGEST).read_until(b'\n', &mut line) {
            Ok(0) => break,
            Ok(_) => {}
            Err(error) => return (reader.finish(), Some(error.to_string())),
        }
        let text = line.strip_suffix(b"\n").unwrap_or(&line);
        if let Err(error) = reader.read(&String::from_utf8_lossy(text), &SerdeJson) {
            return (reader.finish(), Some(error.to_string()));
        }
    }
    let trouble = reader.check_end().err().map(|error| error.to_string());
    (reader.finish(), trouble)
}

/// A line that is too long is seen to be, and not read to its end.
const LONGEST: u64 = MAX_LINE_BYTES as u64 + 2;

#[cfg(test)]
mod tests {
    use super::super::console::testing::captured;
    use super::*;

    fn explain(text: &str) -> (Result<Outcome, Failure>, String, String) {
        let args = ExplainArgs { record: "-".into(), form: Form::text() };
        captured(text, |console| run(&args, console))
    }

    const HEADER: &str = r#"{"event":"header","schema":"greenlight.rehearsal/1","version":"0","options":{"every_us":10000,"probe_every_us":1,"probe_timeout_us":1,"lag_us":0,"give_up_us":1,"warm_up_us":1,"tail_us":1,"start_timeout_us":1,"drain_timeout_us":1,"max_slow":0,"path":"/","expect":null,"spawn":"direct","busy":0},"policy":{},"machine":{"cores":1,"descriptors":1,"descriptors_needed":1,"client_ports":1},"processes":[{"name":"old","command":"x","address":"x","ready":"x"}]}"#;

    #[test]
    fn what_stands_before_a_break_is_reported() {
        let (result, out, err) = explain(&format!("{HEADER}\n{{\"event\":\"tick\""));
        assert_eq!(result, Ok(Outcome::NotFoundOut));
        assert!(out.starts_with("INCONCLUSIVE  lost 0"), "{out}");
        assert!(err.starts_with("greenlight: standard input: line 2: no event of a record"), "{err}");
    }

    #[test]
    fn what_is_no_record_is_usage_with_its_line() {
        for (text, why) in [
            (String::new(), "standard input: line 1: the first line of a record is its header"),
            ("{}".into(), "standard input: line 1: the first line of a record is its header"),
            (HEADER.replace("al/1", "al/2"), "standard input: line 1: the record is greenlight.rehearsal/2"),
            ("x".repeat(MAX_LINE_BYTES * 2), "standard input: line 1: the line is"),
        ] {
            let (result, out, _) = explain(&text);
            assert!(matches!(&result, Err(Failure::Usage(words)) if words.starts_with(why)), "{result:?}");
            assert_eq!(out, "");
        }
    }
}
