//! `greenlight rehearse`: rolls from one version to the next under load, and reports.

mod sum;

use std::io::IsTerminal;
use std::net::IpAddr;
use std::num::NonZeroU32;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver};

use clap::Args;
use greenlight_core::rehearsal::{self, Options, Spawn};
use greenlight_core::rotation::{HoldLast, RotationPolicy};

use self::sum::Sum;
use super::console::Console;
use super::demo_daemon::end_on_signals;
use super::environment::Environment;
use super::outcome::{Failure, Outcome};
use super::rehearsed::{Form, micros};
use crate::rehearse::{Plan, Seen, Unrun, guard, preflight, run as rehearse};

/// What is rehearsed.
#[derive(Args, Debug)]
pub(crate) struct RehearseArgs {
    /// The command that starts the old version
    #[arg(long, value_name = "CMD")]
    old: String,

    /// The command that starts the new version [default: that of the old one]
    #[arg(long, value_name = "CMD")]
    new: Option<String>,

    /// Run the commands by sh -c
    #[arg(long)]
    shell: bool,

    /// Where readiness is asked: a path, or :{ready_port}/path
    #[arg(long, value_name = "PATH", default_value = "/readyz")]
    ready: String,

    /// What the stream asks for
    #[arg(long, value_name = "PATH", default_value = "/")]
    path: String,

    /// The status that is fine [default: what the old version answers before the stream begins]
    #[arg(long, value_name = "STATUS", value_parser = clap::value_parser!(u16).range(200..=599))]
    expect: Option<u16>,

    /// The time between two requests
    #[arg(long, value_name = "SPAN", default_value = "10ms", value_parser = micros)]
    every: i64,

    /// The time between two probes of a process
    #[arg(long, value_name = "SPAN", default_value = "100ms", value_parser = micros)]
    probe_every: i64,

    /// How long a probe may take
    #[arg(long, value_name = "SPAN", default_value = "300ms", value_parser = micros)]
    probe_timeout: i64,

    /// The silence in a row at which a process leaves rotation
    #[arg(long, value_name = "N", default_value = "3")]
    silences_to_leave: NonZeroU32,

    /// The ready answer in a row at which a process joins
    #[arg(long, value_name = "N", default_value = "1")]
    answers_to_join: NonZeroU32,

    /// Silence does not remove the last process that is in
    #[arg(long)]
    hold_last: bool,

    /// How long a join or a leave takes to reach the balancer that the stream stands for
    #[arg(long, value_name = "SPAN", default_value = "0ms", value_parser = micros)]
    lag: i64,

    /// For how long the old version is asked alone
    #[arg(long, value_name = "SPAN", default_value = "2s", value_parser = micros)]
    warm_up: i64,

    /// For how long the stream goes on after the old version has ended
    #[arg(long, value_name = "SPAN", default_value = "2s", value_parser = micros)]
    tail: i64,

    /// How long a version may take to become ready
    #[arg(long, value_name = "SPAN", default_value = "30s", value_parser = micros)]
    start_timeout: i64,

    /// How long the old version may take from its SIGTERM to its end
    #[arg(long, value_name = "SPAN", default_value = "30s", value_parser = micros)]
    drain_timeout: i64,

    /// When the client gives up on a request
    #[arg(long, value_name = "SPAN", default_value = "10s", value_parser = micros)]
    give_up: i64,

    /// How many requests may be given up without breaking the promise
    #[arg(long, value_name = "N", default_value = "0")]
    max_slow: u64,

    /// Write everything that happens to a file, one JSON object a line
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,

    /// The literal address on which the versions listen
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    host: IpAddr,

    /// Four ports for the two versions [default: free ones below those that the system gives to clients]
    #[arg(long, value_name = "FIRST-LAST", value_parser = ports)]
    ports: Option<RangeInclusive<u16>>,

    /// Burn processor time in so many threads meanwhile
    #[arg(long, value_name = "N", default_value = "0")]
    busy: u32,

    /// Rehearse so often, and sum up. --json then prints an object for each run, a line each, and a last one of all:
    /// {runs, outcome, exit, outcomes: {kept, broken, inconclusive, incomplete, interrupted}, ticks, lost, missed,
    /// drain_margin_us}; --junit prints one document with a suite for each run
    #[arg(long, value_name = "N", default_value = "1")]
    runs: NonZeroU32,

    /// A bug of the rehearsal itself, for a test of what becomes of it
    #[cfg(debug_assertions)]
    #[arg(long, hide = true)]
    bug: Option<crate::rehearse::Bug>,

    #[command(flatten)]
    form: Form,
}

/// What a process of a rehearsal becomes.
#[derive(Args, Debug)]
pub(crate) struct BecomeArgs {
    /// The limit of file descriptors
    descriptors: u64,
    /// The niceness
    #[arg(allow_negative_numbers = true)]
    niceness: i32,
    /// The command
    #[arg(last = true, required = true)]
    words: Vec<String>,
}

pub(crate) fn become_server(args: &BecomeArgs) -> Result<Outcome, Failure> {
    Err(Failure::NotFoundOut(guard::become_server(args.descriptors, args.niceness, &args.words)))
}

pub(crate) fn run(
    args: &RehearseArgs,
    environment: &Environment,
    console: &mut Console<'_>,
) -> Result<Outcome, Failure> {
    let (ender, ends) = mpsc::channel();
    end_on_signals(ender.clone()).map_err(Failure::NotFoundOut)?;
    let mut sum = Sum::default();
    let ran = run_all(args, environment, &ends, &mut sum, console);
    drop(ender);
    // What came before a run that could not be begun is told all the same.
    if let Some(suites) = sum.suites.take() {
        console.write(suites.into_xml().as_bytes());
    } else if args.runs.get() > 1 && !sum.words.is_empty() {
        if args.form.is_text() {
            console.say(sum.line());
        } else {
            console.say(sum.object());
        }
    }
    ran.map(|()| sum.outcome())
}

fn run_all(
    args: &RehearseArgs,
    environment: &Environment,
    ends: &Receiver<()>,
    sum: &mut Sum,
    console: &mut Console<'_>,
) -> Result<(), Failure> {
    let mut plan = args.plan(environment);
    let runs = args.runs.get();
    for number in 1..=runs {
        plan.record = args.record.as_deref().map(|path| numbered(path, number, runs));
        let prepared = preflight(&plan).map_err(Failure::Usage)?;
        let mut line = ProgressLine::new(number, runs);
        let finished = rehearse(prepared, ends, |seen| line.show(seen, console));
        line.clear(console);
        let finished = finished.map_err(|unrun| match unrun {
            Unrun::Unmeasurable(words) => Failure::Usage(words),
            Unrun::Failed(words) => Failure::NotFoundOut(words),
        })?;
        let file_trouble = finished.file_trouble;
        let word = sum.take(&finished.record);
        if runs > 1 && args.form.is_document() {
            sum.suites.get_or_insert_default().add(&format!("run {number} of {runs}"), &finished.record);
        } else if runs == 1 || !args.form.is_text() || word != rehearsal::Outcome::Kept {
            args.form.say(&finished.record, console)?;
        }
        if runs > 1 && args.form.is_text() {
            console.say(format_args!("run {number} of {runs}: {}", word.as_str()));
        }
        if let Some(words) = file_trouble {
            console.note(format_args!("greenlight: the record {words}"));
            sum.is_whole = false;
        }
        if word == rehearsal::Outcome::Interrupted {
            break;
        }
    }
    Ok(())
}

impl RehearseArgs {
    fn plan(&self, environment: &Environment) -> Plan {
        let options = Options {
            every_us: self.every,
            probe_every_us: self.probe_every,
            probe_timeout_us: self.probe_timeout,
            lag_us: self.lag,
            give_up_us: self.give_up,
            warm_up_us: self.warm_up,
            tail_us: self.tail,
            start_timeout_us: self.start_timeout,
            drain_timeout_us: self.drain_timeout,
            max_slow: self.max_slow,
            path: self.path.as_str().into(),
            expect: self.expect,
            spawn: if self.shell { Spawn::Shell } else { Spawn::Direct },
            busy: self.busy,
        };
        Plan {
            options,
            policy: RotationPolicy {
                silences_to_leave: self.silences_to_leave,
                answers_to_join: self.answers_to_join,
                hold_last: HoldLast::from(self.hold_last),
            },
            commands: [self.old.clone(), self.new.clone().unwrap_or_else(|| self.old.clone())],
            ready: self.ready.clone(),
            host: self.host,
            ports: self.ports.clone(),
            record: None,
            search: environment.path("PATH").map(PathBuf::into_os_string),
            #[cfg(debug_assertions)]
            bug: self.bug,
            #[cfg(not(debug_assertions))]
            bug: None,
        }
    }
}

/// The record of one of several runs: `roll.jsonl` is `roll.2.jsonl` for the second.
fn numbered(path: &Path, number: u32, runs: u32) -> PathBuf {
    if runs == 1 {
        return path.into();
    }
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let name = match path.extension() {
        Some(extension) => format!("{stem}.{number}.{}", extension.to_string_lossy()),
        None => format!("{stem}.{number}"),
    };
    path.with_file_name(name)
}

/// A line that is written over itself, on a terminal only.
struct ProgressLine {
    is_shown: bool,
    number: u32,
    runs: u32,
}

impl ProgressLine {
    fn new(number: u32, runs: u32) -> Self {
        Self { is_shown: std::io::stderr().is_terminal(), number, runs }
    }

    fn show(&mut self, seen: &Seen, console: &mut Console<'_>) {
        if self.is_shown {
            let run = if self.runs > 1 { format!("run {} of {}, ", self.number, self.runs) } else { String::new() };
            console.note_in_place(format_args!(
                "{run}{}: {} ticks, {} missed",
                seen.phase(),
                seen.ticks(),
                seen.missed()
            ));
        }
    }

    fn clear(&self, console: &mut Console<'_>) {
        if self.is_shown {
            console.note_in_place("");
        }
    }
}

/// `FIRST-LAST`.
fn ports(text: &str) -> Result<RangeInclusive<u16>, String> {
    let range = text.split_once('-').and_then(|(first, last)| Some(first.parse().ok()?..=last.parse().ok()?));
    range
        .filter(|range| !range.is_empty())
        .ok_or_else(|| format!("{text:?} is not a range of ports: write 18000-18003"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_of_the_flags_are_those_of_the_record() {
        #[derive(clap::Parser)]
        struct Parsed {
            #[command(flatten)]
            args: RehearseArgs,
        }
        let parsed = <Parsed as clap::Parser>::parse_from(["rehearse", "--old", "x"]);
        let plan = parsed.args.plan(&Environment::default());
        assert_eq!((plan.options, plan.policy), (Options::default(), RotationPolicy::default()));
        assert_eq!(plan.commands, ["x", "x"]);
    }

    #[test]
    fn several_runs_have_records_of_their_own() {
        let named = |path: &str, number, runs| numbered(Path::new(path), number, runs);
        assert_eq!(named("a/roll.jsonl", 1, 1), Path::new("a/roll.jsonl"));
        assert_eq!(named("a/roll.jsonl", 2, 3), Path::new("a/roll.2.jsonl"));
        assert_eq!(named("roll", 2, 3), Path::new("roll.2"));
    }

    #[test]
    fn a_range_of_ports_is_two_numbers() {
        assert_eq!(ports("18000-18003"), Ok(18_000..=18_003));
        for bad in ["", "1", "2-1", "a-b", "1-70000"] {
            assert!(ports(bad).is_err(), "{bad}");
        }
    }
}
