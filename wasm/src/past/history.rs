//! A window of history inside wasm: taken in line by line, kept, and replayed under any horizons.
//!
//! Texts stay on the other side. A replay has to tell names and shas apart and nothing else, so here they are
//! numbers in the guise of names: each text is checked once, when it first comes.

use alloc::vec::Vec;
use core::fmt;

use greenlight_core::history::{
    Blame, Course, DifferenceSpan, Entry, Expected, MAX_LINE_BYTES, ReadError, ReadProblem, Reader, Said, Tail,
    VerdictSpan, Window, differences,
};
use greenlight_core::{Horizon, Name, UnixSeconds};
use wasm_bindgen::prelude::*;

use super::numbers::Numbers;
use super::replayed::{Replayed, WORDS, number_of};
use crate::number::{as_number, saturating};

/// A window of history. What stands for a text is a number, in the order in which texts first came.
#[wasm_bindgen]
pub struct History {
    reader: Reader,
    course: Course,
    /// When the last event was.
    newest: UnixSeconds,
    /// A name for each number.
    aliases: Vec<Name>,
    /// What was replayed last, and its verdicts.
    window: Window,
    own: Vec<VerdictSpan<usize>>,
    /// What it was compared with last, and where they differ.
    other: Vec<VerdictSpan<usize>>,
    differences: Vec<DifferenceSpan<usize>>,
}

#[wasm_bindgen(typescript_custom_section)]
const TYPES: &'static str = "
/** What a span of the past tells. */
export type PastWord = 'ready' | 'live_degraded' | 'nothing_serving' | 'not_watching' | 'serving' | 'stale_degraded' | 'never_green';
";

#[wasm_bindgen]
impl History {
    /// Nothing read yet.
    #[wasm_bindgen(constructor)]
    #[expect(clippy::new_without_default, reason = "JavaScript has no default")]
    pub fn new() -> Self {
        Self {
            reader: Reader::default(),
            course: Course::new(),
            newest: UnixSeconds::default(),
            aliases: Vec::new(),
            window: Window { from: UnixSeconds::default(), to: UnixSeconds::default() },
            own: Vec::new(),
            other: Vec::new(),
            differences: Vec::new(),
        }
    }

    /// Takes in what was read. `what` says what `text` and `numbers` are; a number below 0 is that there is none.
    ///
    /// | what | text | numbers |
    /// |---|---|---|
    /// | `schema` | that of the first line | |
    /// | `head` | its schema | from, to, known until, horizon, complete from |
    /// | `events` | | any number of them: see `Numbers::event` |
    /// | `end` | | how many events there were, where the answer goes on |
    /// | `wrong` | why the next line is none | above 0 where the line had an end |
    /// | `long` | | the length of the next line |
    /// | `over` | | no line follows |
    /// | `instance`, `source` | the name of one | |
    ///
    /// # Errors
    /// The line and what is wrong with it; what was taken in before stays as it was. That a name is none.
    pub fn take(&mut self, what: &str, text: &str, numbers: &[f64]) -> Result<(), JsError> {
        self.taken(what, text, Numbers(numbers)).map_err(|error| JsError::new(&error.words()))
    }

    /// The words for what spans tell, by number.
    #[wasm_bindgen(unchecked_return_type = "PastWord[]")]
    pub fn words(&self) -> Vec<JsValue> {
        WORDS.iter().map(|word| JsValue::from_str(word)).collect()
    }

    /// Replays the window from one second up to another, not included, under a horizon: seconds, infinity is never; so
    /// many names are known. What is no moment is taken as the nearest one. Gives numbers:
    ///
    /// - the second before which the record is known to be complete; of a part, its newest event;
    /// - the sums of the verdict, in seconds: ready, not ready, not watched, flips, which is a number, and longest not
    ///   ready;
    /// - how many spans there are of the verdict, and of differences;
    /// - for each name: serving, vetoed, masked, never green, not watched, and how many spans there are of it;
    /// - the spans in the order in which they end, four numbers each: of the verdict, then of each name.
    ///
    /// | | from | to | what | of what |
    /// |---|---|---|---|---|
    /// | of the verdict | seconds | seconds | its word | see `blame` |
    /// | of a name | seconds | seconds | its word | the number of its sha; -1 is none |
    pub fn replay(&mut self, from: f64, to: f64, stale_after: f64, names: usize) -> Vec<f64> {
        self.window = Window { from: UnixSeconds::new(saturating(from)), to: UnixSeconds::new(saturating(to)) };
        let replayed = self.replayed(stale_after, names);
        let numbers = replayed.numbers(0, &[], self.is_known_until());
        self.own = replayed.verdicts;
        self.other = Vec::new();
        self.differences = Vec::new();
        numbers
    }

    /// Replays the window of the last replay under another horizon, and gives the same of that. Last come the spans in
    /// which the two differ:
    ///
    /// | | from | to | what | of what |
    /// |---|---|---|---|---|
    /// | of a difference | seconds | seconds | which is ready: 0 the first, 1 this one | see `blame` |
    pub fn compare(&mut self, stale_after: f64, names: usize) -> Vec<f64> {
        let replayed = self.replayed(stale_after, names);
        let mut differ = Vec::new();
        differences(&self.own, &replayed.verdicts, |span| differ.push(span));
        let numbers = replayed.numbers(self.own.len(), &differ, self.is_known_until());
        self.other = replayed.verdicts;
        self.differences = differ;
        numbers
    }

    /// The rows behind a span of the verdict or of a difference: how many there are beyond those that are named, and the
    /// numbers of their names.
    pub fn blame(&self, place: usize) -> Vec<f64> {
        let Some(blame) = self.blamed(place) else { return Vec::new() };
        let numbers = self.numbers_of_places();
        let names = blame.names.iter().filter_map(|place| numbers.get(*place)).copied().map(f64::from);
        core::iter::once(as_number(blame.more)).chain(names).collect()
    }
}

impl History {
    fn replayed(&self, stale_after: f64, names: usize) -> Replayed {
        let mut replayed = Replayed::new(names, self.course.len());
        let numbers = self.numbers_of_places();
        let mut tell = |told| replayed.take(told, &numbers);
        self.course.replay(self.window, horizon(stale_after), self.is_known_until(), &mut tell);
        replayed
    }

    /// The rows behind a span: those of the first replay, of the other, and of the differences have places in that order.
    fn blamed(&self, place: usize) -> Option<&Blame<usize>> {
        let beyond = place.checked_sub(self.own.len());
        let span = beyond.map_or_else(|| self.own.get(place), |place| self.other.get(place));
        match (span.map(|span| &span.said), beyond) {
            (Some(Said::NotReady { blame, .. }), _) => Some(blame),
            (Some(Said::Ready | Said::NotWatching), _) | (None, None) => None,
            (None, Some(place)) => self.differences.get(place.checked_sub(self.other.len())?).map(|span| &span.rows),
        }
    }

    /// The number of who has each place.
    fn numbers_of_places(&self) -> Vec<u32> {
        self.course.names().map(|alias| number_of(alias)).collect()
    }

    fn taken(&mut self, what: &str, text: &str, mut numbers: Numbers<'_>) -> Result<(), ReadError> {
        match what {
            "head" => {
                let head = numbers.head(text.into()).ok_or_else(|| self.reader.refused(ReadProblem::NoHead))?;
                self.reader.take(Entry::Head(head)).map(|_| ())
            }
            "events" => {
                while !numbers.0.is_empty() {
                    let event = numbers.event(&mut self.aliases);
                    let event = event.ok_or_else(|| self.reader.refused(ReadProblem::Line(what.into())))?;
                    if let Some(event) = self.reader.take(Entry::Event(event))? {
                        // The last one, even where a clock that was put back makes it the earlier one.
                        self.newest = event.at_unix;
                        self.course.push(&event);
                    }
                }
                Ok(())
            }
            "end" => {
                let end = Tail { events: numbers.whole().unwrap_or_default(), next: numbers.whole() };
                self.reader.take(Entry::End(end)).map(|_| ())
            }
            "schema" => self.reader.check_schema(text),
            "over" => self.reader.check_end(),
            "instance" if Name::of_instance(text).is_ok() => Ok(()),
            "source" if Name::of_source(text).is_ok() => Ok(()),
            "long" => match numbers.place() {
                Some(length) if length > MAX_LINE_BYTES => Err(self.reader.refused(ReadProblem::LongLine(length))),
                Some(_) | None => Ok(()),
            },
            _ => {
                let is_whole = numbers.whole() > Some(0);
                Err(self.reader.refused(match (self.reader.expected(), is_whole) {
                    (Err(refused), _) => return Err(refused),
                    (Ok(Expected::Head), _) if text.is_empty() => ReadProblem::NoHead,
                    (Ok(Expected::Head), _) => ReadProblem::Head(text.into()),
                    (Ok(Expected::EventOrEnd), true) => ReadProblem::Line(text.into()),
                    (Ok(Expected::EventOrEnd), false) => ReadProblem::Truncated,
                }))
            }
        }
    }

    fn is_known_until(&self) -> UnixSeconds {
        match self.reader.head() {
            Some(head) if self.reader.check_end().is_ok() => head.known_until_unix,
            Some(_) | None => self.newest,
        }
    }
}

impl fmt::Debug for History {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("History").finish_non_exhaustive()
    }
}

fn horizon(secs: f64) -> Horizon {
    if secs.is_finite() { Horizon::After(saturating(secs)) } else { Horizon::Never }
}
