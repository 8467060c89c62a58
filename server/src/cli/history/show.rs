//! How a replay is shown: as a table for people, as JSON lines or CSV for programs.

use std::fmt;

use greenlight_core::history::{DifferenceSpan, Event, Head, Line, Lives, Sums, Sweep, Told, Window};
use greenlight_core::{Horizon, Name, UnixSeconds};

use crate::cli::console::{Console, inert};
use crate::cli::values::exact_horizon;
use crate::utc::Utc;

/// In which form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// For people.
    Table,
    /// Every span and the sums, a line each.
    Json,
    /// The sums.
    Csv,
}

/// A replay that is being shown.
pub(super) struct Showing {
    sweep: Sweep,
    told: Shown,
}

/// What has been shown of it, or is kept to be.
struct Shown {
    form: Form,
    window: Window,
    horizons: Vec<Horizon>,
    sums: Vec<Sums>,
    /// Of each horizon but the first: where it differs from the first.
    differences: Vec<Differences>,
    /// Lines that have not been written yet.
    waiting: String,
}

#[derive(Clone, Default)]
struct Differences {
    first: Vec<DifferenceSpan>,
    count: u64,
    secs: u64,
}

impl Showing {
    pub(super) fn begin(head: &Head, horizons: Vec<Horizon>, form: Form, lives: Lives) -> Self {
        let window = Window { from: head.from_unix, to: head.to_unix };
        let mut sweep = Sweep::new(window, &horizons, lives);
        for other in 1..horizons.len() {
            sweep = sweep.comparing(0, other);
        }
        let told = Shown {
            form,
            window,
            sums: vec![Sums::default(); horizons.len()],
            differences: vec![Differences::default(); horizons.len()],
            horizons,
            waiting: String::new(),
        };
        Self { sweep, told }
    }

    pub(super) fn push(&mut self, event: &Event, console: &mut Console<'_>) {
        let Self { sweep, told } = self;
        sweep.push(event, &mut |span| told.take(&span));
        told.write_if(MOST_WAITING, console);
    }

    pub(super) fn finish(self, known_until: UnixSeconds, console: &mut Console<'_>) {
        let Self { sweep, mut told } = self;
        sweep.finish(known_until, &mut |span| told.take(&span));
        match told.form {
            Form::Table => told.table(),
            Form::Json => {
                for (horizon, sums) in told.horizons.iter().zip(&told.sums) {
                    told.waiting.push_str(&format!("{}\n", Line::Sums { sums, horizon: *horizon }));
                }
            }
            Form::Csv => told.csv(),
        }
        told.write_if(0, console);
    }
}

impl Shown {
    fn take(&mut self, told: &Told) {
        for (lane, sums) in self.sums.iter_mut().enumerate() {
            sums.add(lane, told);
        }
        if self.form == Form::Json {
            self.waiting.push_str(&format!("{}\n", Line::Span { told, horizons: &self.horizons }));
        }
        if let Told::Difference(span) = told
            && let Some(differences) = self.differences.get_mut(span.ready.max(span.not_ready))
        {
            differences.count += 1;
            differences.secs = differences.secs.saturating_add(span.from.age(span.to));
            if differences.first.len() < MOST_DIFFERENCES {
                differences.first.push(span.clone());
            }
        }
    }

    fn write_if(&mut self, more_than: usize, console: &mut Console<'_>) {
        if self.waiting.len() > more_than {
            console.write(self.waiting.as_bytes());
            self.waiting.clear();
        }
    }

    fn table(&mut self) {
        let Window { from, to } = self.window;
        let mut text = format!(
            "{} up to {}. Lengths are h:mm:ss; vetoed and masked are those of all instances together.\n\n",
            Utc(from),
            Utc(to)
        );
        let mut rows = vec![HEADINGS.map(str::to_owned)];
        for (horizon, sums) in self.horizons.iter().zip(&self.sums) {
            let (verdict, instances) = (&sums.verdict, sums.of_all_instances());
            rows.push([
                exact_horizon(*horizon),
                Length(verdict.ready_secs).to_string(),
                Length(verdict.not_ready_secs).to_string(),
                Length(verdict.not_watched_secs).to_string(),
                verdict.flips.to_string(),
                Length(verdict.longest_not_ready_secs).to_string(),
                Length(instances.vetoed_secs).to_string(),
                Length(instances.masked_secs).to_string(),
            ]);
        }
        let widths = HEADINGS.map(|_| 0);
        let widths = rows.iter().fold(widths, |mut widths, row| {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = cell.len().max(*width);
            }
            widths
        });
        for row in &rows {
            for (place, (cell, width)) in row.iter().zip(widths).enumerate() {
                // What is named stands left, what is counted right.
                let cell = if place == 0 { format!("{cell:<width$}") } else { format!("  {cell:>width$}") };
                text.push_str(&cell);
            }
            text.push('\n');
        }
        for (lane, differences) in self.differences.iter().enumerate().skip(1) {
            text.push_str(&self.told_difference(lane, differences));
        }
        self.waiting.push_str(&text);
    }

    fn told_difference(&self, lane: usize, differences: &Differences) -> String {
        let word = |lane: usize| self.horizons.get(lane).map_or_else(String::new, |horizon| exact_horizon(*horizon));
        if differences.count == 0 {
            return format!("\n{} says the same as {} throughout.\n", word(lane), word(0));
        }
        let spans = if differences.count == 1 { "span" } else { "spans" };
        let mut text = format!(
            "\n{} differs from {} for {} in {} {spans}:\n",
            word(lane),
            word(0),
            Length(differences.secs),
            differences.count
        );
        for span in &differences.first {
            let more = if span.rows.more > 0 { format!(" and {} more", span.rows.more) } else { String::new() };
            let names: Vec<&str> = span.rows.names.iter().map(Name::as_str).collect();
            text.push_str(&format!(
                "  {}  {:>9}  not ready under {}: {}{more}\n",
                Utc(span.from),
                Length(span.from.age(span.to)).to_string(),
                word(span.not_ready),
                inert(&names.join(", ")),
            ));
        }
        let left = differences.count.saturating_sub(differences.first.len() as u64);
        if left > 0 {
            text.push_str(&format!("  and {left} more: --json tells all of them\n"));
        }
        text
    }

    fn csv(&mut self) {
        let mut text = String::from(
            "stale_after_secs,ready_secs,not_ready_secs,not_watched_secs,flips,longest_not_ready_secs,vetoed_secs,masked_secs,differs_secs\n",
        );
        for ((horizon, sums), differences) in self.horizons.iter().zip(&self.sums).zip(&self.differences) {
            let (verdict, instances) = (&sums.verdict, sums.of_all_instances());
            let horizon = match horizon {
                Horizon::After(secs) => secs.to_string(),
                Horizon::Never => "never".to_owned(),
            };
            text.push_str(&format!(
                "{horizon},{},{},{},{},{},{},{},{}\n",
                verdict.ready_secs,
                verdict.not_ready_secs,
                verdict.not_watched_secs,
                verdict.flips,
                verdict.longest_not_ready_secs,
                instances.vetoed_secs,
                instances.masked_secs,
                differences.secs,
            ));
        }
        self.waiting.push_str(&text);
    }
}

/// A length of time to the second: `167:00:12`.
struct Length(u64);

impl fmt::Display for Length {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{:02}:{:02}", self.0 / 3_600, self.0 / 60 % 60, self.0 % 60)
    }
}

const HEADINGS: [&str; 8] =
    ["stale after", "ready", "not ready", "not watched", "flips", "longest red", "vetoed", "masked"];
/// As many differences as fit a screen.
const MOST_DIFFERENCES: usize = 20;
/// What a write takes at once.
const MOST_WAITING: usize = 64 << 10;
