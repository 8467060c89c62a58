//! What is said of a rehearsal, by the one who ran it and by the one who reads its record.

use std::str::FromStr;

use clap::Args;
use greenlight_core::rehearsal::{self, Account, Record, junit, text};

use super::console::Console;
use super::outcome::{Failure, Outcome};

/// In which form it is said.
#[derive(Args, Clone, Copy, Debug)]
#[group(multiple = false)]
pub(crate) struct Form {
    /// Print one JSON object instead of the text
    #[arg(long)]
    json: bool,

    /// Print JUnit's XML instead of the text
    #[arg(long)]
    junit: bool,
}

impl Form {
    /// The form for people.
    #[cfg(test)]
    pub(crate) fn text() -> Self {
        Self { json: false, junit: false }
    }

    /// Whether it is one document, whatever it tells of.
    pub(crate) fn is_document(self) -> bool {
        self.junit
    }

    /// Whether people read it.
    pub(crate) fn is_text(self) -> bool {
        !self.json && !self.junit
    }

    /// Says what a record tells.
    pub(crate) fn say(self, record: &Record, console: &mut Console<'_>) -> Result<(), Failure> {
        if self.json {
            let object = serde_json::to_string(&Account::of(record)).map_err(Failure::not_found_out)?;
            console.say(object);
        } else if self.junit {
            console.write(junit(record).as_bytes());
        } else {
            console.write(text(record).as_bytes());
        }
        Ok(())
    }
}

/// The exit code of a rehearsal as that of a command.
pub(crate) fn outcome(word: rehearsal::Outcome) -> Outcome {
    match word {
        rehearsal::Outcome::Kept => Outcome::Yes,
        rehearsal::Outcome::Broken => Outcome::No,
        rehearsal::Outcome::Inconclusive => Outcome::NotFoundOut,
        rehearsal::Outcome::Incomplete => Outcome::Incomplete,
        rehearsal::Outcome::Interrupted => Outcome::Interrupted,
    }
}

/// A length of time in microseconds: as everywhere else, or as 10ms or 300us.
pub(crate) fn micros(text: &str) -> Result<i64, String> {
    let whole = |number: &str, unit_us: i64| {
        let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        let us = i64::from_str(number).ok().filter(|_| is_number).and_then(|number| number.checked_mul(unit_us));
        us.filter(|us| *us <= LONGEST_US).ok_or_else(|| format!("{text:?} is not a length of time: write 10ms or 2s"))
    };
    if let Some(number) = text.strip_suffix("ms") {
        whole(number, 1_000)
    } else if let Some(number) = text.strip_suffix("us") {
        whole(number, 1)
    } else {
        let secs = super::values::secs(text)?;
        whole(&secs.to_string(), 1_000_000)
    }
}

/// A day: no roll takes longer, and no sum of moments overflows.
const LONGEST_US: i64 = 24 * 60 * 60 * 1_000_000;

#[cfg(test)]
mod tests {
    use super::micros;

    #[test]
    fn lengths_of_time_may_be_shorter_than_a_second() {
        for (text, us) in
            [("10ms", 10_000), ("300us", 300), ("2s", 2_000_000), ("1m30s", 90_000_000), ("0ms", 0), ("5", 5_000_000)]
        {
            assert_eq!(micros(text), Ok(us), "{text}");
        }
        for bad in ["", "ms", "-1ms", "+1ms", "1.5s", "9999999999999ms", "2d", "1 ms"] {
            assert!(micros(bad).is_err(), "{bad}");
        }
    }
}
