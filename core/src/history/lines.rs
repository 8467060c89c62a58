//! Spans and sums as JSON lines: the same bytes wherever they are written, for whoever reads them by program.

use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt::{self, Write};

use super::event::Event;
use super::lives::Lives;
use super::replay::Sweep;
use super::span::{Blame, Said, Told, Window};
use super::sums::{InstanceSums, Sums};
use crate::inert::JsonEscaped;
use crate::name::is_invisible;
use crate::time::{Horizon, UnixSeconds};

/// What is asked of a record that is there as a whole.
#[derive(Clone, Debug, serde::Deserialize)]
pub struct Question {
    /// The window's first second.
    pub from_unix: UnixSeconds,
    /// The first second after it.
    pub to_unix: UnixSeconds,
    /// The horizons; null is never. The first one is compared with each of the others.
    pub stale_after_secs: Vec<Horizon>,
    /// What happened, in the order in which it was recorded.
    pub events: Vec<Event>,
    /// Before which second the record is known to be complete; the end of the window if left out.
    #[serde(default)]
    pub known_until_unix: Option<UnixSeconds>,
}

/// Every span as a line, in the order in which they end, then the sums of each horizon.
pub fn answer(question: &Question) -> String {
    let window = Window { from: question.from_unix, to: question.to_unix };
    let horizons = &question.stale_after_secs;
    let mut known = Lives::default();
    for event in &question.events {
        known.note(event);
    }
    let mut sums = vec![Sums::default(); horizons.len()];
    let mut lines = String::new();
    let mut tell = |told: Told| {
        for (lane, sums) in sums.iter_mut().enumerate() {
            sums.add(lane, &told);
        }
        // Writing to a string cannot fail.
        let _ = writeln!(lines, "{}", Line::Span { told: &told, horizons });
    };
    let mut sweep = Sweep::new(window, horizons, known);
    for other in 1..horizons.len() {
        sweep = sweep.comparing(0, other);
    }
    for event in &question.events {
        sweep.push(event, &mut tell);
    }
    sweep.finish(question.known_until_unix.unwrap_or(window.to), &mut tell);
    for (horizon, sums) in horizons.iter().zip(&sums) {
        let _ = writeln!(lines, "{}", Line::Sums { sums, horizon: *horizon });
    }
    lines
}

/// One line of JSON, without its end.
#[derive(Clone, Copy, Debug)]
pub enum Line<'a> {
    /// A span.
    Span {
        /// Which.
        told: &'a Told,
        /// The list that the sweep was given.
        horizons: &'a [Horizon],
    },
    /// What the spans under one horizon add up to.
    Sums {
        /// What.
        sums: &'a Sums,
        /// Which horizon.
        horizon: Horizon,
    },
}

impl fmt::Display for Line<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Span { told: Told::Verdict(span), horizons } => {
                f.write_str("{\"span\":\"verdict\"")?;
                write_horizon(f, "stale_after_secs", horizons.get(span.lane))?;
                write_span(f, span.from, span.to)?;
                match &span.said {
                    Said::Ready => f.write_str(",\"said\":\"ready\"")?,
                    Said::NotReady { reason, blame } => {
                        write!(f, ",\"said\":\"not_ready\",\"reason\":\"{}\"", reason.as_str())?;
                        write_blame(f, "blame", blame)?;
                    }
                    Said::NotWatching => f.write_str(",\"said\":\"not_watching\"")?,
                }
            }
            Self::Span { told: Told::Standing(span), horizons } => {
                write!(f, "{{\"span\":\"standing\",\"name\":{}", Quoted(&span.name))?;
                write_horizon(f, "stale_after_secs", horizons.get(span.lane))?;
                write_span(f, span.from, span.to)?;
                write!(f, ",\"stood\":\"{}\",\"serving_sha\":", span.stood.as_str())?;
                match &span.serving_sha {
                    Some(sha) => write!(f, "{}", Quoted(sha))?,
                    None => f.write_str("null")?,
                }
            }
            Self::Span { told: Told::Difference(span), horizons } => {
                f.write_str("{\"span\":\"difference\"")?;
                write_horizon(f, "ready_under_secs", horizons.get(span.ready))?;
                write_horizon(f, "not_ready_under_secs", horizons.get(span.not_ready))?;
                write_span(f, span.from, span.to)?;
                write_blame(f, "rows", &span.rows)?;
            }
            Self::Sums { sums, horizon } => {
                f.write_str("{\"sums\":\"verdict\"")?;
                write_horizon(f, "stale_after_secs", Some(horizon))?;
                write!(
                    f,
                    ",\"ready_secs\":{},\"not_ready_secs\":{},\"not_watched_secs\":{},\"flips\":{},\"longest_not_ready_secs\":{}",
                    sums.verdict.ready_secs,
                    sums.verdict.not_ready_secs,
                    sums.verdict.not_watched_secs,
                    sums.verdict.flips,
                    sums.verdict.longest_not_ready_secs,
                )?;
                f.write_str(",\"all_instances\":{")?;
                write_instance(f, &sums.of_all_instances())?;
                f.write_str("},\"instances\":[")?;
                for (index, (name, sums)) in sums.instances.iter().enumerate() {
                    let comma = if index == 0 { "" } else { "," };
                    write!(f, "{comma}{{\"name\":{},", Quoted(name))?;
                    write_instance(f, sums)?;
                    f.write_str("}")?;
                }
                f.write_str("]")?;
            }
        }
        f.write_str("}")
    }
}

fn write_horizon(f: &mut fmt::Formatter<'_>, key: &str, horizon: Option<&Horizon>) -> fmt::Result {
    match horizon {
        Some(Horizon::After(secs)) => write!(f, ",\"{key}\":{secs}"),
        Some(Horizon::Never) | None => write!(f, ",\"{key}\":null"),
    }
}

fn write_span(f: &mut fmt::Formatter<'_>, from: UnixSeconds, to: UnixSeconds) -> fmt::Result {
    write!(f, ",\"from_unix\":{from},\"to_unix\":{to}")
}

fn write_blame(f: &mut fmt::Formatter<'_>, key: &str, blame: &Blame) -> fmt::Result {
    write!(f, ",\"{key}\":[")?;
    for (index, name) in blame.names.iter().enumerate() {
        let comma = if index == 0 { "" } else { "," };
        write!(f, "{comma}{}", Quoted(name))?;
    }
    write!(f, "],\"more\":{}", blame.more)
}

fn write_instance(f: &mut fmt::Formatter<'_>, sums: &InstanceSums) -> fmt::Result {
    write!(
        f,
        "\"serving_secs\":{},\"vetoed_secs\":{},\"masked_secs\":{},\"never_green_secs\":{},\"not_watched_secs\":{}",
        sums.serving_secs, sums.vetoed_secs, sums.masked_secs, sums.never_green_secs, sums.not_watched_secs,
    )
}

/// A text as a JSON string that is safe to print.
struct Quoted<'a>(&'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('"')?;
        for character in self.0.chars() {
            match character {
                '"' => f.write_str("\\\"")?,
                '\\' => f.write_str("\\\\")?,
                hidden if is_invisible(hidden) => write!(f, "{}", JsonEscaped(hidden))?,
                other => f.write_char(other)?,
            }
        }
        f.write_char('"')
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn any_text_is_a_json_string() {
        for text in [
            "plain",
            "quote \" and \\",
            "line\nend\r\ttab\u{0}\u{1f}",
            "é ж 漢 🟢",
            "</script>",
            "\u{202e}\u{7f}\u{9b}\u{e0041}",
        ] {
            let quoted = Quoted(text).to_string();
            assert!(!quoted.chars().any(is_invisible), "{quoted:?}");
            assert_eq!(serde_json::from_str::<String>(&quoted).unwrap(), text);
        }
    }
}
