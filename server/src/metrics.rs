//! Prometheus metrics. What follows from the snapshot is collected from it, so that a removed row leaves no series;
//! what only counts is kept here, each table with a bound.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use greenlight_core::{Name, Standing, UnixSeconds};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, MetricEncoder, NoLabelSet, text};
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::Registry;

use crate::daemon::shared::Shared;
use crate::source::view::{MemberView, View};

/// What only counts.
#[derive(Debug, Default)]
pub(crate) struct Metrics {
    reports: Mutex<BTreeMap<(Name, &'static str), u64>>,
    requests: Mutex<BTreeMap<(String, u16), u64>>,
}

impl Metrics {
    /// A report or removal of a source was taken.
    pub(crate) fn accepted(&self, source: &Name) {
        self.report(source, "accepted");
    }

    /// One was refused.
    pub(crate) fn refused(&self, source: &Name) {
        self.report(source, "refused");
    }

    /// An answer went out. `route` is the pattern that matched, so there are as many as there are routes.
    pub(crate) fn request(&self, route: &str, status: u16) {
        let mut requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = requests.get_mut(&(route.to_owned(), status)) {
            *count += 1;
        } else {
            requests.insert((route.to_owned(), status), 1);
        }
    }

    fn report(&self, source: &Name, result: &'static str) {
        let mut reports = self.reports.lock().unwrap_or_else(PoisonError::into_inner);
        if reports.len() < MAX_SERIES || reports.contains_key(&(source.clone(), result)) {
            *reports.entry((source.clone(), result)).or_default() += 1;
        }
    }
}

/// Everything in the Prometheus text format.
pub(crate) fn render(shared: &Arc<Shared>) -> Result<String, fmt::Error> {
    let mut registry = Registry::default();
    registry.register_collector(Box::new(FromShared(Arc::clone(shared))));
    let mut text = String::new();
    text::encode(&mut text, &registry)?;
    Ok(text)
}

/// Two results for each of the sources that a board knows.
const MAX_SERIES: usize = 2 * greenlight_core::MAX_SOURCES;
/// Above so many rows only those that do not serve have a series each.
const MAX_ROWS_WITH_SERIES: usize = 1_000;

#[derive(Debug)]
struct FromShared(Arc<Shared>);

type Labels = Vec<(&'static str, String)>;

impl Collector for FromShared {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let shared = &self.0;
        let published = shared.published.load_full();
        let now = shared.clock.now();
        let horizon = published.horizon;
        let ready = published.verdict(now).is_ready() && !shared.is_shutting_down();
        let mut gauge = |name: &str, help: &str, series: &mut dyn Iterator<Item = (Labels, f64)>| {
            family(&mut encoder, name, help, MetricType::Gauge, series)
        };
        let single = |value: f64| std::iter::once((Labels::new(), value));
        gauge("greenlight_ready", "Whether traffic may come: 1 or 0", &mut single(f64::from(u8::from(ready))))?;
        gauge(
            "greenlight_stale_after_seconds",
            "How long a change counts; +Inf is never",
            &mut single(Option::<u64>::from(horizon).map_or(f64::INFINITY, seconds)),
        )?;
        let next_flip = published.snapshot.next_flip(horizon, now).map(|(at, _)| (Labels::new(), moment(at)));
        gauge(
            "greenlight_next_flip_timestamp_seconds",
            "When the verdict changes by time alone; absent where it does not",
            &mut next_flip.into_iter(),
        )?;

        let mut counts: BTreeMap<Standing, u64> = Standing::ALL.iter().map(|standing| (*standing, 0)).collect();
        let mut single_rows = Vec::new();
        let all_rows = published.snapshot.len() <= MAX_ROWS_WITH_SERIES;
        for row in published.snapshot.rows() {
            let standing = row.standing(horizon, now);
            *counts.entry(standing).or_default() += 1;
            if all_rows || standing != Standing::Serving {
                single_rows.push((row, standing));
            }
        }
        gauge(
            "greenlight_instances",
            "How many instances have each standing",
            &mut counts.iter().map(|(standing, count)| (vec![("standing", standing.to_string())], seconds(*count))),
        )?;
        gauge(
            "greenlight_instance_series_complete",
            "1 where every instance has its own series; 0 above 1,000 instances, where only those not serving have",
            &mut single(f64::from(u8::from(all_rows))),
        )?;
        gauge(
            "greenlight_instance_standing",
            "1 for the standing that the instance has",
            &mut single_rows.iter().map(|(row, standing)| {
                (vec![("name", row.name().to_string()), ("standing", standing.to_string())], 1.0)
            }),
        )?;
        gauge(
            "greenlight_instance_last_change_timestamp_seconds",
            "When the daemon last saw the instance change",
            &mut single_rows
                .iter()
                .map(|(row, _)| (vec![("name", row.name().to_string())], moment(row.held.last_change))),
        )?;
        gauge(
            "greenlight_source_last_report_timestamp_seconds",
            "When the source last reported, since the start",
            &mut published.sources.iter().map(|(name, at)| (vec![("source", name.to_string())], moment(*at))),
        )?;
        gauge(
            "greenlight_store_up",
            "Whether what is acknowledged survives a restart: 1 or 0",
            &mut single(f64::from(u8::from(published.store.durable))),
        )?;
        #[expect(clippy::cast_precision_loss, reason = "a drift beyond 2^52 seconds is no drift")]
        gauge(
            "greenlight_clock_drift_seconds",
            "How far the wall clock has moved away from the daemon's time",
            &mut single(shared.clock.drift_secs() as f64),
        )?;
        gauge("greenlight_event_streams", "Open event streams", &mut single(seconds(shared.hub.streams() as u64)))?;

        let reports = shared.metrics.reports.lock().unwrap_or_else(PoisonError::into_inner).clone();
        family(
            &mut encoder,
            "greenlight_reports",
            "Reports and removals by source and result",
            MetricType::Counter,
            &mut reports.iter().map(|((source, result), count)| {
                (vec![("source", source.to_string()), ("result", (*result).to_owned())], seconds(*count))
            }),
        )?;
        let requests = shared.metrics.requests.lock().unwrap_or_else(PoisonError::into_inner).clone();
        family(
            &mut encoder,
            "greenlight_http_requests",
            "Answers by route and status",
            MetricType::Counter,
            &mut requests.iter().map(|((route, status), count)| {
                (vec![("route", route.clone()), ("status", status.to_string())], seconds(*count))
            }),
        )?;
        rotation(&mut encoder, &shared.rotation())
    }
}

/// What the prober counts. A member that is probed no longer leaves no series.
fn rotation(encoder: &mut DescriptorEncoder<'_>, view: &View) -> fmt::Result {
    let name = |member: &MemberView| ("name", member.name.to_string());
    let mut answers = view.members.iter().flat_map(|member| {
        member.answers.iter().map(move |(kind, count)| (vec![name(member), ("kind", (*kind).into())], seconds(*count)))
    });
    let help = "What probes learned, by member and kind; fault is the prober's own trouble";
    family(encoder, "greenlight_probe_answers", help, MetricType::Counter, &mut answers)?;
    let took = &view.took;
    encoder
        .encode_descriptor("greenlight_probe_seconds", "How long probes took", None, MetricType::Histogram)?
        .encode_histogram::<NoLabelSet>(took.sum_secs(), took.count(), &took.buckets(), None)?;
    let mut moves = view.members.iter().flat_map(|member| {
        [("join", member.joins), ("leave", member.leaves)]
            .map(|(kind, count)| (vec![name(member), ("move", kind.into())], seconds(count)))
    });
    let help = "Joins and leaves by member";
    family(encoder, "greenlight_rotation_moves", help, MetricType::Counter, &mut moves)?;
    let mut places = view.members.iter().map(|member| (vec![name(member)], f64::from(u8::from(member.in_rotation))));
    let help = "Whether the member gets traffic: 1 or 0";
    family(encoder, "greenlight_rotation_in", help, MetricType::Gauge, &mut places)?;
    let unasked = view.trouble.as_ref().map_or(0, |trouble| trouble.members);
    let help = "How many members the prober could not ask the last time";
    let mut unasked = std::iter::once((Labels::new(), seconds(unasked as u64)));
    family(encoder, "greenlight_probe_members_unasked", help, MetricType::Gauge, &mut unasked)
}

fn family(
    encoder: &mut DescriptorEncoder<'_>,
    name: &str,
    help: &str,
    kind: MetricType,
    series: &mut dyn Iterator<Item = (Labels, f64)>,
) -> fmt::Result {
    let mut metric = encoder.encode_descriptor(name, help, None, kind)?;
    for (labels, value) in series {
        let labels: Labels = labels.into_iter().map(|(key, value)| (key, escaped(&value))).collect();
        if labels.is_empty() {
            encode_value(&mut metric, kind, value)?;
        } else {
            encode_value(&mut metric.encode_family(&labels)?, kind, value)?;
        }
    }
    Ok(())
}

fn encode_value(metric: &mut MetricEncoder<'_>, kind: MetricType, value: f64) -> fmt::Result {
    match kind {
        MetricType::Counter => metric.encode_counter::<NoLabelSet, _, f64>(&value, None),
        _ => metric.encode_gauge(&value),
    }
}

/// The encoder writes label values as they are.
fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

fn moment(at: UnixSeconds) -> f64 {
    seconds(at.as_secs())
}

#[expect(clippy::cast_precision_loss, reason = "at most 2^53 - 1, which a double holds exactly")]
fn seconds(secs: u64) -> f64 {
    secs as f64
}
