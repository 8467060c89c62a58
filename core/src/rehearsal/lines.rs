//! Lines of a text report: none wider than [`WIDTH`] columns, and nothing in them that a terminal obeys.

use alloc::string::String;
use core::fmt::{self, Write};

use crate::inert::Inert;

/// How many columns a line may have.
pub const WIDTH: usize = 100;

/// Holds two words together on one line.
pub(super) const GLUE: char = '\u{a0}';

/// Columns of a line's label: the longest class, and two spaces.
const LABEL: usize = 14;

/// Columns that a line has beside its label.
pub(super) const COLUMNS: usize = WIDTH - LABEL;

/// A text made of lines.
#[derive(Debug, Default)]
pub(super) struct Lines {
    text: String,
}

impl Lines {
    /// Adds a line of words beside a label; a longer one goes on under the end of the label. A [`GLUE`] is shown as
    /// a space at which no line ends.
    pub(super) fn add(&mut self, label: &str, words: fmt::Arguments<'_>) {
        let mut plain = String::new();
        // Writing to a string cannot fail.
        let _ = write!(plain, "{words}");
        let indent = LABEL;
        let mut column = indent;
        self.label(label);
        for (place, word) in plain.split(' ').enumerate() {
            let mut shown = String::new();
            let _ = write!(shown, "{}", Inert(word, MAX_WORD));
            let needed = width(&shown).saturating_add(usize::from(place > 0));
            if place > 0 && column.saturating_add(needed) > WIDTH && column > indent {
                self.go_on(indent);
                column = indent;
            } else if place > 0 {
                self.text.push(' ');
                column = column.saturating_add(1);
            }
            for character in shown.chars().map(|one| if one == GLUE { ' ' } else { one }) {
                let more = width_of(character);
                if column.saturating_add(more) > WIDTH {
                    self.go_on(indent);
                    column = indent;
                }
                self.text.push(character);
                column = column.saturating_add(more);
            }
        }
        self.end();
    }

    /// Adds a line of [`COLUMNS`] or fewer narrow characters beside a label.
    pub(super) fn add_columns(&mut self, label: &str, columns: impl Iterator<Item = char>) {
        self.label(label);
        self.text.extend(columns);
        self.end();
    }

    /// The whole text.
    pub(super) fn into_text(self) -> String {
        self.text
    }

    /// As much of a label as leaves two spaces behind it.
    fn label(&mut self, label: &str) {
        let mut shown = String::new();
        let _ = write!(shown, "{}", Inert(label, LABEL));
        let mut column: usize = 0;
        for character in shown.chars() {
            let next = column.saturating_add(width_of(character));
            if next > LABEL.saturating_sub(2) {
                break;
            }
            self.text.push(character);
            column = next;
        }
        self.text.extend(core::iter::repeat_n(' ', LABEL.saturating_sub(column)));
    }

    fn go_on(&mut self, indent: usize) {
        self.end();
        self.text.extend(core::iter::repeat_n(' ', indent));
    }

    fn end(&mut self) {
        self.text.truncate(self.text.trim_end_matches(' ').len());
        self.text.push('\n');
    }
}

/// How many columns a text takes, at most.
fn width(text: &str) -> usize {
    text.chars().fold(0, |sum: usize, one| sum.saturating_add(width_of(one)))
}

/// A character beyond ASCII may be a wide one; the few that the report itself uses are not.
fn width_of(character: char) -> usize {
    if character.is_ascii() || matches!(character, '…' | GLUE) { 1 } else { 2 }
}

/// How many characters of a word are shown.
const MAX_WORD: usize = 400;
