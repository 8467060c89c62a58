//! An event as it stands in JSON: one flat object, whose `event` says which of its fields count.
//!
//! It is read straight into all fields that an event may have. An enum that is tagged within its object would be kept
//! whole in between, for its tag may come last; and a daemon reads every event before a window to tell the window.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;

use super::{Event, Happening};
use crate::name::Name;
use crate::row::Row;
use crate::time::UnixSeconds;

#[derive(serde::Deserialize)]
pub(super) struct Flat {
    at_unix: UnixSeconds,
    event: Kind,
    name: Option<Name>,
    #[serde(default)]
    order: u64,
    source: Option<Name>,
    last_change_unix: Option<UnixSeconds>,
    stored_change_unix: Option<UnixSeconds>,
    row: Option<Box<Row>>,
    names: Option<Vec<Name>>,
    good_until_unix: Option<UnixSeconds>,
    watched_until_unix: Option<UnixSeconds>,
    #[serde(default)]
    drift_secs: i64,
    missing_since_unix: Option<UnixSeconds>,
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Changed,
    Removed,
    Lapsed,
    CameBack,
    Started,
    Resumed,
    Retold,
}

impl TryFrom<Flat> for Event {
    type Error = Missing;

    fn try_from(flat: Flat) -> Result<Self, Missing> {
        let what = match flat.event {
            Kind::Changed => Happening::Changed {
                name: wanted(flat.name, "name")?,
                order: flat.order,
                source: wanted(flat.source, "source")?,
                last_change_unix: wanted(flat.last_change_unix, "last_change_unix")?,
                stored_change_unix: flat.stored_change_unix,
                row: wanted(flat.row, "row")?,
            },
            Kind::Removed => Happening::Removed { name: wanted(flat.name, "name")? },
            Kind::Lapsed => Happening::Lapsed {
                source: wanted(flat.source, "source")?,
                names: wanted(flat.names, "names")?,
                good_until_unix: flat.good_until_unix,
            },
            Kind::CameBack => {
                Happening::CameBack { source: wanted(flat.source, "source")?, names: wanted(flat.names, "names")? }
            }
            Kind::Started => {
                Happening::Started { watched_until_unix: flat.watched_until_unix, drift_secs: flat.drift_secs }
            }
            Kind::Resumed => {
                Happening::Resumed { watched_until_unix: wanted(flat.watched_until_unix, "watched_until_unix")? }
            }
            Kind::Retold => Happening::Retold { missing_since_unix: flat.missing_since_unix },
        };
        Ok(Self { at_unix: flat.at_unix, what })
    }
}

fn wanted<T>(field: Option<T>, name: &'static str) -> Result<T, Missing> {
    field.ok_or(Missing(name))
}

/// A field that such an event has is not there.
#[derive(Debug)]
pub(super) struct Missing(&'static str);

impl fmt::Display for Missing {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "missing field `{}`", self.0)
    }
}
