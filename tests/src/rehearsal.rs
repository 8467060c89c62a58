//! A rehearsal of the fault server, as a command.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use rustix::process::{Pid, test_kill_process};
use serde_json::Value;

use crate::{Folder, binary, wait_until};

/// A rehearsal to be run: both versions are the fault server.
#[derive(Debug)]
pub struct Rehearsal {
    old: String,
    new: String,
    arguments: Vec<String>,
    folder: Folder,
}

/// What it came to.
#[derive(Debug)]
pub struct Rehearsed {
    /// The exit code.
    pub exit: Option<i32>,
    /// The object of `--json`, from the record.
    pub told: Value,
    /// The text report.
    pub text: String,
    /// What was said beside it.
    pub notes: String,
    folder: Folder,
}

impl Rehearsal {
    /// One that takes a second or two: the fault server with these arguments, then one without fault.
    pub fn of(old: &str) -> Self {
        Self::of_two(old, "")
    }

    /// The same with arguments for both versions.
    pub fn of_two(old: &str, new: &str) -> Self {
        let server = fault_server();
        let folder = Folder::new();
        let command = |version: &str, arguments: &str| {
            format!("{} --log {} {arguments}", server.display(), folder.path().join(version).display())
        };
        let commands = [command("old", old), command("new", new)];
        Self { folder, ..Self::of_commands(&commands[0], &commands[1]) }
    }

    /// One of any commands.
    pub fn of_commands(old: &str, new: &str) -> Self {
        let short = ["--expect", "200", "--warm-up", "400ms", "--tail", "300ms"];
        Self { old: old.into(), new: new.into(), arguments: short.map(Into::into).into(), folder: Folder::new() }
    }

    /// The commands are run by a shell.
    #[must_use]
    pub fn by_shell(mut self) -> Self {
        self.arguments.push("--shell".into());
        self
    }

    /// With further arguments; those after it count where they are the same.
    #[must_use]
    pub fn with(mut self, arguments: &[&str]) -> Self {
        for pair in arguments.chunks(2) {
            if let Some(place) = self.arguments.iter().position(|one| Some(&one.as_str()) == pair.first()) {
                self.arguments.drain(place..place + pair.len());
            }
            self.arguments.extend(pair.iter().map(ToString::to_string));
        }
        self
    }

    /// Without an argument and its value.
    #[must_use]
    pub fn without(mut self, argument: &str) -> Self {
        if let Some(place) = self.arguments.iter().position(|one| one == argument) {
            self.arguments.drain(place..place + 2);
        }
        self
    }

    /// The command, its record in the folder.
    pub fn command(&self) -> Command {
        let mut command = Command::new(binary());
        command.args(["rehearse", "--old", &self.old, "--new", &self.new, "--record"]).arg(self.record());
        command.args(&self.arguments);
        command
    }

    /// Starts it.
    ///
    /// # Panics
    /// Where it does not start.
    pub fn start(&self) -> Child {
        self.command().stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary starts")
    }

    /// Runs it to its end.
    ///
    /// # Panics
    /// Where its record cannot be read back.
    pub fn run(self) -> Rehearsed {
        let output = self.start().wait_with_output().expect("it can be waited for");
        self.over(&output)
    }

    /// What one that ended came to.
    ///
    /// # Panics
    /// Where its record cannot be read back, or says another thing than the run did.
    pub fn over(self, output: &Output) -> Rehearsed {
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let notes = String::from_utf8_lossy(&output.stderr).into_owned();
        let explain = |form: &[&str]| {
            Command::new(binary()).arg("explain").args(form).arg(self.record()).output().expect("the binary starts")
        };
        let again = explain(&[]);
        assert_eq!(String::from_utf8_lossy(&again.stdout), text, "{notes}");
        assert_eq!(again.status.code(), output.status.code());
        let json = explain(&["--json"]).stdout;
        let told = serde_json::from_slice(&json).expect("--json prints an object");
        Rehearsed { exit: output.status.code(), told, text, notes, folder: self.folder }
    }

    /// Where its record is.
    pub fn record(&self) -> PathBuf {
        self.folder.path().join("record.jsonl")
    }

    /// The lines that a version has written down itself so far.
    pub fn log(&self, version: &str) -> Vec<String> {
        log(&self.folder, version)
    }

    /// The numbers of the processes that its record tells of so far.
    pub fn pids(&self) -> Vec<i32> {
        pids(&self.record())
    }
}

impl Rehearsed {
    /// How many ticks were of a class.
    pub fn total(&self, class: &str) -> u64 {
        self.told["totals"][class].as_u64().unwrap_or(u64::MAX)
    }

    /// How many ticks of a lane were of a class.
    pub fn of_lane(&self, lane: &str, class: &str) -> u64 {
        self.told["lanes"][lane][class].as_u64().unwrap_or(u64::MAX)
    }

    /// Whether the machine let the rehearsal keep its own times. On one that is loaded from outside it says itself that
    /// it cannot judge.
    pub fn is_fit(&self) -> bool {
        let late = self.told["fitness"]["late_ticks"].as_u64().unwrap_or(u64::MAX);
        late.saturating_mul(100) <= self.told["ticks"].as_u64().unwrap_or(0)
    }

    /// Expects that nobody was refused: kept, or on a machine that is too loaded to tell, inconclusive.
    ///
    /// # Panics
    /// Where it is another outcome, with the report.
    #[track_caller]
    pub fn kept(&self) {
        let exit = if self.is_fit() { 0 } else { 3 };
        assert_eq!(self.exit, Some(exit), "{}", self.text);
        let held = ["refused", "cut", "torn", "garbled", "server_error", "unexpected", "nobody"];
        assert!(held.iter().all(|class| self.total(class) == 0), "{}", self.text);
    }

    /// Whether the report says these words, however its lines are broken.
    pub fn says(&self, words: &str) -> bool {
        self.text.split_whitespace().collect::<Vec<_>>().join(" ").contains(words)
    }

    /// When the end of a process was learned, in microseconds since the first tick was due.
    pub fn exit_learned_us(&self, process: &str) -> Option<i64> {
        self.events("exited").iter().find(|event| event["process"] == process)?["at_us"].as_i64()
    }

    /// What its record holds of one kind.
    pub fn events(&self, kind: &str) -> Vec<Value> {
        let lines = std::fs::read_to_string(self.record()).unwrap_or_default();
        let events = lines.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        events.filter(|event| event["event"] == kind).collect()
    }

    /// The line that says why.
    pub fn why(&self) -> &str {
        self.told["why"].as_str().unwrap_or_default()
    }

    /// The lines that a version wrote down itself.
    pub fn log(&self, version: &str) -> Vec<String> {
        log(&self.folder, version)
    }

    /// How many SIGTERMs a version got, by its own count.
    pub fn sigterms(&self, version: &str) -> usize {
        self.log(version).iter().filter(|line| *line == "sigterm").count()
    }

    /// Where its record is.
    pub fn record(&self) -> PathBuf {
        self.folder.path().join("record.jsonl")
    }

    /// The numbers of its processes.
    pub fn pids(&self) -> Vec<i32> {
        pids(&self.folder.path().join("record.jsonl"))
    }

    /// Expects that an end of it left no process.
    ///
    /// # Panics
    /// Where one is still there.
    #[track_caller]
    pub fn left_nothing(&self) {
        for pid in self.pids() {
            assert!(!is_there(pid), "process {pid} is left");
        }
    }
}

/// Whether a process is there, and does not only wait to be waited for.
pub fn is_there(pid: i32) -> bool {
    let is_known = Pid::from_raw(pid).is_some_and(|pid| test_kill_process(pid).is_ok());
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    is_known && !stat.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('Z'))
}

/// Waits until none of these processes is there.
pub fn all_gone(pids: &[i32]) {
    wait_until(|| !pids.iter().any(|pid| is_there(*pid)));
}

fn log(folder: &Folder, version: &str) -> Vec<String> {
    let text = std::fs::read_to_string(folder.path().join(version)).unwrap_or_default();
    text.lines().map(Into::into).collect()
}

fn pids(record: &Path) -> Vec<i32> {
    let text = std::fs::read_to_string(record).unwrap_or_default();
    let events = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let started = events.filter(|event| event["event"] == "started");
    started.filter_map(|event| event["pid"].as_i64().and_then(|pid| i32::try_from(pid).ok())).collect()
}

/// Where the server is that misbehaves as it is told.
///
/// # Panics
/// Where it was not built.
pub fn fault_server() -> PathBuf {
    let server = binary().with_file_name("fault-server");
    assert!(server.exists(), "no fault server at {}: run `cargo build -p greenlight-tests` first", server.display());
    server
}
