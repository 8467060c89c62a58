//! Who is in rotation, what each member answered, and which rows the board is to hear of.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use greenlight_core::rotation::{Answer, Effects, Member, MemberId, MoveKind, Place, Renewal, Rotation, good_for};
use greenlight_core::{GoodFor, ReportedRow, Row};
use tokio::sync::Notify;

use crate::cli::settings::Probe;
use crate::source::view::{AnswerView, MemberView, MoveView, Rotating, Took, TroubleView, View, seconds_of};

/// What the members' tasks share with the one that reports. Readers copy under the lock; nobody waits under it.
#[derive(Debug, Default)]
pub(super) struct Shared {
    state: Mutex<State>,
    /// Told when there is something to report, and when that is news.
    pub(super) reports: Notify,
}

impl Shared {
    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes an answer in time, or a silence.
    pub(super) fn take(&self, id: MemberId, learned: Learned, at_ms: u64) {
        if self.lock().take(id, learned, at_ms) == Wake::Yes {
            self.reports.notify_one();
        }
    }
}

impl Rotating for Shared {
    fn view(&self) -> View {
        self.lock().view()
    }

    fn trouble(&self) -> Option<TroubleView> {
        self.lock().trouble_view()
    }
}

/// What one probe learned.
#[derive(Debug)]
pub(super) struct Learned {
    pub(super) answer: Answer,
    pub(super) took: Duration,
    /// How late we came to its deadline.
    pub(super) late: Duration,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wake {
    Yes,
    No,
}

/// See [`Shared`].
#[derive(Debug, Default)]
pub(super) struct State {
    rotation: Rotation<u64>,
    records: BTreeMap<MemberId, Record>,
    /// In order of configuration.
    order: Vec<MemberId>,
    to_report: BTreeSet<MemberId>,
    is_news: bool,
    unasked: BTreeSet<MemberId>,
    trouble: Option<(Box<str>, u64)>,
    took: Took,
}

/// What is kept of a member beside what rotation keeps.
#[derive(Debug)]
struct Record {
    probe: Probe,
    row: Option<ReportedRow>,
    /// What the newest ready answer said of its version.
    version: Option<Box<str>>,
    /// How many answers of each of [`KINDS`].
    answers: [u64; KINDS.len()],
    /// How long the newest answer took, and how late we came to its deadline.
    last_took: (Duration, Duration),
    last_late_took: Duration,
    last_move: Option<MoveView>,
    joins: u64,
    leaves: u64,
    not_on_board: Option<Box<str>>,
}

impl State {
    /// Adds a member. `before`: the row that the board holds of it.
    pub(super) fn add(&mut self, probe: Probe, before: Option<&Row>, at_ms: u64) -> MemberId {
        let id = self.rotation.add(Member::new(probe.name.clone(), probe.policy, before, at_ms));
        let record = Record {
            probe,
            row: None,
            version: None,
            answers: [0; KINDS.len()],
            last_took: (Duration::ZERO, Duration::ZERO),
            last_late_took: Duration::ZERO,
            last_move: None,
            joins: 0,
            leaves: 0,
            not_on_board: None,
        };
        self.records.insert(id, record);
        id
    }

    /// Takes a member away.
    pub(super) fn remove(&mut self, id: MemberId) {
        self.rotation.remove(id);
        self.records.remove(&id);
        self.to_report.remove(&id);
        self.unasked.remove(&id);
        self.mend();
    }

    /// The same member, under settings that leave what is known of it as it is.
    pub(super) fn change(&mut self, id: MemberId, probe: Probe) {
        self.rotation.set_policy(id, probe.policy);
        if let Some(record) = self.records.get_mut(&id) {
            record.probe = probe;
        }
    }

    /// Says in which order members are told.
    pub(super) fn set_order(&mut self, order: Vec<MemberId>) {
        self.order = order;
    }

    pub(super) fn take(&mut self, id: MemberId, learned: Learned, at_ms: u64) -> Wake {
        let Learned { answer, took, late } = learned;
        let Some(record) = self.records.get_mut(&id) else { return Wake::No };
        let name = &record.probe.name;
        tracing::trace!(%name, %answer, took_us = micros(took), late_us = micros(late), "probed");
        let kind = answer.kind();
        if let Some(count) = KINDS.iter().position(|known| *known == kind).and_then(|at| record.answers.get_mut(at)) {
            *count += 1;
        }
        self.took.note(micros(took));
        record.last_took = (took, late);
        let fault = if let Answer::Fault { code } = &answer { Some(code.clone()) } else { None };
        // Only a move, another version and the first of all change what the row says.
        let mut may_be_news = record.row.is_none();
        if let Answer::Ready { version, .. } = &answer
            && *version != record.version
        {
            record.version.clone_from(version);
            may_be_news = true;
        }
        let Effects { moved, renewal } = self.rotation.handle(id, answer, at_ms);
        if let Some(moved) = moved {
            may_be_news = true;
            match moved.kind {
                MoveKind::Join => {
                    record.joins += 1;
                    tracing::info!(%name, cause = %moved.cause, "joined rotation");
                }
                MoveKind::Leave => {
                    record.leaves += 1;
                    tracing::warn!(%name, cause = %moved.cause, "left rotation");
                }
            }
            record.last_move = Some(MoveView::of(&moved));
        }
        let mut wake = Wake::No;
        if renewal == Renewal::Renews {
            if may_be_news {
                let row = self.rotation.member(id).and_then(Member::row);
                if row != record.row {
                    record.row = row;
                    self.is_news = true;
                    wake = Wake::Yes;
                }
            }
            if self.to_report.is_empty() {
                wake = Wake::Yes;
            }
            self.to_report.insert(id);
        }
        match fault {
            Some(code) => self.lament(id, code, at_ms),
            None => {
                if self.unasked.remove(&id) {
                    self.mend();
                }
            }
        }
        wake
    }

    /// Notes the answer to a probe that had been taken for silent.
    pub(super) fn note_late(&mut self, id: MemberId, answer: Answer, took: Duration, at_ms: u64) {
        if let Some(record) = self.records.get_mut(&id) {
            tracing::trace!(name = %record.probe.name, %answer, took_us = micros(took), "answered late");
            record.last_late_took = took;
            self.rotation.note_late(id, answer, at_ms);
        }
    }

    /// Whether something that is to be reported says anything new.
    pub(super) fn is_news(&self) -> bool {
        self.is_news
    }

    /// The rows to report, by how long they are good. They are not told again until they are renewed.
    pub(super) fn rows_to_report(&mut self) -> BTreeMap<u64, Vec<(MemberId, ReportedRow)>> {
        self.is_news = false;
        let mut groups: BTreeMap<u64, Vec<(MemberId, ReportedRow)>> = BTreeMap::new();
        for id in std::mem::take(&mut self.to_report) {
            let Some(Record { probe, row: Some(row), .. }) = self.records.get(&id) else { continue };
            if let GoodFor::Seconds(secs) = good_for(probe.every_ms, probe.timeout_ms) {
                groups.entry(secs).or_default().push((id, row.clone()));
            }
        }
        groups
    }

    /// Notes whether the board took a row. Says so once.
    pub(super) fn note_refusal(&mut self, id: MemberId, refusal: Option<Box<str>>) {
        let Some(record) = self.records.get_mut(&id) else { return };
        if let Some(refusal) = refusal.as_deref().filter(|_| refusal != record.not_on_board) {
            tracing::warn!(name = %record.probe.name, refusal, "the board does not take the member's row");
        }
        record.not_on_board = refusal;
    }

    fn lament(&mut self, id: MemberId, code: Box<str>, at_ms: u64) {
        self.unasked.insert(id);
        if let Some((known, _)) = &mut self.trouble {
            *known = code;
        } else {
            tracing::error!(%code, "the prober cannot ask: nobody moves for it, and rows lapse in time");
            self.trouble = Some((code, at_ms));
        }
    }

    fn mend(&mut self) {
        if self.unasked.is_empty() && self.trouble.take().is_some() {
            tracing::info!("the prober asks everybody again");
        }
    }

    fn view(&self) -> View {
        let members = self.order.iter().filter_map(|id| self.member_view(*id)).collect();
        View { members, trouble: self.trouble_view(), took: self.took.clone() }
    }

    fn trouble_view(&self) -> Option<TroubleView> {
        self.trouble.as_ref().map(|(code, since_ms)| TroubleView {
            code: code.clone(),
            members: self.unasked.len(),
            since_unix: seconds_of(*since_ms),
        })
    }

    fn member_view(&self, id: MemberId) -> Option<MemberView> {
        let (member, record) = (self.rotation.member(id)?, self.records.get(&id)?);
        let (took, late) = record.last_took;
        Some(MemberView {
            name: member.name().clone(),
            url: record.probe.url.clone(),
            in_rotation: member.place() == Place::In,
            held_last: member.is_held(),
            since_unix: seconds_of(member.since()),
            silences: member.silences(),
            moves: member.moves(),
            faults: member.faults(),
            last_answer: member.last_answer().map(|(answer, at_ms)| AnswerView::of(answer, took, late, at_ms)),
            last_late: member
                .last_late()
                .map(|(answer, at_ms)| AnswerView::of(answer, record.last_late_took, Duration::ZERO, at_ms)),
            last_move: record.last_move.clone(),
            not_on_board: record.not_on_board.clone(),
            answers: KINDS.into_iter().zip(record.answers).collect(),
            joins: record.joins,
            leaves: record.leaves,
        })
    }
}

fn micros(span: Duration) -> u64 {
    u64::try_from(span.as_micros()).unwrap_or(u64::MAX)
}

/// A series for each, from the first probe on, so that a rate can be taken of it.
const KINDS: [&str; 6] = ["ready", "not_ready", "refused", "cut", "silent", "fault"];
