//! The run in characters: a row for each process, one for its probes, and one for each class of misses.

use alloc::vec;
use alloc::vec::Vec;

use super::class::Class;
use super::length::{Length, Moment};
use super::lines::{COLUMNS, Lines};
use super::record::{Event, Record};
use super::states::{Doing, States, Turn};
use crate::rotation::Answer;

/// Adds the timeline of a record.
pub(super) fn draw(record: &Record, states: &States<'_>, lines: &mut Lines) {
    let scale = Scale::of(record);
    lines.add(
        "timeline",
        format_args!(
            "a column is {}; from {} to {}, 0 is the first due tick",
            Length(scale.step_us),
            Moment(scale.start_us()),
            Moment(record.end_us)
        ),
    );
    lines.add_columns("", scale.ruler());
    for planned in &record.header.processes {
        lines.add_columns(&planned.name, process(&scale, states, &planned.name));
        lines.add_columns("  probes", probes(&scale, record, &planned.name));
    }
    let mut is_clean = true;
    for class in Class::ALL.into_iter().filter(|class| *class != Class::Ok) {
        let mut counts = vec![0_u64; scale.columns];
        for tick in record.told_ticks().filter(|tick| tick.class == class) {
            if let Some(count) = counts.get_mut(scale.column(tick.due_us)) {
                *count = count.saturating_add(1);
            }
        }
        if counts.iter().any(|count| *count > 0) {
            is_clean = false;
            lines.add_columns(class.as_str(), counts.into_iter().map(digit));
        }
    }
    if is_clean {
        lines.add("missed", format_args!("none"));
    }
    lines.add(
        "",
        format_args!(
            "S start, : starting, J join, = in, T SIGTERM, ~ told to stop but in, L leave, - draining, . out, X exit, \
             K killed by the rehearsal; + ready, n not ready, r refused, c cut, s silent, l late answer, f fault; \
             misses: how many, # more than 9"
        ),
    );
}

/// Which moment is which column.
struct Scale {
    step_us: i64,
    first: i64,
    columns: usize,
}

impl Scale {
    /// The finest round step under which the whole run fits.
    fn of(record: &Record) -> Self {
        let start = record.events.iter().filter_map(Event::at_us).min().unwrap_or(0).min(0);
        let end = record.events.iter().filter_map(Event::at_us).max().unwrap_or(0).max(record.end_us).max(0);
        let mut step_us = FINEST_US;
        for factor in [2_i64, 5, 10].into_iter().cycle().take(MAX_STEPS) {
            let (first, last) = (start.div_euclid(step_us.max(1)), end.div_euclid(step_us.max(1)));
            let columns = last.saturating_sub(first).saturating_add(1);
            if let Ok(columns) = usize::try_from(columns)
                && columns <= COLUMNS
            {
                return Self { step_us, first, columns };
            }
            // 1, 2, 5, 10, 20, 50 …: the next round number from the last power of ten.
            let power = power_of_ten(step_us);
            step_us = power.saturating_mul(if factor == 2 { 2 } else { factor });
        }
        Self { step_us: i64::MAX, first: -1, columns: 2 }
    }

    fn start_us(&self) -> i64 {
        self.first.saturating_mul(self.step_us)
    }

    fn column(&self, at_us: i64) -> usize {
        let place = at_us.div_euclid(self.step_us.max(1)).saturating_sub(self.first);
        usize::try_from(place).unwrap_or(0).min(self.columns.saturating_sub(1))
    }

    /// The last moment of a column.
    fn end_of(&self, column: usize) -> i64 {
        let place = self.first.saturating_add(i64::try_from(column).unwrap_or(i64::MAX)).saturating_add(1);
        place.saturating_mul(self.step_us).saturating_sub(1)
    }

    /// A mark every ten columns, counted from the first due tick.
    fn ruler(&self) -> impl Iterator<Item = char> {
        let first = self.first;
        (0_i64..).take(self.columns).map(move |column| match column.saturating_add(first) {
            0 => '0',
            place if place.rem_euclid(10) == 0 => '|',
            _ => ' ',
        })
    }
}

fn power_of_ten(step_us: i64) -> i64 {
    10_i64.saturating_pow(step_us.max(1).ilog10())
}

fn process(scale: &Scale, states: &States<'_>, name: &str) -> impl Iterator<Item = char> {
    let mut row: Vec<(Option<Turn>, char)> =
        (0..scale.columns).map(|column| (None, doing_as_char(states.at(name, scale.end_of(column))))).collect();
    for (at, turn, _) in states.turns(name) {
        if let Some((shown, character)) = row.get_mut(scale.column(*at))
            && shown.is_none_or(|shown| shown < *turn)
        {
            *shown = Some(*turn);
            *character = turn_as_char(*turn);
        }
    }
    row.into_iter().map(|(_, character)| character)
}

fn probes(scale: &Scale, record: &Record, name: &str) -> impl Iterator<Item = char> {
    let mut row = vec![0_usize; scale.columns];
    for event in &record.events {
        let rank = match event {
            Event::Probe { answer, .. } => answer_as_char(answer),
            Event::Late { .. } => 'l',
            Event::Header(_)
            | Event::Started { .. }
            | Event::Sigterm { .. }
            | Event::Exited { .. }
            | Event::Killed { .. }
            | Event::LastWords { .. }
            | Event::Elsewhere { .. }
            | Event::Expected { .. }
            | Event::Move { .. }
            | Event::Tried { .. }
            | Event::Tick(_)
            | Event::Control { .. }
            | Event::End { .. } => continue,
        };
        let rank = PROBES.iter().position(|one| *one == rank).unwrap_or(0);
        if let (Some(at_us), true) = (event.at_us(), event.process() == Some(name))
            && let Some(shown) = row.get_mut(scale.column(at_us))
        {
            *shown = rank.max(*shown);
        }
    }
    row.into_iter().map(|rank| PROBES.get(rank).copied().unwrap_or(' '))
}

const fn doing_as_char(doing: Doing) -> char {
    match doing {
        Doing::NotStarted | Doing::Exited | Doing::Killed => ' ',
        Doing::Starting => ':',
        Doing::In => '=',
        Doing::Out => '.',
        Doing::Told => '~',
        Doing::Draining => '-',
    }
}

const fn turn_as_char(turn: Turn) -> char {
    match turn {
        Turn::Start => 'S',
        Turn::Join => 'J',
        Turn::Sigterm => 'T',
        Turn::Kill => 'K',
        Turn::Exit => 'X',
        Turn::Leave => 'L',
    }
}

const fn answer_as_char(answer: &Answer) -> char {
    match answer {
        Answer::Ready { .. } => '+',
        Answer::Fault { .. } => 'f',
        Answer::Silent { .. } => 's',
        Answer::NotReady { .. } => 'n',
        Answer::Refused { .. } => 'r',
        Answer::Cut { .. } => 'c',
    }
}

fn digit(count: u64) -> char {
    match u32::try_from(count).ok().and_then(|count| char::from_digit(count, 10)) {
        Some('0') => ' ',
        Some(digit) => digit,
        None => '#',
    }
}

/// What a column of probes shows, the most telling last; nothing first.
const PROBES: [char; 8] = [' ', '+', 'l', 'f', 's', 'n', 'r', 'c'];

/// No column is finer than a millisecond.
const FINEST_US: i64 = 1_000;

/// Enough round steps for the longest run that integers tell.
const MAX_STEPS: usize = 64;
