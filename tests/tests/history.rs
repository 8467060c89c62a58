//! History through its public doors: what a daemon says of its past is what it said then, a window survives a file,
//! and what is no whole window is refused with its line.

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a helper of a test fails the test, and tells its seed")]

use std::collections::BTreeMap;
use std::fs;
use std::sync::Arc;

use axum::body::Body;
use axum::http::Request;
use greenlight::clock::{Clock, ManualTime};
use greenlight::store::open;
use greenlight::{Daemon as InProcess, GoodFor, Horizon, HttpSettings, ReportedRow};
use greenlight_core::history::{Event, Happening, Json, Reader, Said, Sweep, Told, Window};
use greenlight_core::{Extent, Name, Report, UnixSeconds, is_invisible};
use greenlight_tests::measure::resident_mib;
use greenlight_tests::{Daemon, Dice, Folder, greenlight, wait_until};
use http_body_util::BodyExt;
use serde_json::Value;
use tower::ServiceExt;

#[path = "../benches/filled/mod.rs"]
mod filled;

use filled::fill;

const BEGIN: u64 = 1_785_000_000;
const HORIZON: Horizon = Horizon::After(120);

struct SerdeJson;

impl Json for SerdeJson {
    fn read<T: serde::de::DeserializeOwned>(&self, text: &str) -> Result<T, String> {
        serde_json::from_str(text).map_err(|error| error.to_string())
    }
}

async fn ask(daemon: &InProcess, path: &str) -> String {
    let request = Request::get(path).body(Body::empty()).unwrap();
    let answer = daemon.router(HttpSettings::default()).oneshot(request).await.unwrap();
    String::from_utf8(answer.into_body().collect().await.unwrap().to_bytes().to_vec()).unwrap()
}

/// A daemon on the same folder; one that was dropped may still be letting go of it.
fn start(folder: &Folder, time: &Arc<ManualTime>) -> InProcess {
    let mut store = None;
    wait_until(|| {
        store = open(folder.path()).ok();
        store.is_some()
    });
    InProcess::builder().clock(Clock::of(time.clone())).store(store.unwrap()).stale_after(HORIZON).start().unwrap()
}

/// An export in parts.
fn read(lines: &str) -> (greenlight_core::history::Head, Vec<Event>) {
    let mut reader = Reader::default();
    let mut events = Vec::new();
    for line in lines.lines() {
        events.extend(reader.read(line, &SerdeJson).unwrap());
    }
    reader.check_end().unwrap();
    (reader.head().unwrap().clone(), events)
}

/// What the events say was said at each second, under the daemon's horizon.
fn replayed(lines: &str) -> BTreeMap<u64, Said> {
    let (head, events) = read(lines);
    let window = Window { from: head.from_unix, to: head.to_unix };
    let mut said = BTreeMap::new();
    let mut tell = |told| {
        if let Told::Verdict(span) = told {
            said.extend((span.from.as_secs()..span.to.as_secs()).map(|second| (second, span.said.clone())));
        }
    };
    let mut sweep = Sweep::new(window, &[HORIZON], head.lives.clone());
    for event in &events {
        sweep.push(event, &mut tell);
    }
    sweep.finish(head.known_until_unix, &mut tell);
    said
}

fn a_report(random: &mut Dice) -> Report {
    let source = ["driver", "ci"][usize::try_from(random.below(2)).unwrap()];
    let mut rows = Vec::new();
    for name in ["dev", "lane", "merge"] {
        if random.below(3) > 0 {
            let green = random.below(6) > 0;
            rows.push(ReportedRow {
                name: name.into(),
                serving_sha: (green && random.below(3) > 0).then(|| "a1".into()),
                last_green: green.then(|| "a1".into()),
                lapsed_secs: (random.below(8) == 0).then(|| random.below(200)),
                ..ReportedRow::default()
            });
        }
    }
    Report {
        source: Name::of_source(source).unwrap(),
        extent: if random.below(2) == 0 { Extent::Full } else { Extent::Partial },
        rows,
        good_for: match random.below(6) {
            0 => GoodFor::Forever,
            1 => GoodFor::UntilRestart,
            _ => GoodFor::Seconds(5 + random.below(90)),
        },
        sequence: None,
    }
}

/// Plays a random life second by second, with stops, kills and steps of the clock, and asks for every verdict.
async fn lived(seed: u64) {
    println!("seed {seed}");
    let (folder, time, mut random) = (Folder::new(), ManualTime::at(i64::try_from(BEGIN).unwrap()), Dice(seed));
    let mut daemon = start(&folder, &time);
    let mut said: BTreeMap<u64, String> = BTreeMap::new();
    let mut now = BEGIN;
    for _ in 0..400 {
        if random.below(8) == 0 {
            // A refused one is a part of life.
            let _ = daemon.handle().report(a_report(&mut random)).await;
        }
        if random.below(60) == 0 {
            time.step_wall(i64::try_from(random.below(200)).unwrap() - 100);
        }
        daemon.handle().tick().await.unwrap();
        said.insert(now, ask(&daemon, "/readyz").await);
        let down_secs = i64::try_from(random.below(40)).unwrap();
        match random.below(60) {
            0 => daemon.handle().stop().await,
            1 => {}
            2 => {
                // Asleep: nothing is said.
                let secs = 61 + random.below(300);
                time.advance(i64::try_from(secs).unwrap());
                now += secs;
                continue;
            }
            _ => {
                time.advance(1);
                now += 1;
                continue;
            }
        }
        drop(daemon);
        time.advance(down_secs);
        daemon = start(&folder, &time);
        let app: Value = serde_json::from_str(&ask(&daemon, "/app").await).unwrap();
        now = app["now_unix"].as_u64().unwrap();
        let history = ask(&daemon, "/history?lines").await;
        let (_, events) = read(&history);
        let until = events.iter().rev().find_map(|event| match event.what {
            Happening::Started { watched_until_unix, .. } => Some(watched_until_unix),
            _ => None,
        });
        let until = until.unwrap().unwrap().as_secs();
        let (last, _) = said.last_key_value().unwrap();
        assert!((*last).saturating_sub(until) <= 10, "the end is known to 10 s: {until} of {last}");
        // After the last sign of life nothing is known, and the later life holds.
        said.retain(|second, _| *second <= until && *second < now);
    }
    daemon.handle().tick().await.unwrap();
    said.insert(now, ask(&daemon, "/readyz").await);
    let history = ask(&daemon, &format!("/history?lines&from={}", BEGIN - 500)).await;
    let told = replayed(&history);
    check(&told, &said, BEGIN - 500, now);
    // `/app` says since when, as history has it: at the earliest since this life began to watch.
    let app: Value = serde_json::from_str(&ask(&daemon, "/app").await).unwrap();
    let is_ready = |second: u64| told[&second] == Said::Ready;
    let since =
        (app["started_unix"].as_u64().unwrap()..=now).rev().take_while(|at| is_ready(*at) == is_ready(now)).last();
    assert_eq!(app["readiness"]["since_unix"].as_u64(), since, "{app}");
    // A window that begins in the midst of it says the same of what it holds.
    let from = BEGIN + random.below(now.saturating_sub(BEGIN).max(1));
    let history = ask(&daemon, &format!("/history?lines&from={from}")).await;
    check(&replayed(&history), &said, from, now);
    let pages = paged(&daemon, from).await;
    assert_eq!(pages, read(&history).1.iter().map(|event| serde_json::to_value(event).unwrap()).collect::<Vec<_>>());
}

/// The events of a window in pages of seven.
async fn paged(daemon: &InProcess, from: u64) -> Vec<Value> {
    let mut events = Vec::new();
    let mut after = String::new();
    loop {
        let page: Value =
            serde_json::from_str(&ask(daemon, &format!("/history?from={from}&limit=7{after}")).await).unwrap();
        events.extend(page["events"].as_array().unwrap().iter().cloned());
        match page["next"].as_u64() {
            Some(next) => after = format!("&after={next}"),
            None => return events,
        }
    }
}

#[track_caller]
fn check(replayed: &BTreeMap<u64, Said>, said: &BTreeMap<u64, String>, from: u64, now: u64) {
    for second in from..=now {
        let told = &replayed[&second];
        let text = said.get(&second);
        let agrees = match (told, text) {
            (Said::NotWatching, None) => true,
            (Said::Ready, Some(text)) => text == "ready\n",
            (Said::NotReady { blame, .. }, Some(text)) => {
                let words = text.strip_prefix("not ready: ").unwrap_or("?");
                let named = words.split(" is degraded").next().and_then(|name| name.split(" is unconfirmed").next());
                let named = named.filter(|name| name.len() < words.trim_end().len());
                named.is_none_or(|named| blame.names.iter().any(|name| name.as_str() == named)) && words != "?"
            }
            (_, _) => false,
        };
        assert!(agrees, "at {second}: history tells {told:?}, it had said {text:?}");
    }
}

#[tokio::test]
async fn what_a_daemon_tells_of_every_second_is_what_it_had_said() {
    for seed in 1..6 {
        lived(seed).await;
    }
}

/// A daemon that has something to tell, and the address of its history.
fn eventful(folder: &Folder) -> Daemon {
    let daemon = Daemon::start(folder.path(), &[]);
    for (name, row) in [
        ("dev", r#"{"serving_sha":"a1"}"#),
        ("lane", r#"{"last_green":"77","last_red_reason":"exited 1"}"#),
        ("merge", r#"{"last_green":"66","idle_secs":3542400}"#),
    ] {
        assert_eq!(daemon.put(&format!("/sources/driver/instances/{name}?good_for_secs=forever"), row).0, 200);
    }
    daemon
}

#[test]
fn a_window_is_the_same_from_the_daemon_and_from_its_export() {
    let folder = Folder::new();
    let daemon = eventful(&folder);
    let now = daemon.app()["now_unix"].as_u64().unwrap();
    let until = (now + 1).to_string();
    let window = ["--from", "-1h", "--until", &until];
    let file = folder.path().join("incident.jsonl");
    let file = file.to_str().unwrap();
    let exported = greenlight(&[&["export", "--to", &daemon.url, "--out", file], &window[..]].concat(), "");
    assert_eq!(exported.code, Some(0), "{exported:?}");
    for form in [&["--json"][..], &["--csv"], &[]] {
        let judged = [&["--stale-after", "1h,0s,never"], form].concat();
        // From the file, so that both have the same window to the second.
        let imported = greenlight(&[&["import", file], &judged[..]].concat(), "");
        assert_eq!(imported.code, Some(0), "{imported:?}");
        let from = fs::read_to_string(file).unwrap();
        let from: Value = serde_json::from_str(from.lines().next().unwrap()).unwrap();
        let (from, until) = (from["from_unix"].to_string(), from["to_unix"].to_string());
        let asked = [&["history", "--to", &daemon.url, "--from", &from, "--until", &until], &judged[..]].concat();
        let asked = greenlight(&asked, "");
        assert_eq!((asked.code, &asked.out), (Some(0), &imported.out), "{asked:?}");
    }
    let piped = greenlight(&["import", "-", "--stale-after", "1h"], &fs::read_to_string(file).unwrap());
    assert!(piped.code == Some(0) && piped.out.contains("longest red"), "{piped:?}");
}

#[test]
fn the_table_says_which_rows_make_the_difference() {
    let folder = Folder::new();
    let daemon = eventful(&folder);
    let ran = greenlight(&["history", "--to", &daemon.url, "--from", "-1m", "--stale-after", "1h,0s,never"], "");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.out.contains("0s differs from 1h for "), "{}", ran.out);
    assert!(ran.out.contains("not ready under 1h: lane\n"), "{}", ran.out);
    assert!(ran.out.contains("never says the same as 1h throughout."), "{}", ran.out);
    let own = greenlight(&["history", "--to", &daemon.url, "--csv"], "");
    assert!(own.out.lines().nth(1).unwrap().starts_with("3600,"), "the daemon's own horizon: {}", own.out);
}

#[test]
fn what_is_no_whole_window_is_refused_with_its_line_and_shown_up_to_there_if_asked() {
    let folder = Folder::new();
    let daemon = eventful(&folder);
    let whole = daemon.get("/history?lines").1;
    let lines: Vec<&str> = whole.lines().collect();
    let file = folder.path().join("part.jsonl");
    let check = |text: &str, line: usize, why: &str, is_salvaged: bool| {
        fs::write(&file, text).unwrap();
        let path = file.to_str().unwrap();
        let ran = greenlight(&["import", path], "");
        assert_eq!((ran.code, &*ran.out), (Some(2), ""), "{ran:?}");
        assert!(ran.err.contains(&format!("line {line}: ")) && ran.err.contains(why), "{why}: {}", ran.err);
        let salvaged = greenlight(&["import", path, "--salvage", "--csv"], "");
        assert_eq!(salvaged.code, Some(2));
        assert_eq!(salvaged.out.contains("stale_after_secs"), is_salvaged, "{salvaged:?}");
    };
    check(&format!("{}\n", lines[..3].join("\n")), 4, "breaks off before its end", true);
    check(&whole[..whole.len() - 20], lines.len(), "breaks off before its end", true);
    check(&whole.replacen("greenlight.history/1", "greenlight.history/2", 1), 1, "of a newer version", false);
    check(&whole.replacen("greenlight.history/1", "somebody.else/1", 1), 1, "is no export of a history", false);
    check("", 1, "the first line of an export is its head", false);
    check("\u{0}\u{1}", 1, "the first line of an export is its head", false);
    check(&whole.replacen("\"event\":\"changed\"", "\"event\":\"painted\"", 1), 3, "no event of a history", true);
    check(&format!("{whole}{}\n", lines[1]), lines.len() + 1, "something stands behind the end", true);
    let mut short = lines.clone();
    short.remove(2);
    check(&format!("{}\n", short.join("\n")), lines.len() - 1, "there were 4 events, and 3 of them are here", true);
    let missing = greenlight(&["import", "/nowhere/at/all"], "");
    assert_eq!(missing.code, Some(2), "{missing:?}");
}

#[test]
fn a_daemon_without_history_and_none_at_all_are_told_apart() {
    let daemon = Daemon::start(std::path::Path::new("memory"), &[]);
    let ran = greenlight(&["history", "--to", &daemon.url], "");
    assert!(ran.code == Some(3) && ran.err.contains("keeps no history"), "{ran:?}");
    let url = daemon.url.clone();
    drop(daemon);
    let ran = greenlight(&["export", "--to", &url], "");
    assert!(ran.code == Some(3) && ran.err.contains("connection refused"), "{ran:?}");
    let ran = greenlight(&["history", "--from", "yesterday"], "");
    assert!(ran.code == Some(2) && ran.err.contains("\"yesterday\" is no moment: write Unix seconds"), "{ran:?}");
}

#[test]
fn moments_are_asked_for_in_the_daemons_own_time() {
    let folder = Folder::new();
    let daemon = eventful(&folder);
    let app = daemon.app();
    let now = app["now_unix"].as_u64().unwrap();
    let head = |query: &str| -> Value { serde_json::from_str(&daemon.get(&format!("/history?{query}")).1).unwrap() };
    assert_eq!(head("from=-1d")["from_unix"].as_u64().unwrap() / 10, (now - 86_400) / 10);
    assert_eq!(head("from=2000-01-01T00:00:00Z")["from_unix"], 946_684_800);
    let empty = head(&format!("from={}&to={}", now + 1_000, now + 2_000));
    assert_eq!(empty["events"].as_array().unwrap().len(), 4, "the board as it is: {empty}");
    assert_eq!(empty["events"][0]["event"], "retold");
}

#[test]
fn a_window_that_ends_before_it_begins_is_refused_and_told_what_to_do() {
    let folder = Folder::new();
    let daemon = eventful(&folder);
    let check = |from: &str, to: Option<&str>, words: &str| {
        let query = to.map_or_else(String::new, |to| format!("&to={to}"));
        for lines in ["", "&lines"] {
            let (status, body) = daemon.get(&format!("/history?from={from}{query}{lines}"));
            let problem: Value = serde_json::from_str(&body).unwrap();
            assert_eq!((status, problem["title"].as_str()), (400, Some("The window ends before it begins")), "{body}");
            assert!(problem["detail"].as_str().unwrap().contains(words), "{body}");
        }
        for command in ["history", "export"] {
            let mut args = vec![command, "--to", &daemon.url, "--from", from];
            args.extend(to.iter().flat_map(|to| ["--until", to]));
            let ran = greenlight(&args, "");
            assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{ran:?}");
            assert!(ran.err.contains("The window ends before it begins") && ran.err.contains(words), "{ran:?}");
        }
    };
    check(
        "2026-08-03T08:00:00Z",
        Some("2026-08-03T07:00:00Z"),
        "begins at 2026-08-03 08:00:00Z and ends before that, at 2026-08-03 07:00:00Z: exchange the two",
    );
    check("-1h", Some("-2h"), "exchange the two");
    check("1785740401", Some("1785740400"), "exchange the two");
    check("9999-12-30T22:00:00Z", None, "now: give an earlier beginning");
    // What an export refuses leaves no file behind.
    let file = folder.path().join("incident.jsonl");
    let out = ["export", "--to", &daemon.url, "--from", "-1h", "--until", "-2h", "--out", file.to_str().unwrap()];
    assert_eq!(greenlight(&out, "").code, Some(2));
    assert!(!file.exists() && !file.with_extension("jsonl.part").exists());
    // One of no length is empty, and no mistake.
    assert_eq!(daemon.get("/history?from=1785740400&to=1785740400").0, 200);
}

#[tokio::test]
async fn a_page_whose_place_has_been_pruned_is_refused_and_not_told_with_a_gap() {
    let folder = Folder::new();
    let time = ManualTime::at(i64::try_from(BEGIN).unwrap());
    let store = open(folder.path()).unwrap();
    let daemon = InProcess::builder().clock(Clock::of(time.clone())).store(store).history_secs(100).start().unwrap();
    let mut publish = 0..;
    let mut publish = async || {
        let row = ReportedRow { name: "lane".into(), draining: publish.next(), ..ReportedRow::default() };
        daemon.handle().publish("driver", vec![row]).await.unwrap();
        time.advance(10);
    };
    for _ in 0..5 {
        publish().await;
    }
    let parsed = async |query: &str| -> Value { serde_json::from_str(&ask(&daemon, query).await).unwrap() };
    let first = parsed("/history?limit=2").await;
    let rest = format!("/history?after={}", first["next"]);
    assert_eq!(parsed(&rest).await["events"].as_array().unwrap().len(), 4, "a start and five changes, less two");
    time.advance(100);
    publish().await;
    publish().await;
    let lost = parsed(&rest).await;
    assert_eq!((&lost["status"], &lost["title"]), (&410.into(), &"The place is lost".into()), "{lost}");
    // Nor is a place of another store one of this.
    assert_eq!(parsed("/history?after=1000").await["status"], 410);
    let whole = parsed("/history").await;
    assert!(whole["next"].is_null() && whole["complete_from_unix"].is_u64(), "{whole}");
}

#[tokio::test]
async fn an_answer_is_whole_though_its_first_events_are_dropped_while_it_is_read() {
    let folder = Folder::new();
    let time = ManualTime::at(i64::try_from(BEGIN).unwrap());
    let store = open(folder.path()).unwrap();
    let daemon = InProcess::builder().clock(Clock::of(time.clone())).store(store).history_secs(10_000).start().unwrap();
    let mut changes = 0..;
    let mut change = async || {
        let row = ReportedRow { name: "lane".into(), draining: changes.next(), ..ReportedRow::default() };
        daemon.handle().publish("ci", vec![row]).await.unwrap();
    };
    // The board alone is more than an answer has ready before somebody reads it.
    let reason = "x".repeat(10_000);
    let board = (0..60).map(|at| ReportedRow {
        name: format!("slot-{at}").into(),
        last_red_reason: Some(reason.as_str().into()),
        ..ReportedRow::default()
    });
    daemon.handle().publish("driver", board.collect()).await.unwrap();
    for _ in 0..200 {
        time.advance(1);
        change().await;
    }
    time.advance(9_805);
    change().await;
    let request = Request::get("/history?lines").body(Body::empty()).unwrap();
    let answer = daemon.router(HttpSettings::default()).oneshot(request).await.unwrap();
    time.advance(60);
    change().await;
    let body = answer.into_body().collect().await.map(|body| body.to_bytes().to_vec());
    let (head, events) = read(&String::from_utf8(body.expect("the answer is whole")).unwrap());
    // What is told as the board was not dropped yet when it was asked for: 100 s of it, one in a hundred.
    assert_eq!(head.complete_from_unix.map(UnixSeconds::as_secs), Some(BEGIN + 105));
    let is_change = |event: &&Event| matches!(event.what, Happening::Changed { .. });
    let told = events.iter().filter(is_change).filter(|event| event.at_unix.as_secs() >= BEGIN + 105).count();
    assert_eq!(told, 96 + 1, "one for each second from then on, and the last before the question");
    let dropped: Value = serde_json::from_str(&ask(&daemon, "/history?limit=1").await).unwrap();
    assert!(dropped["complete_from_unix"].as_u64() > Some(BEGIN + 105), "{dropped}");
}

#[tokio::test]
async fn what_shows_nothing_by_itself_is_escaped_in_every_form_of_history() {
    let folder = Folder::new();
    let time = ManualTime::at(i64::try_from(BEGIN).unwrap());
    let daemon = start(&folder, &time);
    let hidden = "a\u{202e}b\u{9b}c\u{7f}";
    let row = |last_red_reason: &str| ReportedRow {
        name: "lane".into(),
        last_red_reason: Some(last_red_reason.into()),
        ..ReportedRow::default()
    };
    daemon.handle().publish("ci", vec![row(hidden)]).await.unwrap();
    for query in ["lines", "lines&name=lane", "from=0", "lines&from=-0s"] {
        let told = ask(&daemon, &format!("/history?{query}")).await;
        assert!(!told.trim_end().replace('\n', "").chars().any(is_invisible), "{told:?}");
        assert!(told.contains("a\\u202eb\\u009bc\\u007f"), "{told}");
    }
}

#[test]
fn what_a_window_lacks_is_said_beside_its_sums() {
    let folder = Folder::new();
    let daemon = eventful(&folder);
    let asked = greenlight(&["history", "--to", &daemon.url, "--name", "lane", "--csv"], "");
    assert_eq!(asked.code, Some(0), "{asked:?}");
    assert!(asked.err.contains("only lane was asked for"), "{asked:?}");
    let whole = daemon.get("/history?lines").1;
    assert_eq!(greenlight(&["import", "-"], &whole).err, "");
    let pruned = whole.replacen(r#""complete_from_unix":null"#, r#""complete_from_unix":1785000000"#, 1);
    let pruned = greenlight(&["import", "-"], &pruned);
    assert!(pruned.err.contains("before 2026-07-25 17:20:00Z is no longer kept"), "{pruned:?}");
}

#[test]
fn what_stands_before_a_break_is_known_up_to_its_last_event_though_an_earlier_life_ran_on() {
    let folder = Folder::new();
    let daemon = eventful(&folder);
    let whole = daemon.get("/history?lines").1;
    let head = whole.lines().next().unwrap();
    let part = [
        head,
        r#"{"at_unix":1785000000,"event":"started","watched_until_unix":null}"#,
        r#"{"at_unix":1785000150,"event":"removed","name":"lane"}"#,
        r#"{"at_unix":1785000050,"event":"started","watched_until_unix":1785000150}"#,
        r#"{"at_unix":1785000060,"event":"removed","name":"dev"}"#,
    ];
    let salvaged = greenlight(&["import", "-", "--salvage"], &format!("{}\n", part.join("\n")));
    assert!(salvaged.err.contains("4 events, until 2026-07-25 17:21:00Z"), "{salvaged:?}");
}

/// Answers of twenty and of forty megabytes take the memory of what is under way.
#[test]
fn a_window_costs_a_daemon_a_page_however_much_happened() {
    let most = |events: u64| {
        let folder = Folder::new();
        fill(folder.path(), events, 10, BEGIN, 86_400).unwrap();
        let daemon = Daemon::start(folder.path(), &["--history", "36500d"]);
        let (before, _) = resident_mib(daemon.id());
        let (status, body) = daemon.get(&format!("/history?lines&from={BEGIN}"));
        assert_eq!((status, body.lines().count() as u64 > events), (200, true));
        let (_, most) = resident_mib(daemon.id());
        println!("{events} events, {} MB: {before} MiB before, {most} MiB at most", body.len() / 1_000_000);
        most - before
    };
    assert!(most(140_000) <= most(70_000) + 8);
}
