//! Who is in rotation, by members that misbehave in a counted way and a daemon that probes them.

#![expect(clippy::unwrap_used, reason = "a helper of a test fails the test")]

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use greenlight_tests::{Connection, Daemon, Folder, wait_until};
use rustix::process::{Pid, Resource, Rlimit, Signal, getrlimit, kill_process, prlimit};
use serde_json::Value;

/// What a member does with one probe.
#[derive(Clone, Debug)]
enum Deed {
    /// Answers this status, with these header lines.
    Says(u16, Vec<u8>),
    /// Closes without a word.
    Cuts,
    /// Keeps the connection, and says nothing.
    Stalls,
}

fn ready() -> Deed {
    Deed::Says(200, Vec::new())
}

fn not_ready() -> Deed {
    Deed::Says(503, Vec::new())
}

/// A member: the n-th probe meets the n-th deed, and every further one the last.
struct Member {
    url: String,
    asked: Arc<AtomicU64>,
    deeds: Arc<Mutex<Vec<Deed>>>,
}

impl Member {
    fn new(deeds: impl Into<Vec<Deed>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/readyz", listener.local_addr().unwrap());
        let (asked, deeds) = (Arc::new(AtomicU64::new(0)), Arc::new(Mutex::new(deeds.into())));
        let member = Self { url, asked: Arc::clone(&asked), deeds: Arc::clone(&deeds) };
        std::thread::spawn(move || {
            let mut stalled = Vec::new();
            for socket in listener.incoming() {
                let mut socket = socket.unwrap();
                if BufReader::new(&socket).lines().map_while(Result::ok).all(|line| !line.is_empty()) {
                    continue;
                }
                let deed = {
                    let mut deeds = deeds.lock().unwrap();
                    if deeds.len() > 1 { deeds.remove(0) } else { deeds[0].clone() }
                };
                match deed {
                    Deed::Says(status, headers) => {
                        let mut answer = format!("HTTP/1.1 {status} X\r\ncontent-length: 2\r\n").into_bytes();
                        answer.extend(headers);
                        answer.extend(b"\r\nok");
                        let _ = socket.write_all(&answer);
                    }
                    Deed::Cuts => {}
                    Deed::Stalls => stalled.push(socket),
                }
                asked.fetch_add(1, Ordering::SeqCst);
            }
        });
        member
    }

    fn asked(&self) -> u64 {
        self.asked.load(Ordering::SeqCst)
    }

    fn does(&self, deeds: impl Into<Vec<Deed>>) {
        *self.deeds.lock().unwrap() = deeds.into();
    }
}

/// A configuration with these members; each has its name, its address and further lines.
fn config(folder: &Path, members: &[(&str, &str, &str)]) -> PathBuf {
    let mut text = String::new();
    for (name, url, more) in members {
        let usual = "every = \"20ms\"\ntimeout = \"1s\"";
        writeln!(text, "[[probe]]\nname = \"{name}\"\nurl = \"{url}\"\n{usual}\n{more}\n").unwrap();
    }
    let path = folder.join("greenlight.toml");
    std::fs::write(&path, text).unwrap();
    path
}

fn start(folder: &Folder, members: &[(&str, &str, &str)]) -> Daemon {
    let config = config(folder.path(), members);
    Daemon::start(&folder.path().join("data"), &["--config", config.to_str().unwrap(), "--drain", "0"])
}

fn rotation(daemon: &Daemon) -> Value {
    serde_json::from_str(&daemon.get("/rotation").1).unwrap()
}

fn member(daemon: &Daemon, name: &str) -> Value {
    of(&rotation(daemon), name)
}

fn of(rotation: &Value, name: &str) -> Value {
    rotation["members"].as_array().unwrap().iter().find(|member| member["name"] == name).unwrap().clone()
}

fn row(daemon: &Daemon, name: &str) -> Option<Value> {
    daemon.app()["instances"].as_array().unwrap().iter().find(|row| row["name"] == name).cloned()
}

#[test]
fn a_no_a_refusal_and_a_cut_remove_at_once_and_silence_after_three_in_a_row() {
    let folder = Folder::new();
    let says = |status| Deed::Says(status, Vec::new());
    let members = [
        ("no", Member::new([ready(), not_ready()]), "answered 503"),
        ("lost", Member::new([ready(), says(404)]), "answered 404"),
        ("away", Member::new([ready(), says(302)]), "answered 302"),
        ("cut", Member::new([ready(), Deed::Cuts]), "connection closed before the answer was complete"),
        ("silent", Member::new([ready(), Deed::Stalls]), "silent 3 times in a row"),
        ("less", Member::new([ready(), says(429)]), "silent 3 times in a row, answered 429 at last"),
    ];
    let configured: Vec<_> = members.iter().map(|(name, member, _)| (*name, &*member.url, "")).collect();
    let daemon = start(&folder, &configured);
    for (name, _, cause) in &members {
        wait_until(|| member(&daemon, name)["moves"] == 2);
        let member = member(&daemon, name);
        assert_eq!(member["in_rotation"], false, "{member}");
        assert_eq!(member["last_move"]["cause"], *cause, "{member}");
        wait_until(|| row(&daemon, name).is_some_and(|row| row["phase"] == "probing"));
        let row = row(&daemon, name).unwrap();
        assert_eq!((&row["last_red_reason"], &row["source"]), (&Value::from(*cause), &Value::from("probe")));
        assert_eq!((&row["serving_sha"], &row["last_green"]), (&Value::Null, &Value::from("unversioned")));
    }
    let order: Vec<_> =
        rotation(&daemon)["members"].as_array().unwrap().iter().map(|member| member["name"].clone()).collect();
    assert_eq!(order, members.iter().map(|(name, ..)| Value::from(*name)).collect::<Vec<_>>());
    let metrics = daemon.get("/metrics").1;
    for line in [
        "greenlight_rotation_moves_total{name=\"no\",move=\"join\"} 1",
        "greenlight_rotation_moves_total{name=\"silent\",move=\"leave\"} 1",
        "greenlight_probe_answers_total{name=\"no\",kind=\"ready\"} 1",
        "greenlight_probe_answers_total{name=\"no\",kind=\"fault\"} 0",
        "greenlight_rotation_in{name=\"no\"} 0",
        "greenlight_probe_seconds_count",
    ] {
        assert!(metrics.contains(line), "{line}: {metrics}");
    }
}

#[test]
fn a_refusal_removes_at_once_also_of_somebody_who_listens_no_more() {
    let folder = Folder::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let daemon = std::thread::scope(|scope| {
        let once = scope.spawn(move || {
            let (mut socket, _) = listener.accept().unwrap();
            let _ = socket.read(&mut [0; 4096]);
            socket.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").unwrap();
        });
        let daemon = start(&folder, &[("gone", &url, "")]);
        once.join().unwrap();
        daemon
    });
    wait_until(|| member(&daemon, "gone")["moves"] == 2);
    let gone = member(&daemon, "gone");
    assert!(gone["last_answer"]["kind"] == "refused" || gone["last_answer"]["kind"] == "cut", "{gone}");
    wait_until(|| member(&daemon, "gone")["last_answer"]["kind"] == "refused");
}

#[test]
fn two_silences_keep_a_member_in_and_an_answer_between_them_begins_the_count_anew() {
    let folder = Folder::new();
    let deeds = [ready(), Deed::Stalls, Deed::Stalls, ready(), Deed::Stalls, Deed::Stalls, ready()];
    let steady = Member::new(deeds);
    let daemon = start(&folder, &[("steady", &steady.url, "")]);
    wait_until(|| steady.asked() >= 8);
    let steady = member(&daemon, "steady");
    assert_eq!((&steady["in_rotation"], &steady["moves"]), (&Value::from(true), &Value::from(1)), "{steady}");
    assert!(daemon.get("/metrics").1.contains("greenlight_probe_answers_total{name=\"steady\",kind=\"silent\"} 4"));
}

#[test]
fn silence_does_not_remove_the_last_one_where_that_is_held_and_its_row_is_not_renewed() {
    let folder = Folder::new();
    let last = Member::new([ready(), Deed::Stalls]);
    let daemon = start(&folder, &[("last", &last.url, "hold_last = true\nsilences_to_leave = 2")]);
    wait_until(|| last.asked() >= 5);
    wait_until(|| member(&daemon, "last")["silences"].as_u64() >= Some(3));
    let member = member(&daemon, "last");
    assert_eq!((&member["in_rotation"], &member["held_last"]), (&Value::from(true), &Value::from(true)), "{member}");
    assert_eq!(row(&daemon, "last").unwrap()["serving_sha"], "unversioned");
}

#[test]
fn silence_lets_nobody_join_and_restarts_the_count_to_join() {
    let folder = Folder::new();
    let slow = Member::new([ready(), Deed::Stalls, ready(), not_ready(), ready(), Deed::Stalls]);
    let daemon = start(&folder, &[("slow", &slow.url, "answers_to_join = 2")]);
    wait_until(|| slow.asked() >= 9);
    let slow = member(&daemon, "slow");
    assert_eq!((&slow["in_rotation"], &slow["moves"]), (&Value::from(false), &Value::from(0)), "{slow}");
}

#[test]
fn what_a_version_header_says_is_what_is_served_and_garbage_is_no_version() {
    let folder = Folder::new();
    let header = |value: &[u8]| Deed::Says(200, [b"x-sha: ", value, b"\r\n"].concat());
    let long = vec![b'a'; 2000];
    let members = [
        ("plain", Member::new([header(b"a1b2c3d")]), "a1b2c3d"),
        ("long", Member::new([header(&long)]), "unversioned"),
        ("bytes", Member::new([header(b"\xff\xfe")]), "unversioned"),
        ("hidden", Member::new([header("a\u{202e}b".as_bytes())]), "a\u{202e}b"),
        ("none", Member::new([ready()]), "unversioned"),
    ];
    let configured: Vec<_> =
        members.iter().map(|(name, member, _)| (*name, &*member.url, "version_header = \"X-Sha\"")).collect();
    let daemon = start(&folder, &configured);
    for (name, _, version) in &members {
        wait_until(|| row(&daemon, name).is_some());
        let row = row(&daemon, name).unwrap();
        assert_eq!((&row["serving_sha"], &row["last_green"]), (&Value::from(*version), &Value::from(*version)));
    }
    assert!(!daemon.get("/app").1.contains('\u{202e}'));
    assert_eq!(daemon.get("/readyz").0, 200);
    members[0].1.does([header(b"b2c3d4e")]);
    wait_until(|| row(&daemon, "plain").unwrap()["serving_sha"] == "b2c3d4e");
    assert_eq!(member(&daemon, "plain")["moves"], 1);
}

#[test]
fn a_restart_keeps_the_last_green_and_says_nothing_before_it_knows() {
    let folder = Folder::new();
    let dev = Member::new([Deed::Says(200, b"x-sha: a1\r\n".to_vec())]);
    let configured = [("dev", &*dev.url, "version_header = \"x-sha\"")];
    let mut daemon = start(&folder, &configured);
    wait_until(|| row(&daemon, "dev").is_some_and(|row| row["serving_sha"] == "a1"));
    // In order, so that what was seen is stored: a kill may come before the commit.
    kill_process(Pid::from_raw(daemon.id().try_into().unwrap()).unwrap(), Signal::TERM).unwrap();
    assert_eq!(daemon.ended(), Some(0));
    dev.does([Deed::Stalls]);
    let daemon = start(&folder, &configured);
    // Whatever the board held says so until somebody knows better.
    assert_eq!(row(&daemon, "dev").unwrap()["serving_sha"], "a1");
    dev.does([not_ready()]);
    wait_until(|| row(&daemon, "dev").is_some_and(|row| row["phase"] == "probing"));
    let row = row(&daemon, "dev").unwrap();
    assert_eq!((&row["serving_sha"], &row["last_green"]), (&Value::Null, &Value::from("a1")), "{row}");
}

#[test]
fn a_reload_keeps_what_is_known_of_members_that_stay_and_a_probe_that_it_cuts_short_counts_as_nothing() {
    let folder = Folder::new();
    let (stays, goes, new) = (Member::new([ready()]), Member::new([ready()]), Member::new([ready()]));
    let daemon = start(&folder, &[("stays", &stays.url, ""), ("goes", &goes.url, "")]);
    wait_until(|| row(&daemon, "stays").is_some() && row(&daemon, "goes").is_some());
    stays.does([Deed::Stalls, ready()]);
    let asked = stays.asked();
    wait_until(|| stays.asked() > asked);
    config(folder.path(), &[("new", &new.url, ""), ("stays", &stays.url, "silences_to_leave = 1")]);
    kill_process(Pid::from_raw(daemon.id().try_into().unwrap()).unwrap(), Signal::HUP).unwrap();
    wait_until(|| row(&daemon, "new").is_some() && row(&daemon, "goes").is_none());
    let told = rotation(&daemon);
    let names: Vec<_> = told["members"].as_array().unwrap().iter().map(|member| member["name"].clone()).collect();
    assert_eq!(names, ["new", "stays"]);
    assert_eq!(of(&told, "stays")["in_rotation"], true, "{told}");
    assert!(!daemon.get("/metrics").1.contains("name=\"goes\""));
    // A file that cannot be understood changes nothing.
    std::fs::write(folder.path().join("greenlight.toml"), "[[probe]]\nname = \"a\"\n").unwrap();
    kill_process(Pid::from_raw(daemon.id().try_into().unwrap()).unwrap(), Signal::HUP).unwrap();
    let asked = new.asked();
    wait_until(|| new.asked() > asked + 3);
    assert_eq!(rotation(&daemon)["members"].as_array().unwrap().len(), 2);
}

/// A connection that stays open, for a daemon that can take no new one.
struct Kept(BufReader<TcpStream>);

impl Kept {
    fn to(daemon: &Daemon) -> Self {
        Self(BufReader::new(TcpStream::connect(daemon.url.strip_prefix("http://").unwrap()).unwrap()))
    }

    fn get(&mut self, path: &str) -> String {
        write!(self.0.get_mut(), "GET {path} HTTP/1.1\r\nhost: x\r\n\r\n").unwrap();
        let mut length = 0;
        loop {
            let mut line = String::new();
            self.0.read_line(&mut line).unwrap();
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
            if line == "\r\n" {
                let mut body = vec![0; length];
                self.0.read_exact(&mut body).unwrap();
                return String::from_utf8(body).unwrap();
            }
        }
    }
}

#[test]
fn a_prober_out_of_descriptors_moves_nobody_and_says_so() {
    let folder = Folder::new();
    let (up, down) = (Member::new([ready()]), Member::new([not_ready()]));
    let daemon = start(&folder, &[("up", &up.url, ""), ("down", &down.url, "")]);
    wait_until(|| row(&daemon, "up").is_some() && row(&daemon, "down").is_some());
    let mut kept = Kept::to(&daemon);
    kept.get("/rotation");
    let mut connected = Connection::open(&daemon);
    let process = Pid::from_raw(daemon.id().try_into().unwrap());
    let limit = getrlimit(Resource::Nofile);
    prlimit(process, Resource::Nofile, Rlimit { current: Some(3), maximum: limit.maximum }).unwrap();
    let mut told = Value::Null;
    wait_until(|| {
        told = serde_json::from_str(&kept.get("/rotation")).unwrap();
        told["trouble"]["members"] == 2 && of(&told, "up")["faults"].as_u64() >= Some(10)
    });
    assert_eq!(told["trouble"]["code"], "EMFILE", "{told}");
    let (up, down) = (of(&told, "up"), of(&told, "down"));
    assert_eq!((&up["in_rotation"], &up["moves"]), (&Value::from(true), &Value::from(1)), "{up}");
    assert_eq!((&down["in_rotation"], &down["moves"]), (&Value::from(false), &Value::from(0)), "{down}");
    assert_eq!(up["last_answer"]["kind"], "fault");
    for (path, expected) in [
        ("/app", r#""prober":{"trouble":{"code":"EMFILE","members":2,"#),
        ("/status", "prober: 2 members cannot be asked: EMFILE"),
    ] {
        connected.send(&format!("GET {path} HTTP/1.1\r\nhost: x\r\n\r\n"));
        let answer = connected.read_until("\r\n0\r\n\r\n");
        assert!(answer.contains(expected), "{answer}");
    }
    let metrics = kept.get("/metrics");
    assert!(metrics.contains("greenlight_probe_members_unasked 2"), "{metrics}");
    assert!(!metrics.contains("greenlight_probe_answers_total{name=\"up\",kind=\"fault\"} 0"), "{metrics}");
    prlimit(process, Resource::Nofile, limit).unwrap();
    wait_until(|| rotation(&daemon)["trouble"].is_null());
    assert_eq!(member(&daemon, "up")["moves"], 1);
}

#[test]
fn nobody_else_writes_as_the_prober_and_without_members_rotation_is_empty() {
    let folder = Folder::new();
    let daemon = Daemon::start(folder.path(), &[]);
    assert_eq!(rotation(&daemon)["members"], serde_json::json!([]));
    assert_eq!(daemon.put("/sources/probe", r#"{"instances":[]}"#).0, 409);
}

#[test]
fn a_member_of_whose_name_somebody_else_vouches_is_told_of_on_rotation() {
    let folder = Folder::new();
    let (dev, other) = (Member::new([Deed::Stalls]), Member::new([ready()]));
    let daemon = start(&folder, &[("dev", &dev.url, "silences_to_leave = 1000"), ("other", &other.url, "")]);
    assert_eq!(daemon.put("/sources/driver", r#"{"instances":[{"name":"dev"}],"good_for_secs":600}"#).0, 200);
    dev.does([ready()]);
    wait_until(|| member(&daemon, "dev")["not_on_board"].as_str().is_some_and(|why| why.contains("driver")));
    assert_eq!(row(&daemon, "dev").unwrap()["source"], "driver");
    wait_until(|| row(&daemon, "other").is_some());
}
