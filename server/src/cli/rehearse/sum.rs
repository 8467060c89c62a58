//! What several runs of a rehearsal came to together.

use greenlight_core::rehearsal::{self, Classes, Record, Suites, summarize};

use crate::cli::outcome::Outcome;
use crate::cli::rehearsed::outcome;

/// What several runs came to.
pub(super) struct Sum {
    pub(super) words: Vec<rehearsal::Outcome>,
    ticks: u64,
    lost: u64,
    missed: u64,
    /// The smallest that was measured.
    margin_us: Option<i64>,
    /// The one document of all, where that is wanted.
    pub(super) suites: Option<Suites>,
    pub(super) is_whole: bool,
}

impl Default for Sum {
    fn default() -> Self {
        Self { words: Vec::new(), ticks: 0, lost: 0, missed: 0, margin_us: None, suites: None, is_whole: true }
    }
}

impl Sum {
    pub(super) fn take(&mut self, record: &Record) -> rehearsal::Outcome {
        let summary = summarize(record);
        self.words.push(summary.outcome);
        self.ticks = self.ticks.saturating_add(summary.ticks);
        self.lost = self.lost.saturating_add(Classes::lost(&summary.totals));
        self.missed = self.missed.saturating_add(summary.missed);
        self.margin_us = match (self.margin_us, summary.drain_margin_us) {
            (Some(least), Some(this)) => Some(least.min(this)),
            (least, this) => least.or(this),
        };
        summary.outcome
    }

    /// How many runs came to a word.
    fn runs(&self, word: rehearsal::Outcome) -> usize {
        self.words.iter().filter(|one| **one == word).count()
    }

    fn gravest(&self) -> Option<rehearsal::Outcome> {
        BY_WEIGHT.into_iter().find(|word| self.words.contains(word))
    }

    /// The last line of `--json`.
    pub(super) fn object(&self) -> serde_json::Value {
        let words = BY_WEIGHT.into_iter().rev();
        let outcomes: serde_json::Map<_, _> =
            words.map(|word| (word.as_str().to_owned(), self.runs(word).into())).collect();
        serde_json::json!({
            "runs": self.words.len(),
            "outcome": self.gravest(),
            "exit": self.outcome().exit_code(),
            "outcomes": outcomes,
            "ticks": self.ticks,
            "lost": self.lost,
            "missed": self.missed,
            "drain_margin_us": self.margin_us,
        })
    }

    pub(super) fn line(&self) -> String {
        let counted = BY_WEIGHT.into_iter().rev().filter_map(|word| {
            let runs = self.runs(word);
            (runs > 0).then(|| format!("{runs} {}", word.as_str()))
        });
        let counted: Vec<String> = counted.collect();
        let margin = match self.margin_us {
            Some(us) => format!("{} at least", rehearsal::Length(us)),
            None => "not measured".into(),
        };
        format!(
            "{} runs: {}; {} ticks, {} lost, {} missed; drain margin {margin}",
            self.words.len(),
            counted.join(", "),
            self.ticks,
            self.lost,
            self.missed
        )
    }

    /// The gravest of all.
    pub(super) fn outcome(&self) -> Outcome {
        match self.gravest().map_or(Outcome::NotFoundOut, outcome) {
            // A record that was asked for and is not there is no success.
            Outcome::Yes if !self.is_whole => Outcome::NotFoundOut,
            word => word,
        }
    }
}

/// As the exit codes of one run weigh.
const BY_WEIGHT: [rehearsal::Outcome; 5] = [
    rehearsal::Outcome::Interrupted,
    rehearsal::Outcome::Incomplete,
    rehearsal::Outcome::Broken,
    rehearsal::Outcome::Inconclusive,
    rehearsal::Outcome::Kept,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gravest_run_decides() {
        use rehearsal::Outcome as Word;
        let exit = |words: &[Word]| Sum { words: words.into(), ..Sum::default() }.outcome().exit_code();
        assert_eq!(exit(&[Word::Kept, Word::Kept]), 0);
        assert_eq!(exit(&[Word::Kept, Word::Inconclusive]), 3);
        assert_eq!(exit(&[Word::Broken, Word::Inconclusive]), 1);
        assert_eq!(exit(&[Word::Broken, Word::Incomplete]), 4);
        assert_eq!(exit(&[Word::Interrupted, Word::Incomplete]), 130);
        assert_eq!(Sum { words: vec![Word::Kept], is_whole: false, ..Sum::default() }.outcome().exit_code(), 3);
    }
}
