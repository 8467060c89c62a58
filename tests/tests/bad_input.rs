//! Bad input: each a clear problem, and nothing changed.

use greenlight_tests::{Daemon, Folder};

#[test]
fn each_is_refused_with_a_problem_and_changes_nothing() {
    let folder = Folder::new();
    let daemon = Daemon::start(folder.path(), &[]);
    let row = r#"{"instances":[{"name":"dev","serving_sha":"a","last_green":"a"}],"good_for_secs":600,"sequence":7}"#;
    assert_eq!(daemon.put("/sources/driver", row).0, 200);
    let before = daemon.app()["instances"].to_string();
    let many = format!(r#"{{"instances":[{}]}}"#, vec![r#"{"name":"x"}"#; 100_001].join(","));
    let large = format!(r#"{{"instances":[],"pad":"{}"}}"#, "x".repeat(17 << 20));
    let long_name = format!(r#"{{"instances":[{{"name":"{}"}}]}}"#, "x".repeat(254));
    for (path, body, status) in [
        ("/sources/driver", "{", 400),
        ("/sources/driver", "[]", 422),
        ("/sources/driver", r#"{"instances":[{"name":"a","draining":"two"}]}"#, 422),
        ("/sources/driver", r#"{"instances":[{"name":"a","draining":9007199254740992}]}"#, 422),
        ("/sources/driver?strict=true", r#"{"instances":[{"name":"a","oops":1}]}"#, 422),
        ("/sources/driver", r#"{"instances":[{"name":"a"},{"name":"a"}]}"#, 422),
        ("/sources/driver", r#"{"instances":[{"name":"a b"}]}"#, 422),
        ("/sources/driver", r#"{"instances":[{"name":"../a"}]}"#, 422),
        ("/sources/driver", r#"{"instances":[{}]}"#, 422),
        ("/sources/driver", &long_name, 422),
        ("/sources/driver", r#"{"instances":[],"good_for_secs":0}"#, 422),
        ("/sources/driver", r#"{"instances":[],"good_for_secs":-1}"#, 422),
        ("/sources/driver", r#"{"instances":[],"good_for_secs":1e300}"#, 422),
        ("/sources/driver", r#"{"instances":[],"good_for_secs":"soon"}"#, 422),
        ("/sources/driver", r#"{"instances":[],"good_for_secs":9007199254740992}"#, 422),
        ("/sources/driver", r#"{"instances":[],"sequence":7}"#, 409),
        ("/sources/other", r#"{"instances":[{"name":"dev"}]}"#, 409),
        ("/sources/a%20b", r#"{"instances":[]}"#, 422),
        ("/sources/driver/instances/lane?good_for_secs=0", "{}", 400),
        ("/sources/driver/instances/lane", r#"{"name":"dev"}"#, 422),
        ("/sources/driver", &many, 413),
        ("/sources/driver", &large, 413),
    ] {
        let (got, problem) = daemon.put(path, body);
        let shown = &body[..body.len().min(80)];
        assert_eq!(got, status, "{path} {shown}: {problem}");
        let problem: serde_json::Value = serde_json::from_str(&problem).unwrap();
        assert!(problem["detail"].as_str().is_some_and(|detail| !detail.is_empty()), "{problem}");
        assert_eq!(problem["status"], status);
    }
    for authorization in ["", "Bearer", "Bearer wrong", "Basic abc"] {
        let (status, problem) = daemon.put_as(authorization, "/sources/driver", row);
        assert_eq!(status, 401, "{problem}");
        assert!(!problem.contains(&daemon.token()));
    }
    assert_eq!(daemon.app()["instances"].to_string().len(), before.len());
    assert_eq!(daemon.app()["revision"], 1);
}

#[test]
fn a_problem_says_where_in_the_body_and_writes_places_in_one_way() {
    let folder = Folder::new();
    let daemon = Daemon::start(folder.path(), &[]);
    let long = "x".repeat(1025);
    let full = |rows: &str| format!(r#"{{"instances":[{{"name":"a"}},{rows}]}}"#);
    let (report, one) = ("/sources/driver?strict=true", "/sources/driver/instances/b?strict=true");
    for (path, body, place) in [
        (report, full(r#"{"name":"b","oops":1}"#), "instances[1].oops"),
        (report, full(r#"{"name":"b","draining":"two"}"#), "instances[1].draining"),
        (report, full(&format!(r#"{{"name":"b","phase":"{long}"}}"#)), "instances[1].phase"),
        (report, full(r#"{"name":"b c"}"#), "instances[1].name"),
        (report, r#"{"instances":[],"oops":1}"#.into(), "oops"),
        (report, r#"{"instances":[],"good_for_secs":0}"#.into(), "good_for_secs"),
        (report, r#"{"instances":[],"sequence":9007199254740992}"#.into(), "sequence"),
        (one, r#"{"oops":1}"#.into(), "oops"),
        (one, r#"{"draining":"two"}"#.into(), "draining"),
        (one, format!(r#"{{"phase":"{long}"}}"#), "phase"),
        (one, r#"{"name":"a"}"#.into(), "name"),
    ] {
        let (status, problem) = daemon.put(path, &body);
        let problem: serde_json::Value = serde_json::from_str(&problem).unwrap();
        assert_eq!((status, &problem["path"]), (422, &place.into()), "{problem}");
        assert_eq!(problem["detail"].as_str().unwrap().contains("instances["), place.contains('['), "{problem}");
    }
    let (status, answer) = daemon.put("/sources/driver", &full(r#"{"name":"b","oops":1}"#));
    let warned = r#""warnings":["\"instances[1].oops\" is not known here and was passed over"]"#;
    assert!(status == 200 && answer.contains(warned), "{answer}");
    let (status, problem) = daemon.put("/sources/driver", "[]");
    assert!(status == 422 && !problem.contains(r#""path""#) && !problem.contains(".:"), "{problem}");
}

#[test]
fn a_row_of_another_source_is_not_removed_and_the_refusal_names_the_owner_truthfully() {
    let folder = Folder::new();
    let mut daemon = Daemon::start(folder.path(), &[]);
    assert_eq!(daemon.put("/sources/driver/instances/dev?good_for_secs=600", "{}").0, 200);
    let refused = |daemon: &Daemon| {
        let (status, problem) = daemon.delete("/sources/other/instances/dev");
        let problem: serde_json::Value = serde_json::from_str(&problem).unwrap();
        assert_eq!((status, &problem["owner"]), (409, &"driver".into()), "{problem}");
        problem["detail"].as_str().unwrap().to_owned()
    };
    let while_confirmed = refused(&daemon);
    daemon.kill();
    // After a restart nobody vouches for it, and the text claims nothing else.
    let daemon = Daemon::start(folder.path(), &[]);
    assert_eq!(daemon.app()["readiness"]["unconfirmed"], serde_json::json!(["dev"]));
    assert_eq!(refused(&daemon), while_confirmed);
    assert!(while_confirmed.starts_with("dev is a row of source driver: remove it there"), "{while_confirmed}");
    // What the text advises works.
    assert_eq!(daemon.put("/sources/other/instances/dev?good_for_secs=600", "{}").0, 200);
    assert_eq!(daemon.delete("/sources/other/instances/dev").0, 200);
    assert_eq!(daemon.delete("/sources/other/instances/dev").0, 404);
    assert_eq!(daemon.delete("/sources/nobody").0, 200);
}

#[test]
fn hostile_text_comes_back_as_inert_text() {
    let folder = Folder::new();
    let daemon = Daemon::start(folder.path(), &[]);
    let hostile = "<script>\\u0007\\u001b[2J\\u202e\\\"\\n\\u0000é";
    let body = format!(
        r#"{{"instances":[{{"name":"a\"b\\c{{}}","phase":"{hostile}","last_green":"{hostile}","last_red_reason":"{hostile}"}}]}}"#
    );
    let (status, answer) = daemon.put("/sources/driver", &body);
    assert_eq!(status, 200, "{answer}");
    for path in ["/app", "/status", "/readyz?verbose", "/metrics", "/readyz"] {
        let (_, text) = daemon.get(path);
        let hidden = text.chars().find(|c| *c != '\n' && greenlight_core::is_invisible(*c));
        assert_eq!(hidden, None, "{path}: {text:?}");
        assert!(!path.starts_with("/readyz") || !text.contains("script"), "{path}: {text}");
    }
    assert_eq!(daemon.app()["instances"][0]["phase"], "<script>\u{7}\u{1b}[2J\u{202e}\"\n\u{0}é");
    assert!(daemon.get("/metrics").1.contains(r#"name="a\"b\\c{}""#));
}
