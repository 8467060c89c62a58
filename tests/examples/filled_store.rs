//! A data folder with a history in it: `filled_store DIR EVENTS INSTANCES SECS` writes so many events of so many
//! instances, spread evenly over so many seconds up to now, as a daemon would have recorded them.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

#[path = "../benches/filled/mod.rs"]
mod filled;

use filled::fill;

#[expect(clippy::disallowed_methods, reason = "the daemon that is started on it judges by this clock")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, events, instances, secs] = &arguments[..] else {
        return Err("DIR EVENTS INSTANCES SECS are wanted".into());
    };
    let (events, instances, secs): (u64, u64, u64) = (events.parse()?, instances.parse()?, secs.parse()?);
    let from = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs() - secs;
    fill(Path::new(folder), events, instances, from, secs)
}
