//! The sums: what the spans under one horizon add up to, in whole seconds.

use alloc::collections::BTreeMap;
use core::ops::Deref;

use super::span::{Said, StandingSpan, Stood, Told, VerdictSpan};
use crate::name::Name;
use crate::standing::Standing;
use crate::time::UnixSeconds;

/// Everything that is added up under one horizon. Bounded by the number of instances.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    /// Of the verdict.
    pub verdict: Running,
    /// Of each instance that was on the board within the window, by name.
    pub instances: BTreeMap<Name, InstanceSums>,
}

/// The sums of the verdict as they grow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Running {
    sums: VerdictSums,
    /// The last span of the verdict that was added.
    last: Option<(Light, UnixSeconds)>,
    /// Since when it has been red without a break.
    red_since: Option<UnixSeconds>,
}

/// What the spans of the verdict add up to. Ready, not ready and not watched are together the window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VerdictSums {
    /// Seconds ready.
    pub ready_secs: u64,
    /// Seconds not ready.
    pub not_ready_secs: u64,
    /// Seconds in which nobody watched: neither.
    pub not_watched_secs: u64,
    /// How often ready became not ready, or the other way round, before somebody's eyes.
    pub flips: u64,
    /// The longest time not ready without a break, whoever was to blame. Where nobody watched is a break.
    pub longest_not_ready_secs: u64,
}

/// What the spans of an instance add up to; of several, the sum over all of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InstanceSums {
    /// Seconds serving.
    pub serving_secs: u64,
    /// Seconds degraded in which it vetoed.
    pub vetoed_secs: u64,
    /// Seconds degraded in which it no longer did: masked. With the above, all seconds degraded.
    pub masked_secs: u64,
    /// Seconds on the board without ever having served.
    pub never_green_secs: u64,
    /// Seconds on the board in which nobody watched.
    pub not_watched_secs: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Light {
    Ready,
    NotReady,
    Dark,
}

impl Sums {
    /// Adds a span, if it is one under the horizon at this place of the list. Spans come in the order in which
    /// the sweep told them.
    pub fn add(&mut self, lane: usize, told: &Told) {
        match told {
            Told::Verdict(span) if span.lane == lane => self.verdict.add(span),
            Told::Standing(span) if span.lane == lane => {
                self.instances.entry(span.name.clone()).or_default().add(span);
            }
            Told::Verdict(_) | Told::Standing(_) | Told::Difference(_) => {}
        }
    }

    /// Of all instances together: instance seconds.
    pub fn of_all_instances(&self) -> InstanceSums {
        self.instances.values().fold(InstanceSums::default(), |mut all, one| {
            for (sum, more) in [
                (&mut all.serving_secs, one.serving_secs),
                (&mut all.vetoed_secs, one.vetoed_secs),
                (&mut all.masked_secs, one.masked_secs),
                (&mut all.never_green_secs, one.never_green_secs),
                (&mut all.not_watched_secs, one.not_watched_secs),
            ] {
                *sum = sum.saturating_add(more);
            }
            all
        })
    }
}

impl Running {
    /// Adds the next span of the verdict, in the order in which the sweep told them.
    pub fn add<Who>(&mut self, span: &VerdictSpan<Who>) {
        let light = match span.said {
            Said::Ready => Light::Ready,
            Said::NotReady { .. } => Light::NotReady,
            Said::NotWatching => Light::Dark,
        };
        let sums = &mut self.sums;
        let sum = match light {
            Light::Ready => &mut sums.ready_secs,
            Light::NotReady => &mut sums.not_ready_secs,
            Light::Dark => &mut sums.not_watched_secs,
        };
        *sum = sum.saturating_add(span.from.age(span.to));
        let before = self.last.filter(|(_, until)| *until == span.from).map(|(light, _)| light);
        if matches!((before, light), (Some(Light::Ready), Light::NotReady) | (Some(Light::NotReady), Light::Ready)) {
            sums.flips = sums.flips.saturating_add(1);
        }
        self.red_since = match (before, light) {
            (_, Light::Ready | Light::Dark) => None,
            (Some(Light::NotReady), Light::NotReady) => self.red_since.or(Some(span.from)),
            (Some(Light::Ready | Light::Dark) | None, Light::NotReady) => Some(span.from),
        };
        let red_secs = self.red_since.map_or(0, |since| since.age(span.to));
        sums.longest_not_ready_secs = sums.longest_not_ready_secs.max(red_secs);
        self.last = Some((light, span.to));
    }
}

impl Deref for Running {
    type Target = VerdictSums;

    /// What they have come to.
    fn deref(&self) -> &VerdictSums {
        &self.sums
    }
}

impl InstanceSums {
    /// Adds a span of an instance's standing.
    pub fn add<Who>(&mut self, span: &StandingSpan<Who>) {
        let sum = match span.stood {
            Stood::As(Standing::Serving) => &mut self.serving_secs,
            Stood::As(Standing::LiveDegraded) => &mut self.vetoed_secs,
            Stood::As(Standing::StaleDegraded) => &mut self.masked_secs,
            Stood::As(Standing::NeverGreen) => &mut self.never_green_secs,
            Stood::NotWatching => &mut self.not_watched_secs,
        };
        *sum = sum.saturating_add(span.from.age(span.to));
    }
}
