//! What the parts of a run share, all in one thread: who is in rotation, and what happened.

use std::cell::RefCell;

use greenlight_core::Name;
use greenlight_core::rehearsal::{Choice, Event, Header, Lane, Options, Stream};
use greenlight_core::rotation::{Answer, Member, MemberId, Place, Rotation};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use super::recorder::Handle;
use super::since::Since;

/// What the parts of a run share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) since: Since,
    pub(super) record: Handle,
    pub(super) options: Options,
    names: Vec<Box<str>>,
    state: RefCell<State>,
    changed: watch::Sender<()>,
}

#[derive(Debug)]
struct State {
    rotation: Rotation<i64>,
    members: Vec<MemberId>,
    stream: Stream,
    /// How each process ended.
    exits: Vec<Option<Box<str>>>,
    /// When the newest probe of each was due that was no fault.
    asked_us: Vec<i64>,
}

/// What was learned by one probe.
#[derive(Debug)]
pub(super) struct Learned {
    pub(super) answer: Answer,
    pub(super) due_us: i64,
    pub(super) sent_us: i64,
    /// How late we came to its deadline.
    pub(super) late_us: i64,
}

/// How a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Until {
    /// What was waited for is so.
    Met,
    /// Time is up.
    TimeUp,
    /// Somebody asks to stop.
    Stopped,
    /// The record can take no more.
    Full,
}

impl Shared {
    pub(super) fn new(header: &Header, since: Since, record: Handle) -> Self {
        let mut rotation = Rotation::new();
        let names: Vec<Box<str>> = header.processes.iter().map(|one| one.name.clone()).collect();
        let members = names
            .iter()
            .filter_map(|name| Name::of_instance(name).ok())
            .map(|name| rotation.add(Member::new(name, header.policy, None, 0)))
            .collect();
        let state = State {
            rotation,
            members,
            stream: Stream::new(header.options.lag_us),
            exits: vec![None; names.len()],
            asked_us: vec![0; names.len()],
        };
        Self {
            since,
            record,
            options: header.options.clone(),
            names,
            state: RefCell::new(state),
            changed: watch::Sender::new(()),
        }
    }

    pub(super) fn name(&self, process: usize) -> Box<str> {
        self.names.get(process).cloned().unwrap_or_default()
    }

    /// Takes what a probe learned, now.
    pub(super) fn learn(&self, process: usize, learned: Learned) {
        let Learned { answer, due_us, sent_us, late_us } = learned;
        let name = self.name(process);
        let at_us = self.since.ceil_us(crate::clock::instant());
        let sent_us = Some(sent_us);
        self.record.note(Event::Probe {
            at_us,
            due_us,
            sent_us,
            process: name.clone(),
            answer: answer.clone(),
            late_us,
        });
        let mut state = self.state.borrow_mut();
        if let (Some(newest), false) = (state.asked_us.get_mut(process), matches!(answer, Answer::Fault { .. })) {
            *newest = due_us;
        }
        let Some(member) = state.members.get(process).copied() else { return };
        if let Some(moved) = state.rotation.handle(member, answer, at_us).moved {
            state.stream.moved(at_us, process, moved.kind);
            self.record.note(Event::Move { at_us, process: name, kind: moved.kind, cause: moved.cause });
        }
        drop(state);
        self.changed.send_replace(());
    }

    /// Notes how a process ended and when, unless that is known.
    pub(super) fn exited(&self, process: usize, exit: &str, at: Instant) {
        if let Some(known) = self.state.borrow_mut().exits.get_mut(process)
            && known.is_none()
        {
            *known = Some(exit.into());
            self.record.note(Event::Exited {
                at_us: self.since.floor_us(at),
                process: self.name(process),
                exit: exit.into(),
            });
        }
        self.changed.send_replace(());
    }

    pub(super) fn has_exited(&self, process: usize) -> bool {
        self.state.borrow().exits.get(process).is_some_and(Option::is_some)
    }

    pub(super) fn is_in(&self, process: usize) -> bool {
        self.member(process, |member| member.place() == Place::In)
    }

    /// Whether a process was ever in.
    pub(super) fn has_joined(&self, process: usize) -> bool {
        self.member(process, |member| member.moves() > 0)
    }

    fn member(&self, process: usize, of: impl Fn(&Member<i64>) -> bool) -> bool {
        let state = self.state.borrow();
        state.members.get(process).and_then(|id| state.rotation.member(*id)).is_some_and(of)
    }

    /// Whether our probes of a process are so far behind that its place may be long out of date: two of them should
    /// have been decided since. What is lost to it meanwhile is lost by us.
    pub(super) fn is_out_of_sight(&self, process: usize, at_us: i64) -> bool {
        let behind = self.options.probe_every_us.saturating_add(self.options.probe_timeout_us).saturating_mul(2);
        let asked_us = self.state.borrow().asked_us.get(process).copied().unwrap_or(0);
        // One that has ended and is out is asked no more: nothing about it can change.
        let is_settled = self.has_exited(process) && !self.is_in(process);
        !is_settled && at_us.saturating_sub(asked_us) > behind
    }

    /// Whom a tick asks that is sent now.
    pub(super) fn choose(&self, lane: Lane, due_us: i64, sent_us: i64) -> Choice {
        self.state.borrow_mut().stream.choose(lane, due_us, sent_us)
    }

    /// Waits until it is so.
    pub(super) async fn until(
        &self,
        stopped: &mut watch::Receiver<bool>,
        limit: Instant,
        is_so: impl Fn(&Self) -> bool,
    ) -> Until {
        let mut changed = self.changed.subscribe();
        loop {
            changed.mark_unchanged();
            if *stopped.borrow_and_update() {
                return Until::Stopped;
            }
            if is_so(self) {
                return Until::Met;
            }
            if self.record.seen().is_full() {
                return Until::Full;
            }
            tokio::select! {
                // Both senders outlive this wait.
                _ = changed.changed() => {}
                _ = stopped.changed() => {}
                () = sleep_until(limit) => return if is_so(self) { Until::Met } else { Until::TimeUp },
            }
        }
    }
}
