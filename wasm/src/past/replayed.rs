//! What a replay comes to, as the numbers that cross to the other side.

use alloc::vec::Vec;

use greenlight_core::history::{DifferenceSpan, InstanceSums, Running, Said, Stood, Told, VerdictSpan};
use greenlight_core::{Reason, Standing, UnixSeconds};

use crate::number::as_number;

/// What spans tell, by number.
pub(super) const WORDS: [&str; 7] = [
    Reason::Ready.as_str(),
    Reason::LiveDegraded.as_str(),
    Reason::NothingServing.as_str(),
    Stood::NotWatching.as_str(),
    Standing::Serving.as_str(),
    Standing::StaleDegraded.as_str(),
    Standing::NeverGreen.as_str(),
];

/// Where a word stands among them.
fn of_reason(reason: Reason) -> u8 {
    match reason {
        Reason::Ready => 0,
        Reason::LiveDegraded => 1,
        Reason::NothingServing => 2,
    }
}

fn of_standing(stood: Stood) -> u8 {
    match stood {
        Stood::As(Standing::LiveDegraded) => 1,
        Stood::NotWatching => 3,
        Stood::As(Standing::Serving) => 4,
        Stood::As(Standing::StaleDegraded) => 5,
        Stood::As(Standing::NeverGreen) => 6,
    }
}

/// What a replay comes to.
pub(super) struct Replayed {
    verdict: Running,
    pub(super) verdicts: Vec<VerdictSpan<usize>>,
    instances: Vec<Instance>,
    stood: Vec<Stand>,
}

/// An instance by its number.
#[derive(Default)]
struct Instance {
    sums: InstanceSums,
    spans: usize,
}

/// For how long an instance stood the same.
struct Stand {
    instance: usize,
    span: [f64; SPAN],
}

/// Numbers before those of the names, of a name, and of a span.
const HEAD: usize = 8;
const OF_NAME: usize = 6;
const SPAN: usize = 4;

impl Replayed {
    /// So many names are known, and so many events will be replayed.
    pub(super) fn new(names: usize, events: usize) -> Self {
        let mut replayed =
            Self { verdict: Running::default(), verdicts: Vec::new(), instances: Vec::new(), stood: Vec::new() };
        // A guess that spares most of the moving: each event ends a span of the verdict and one of a standing.
        replayed.verdicts.reserve(events);
        replayed.stood.reserve(events);
        replayed.instances.resize_with(names, Instance::default);
        replayed
    }

    /// `numbers_of` are the numbers of those who have the places.
    pub(super) fn take(&mut self, told: Told<usize>, numbers_of: &[u32]) {
        match told {
            Told::Verdict(span) => {
                self.verdict.add(&span);
                self.verdicts.push(span);
            }
            Told::Standing(span) => {
                let instance = numbers_of.get(span.name).and_then(|number| usize::try_from(*number).ok());
                let Some((number, instance)) =
                    instance.and_then(|number| Some((number, self.instances.get_mut(number)?)))
                else {
                    return;
                };
                instance.sums.add(&span);
                instance.spans = instance.spans.saturating_add(1);
                let sha = span.serving_sha.as_deref().map_or(-1.0, |alias| f64::from(number_of(alias)));
                let span = numbers_of_span(span.from, span.to, f64::from(of_standing(span.stood)), sha);
                self.stood.push(Stand { instance: number, span });
            }
            // There is one horizon.
            Told::Difference(_) => {}
        }
    }

    /// All of it in the order that the other side knows. `first` is the place of the first span of the verdict.
    pub(super) fn numbers(
        &self,
        first: usize,
        differences: &[DifferenceSpan<usize>],
        known_until: UnixSeconds,
    ) -> Vec<f64> {
        let Self { verdict, verdicts, instances, stood } = self;
        let spans = verdicts.len().saturating_add(stood.len()).saturating_add(differences.len());
        let mut numbers = Vec::new();
        let before = HEAD.saturating_add(instances.len().saturating_mul(OF_NAME));
        numbers.reserve_exact(spans.saturating_mul(SPAN).saturating_add(before));
        numbers.push(as_number(known_until.as_secs()));
        let sums = [
            verdict.ready_secs,
            verdict.not_ready_secs,
            verdict.not_watched_secs,
            verdict.flips,
            verdict.longest_not_ready_secs,
        ];
        numbers.extend_from_slice(&sums.map(as_number));
        numbers.extend_from_slice(&[place(verdicts.len()), place(differences.len())]);
        for Instance { sums, spans } in instances {
            let sums =
                [sums.serving_secs, sums.vetoed_secs, sums.masked_secs, sums.never_green_secs, sums.not_watched_secs];
            numbers.extend_from_slice(&sums.map(as_number));
            numbers.push(place(*spans));
        }
        for (at, span) in verdicts.iter().enumerate() {
            let said = match span.said {
                Said::Ready => of_reason(Reason::Ready),
                Said::NotReady { reason, .. } => of_reason(reason),
                Said::NotWatching => of_standing(Stood::NotWatching),
            };
            let blame = place(first.saturating_add(at));
            numbers.extend_from_slice(&numbers_of_span(span.from, span.to, f64::from(said), blame));
        }
        self.push_stood(&mut numbers);
        for (at, span) in differences.iter().enumerate() {
            let blame = place(first.saturating_add(verdicts.len()).saturating_add(at));
            numbers.extend_from_slice(&numbers_of_span(span.from, span.to, place(span.ready), blame));
        }
        numbers
    }

    /// Those of one instance after those of another.
    fn push_stood(&self, numbers: &mut Vec<f64>) {
        let mut next = numbers.len();
        let mut places = Vec::new();
        for instance in &self.instances {
            places.push(next);
            next = next.saturating_add(instance.spans.saturating_mul(SPAN));
        }
        numbers.resize(next, 0.0);
        for Stand { instance, span } in &self.stood {
            let Some(at) = places.get_mut(*instance) else { continue };
            let end = at.saturating_add(SPAN);
            if let Some(numbers) = numbers.get_mut(*at..end) {
                numbers.copy_from_slice(span);
            }
            *at = end;
        }
    }
}

fn numbers_of_span(from: UnixSeconds, to: UnixSeconds, what: f64, of_what: f64) -> [f64; SPAN] {
    [as_number(from.as_secs()), as_number(to.as_secs()), what, of_what]
}

/// The number that a name stands for.
pub(super) fn number_of(alias: &str) -> u32 {
    alias
        .bytes()
        .fold(0, |number: u32, digit| number.wrapping_mul(10).wrapping_add(u32::from(digit.wrapping_sub(b'0'))))
}

/// A place in a list that is at hand.
fn place(place: usize) -> f64 {
    f64::from(u32::try_from(place).unwrap_or(u32::MAX))
}
