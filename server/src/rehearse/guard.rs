//! No process outlives us. The guard is this program once more, with a pipe: it learns the number of each process
//! before that becomes the server, and when the pipe closes without a word of leave, however we ended, it kills them
//! and all they started. What left its group, as a server that becomes a daemon does, is found by its [mark](super::mark).

use std::io::{self, BufRead, BufReader, Write};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process_group};

use super::limits;
use super::mark::Mark;
use super::priority::Niceness;

/// The guard, seen from the rehearsal.
#[derive(Debug)]
pub(super) struct Guard {
    child: Child,
    pipe: ChildStdin,
    mark: Mark,
    /// Of whoever started us, and so of the processes.
    niceness: Niceness,
}

impl Guard {
    /// Starts it.
    pub(super) fn start() -> io::Result<Self> {
        let mut child = Command::new(std::env::current_exe()?)
            .arg(GUARD)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // What a terminal sends to us is not for the guard.
            .process_group(0)
            .spawn()?;
        let mut pipe = child.stdin.take().ok_or_else(|| io::Error::other("it has no standard input"))?;
        let mark = Mark::new();
        writeln!(pipe, "{MARK}{}", mark.as_str())?;
        Ok(Self { child, pipe, mark, niceness: Niceness::now() })
    }

    /// A command that tells the guard of itself and then becomes `words`, with the limit of descriptors and the
    /// priority that we had.
    pub(super) fn command(&self, words: &[String], descriptors: u64) -> io::Result<Command> {
        let mut command = Command::new(std::env::current_exe()?);
        command.arg(BECOME).arg(descriptors.to_string()).arg(self.niceness.0.to_string()).arg("--").args(words);
        self.mark.put(&mut command);
        command.stdin(self.pipe.as_fd().try_clone_to_owned()?).process_group(0);
        Ok(command)
    }

    /// Kills what is left outside of the groups, tells the guard that nothing is, and waits for its end.
    pub(super) fn finish(self) {
        let Self { mut child, mut pipe, mark, .. } = self;
        mark.kill_all();
        // Where it has gone there is nobody to tell.
        let _ = writeln!(pipe, "{LEAVE}");
        drop(pipe);
        let _ = child.wait();
    }
}

/// The guard itself: the command `GUARD`.
pub(crate) fn guard() {
    let mut groups = Vec::new();
    let mut mark = None;
    for line in BufReader::new(io::stdin()).lines().map_while(Result::ok) {
        if line == LEAVE {
            return;
        }
        match line.strip_prefix(MARK) {
            Some(told) => mark = Some(Mark::of(told)),
            None => groups.extend(line.parse().ok().and_then(Pid::from_raw)),
        }
    }
    for group in groups {
        // Gone already is as good.
        let _ = kill_process_group(group, Signal::KILL);
    }
    if let Some(mark) = mark {
        mark.kill_all();
    }
}

/// A process on its way to become the server: the command `BECOME`. Returns only where that failed.
pub(crate) fn become_server(descriptors: u64, niceness: i32, words: &[String]) -> String {
    let pid = std::process::id();
    if let Err(error) = rustix::io::write(io::stdin().as_fd(), format!("{pid}\n").as_bytes()) {
        return format!("the guard cannot be told: {error}");
    }
    let Some((program, arguments)) = words.split_first() else { return "there is no command".into() };
    limits::lower_to(descriptors);
    Niceness(niceness).apply();
    // From here on the guard's pipe is ours no more: it closes as the server's standard input is opened.
    let error = Command::new(program).args(arguments).stdin(Stdio::null()).exec();
    format!("{program}: {error}")
}

/// The hidden command that is the guard.
pub(crate) const GUARD: &str = "rehearsal-guard";
/// The hidden command that becomes a server.
pub(crate) const BECOME: &str = "rehearsal-become";
/// What the guard is told first, and the mark behind it.
const MARK: &str = "mark ";
/// What the guard is told when nothing is left.
const LEAVE: &str = "leave";
