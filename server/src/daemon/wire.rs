//! Rows as they go over the wire, on `/app` and on the event streams.

use greenlight_core::{GoodFor, Held, Horizon, Name, RowView, UnixSeconds, Vouch};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::published::StoreHealth;
use crate::source::view::TroubleView;

/// A row without anything that depends on the moment.
#[derive(Debug)]
pub(crate) struct PlainRow<'a> {
    pub(crate) held: &'a Held,
    pub(crate) vouch: &'a Vouch,
}

impl PlainRow<'_> {
    fn entries<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        let Held { name, row, route, source, last_change, .. } = self.held;
        map.serialize_entry("name", name)?;
        map.serialize_entry("phase", &row.phase)?;
        map.serialize_entry("serving_sha", &row.serving_sha)?;
        map.serialize_entry("last_green", &row.last_green)?;
        map.serialize_entry("last_red_sha", &row.last_red_sha)?;
        map.serialize_entry("last_red_reason", &row.last_red_reason)?;
        map.serialize_entry("last_red_files", &row.last_red_files)?;
        map.serialize_entry("pending_sha", &row.pending_sha)?;
        map.serialize_entry("draining", &row.draining)?;
        map.serialize_entry("proxy_port", &route.proxy_port)?;
        map.serialize_entry("public_host", &route.public_host)?;
        map.serialize_entry("expires_at", &route.expires_at)?;
        map.serialize_entry("source", source)?;
        map.serialize_entry("last_change_unix", last_change)?;
        map.serialize_entry("last_report_unix", &self.vouch.last_report)?;
        map.serialize_entry("good_for_secs", &self.vouch.good_for)?;
        map.serialize_entry("good_until_unix", &self.vouch.good_until)
    }
}

impl Serialize for PlainRow<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        self.entries(&mut map)?;
        map.end()
    }
}

/// A row judged at one moment under one horizon.
#[derive(Debug)]
pub(crate) struct JudgedRow<'a> {
    pub(crate) row: RowView<'a>,
    pub(crate) horizon: Horizon,
    pub(crate) now: UnixSeconds,
}

impl Serialize for JudgedRow<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { row, horizon, now } = *self;
        let mut map = serializer.serialize_map(None)?;
        PlainRow { held: row.held, vouch: row.vouch }.entries(&mut map)?;
        map.serialize_entry("idle_secs", &row.idle_secs(now))?;
        map.serialize_entry("stale", &row.is_stale(horizon, now))?;
        map.serialize_entry("standing", &row.standing(horizon, now))?;
        map.serialize_entry("since_unix", &row.since(now))?;
        map.serialize_entry("ages_out_unix", &row.ages_out(horizon, now))?;
        map.end()
    }
}

/// The data of a `change` event.
#[derive(Debug, Serialize)]
pub(crate) struct Change<'a> {
    pub(crate) revision: u64,
    pub(crate) id: String,
    /// New rows in board order, and rows that are not what they were.
    pub(crate) rows: Vec<PlainRow<'a>>,
    /// Gone, before any of `rows` came.
    pub(crate) removed: Vec<&'a Name>,
}

/// The data of a `renew` event: until when rows are vouched for.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Renew {
    /// Each holds for all rows of its source.
    pub(crate) sources: Vec<RenewedSource>,
    /// Each holds for one row.
    pub(crate) rows: Vec<RenewedRow>,
}

#[derive(Debug, Serialize)]
pub(crate) struct RenewedSource {
    pub(crate) source: Name,
    #[serde(flatten)]
    pub(crate) vouch: WireVouch,
}

#[derive(Debug, Serialize)]
pub(crate) struct RenewedRow {
    pub(crate) name: Name,
    #[serde(flatten)]
    pub(crate) vouch: WireVouch,
}

/// A vouch under its wire names.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct WireVouch {
    last_report_unix: UnixSeconds,
    good_for_secs: GoodFor,
    good_until_unix: Option<UnixSeconds>,
}

impl From<Vouch> for WireVouch {
    fn from(vouch: Vouch) -> Self {
        Self { last_report_unix: vouch.last_report, good_for_secs: vouch.good_for, good_until_unix: vouch.good_until }
    }
}

/// The data of a `beat` event: what the daemon says, and when it said it.
#[derive(Debug, Serialize)]
pub(crate) struct Beat {
    pub(crate) now_unix_ms: u64,
    pub(crate) id: String,
    pub(crate) ready: bool,
    pub(crate) reason: &'static str,
    pub(crate) store: StoreHealth,
    pub(crate) prober: ProberHealth,
}

/// How the prober is.
#[derive(Debug, Serialize)]
pub(crate) struct ProberHealth {
    /// What keeps it from asking; null where nothing does, or nobody is probed.
    pub(crate) trouble: Option<TroubleView>,
}
