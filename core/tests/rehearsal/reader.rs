//! Records from outside: refused with the line and the reason, and readable up to there.

use greenlight_core::rehearsal::{
    Class, Ending, Event, Header, MAX_LINE_BYTES, Reader, Record, RecordError, RecordProblem, text,
};

use crate::story::{SerdeJson, end, every_100_ms, header, lines, no, play, ready, tick};

#[test]
fn a_record_that_is_foreign_newer_doubled_or_broken_off_is_refused_with_its_line() {
    let end = || end(1, Ending::Complete);
    let head = || Event::Header(header());
    let of_schema = |schema: &str| Event::Header(Header { schema: schema.into(), ..header() });
    let one = || tick(0, Some("old"), Class::Ok);
    for (events, line, what) in [
        (vec![], 1, RecordProblem::NoHeader),
        (vec![one()], 1, RecordProblem::NoHeader),
        (vec![of_schema("greenlight.rehearsal/2")], 1, RecordProblem::Newer("greenlight.rehearsal/2".into())),
        (vec![of_schema("greenlight.rehearsal/0")], 1, RecordProblem::Foreign("greenlight.rehearsal/0".into())),
        (vec![of_schema("k6/2")], 1, RecordProblem::Foreign("k6/2".into())),
        (vec![head(), head()], 2, RecordProblem::SecondHeader),
        (vec![head(), one()], 3, RecordProblem::Truncated),
        (vec![head(), end(), one()], 3, RecordProblem::AfterTheEnd),
        (vec![head(), one(), one(), end()], 3, RecordProblem::TickTwice(0)),
        (vec![head(), tick(1, None, Class::Nobody), one(), end()], 2, RecordProblem::NeverDue(1)),
        (vec![head(), tick(0, Some("x"), Class::Ok), end()], 2, RecordProblem::UnknownProcess("x".into())),
    ] {
        assert_eq!(Record::from_events(events).unwrap_err(), RecordError { line, what });
    }
}

#[test]
fn a_header_that_no_run_can_have_is_refused() {
    let refused = |change: fn(&mut Header)| {
        let mut header = header();
        change(&mut header);
        matches!(
            Reader::new().take(Event::Header(header)),
            Err(RecordError { line: 1, what: RecordProblem::Header(_) })
        )
    };
    assert!(!refused(|_| ()));
    assert!(refused(|header| header.options.every_us = 0));
    assert!(refused(|header| header.processes.clear()));
    assert!(refused(|header| header.processes[1].name = "old".into()));
    assert!(refused(|header| header.processes[1].name = "a b".into()));
}

/// What a reader makes of lines: the record, and why it stopped.
fn read(lines: &[&str]) -> (Option<Record>, Option<String>) {
    let mut reader = Reader::new();
    for line in lines {
        if let Err(error) = reader.read(line, &SerdeJson) {
            return (reader.finish(), Some(error.to_string()));
        }
    }
    let error = reader.check_end().err().map(|error| error.to_string());
    (reader.finish(), error)
}

#[test]
fn what_stood_before_a_line_that_breaks_off_stays_readable() {
    let whole = play(header(), &every_100_ms(&[ready(), ready()]), 15);
    let lines = lines(&whole);
    let mut cut: Vec<&str> = lines.iter().map(String::as_str).collect();
    assert_eq!(read(&cut), (Some(whole.clone()), None));

    let half = &cut[10][..cut[10].len() / 2];
    cut.truncate(10);
    cut.push(half);
    let (record, error) = read(&cut);
    assert!(error.unwrap().starts_with("line 11: no event of a record: EOF"));
    let record = record.unwrap();
    assert_eq!((record.events.len(), record.ending, record.ticks), (9, None, 7));
    assert_eq!(record.events, whole.events[..9]);

    cut.pop();
    let error = read(&cut).1.unwrap();
    assert_eq!(error, "line 11: the record breaks off before its end");
}

#[test]
fn a_newer_header_is_named_newer_whatever_its_shape() {
    for (line, expected) in [
        (
            r#"{"event":"header","schema":"greenlight.rehearsal/2","new":1}"#,
            "line 1: the record is greenlight.rehearsal/2, of a newer version; this one reads greenlight.rehearsal/1",
        ),
        (
            r#"{"schema":"other\u001b[2J/1"}"#,
            "line 1: other\\u{1b}[2J/1 is no record of a rehearsal; this version reads greenlight.rehearsal/1",
        ),
        (r#"{"level":"info"}"#, "line 1: the first line of a record is its header, and this is none"),
        ("\u{0}\u{1}", "line 1: the first line of a record is its header, and this is none"),
        ("", "line 1: the first line of a record is its header, and this is none"),
    ] {
        assert_eq!(read(&[line]), (None, Some(expected.into())));
    }
}

#[test]
fn a_line_that_is_too_long_is_refused_unread() {
    let long = format!("\"{}\"", "x".repeat(MAX_LINE_BYTES));
    let error = read(&[&long]).1.unwrap();
    assert_eq!(error, format!("line 1: the line is {} bytes long, at most {MAX_LINE_BYTES}", MAX_LINE_BYTES + 2));
}

#[test]
fn an_event_of_a_later_minor_version_with_a_new_field_is_still_read() {
    let lines = lines(&play(header(), &every_100_ms(&[ready()]), 1));
    let with_more = lines[1].replacen('{', "{\"and_more\":[1],", 1);
    let mut reader = Reader::new();
    for line in [&*lines[0], &*with_more] {
        reader.read(line, &SerdeJson).unwrap();
    }
}

#[test]
fn every_cut_of_a_record_gives_a_report_and_never_a_panic() {
    let whole = play(header(), &every_100_ms(&[ready(), no()]), 4);
    let all = lines(&whole).join("\n");
    for end in 0..all.len() {
        let lines: Vec<&str> = all[..end].lines().collect();
        let (record, error) = read(&lines);
        assert!(error.is_some(), "{end}");
        if let Some(record) = record {
            assert!(text(&record).ends_with('\n'));
        }
    }
}
