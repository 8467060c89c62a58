//! The events of a record as numbers: the other side reads lines, and what becomes of them is decided here.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::num::NonZeroU32;

use greenlight_core::rehearsal::{
    Class, Door, Ending, Event, Header, Lane, Machine, Options, Planned, Spawn, Tick, Unfinished,
};
use greenlight_core::rotation::{Answer, Cause, Cutting, HoldLast, MoveKind, Refuser, RotationPolicy, Silence};

use crate::number::to_signed;

/// A line: its numbers in the order in which `rehearsal-lines.js` writes them down, a name, and a text. NaN is null; a
/// word is its place among those that may stand there. Both sides hold the ranges: what is beyond is refused there.
pub(super) struct Row<'a> {
    pub(super) numbers: &'a [f64],
    pub(super) name: Option<Box<str>>,
    pub(super) text: Box<str>,
}

impl Row<'_> {
    fn next(&mut self) -> f64 {
        match self.numbers.split_first() {
            Some((first, rest)) => {
                self.numbers = rest;
                *first
            }
            None => f64::NAN,
        }
    }

    fn moment(&mut self) -> i64 {
        to_signed(self.next())
    }

    fn moment_if_any(&mut self) -> Option<i64> {
        let number = self.next();
        (!number.is_nan()).then_some(to_signed(number))
    }

    fn count(&mut self) -> u64 {
        self.moment().unsigned_abs()
    }

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the other side holds the range")]
    fn small(&mut self) -> u32 {
        self.next() as u32
    }

    #[expect(clippy::cast_possible_truncation, reason = "the other side holds the range")]
    fn status(&mut self) -> u16 {
        self.small() as u16
    }

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the other side holds the range")]
    fn status_if_any(&mut self) -> Option<u16> {
        self.moment_if_any().map(|status| status as u16)
    }

    fn positive(&mut self) -> NonZeroU32 {
        NonZeroU32::new(self.small()).unwrap_or(NonZeroU32::MIN)
    }

    fn text(&mut self) -> Box<str> {
        core::mem::take(&mut self.text)
    }

    pub(super) fn event(&mut self) -> Event {
        let kind = self.small();
        let at_us = self.moment();
        match kind {
            0 => return Event::Header(self.header()),
            7 => return Event::Expected { at_us, status: self.status() },
            12 => return Event::Tick(self.tick(at_us)),
            13 => return Event::Control { due_us: at_us, took_us: self.moment_if_any() },
            14 => return Event::End { at_us, ticks: self.count(), how: self.ending() },
            _ => {}
        }
        let process = self.name.take().unwrap_or_default();
        match kind {
            1 => Event::Started { at_us, process, pid: self.small() },
            2 => Event::Sigterm { at_us, process },
            3 => Event::Exited { at_us, process, exit: self.text() },
            4 => Event::Killed { at_us, process },
            5 => Event::LastWords { at_us, process, text: self.text() },
            6 => {
                let text = self.text();
                let (asked, found) = text.split_once('\n').unwrap_or_default();
                Event::Elsewhere { at_us, process, asked: asked.into(), found: found.into() }
            }
            8 => {
                let (due_us, sent_us, late_us) = (self.moment(), self.moment_if_any(), self.moment());
                Event::Probe { at_us, due_us, sent_us, process, answer: self.answer(), late_us }
            }
            9 => Event::Late { at_us, due_us: self.moment(), process, answer: self.answer() },
            10 => {
                let kind = if self.small() == 0 { MoveKind::Join } else { MoveKind::Leave };
                let in_a_row = self.small();
                Event::Move { at_us, process, kind, cause: Cause { answer: self.answer(), in_a_row } }
            }
            _ => {
                let found = match self.small() {
                    0 => Door::Open,
                    1 => Door::Closed,
                    2 => Door::Silent,
                    _ => Door::Ours,
                };
                Event::Tried { at_us, process, found }
            }
        }
    }

    fn tick(&mut self, end_us: i64) -> Tick {
        let error = self.text();
        Tick {
            tick: self.count(),
            due_us: self.moment(),
            sent_us: self.moment_if_any(),
            end_us,
            lane: if self.small() == 0 { Lane::Fresh } else { Lane::Kept },
            process: self.name.take(),
            class: usize::try_from(self.small())
                .ok()
                .and_then(|place| Class::ALL.get(place))
                .copied()
                .unwrap_or(Class::Ours),
            status: self.status_if_any(),
            error: (!error.is_empty()).then_some(error),
            connection: self.moment_if_any().map(i64::unsigned_abs),
            uses: self.small(),
            reopened: self.small() > 0,
        }
    }

    /// The version is of no account here.
    fn answer(&mut self) -> Answer {
        let kind = self.small();
        let detail = self.status();
        match kind {
            0 => Answer::Ready { status: detail, version: None },
            1 => Answer::NotReady { status: detail },
            2 => Answer::Refused { by: if detail == 0 { Refuser::Host } else { Refuser::Names } },
            3 => Answer::Cut {
                by: match detail {
                    0 => Cutting::Reset,
                    1 => Cutting::Closed,
                    2 => Cutting::Garbled,
                    _ => Cutting::Tls,
                },
            },
            4 => Answer::Silent { by: if detail == 0 { Silence::Timeout } else { Silence::TooManyRequests } },
            _ => Answer::Fault { code: self.text() },
        }
    }

    fn ending(&mut self) -> Ending {
        match self.small() {
            0 => Ending::Complete,
            1 => Ending::Incomplete {
                because: match self.small() {
                    0 => Unfinished::NeverReady,
                    1 => Unfinished::EndedEarly,
                    _ => Unfinished::NeverExited,
                },
                process: self.name.take().unwrap_or_default(),
            },
            2 => Ending::Interrupted,
            _ => Ending::Failed { because: self.text() },
        }
    }

    /// Commands stay on the other side. Name, address and where readiness is asked come in one text, a line each.
    fn header(&mut self) -> Header {
        let mut processes = Vec::new();
        if !self.text.is_empty() {
            let mut lines = self.text.split('\n').map(Into::into);
            while let (Some(name), Some(address), Some(ready)) = (lines.next(), lines.next(), lines.next()) {
                processes.push(Planned { name, command: Box::default(), address, ready });
            }
        }
        let options = Options {
            every_us: self.moment(),
            probe_every_us: self.moment(),
            probe_timeout_us: self.moment(),
            lag_us: self.moment(),
            give_up_us: self.moment(),
            warm_up_us: self.moment(),
            tail_us: self.moment(),
            start_timeout_us: self.moment(),
            drain_timeout_us: self.moment(),
            max_slow: self.count(),
            path: Box::default(),
            expect: self.status_if_any(),
            spawn: Spawn::Direct,
            busy: self.small(),
        };
        Header {
            schema: self.name.take().unwrap_or_default(),
            version: Box::default(),
            options,
            policy: RotationPolicy {
                silences_to_leave: self.positive(),
                answers_to_join: self.positive(),
                hold_last: HoldLast::from(self.small() > 0),
            },
            machine: Machine::default(),
            processes,
        }
    }
}
