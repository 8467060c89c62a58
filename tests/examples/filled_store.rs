//! A data folder with a history in it: `filled_store DIR EVENTS INSTANCES SECS` writes so many events of so many
//! instances, spread evenly over so many seconds up to now, as a daemon would have recorded them.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use greenlight::UnixSeconds;
use greenlight::store::{Batch, Store, open};
use greenlight_core::history::{Event, Happening};
use greenlight_core::{Name, Row};

#[expect(clippy::disallowed_methods, reason = "the daemon that is started on it judges by this clock")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, events, instances, secs] = &arguments[..] else {
        return Err("DIR EVENTS INSTANCES SECS are wanted".into());
    };
    let (events, instances, secs): (u64, u64, u64) = (events.parse()?, instances.parse()?, secs.parse()?);
    let from = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs() - secs;
    let mut store = open(Path::new(folder))?;
    for first in (0..events).step_by(10_000) {
        let batch: Result<Vec<Event>, _> = (first..events.min(first + 10_000))
            .map(|number| event(number, from + number * secs / events, instances))
            .collect();
        store.append(&Batch { events: batch?, ..Batch::default() })?;
    }
    Ok(())
}

/// Every third one breaks an instance, and the next of that instance mends it or changes what it serves.
fn event(number: u64, at_secs: u64, instances: u64) -> Result<Event, Box<dyn std::error::Error>> {
    let at_unix = UnixSeconds::new(at_secs);
    let place = number % instances;
    let what = if number == 0 {
        Happening::Started { watched_until_unix: None, drift_secs: 0 }
    } else {
        Happening::Changed {
            name: Name::of_instance(&format!("team/slot-{place:04}"))?,
            order: place,
            source: Name::of_source("driver")?,
            last_change_unix: at_unix,
            stored_change_unix: None,
            row: Box::new(Row {
                phase: "building".into(),
                serving_sha: (!number.is_multiple_of(3)).then(|| format!("{number:07x}").into()),
                last_green: Some("9f6e4d5".into()),
                ..Row::default()
            }),
        }
    };
    Ok(Event { at_unix, what })
}
