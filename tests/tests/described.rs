//! `/openapi.json` describes what is really sent: every answer of a kind is held against the shape of that kind, and
//! a key that the shape does not know is refused, so that the two cannot drift apart.

#![expect(clippy::unwrap_used, reason = "a helper of a test fails the test")]

use std::collections::BTreeSet;

use greenlight_tests::{Connection, Daemon, Folder, wait_until};
use serde_json::{Map, Value, json};

/// The served description, with every object closed against keys that it does not name.
struct Description(Value);

impl Description {
    fn of(daemon: &Daemon) -> Self {
        let mut served: Value = serde_json::from_str(&daemon.get("/openapi.json").1).unwrap();
        for schema in served["components"]["schemas"].as_object_mut().unwrap().values_mut() {
            close(schema);
        }
        Self(served)
    }

    /// What keeps a value from being of a shape; empty where it is one.
    fn misfits(&self, shape: &str, value: &Value) -> Vec<String> {
        let schema = json!({ "$ref": format!("#/components/schemas/{shape}"), "components": self.0["components"] });
        let validator = jsonschema::draft202012::new(&schema).unwrap();
        validator.iter_errors(value).map(|error| format!("{}: {error}", error.instance_path())).collect()
    }

    #[track_caller]
    fn check(&self, shape: &str, value: &Value) {
        assert_eq!(self.misfits(shape, value), [] as [String; 0], "{shape}: {value}");
    }

    /// The shape that is named for an answer.
    #[track_caller]
    fn shape_of(&self, path: &str, method: &str, status: &str, content_type: &str) -> String {
        let answer = &self.0["paths"][path][method]["responses"][status]["content"][content_type]["schema"]["$ref"];
        answer.as_str().unwrap_or_else(|| panic!("{method} {path} {status}")).rsplit('/').next().unwrap().to_owned()
    }
}

fn close(schema: &mut Value) {
    let Some(object) = schema.as_object_mut() else { return };
    if object.contains_key("properties") {
        object.insert("additionalProperties".into(), false.into());
    }
    for variant in object.get_mut("oneOf").and_then(Value::as_array_mut).into_iter().flatten() {
        close(variant);
    }
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

const ROWS: &str = r#"{"instances":[
    {"name":"dev","phase":"serving","serving_sha":"a1","last_green":"a1","proxy_port":8080,"public_host":"dev.example.org","expires_at":1785740400},
    {"name":"lane","last_green":"77","last_red_sha":"c0","last_red_reason":"exited 1","last_red_files":["a.rs"],"pending_sha":"c1","draining":2},
    {"name":"merge","last_green":"66","idle_secs":3542400},
    {"name":"new"}],"good_for_secs":600,"sequence":7}"#;

#[test]
fn rotation_is_as_described() {
    let folder = Folder::new();
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let daemon = Daemon::start(&folder.path().join("data"), &[]);
    let (own, refused) = (format!("own={}/livez", daemon.url), format!("refused=http://{nobody}/"));
    let daemon = Daemon::start(folder.path(), &["--probe", &own, "--probe", &refused]);
    let described = Description::of(&daemon);
    let shape = described.shape_of("/rotation", "get", "200", "application/json");
    let told = || parsed(&daemon.get("/rotation").1);
    described.check(&shape, &told());
    wait_until(|| told()["members"].as_array().unwrap().iter().all(|member| member["last_answer"].is_object()));
    described.check(&shape, &told());
}

#[test]
fn each_app_and_each_answer_to_a_write_is_as_described() {
    let folder = Folder::new();
    let daemon = Daemon::start(folder.path(), &[]);
    let described = Description::of(&daemon);
    let app = described.shape_of("/app", "get", "200", "application/json");
    described.check(&app, &daemon.app());
    described.check("Report", &parsed(ROWS));
    let accepted = described.shape_of("/sources/{source}", "put", "200", "application/json");
    assert_eq!(described.shape_of("/sources/{source}/instances/{name}", "delete", "202", "application/json"), accepted);
    for (path, body) in [
        ("/sources/driver", ROWS),
        ("/sources/ci/instances/forever?good_for_secs=forever", r#"{"serving_sha":"a1","oops":1}"#),
        ("/sources/ci/instances/short?good_for_secs=1", r#"{"serving_sha":"a1"}"#),
        ("/sources/ci/instances/gone?good_for_secs=until_restart", "{}"),
    ] {
        let (status, answer) = daemon.put(path, body);
        assert_eq!(status, 200, "{answer}");
        described.check(&accepted, &parsed(&answer));
    }
    described.check("ReportedRow", &parsed(r#"{"serving_sha":null}"#));
    described.check(&accepted, &parsed(&daemon.delete("/sources/ci/instances/gone").1));
    // One of each standing, one unconfirmed, one flip to come.
    wait_until(|| daemon.app()["readiness"]["unconfirmed"] == json!(["short"]));
    for path in ["/app", "/app?stale_after=never", "/app?stale_after=15m"] {
        described.check(&app, &parsed(&daemon.get(path).1));
    }
    let full = daemon.app();
    let standings: BTreeSet<_> =
        full["instances"].as_array().unwrap().iter().map(|row| row["standing"].as_str().unwrap()).collect();
    assert_eq!(standings.len(), 4, "{standings:?}");
    assert!(!full["readiness"]["flips"].as_array().unwrap().is_empty());

    let memory = folder.path().join("tokens");
    std::fs::write(&memory, "a-token\n").unwrap();
    let memory = Daemon::start(
        std::path::Path::new("memory"),
        &["--token-file", memory.to_str().unwrap(), "--stale-after", "never"],
    );
    let (status, answer) = memory.put_as("Bearer a-token", "/sources/driver", ROWS);
    assert_eq!(status, 202, "{answer}");
    described.check(&accepted, &parsed(&answer));
    described.check(&app, &memory.app());
}

#[test]
fn a_key_that_goes_or_comes_in_an_app_is_noticed() {
    let folder = Folder::new();
    let daemon = Daemon::start(folder.path(), &[]);
    let described = Description::of(&daemon);
    assert_eq!(daemon.put("/sources/driver", &ROWS.replace("600", "\"forever\"")).0, 200);
    let app = daemon.app();
    for place in ["", "/instances/0", "/readiness", "/readiness/flips/0", "/clock", "/store"] {
        let object: &Map<String, Value> = app.pointer(place).unwrap().as_object().unwrap();
        for key in object.keys() {
            let mut less = app.clone();
            less.pointer_mut(place).unwrap().as_object_mut().unwrap().remove(key);
            assert_ne!(described.misfits("App", &less), [] as [String; 0], "{place} without {key}");
        }
        let mut more = app.clone();
        more.pointer_mut(place).unwrap().as_object_mut().unwrap().insert("oops".into(), 1.into());
        assert_ne!(described.misfits("App", &more), [] as [String; 0], "{place} with one more");
    }
}

#[test]
fn each_problem_is_as_described() {
    let folder = Folder::new();
    let daemon = Daemon::start(folder.path(), &[]);
    let described = Description::of(&daemon);
    assert_eq!(daemon.put("/sources/driver", ROWS).0, 200);
    let route = "/sources/{source}";
    for (path, body, status) in [
        ("/sources/driver", "{", "400"),
        ("/sources/driver?strict=true", r#"{"instances":[],"oops":1}"#, "422"),
        ("/sources/driver", r#"{"instances":[],"sequence":7}"#, "409"),
        ("/sources/other", r#"{"instances":[{"name":"dev"}]}"#, "409"),
    ] {
        let (got, problem) = daemon.put(path, body);
        assert_eq!(got.to_string(), status);
        described.check(&described.shape_of(route, "put", status, "application/problem+json"), &parsed(&problem));
    }
    let (status, problem) = daemon.put_as("Bearer wrong", "/sources/driver", ROWS);
    assert_eq!(status, 401);
    described.check(&described.shape_of(route, "put", "401", "application/problem+json"), &parsed(&problem));
    for query in ["from=soon", "from=-1h&to=-2h"] {
        let (status, problem) = daemon.get(&format!("/history?{query}"));
        assert_eq!(status, 400);
        let shape = described.shape_of("/history", "get", "400", "application/problem+json");
        described.check(&shape, &parsed(&problem));
    }
    for path in ["/app?stale_after=soon", "/readyz/nobody", "/nowhere"] {
        described.check("Problem", &parsed(&daemon.get(path).1));
    }
    described.check("Problem", &parsed(&daemon.delete("/sources/driver/instances/nobody").1));
}

#[test]
fn each_event_of_a_stream_and_of_history_is_as_described() {
    let folder = Folder::new();
    let mut daemon = Daemon::start(folder.path(), &[]);
    let described = Description::of(&daemon);
    let mut stream = Connection::open(&daemon);
    stream.send("GET /events?after=another.1 HTTP/1.1\r\nhost: x\r\n\r\n");
    let mut missing = BTreeSet::from(["Reset", "Renew", "Beat", "Change"]);
    let mut event = || {
        let name = stream.read_until("\n").trim().strip_prefix("event: ").map(str::to_owned);
        name.map(|name| {
            stream.read_until("data: ");
            (name, parsed(&stream.read_until("\n")))
        })
    };
    let mut round = 0;
    let mut renewed = BTreeSet::new();
    wait_until(|| {
        // The rows of one source share their end, those of the other do not.
        round += 1;
        let one = format!(r#"{{"draining":{}}}"#, round / 2);
        assert_eq!(daemon.put("/sources/driver", &ROWS.replace(r#","sequence":7"#, "")).0, 200);
        assert_eq!(daemon.put(&format!("/sources/ci/instances/a?good_for_secs={}", 100 + round), &one).0, 200);
        assert_eq!(daemon.put("/sources/ci/instances/b?good_for_secs=1", "{}").0, 200);
        for _ in 0..12 {
            let Some((name, data)) = event() else { continue };
            let shape = match name.as_str() {
                "reset" => "Reset",
                "renew" => "Renew",
                "beat" => "Beat",
                "change" => "Change",
                other => panic!("{other} is not described"),
            };
            described.check(shape, &data);
            missing.remove(shape);
            for list in ["sources", "rows"] {
                if shape == "Renew" && data[list].as_array().is_some_and(|list| !list.is_empty()) {
                    renewed.insert(list);
                }
            }
        }
        missing.is_empty() && renewed.len() == 2
    });
    // A row that leaves, one that lapses and comes back, and another start.
    assert_eq!(daemon.delete("/sources/ci/instances/a").0, 200);
    wait_until(|| daemon.get("/history").1.contains(r#""lapsed""#));
    assert_eq!(daemon.put("/sources/ci/instances/b?good_for_secs=forever", "{}").0, 200);
    daemon.kill();
    let daemon = Daemon::start(folder.path(), &[]);
    let page = parsed(&daemon.get("/history").1);
    described.check(&described.shape_of("/history", "get", "200", "application/json"), &page);
    let told: BTreeSet<_> =
        page["events"].as_array().unwrap().iter().map(|event| event["event"].as_str().unwrap()).collect();
    assert_eq!(told, BTreeSet::from(["changed", "removed", "lapsed", "came_back", "started"]));
}

#[test]
fn every_shape_that_is_named_is_there_and_every_one_that_is_there_is_named() {
    let folder = Folder::new();
    let daemon = Daemon::start(folder.path(), &[]);
    let text = daemon.get("/openapi.json").1;
    let named: BTreeSet<&str> =
        text.split("#/components/schemas/").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
    let description = parsed(&text);
    let there: BTreeSet<&str> =
        description["components"]["schemas"].as_object().unwrap().keys().map(String::as_str).collect();
    // Those of events are named in words: a stream has no schema of its own in this format.
    let of_events = BTreeSet::from(["Change", "Renew", "Beat", "Reset"]);
    assert_eq!(named.union(&of_events).copied().collect::<BTreeSet<_>>(), there);
}
