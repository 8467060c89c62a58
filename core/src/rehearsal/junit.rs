//! The report of a rehearsal for what collects test results: one case for the roll, one for each class that
//! breaks the promise, one for the rehearsal itself.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::{self, Write};

use super::class::Class;
use super::finding::Ticks;
use super::record::{Ending, Record};
use super::summary::{Summary, breaks, summarize};
use super::text::text;
use crate::name::is_invisible;

/// The whole document of one run. It has a failure or an error exactly where the exit code is not 0.
pub fn junit(record: &Record) -> String {
    let mut suites = Suites::default();
    suites.add(NAME, record);
    suites.into_xml()
}

/// One document of several runs, each a suite of its own.
#[derive(Debug, Default)]
pub struct Suites {
    xml: String,
    tests: usize,
    failures: usize,
    errors: usize,
    time_us: i64,
}

impl Suites {
    /// Adds a run under a name.
    pub fn add(&mut self, name: &str, record: &Record) {
        let summary = summarize(record);
        let cases = cases(record, &summary);
        let number = |wanted: fn(&Word) -> bool| cases.iter().filter(|(_, word)| wanted(word)).count();
        let failures = number(|word| matches!(word, Word::Failed(_)));
        let errors = number(|word| matches!(word, Word::Unknown(_)));
        let counts = counts(cases.len(), failures, errors, record.end_us);
        let xml = &mut self.xml;
        xml.push_str(&format!("  <testsuite name=\"{}\" {counts}>\n", Escaped(name)));
        for (name, word) in &cases {
            let open = format!("    <testcase classname=\"greenlight.rehearse\" name=\"{}\"", Escaped(name));
            match word {
                Word::Passed => xml.push_str(&format!("{open}/>\n")),
                Word::Failed(why) => {
                    xml.push_str(&format!("{open}>\n      <failure message=\"{}\"/>\n    </testcase>\n", Escaped(why)));
                }
                Word::Unknown(why) => {
                    xml.push_str(&format!("{open}>\n      <error message=\"{}\"/>\n    </testcase>\n", Escaped(why)));
                }
            }
        }
        xml.push_str(&format!("    <system-out>{}</system-out>\n", Escaped(&text(record))));
        xml.push_str("  </testsuite>\n");
        self.tests = self.tests.saturating_add(cases.len());
        self.failures = self.failures.saturating_add(failures);
        self.errors = self.errors.saturating_add(errors);
        self.time_us = self.time_us.saturating_add(record.end_us.max(0));
    }

    /// The whole document.
    pub fn into_xml(self) -> String {
        let counts = counts(self.tests, self.failures, self.errors, self.time_us);
        let mut xml = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
        xml.push_str(&format!("<testsuites name=\"{NAME}\" {counts}>\n{}</testsuites>\n", self.xml));
        xml
    }
}

fn counts(tests: usize, failures: usize, errors: usize, time_us: i64) -> String {
    format!("tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\" time=\"{}\"", Seconds(time_us))
}

const NAME: &str = "greenlight rehearse";

/// The word on one case.
enum Word {
    Passed,
    Failed(String),
    Unknown(String),
}

fn cases(record: &Record, summary: &Summary) -> Vec<(String, Word)> {
    let mut cases = Vec::new();
    let roll = match &record.ending {
        Some(Ending::Complete) => Word::Passed,
        Some(Ending::Incomplete { .. }) => Word::Failed(summary.why.clone()),
        Some(Ending::Interrupted | Ending::Failed { .. }) | None => Word::Unknown(summary.why.clone()),
    };
    cases.push(("the roll completes".into(), roll));
    for class in Class::ALL.into_iter().filter(|class| !matches!(class, Class::Ok | Class::Ours)) {
        let ticks = summary.totals.of(class);
        let word = if breaks(class, ticks, &record.header.options) {
            Word::Failed(format!("{}: {}", Ticks(ticks), summary.why))
        } else {
            Word::Passed
        };
        cases.push((format!("no tick is {}", class.as_str()), word));
    }
    let unsaid = summary.findings.iter().find(|finding| finding.breaks_alone());
    let unsaid = unsaid.map_or(Word::Passed, |finding| Word::Failed(format!("{finding}")));
    cases.push(("no listener closes before it says no".into(), unsaid));
    let ours = summary.totals.of(Class::Ours);
    let fit = if ours > 0 || summary.fitness.is_unfit(record.ticks) {
        Word::Unknown(format!(
            "{} ours, {} late, {} of the control lane failed, of {}",
            ours,
            summary.fitness.late_ticks,
            summary.fitness.control_failed,
            Ticks(record.ticks)
        ))
    } else {
        Word::Passed
    };
    cases.push(("the rehearsal is fit to judge".into(), fit));
    cases
}

/// Microseconds as seconds, at least 0.
struct Seconds(i64);

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let us = self.0.max(0).unsigned_abs();
        write!(f, "{}.{:06}", us / 1_000_000, us % 1_000_000)
    }
}

/// A text inside XML: what has a meaning there is named, what must not stand there is shown as its number.
struct Escaped<'a>(&'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for character in self.0.chars() {
            match character {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\n' => f.write_char('\n')?,
                '\u{FFFE}' | '\u{FFFF}' => write!(f, "{}", character.escape_unicode())?,
                hidden if is_invisible(hidden) => write!(f, "{}", hidden.escape_unicode())?,
                shown => f.write_char(shown)?,
            }
        }
        Ok(())
    }
}
