//! Laws of what a replay adds up to, for any record at all, also one that no daemon would write.

use greenlight_core::history::{DifferenceSpan, Event, Happening, Said, Sums, Told, Window};
use greenlight_core::{Name, Row, UnixSeconds};
use proptest::prelude::*;

use crate::courses::check_course;
use crate::life::at;
use crate::truth::HORIZONS;
use crate::weeks::replayed;

fn name() -> impl Strategy<Value = Name> {
    prop::sample::select(vec!["a", "b", "c", "d/e"]).prop_map(|name| Name::of_instance(name).unwrap())
}

fn names() -> impl Strategy<Value = Vec<Name>> {
    prop::collection::vec(name(), 0..4)
}

fn moment() -> impl Strategy<Value = UnixSeconds> {
    prop_oneof![8 => 0_u64..10_000, 1 => Just(u64::MAX)].prop_map(at)
}

fn happening() -> impl Strategy<Value = Happening> {
    let source = || Name::of_source("ci").unwrap();
    let changed = (name(), 0_u64..4, moment(), prop::option::of(moment()), any::<(bool, bool)>());
    prop_oneof![
        8 => changed.prop_map(move |(name, order, last_change_unix, stored_change_unix, (serves, green))| {
            let row = Row {
                serving_sha: serves.then(|| "a1".into()),
                last_green: green.then(|| "a1".into()),
                ..Row::default()
            };
            // No two rows of a board have one place.
            let order = order * 256 + u64::from(name.as_bytes()[0]);
            Happening::Changed { name, order, source: source(), last_change_unix, stored_change_unix, row: row.into() }
        }),
        2 => name().prop_map(|name| Happening::Removed { name }),
        3 => (names(), prop::option::of(moment()))
            .prop_map(move |(names, good_until_unix)| Happening::Lapsed { source: source(), names, good_until_unix }),
        2 => names().prop_map(move |names| Happening::CameBack { source: source(), names }),
        3 => (prop::option::of(moment()), -5_000_i64..5_000)
            .prop_map(|(watched_until_unix, drift_secs)| Happening::Started { watched_until_unix, drift_secs }),
        1 => moment().prop_map(|watched_until_unix| Happening::Resumed { watched_until_unix }),
        1 => prop::option::of(moment()).prop_map(|missing_since_unix| Happening::Retold { missing_since_unix }),
    ]
}

fn record() -> impl Strategy<Value = Vec<Event>> {
    prop::collection::vec((moment(), happening()).prop_map(|(at_unix, what)| Event { at_unix, what }), 0..40).prop_map(
        |mut record| {
            // Half in the order of time, as nearly every record is, so that there is much to say.
            let ordered = record.len() / 2;
            record[..ordered].sort_by_key(|event| event.at_unix);
            record
        },
    )
}

fn sums(told: &[Told], lane: usize) -> Sums {
    let mut sums = Sums::default();
    for told in told {
        sums.add(lane, told);
    }
    sums
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn whatever_is_recorded_adds_up(record in record(), from in 0_u64..9_000, secs in 0_u64..9_000, known in moment()) {
        let window = Window { from: at(from), to: at(from + secs) };
        let told = replayed(&record, window, known);
        check_course(&record, window, known, &told);
        let lanes: Vec<Sums> = (0..HORIZONS.len()).map(|lane| sums(&told, lane)).collect();
        for sums in &lanes {
            let all = sums.verdict.ready_secs + sums.verdict.not_ready_secs + sums.verdict.not_watched_secs;
            prop_assert_eq!(all, secs, "the spans fill the window");
            prop_assert!(sums.verdict.longest_not_ready_secs <= sums.verdict.not_ready_secs);
        }
        for pair in lanes.windows(2) {
            let (smaller, larger) = (&pair[0], &pair[1]);
            prop_assert!(smaller.verdict.not_ready_secs <= larger.verdict.not_ready_secs, "a larger horizon vetoes more");
            prop_assert_eq!(smaller.verdict.not_watched_secs, larger.verdict.not_watched_secs);
        }
        let never = &lanes[HORIZONS.len() - 1];
        for sums in &lanes {
            for (name, instance) in &sums.instances {
                // Under never nothing is masked, so every degraded second vetoes.
                let degraded = never.instances[name].vetoed_secs;
                prop_assert_eq!(instance.masked_secs + instance.vetoed_secs, degraded, "of {}", name);
            }
        }
        prop_assert_eq!(lanes[0].of_all_instances().vetoed_secs, 0, "under zero nothing vetoes");
        for (smaller, larger) in [(1, 2), (2, 4)] {
            let differs = told.iter().filter_map(|told| match told {
                Told::Difference(DifferenceSpan { ready, not_ready, from, to, rows }) => {
                    assert!(!rows.names.is_empty(), "something makes the difference");
                    (*ready == smaller && *not_ready == larger).then(|| from.age(*to))
                }
                Told::Verdict(_) | Told::Standing(_) => None,
            });
            let expected = lanes[larger].verdict.not_ready_secs - lanes[smaller].verdict.not_ready_secs;
            prop_assert_eq!(differs.sum::<u64>(), expected, "where two horizons differ, and nowhere else");
        }
    }

    #[test]
    fn what_was_before_the_window_changes_nothing_in_it(record in record(), from in 0_u64..9_000) {
        let whole = replayed(&record, Window { from: at(0), to: at(10_000) }, at(10_000));
        let part = replayed(&record, Window { from: at(from), to: at(10_000) }, at(10_000));
        let said = |told: &[Told], second: u64| -> Option<Said> {
            told.iter().find_map(|told| match told {
                Told::Verdict(span) if span.lane == 2 && span.from <= at(second) && at(second) < span.to => {
                    Some(span.said.clone())
                }
                Told::Verdict(_) | Told::Standing(_) | Told::Difference(_) => None,
            })
        };
        for second in (from..10_000).step_by(37) {
            prop_assert_eq!(said(&part, second), said(&whole, second), "at {}", second);
        }
    }
}
