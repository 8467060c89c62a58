//! The report of a rehearsal as text: a pure function of its record, so that the run and a later reader of the
//! record see the same bytes.

use alloc::format;
use alloc::string::String;
use core::fmt;

use super::account::{Account, Miss, Process};
use super::class::{Class, Classes, Lane};
use super::finding::Ticks;
use super::fitness::{Fitness, PROBE_LATE_US};
use super::length::{Length, Moment};
use super::lines::{GLUE, Lines};
use super::record::Record;
use super::replay::WhatIf;
use super::states::States;
use super::summary::{Outcome, leave_to_drain, longest_gap};
use super::timeline;
use crate::inert::Inert;

/// The whole report, verdict first, why last but for the what-ifs. No line is wider than 100 columns.
pub fn text(record: &Record) -> String {
    let account = Account::of(record);
    let summary = &account.summary;
    let mut lines = Lines::default();
    verdict(&account, &mut lines);
    lines.add("ticks", format_args!("{} = {}", summary.ticks, Listed(&summary.totals)));
    if let Some(status) = account.expected_status.filter(|status| !(200..300).contains(status)) {
        let options = &record.header.options;
        match options.expect {
            Some(_) => lines.add("", format_args!("ok is {status}, as was asked for")),
            None => lines.add(
                "",
                format_args!("ok is {status}, as {} answered before the roll", Inert(&options.path, MAX_COMMAND)),
            ),
        }
    }
    for lane in Lane::ALL {
        let classes = summary.lanes.of(lane);
        let also = match lane {
            Lane::Fresh => String::new(),
            Lane::Kept => format!("; {} reopened", summary.reopened),
        };
        lines.add(lane.as_str(), format_args!("{} = {}{also}", classes.sum(), Listed(classes)));
    }
    match longest_gap(record) {
        Some((from, to)) => lines.add(
            "longest gap",
            format_args!(
                "{} between good answers, from {} to {}",
                Length(to.saturating_sub(from)),
                Moment(from),
                Moment(to)
            ),
        ),
        None => lines.add("longest gap", format_args!("none: no tick was due")),
    }
    timeline::draw(record, &States::of(record), &mut lines);
    margin(record, &account, &mut lines);
    for process in &account.processes {
        tell_process(process, &mut lines);
    }
    rotation(&account, &mut lines);
    misses(&account, &mut lines);
    fitness(record, &summary.fitness, &mut lines);
    lines.add("why", format_args!("{}", summary.why));
    let repeats_why = |also: &&super::Finding| summary.outcome == Outcome::Broken && format!("{also}") == summary.why;
    for also in summary.findings.iter().filter(|also| !repeats_why(also)).take(MAX_FINDINGS) {
        lines.add("  also", format_args!("{also}"));
    }
    for what_if in &account.what_if {
        tell_what_if(what_if, &mut lines);
    }
    lines.into_text()
}

fn verdict(account: &Account<'_>, lines: &mut Lines) {
    let summary = &account.summary;
    let word = match summary.outcome {
        Outcome::Kept => "KEPT",
        Outcome::Broken => "BROKEN",
        Outcome::Inconclusive => "INCONCLUSIVE",
        Outcome::Incomplete => "INCOMPLETE",
        Outcome::Interrupted => "INTERRUPTED",
    };
    let of = |class| summary.totals.of(class);
    lines.add(
        word,
        format_args!(
            "lost {}, slow {}, server_error {}, unexpected {}, nobody {} (exit {})",
            summary.lost,
            of(Class::Slow),
            of(Class::ServerError),
            of(Class::Unexpected),
            of(Class::Nobody),
            summary.exit
        ),
    );
}

/// Every class with its number, zeros included.
struct Listed<'a>(&'a Classes);

impl fmt::Display for Listed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, class) in Class::ALL.into_iter().enumerate() {
            if place > 0 {
                f.write_str(" + ")?;
            }
            write!(f, "{}{GLUE}{}", self.0.of(class), class.as_str())?;
        }
        Ok(())
    }
}

fn margin(record: &Record, account: &Account<'_>, lines: &mut Lines) {
    const LABEL: &str = "drain margin";
    match (account.summary.drain_margin_us, leave_to_drain(record)) {
        (Some(us), Some((process, _))) if us > 0 => lines.add(
            LABEL,
            format_args!(
                "{process} still accepted for {} after leaving rotation: safe for balancers that lag up to {}",
                Length(us),
                Length(us)
            ),
        ),
        (Some(_), Some((process, _))) => lines.add(
            LABEL,
            format_args!("none: {process} accepted nobody after leaving rotation: safe for no balancer that lags"),
        ),
        (None, Some(_)) => lines.add(LABEL, format_args!("not measured: no connection was tried after the leave")),
        (_, None) => lines.add(LABEL, format_args!("not measured: nobody left rotation after a SIGTERM")),
    }
}

fn tell_process(process: &Process<'_>, lines: &mut Lines) {
    let label = process.name;
    let sigterms = match process.sigterms {
        1 => "1 SIGTERM".into(),
        many => format!("{many} SIGTERMs"),
    };
    let Some(pid) = process.pid else {
        lines.add(label, format_args!("not started, {sigterms}: {}", Inert(process.command, MAX_COMMAND)));
        return;
    };
    let end = match (process.exit, process.drain_us, process.killed) {
        (Some(exit), Some(us), _) => format!("{exit}, {} from SIGTERM to exit", Length(us)),
        (_, _, true) => "killed by the rehearsal, cleaning up".into(),
        (Some(exit), None, false) => exit.into(),
        (None, _, false) => "still running".into(),
    };
    lines.add(label, format_args!("pid {pid}, {sigterms}, {end}: {}", Inert(process.command, MAX_COMMAND)));
    if let Some(words) = process.last_words {
        let (from, all) = last_lines(words);
        let cut = if from > 0 { format!(" ({from} lines before)") } else { String::new() };
        lines.add("", format_args!("its last words{cut}:"));
        for line in all {
            lines.add("", format_args!("| {}", Inert(line, MAX_COMMAND)));
        }
    }
}

/// The last lines, and how many were left off.
fn last_lines(words: &str) -> (usize, impl Iterator<Item = &str>) {
    let from = words.lines().count().saturating_sub(MAX_LAST_LINES);
    (from, words.lines().skip(from))
}

fn rotation(account: &Account<'_>, lines: &mut Lines) {
    if account.rotation.is_empty() {
        lines.add("rotation", format_args!("nobody joined"));
    }
    for (place, moved) in account.rotation.iter().take(MAX_MOVES).enumerate() {
        lines.add(
            if place == 0 { "rotation" } else { "" },
            format_args!(
                "{:>10} {} {}: {}",
                format!("{}", Moment(moved.at_us)),
                moved.process,
                moved.kind.as_str(),
                moved.cause
            ),
        );
    }
    more(account.rotation.len(), MAX_MOVES, lines);
}

fn misses(account: &Account<'_>, lines: &mut Lines) {
    let without_outcome = account.summary.fitness.without_outcome;
    if account.misses.is_empty() {
        lines.add("misses", format_args!("none"));
    }
    for (place, miss) in account.misses.iter().take(MAX_MISSES).enumerate() {
        let label = if place == 0 { "misses" } else { "" };
        lines.add(label, format_args!("{}", Told { account, miss }));
    }
    more(account.misses.len(), MAX_MISSES, lines);
    if without_outcome > 0 {
        lines.add("", format_args!("{} without outcome", Ticks(without_outcome)));
    }
}

fn more(all: usize, shown: usize, lines: &mut Lines) {
    let more = all.saturating_sub(shown);
    if more > 0 {
        lines.add("", format_args!("and {more} more"));
    }
}

/// One miss with its evidence.
struct Told<'a> {
    account: &'a Account<'a>,
    miss: &'a Miss<'a>,
}

impl fmt::Display for Told<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { account, miss } = *self;
        write!(f, "{} {} {}", Moment(miss.due_us), miss.process.unwrap_or("-"), miss.class.as_str())?;
        if let Some(status) = miss.status {
            write!(f, " {status}")?;
        }
        if let Some(error) = miss.error {
            write!(f, " {}", Inert(error, MAX_ERROR))?;
        }
        write!(f, ", {}", miss.lane.as_str())?;
        match miss.connection {
            Some(connection) => write!(f, " connection {connection} use {}", miss.uses)?,
            None => f.write_str(", no connection")?,
        }
        f.write_str("; due:")?;
        doing(f, account, miss, |miss, name| miss.states_due.get(name).map_or("", |doing| doing.as_str()))?;
        write!(f, "; after {}:", Length(miss.end_us.saturating_sub(miss.due_us)))?;
        doing(f, account, miss, |miss, name| miss.states_end.get(name).map_or("", |doing| doing.as_str()))
    }
}

fn doing(
    f: &mut fmt::Formatter<'_>,
    account: &Account<'_>,
    miss: &Miss<'_>,
    of: impl Fn(&Miss<'_>, &str) -> &'static str,
) -> fmt::Result {
    for (place, process) in account.processes.iter().enumerate() {
        let comma = if place > 0 { "," } else { "" };
        write!(f, "{comma} {}{GLUE}{}", process.name, of(miss, process.name))?;
    }
    Ok(())
}

fn fitness(record: &Record, fitness: &Fitness, lines: &mut Lines) {
    let options = &record.header.options;
    lines.add(
        "rehearsal",
        format_args!(
            "{} of {} sent later than {}; lateness {} in 99 of 100, {} at most",
            fitness.late_ticks,
            Ticks(record.ticks),
            Length(options.probe_timeout_us),
            Length(fitness.late_p99_us),
            Length(fitness.late_max_us)
        ),
    );
    lines.add(
        "",
        format_args!(
            "{} without outcome; control lane: {} asked, {} failed, slowest {}",
            Ticks(fitness.without_outcome),
            fitness.control,
            fitness.control_failed,
            Length(fitness.control_max_us)
        ),
    );
    lines.add(
        "",
        format_args!(
            "probes: {} judged more than {} late by us ({} at most), {} answered after their time, {} could not be \
             asked",
            fitness.late_probes,
            Length(PROBE_LATE_US),
            Length(fitness.late_probe_max_us),
            fitness.late_answers,
            fitness.faults
        ),
    );
    let machine = &fitness.machine;
    lines.add(
        "",
        format_args!(
            "descriptors: {} needed at most, {} allowed; {} client ports; {} self-connects; {} cores, {} busy threads",
            machine.descriptors_needed,
            machine.descriptors,
            machine.client_ports,
            fitness.self_connects,
            machine.cores,
            options.busy
        ),
    );
}

fn tell_what_if(what_if: &WhatIf, lines: &mut Lines) {
    let silences = match what_if.silences_to_leave {
        1 => "1 silence".into(),
        many => format!("{many} silences"),
    };
    let leaves = match what_if.leaves {
        1 => "1 leave".into(),
        many => format!("{many} leaves"),
    };
    let holds = what_if.holds_until_us.map_or_else(String::new, |at| {
        format!("; holds until {}, from when on the SIGTERM would have moved", Moment(at))
    });
    lines.add(
        "what if",
        format_args!("{silences} to leave: {leaves}, {} nobody, {} unknown{holds}", what_if.nobody, what_if.unknown),
    );
}

/// How many misses are shown.
pub const MAX_MISSES: usize = 20;

/// How many moves are shown: a roll has three, a member that flaps more.
const MAX_MOVES: usize = 40;

/// How many findings are shown beside the one that says why.
const MAX_FINDINGS: usize = 10;

/// How many characters of a command or of a line of last words are shown.
const MAX_COMMAND: usize = 200;

/// How many lines of last words are shown.
const MAX_LAST_LINES: usize = 10;

/// How many characters of an error's name are shown.
const MAX_ERROR: usize = 60;
