//! A window of history inside wasm: taken in line by line, kept, and replayed under any horizons.
//!
//! Texts stay on the other side. A replay has to tell names and shas apart and nothing else, so here they are
//! numbers in the guise of names: each text is checked once, when it first comes.

use alloc::vec::Vec;
use core::fmt;

use greenlight_core::history::{
    Blame, Course, DifferenceSpan, Entry, Expected, InstanceSums, MAX_LINE_BYTES, ReadError, ReadProblem, Reader,
    Running, Said, Stood, Tail, Told, VerdictSpan, Window, differences,
};
use greenlight_core::{Horizon, Name, Reason, Standing, UnixSeconds};
use wasm_bindgen::prelude::*;

use super::numbers::Numbers;
use crate::number::{as_number, saturating};

/// A window of history. What stands for a text is a number, in the order in which texts first came.
#[wasm_bindgen]
pub struct History {
    reader: Reader,
    course: Course,
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
    /// many names are known. What is no moment is taken as the nearest one. Gives the spans in the order in which they
    /// end, six numbers each:
    ///
    /// | | kind | from | to | what | who | sha |
    /// |---|---|---|---|---|---|---|
    /// | of the verdict | 0 | seconds | seconds | its word | see `blame` | 0 |
    /// | of an instance | 1 | | | its word | its number | its number; -1 is none |
    ///
    /// The sums follow, in seconds: of the verdict (ready, not ready, not watched, flips, which is a number, and longest
    /// not ready), and of each name by number (serving, vetoed, masked, never green, not watched). The last number is
    /// the second before which the record is known to be complete; of a part, its newest event.
    pub fn replay(&mut self, from: f64, to: f64, stale_after: f64, names: usize) -> Vec<f64> {
        self.window = Window { from: UnixSeconds::new(saturating(from)), to: UnixSeconds::new(saturating(to)) };
        self.other = Vec::new();
        self.differences = Vec::new();
        let mut told = self.told(stale_after, names, 0);
        self.own = core::mem::take(&mut told.spans);
        told.numbers()
    }

    /// Replays the window of the last replay under another horizon, and gives the same of that. Before the sums comes
    /// where the two differ:
    ///
    /// | | kind | from | to | what | who | sha |
    /// |---|---|---|---|---|---|---|
    /// | of a difference | 2 | seconds | seconds | which is ready: 0 the first, 1 this one | see `blame` | 0 |
    pub fn compare(&mut self, stale_after: f64, names: usize) -> Vec<f64> {
        let mut told = self.told(stale_after, names, self.own.len());
        self.other = core::mem::take(&mut told.spans);
        let mut differ = Vec::new();
        differences(&self.own, &self.other, |span| differ.push(span));
        let before = self.own.len().saturating_add(self.other.len());
        for (at, span) in differ.iter().enumerate() {
            told.tell(2.0, [span.from, span.to], [place(span.ready), place(before.saturating_add(at)), 0.0]);
        }
        self.differences = differ;
        told.numbers()
    }

    /// The rows behind a span of the verdict or of a difference: how many there are beyond those that are named, and the
    /// numbers of their names.
    pub fn blame(&self, place: usize) -> Vec<f64> {
        let Some(blame) = self.blamed(place) else { return Vec::new() };
        let numbers = self.numbers();
        let names = blame.names.iter().filter_map(|place| numbers.get(*place)).copied().map(f64::from);
        core::iter::once(as_number(blame.more)).chain(names).collect()
    }
}

/// Numbers of a span.
const SPAN: usize = 6;

const WORDS: [&str; 7] = [
    Reason::Ready.as_str(),
    Reason::LiveDegraded.as_str(),
    Reason::NothingServing.as_str(),
    Stood::NotWatching.as_str(),
    Standing::Serving.as_str(),
    Standing::StaleDegraded.as_str(),
    Standing::NeverGreen.as_str(),
];

/// Where a word stands among them.
fn of_reason(reason: Reason) -> u8 {
    match reason {
        Reason::Ready => 0,
        Reason::LiveDegraded => 1,
        Reason::NothingServing => 2,
    }
}

fn of_standing(stood: Stood) -> u8 {
    match stood {
        Stood::As(Standing::LiveDegraded) => 1,
        Stood::NotWatching => 3,
        Stood::As(Standing::Serving) => 4,
        Stood::As(Standing::StaleDegraded) => 5,
        Stood::As(Standing::NeverGreen) => 6,
    }
}

/// What a replay comes to.
struct Replayed {
    numbers: Vec<f64>,
    /// Of the verdict, which are told as places from here on.
    spans: Vec<VerdictSpan<usize>>,
    first: usize,
    verdict: Running,
    /// Of each instance by its number.
    instances: Vec<InstanceSums>,
    known_until: UnixSeconds,
}

impl Replayed {
    /// `numbers_of` are the numbers of those who have the places.
    fn take(&mut self, told: Told<usize>, numbers_of: &[u32]) {
        match told {
            Told::Verdict(span) => {
                self.verdict.add(&span);
                let said = match span.said {
                    Said::Ready => of_reason(Reason::Ready),
                    Said::NotReady { reason, .. } => of_reason(reason),
                    Said::NotWatching => of_standing(Stood::NotWatching),
                };
                let who = place(self.first.saturating_add(self.spans.len()));
                self.tell(0.0, [span.from, span.to], [f64::from(said), who, 0.0]);
                self.spans.push(span);
            }
            Told::Standing(span) => {
                let number = numbers_of.get(span.name).copied().unwrap_or(u32::MAX);
                let sums = usize::try_from(number).ok().and_then(|number| self.instances.get_mut(number));
                if let Some(sums) = sums {
                    sums.add(&span);
                }
                let sha = span.serving_sha.as_deref().map_or(-1.0, |alias| f64::from(number_of(alias)));
                let stood = f64::from(of_standing(span.stood));
                self.tell(1.0, [span.from, span.to], [stood, f64::from(number), sha]);
            }
            // There is one horizon.
            Told::Difference(_) => {}
        }
    }

    fn tell(&mut self, kind: f64, span: [UnixSeconds; 2], [what, who, sha]: [f64; 3]) {
        let [from, to] = span.map(|at| as_number(at.as_secs()));
        self.numbers.extend_from_slice(&[kind, from, to, what, who, sha]);
    }

    /// With the sums behind the spans.
    fn numbers(self) -> Vec<f64> {
        let Self { mut numbers, verdict, instances, known_until, .. } = self;
        let mut tell = |sums: [u64; 5]| numbers.extend(sums.map(as_number));
        tell([
            verdict.ready_secs,
            verdict.not_ready_secs,
            verdict.not_watched_secs,
            verdict.flips,
            verdict.longest_not_ready_secs,
        ]);
        for sums in &instances {
            tell([sums.serving_secs, sums.vetoed_secs, sums.masked_secs, sums.never_green_secs, sums.not_watched_secs]);
        }
        numbers.push(as_number(known_until.as_secs()));
        numbers
    }
}

impl History {
    /// `first` is the place of the first span of the verdict.
    fn told(&self, stale_after: f64, names: usize, first: usize) -> Replayed {
        let mut replayed = Replayed {
            numbers: Vec::new(),
            spans: Vec::new(),
            first,
            verdict: Running::default(),
            instances: Vec::new(),
            known_until: self.is_known_until(),
        };
        // A guess that spares most of the moving: each event ends a span of the verdict and one of a standing.
        replayed.spans.reserve(self.course.len());
        replayed.numbers.reserve(self.course.len().saturating_mul(2 * SPAN));
        replayed.instances.resize_with(names, InstanceSums::default);
        let numbers = self.numbers();
        let known_until = replayed.known_until;
        self.course.replay(self.window, horizon(stale_after), known_until, &mut |told| replayed.take(told, &numbers));
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
    fn numbers(&self) -> Vec<u32> {
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
                        self.newest = self.newest.max(event.at_unix);
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

/// The number that a name stands for.
fn number_of(alias: &str) -> u32 {
    alias
        .bytes()
        .fold(0, |number: u32, digit| number.wrapping_mul(10).wrapping_add(u32::from(digit.wrapping_sub(b'0'))))
}

/// A place in a list that is at hand.
fn place(place: usize) -> f64 {
    f64::from(u32::try_from(place).unwrap_or(u32::MAX))
}

fn horizon(secs: f64) -> Horizon {
    if secs.is_finite() { Horizon::After(saturating(secs)) } else { Horizon::Never }
}
