//! Records written by hand, and a roll played by the rules from its probes.

use std::collections::BTreeMap;

use greenlight_core::Name;
use greenlight_core::rehearsal::{
    Class, Door, Ending, Event, Header, Json, Lane, Machine, Options, Planned, Record, SCHEMA, Tick,
};
use greenlight_core::rotation::{Answer, Cause, Cutting, Member, MoveKind, Refuser, Rotation, RotationPolicy, Silence};

pub(crate) fn planned(name: &str) -> Planned {
    Planned {
        name: name.into(),
        command: format!("serve --as {name}").into(),
        address: "127.0.0.1:20001".into(),
        ready: "127.0.0.1:20001/readyz".into(),
    }
}

pub(crate) fn header() -> Header {
    Header {
        schema: SCHEMA.into(),
        version: "0.1.0".into(),
        options: Options::default(),
        policy: RotationPolicy::default(),
        machine: Machine { cores: 2, descriptors: 4096, descriptors_needed: 1200, client_ports: 28_232 },
        processes: vec![planned("old"), planned("new")],
    }
}

/// A tick of its number's lane, 20 us late, over after 900 us.
pub(crate) fn tick(number: u64, process: Option<&str>, class: Class) -> Event {
    let due_us = i64::try_from(number).unwrap() * 10_000;
    Event::Tick(Tick {
        tick: number,
        due_us,
        sent_us: process.map(|_| due_us + 20),
        end_us: due_us + if process.is_some() { 900 } else { 0 },
        lane: Lane::of_tick(number),
        process: process.map(Into::into),
        class,
        status: match class {
            Class::Ok => Some(200),
            Class::ServerError => Some(500),
            Class::Unexpected => Some(404),
            _ => None,
        },
        error: match class {
            Class::Refused => Some("ECONNREFUSED".into()),
            Class::Cut => Some("ECONNRESET".into()),
            Class::Ours => Some("EMFILE".into()),
            _ => None,
        },
        connection: process.map(|_| number),
        uses: u32::from(process.is_some()),
        reopened: false,
    })
}

pub(crate) fn probe(at_us: i64, process: &str, answer: Answer) -> Event {
    let due_us = at_us - 1_000;
    Event::Probe { at_us, due_us, sent_us: Some(due_us + 10), process: process.into(), answer, late_us: 0 }
}

pub(crate) fn moved(at_us: i64, process: &str, kind: MoveKind, answer: Answer) -> Event {
    Event::Move { at_us, process: process.into(), kind, cause: Cause { answer, in_a_row: 1 } }
}

pub(crate) fn sigterm(at_us: i64) -> Event {
    Event::Sigterm { at_us, process: "old".into() }
}

pub(crate) fn exited(at_us: i64, process: &str) -> Event {
    Event::Exited { at_us, process: process.into(), exit: "exit 0".into() }
}

pub(crate) fn tried(at_us: i64, found: Door) -> Event {
    Event::Tried { at_us, process: "old".into(), found }
}

pub(crate) fn ready() -> Answer {
    Answer::of_status(200, None)
}

pub(crate) fn no() -> Answer {
    Answer::of_status(503, None)
}

pub(crate) fn refused() -> Answer {
    Answer::Refused { by: Refuser::Host }
}

pub(crate) fn cut() -> Answer {
    Answer::Cut { by: Cutting::Reset }
}

pub(crate) fn silent() -> Answer {
    Answer::Silent { by: Silence::Timeout }
}

pub(crate) fn end(ticks: u64, how: Ending) -> Event {
    Event::End { at_us: i64::try_from(ticks).unwrap() * 10_000, ticks, how }
}

pub(crate) fn record(events: Vec<Event>, ticks: u64, how: Ending) -> Record {
    under(header(), events, ticks, how)
}

pub(crate) fn under(header: Header, events: Vec<Event>, ticks: u64, how: Ending) -> Record {
    Record::from_events([Event::Header(header)].into_iter().chain(events).chain([end(ticks, how)])).unwrap()
}

/// What a roll with these answers records: the moves by the policy, and each tick asked of whoever is in. Answers in
/// order of their moment.
pub(crate) fn play(header: Header, answers: &[(i64, &str, Answer)], ticks: u64) -> Record {
    let mut rotation = Rotation::new();
    let members: BTreeMap<&str, _> = header
        .processes
        .iter()
        .map(|one| {
            let member = Member::new(Name::of_instance(&one.name).unwrap(), header.policy, None, 0_i64);
            (&*one.name, rotation.add(member))
        })
        .collect();
    let mut events = Vec::new();
    let mut answers = answers.iter().peekable();
    let mut turns: BTreeMap<Lane, usize> = BTreeMap::new();
    for number in 0..=ticks {
        let due_us = i64::try_from(number).unwrap() * 10_000;
        while let Some((at_us, process, answer)) = answers.next_if(|(at_us, ..)| number == ticks || *at_us <= due_us) {
            events.push(probe(*at_us, process, answer.clone()));
            if let Some(moved) = rotation.handle(members[process], answer.clone(), *at_us).moved {
                let (kind, cause) = (moved.kind, moved.cause);
                events.push(Event::Move { at_us: *at_us, process: (*process).into(), kind, cause });
            }
        }
        if number < ticks {
            let is_in: Vec<String> = rotation.members_in().map(|(_, one)| one.name().as_str().to_owned()).collect();
            let turn = turns.entry(Lane::of_tick(number)).or_default();
            let asked = turn.checked_rem(is_in.len()).map(|place| &*is_in[place]);
            *turn += usize::from(asked.is_some());
            let told = tick(number, asked, if asked.is_some() { Class::Ok } else { Class::Nobody });
            // Sent when it was due: who is asked is known for that moment only.
            events.push(match told {
                Event::Tick(tick) => Event::Tick(Tick { sent_us: asked.map(|_| due_us), ..tick }),
                other => other,
            });
        }
    }
    under(header, events, ticks, Ending::Complete)
}

/// One probe every 100 ms of the old one from just before the first tick on.
pub(crate) fn every_100_ms(answers: &[Answer]) -> Vec<(i64, &'static str, Answer)> {
    (0_i64..).map(|number| number * 100_000 - 5_000).zip(answers).map(|(at, one)| (at, "old", one.clone())).collect()
}

/// JSON as the driver has it.
pub(crate) struct SerdeJson;

impl Json for SerdeJson {
    fn read<T: serde::de::DeserializeOwned>(&self, text: &str) -> Result<T, String> {
        serde_json::from_str(text).map_err(|error| error.to_string())
    }
}

/// The lines of a record, as the driver writes them.
pub(crate) fn lines(record: &Record) -> Vec<String> {
    let how = record.ending.clone().unwrap();
    let end = Event::End { at_us: record.end_us, ticks: record.ticks, how };
    let events = [Event::Header(record.header.clone())].into_iter().chain(record.events.clone()).chain([end]);
    events.map(|event| serde_json::to_string(&event).unwrap()).collect()
}
