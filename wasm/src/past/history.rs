//! A window of history inside wasm: taken in line by line, kept, and replayed under any horizons.
//!
//! Texts stay on the other side. A replay has to tell names and shas apart and nothing else, so here they are
//! numbers in the guise of names: each text is checked once, when it first comes.

use alloc::vec::Vec;
use core::fmt;

use greenlight_core::history::{
    Blame, Entry, Event, Expected, InstanceSums, Lives, MAX_LINE_BYTES, ReadError, ReadProblem, Reader, Running, Said,
    Stood, Sweep, Tail, Told, Window,
};
use greenlight_core::{Horizon, Name, Reason, Standing, UnixSeconds};
use wasm_bindgen::prelude::*;

use super::numbers::Numbers;
use crate::number::{as_number, saturating};

/// A window of history. What stands for a text is a number, in the order in which texts first came.
#[wasm_bindgen]
pub struct History {
    reader: Reader,
    events: Vec<Event>,
    lives: Lives,
    newest: UnixSeconds,
    /// A name for each number.
    aliases: Vec<Name>,
    /// Of the last replay.
    blames: Vec<Blame>,
}

#[wasm_bindgen(typescript_custom_section)]
const TYPES: &'static str = "
/** What a span of the past tells. */
export type PastWord = 'ready' | 'live_degraded' | 'nothing_serving' | 'not_watching' | 'serving' | 'stale_degraded' | 'never_green';
";

/// What a replay comes to.
#[derive(Default)]
struct Replayed {
    numbers: Vec<f64>,
    blames: Vec<Blame>,
    verdicts: Vec<Running>,
    /// Under each horizon, those of every instance by its number.
    instances: Vec<InstanceSums>,
    names: usize,
}

#[wasm_bindgen]
impl History {
    /// Nothing read yet.
    #[wasm_bindgen(constructor)]
    #[expect(clippy::new_without_default, reason = "JavaScript has no default")]
    pub fn new() -> Self {
        Self {
            reader: Reader::default(),
            events: Vec::new(),
            lives: Lives::default(),
            newest: UnixSeconds::default(),
            aliases: Vec::new(),
            blames: Vec::new(),
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

    /// Replays the window from one second up to another, not included, under these horizons: seconds, infinity is
    /// never; so many names are known. What is no moment is taken as the nearest one. Gives the spans in the order in which they end, seven
    /// numbers each:
    ///
    /// | | kind | lane | from | to | what | who | sha |
    /// |---|---|---|---|---|---|---|---|
    /// | of the verdict | 0 | which horizon | seconds | seconds | its word | see `blame` | |
    /// | of an instance | 1 | which horizon | | | its word | its number | its number; -1 is none |
    /// | of a difference of the first horizon and another | 2 | which is ready | | | which is not | see `blame` | |
    ///
    /// The sums follow, in seconds, for each horizon: of the verdict (ready, not ready, not watched, flips, which is a
    /// number, and longest not ready), and of each name by number (serving, vetoed, masked, never green, not watched).
    /// The last number is the second before which the record is known to be complete; of a part, its newest event.
    pub fn replay(&mut self, from: f64, to: f64, stale_after: &[f64], names: usize) -> Vec<f64> {
        let window = Window { from: UnixSeconds::new(saturating(from)), to: UnixSeconds::new(saturating(to)) };
        let horizons: Vec<Horizon> = stale_after.iter().map(|secs| horizon(*secs)).collect();
        let mut replayed = Replayed { names, ..Replayed::default() };
        // A guess that spares most of the moving: each event ends a span of the verdict and one of a standing.
        replayed.numbers.reserve(self.events.len().saturating_mul(horizons.len()).saturating_mul(2 * SPAN));
        replayed.verdicts.resize_with(horizons.len(), Running::default);
        replayed.instances.resize_with(horizons.len().saturating_mul(replayed.names), InstanceSums::default);
        let mut sweep = Sweep::new(window, &horizons, self.lives.clone());
        for other in 1..horizons.len() {
            sweep = sweep.comparing(0, other);
        }
        let mut tell = |told| replayed.take(told);
        for event in &self.events {
            sweep.push(event, &mut tell);
        }
        sweep.finish(self.is_known_until(), &mut tell);
        for lane in 0..horizons.len() {
            replayed.tell_sums(lane);
        }
        replayed.numbers.push(as_number(self.is_known_until().as_secs()));
        let numbers = core::mem::take(&mut replayed.numbers);
        self.blames = replayed.blames;
        numbers
    }

    /// The rows behind a span of the last replay: how many there are beyond those that are named, and the numbers of
    /// their names.
    pub fn blame(&self, place: usize) -> Vec<f64> {
        let mut told = Vec::new();
        if let Some(blame) = self.blames.get(place) {
            told.push(as_number(blame.more));
            told.extend(blame.names.iter().map(|name| f64::from(number_of(name))));
        }
        told
    }
}

/// Numbers of a span.
const SPAN: usize = 7;

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

impl Replayed {
    fn take(&mut self, told: Told) {
        match told {
            Told::Verdict(span) => {
                if let Some(sums) = self.verdicts.get_mut(span.lane) {
                    sums.add(&span);
                }
                let (said, blame) = match span.said {
                    Said::Ready => (of_reason(Reason::Ready), Blame::default()),
                    Said::NotReady { reason, blame } => (of_reason(reason), blame),
                    Said::NotWatching => (of_standing(Stood::NotWatching), Blame::default()),
                };
                let who = self.blame(blame);
                self.tell(0.0, span.lane, [span.from, span.to], [f64::from(said), who, 0.0]);
            }
            Told::Standing(span) => {
                let number = number_of(&span.name);
                let place = usize::try_from(number).unwrap_or(usize::MAX);
                let place = span.lane.saturating_mul(self.names).saturating_add(place);
                if let Some(sums) = self.instances.get_mut(place) {
                    sums.add(&span);
                }
                let sha = span.serving_sha.as_deref().map_or(-1.0, |alias| f64::from(number_of(alias)));
                let stood = f64::from(of_standing(span.stood));
                self.tell(1.0, span.lane, [span.from, span.to], [stood, f64::from(number), sha]);
            }
            Told::Difference(span) => {
                let who = self.blame(span.rows);
                self.tell(2.0, span.ready, [span.from, span.to], [place(span.not_ready), who, 0.0]);
            }
        }
    }

    fn tell_sums(&mut self, lane: usize) {
        let Self { numbers, verdicts, instances, names, .. } = self;
        let mut tell = |sums: [u64; 5]| {
            for sum in sums {
                numbers.push(as_number(sum));
            }
        };
        if let Some(sums) = verdicts.get(lane) {
            tell([
                sums.ready_secs,
                sums.not_ready_secs,
                sums.not_watched_secs,
                sums.flips,
                sums.longest_not_ready_secs,
            ]);
        }
        for sums in instances.iter().skip(lane.saturating_mul(*names)).take(*names) {
            tell([sums.serving_secs, sums.vetoed_secs, sums.masked_secs, sums.never_green_secs, sums.not_watched_secs]);
        }
    }

    fn blame(&mut self, blame: Blame) -> f64 {
        self.blames.push(blame);
        place(self.blames.len().saturating_sub(1))
    }

    fn tell(&mut self, kind: f64, lane: usize, span: [UnixSeconds; 2], [what, who, sha]: [f64; 3]) {
        let [from, to] = span.map(|at| as_number(at.as_secs()));
        for number in [kind, place(lane), from, to, what, who, sha] {
            self.numbers.push(number);
        }
    }
}

impl History {
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
                        self.lives.note(&event);
                        self.newest = self.newest.max(event.at_unix);
                        self.events.push(event);
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
