//! The three reports: what they hold, in which order, and nothing that a terminal or a parser obeys.

use greenlight_core::rehearsal::{
    Account, Class, Door, Ending, Event, MAX_MISSES, Reader, Record, Suites, Unfinished, WIDTH, junit, text,
};
use greenlight_core::rotation::MoveKind;
use serde_json::Value;

use crate::story::{
    SerdeJson, every_100_ms, exited, header, lines, moved, no, play, probe, ready, record, refused, sigterm, silent,
    tick, tried, under,
};

/// A whole roll whose old one closes its listener on the signal.
fn broken() -> Record {
    let started = |at_us, process: &str, pid| Event::Started { at_us, process: process.into(), pid };
    let mut events = vec![
        started(-400_000, "old", 41),
        probe(-1_000, "old", ready()),
        moved(-1_000, "old", MoveKind::Join, ready()),
        Event::Expected { at_us: -500, status: 200 },
        started(100_000, "new", 42),
        probe(199_000, "new", ready()),
        moved(199_000, "new", MoveKind::Join, ready()),
        sigterm(199_100),
        probe(299_000, "old", refused()),
        moved(299_000, "old", MoveKind::Leave, refused()),
        tried(349_000, Door::Closed),
        exited(400_000, "old"),
        Event::Control { due_us: 0, took_us: Some(150) },
    ];
    events.extend((0..50).map(|number| {
        let is_new = number >= 20 && (number >= 30 || number / 2 % 2 == 1);
        let class = if !is_new && number >= 20 { Class::Refused } else { Class::Ok };
        tick(number, Some(if is_new { "new" } else { "old" }), class)
    }));
    events.push(Event::Killed { at_us: 500_000, process: "new".into() });
    record(events, 50, Ending::Complete)
}

#[test]
fn the_text_report_of_a_broken_roll_is_this() {
    assert_eq!(text(&broken()), include_str!("broken.txt"));
}

#[test]
fn no_line_of_a_report_is_wider_than_a_terminal() {
    let mut long = header();
    long.processes[1].command = "x".repeat(900).into();
    let words = format!("{}\n{}\n", "panicked at 😀 ".repeat(40), "é".repeat(300));
    let events = vec![
        Event::Started { at_us: 0, process: "new".into(), pid: u32::MAX },
        Event::LastWords { at_us: 1, process: "new".into(), text: words.into() },
        tick(0, Some("old"), Class::Refused),
    ];
    let never_ready = Ending::Incomplete { because: Unfinished::NeverReady, process: "new".into() };
    for record in [broken(), under(long, events, u64::MAX >> 20, never_ready)] {
        for line in text(&record).lines() {
            assert!(line.chars().count() <= WIDTH, "{line}");
            assert_eq!(line.trim_end(), line);
        }
    }
}

#[test]
fn a_report_holds_nothing_that_a_terminal_obeys() {
    let mut hostile = header();
    hostile.processes[0].command = "serve \u{1b}[2J\u{202e}".into();
    let mut bad = tick(0, Some("old"), Class::Ours);
    if let Event::Tick(tick) = &mut bad {
        tick.error = Some("\u{1b}]0;x\u{7}\r".into());
    }
    let events = vec![
        Event::Started { at_us: 0, process: "old".into(), pid: 1 },
        Event::LastWords { at_us: 0, process: "old".into(), text: "a\u{9b}b\r\n\u{2066}c".into() },
        Event::Exited { at_us: 0, process: "old".into(), exit: "exit\n0\u{1b}".into() },
        bad,
    ];
    let failed = Ending::Failed { because: "\u{1b}[31m".into() };
    let record = under(hostile, events, 1, failed);
    for report in [text(&record), junit(&record)] {
        let is_plain = |one: char| one == '\n' || !greenlight_core::is_invisible(one);
        assert!(report.chars().all(is_plain), "{report:?}");
    }
    assert!(text(&record).contains("\\u{1b}[2J\\u{202e}"));
}

#[test]
fn a_status_that_counts_as_ok_and_is_no_success_is_said() {
    let told = |status, expect| {
        let mut header = header();
        header.options.expect = expect;
        let events = vec![Event::Expected { at_us: -500, status }, tick(0, Some("old"), Class::Ok)];
        let record = under(header, events, 1, Ending::Complete);
        let told: Value = serde_json::to_value(Account::of(&record)).unwrap();
        assert_eq!(told["expected_status"], status);
        text(&record)
    };
    assert!(told(404, None).contains("\n              ok is 404, as / answered before the roll\n"));
    assert!(told(302, Some(302)).contains("\n              ok is 302, as was asked for\n"));
    assert!(!told(200, None).contains("ok is") && !told(204, Some(204)).contains("ok is"));
}

#[test]
fn twenty_misses_are_shown_and_the_rest_is_counted() {
    let events = |misses| (0..misses).map(|number| tick(number, Some("old"), Class::Cut)).collect();
    let shown = |misses| {
        let text = text(&record(events(misses), misses, Ending::Complete));
        (text.matches("old cut ECONNRESET").count(), text.contains("and 1 more"))
    };
    let most = u64::try_from(MAX_MISSES).unwrap();
    assert_eq!(shown(most), (MAX_MISSES, false));
    assert_eq!(shown(most + 1), (MAX_MISSES, true));
}

#[test]
fn a_clean_run_prints_every_zero() {
    let record = play(header(), &every_100_ms(&[ready(), ready()]), 20);
    let text = text(&record);
    let mut lines = text.lines();
    let verdict = "KEPT          lost 0, slow 0, server_error 0, unexpected 0, nobody 0 (exit 0)";
    assert_eq!(lines.next(), Some(verdict));
    // The sum line and the two lanes, without their line breaks.
    let (sums, _) = text.split_once("longest gap").unwrap();
    let words = sums.split_whitespace().collect::<Vec<_>>().join(" ");
    for class in Class::ALL.into_iter().filter(|class| *class != Class::Ok) {
        assert_eq!(words.matches(&format!(" 0 {}", class.as_str())).count(), 3, "{class:?}");
    }
    for line in ["missed        none", "misses        none", "why           nobody was refused"] {
        assert!(text.lines().any(|one| one == line), "{line}\n{text}");
    }
}

#[test]
fn the_reports_of_the_record_read_back_are_the_same_bytes() {
    let stalls = play(header(), &every_100_ms(&[ready(), silent(), silent(), silent(), ready(), no()]), 70);
    for live in [broken(), stalls] {
        let mut reader = Reader::new();
        for line in lines(&live) {
            reader.read(&line, &SerdeJson).unwrap();
        }
        let back = reader.finish().unwrap();
        assert_eq!(back, live);
        let json = |record: &Record| serde_json::to_string(&Account::of(record)).unwrap();
        assert_eq!((text(&back), junit(&back), json(&back)), (text(&live), junit(&live), json(&live)));
    }
}

#[test]
fn the_object_has_every_key_of_the_design() {
    let record = broken();
    let told: Value = serde_json::to_value(Account::of(&record)).unwrap();
    for key in [
        "schema",
        "outcome",
        "exit",
        "why",
        "ticks",
        "totals",
        "lost",
        "missed",
        "drain_margin_us",
        "reopened",
        "lanes",
        "longest_gap_us",
        "processes",
        "rotation",
        "misses",
        "fitness",
        "what_if",
        "expected_status",
    ] {
        assert!(told.get(key).is_some(), "{key}");
    }
    assert_eq!(
        (&told["outcome"], &told["exit"], &told["schema"]),
        (&"broken".into(), &1.into(), &"greenlight.rehearsal/1".into())
    );
    assert_eq!(told["totals"].as_object().unwrap().len(), Class::ALL.len());
    assert_eq!(told["lanes"]["fresh"].as_object().unwrap().len(), Class::ALL.len());
    let process = &told["processes"][0];
    assert_eq!((&process["name"], &process["pid"], &process["sigterms"]), (&"old".into(), &41.into(), &1.into()));
    assert_eq!((&process["exit"], &process["drain_us"]), (&"exit 0".into(), &200_900.into()));
    let moved = &told["rotation"][2];
    assert_eq!((&moved["move"], &moved["cause"]), (&"leave".into(), &"connection refused".into()));
    let miss = &told["misses"][0];
    assert_eq!(
        (&miss["class"], &miss["error"], &miss["reused"]),
        (&"refused".into(), &"ECONNREFUSED".into(), &false.into())
    );
    assert_eq!((&miss["states_due"]["old"], &miss["states_end"]["new"]), (&"told".into(), &"in".into()));
    assert_eq!(told["what_if"].as_array().unwrap().len(), 3);
    assert!(told["fitness"]["late_p99_us"].is_i64() && told["fitness"]["cores"].is_u64());
}

#[test]
fn junit_fails_exactly_where_the_exit_code_is_not_0() {
    let endings = [
        Ending::Complete,
        Ending::Interrupted,
        Ending::Failed { because: "a < b & \"c\"".into() },
        Ending::Incomplete { because: Unfinished::NeverExited, process: "old".into() },
    ];
    for ending in endings {
        for class in Class::ALL {
            let record = record(vec![tick(0, Some("old"), class)], 1, ending.clone());
            let xml = junit(&record);
            let is_clean = xml.contains("failures=\"0\" errors=\"0\"");
            let exit = Account::of(&record).summary.exit;
            assert_eq!(is_clean, exit == 0, "{class:?} {ending:?}");
            assert_eq!(xml.matches("<testcase").count(), Class::ALL.len() + 1);
            assert!(!xml.contains("a < b"));
        }
    }
}

#[test]
fn several_runs_are_one_document_with_a_suite_each_and_the_sums_of_all() {
    let kept = record(vec![tick(0, Some("old"), Class::Ok)], 1, Ending::Complete);
    let cut = record(vec![tick(0, Some("old"), Class::Cut)], 1, Ending::Complete);
    let mut suites = Suites::default();
    suites.add("run 1", &kept);
    suites.add("run <2>", &cut);
    let xml = suites.into_xml();
    let counted = |what: &str| xml.matches(what).count();
    assert_eq!((counted("<?xml"), counted("<testsuites "), counted("</testsuites>")), (1, 1, 1), "{xml}");
    assert_eq!((counted("<testsuite "), counted("</testsuite>")), (2, 2), "{xml}");
    assert!(xml.contains("<testsuite name=\"run 1\"") && xml.contains("<testsuite name=\"run &lt;2&gt;\""), "{xml}");
    let cases = (Class::ALL.len() + 1) * 2;
    let root = format!(
        "<testsuites name=\"greenlight rehearse\" tests=\"{cases}\" failures=\"1\" errors=\"0\" time=\"0.020000\">"
    );
    assert!(xml.contains(&root), "{xml}");
}

#[test]
fn one_that_never_became_ready_is_quoted() {
    let words: String = (0..14).map(|number| format!("line {number}\n")).collect();
    let events = vec![
        Event::Started { at_us: -3, process: "new".into(), pid: 7 },
        Event::LastWords { at_us: 0, process: "new".into(), text: words.into() },
    ];
    let never_ready = Ending::Incomplete { because: Unfinished::NeverReady, process: "new".into() };
    let text = text(&record(events, 0, never_ready));
    assert!(text.contains("its last words (4 lines before):\n              | line 4\n"), "{text}");
    assert!(text.contains("              | line 13\n"));
}
