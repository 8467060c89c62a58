//! A process of the roll: started in a group of its own, told once, waited for, and never left behind.

use std::cell::Cell;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::process::{Child, Stdio};
use std::thread;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, kill_process_group, pidfd_open, pidfd_send_signal, waitid,
};
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::guard::Guard;
use super::plan::Launch;
use super::tail::Tail;
use crate::clock::instant;

/// A process and its group. It is reaped only when this is dropped, so that its number stays its own: no signal of
/// ours meets a stranger.
#[derive(Debug)]
pub(super) struct Process {
    child: Child,
    pid: Pid,
    handle: OwnedFd,
    tail: Tail,
    is_over: Cell<bool>,
}

impl Process {
    /// Starts one.
    ///
    /// # Errors
    /// The system's.
    pub(super) fn start(launch: &Launch, guard: &Guard, descriptors: u64) -> io::Result<Self> {
        let mut child = guard
            .command(&launch.words, descriptors)?
            .env("PORT", launch.port.to_string())
            .env("READY_PORT", launch.ready_port.to_string())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let tail = Tail::of(child.stdout.take(), child.stderr.take());
        let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        let pid = pid.ok_or_else(|| io::Error::other("the system gave no number"))?;
        let handle = pidfd_open(pid, PidfdFlags::empty()).inspect_err(|_| end_group(pid, &mut child))?;
        Ok(Self { child, pid, handle, tail, is_over: Cell::new(false) })
    }

    /// Its number in the system.
    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }

    /// The SIGTERM.
    ///
    /// # Errors
    /// The system's: it has ended.
    pub(super) fn terminate(&self) -> io::Result<()> {
        Ok(pidfd_send_signal(&self.handle, Signal::TERM)?)
    }

    /// What is told when it ends.
    ///
    /// # Errors
    /// The system's.
    pub(super) fn end(&self) -> io::Result<oneshot::Receiver<End>> {
        let handle = self.handle.try_clone()?;
        let (tell, told) = oneshot::channel();
        // It ends with the process, which never outlives us.
        thread::Builder::new().name("end".into()).spawn(move || {
            // Nobody may wait for it any more.
            let _ = tell.send(wait(&handle));
        })?;
        Ok(told)
    }

    /// How it ended, in words; `None` while it runs.
    pub(super) fn exit(&self) -> Option<String> {
        exit_of(&self.handle)
    }

    /// Kills it and all it started. Tells whether it ran until then.
    pub(super) fn kill(&self) -> bool {
        if self.is_over.replace(true) {
            return false;
        }
        let ran = self.exit().is_none();
        // Gone already is as good; what it started may still be there.
        let _ = kill_process_group(self.pid, Signal::KILL);
        let mut ended = [PollFd::new(&self.handle, PollFlags::IN)];
        let at_most = Timespec { tv_sec: KILLED_WITHIN_SECS, tv_nsec: 0 };
        // One that even this does not end hangs in the system, and can be waited for by nobody.
        let _ = poll(&mut ended, Some(&at_most));
        ran
    }

    /// The end of what it wrote.
    pub(super) fn last_words(&self) -> String {
        self.tail.words()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
        // Its number is free from here on.
        let _ = self.child.try_wait();
    }
}

/// The end of a process, as learned from waiting for it.
#[derive(Debug)]
pub(super) struct End {
    /// How, in words.
    pub(super) exit: String,
    /// When it was noticed.
    pub(super) at: Instant,
}

fn wait(handle: &OwnedFd) -> End {
    loop {
        let waited = poll(&mut [PollFd::new(handle, PollFlags::IN)], None);
        let at = instant();
        match (exit_of(handle), waited) {
            (Some(exit), _) => return End { exit, at },
            (None, Ok(_) | Err(Errno::INTR)) => {}
            (None, Err(error)) => return End { exit: format!("unknown ({error})"), at },
        }
    }
}

fn exit_of(handle: &OwnedFd) -> Option<String> {
    // Not reaped: whoever asks next is told the same.
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    let status = waitid(WaitId::PidFd(handle.as_fd()), options).ok().flatten()?;
    Some(match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => format!("exit {code}"),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => "unknown".into(),
    })
}

fn end_group(pid: Pid, child: &mut Child) {
    let _ = kill_process_group(pid, Signal::KILL);
    let _ = child.wait();
}

/// How long a killed process may take to be gone.
const KILLED_WITHIN_SECS: i64 = 5;
