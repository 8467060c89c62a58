//! The mark of a run: a variable in the environment of its processes, which all that they start inherit. By it whoever
//! left its process group is found, however often it was orphaned.

use std::fs;
use std::hash::{BuildHasher, RandomState};
use std::process::Command;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

/// The mark of one run.
#[derive(Debug)]
pub(super) struct Mark(String);

impl Mark {
    /// One that no other run has.
    pub(super) fn new() -> Self {
        Self(format!("{:016x}", RandomState::new().hash_one(std::process::id())))
    }

    /// One that was made elsewhere.
    pub(super) fn of(mark: &str) -> Self {
        Self(mark.into())
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    /// Marks what a command starts.
    pub(super) fn put(&self, command: &mut Command) {
        command.env(VARIABLE, &self.0);
    }

    /// Kills all that carry it. One that starts others meanwhile is looked for again, but not for ever.
    pub(super) fn kill_all(&self) {
        for _ in 0..MOST_LOOKS {
            let found: Vec<Pid> = self.found().collect();
            if found.is_empty() {
                return;
            }
            for pid in found {
                self.kill(pid);
            }
        }
    }

    fn found(&self) -> impl Iterator<Item = Pid> {
        let all = fs::read_dir("/proc").into_iter().flatten().filter_map(Result::ok);
        let numbers = all.filter_map(|one| one.file_name().to_str()?.parse().ok().and_then(Pid::from_raw));
        numbers.filter(|pid| self.is_on(*pid))
    }

    /// Whether a process carries it. Of one that is another user's, or gone, nothing can be read.
    fn is_on(&self, pid: Pid) -> bool {
        let environment = fs::read(format!("/proc/{}/environ", pid.as_raw_nonzero())).unwrap_or_default();
        let variable = format!("{VARIABLE}={}", self.0);
        environment.split(|byte| *byte == 0).any(|one| one == variable.as_bytes())
    }

    fn kill(&self, pid: Pid) {
        let Ok(handle) = pidfd_open(pid, PidfdFlags::empty()) else { return };
        // Its number may have gone to a stranger before it was held.
        if !self.is_on(pid) {
            return;
        }
        // Gone already is as good.
        let _ = pidfd_send_signal(&handle, Signal::KILL);
        let at_most = Timespec { tv_sec: KILLED_WITHIN_SECS, tv_nsec: 0 };
        // One that even this does not end hangs in the system, and can be waited for by nobody.
        let _ = poll(&mut [PollFd::new(&handle, PollFlags::IN)], Some(&at_most));
    }
}

/// The variable. Not one of this program's own, which it would take for a setting.
const VARIABLE: &str = "REHEARSED_BY";
/// Each look kills all that it finds.
const MOST_LOOKS: usize = 20;
const KILLED_WITHIN_SECS: i64 = 1;
