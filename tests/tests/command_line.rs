//! The commands beside `wait`, through the real binary: what they say, and the exit code.

use std::fs;
use std::path::Path;

use greenlight_tests::{Daemon, Folder, Ran, greenlight};
use serde_json::{Value, json};

#[track_caller]
fn check(ran: &Ran, code: i32, said: &str) {
    assert!(ran.code == Some(code) && format!("{}{}", ran.out, ran.err).contains(said), "{ran:?}");
}

fn daemon(folder: &Folder) -> (Daemon, String) {
    let daemon = Daemon::start(folder.path(), &[]);
    (daemon, folder.path().join("token").display().to_string())
}

#[test]
fn status_exits_with_the_verdict_that_it_shows() {
    let folder = Folder::new();
    let (daemon, _) = daemon(&folder);
    let status = |more: &[&str]| greenlight(&[&["status", &daemon.url], more].concat(), "");
    check(&status(&[]), 1, "NOT READY: nothing is serving\n");
    assert_eq!(daemon.put("/sources/driver/instances/dev", r#"{"serving_sha":"a1","phase":"\u001b[2J"}"#).0, 200);
    let ready = status(&[]);
    check(&ready, 0, "READY\n");
    assert!(ready.out.contains("dev ") && !ready.out.contains('\u{1b}'), "{}", ready.out);
    let json = status(&["--json"]);
    assert_eq!((json.code, &serde_json::from_str::<Value>(&json.out).unwrap()["ready"]), (Some(0), &true.into()));
    check(&status(&["--no-such-flag"]), 2, "--no-such-flag");
    let url = daemon.url.clone();
    drop(daemon);
    check(&greenlight(&["status", "--to", &url], ""), 3, "connection refused");
}

#[test]
fn publish_reports_one_row_by_flags_and_exits_with_1_where_it_is_refused() {
    let folder = Folder::new();
    let (daemon, token) = daemon(&folder);
    let publish =
        |more: &[&str]| greenlight(&[&["publish", "--to", &daemon.url, "--token-file", &token], more].concat(), "");
    check(
        &publish(&["dev", "--phase", "serving", "--serving-sha", "a1b2c3d", "--draining", "2"]),
        0,
        "revision 1: changed dev\n",
    );
    let row = &daemon.app()["instances"][0];
    assert_eq!((&row["source"], &row["last_green"], &row["draining"]), (&"cli".into(), &"a1b2c3d".into(), &2.into()));
    check(
        &publish(&["dev", "--phase", "serving", "--serving-sha", "a1b2c3d", "--draining", "2"]),
        0,
        "nothing changed",
    );
    let json = publish(&["lane", "--last-green", "77", "--good-for", "90s", "--sequence", "7", "--json"]);
    assert_eq!(serde_json::from_str::<Value>(&json.out).unwrap()["changed"], json!(["lane"]));
    assert_eq!(daemon.app()["instances"][1]["good_for_secs"], 90);
    check(&publish(&["dev", "--source", "other"]), 1, "dev is held by source cli");
    check(&publish(&["lane", "--sequence", "7"]), 1, "not greater than 7");
    check(&publish(&["a b"]), 2, "a b");
    check(&publish(&[]), 2, "");
    let without = greenlight(&["publish", "dev", "--to", &daemon.url], "");
    check(&without, 1, "token");
    let url = daemon.url.clone();
    drop(daemon);
    check(&greenlight(&["publish", "dev", "--to", &url, "--token-file", &token], ""), 3, "connection refused");
}

#[test]
fn publish_takes_a_full_report_from_a_file_or_standard_input() {
    let folder = Folder::new();
    let (daemon, token) = daemon(&folder);
    let file = folder.path().join("report.json");
    fs::write(&file, r#"{"instances":[{"name":"dev"},{"name":"lane"}],"good_for_secs":90}"#).unwrap();
    let publish = |from: &str, input: &str| {
        greenlight(&["publish", "--report", from, "--source", "ci", "--to", &daemon.url, "--token-file", &token], input)
    };
    check(&publish(file.to_str().unwrap(), ""), 0, "revision 1: changed dev, lane\n");
    check(&publish("-", r#"[{"name":"dev","serving_sha":"a1"}]"#), 0, "revision 2: changed dev; removed lane\n");
    check(&publish("-", r#"[{"name":"dev","oops":1}]"#), 1, "instances[0].oops");
    check(&publish("-", "{"), 2, "standard input is not JSON");
    check(&publish("missing.json", ""), 2, "missing.json");
    assert_eq!(daemon.app()["revision"], 2);
}

#[test]
fn test_exits_with_0_where_all_holds_1_where_some_does_not_and_2_where_a_file_is_no_scenario() {
    let scenarios = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios");
    let all = greenlight(&["test", scenarios.to_str().unwrap()], "");
    assert!(all.code == Some(0) && all.out.lines().all(|line| line.starts_with("holds ")), "{all:?}");
    assert!(all.out.lines().count() > 20, "{}", all.out);
    let scenario = r#"{"scenario":"nothing serves","steps":[{"at":0,"expect":{"ready":true}}]}"#;
    check(&greenlight(&["test", "-"], scenario), 1, "ready: expected true, got false");
    check(&greenlight(&["test", "-"], "{"), 2, "not a scenario  standard input");
    check(&greenlight(&["test"], ""), 2, "FILE");
}

#[test]
fn the_description_that_is_printed_is_the_one_that_is_served() {
    let folder = Folder::new();
    let (daemon, _) = daemon(&folder);
    let printed = greenlight(&["openapi"], "");
    assert_eq!(printed.code, Some(0));
    let served: Value = serde_json::from_str(&daemon.get("/openapi.json").1).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&printed.out).unwrap(), served);
}

#[test]
fn completions_are_printed_for_each_shell() {
    for shell in ["bash", "zsh", "fish"] {
        let printed = greenlight(&["completions", shell], "");
        assert!(printed.code == Some(0) && printed.out.contains("greenlight") && printed.out.contains("publish"));
    }
    check(&greenlight(&["completions", "dos"], ""), 2, "dos");
}

#[test]
fn print_config_says_where_each_value_comes_from_and_a_wrong_one_is_refused_by_name() {
    let folder = Folder::new();
    let file = folder.path().join("greenlight.toml");
    fs::write(&file, "good_for = \"90s\"\n").unwrap();
    let config = file.to_str().unwrap();
    let printed = greenlight(&["serve", "--print-config", "--config", config, "--data", "memory", "--drain", "2s"], "");
    assert_eq!(printed.code, Some(0), "{printed:?}");
    for (key, origin) in
        [("good_for = \"90s\"", "file"), ("drain = \"2s\"", "flag"), ("stale_after = \"1h\"", "default")]
    {
        let line = printed.out.lines().find(|line| line.starts_with(key)).expect("each value has a line");
        assert!(line.contains(origin), "{line}");
    }
    fs::write(&file, "good_fro = \"90s\"\n").unwrap();
    check(&greenlight(&["serve", "--print-config", "--config", config], ""), 2, "good_fro");
    check(&greenlight(&["serve", "--data", "memory", "--stale-after", "soon"], ""), 2, "soon");
}

#[test]
fn serve_says_why_it_cannot_run() {
    let folder = Folder::new();
    let (daemon, _) = daemon(&folder);
    let taken = greenlight(&["serve", "--bind", daemon.address(), "--data", "memory"], "");
    check(&taken, 3, "give another --bind");
    let held = greenlight(&["serve", "--bind", "127.0.0.1:0", "--data", folder.path().to_str().unwrap()], "");
    check(&held, 3, &daemon.id().to_string());
}
