//! A window of history inside wasm: read line by line, kept, and replayed under any horizons.
//!
//! Texts stay on the other side. A replay has to tell names and shas apart and nothing else, so here they are
//! numbers in the guise of texts: a name is checked once, when it first comes.

use alloc::boxed::Box;
use alloc::string::ToString;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;

use greenlight_core::history::{
    Blame, Entry, Event, Expected, Happening, Head, InstanceSums, Lives, MAX_LINE_BYTES, ReadError, ReadProblem,
    Reader, Running, Said, Stood, Sweep, Tail, Told, Window,
};
use greenlight_core::{Horizon, Name, Reason, Row, Standing, UnixSeconds};
use wasm_bindgen::prelude::*;

use super::keyed::{Key, Keyed, parsed};
use crate::number::{as_number, saturating, whole};
use crate::wrong::Wrong;

#[wasm_bindgen]
extern "C" {
    #[derive(Clone)]
    type Map;

    #[wasm_bindgen(constructor)]
    fn new() -> Map;
    #[wasm_bindgen(method)]
    fn get(this: &Map, key: &JsValue) -> JsValue;
    #[wasm_bindgen(method)]
    fn set(this: &Map, key: &JsValue, value: u32);
}

/// A window of history. Texts are given by number, in the order in which they first came: see `names` and `shas`.
#[wasm_bindgen]
pub struct History {
    keys: Keys,
    reader: Reader,
    /// The first line as it was parsed.
    head: JsValue,
    events: Vec<Event>,
    lives: Lives,
    newest: UnixSeconds,
    names: Texts,
    sources: Texts,
    shas: Texts,
    /// A name for each number.
    aliases: Vec<Name>,
    replayed: Replayed,
}

/// What the last replay came to.
#[derive(Default)]
struct Replayed {
    spans: Vec<f64>,
    blames: Vec<Blame>,
    /// Of each horizon, the sums of the verdict and those of every instance by its number.
    sums: Vec<(Running, Vec<InstanceSums>)>,
}

#[wasm_bindgen]
impl History {
    /// Nothing read yet.
    #[wasm_bindgen(constructor)]
    #[expect(clippy::new_without_default, reason = "JavaScript has no default")]
    pub fn new() -> Self {
        Self {
            keys: Keys::new(),
            reader: Reader::default(),
            head: JsValue::UNDEFINED,
            events: Vec::new(),
            lives: Lives::default(),
            newest: UnixSeconds::default(),
            names: Texts::new(),
            sources: Texts::new(),
            shas: Texts::new(),
            aliases: Vec::new(),
            replayed: Replayed::default(),
        }
    }

    /// Reads the next line, without its end. `is_whole` says whether it had one.
    ///
    /// # Errors
    /// The line and what is wrong with it. What was read before stays as it was.
    pub fn read(
        &mut self,
        #[wasm_bindgen(unchecked_param_type = "string")] line: JsValue,
        is_whole: bool,
    ) -> Result<(), JsError> {
        let entry = self.understand(line).map_err(|problem| match problem {
            ReadProblem::Line(_) if !is_whole => ReadProblem::Truncated,
            other => other,
        });
        let taken = entry.map_err(|problem| self.reader.refused(problem)).and_then(|entry| self.reader.take(entry));
        if let Some(event) = taken.map_err(refusal)? {
            self.lives.note(&event);
            self.newest = self.newest.max(event.at_unix);
            self.events.push(event);
        }
        Ok(())
    }

    /// What is missing after the last line.
    ///
    /// # Errors
    /// A head or an end that did not come.
    pub fn check_end(&self) -> Result<(), JsError> {
        self.reader.check_end().map_err(refusal)
    }

    /// The first line as it was parsed; undefined while there is none.
    pub fn head(&self) -> JsValue {
        self.head.clone()
    }

    /// How many events have been read.
    pub fn events(&self) -> u32 {
        u32::try_from(self.events.len()).unwrap_or(u32::MAX)
    }

    /// Before which second the record is known to be complete. Of a part, that is its newest event.
    pub fn known_until(&self) -> f64 {
        as_number(self.is_known_until().as_secs())
    }

    /// A map of every name that was read to its number.
    #[wasm_bindgen(unchecked_return_type = "Map<string, number>")]
    pub fn names(&self) -> JsValue {
        self.names.numbers.clone().into()
    }

    /// A map of every sha to its number.
    #[wasm_bindgen(unchecked_return_type = "Map<string, number>")]
    pub fn shas(&self) -> JsValue {
        self.shas.numbers.clone().into()
    }

    /// Replays the window from one second up to another, not included, under these horizons: seconds, infinity is
    /// never. Gives the spans in the order in which they end, seven numbers each:
    ///
    /// | | kind | lane | from | to | what | who | sha |
    /// |---|---|---|---|---|---|---|---|
    /// | of the verdict | 0 | which horizon | seconds | seconds | its word | see `blame` | |
    /// | of an instance | 1 | which horizon | | | its word | its number | its number; -1 is none |
    /// | of a difference of the first horizon and another | 2 | which is ready | | | which is not | see `blame` | |
    ///
    /// What is no moment or no horizon is taken as the nearest one.
    pub fn replay(&mut self, from: f64, to: f64, stale_after: &[f64]) -> Vec<f64> {
        let window = Window { from: UnixSeconds::new(saturating(from)), to: UnixSeconds::new(saturating(to)) };
        let horizons: Vec<Horizon> = stale_after.iter().map(|secs| horizon(*secs)).collect();
        self.replayed = Replayed {
            sums: vec![(Running::default(), vec![InstanceSums::default(); self.aliases.len()]); horizons.len()],
            ..Replayed::default()
        };
        let mut sweep = Sweep::new(window, &horizons, self.lives.clone());
        for other in 1..horizons.len() {
            sweep = sweep.comparing(0, other);
        }
        let known_until = self.is_known_until();
        let mut tell = |told| self.replayed.take(told);
        for event in &self.events {
            sweep.push(event, &mut tell);
        }
        sweep.finish(known_until, &mut tell);
        core::mem::take(&mut self.replayed.spans)
    }

    /// The rows behind a span of the last replay: how many there are beyond those that are named, and the numbers of
    /// their names.
    pub fn blame(&self, place: usize) -> Vec<f64> {
        let mut told = Vec::new();
        if let Some(blame) = self.replayed.blames.get(place) {
            told.push(as_number(blame.more));
            told.extend(blame.names.iter().map(|name| number_of(name)));
        }
        told
    }

    /// The sums of the last replay under a horizon, in seconds. Of the verdict: ready, not ready, not watched, flips
    /// (a number), longest not ready; then of each name by number: serving, vetoed, masked, never green, not watched.
    pub fn sums(&self, lane: usize) -> Vec<f64> {
        let mut told = Vec::new();
        let Some((verdict, instances)) = self.replayed.sums.get(lane) else { return told };
        let of_verdict = [
            verdict.ready_secs,
            verdict.not_ready_secs,
            verdict.not_watched_secs,
            verdict.flips,
            verdict.longest_not_ready_secs,
        ];
        let of_instances = instances.iter().map(|sums| {
            [sums.serving_secs, sums.vetoed_secs, sums.masked_secs, sums.never_green_secs, sums.not_watched_secs]
        });
        for sums in core::iter::once(of_verdict).chain(of_instances) {
            told.extend(sums.map(as_number));
        }
        told
    }
}

/// The words for what spans tell, by number.
#[wasm_bindgen(js_name = pastWords, unchecked_return_type = "Said[]")]
pub fn past_words() -> Vec<JsValue> {
    WORDS.iter().map(|word| JsValue::from_str(word)).collect()
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

impl Replayed {
    fn take(&mut self, told: Told) {
        match told {
            Told::Verdict(span) => {
                if let Some((sums, _)) = self.sums.get_mut(span.lane) {
                    sums.add(&span);
                }
                let (said, blame) = match span.said {
                    Said::Ready => (of_reason(Reason::Ready), None),
                    Said::NotReady { reason, blame } => (of_reason(reason), Some(blame)),
                    Said::NotWatching => (of_standing(Stood::NotWatching), None),
                };
                let who = self.blame(blame.unwrap_or_default());
                self.tell(0, span.lane, [span.from, span.to], [f64::from(said), who, 0.0]);
            }
            Told::Standing(span) => {
                let number = number_of(&span.name);
                let instances = self.sums.get_mut(span.lane).map(|(_, instances)| instances);
                #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it was a place before")]
                if let Some(sums) = instances.and_then(|instances| instances.get_mut(number as usize)) {
                    sums.add(&span);
                }
                let sha = span.serving_sha.as_deref().map_or(-1.0, number_of);
                let stood = f64::from(of_standing(span.stood));
                self.tell(1, span.lane, [span.from, span.to], [stood, number, sha]);
            }
            Told::Difference(span) => {
                let who = self.blame(span.rows);
                self.tell(2, span.ready, [span.from, span.to], [place(span.not_ready), who, 0.0]);
            }
        }
    }

    fn blame(&mut self, blame: Blame) -> f64 {
        self.blames.push(blame);
        place(self.blames.len().saturating_sub(1))
    }

    fn tell(&mut self, kind: u8, lane: usize, span: [UnixSeconds; 2], [what, who, sha]: [f64; 3]) {
        let [from, to] = span.map(|at| as_number(at.as_secs()));
        self.spans.extend([f64::from(kind), place(lane), from, to, what, who, sha]);
    }
}

impl fmt::Debug for History {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("History").finish_non_exhaustive()
    }
}

impl History {
    fn is_known_until(&self) -> UnixSeconds {
        match self.reader.head() {
            Some(head) if self.reader.check_end().is_ok() => head.known_until_unix,
            Some(_) | None => self.newest,
        }
    }

    fn understand(&mut self, line: JsValue) -> Result<Entry, ReadProblem> {
        let chars: Keyed = line.unchecked_into();
        // No more characters than bytes: nothing is refused here that is read elsewhere.
        let most = usize::try_from(chars.length()).unwrap_or(usize::MAX);
        if most > MAX_LINE_BYTES {
            return Err(ReadProblem::LongLine(most));
        }
        let expected = self.reader.expected().map_err(|error| error.what)?;
        let parsed = parsed(&chars);
        match expected {
            Expected::Head => {
                let value = parsed.map_err(|_| ReadProblem::NoHead)?;
                let object = Keyed::of(value.clone()).ok_or(ReadProblem::NoHead)?;
                let schema = object.text(&self.keys.schema).map_err(|_| ReadProblem::NoHead)?;
                self.reader.check_schema(&schema).map_err(|error| error.what)?;
                let head = self.head_of(&object, schema).map_err(|wrong| ReadProblem::Head(wrong.text().into()))?;
                self.head = value;
                Ok(Entry::Head(head))
            }
            Expected::EventOrEnd => {
                let value = parsed.map_err(|words| ReadProblem::Line(words.into()))?;
                let object = Keyed::of(value).ok_or_else(|| ReadProblem::Line("no object".into()))?;
                self.entry(&object).map_err(|wrong| ReadProblem::Line(wrong.text().into()))
            }
        }
    }

    /// But for its lives and names, of which nothing is asked here: the events are all at hand.
    fn head_of(&self, head: &Keyed, schema: Box<str>) -> Result<Head, Wrong> {
        let keys = &self.keys;
        Ok(Head {
            schema,
            version: head.text(&keys.version)?,
            from_unix: head.moment(&keys.from_unix)?,
            to_unix: head.moment(&keys.to_unix)?,
            known_until_unix: head.moment(&keys.known_until_unix)?,
            stale_after_secs: head.whole_if_any(&keys.stale_after_secs)?.into(),
            complete_from_unix: head.moment_if_any(&keys.complete_from_unix)?,
            names: None,
            lives: Lives::default(),
        })
    }

    fn entry(&mut self, line: &Keyed) -> Result<Entry, Wrong> {
        let end = line.get(&self.keys.end);
        if end.is_undefined() {
            return self.event(line).map(Entry::Event);
        }
        let end = line.object(&self.keys.end)?;
        Ok(Entry::End(Tail { events: end.whole(&self.keys.events)?, next: end.whole_if_any(&self.keys.next)? }))
    }

    fn event(&mut self, event: &Keyed) -> Result<Event, Wrong> {
        let at_unix = event.moment(&self.keys.at_unix)?;
        let kind = event.text(&self.keys.event)?;
        let what = match &*kind {
            "changed" => Happening::Changed {
                name: self.instance(event)?,
                order: event.whole_if_any(&self.keys.order)?.unwrap_or_default(),
                source: self.source(event)?,
                last_change_unix: event.moment(&self.keys.last_change_unix)?,
                stored_change_unix: event.moment_if_any(&self.keys.stored_change_unix)?,
                row: Box::new(self.row(&event.object(&self.keys.row)?)?),
            },
            "removed" => Happening::Removed { name: self.instance(event)? },
            "lapsed" => Happening::Lapsed {
                source: self.source(event)?,
                names: self.instances(event)?,
                good_until_unix: event.moment_if_any(&self.keys.good_until_unix)?,
            },
            "came_back" => Happening::CameBack { source: self.source(event)?, names: self.instances(event)? },
            "started" => Happening::Started {
                watched_until_unix: event.moment_if_any(&self.keys.watched_until_unix)?,
                drift_secs: drift(event, &self.keys.drift_secs)?,
            },
            "resumed" => Happening::Resumed { watched_until_unix: event.moment(&self.keys.watched_until_unix)? },
            "retold" => Happening::Retold { missing_since_unix: event.moment_if_any(&self.keys.missing_since_unix)? },
            _ => return Err(self.keys.event.wrong("something that happens", event.get(&self.keys.event))),
        };
        Ok(Event { at_unix, what })
    }

    /// What its standing follows from, and what it served.
    fn row(&mut self, row: &Keyed) -> Result<Row, Wrong> {
        let sha = row.get(&self.keys.serving_sha);
        let serving_sha = match self.shas.number(&sha, |_| true) {
            Some(number) => Some(number.to_string().into_boxed_str()),
            None if sha.is_null() => None,
            None => return Err(self.keys.serving_sha.wrong("a text or null", sha)),
        };
        let green = row.get(&self.keys.last_green);
        if !green.is_null() && !green.is_string() {
            return Err(self.keys.last_green.wrong("a text or null", green));
        }
        let last_green = green.is_string().then(Box::default);
        Ok(Row { serving_sha, last_green, ..Row::default() })
    }

    fn source(&mut self, event: &Keyed) -> Result<Name, Wrong> {
        let value = event.get(&self.keys.source);
        let number = self.sources.number(&value, |text| Name::of_source(text).is_ok());
        self.alias(number).ok_or_else(|| self.keys.source.wrong("the name of a source", value))
    }

    fn instance(&mut self, event: &Keyed) -> Result<Name, Wrong> {
        let value = event.get(&self.keys.name);
        self.named(&value).ok_or_else(|| self.keys.name.wrong("the name of an instance", value))
    }

    fn instances(&mut self, event: &Keyed) -> Result<Vec<Name>, Wrong> {
        let list = event.list(&self.keys.names)?;
        let mut names = Vec::new();
        for place in 0..list.length() {
            let value = list.nth(place);
            names.push(self.named(&value).ok_or_else(|| self.keys.names.wrong("names of instances", value))?);
        }
        Ok(names)
    }

    fn named(&mut self, name: &JsValue) -> Option<Name> {
        let number = self.names.number(name, |text| Name::of_instance(text).is_ok());
        self.alias(number)
    }

    /// The name that stands for that number here.
    fn alias(&mut self, number: Option<u32>) -> Option<Name> {
        let place = usize::try_from(number?).ok()?;
        while self.aliases.len() <= place {
            self.aliases.push(Name::of_instance(&self.aliases.len().to_string()).ok()?);
        }
        self.aliases.get(place).cloned()
    }
}

/// Texts of the other side by number, in the order in which they first came.
struct Texts {
    numbers: Map,
    count: u32,
}

impl Texts {
    fn new() -> Self {
        Self { numbers: Map::new(), count: 0 }
    }

    /// Its number, and a new one where it passes; `None` for what is no text.
    fn number(&mut self, text: &JsValue, passes: fn(&str) -> bool) -> Option<u32> {
        if let Some(known) = whole(&self.numbers.get(text)) {
            return u32::try_from(known).ok();
        }
        let new = text.as_string().filter(|text| passes(text)).map(|_| self.count)?;
        self.numbers.set(text, new);
        self.count = new.saturating_add(1);
        Some(new)
    }
}

/// The number that a text stands for.
fn number_of(alias: &str) -> f64 {
    f64::from(alias.parse::<u32>().unwrap_or_default())
}

/// A place in a list that is at hand.
fn place(place: usize) -> f64 {
    f64::from(u32::try_from(place).unwrap_or(u32::MAX))
}

fn horizon(secs: f64) -> Horizon {
    if secs.is_finite() { Horizon::After(saturating(secs)) } else { Horizon::Never }
}

/// By how much times were moved; zero where it is left out.
fn drift(event: &Keyed, key: &Key) -> Result<i64, Wrong> {
    let value = event.get(key);
    if value.is_undefined() {
        return Ok(0);
    }
    let number = value.as_f64().unwrap_or(f64::NAN);
    let secs = whole(&number.abs().into()).and_then(|secs| i64::try_from(secs).ok());
    let secs = secs.ok_or_else(|| key.wrong("whole seconds", value))?;
    Ok(if number < 0.0 { secs.saturating_neg() } else { secs })
}

#[expect(clippy::needless_pass_by_value, reason = "it is handed over where a function is wanted")]
fn refusal(error: ReadError) -> JsError {
    JsError::new(&error.to_string())
}

/// The keys of an export.
struct Keys {
    schema: Key,
    version: Key,
    from_unix: Key,
    to_unix: Key,
    known_until_unix: Key,
    stale_after_secs: Key,
    complete_from_unix: Key,
    end: Key,
    events: Key,
    next: Key,
    at_unix: Key,
    event: Key,
    name: Key,
    names: Key,
    order: Key,
    source: Key,
    last_change_unix: Key,
    stored_change_unix: Key,
    row: Key,
    serving_sha: Key,
    last_green: Key,
    good_until_unix: Key,
    watched_until_unix: Key,
    drift_secs: Key,
    missing_since_unix: Key,
}

impl Keys {
    fn new() -> Self {
        Self {
            schema: Key::new("schema"),
            version: Key::new("version"),
            from_unix: Key::new("from_unix"),
            to_unix: Key::new("to_unix"),
            known_until_unix: Key::new("known_until_unix"),
            stale_after_secs: Key::new("stale_after_secs"),
            complete_from_unix: Key::new("complete_from_unix"),
            end: Key::new("end"),
            events: Key::new("events"),
            next: Key::new("next"),
            at_unix: Key::new("at_unix"),
            event: Key::new("event"),
            name: Key::new("name"),
            names: Key::new("names"),
            order: Key::new("order"),
            source: Key::new("source"),
            last_change_unix: Key::new("last_change_unix"),
            stored_change_unix: Key::new("stored_change_unix"),
            row: Key::new("row"),
            serving_sha: Key::new("serving_sha"),
            last_green: Key::new("last_green"),
            good_until_unix: Key::new("good_until_unix"),
            watched_until_unix: Key::new("watched_until_unix"),
            drift_secs: Key::new("drift_secs"),
            missing_since_unix: Key::new("missing_since_unix"),
        }
    }
}
