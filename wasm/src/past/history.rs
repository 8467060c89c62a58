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
        let numbers = self.numbers();
        let names = blame.names.iter().filter_map(|place| numbers.get(*place)).copied().map(f64::from);
        core::iter::once(as_number(blame.more)).chain(names).collect()
    }
}

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
    verdict: Running,
    verdicts: Vec<VerdictSpan<usize>>,
    instances: Vec<Instance>,
    stood: Vec<Stand>,
}

/// An instance by its number.
#[derive(Default)]
struct Instance {
    sums: InstanceSums,
    spans: usize,
}

/// For how long an instance stood the same.
struct Stand {
    instance: usize,
    span: [f64; SPAN],
}

/// Numbers of a span.
const SPAN: usize = 4;

impl Replayed {
    /// `numbers_of` are the numbers of those who have the places.
    fn take(&mut self, told: Told<usize>, numbers_of: &[u32]) {
        match told {
            Told::Verdict(span) => {
                self.verdict.add(&span);
                self.verdicts.push(span);
            }
            Told::Standing(span) => {
                let instance = numbers_of.get(span.name).and_then(|number| usize::try_from(*number).ok());
                let Some((number, instance)) =
                    instance.and_then(|number| Some((number, self.instances.get_mut(number)?)))
                else {
                    return;
                };
                instance.sums.add(&span);
                instance.spans = instance.spans.saturating_add(1);
                let sha = span.serving_sha.as_deref().map_or(-1.0, |alias| f64::from(number_of(alias)));
                let span = numbers_of_span(span.from, span.to, f64::from(of_standing(span.stood)), sha);
                self.stood.push(Stand { instance: number, span });
            }
            // There is one horizon.
            Told::Difference(_) => {}
        }
    }

    /// `first` is the place of the first span of the verdict.
    fn numbers(&self, first: usize, differences: &[DifferenceSpan<usize>], known_until: UnixSeconds) -> Vec<f64> {
        let Self { verdict, verdicts, instances, stood } = self;
        let spans = verdicts.len().saturating_add(stood.len()).saturating_add(differences.len());
        let mut numbers = Vec::new();
        numbers.reserve_exact(
            spans.saturating_mul(SPAN).saturating_add(instances.len().saturating_mul(6)).saturating_add(8),
        );
        numbers.push(as_number(known_until.as_secs()));
        let sums = [
            verdict.ready_secs,
            verdict.not_ready_secs,
            verdict.not_watched_secs,
            verdict.flips,
            verdict.longest_not_ready_secs,
        ];
        numbers.extend_from_slice(&sums.map(as_number));
        numbers.extend_from_slice(&[place(verdicts.len()), place(differences.len())]);
        for Instance { sums, spans } in instances {
            let sums =
                [sums.serving_secs, sums.vetoed_secs, sums.masked_secs, sums.never_green_secs, sums.not_watched_secs];
            numbers.extend_from_slice(&sums.map(as_number));
            numbers.push(place(*spans));
        }
        for (at, span) in verdicts.iter().enumerate() {
            let said = match span.said {
                Said::Ready => of_reason(Reason::Ready),
                Said::NotReady { reason, .. } => of_reason(reason),
                Said::NotWatching => of_standing(Stood::NotWatching),
            };
            let blame = place(first.saturating_add(at));
            numbers.extend_from_slice(&numbers_of_span(span.from, span.to, f64::from(said), blame));
        }
        self.push_stood(&mut numbers);
        for (at, span) in differences.iter().enumerate() {
            let blame = place(first.saturating_add(verdicts.len()).saturating_add(at));
            numbers.extend_from_slice(&numbers_of_span(span.from, span.to, place(span.ready), blame));
        }
        numbers
    }

    /// Those of one instance after those of another.
    fn push_stood(&self, numbers: &mut Vec<f64>) {
        let mut next = numbers.len();
        let mut places = Vec::new();
        for instance in &self.instances {
            places.push(next);
            next = next.saturating_add(instance.spans.saturating_mul(SPAN));
        }
        numbers.resize(next, 0.0);
        for Stand { instance, span } in &self.stood {
            let Some(at) = places.get_mut(*instance) else { continue };
            let end = at.saturating_add(SPAN);
            if let Some(numbers) = numbers.get_mut(*at..end) {
                numbers.copy_from_slice(span);
            }
            *at = end;
        }
    }
}

fn numbers_of_span(from: UnixSeconds, to: UnixSeconds, what: f64, of_what: f64) -> [f64; SPAN] {
    [as_number(from.as_secs()), as_number(to.as_secs()), what, of_what]
}

impl History {
    fn replayed(&self, stale_after: f64, names: usize) -> Replayed {
        let mut replayed =
            Replayed { verdict: Running::default(), verdicts: Vec::new(), instances: Vec::new(), stood: Vec::new() };
        // A guess that spares most of the moving: each event ends a span of the verdict and one of a standing.
        replayed.verdicts.reserve(self.course.len());
        replayed.stood.reserve(self.course.len());
        replayed.instances.resize_with(names, Instance::default);
        let numbers = self.numbers();
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
