//! The events of a record, read field by field from parsed lines.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::cell::Cell;
use core::num::NonZeroU32;

use greenlight_core::rehearsal::{
    Class, Door, Ending, Event, Header, Lane, Machine, Options, Planned, Spawn, Tick, Unfinished,
};
use greenlight_core::rotation::{Answer, Cause, Cutting, HoldLast, MoveKind, Refuser, RotationPolicy, Silence};
use wasm_bindgen::prelude::*;

use super::keyed::{Key, Keyed};
use crate::number::as_signed;
use crate::wrong::Wrong;

/// The keys of a record's lines, each made once.
pub(super) struct Keys {
    keys: Vec<Key>,
    /// What is wrong with the event that is being read.
    wrong: Cell<Option<Wrong>>,
}

/// Which of them.
#[derive(Clone, Copy)]
#[repr(u8)]
enum K {
    Event,
    At,
    Due,
    Sent,
    End,
    Late,
    Took,
    Process,
    Pid,
    Exit,
    Text,
    Asked,
    Found,
    Status,
    Answer,
    Kind,
    By,
    Code,
    Version,
    Move,
    Cause,
    InARow,
    Tick,
    Lane,
    Class,
    Error,
    Connection,
    Uses,
    Reopened,
    Ticks,
    How,
    Ending,
    Because,
    Schema,
    Options,
    Policy,
    Machine,
    Processes,
    Name,
    Command,
    Address,
    Ready,
    Every,
    ProbeEvery,
    ProbeTimeout,
    Lag,
    GiveUp,
    WarmUp,
    Tail,
    StartTimeout,
    DrainTimeout,
    MaxSlow,
    Path,
    Expect,
    Spawn,
    Busy,
    Silences,
    Joins,
    HoldLast,
    Cores,
    Descriptors,
    DescriptorsNeeded,
    ClientPorts,
}

/// In the order of `K`.
const KEYS: &str = "event at_us due_us sent_us end_us late_us took_us process pid exit text asked found status answer kind by \
    code version move cause in_a_row tick lane class error connection uses reopened ticks how ending because schema \
    options policy machine processes name command address ready every_us probe_every_us probe_timeout_us lag_us \
    give_up_us warm_up_us tail_us start_timeout_us drain_timeout_us max_slow path expect spawn busy silences_to_leave \
    answers_to_join hold_last cores descriptors descriptors_needed client_ports";

impl Keys {
    pub(super) fn new() -> Self {
        Self { keys: KEYS.split_ascii_whitespace().map(Key::new).collect(), wrong: Cell::new(None) }
    }

    /// The schema, of whatever says one.
    pub(super) fn schema(&self, line: &JsValue) -> Option<Box<str>> {
        let schema = Keyed::of(line.clone())?.get(&self.keys[K::Schema as usize]).as_string();
        schema.map(String::into_boxed_str)
    }

    /// One event.
    ///
    /// # Errors
    /// Which field, and what is wanted there.
    pub(super) fn event(&self, line: &JsValue) -> Result<Event, Wrong> {
        let of = Keyed::of(line.clone()).ok_or_else(|| Wrong::new("it", "an object", line.clone()))?;
        let event = Fields { keys: self, of }.event();
        self.wrong.take().map_or(Ok(event), Err)
    }
}

/// An object of a line. What is wrong with it is noted, and something else is taken in its place: the event is thrown
/// away in the end. To leave at once from everywhere would weigh as much as all the rest.
struct Fields<'a> {
    keys: &'a Keys,
    of: Keyed,
}

/// The largest whole number that both sides know for certain.
const LARGEST: i64 = (1 << 53) - 1;

impl Fields<'_> {
    fn key(&self, key: K) -> &Key {
        &self.keys.keys[key as usize]
    }

    fn get(&self, key: K) -> JsValue {
        self.of.get(self.key(key))
    }

    fn wrong(&self, key: K, wanted: &'static str) {
        // What follows may be wrong because of the first.
        let first = self.keys.wrong.take();
        self.keys.wrong.set(first.or_else(|| Some(self.key(key).wrong(wanted, self.get(key)))));
    }

    fn has(&self, key: K) -> bool {
        let value = self.get(key);
        !value.is_null() && !value.is_undefined()
    }

    fn between(&self, key: K, least: i64, most: i64) -> i64 {
        let number = as_signed(&self.get(key)).unwrap_or(i64::MIN);
        if number < least || number > most {
            self.wrong(key, "a whole number within its bounds");
        }
        number
    }

    fn moment(&self, key: K) -> i64 {
        self.between(key, -LARGEST, LARGEST)
    }

    fn moment_if_any(&self, key: K) -> Option<i64> {
        self.has(key).then(|| self.moment(key))
    }

    fn count(&self, key: K) -> u64 {
        self.between(key, 0, LARGEST).unsigned_abs()
    }

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "what is beyond is refused")]
    fn small(&self, key: K) -> u32 {
        self.between(key, 0, i64::from(u32::MAX)) as u32
    }

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "what is beyond is refused")]
    fn status(&self, key: K) -> u16 {
        self.between(key, 0, i64::from(u16::MAX)) as u16
    }

    fn status_if_any(&self, key: K) -> Option<u16> {
        self.has(key).then(|| self.status(key))
    }

    fn text(&self, key: K) -> Box<str> {
        let text = self.get(key).as_string();
        if text.is_none() {
            self.wrong(key, "a text");
        }
        text.unwrap_or_default().into_boxed_str()
    }

    fn text_if_any(&self, key: K) -> Option<Box<str>> {
        self.has(key).then(|| self.text(key))
    }

    fn flag(&self, key: K) -> bool {
        let value = self.get(key).as_bool();
        if value.is_none() {
            self.wrong(key, "true or false");
        }
        value == Some(true)
    }

    /// The place of the word among the words that may stand there.
    fn word(&self, key: K, words: &'static str) -> usize {
        let told = self.text(key);
        words.split_ascii_whitespace().position(|word| *word == *told).unwrap_or_else(|| {
            self.wrong(key, words);
            usize::MAX
        })
    }

    fn object(&self, key: K) -> Self {
        let value = self.get(key);
        if !value.is_object() {
            self.wrong(key, "an object");
        }
        Fields { keys: self.keys, of: value.unchecked_into() }
    }

    fn event(&self) -> Event {
        let kind = self.word(
            K::Event,
            "header started sigterm exited killed last_words elsewhere expected probe late move tried tick control end",
        );
        match kind {
            0 => return Event::Header(self.header()),
            12 => return Event::Tick(self.tick()),
            13 => return Event::Control { due_us: self.moment(K::Due), took_us: self.moment_if_any(K::Took) },
            usize::MAX => return Event::Control { due_us: 0, took_us: None },
            _ => {}
        }
        let at_us = self.moment(K::At);
        if kind == 7 {
            return Event::Expected { at_us, status: self.status(K::Status) };
        }
        if kind == 14 {
            return Event::End { at_us, ticks: self.count(K::Ticks), how: self.object(K::How).ending() };
        }
        let process = self.text(K::Process);
        match kind {
            1 => Event::Started { at_us, process, pid: self.small(K::Pid) },
            2 => Event::Sigterm { at_us, process },
            3 => Event::Exited { at_us, process, exit: self.text(K::Exit) },
            4 => Event::Killed { at_us, process },
            5 => Event::LastWords { at_us, process, text: self.text(K::Text) },
            6 => Event::Elsewhere { at_us, process, asked: self.text(K::Asked), found: self.text(K::Found) },
            8 => Event::Probe {
                at_us,
                due_us: self.moment(K::Due),
                sent_us: self.moment_if_any(K::Sent),
                process,
                answer: self.object(K::Answer).answer(),
                late_us: self.moment(K::Late),
            },
            9 => Event::Late { at_us, due_us: self.moment(K::Due), process, answer: self.object(K::Answer).answer() },
            10 => {
                let kind = if self.word(K::Move, "join leave") == 0 { MoveKind::Join } else { MoveKind::Leave };
                let cause = self.object(K::Cause);
                let cause = Cause { answer: cause.answer(), in_a_row: cause.small(K::InARow) };
                Event::Move { at_us, process, kind, cause }
            }
            _ => {
                let found = match self.word(K::Found, "open closed silent ours") {
                    0 => Door::Open,
                    1 => Door::Closed,
                    2 => Door::Silent,
                    _ => Door::Ours,
                };
                Event::Tried { at_us, process, found }
            }
        }
    }

    fn tick(&self) -> Tick {
        let class = self.text(K::Class);
        let class = Class::ALL.into_iter().find(|one| *one.as_str() == *class).unwrap_or_else(|| {
            self.wrong(K::Class, "a class of ticks");
            Class::Ours
        });
        Tick {
            tick: self.count(K::Tick),
            due_us: self.moment(K::Due),
            sent_us: self.moment_if_any(K::Sent),
            end_us: self.moment(K::End),
            lane: if self.word(K::Lane, "fresh kept") == 0 { Lane::Fresh } else { Lane::Kept },
            process: self.text_if_any(K::Process),
            class,
            status: self.status_if_any(K::Status),
            error: self.text_if_any(K::Error),
            connection: self.has(K::Connection).then(|| self.count(K::Connection)),
            uses: self.small(K::Uses),
            reopened: self.flag(K::Reopened),
        }
    }

    fn answer(&self) -> Answer {
        match self.word(K::Kind, "ready not_ready refused cut silent fault") {
            0 => Answer::Ready { status: self.status(K::Status), version: self.text_if_any(K::Version) },
            1 => Answer::NotReady { status: self.status(K::Status) },
            2 => {
                Answer::Refused { by: if self.word(K::By, "host names") == 0 { Refuser::Host } else { Refuser::Names } }
            }
            3 => Answer::Cut {
                by: match self.word(K::By, "reset closed garbled tls") {
                    0 => Cutting::Reset,
                    1 => Cutting::Closed,
                    2 => Cutting::Garbled,
                    _ => Cutting::Tls,
                },
            },
            4 => Answer::Silent {
                by: if self.word(K::By, "timeout too_many_requests") == 0 {
                    Silence::Timeout
                } else {
                    Silence::TooManyRequests
                },
            },
            _ => Answer::Fault { code: self.text(K::Code) },
        }
    }

    fn ending(&self) -> Ending {
        match self.word(K::Ending, "complete incomplete interrupted failed") {
            0 => Ending::Complete,
            1 => Ending::Incomplete {
                because: match self.word(K::Because, "never_ready ended_early never_exited") {
                    0 => Unfinished::NeverReady,
                    1 => Unfinished::EndedEarly,
                    _ => Unfinished::NeverExited,
                },
                process: self.text(K::Process),
            },
            2 => Ending::Interrupted,
            _ => Ending::Failed { because: self.text(K::Because) },
        }
    }

    fn header(&self) -> Header {
        let options = self.object(K::Options);
        let machine = self.object(K::Machine);
        let list = self.object(K::Processes);
        let count = if list.of.is_array() { list.of.length() } else { 0 };
        let processes = (0..count).map(|place| {
            let one = Fields { keys: self.keys, of: list.of.nth(place).unchecked_into() };
            Planned {
                name: one.text(K::Name),
                command: one.text(K::Command),
                address: one.text(K::Address),
                ready: one.text(K::Ready),
            }
        });
        Header {
            schema: self.text(K::Schema),
            version: self.text(K::Version),
            options: options.options(),
            policy: self.object(K::Policy).policy(),
            machine: Machine {
                cores: machine.small(K::Cores),
                descriptors: machine.count(K::Descriptors),
                descriptors_needed: machine.count(K::DescriptorsNeeded),
                client_ports: machine.small(K::ClientPorts),
            },
            processes: processes.collect(),
        }
    }

    fn options(&self) -> Options {
        Options {
            every_us: self.moment(K::Every),
            probe_every_us: self.moment(K::ProbeEvery),
            probe_timeout_us: self.moment(K::ProbeTimeout),
            lag_us: self.moment(K::Lag),
            give_up_us: self.moment(K::GiveUp),
            warm_up_us: self.moment(K::WarmUp),
            tail_us: self.moment(K::Tail),
            start_timeout_us: self.moment(K::StartTimeout),
            drain_timeout_us: self.moment(K::DrainTimeout),
            max_slow: self.count(K::MaxSlow),
            path: self.text(K::Path),
            expect: self.status_if_any(K::Expect),
            spawn: if self.word(K::Spawn, "direct shell") == 0 { Spawn::Direct } else { Spawn::Shell },
            busy: self.small(K::Busy),
        }
    }

    /// What is left out is as it is by default.
    fn policy(&self) -> RotationPolicy {
        let mut policy = RotationPolicy::default();
        for (key, number) in [(K::Silences, &mut policy.silences_to_leave), (K::Joins, &mut policy.answers_to_join)] {
            if !self.get(key).is_undefined() {
                match NonZeroU32::new(self.small(key)) {
                    Some(told) => *number = told,
                    None => self.wrong(key, "a number from 1"),
                }
            }
        }
        if !self.get(K::HoldLast).is_undefined() {
            policy.hold_last = HoldLast::from(self.flag(K::HoldLast));
        }
        policy
    }
}
