//! The command line, run as a process of its own in an environment without a home.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStderr, Command, Stdio};

use crate::binary;

/// What a command ended with.
#[derive(Debug)]
pub struct Ran {
    /// Its exit code; `None` where a signal ended it.
    pub code: Option<i32>,
    /// What it said.
    pub out: String,
    /// What it said beside that.
    pub err: String,
}

/// Runs a command to its end.
///
/// # Panics
/// Where it cannot be run.
pub fn greenlight(arguments: &[&str], input: &str) -> Ran {
    let mut started = start(arguments);
    let mut standard_input = started.child.stdin.take().expect("its input is ours");
    // A command that reads no input may have closed it.
    let _ = standard_input.write_all(input.as_bytes());
    drop(standard_input);
    started.ended()
}

/// Starts a command that somebody waits for.
///
/// # Panics
/// Where it cannot be started.
pub fn start(arguments: &[&str]) -> Started {
    let mut child = Command::new(binary())
        .args(arguments)
        .env_clear()
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    let err = BufReader::new(child.stderr.take().expect("its notes are ours"));
    Started { child, err }
}

/// A command under way.
#[derive(Debug)]
pub struct Started {
    child: Child,
    err: BufReader<ChildStderr>,
}

impl Started {
    /// The next line that it notes beside its answer.
    ///
    /// # Panics
    /// Where it cannot be read.
    pub fn note(&mut self) -> String {
        let mut line = String::new();
        self.err.read_line(&mut line).expect("its notes can be read");
        line
    }

    /// Waits for its end.
    ///
    /// # Panics
    /// Where it cannot be waited for, or writes no UTF-8.
    pub fn ended(mut self) -> Ran {
        let (mut out, mut err) = (String::new(), String::new());
        let mut said = self.child.stdout.take().expect("its answer is ours");
        // Neither stream may fill its pipe while the other is read.
        std::thread::scope(|scope| {
            scope.spawn(|| self.err.read_to_string(&mut err).expect("its notes are text"));
            said.read_to_string(&mut out).expect("its answer is text");
        });
        let status = self.child.wait().expect("it can be waited for");
        Ran { code: status.code(), out, err }
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        // It has ended, unless a test failed meanwhile.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
