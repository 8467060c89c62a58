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
