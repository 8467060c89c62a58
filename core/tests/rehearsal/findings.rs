//! The line that says why, for every way to lose requests that the field has seen.

use greenlight_core::rehearsal::{Class, Door, Ending, Event, summarize};
use greenlight_core::rotation::MoveKind;

use crate::story::{exited, header, moved, no, probe, ready, record, refused, sigterm, tick, tried, under};

/// What the summary says why, in full and beside it.
#[track_caller]
fn check(events: Vec<Event>, ticks: u64, expected: &[&str]) {
    let summary = summarize(&record(events, ticks, Ending::Complete));
    let found: Vec<String> = summary.findings.iter().map(ToString::to_string).collect();
    assert_eq!(found, expected);
    assert_eq!(summary.why, expected[0]);
}

fn joined() -> Event {
    moved(-1, "old", MoveKind::Join, ready())
}

fn refusals(process: &str, numbers: std::ops::Range<u64>) -> impl Iterator<Item = Event> {
    numbers.map(move |number| tick(number, Some(process), Class::Refused))
}

#[test]
fn a_listener_that_closes_before_the_leave_is_named_with_the_lag() {
    let mut events = vec![joined(), sigterm(5_000)];
    events.extend(refusals("old", 1..3));
    events.push(moved(100_900, "old", MoveKind::Leave, refused()));
    check(events, 3, &["old closed its listener at least 90.0 ms before it left rotation: 2 ticks refused"]);
}

#[test]
fn a_listener_that_closes_within_the_lag_of_the_balancer_is_named_with_that_lag() {
    let mut header = header();
    header.options.lag_us = 200_000;
    let mut events = vec![joined(), sigterm(0), moved(5_000, "old", MoveKind::Leave, no())];
    events.extend(refusals("old", 10..12));
    let why = summarize(&under(header, events, 12, Ending::Complete)).why;
    let expected = "old closed its listener at least 104.1 ms before it left rotation and a lag of 200.0 ms was over: \
                    2 ticks refused";
    assert_eq!(why, expected);
}

/// A roll in which no tick was lost, and a probe ended the old one's traffic.
fn left_by(answer: greenlight_core::rotation::Answer, last_asked: i64) -> Vec<Event> {
    vec![
        joined(),
        probe(last_asked, "old", ready()),
        sigterm(60_000),
        tick(0, Some("old"), Class::Ok),
        probe(95_000, "old", answer.clone()),
        moved(95_000, "old", MoveKind::Leave, answer),
    ]
}

#[test]
fn a_listener_that_closes_before_the_leave_is_caught_though_no_tick_met_it() {
    let why = "old closed its listener up to 35.0 ms before it left rotation: a probe learned it (connection refused), \
               and no tick by luck";
    check(left_by(refused(), -5_000), 1, &[why]);
    let summary = summarize(&record(left_by(refused(), -5_000), 1, Ending::Complete));
    assert_eq!((summary.exit, summary.lost), (1, 0));
    // One that said no first has kept its promise, and where our own probes were far behind nobody knows.
    for events in [left_by(no(), -5_000), left_by(refused(), -900_000)] {
        assert_eq!(summarize(&record(events, 1, Ending::Complete)).exit, 0);
    }
}

#[test]
fn a_readiness_port_that_closes_while_the_traffic_port_still_accepts_breaks_nothing() {
    let exit = |ready: &str, found: &[Door]| {
        let mut header = header();
        header.processes[0].ready = ready.into();
        let mut events = left_by(refused(), -5_000);
        events.extend((0..).zip(found).map(|(number, door)| tried(95_000 + number * 50_000, *door)));
        summarize(&under(header, events, 1, Ending::Complete)).exit
    };
    for apart in ["http://127.0.0.1:20002/readyz", "http://127.0.0.1:200011/readyz"] {
        assert_eq!(exit(apart, &[Door::Open, Door::Open, Door::Closed]), 0, "{apart}");
        // Nothing shows that it still accepted anybody.
        assert_eq!((exit(apart, &[]), exit(apart, &[Door::Closed])), (1, 1), "{apart}");
    }
    // Asked where it serves, one that accepts again has refused all the same.
    assert_eq!(exit("http://127.0.0.1:20001/readyz", &[Door::Open, Door::Closed]), 1);
}

#[test]
fn a_leave_that_lands_while_the_first_refused_tick_is_under_way_is_found_and_no_length_is_negative() {
    // Sent at 10.02 ms and over at 10.9 ms.
    let leave = || moved(10_500, "old", MoveKind::Leave, refused());
    let closed: Vec<Event> =
        [joined(), sigterm(5_000)].into_iter().chain(refusals("old", 1..2)).chain([leave()]).collect();
    check(closed, 2, &["old closed its listener just as it left rotation: 1 tick refused"]);
    let ended: Vec<Event> = [joined(), sigterm(5_000)]
        .into_iter()
        .chain(refusals("old", 1..2))
        .chain([leave(), exited(13_000, "old")])
        .collect();
    check(ended, 2, &["old closed its listener as it ended (exit 0), just as it left rotation: 1 tick refused"]);
}

#[test]
fn a_process_that_exits_at_once_on_its_sigterm_is_named_with_its_exit() {
    // The first refusal was seen before the end could be waited for.
    let mut events = vec![joined(), sigterm(5_000), exited(12_900, "old")];
    events.extend(refusals("old", 1..5));
    events.push(moved(100_900, "old", MoveKind::Leave, refused()));
    check(
        events,
        5,
        &["old closed its listener as it ended (exit 0), 88.0 ms before it left rotation: 4 ticks refused"],
    );
}

#[test]
fn a_process_that_dies_untold_is_named_so() {
    let mut events = vec![joined(), exited(9_000, "old")];
    events.extend(refusals("old", 1..2));
    events.push(moved(100_900, "old", MoveKind::Leave, refused()));
    let why = "old closed its listener as it ended (exit 0), though nobody had told it to, 91.9 ms before it left \
               rotation: 1 tick refused";
    check(events, 2, &[why]);
}

#[test]
fn one_that_refuses_right_after_it_joined_was_ready_too_early() {
    let mut events = vec![moved(0, "new", MoveKind::Join, ready())];
    events.extend(refusals("new", 1..4));
    events.push(tick(4, Some("new"), Class::Ok));
    let why = "new was declared ready too early: for 30.9 ms after it joined it refused 3 ticks";
    check(events, 5, &[why]);
}

#[test]
fn one_that_had_served_and_refuses_untold_stopped_listening() {
    let mut events = vec![joined(), tick(0, Some("old"), Class::Ok)];
    events.extend(refusals("old", 1..3));
    check(events, 3, &["old refused 2 ticks though it was in rotation and nobody had told it to stop"]);
}

#[test]
fn nobody_names_the_leave_before_it_and_its_cause() {
    let events = vec![
        joined(),
        tick(0, Some("old"), Class::Ok),
        Event::Move {
            at_us: 5_000,
            process: "old".into(),
            kind: MoveKind::Leave,
            cause: greenlight_core::rotation::Cause { answer: crate::story::silent(), in_a_row: 3 },
        },
        tick(1, None, Class::Nobody),
        tick(2, None, Class::Nobody),
    ];
    check(events, 3, &["nobody was in rotation for 2 ticks: old had left (silent 3 times in a row)"]);
    check(vec![tick(0, None, Class::Nobody)], 1, &["nobody was in rotation for 1 tick: nobody had joined"]);
}

#[test]
fn what_is_cut_after_the_sigterm_stands_apart_from_what_is_refused() {
    let mut later = tick(3, Some("old"), Class::Cut);
    if let Event::Tick(tick) = &mut later {
        tick.uses = 7;
    }
    let mut events = vec![joined(), tick(0, Some("old"), Class::Cut), sigterm(15_000)];
    events.extend(refusals("old", 2..3));
    events.extend([later, moved(40_000, "old", MoveKind::Leave, refused())]);
    let refused = "old closed its listener at least 19.1 ms before it left rotation: 1 tick refused";
    check(events, 4, &[refused, "old cut 2 ticks: 1 after its SIGTERM, 1 on a used connection"]);
}

#[test]
fn another_answer_than_expected_names_who_gave_it_and_its_status() {
    let events = (0..3).map(|number| tick(number, Some("new"), Class::Unexpected)).collect();
    check(events, 3, &["new gave 3 ticks another answer than expected (unexpected, first 404)"]);
    let events = vec![tick(0, Some("new"), Class::ServerError)];
    check(events, 1, &["new gave 1 tick another answer than expected (server_error, first 500)"]);
}

#[test]
fn the_trouble_of_the_rehearsal_itself_is_named_by_its_error() {
    let events = vec![tick(0, Some("old"), Class::Ours), tick(1, Some("old"), Class::Ok)];
    let summary = summarize(&record(events, 2, Ending::Complete));
    assert_eq!(summary.why, "the rehearsal had trouble of its own for 1 tick (first EMFILE)");
}
