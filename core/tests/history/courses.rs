//! A record at hand, replayed under one horizon after another, against the sweep that takes all of them at once.

use std::collections::BTreeMap;

use greenlight_core::history::{
    Blame, Course, DifferenceSpan, Event, Said, StandingSpan, Told, VerdictSpan, Window, differences,
};
use greenlight_core::{Name, UnixSeconds};

use crate::truth::HORIZONS;
use crate::weeks::COMPARED;

/// Sees that a course tells what a sweep `told`, each of its streams in order: the verdict under a horizon, an instance
/// under it, and where two horizons differ.
#[track_caller]
pub(crate) fn check_course(record: &[Event], window: Window, known_until: UnixSeconds, told: &[Told]) {
    let mut course = Course::new();
    for event in record {
        course.push(event);
    }
    let who: Vec<Name> = course.names().cloned().collect();
    let mut by_course = Vec::new();
    let verdicts = HORIZONS.map(|horizon| {
        let mut verdicts = Vec::new();
        let lane = HORIZONS.iter().position(|one| *one == horizon).unwrap();
        course.replay(window, horizon, known_until, &mut |told| {
            if let Told::Verdict(span) = &told {
                verdicts.push(span.clone());
            }
            by_course.push(named(told, [lane], &who));
        });
        verdicts
    });
    for compared in COMPARED {
        let [one, other] = compared.map(|lane| &verdicts[lane]);
        differences(one, other, |span| by_course.push(named(Told::Difference(span), compared, &who)));
    }
    assert_eq!(streams(&by_course), streams(told));
}

/// The same with names for places, and these lanes for those from 0.
fn named<const LANES: usize>(told: Told<usize>, lanes: [usize; LANES], who: &[Name]) -> Told {
    let of = |blame: Blame<usize>| Blame {
        names: blame.names.iter().map(|place| who[*place].clone()).collect(),
        more: blame.more,
    };
    match told {
        Told::Verdict(VerdictSpan { lane, from, to, said }) => {
            let said = match said {
                Said::Ready => Said::Ready,
                Said::NotReady { reason, blame } => Said::NotReady { reason, blame: of(blame) },
                Said::NotWatching => Said::NotWatching,
            };
            Told::Verdict(VerdictSpan { lane: lanes[lane], from, to, said })
        }
        Told::Standing(StandingSpan { lane, name, from, to, stood, serving_sha }) => {
            let (lane, name) = (lanes[lane], who[name].clone());
            Told::Standing(StandingSpan { lane, name, from, to, stood, serving_sha })
        }
        Told::Difference(DifferenceSpan { ready, not_ready, from, to, rows }) => {
            let (ready, not_ready, rows) = (lanes[ready], lanes[not_ready], of(rows));
            Told::Difference(DifferenceSpan { ready, not_ready, from, to, rows })
        }
    }
}

/// What is told of one thing, by what that is: the lanes, the smaller one first, and the name of an instance.
fn streams(told: &[Told]) -> BTreeMap<(usize, usize, Option<&Name>), Vec<&Told>> {
    let mut streams = BTreeMap::<_, Vec<&Told>>::new();
    for told in told {
        let of = match told {
            Told::Verdict(span) => (span.lane, span.lane, None),
            Told::Standing(span) => (span.lane, span.lane, Some(&span.name)),
            Told::Difference(span) => (span.ready.min(span.not_ready), span.ready.max(span.not_ready), None),
        };
        streams.entry(of).or_default().push(told);
    }
    streams
}
