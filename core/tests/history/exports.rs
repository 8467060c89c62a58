//! An export, line by line: what is refused, with which line, and what is kept of what stood before.

use greenlight_core::history::{End, Event, Happening, Head, Json, Lives, MAX_LINE_BYTES, Reader, SCHEMA, Tail};
use greenlight_core::{Horizon, Name, Row};

use crate::life::at;

struct SerdeJson;

impl Json for SerdeJson {
    fn read<T: serde::de::DeserializeOwned>(&self, text: &str) -> Result<T, String> {
        serde_json::from_str(text).map_err(|error| error.to_string())
    }
}

fn head() -> String {
    let mut lives = Lives::default();
    lives.note_start(at(50), Some(at(80)));
    let head = Head {
        schema: SCHEMA.into(),
        version: "0.1.0".into(),
        from_unix: at(10),
        to_unix: at(90),
        known_until_unix: at(80),
        stale_after_secs: Horizon::DEFAULT,
        complete_from_unix: None,
        names: None,
        lives,
    };
    let line = serde_json::to_string(&head).unwrap();
    assert_eq!(serde_json::from_str::<Head>(&line).unwrap().lives.held_until(0), at(50), "{line}");
    line
}

fn event(secs: u64) -> String {
    let what = Happening::Removed { name: Name::of_instance("a").unwrap() };
    serde_json::to_string(&Event { at_unix: at(secs), what }).unwrap()
}

fn end(events: u64, next: Option<u64>) -> String {
    serde_json::to_string(&End { end: Tail { events, next } }).unwrap()
}

/// Why lines are refused, and how many events stand before.
#[track_caller]
fn check(lines: &[&str], events: usize, refusal: &str) {
    let mut reader = Reader::default();
    let mut read = 0;
    let mut said = String::new();
    for line in lines {
        match reader.read(line, &SerdeJson) {
            Ok(event) => read += usize::from(event.is_some()),
            Err(error) => {
                said = error.to_string();
                break;
            }
        }
    }
    if said.is_empty() {
        said = reader.check_end().map_or_else(|error| error.to_string(), |()| "whole".to_owned());
    }
    assert_eq!((read, said.as_str()), (events, refusal));
}

#[test]
fn a_whole_export_is_read_and_every_other_is_refused_with_its_line() {
    let (head, one, two) = (&*head(), &*event(20), &*event(30));
    check(&[head, one, two, &end(2, None)], 2, "whole");
    check(&[head, &end(0, None)], 0, "whole");
    check(&[], 0, "line 1: the first line of an export is its head, and this is none");
    check(&[one], 0, "line 1: the first line of an export is its head, and this is none");
    check(&["\u{0}"], 0, "line 1: the first line of an export is its head, and this is none");
    let newer = head.replace("history/1", "history/12");
    let told = "line 1: the export is greenlight.history/12, of a newer version; this one reads greenlight.history/1";
    check(&[&newer, one], 0, told);
    check(
        &["{\"schema\":\"greenlight.rehearsal/1\",\"more\":\"\"}"],
        0,
        "line 1: greenlight.rehearsal/1 is no export of a history; this version reads greenlight.history/1",
    );
    let lacking = head.replace("\"from_unix\"", "\"from\"");
    check(&[&lacking], 0, "line 1: the head is wrong: missing field `from_unix` at line 1 column 195");
    let reversed = head.replace("\"from_unix\":10", "\"from_unix\":91");
    check(&[&reversed, one], 0, "line 1: the head is wrong: its window ends before it begins");
    let empty = head.replace("\"from_unix\":10", "\"from_unix\":90");
    check(&[&empty, one, &end(1, None)], 1, "whole");
    check(&[head, one], 1, "line 3: the export breaks off before its end");
    check(
        &[head, one, "{\"at_unix\":1,\"event\":\"painted\"}"],
        1,
        "line 3: no event of a history: unknown variant `painted`, expected one of `changed`, `removed`, `lapsed`, `came_back`, `started`, `resumed`, `retold` at line 1 column 30",
    );
    check(&[head, one, &end(2, None)], 1, "line 3: there were 2 events, and 1 of them are here");
    check(&[head, one, &end(1, Some(7))], 1, "line 3: this is one page of several: export the whole window");
    check(&[head, &end(0, None), one], 0, "line 3: something stands behind the end");
    let long = "x".repeat(MAX_LINE_BYTES + 1);
    check(&[head, &long], 0, "line 2: the line is 8388609 bytes long, at most 8388608");
}

#[test]
fn an_event_has_the_fields_of_its_kind_and_may_have_others() {
    let kinds = [
        (r#"{"at_unix":1,"event":"changed","name":"dev","source":"ci","last_change_unix":1,"row":ROW}"#, 4),
        (r#"{"at_unix":1,"event":"removed","name":"dev"}"#, 1),
        (r#"{"at_unix":1,"event":"lapsed","source":"ci","names":["dev"]}"#, 2),
        (r#"{"at_unix":1,"event":"came_back","source":"ci","names":["dev"]}"#, 2),
        (r#"{"at_unix":1,"event":"started"}"#, 0),
        (r#"{"at_unix":1,"event":"resumed","watched_until_unix":1}"#, 1),
        (r#"{"at_unix":1,"event":"retold"}"#, 0),
    ];
    let row = serde_json::to_value(Row::default()).unwrap();
    for (text, wanted) in kinds {
        let whole: serde_json::Value = serde_json::from_str(&text.replace("ROW", &row.to_string())).unwrap();
        let event: Event = serde_json::from_value(whole.clone()).unwrap();
        let told = serde_json::to_value(&event).unwrap();
        assert_eq!(serde_json::from_value::<Event>(told).unwrap(), event);
        let mut more = whole.clone();
        more["colour"] = "green".into();
        assert_eq!(serde_json::from_value::<Event>(more).unwrap(), event);
        let fields: Vec<&String> = whole.as_object().unwrap().keys().collect();
        assert_eq!(fields.len(), 2 + wanted);
        for field in fields {
            let mut lacking = whole.clone();
            lacking.as_object_mut().unwrap().remove(field);
            let refused = serde_json::from_value::<Event>(lacking).unwrap_err();
            assert_eq!(refused.to_string(), format!("missing field `{field}`"), "{text}");
        }
    }
}
