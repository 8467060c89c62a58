//! The lines of an export, from objects that JavaScript parsed.
//!
//! Texts stay on the other side. A replay has to tell names and shas apart and nothing else, so here they are
//! numbers in the guise of texts: a name is checked once, when it first comes.

use alloc::boxed::Box;
use alloc::string::ToString;
use alloc::vec::Vec;

use greenlight_core::history::{
    Entry, Event, Expected, Happening, Head, Lives, MAX_LINE_BYTES, ReadProblem, Reader, Tail,
};
use greenlight_core::{Name, Row};
use wasm_bindgen::prelude::*;

use crate::number::whole;
use crate::past::keyed::{Keyed, Keys, Reading, parsed};

#[wasm_bindgen]
extern "C" {
    #[derive(Clone)]
    pub(crate) type Map;

    #[wasm_bindgen(constructor)]
    fn new() -> Map;
    #[wasm_bindgen(method)]
    fn get(this: &Map, key: &JsValue) -> JsValue;
    #[wasm_bindgen(method)]
    fn set(this: &Map, key: &JsValue, value: u32);
}

/// What turns a line into what it holds, and every text that it has met.
pub(crate) struct Lines {
    keys: Keys,
    /// The first line as it was parsed; undefined before it came.
    pub(crate) head: JsValue,
    pub(crate) known: Known,
}

impl Lines {
    pub(crate) fn new() -> Self {
        Self { keys: Keys::of(&KEYS), head: JsValue::UNDEFINED, known: Known::new() }
    }

    /// What a line holds; `reader` is who will take it.
    pub(crate) fn understand(&mut self, line: JsValue, reader: &Reader) -> Result<Entry, ReadProblem> {
        let line: Keyed = line.unchecked_into();
        // No more characters than bytes: nothing is refused here that is read elsewhere.
        let chars = usize::try_from(line.length()).unwrap_or(usize::MAX);
        if chars > MAX_LINE_BYTES {
            return Err(ReadProblem::LongLine(chars));
        }
        let expected = reader.expected().map_err(|error| error.what)?;
        let parsed = parsed(&line);
        let mut reading = Reading::of(&self.keys);
        let entry = match expected {
            Expected::Head => {
                let value = parsed.ok().filter(JsValue::is_object).ok_or(ReadProblem::NoHead)?;
                let object: Keyed = value.clone().unchecked_into();
                let schema = reading.get(&object, SCHEMA).as_string().ok_or(ReadProblem::NoHead)?.into_boxed_str();
                reader.check_schema(&schema).map_err(|error| error.what)?;
                self.head = value;
                Some(Entry::Head(head(&mut reading, &object, schema)))
            }
            Expected::EventOrEnd => {
                let value = parsed.map_err(|words| ReadProblem::Line(words.into()))?;
                if !value.is_object() {
                    return Err(ReadProblem::Line("no object".into()));
                }
                let object: Keyed = value.unchecked_into();
                match end(&mut reading, &object) {
                    Some(end) => Some(Entry::End(end)),
                    None => self.known.event(&mut reading, &object).map(Entry::Event),
                }
            }
        };
        match (entry, reading.fault(), expected) {
            (Some(entry), None, _) => Ok(entry),
            (_, fault, Expected::Head) => {
                Err(ReadProblem::Head(fault.map(|wrong| wrong.text()).unwrap_or_default().into()))
            }
            (_, fault, Expected::EventOrEnd) => {
                Err(ReadProblem::Line(fault.map(|wrong| wrong.text()).unwrap_or_default().into()))
            }
        }
    }
}

/// But for its lives and names, of which nothing is asked here: the events are all at hand.
fn head(reading: &mut Reading<'_>, head: &Keyed, schema: Box<str>) -> Head {
    Head {
        schema,
        version: Box::default(),
        from_unix: reading.moment(head, FROM),
        to_unix: reading.moment(head, TO),
        known_until_unix: reading.moment(head, KNOWN_UNTIL),
        stale_after_secs: reading.whole_if_any(head, STALE_AFTER).into(),
        complete_from_unix: reading.moment_if_any(head, COMPLETE_FROM),
        names: None,
        lives: Lives::default(),
    }
}

fn end(reading: &mut Reading<'_>, line: &Keyed) -> Option<Tail> {
    if reading.get(line, END).is_undefined() {
        return None;
    }
    let end = reading.object(line, END)?;
    Some(Tail { events: reading.whole(&end, EVENTS), next: reading.whole_if_any(&end, NEXT) })
}

/// Every text that was met, by number, in the order in which they first came.
pub(crate) struct Known {
    pub(crate) names: Texts,
    sources: Texts,
    pub(crate) shas: Texts,
    /// A name for each number, which stands for the text with that number.
    pub(crate) aliases: Vec<Name>,
}

impl Known {
    fn new() -> Self {
        Self { names: Texts::new(), sources: Texts::new(), shas: Texts::new(), aliases: Vec::new() }
    }

    /// `None` where there is a fault.
    fn event(&mut self, reading: &mut Reading<'_>, event: &Keyed) -> Option<Event> {
        let at_unix = reading.moment(event, AT);
        let what = match &*reading.text(event, EVENT) {
            "changed" => Happening::Changed {
                name: self.instance(reading, event)?,
                order: reading.whole_if_any(event, ORDER).unwrap_or_default(),
                source: self.source(reading, event)?,
                last_change_unix: reading.moment(event, LAST_CHANGE),
                stored_change_unix: reading.moment_if_any(event, STORED_CHANGE),
                row: self.row(reading, event)?,
            },
            "removed" => Happening::Removed { name: self.instance(reading, event)? },
            "lapsed" => Happening::Lapsed {
                source: self.source(reading, event)?,
                names: self.instances(reading, event)?,
                good_until_unix: reading.moment_if_any(event, GOOD_UNTIL),
            },
            "came_back" => {
                Happening::CameBack { source: self.source(reading, event)?, names: self.instances(reading, event)? }
            }
            "started" => Happening::Started {
                watched_until_unix: reading.moment_if_any(event, WATCHED_UNTIL),
                drift_secs: drift(reading, event),
            },
            "resumed" => Happening::Resumed { watched_until_unix: reading.moment(event, WATCHED_UNTIL) },
            "retold" => Happening::Retold { missing_since_unix: reading.moment_if_any(event, MISSING_SINCE) },
            _ => {
                reading.wrong(EVENT, "something that happens", reading.get(event, EVENT));
                return None;
            }
        };
        Some(Event { at_unix, what })
    }

    /// What its standing follows from, and what it served.
    fn row(&mut self, reading: &mut Reading<'_>, event: &Keyed) -> Option<Box<Row>> {
        let row = reading.object(event, ROW)?;
        let sha = reading.get(&row, SERVING_SHA);
        let serving_sha = self.shas.number(&sha, |_| true).and_then(|number| self.alias(number));
        if serving_sha.is_none() && !sha.is_null() {
            reading.wrong(SERVING_SHA, "a text or null", sha);
        }
        let green = reading.get(&row, LAST_GREEN);
        let has_green = green.is_string();
        if !has_green && !green.is_null() {
            reading.wrong(LAST_GREEN, "a text or null", green);
        }
        Some(Box::new(Row {
            serving_sha: serving_sha.map(|alias| alias.as_str().into()),
            last_green: has_green.then(Box::default),
            ..Row::default()
        }))
    }

    fn source(&mut self, reading: &mut Reading<'_>, event: &Keyed) -> Option<Name> {
        let value = reading.get(event, SOURCE);
        let Some(number) = self.sources.number(&value, |text| Name::of_source(text).is_ok()) else {
            reading.wrong(SOURCE, "the name of a source", value);
            return None;
        };
        self.alias(number)
    }

    fn instance(&mut self, reading: &mut Reading<'_>, event: &Keyed) -> Option<Name> {
        let value = reading.get(event, NAME);
        self.named(reading, value)
    }

    fn instances(&mut self, reading: &mut Reading<'_>, event: &Keyed) -> Option<Vec<Name>> {
        let list = reading.object(event, NAMES)?;
        let mut names = Vec::new();
        for place in 0..list.length() {
            names.push(self.named(reading, list.nth(place))?);
        }
        Some(names)
    }

    fn named(&mut self, reading: &mut Reading<'_>, name: JsValue) -> Option<Name> {
        let Some(number) = self.names.number(&name, |text| Name::of_instance(text).is_ok()) else {
            reading.wrong(NAME, "the name of an instance", name);
            return None;
        };
        self.alias(number)
    }

    /// The name that stands for that number here.
    fn alias(&mut self, number: u32) -> Option<Name> {
        let place = usize::try_from(number).ok()?;
        while self.aliases.len() <= place {
            self.aliases.push(Name::of_instance(&self.aliases.len().to_string()).ok()?);
        }
        self.aliases.get(place).cloned()
    }
}

/// Texts of the other side.
pub(crate) struct Texts {
    /// A map of each to its number.
    pub(crate) numbers: Map,
    pub(crate) count: u32,
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
pub(crate) fn number_of(alias: &str) -> u32 {
    alias
        .bytes()
        .fold(0, |number: u32, digit| number.wrapping_mul(10).wrapping_add(u32::from(digit.wrapping_sub(b'0'))))
}

/// By how much times were moved; zero where it is left out.
fn drift(reading: &mut Reading<'_>, event: &Keyed) -> i64 {
    let value = reading.get(event, DRIFT);
    let number = if value.is_undefined() { 0.0 } else { value.as_f64().unwrap_or(f64::NAN) };
    let Some(secs) = whole(&number.abs().into()) else {
        reading.wrong(DRIFT, "whole seconds", value);
        return 0;
    };
    let secs = secs.cast_signed();
    if number < 0.0 { secs.saturating_neg() } else { secs }
}

/// The keys of an export, and the place of each.
const KEYS: [&str; 24] = [
    "schema",
    "from_unix",
    "to_unix",
    "known_until_unix",
    "stale_after_secs",
    "complete_from_unix",
    "end",
    "events",
    "next",
    "at_unix",
    "event",
    "name",
    "names",
    "order",
    "source",
    "last_change_unix",
    "stored_change_unix",
    "row",
    "serving_sha",
    "last_green",
    "good_until_unix",
    "watched_until_unix",
    "drift_secs",
    "missing_since_unix",
];
const SCHEMA: usize = 0;
const FROM: usize = 1;
const TO: usize = 2;
const KNOWN_UNTIL: usize = 3;
const STALE_AFTER: usize = 4;
const COMPLETE_FROM: usize = 5;
const END: usize = 6;
const EVENTS: usize = 7;
const NEXT: usize = 8;
const AT: usize = 9;
const EVENT: usize = 10;
const NAME: usize = 11;
const NAMES: usize = 12;
const ORDER: usize = 13;
const SOURCE: usize = 14;
const LAST_CHANGE: usize = 15;
const STORED_CHANGE: usize = 16;
const ROW: usize = 17;
const SERVING_SHA: usize = 18;
const LAST_GREEN: usize = 19;
const GOOD_UNTIL: usize = 20;
const WATCHED_UNTIL: usize = 21;
const DRIFT: usize = 22;
const MISSING_SINCE: usize = 23;
