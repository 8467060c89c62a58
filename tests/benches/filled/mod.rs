//! A data folder with a history in it, as a daemon would have recorded it.

use std::error::Error;
use std::path::Path;

use greenlight::UnixSeconds;
use greenlight::store::{Batch, Store, open};
use greenlight_core::history::{Event, Happening};
use greenlight_core::{Name, Row};

/// Writes so many events of so many instances, spread evenly over so many seconds.
pub(crate) fn fill(folder: &Path, events: u64, instances: u64, from: u64, secs: u64) -> Result<(), Box<dyn Error>> {
    let mut store = open(folder)?;
    for first in (0..events).step_by(10_000) {
        let batch: Result<Vec<Event>, _> = (first..events.min(first + 10_000))
            .map(|number| event(number, from + number * secs / events, instances))
            .collect();
        store.append(&Batch { events: batch?, ..Batch::default() })?;
    }
    Ok(())
}

/// One of many: the first is a start, every third breaks an instance, and the next of that instance mends it or changes
/// what it serves.
pub(crate) fn event(number: u64, at_secs: u64, instances: u64) -> Result<Event, Box<dyn Error>> {
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
