//! Generated lives as exports, and what the rules make of them natively: what the page's wasm must make of them too.
//!
//! `replayed_weeks SEED COUNT SECS EVERY` plays so many lives of so many seconds, in which something happens every so
//! many seconds on average, and prints each as a line of JSON.

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a tool of the tests: what is not there ends it")]
#![expect(dead_code, reason = "the lives are those of core's own tests, which ask more of them")]

#[path = "../tests/history/life.rs"]
mod life;
#[path = "../tests/history/random.rs"]
mod random;
#[path = "../tests/history/truth.rs"]
mod truth;

use greenlight_core::Horizon;
use greenlight_core::history::{End, Head, Lives, Question, SCHEMA, Tail, answer};

use crate::life::{Life, at, played};
use crate::truth::HORIZONS;

fn main() {
    let numbers: Vec<u64> = std::env::args().skip(1).map(|argument| argument.parse().unwrap()).collect();
    let [seed, count, secs, every_secs] = numbers[..] else { panic!("SEED COUNT SECS EVERY are wanted") };
    for seed in seed..seed + count {
        println!("{}", told(seed, played(seed, secs, every_secs)));
    }
}

fn told(seed: u64, life: Life) -> serde_json::Value {
    let window = life.truth.window;
    let mut known = Lives::default();
    life.record.iter().for_each(|event| known.note(event));
    let known_until = at(life.now);
    let head = Head {
        schema: SCHEMA.into(),
        version: env!("CARGO_PKG_VERSION").into(),
        from_unix: window.from,
        to_unix: window.to,
        known_until_unix: known_until,
        stale_after_secs: Horizon::DEFAULT,
        complete_from_unix: None,
        names: None,
        lives: known,
    };
    let tail = Tail { events: life.record.len() as u64, next: None };
    let mut lines = vec![serde_json::to_string(&head).unwrap()];
    lines.extend(life.record.iter().map(|event| serde_json::to_string(event).unwrap()));
    lines.push(serde_json::to_string(&End { end: tail }).unwrap());
    let question = Question {
        from_unix: window.from,
        to_unix: window.to,
        stale_after_secs: HORIZONS.to_vec(),
        events: life.record,
        known_until_unix: Some(known_until),
    };
    let horizons: Vec<Option<u64>> = HORIZONS.map(Into::into).into();
    serde_json::json!({
        "seed": seed, "from": window.from, "to": window.to, "stale_after": horizons, "lines": lines, "answered": answer(&question),
    })
}
