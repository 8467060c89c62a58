//! The events of a record, read field by field from parsed lines.

use alloc::boxed::Box;
use alloc::vec::Vec;

use greenlight_core::rehearsal::{
    Class, Door, Ending, Event, Header, Lane, Machine, Options, Planned, Spawn, Tick, Unfinished,
};
use greenlight_core::rotation::{Answer, Cause, Cutting, HoldLast, MoveKind, Refuser, RotationPolicy, Silence};
use wasm_bindgen::prelude::*;

use super::keyed::{Key, Keyed};
use crate::number::as_signed;
use crate::wrong::Wrong;

/// The keys of a record's lines, each made once.
pub(super) struct Keys(Vec<Key>);

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
        Self(KEYS.split_ascii_whitespace().map(Key::new).collect())
    }

    /// The schema, of whatever says one.
    pub(super) fn schema(&self, line: &JsValue) -> Option<Box<str>> {
        Fields { keys: self, of: Keyed::of(line.clone())? }.text(K::Schema).ok()
    }

    /// One event.
    ///
    /// # Errors
    /// Which field, and what is wanted there.
    pub(super) fn event(&self, line: &JsValue) -> Result<Event, Wrong> {
        let of = Keyed::of(line.clone()).ok_or_else(|| Wrong::new("it", "an object", line.clone()))?;
        Fields { keys: self, of }.event()
    }
}

/// An object of a line.
struct Fields<'a> {
    keys: &'a Keys,
    of: Keyed,
}

/// The largest whole number that both sides know for certain.
const LARGEST: i64 = (1 << 53) - 1;

impl Fields<'_> {
    fn key(&self, key: K) -> &Key {
        &self.keys.0[usize::from(key as u8)]
    }

    fn get(&self, key: K) -> JsValue {
        self.of.get(self.key(key))
    }

    fn wrong<T>(&self, key: K, wanted: &'static str) -> Result<T, Wrong> {
        Err(self.key(key).wrong(wanted, self.get(key)))
    }

    fn has(&self, key: K) -> bool {
        let value = self.get(key);
        !value.is_null() && !value.is_undefined()
    }

    fn between(&self, key: K, least: i64, most: i64) -> Result<i64, Wrong> {
        match as_signed(&self.get(key)) {
            Some(number) if least <= number && number <= most => Ok(number),
            _ => self.wrong(key, "a whole number within its bounds"),
        }
    }

    fn moment(&self, key: K) -> Result<i64, Wrong> {
        self.between(key, -LARGEST, LARGEST)
    }

    fn moment_if_any(&self, key: K) -> Result<Option<i64>, Wrong> {
        if self.has(key) { self.moment(key).map(Some) } else { Ok(None) }
    }

    fn count(&self, key: K) -> Result<u64, Wrong> {
        Ok(self.between(key, 0, LARGEST)?.unsigned_abs())
    }

    fn small(&self, key: K) -> Result<u32, Wrong> {
        Ok(u32::try_from(self.between(key, 0, i64::from(u32::MAX))?).unwrap_or(0))
    }

    fn status(&self, key: K) -> Result<u16, Wrong> {
        Ok(u16::try_from(self.between(key, 0, i64::from(u16::MAX))?).unwrap_or(0))
    }

    fn status_if_any(&self, key: K) -> Result<Option<u16>, Wrong> {
        if self.has(key) { self.status(key).map(Some) } else { Ok(None) }
    }

    fn text(&self, key: K) -> Result<Box<str>, Wrong> {
        self.of.text(self.key(key))
    }

    fn text_if_any(&self, key: K) -> Result<Option<Box<str>>, Wrong> {
        if self.has(key) { self.text(key).map(Some) } else { Ok(None) }
    }

    fn flag(&self, key: K) -> Result<bool, Wrong> {
        let value = self.get(key);
        value.as_bool().map_or_else(|| self.wrong(key, "true or false"), Ok)
    }

    /// The place of the word among the words that may stand there.
    fn word(&self, key: K, words: &'static str) -> Result<usize, Wrong> {
        let told = self.text(key)?;
        let place = words.split_ascii_whitespace().position(|word| *word == *told);
        place.map_or_else(|| self.wrong(key, words), Ok)
    }

    fn object(&self, key: K) -> Result<Self, Wrong> {
        Ok(Fields { keys: self.keys, of: self.of.object(self.key(key))? })
    }

    fn event(&self) -> Result<Event, Wrong> {
        let kind = self.word(
            K::Event,
            "header started sigterm exited killed last_words elsewhere expected probe late move tried tick control end",
        )?;
        if kind == 0 {
            return self.header().map(Event::Header);
        }
        if kind == 12 {
            return self.tick().map(Event::Tick);
        }
        if kind == 13 {
            return Ok(Event::Control { due_us: self.moment(K::Due)?, took_us: self.moment_if_any(K::Took)? });
        }
        let at_us = self.moment(K::At)?;
        if kind == 7 {
            return Ok(Event::Expected { at_us, status: self.status(K::Status)? });
        }
        if kind == 14 {
            return Ok(Event::End { at_us, ticks: self.count(K::Ticks)?, how: self.object(K::How)?.ending()? });
        }
        let process = self.text(K::Process)?;
        Ok(match kind {
            1 => Event::Started { at_us, process, pid: self.small(K::Pid)? },
            2 => Event::Sigterm { at_us, process },
            3 => Event::Exited { at_us, process, exit: self.text(K::Exit)? },
            4 => Event::Killed { at_us, process },
            5 => Event::LastWords { at_us, process, text: self.text(K::Text)? },
            6 => Event::Elsewhere { at_us, process, asked: self.text(K::Asked)?, found: self.text(K::Found)? },
            8 => Event::Probe {
                at_us,
                due_us: self.moment(K::Due)?,
                sent_us: self.moment_if_any(K::Sent)?,
                process,
                answer: self.object(K::Answer)?.answer()?,
                late_us: self.moment(K::Late)?,
            },
            9 => {
                let due_us = self.moment(K::Due)?;
                Event::Late { at_us, due_us, process, answer: self.object(K::Answer)?.answer()? }
            }
            10 => {
                let kind = [MoveKind::Join, MoveKind::Leave][self.word(K::Move, "join leave")?];
                let cause = self.object(K::Cause)?;
                let cause = Cause { answer: cause.answer()?, in_a_row: cause.small(K::InARow)? };
                Event::Move { at_us, process, kind, cause }
            }
            _ => {
                let found = self.word(K::Found, "open closed silent ours")?;
                Event::Tried { at_us, process, found: [Door::Open, Door::Closed, Door::Silent, Door::Ours][found] }
            }
        })
    }

    fn tick(&self) -> Result<Tick, Wrong> {
        let class = self.text(K::Class)?;
        let Some(class) = Class::ALL.into_iter().find(|one| *one.as_str() == *class) else {
            return self.wrong(K::Class, "a class of ticks");
        };
        Ok(Tick {
            tick: self.count(K::Tick)?,
            due_us: self.moment(K::Due)?,
            sent_us: self.moment_if_any(K::Sent)?,
            end_us: self.moment(K::End)?,
            lane: Lane::ALL[self.word(K::Lane, "fresh kept")?],
            process: self.text_if_any(K::Process)?,
            class,
            status: self.status_if_any(K::Status)?,
            error: self.text_if_any(K::Error)?,
            connection: if self.has(K::Connection) { Some(self.count(K::Connection)?) } else { None },
            uses: self.small(K::Uses)?,
            reopened: self.flag(K::Reopened)?,
        })
    }

    fn answer(&self) -> Result<Answer, Wrong> {
        Ok(match self.word(K::Kind, "ready not_ready refused cut silent fault")? {
            0 => Answer::Ready { status: self.status(K::Status)?, version: self.text_if_any(K::Version)? },
            1 => Answer::NotReady { status: self.status(K::Status)? },
            2 => Answer::Refused { by: [Refuser::Host, Refuser::Names][self.word(K::By, "host names")?] },
            3 => {
                let by = self.word(K::By, "reset closed garbled tls")?;
                Answer::Cut { by: [Cutting::Reset, Cutting::Closed, Cutting::Garbled, Cutting::Tls][by] }
            }
            4 => {
                let by = self.word(K::By, "timeout too_many_requests")?;
                Answer::Silent { by: [Silence::Timeout, Silence::TooManyRequests][by] }
            }
            _ => Answer::Fault { code: self.text(K::Code)? },
        })
    }

    fn ending(&self) -> Result<Ending, Wrong> {
        Ok(match self.word(K::Ending, "complete incomplete interrupted failed")? {
            0 => Ending::Complete,
            1 => {
                let lacking = self.word(K::Because, "never_ready ended_early never_exited")?;
                Ending::Incomplete {
                    because: [Unfinished::NeverReady, Unfinished::EndedEarly, Unfinished::NeverExited][lacking],
                    process: self.text(K::Process)?,
                }
            }
            2 => Ending::Interrupted,
            _ => Ending::Failed { because: self.text(K::Because)? },
        })
    }

    fn header(&self) -> Result<Header, Wrong> {
        let options = self.object(K::Options)?;
        let machine = self.object(K::Machine)?;
        let list = self.of.list(self.key(K::Processes))?;
        let mut processes = Vec::new();
        for place in 0..list.length() {
            let Some(of) = Keyed::of(list.nth(place)) else { return self.wrong(K::Processes, "a list of objects") };
            let one = Fields { keys: self.keys, of };
            processes.push(Planned {
                name: one.text(K::Name)?,
                command: one.text(K::Command)?,
                address: one.text(K::Address)?,
                ready: one.text(K::Ready)?,
            });
        }
        Ok(Header {
            schema: self.text(K::Schema)?,
            version: self.text(K::Version)?,
            options: options.options()?,
            policy: self.object(K::Policy)?.policy()?,
            machine: Machine {
                cores: machine.small(K::Cores)?,
                descriptors: machine.count(K::Descriptors)?,
                descriptors_needed: machine.count(K::DescriptorsNeeded)?,
                client_ports: machine.small(K::ClientPorts)?,
            },
            processes,
        })
    }

    fn options(&self) -> Result<Options, Wrong> {
        Ok(Options {
            every_us: self.moment(K::Every)?,
            probe_every_us: self.moment(K::ProbeEvery)?,
            probe_timeout_us: self.moment(K::ProbeTimeout)?,
            lag_us: self.moment(K::Lag)?,
            give_up_us: self.moment(K::GiveUp)?,
            warm_up_us: self.moment(K::WarmUp)?,
            tail_us: self.moment(K::Tail)?,
            start_timeout_us: self.moment(K::StartTimeout)?,
            drain_timeout_us: self.moment(K::DrainTimeout)?,
            max_slow: self.count(K::MaxSlow)?,
            path: self.text(K::Path)?,
            expect: self.status_if_any(K::Expect)?,
            spawn: [Spawn::Direct, Spawn::Shell][self.word(K::Spawn, "direct shell")?],
            busy: self.small(K::Busy)?,
        })
    }

    /// What is left out is as it is by default.
    fn policy(&self) -> Result<RotationPolicy, Wrong> {
        let mut policy = RotationPolicy::default();
        for (key, number) in [(K::Silences, &mut policy.silences_to_leave), (K::Joins, &mut policy.answers_to_join)] {
            if !self.get(key).is_undefined() {
                *number = self.small(key)?.try_into().or_else(|_| self.wrong(key, "a number from 1"))?;
            }
        }
        if !self.get(K::HoldLast).is_undefined() {
            policy.hold_last = HoldLast::from(self.flag(K::HoldLast)?);
        }
        Ok(policy)
    }
}
