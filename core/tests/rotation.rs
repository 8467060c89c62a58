//! Rotation against a second, naive reading of its table, and the trials that came from the field.

#![expect(clippy::unwrap_used, reason = "a test that cannot set up its case fails, as it should")]

use std::num::NonZeroU32;

use greenlight_core::rotation::{
    Answer, Cutting, HoldLast, Member, MemberId, MoveKind, Place, Refuser, Renewal, Rotation, RotationPolicy, Silence,
    good_for,
};
use greenlight_core::{Board, Extent, GoodFor, Name, Report, ReportedRow, Row, UnixSeconds};
use proptest::prelude::*;

const LETTERS: [char; 7] = ['R', 'N', 'F', 'C', 'T', '4', 'X'];

/// R ready, N not ready, F refused, C cut, T silent, 4 the 429, X the prober's own fault.
fn answer(letter: char) -> Answer {
    match letter {
        'R' => Answer::of_status(200, None),
        'N' => Answer::of_status(503, None),
        'F' => Answer::Refused { by: Refuser::Host },
        'C' => Answer::Cut { by: Cutting::Reset },
        'T' => Answer::Silent { by: Silence::Timeout },
        '4' => Answer::of_status(429, None),
        'X' => Answer::Fault { code: "EMFILE".into() },
        other => panic!("no answer is written {other}"),
    }
}

fn policy(silences: u32, answers: u32, hold_last: bool) -> RotationPolicy {
    RotationPolicy {
        silences_to_leave: NonZeroU32::new(silences).unwrap(),
        answers_to_join: NonZeroU32::new(answers).unwrap(),
        hold_last: HoldLast::from(hold_last),
    }
}

fn member(name: &str, policy: RotationPolicy) -> Member<usize> {
    Member::new(Name::of_instance(name).unwrap(), policy, None, 0)
}

fn of(members: usize, policy: RotationPolicy) -> (Rotation<usize>, Vec<MemberId>) {
    let mut rotation = Rotation::new();
    let ids = (0..members).map(|n| rotation.add(member(&format!("m{n}"), policy))).collect();
    (rotation, ids)
}

/// Who is in after the whole history, read from the table each time anew: no counter is kept.
fn naive(history: &[(usize, char)], members: usize, policy: RotationPolicy) -> Vec<bool> {
    let mut is_in = vec![false; members];
    for upto in 1..=history.len() {
        let (who, letter) = history[upto - 1];
        let told: Vec<char> =
            history[..upto].iter().filter(|(one, letter)| *one == who && *letter != 'X').map(|(_, l)| *l).collect();
        let run = |of: &[char]| told.iter().rev().take_while(|letter| of.contains(letter)).count();
        let alone = !is_in.iter().enumerate().any(|(other, is_in)| other != who && *is_in);
        match letter {
            'R' => is_in[who] = is_in[who] || run(&['R']) >= policy.answers_to_join.get() as usize,
            'N' | 'F' | 'C' => is_in[who] = false,
            'T' | '4' if run(&['T', '4']) >= policy.silences_to_leave.get() as usize => {
                is_in[who] = is_in[who] && alone && policy.hold_last == HoldLast::On;
            }
            _ => {}
        }
    }
    is_in
}

#[track_caller]
fn check_against_naive(history: &[(usize, char)], members: usize, policy: RotationPolicy) {
    let (mut rotation, ids) = of(members, policy);
    let mut was = vec![Place::Out; members];
    for (at, (who, letter)) in history.iter().enumerate() {
        let effects = rotation.handle(ids[*who], answer(*letter), at);
        let is: Vec<Place> = rotation.members().map(|(_, member)| member.place()).collect();
        // A move is told exactly where the place changed, and only of the member that answered.
        let told = effects.moved.as_ref().map(|moved| (moved.member, moved.kind));
        let seen = match (was[*who], is[*who]) {
            (Place::Out, Place::In) => Some((ids[*who], MoveKind::Join)),
            (Place::In, Place::Out) => Some((ids[*who], MoveKind::Leave)),
            (Place::In, Place::In) | (Place::Out, Place::Out) => None,
        };
        assert_eq!(told, seen, "{history:?} at {at} under {policy:?}");
        for other in (0..members).filter(|other| other != who) {
            assert_eq!(was[other], is[other], "{history:?} at {at} under {policy:?}");
        }
        was = is;
    }
    let expected = naive(history, members, policy);
    let got: Vec<bool> = was.iter().map(|place| *place == Place::In).collect();
    assert_eq!(got, expected, "{history:?} under {policy:?}");
}

/// Every sequence of exactly `length` events.
fn each_sequence(events: &[(usize, char)], length: u32, mut check: impl FnMut(&[(usize, char)])) {
    let base = events.len();
    let mut history = Vec::new();
    for number in 0..base.pow(length) {
        history.clear();
        let mut rest = number;
        for _ in 0..length {
            history.push(events[rest % base]);
            rest /= base;
        }
        check(&history);
    }
}

#[test]
fn every_short_sequence_of_one_member_is_as_the_table_says() {
    let events: Vec<(usize, char)> = LETTERS.iter().map(|letter| (0, *letter)).collect();
    for (silences, answers, hold_last) in
        [(1, 1, false), (2, 1, false), (3, 1, false), (2, 2, false), (1, 3, false), (1, 1, true), (2, 2, true)]
    {
        each_sequence(&events, 5, |history| check_against_naive(history, 1, policy(silences, answers, hold_last)));
    }
}

#[test]
fn every_short_sequence_of_two_members_is_as_the_table_says() {
    let events: Vec<(usize, char)> =
        [0, 1].into_iter().flat_map(|who| ['R', 'N', 'T'].map(|letter| (who, letter))).collect();
    for (silences, hold_last) in [(1, false), (1, true), (2, true)] {
        each_sequence(&events, 6, |history| check_against_naive(history, 2, policy(silences, 1, hold_last)));
    }
}

fn histories(members: usize) -> impl Strategy<Value = Vec<(usize, char)>> {
    prop::collection::vec((0..members, prop::sample::select(LETTERS.to_vec())), 0..60)
}

proptest! {
    #[test]
    fn long_sequences_of_three_members_are_as_the_table_says(
        history in histories(3), silences in 1_u32..5, answers in 1_u32..4, hold_last: bool,
    ) {
        check_against_naive(&history, 3, policy(silences, answers, hold_last));
    }

    #[test]
    fn a_fault_and_a_late_answer_change_nothing(history in histories(2), at in 0_usize..60, letter in prop::sample::select(LETTERS.to_vec())) {
        let (mut plain, ids) = of(2, RotationPolicy::default());
        let (mut disturbed, _) = of(2, RotationPolicy::default());
        for (moment, (who, letter_then)) in history.iter().enumerate() {
            if moment == at {
                prop_assert_eq!(disturbed.handle(ids[*who], answer('X'), moment).moved, None);
                disturbed.note_late(ids[*who], answer(letter), moment);
            }
            let (one, other) =
                (plain.handle(ids[*who], answer(*letter_then), moment), disturbed.handle(ids[*who], answer(*letter_then), moment));
            prop_assert_eq!(one, other);
        }
        for ((_, one), (_, other)) in plain.members().zip(disturbed.members()) {
            prop_assert_eq!((one.place(), one.since(), one.silences(), one.moves()), (other.place(), other.since(), other.silences(), other.moves()));
            prop_assert_eq!(one.row(), other.row());
        }
    }

    #[test]
    fn silence_alone_never_joins_and_faults_alone_never_move(letters in prop::collection::vec(prop::sample::select(vec!['T', '4', 'X']), 0..40)) {
        let (mut rotation, ids) = of(1, policy(1, 1, false));
        for letter in letters {
            prop_assert_eq!(rotation.handle(ids[0], answer(letter), 0).moved, None);
        }
    }
}

/// Plays letters to one member and gives what the last one did.
fn after(letters: &str, policy: RotationPolicy) -> Member<usize> {
    let (mut rotation, ids) = of(1, policy);
    for (at, letter) in letters.chars().enumerate() {
        rotation.handle(ids[0], answer(letter), at);
    }
    rotation.member(ids[0]).unwrap().clone()
}

#[track_caller]
fn check_place(letters: &str, hold_last: bool, expected: Place) {
    assert_eq!(after(letters, policy(3, 1, hold_last)).place(), expected, "{letters}");
}

#[test]
fn two_silences_in_a_row_stay_and_the_third_leaves_unless_the_last_is_held() {
    check_place("RTT", false, Place::In);
    check_place("RTTRTT", false, Place::In);
    check_place("RTTT", false, Place::Out);
    check_place("RTTT", true, Place::In);
    check_place("RTTTN", true, Place::Out);
}

#[test]
fn a_429_is_silence() {
    check_place("R4T", false, Place::In);
    check_place("R4T4", false, Place::Out);
    check_place("4", false, Place::Out);
}

#[test]
fn a_late_ready_answer_does_not_overrule_a_silence() {
    let (mut rotation, ids) = of(1, RotationPolicy::default());
    rotation.handle(ids[0], answer('T'), 1);
    rotation.note_late(ids[0], answer('R'), 2);
    let member = rotation.member(ids[0]).unwrap();
    assert_eq!(member.place(), Place::Out);
    assert_eq!(member.last_late(), Some((&answer('R'), 2)));
    assert_eq!(member.last_answer(), Some((&answer('T'), 1)));
}

#[test]
fn a_probe_that_a_reload_cancelled_counts_as_nothing() {
    let (mut rotation, ids) = of(2, RotationPolicy::default());
    rotation.handle(ids[0], answer('R'), 1);
    let kept = rotation.remove(ids[0]).unwrap();
    let effects = rotation.handle(ids[0], answer('F'), 2);
    assert_eq!((effects.moved, effects.renewal), (None, Renewal::Withheld));
    let mut reloaded = Rotation::new();
    let id = reloaded.add(kept);
    assert_eq!(reloaded.member(id).unwrap().place(), Place::In);
}

#[test]
fn a_held_member_leaves_at_its_next_silence_once_another_is_in() {
    let (mut rotation, ids) = of(2, policy(2, 1, true));
    for (who, letter) in [(0, 'R'), (0, 'T'), (0, 'T'), (0, 'T')] {
        assert_ne!(rotation.handle(ids[who], answer(letter), 0).moved.map(|moved| moved.kind), Some(MoveKind::Leave));
    }
    assert!(rotation.member(ids[0]).unwrap().is_held());
    rotation.handle(ids[1], answer('R'), 0);
    assert!(rotation.member(ids[0]).unwrap().is_held());
    let moved = rotation.handle(ids[0], answer('T'), 0).moved.unwrap();
    assert_eq!((moved.kind, moved.cause.to_string()), (MoveKind::Leave, "silent 2 times in a row".into()));
}

#[test]
fn each_definite_no_says_why_it_removed() {
    for (letter, cause) in
        [('N', "answered 503"), ('F', "connection refused"), ('C', "connection reset before the answer was complete")]
    {
        let member = after(&format!("R{letter}"), RotationPolicy::default());
        assert_eq!(member.row().unwrap().last_red_reason.as_deref(), Some(cause));
    }
}

#[test]
fn nothing_is_reported_before_anything_definite_is_known() {
    for silent in ["", "T", "TT", "TTXX", "X"] {
        assert_eq!(after(silent, RotationPolicy::default()).row(), None, "{silent}");
    }
    for definite in ["TTT", "N", "F", "C", "R", "T4T"] {
        assert!(after(definite, RotationPolicy::default()).row().is_some(), "{definite}");
    }
    // A ready answer that does not yet join is nothing definite.
    assert_eq!(after("R", policy(3, 2, false)).row(), None);
}

#[test]
fn a_row_says_what_is_served_while_in_and_why_it_left_until_the_next_leave() {
    let (mut rotation, ids) = of(1, RotationPolicy::default());
    let mut row = |answer| {
        rotation.handle(ids[0], answer, 0);
        rotation.member(ids[0]).unwrap().row().unwrap()
    };
    let versioned = |version: &str| Answer::of_status(200, Some(version.into()));
    let serving = |sha: &str, reason: Option<&str>| ReportedRow {
        name: "m0".into(),
        phase: Some("serving".into()),
        serving_sha: Some(sha.into()),
        last_green: Some(sha.into()),
        last_red_reason: reason.map(Into::into),
        ..ReportedRow::default()
    };
    assert_eq!(row(versioned("a1")), serving("a1", None));
    assert_eq!(row(versioned("b2")), serving("b2", None));
    assert_eq!(row(answer('T')), serving("b2", None));
    let out = ReportedRow { phase: Some("probing".into()), serving_sha: None, ..serving("b2", Some("answered 503")) };
    assert_eq!(row(answer('N')), ReportedRow { last_green: Some("b2".into()), ..out.clone() });
    // A dead member that alternates between refusal and silence is the same row for ever.
    for letter in ['F', 'T', 'C', 'F', 'T'] {
        assert_eq!(row(answer(letter)), out);
    }
    assert_eq!(row(answer('R')), serving("unversioned", Some("answered 503")));
    assert_eq!(row(versioned("")), serving("unversioned", Some("answered 503")));
    assert_eq!(row(versioned(&"x".repeat(1025))), serving("unversioned", Some("answered 503")));
}

/// A row as a board held it before a restart.
fn before(serving: bool, reason: Option<&str>) -> Row {
    Row {
        phase: if serving { "serving" } else { "probing" }.into(),
        serving_sha: serving.then(|| "a1".into()),
        last_green: Some("a1".into()),
        last_red_reason: reason.map(Into::into),
        ..Row::default()
    }
}

#[test]
fn a_restart_finds_a_dead_member_unchanged() {
    let name = Name::of_instance("web").unwrap();
    let was = before(false, Some("silent 3 times in a row"));
    let mut rotation = Rotation::new();
    let id = rotation.add(Member::new(name, RotationPolicy::default(), Some(&was), 0));
    rotation.handle(id, answer('F'), 1);
    let row = rotation.member(id).unwrap().row().unwrap();
    assert_eq!(row.last_green, was.last_green);
    assert_eq!(row.last_red_reason, was.last_red_reason);
    assert_eq!(row.phase.as_ref(), Some(&was.phase));
    assert_eq!(row.serving_sha, None);
}

#[test]
fn a_member_that_served_before_a_restart_and_is_dead_after_it_says_why() {
    let name = Name::of_instance("web").unwrap();
    let mut rotation = Rotation::new();
    let was = before(true, Some("answered 503"));
    let id = rotation.add(Member::new(name, RotationPolicy::default(), Some(&was), 0));
    rotation.handle(id, answer('F'), 1);
    let row = rotation.member(id).unwrap().row().unwrap();
    assert_eq!(row.last_red_reason.as_deref(), Some("connection refused"));
    assert_eq!(row.last_green, was.last_green);
}

#[test]
fn every_answer_but_a_fault_renews_and_a_held_member_does_not() {
    let (mut rotation, ids) = of(1, policy(2, 1, true));
    let mut renewal = |letter| rotation.handle(ids[0], answer(letter), 0).renewal;
    assert_eq!(renewal('T'), Renewal::Withheld);
    assert_eq!(renewal('R'), Renewal::Renews);
    assert_eq!(renewal('X'), Renewal::Withheld);
    assert_eq!(renewal('T'), Renewal::Renews);
    assert_eq!(renewal('T'), Renewal::Withheld);
    assert_eq!(renewal('T'), Renewal::Withheld);
    assert_eq!(renewal('R'), Renewal::Renews);
    assert_eq!(renewal('F'), Renewal::Renews);
    assert_eq!(renewal('T'), Renewal::Renews);
}

#[test]
fn a_report_is_good_for_30_s_or_three_periods_and_the_timeout_rounded_up() {
    for (period_ms, timeout_ms, secs) in
        [(1_000, 300, 30), (9_900, 300, 30), (9_900, 301, 31), (10_000, 0, 30), (10_000, 1, 31), (60_000, 5_000, 185)]
    {
        assert_eq!(good_for(period_ms, timeout_ms), GoodFor::Seconds(secs), "{period_ms} {timeout_ms}");
    }
}

#[test]
fn equal_answers_make_equal_rows_so_that_a_stamp_stays() {
    let mut board = Board::new();
    let (mut rotation, ids) = of(1, RotationPolicy::default());
    for (now, letter) in (100..).zip("RRTRTTRRXR".chars()) {
        let effects = rotation.handle(ids[0], answer(letter), 0);
        if effects.renewal == Renewal::Renews {
            let report = Report {
                source: Name::of_source("probe").unwrap(),
                extent: Extent::Partial,
                rows: rotation.member(ids[0]).unwrap().row().into_iter().collect(),
                good_for: good_for(1_000, 300),
                sequence: None,
            };
            board.report(report, UnixSeconds::new(now)).unwrap();
        }
    }
    let snapshot = board.snapshot();
    assert_eq!(snapshot.named("m0").unwrap().held.last_change, UnixSeconds::new(100));
}
