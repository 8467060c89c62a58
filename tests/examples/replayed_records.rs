//! Records of rehearsals with what the rules make of them natively, one JSON line each: what the page's wasm must make
//! of them too.
//!
//! `replayed_records SEED COUNT` makes records from a seed, some of them damaged; `replayed_records FILE…` reads them.

use std::io::{self, BufWriter, Write};
use std::num::NonZeroU32;

use greenlight_core::Name;
use greenlight_core::rehearsal::{
    Account, Class, Door, Ending, Event, Header, Json, Lane, Machine, Membership, Options, Planned, Reader, Record,
    Replay, SCHEMA, States, Tick, Trial, Unfinished, Untold,
};
use greenlight_core::rotation::{Answer, Cutting, HoldLast, Member, Refuser, Rotation, RotationPolicy, Silence};
use greenlight_tests::{Asked, Dice};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut out = BufWriter::new(io::stdout().lock());
    match Asked::here()? {
        Asked::Generated { mut dice, count } => {
            for _ in 0..count {
                let intact = generated(&mut dice)?;
                let mut lines = intact.clone();
                damage(&mut dice, &mut lines);
                let mut told = told(&lines);
                told["damaged"] = (intact != lines).into();
                writeln!(out, "{told}")?;
            }
        }
        Asked::Files(files) => {
            for file in &files {
                let lines: Vec<String> = std::fs::read_to_string(file)?.lines().map(ToOwned::to_owned).collect();
                writeln!(out, "{}", told(&lines))?;
            }
        }
    }
    out.flush()?;
    Ok(())
}

/// The lines, why they are refused if they are, and all that the rules make of what is readable.
fn told(lines: &[String]) -> Value {
    let mut reader = Reader::new();
    let mut refusal = None;
    for line in lines {
        if let Err(error) = reader.read(line, &SerdeJson) {
            refusal = Some(error.to_string());
            break;
        }
    }
    let refusal = refusal.or_else(|| reader.check_end().err().map(|error| error.to_string()));
    let Some(record) = reader.finish() else { return json!({ "lines": lines, "refusal": refusal, "account": null }) };
    let states = States::of(&record);
    let turns = record.header.processes.iter().map(|one| {
        let turns = states.turns(&one.name).iter().map(|(at, _, doing)| json!([at, doing.as_str()]));
        turns.collect::<Vec<_>>()
    });
    let turns: Vec<_> = turns.collect();
    json!({
        "lines": lines, "refusal": refusal, "account": Account::of(&record), "turns": turns,
        "recorded": record.moves().map(|(at, process, kind, _)| json!([at, process, kind])).collect::<Vec<_>>(),
        "replays": trials(&record).iter().map(|trial| replayed(&record, trial)).collect::<Vec<_>>(),
    })
}

/// The recorded one first; then the grid, under three ways to join and to hold.
fn trials(record: &Record) -> Vec<Trial> {
    let mut all = vec![Trial::recorded(record)];
    for (joins, hold_last) in [(1, HoldLast::Off), (2, HoldLast::Off), (1, HoldLast::On)] {
        for silences in 1..=6 {
            for probe_timeout_us in [50_000, 100_000, 200_000, 300_000, 500_000, 1_000_000, 2_000_000, 3_000_000] {
                let policy =
                    RotationPolicy { silences_to_leave: number(silences), answers_to_join: number(joins), hold_last };
                all.push(Trial { policy, probe_timeout_us });
            }
        }
    }
    all
}

fn replayed(record: &Record, trial: &Trial) -> Value {
    let replay = Replay::of(record, trial);
    let place = |to| match to {
        Membership::Out => 0,
        Membership::In => 1,
        Membership::Unknown => 2,
    };
    json!({
        "silences": trial.policy.silences_to_leave, "timeout_us": trial.probe_timeout_us,
        "joins": trial.policy.answers_to_join, "hold": trial.policy.hold_last == HoldLast::On,
        "leaves": replay.leaves(), "nobody": replay.ticks(Untold::Nobody), "unknown": replay.ticks(Untold::Unknown),
        "holds_until_us": replay.holds_until_us,
        "shifts": replay.shifts.iter().map(|(at, process, to)| json!([at, process, place(*to)])).collect::<Vec<_>>(),
        "untold": replay.untold.iter().map(|(due, what)| json!([due, *what == Untold::Unknown])).collect::<Vec<_>>(),
    })
}

/// A record of two processes that may do anything, and the lines that a program would have written.
fn generated(dice: &mut Dice) -> Result<Vec<String>, Box<dyn std::error::Error>> {
    let policy = RotationPolicy {
        silences_to_leave: number(dice.under(4) + 1),
        answers_to_join: number(dice.under(2) + 1),
        hold_last: HoldLast::from(dice.under(4) == 0),
    };
    let options = Options {
        probe_timeout_us: *dice.one_of(&[100_000, 300_000, 500_000]),
        lag_us: *dice.one_of(&[0, 0, 30_000]),
        max_slow: dice.under(2).into(),
        ..Options::default()
    };
    let ticks = u64::from(dice.under(150));
    let timeout_us = options.probe_timeout_us;
    let processes = ["old", "new"].map(planned).into();
    let machine = Machine { cores: 2, descriptors: 1024, descriptors_needed: 100, client_ports: 28_232 };
    let header = Header { schema: SCHEMA.into(), version: "0.1.0".into(), options, policy, machine, processes };
    let mut events = vec![Event::Started { at_us: -9_000, process: "old".into(), pid: 100 }];
    for (process, from_us) in [("old", -5_000), ("new", i64::from(dice.under(900)) * 1000)] {
        probes(dice, process, from_us, i64::try_from(ticks)? * 10_000, timeout_us, &mut events);
    }
    let at = |dice: &mut Dice| i64::from(dice.under(1_500)) * 1_000;
    if dice.under(4) > 0 {
        let at_us = at(dice);
        events.push(Event::Sigterm { at_us, process: "old".into() });
        for step in 1..6 {
            let found = [Door::Open, Door::Open, Door::Closed, Door::Silent, Door::Ours][dice.under(5) as usize];
            events.push(Event::Tried { at_us: at_us + step * 50_000, process: "old".into(), found });
        }
    }
    if dice.under(3) > 0 {
        let exit = ["exit 0", "exit 1", "signal 9"][dice.under(3) as usize].into();
        events.push(Event::Exited { at_us: at(dice), process: "old".into(), exit });
    }
    events.push(Event::Started { at_us: at(dice), process: "new".into(), pid: 101 });
    if dice.under(3) == 0 {
        events.push(Event::Killed { at_us: at(dice), process: "new".into() });
    }
    for number in 0..ticks {
        // Some have no outcome.
        if dice.under(40) > 0 {
            events.push(Event::Tick(tick(dice, number)?));
        }
        if number % 20 == 0 {
            let took_us = (dice.under(100) > 0).then(|| dice.under(9_000).into());
            events.push(Event::Control { due_us: i64::try_from(number)? * 10_000, took_us });
        }
    }
    events.sort_by_key(Event::at_us);
    let mut all = vec![Event::Header(header)];
    all.extend(with_moves(events, policy)?);
    let how = match dice.under(8) {
        0 => Ending::Interrupted,
        1 => Ending::Incomplete { because: Unfinished::NeverExited, process: "old".into() },
        2 => Ending::Incomplete { because: Unfinished::EndedEarly, process: "new".into() },
        3 => Ending::Failed { because: "no \u{202e}room\n left".into() },
        _ => Ending::Complete,
    };
    all.push(Event::End { at_us: 2_000_000, ticks, how });
    Ok(all.iter().map(serde_json::to_string).collect::<Result<Vec<_>, _>>()?)
}

/// What no program writes.
fn damage(dice: &mut Dice, lines: &mut Vec<String>) {
    let place = dice.under(u32::try_from(lines.len()).unwrap_or(1)) as usize;
    match dice.under(32) {
        0 => lines.truncate(place),
        1 => lines[0] = lines[0].replace("rehearsal/1", "rehearsal/2"),
        2 => lines[0] = r#"{"schema":"somebody.else/1"}"#.into(),
        3 => lines.push(lines[place].clone()),
        4 => lines.insert(place, lines[place].clone()),
        5 => lines[place] = lines[place].replace("\"old\"", "\"other\""),
        6 => lines.swap(0, place),
        7 => lines[place] = " ".repeat(70_000),
        _ => {}
    }
}

/// The moves that follow from the probes, each behind its probe.
fn with_moves(events: Vec<Event>, policy: RotationPolicy) -> Result<Vec<Event>, Box<dyn std::error::Error>> {
    let mut rotation = Rotation::new();
    let mut ids = Vec::new();
    for name in ["old", "new"] {
        ids.push((name, rotation.add(Member::new(Name::of_instance(name)?, policy, None, 0_i64))));
    }
    let mut all = Vec::new();
    for event in events {
        let mut moved = None;
        if let Event::Probe { at_us, process, answer, .. } = &event
            && let Some((_, id)) = ids.iter().find(|(name, _)| **name == **process)
            && let Some(one) = rotation.handle(*id, answer.clone(), *at_us).moved
        {
            moved = Some(Event::Move { at_us: *at_us, process: process.clone(), kind: one.kind, cause: one.cause });
        }
        all.push(event);
        all.extend(moved);
    }
    Ok(all)
}

fn probes(dice: &mut Dice, process: &str, from_us: i64, until_us: i64, timeout_us: i64, events: &mut Vec<Event>) {
    let mut due_us = from_us;
    while due_us < until_us {
        let late_us = if dice.under(20) == 0 { 700 } else { 0 };
        let took = i64::from(dice.under(400)) * if dice.under(3) == 0 { 1000 } else { 50 };
        let answer = match dice.under(12) {
            0 => Answer::NotReady { status: 503 },
            1 => Answer::Refused { by: [Refuser::Host, Refuser::Names][dice.under(2) as usize] },
            2 => {
                let kinds = [Cutting::Reset, Cutting::Closed, Cutting::Garbled, Cutting::Tls];
                Answer::Cut { by: kinds[dice.under(4) as usize] }
            }
            3 => Answer::Silent { by: Silence::TooManyRequests },
            4 => Answer::Fault { code: ["EMFILE", "SLOW_MACHINE"][dice.under(2) as usize].into() },
            5 => Answer::Ready { status: 204, version: Some("v2".into()) },
            _ => Answer::Ready { status: 200, version: None },
        };
        let sent_us = due_us + i64::from(dice.under(2_000));
        let is_silent = took > timeout_us;
        let at_us = sent_us + took.min(timeout_us);
        let said = if is_silent { Answer::Silent { by: Silence::Timeout } } else { answer.clone() };
        let sent = (dice.under(50) > 0).then_some(sent_us);
        events.push(Event::Probe { at_us, due_us, sent_us: sent, process: process.into(), answer: said, late_us });
        if is_silent && dice.under(3) > 0 {
            events.push(Event::Late { at_us: sent_us + took, due_us, process: process.into(), answer });
        }
        while due_us <= at_us {
            due_us += 100_000;
        }
    }
}

fn tick(dice: &mut Dice, number: u64) -> Result<Tick, std::num::TryFromIntError> {
    let due_us = i64::try_from(number)? * 10_000;
    let class = if dice.under(4) > 0 { Class::Ok } else { *dice.one_of(&Class::ALL) };
    let is_asked = class != Class::Nobody;
    Ok(Tick {
        tick: number,
        due_us,
        sent_us: is_asked.then(|| due_us + i64::from(dice.under(300))),
        end_us: due_us + i64::from(dice.under(40_000)),
        lane: Lane::of_tick(number),
        process: is_asked.then(|| ["old", "new"][dice.under(2) as usize].into()),
        class,
        status: (dice.under(2) == 0).then_some(200),
        error: (dice.under(3) == 0).then(|| "ECONN\u{7}RESET".into()),
        connection: is_asked.then_some(number),
        uses: dice.under(3),
        reopened: dice.under(10) == 0,
    })
}

fn planned(name: &str) -> Planned {
    let address: Box<str> = "127.0.0.1:20001".into();
    Planned {
        name: name.into(),
        command: format!("serve --as {name}").into(),
        address: address.clone(),
        ready: address,
    }
}

fn number(number: u32) -> NonZeroU32 {
    NonZeroU32::new(number).unwrap_or(NonZeroU32::MIN)
}

struct SerdeJson;

impl Json for SerdeJson {
    fn read<T: DeserializeOwned>(&self, text: &str) -> Result<T, String> {
        serde_json::from_str(text).map_err(|error| error.to_string())
    }
}
