//! How a board is held against the naive one.

use greenlight_core::{
    Board, Effects, Extent, Flip, GoodFor, Held, Horizon, Judgement, Name, Refusal, Remembered, Renewed, Report,
    ReportedRow, Row, Snapshot, Standing, UnixSeconds,
};

use crate::naive::{Did, Naive};

pub(crate) fn at(secs: u64) -> UnixSeconds {
    UnixSeconds::new(secs)
}

pub(crate) fn source(name: &str) -> Name {
    Name::of_source(name).unwrap()
}

/// A row that serves, that did, or that never did.
pub(crate) fn row(name: &str, serving: Option<&str>, green: Option<&str>) -> ReportedRow {
    ReportedRow {
        name: name.into(),
        serving_sha: serving.map(Into::into),
        last_green: green.map(Into::into),
        ..ReportedRow::default()
    }
}

pub(crate) fn full(by: &str, rows: Vec<ReportedRow>, good_for: GoodFor) -> Report {
    Report { source: source(by), extent: Extent::Full, rows, good_for, sequence: None }
}

pub(crate) fn partial(by: &str, rows: Vec<ReportedRow>, good_for: GoodFor) -> Report {
    Report { extent: Extent::Partial, ..full(by, rows, good_for) }
}

/// One thing that happens to a board.
#[derive(Clone, Debug)]
pub(crate) enum Operation {
    Report(Report),
    Remove(String, String),
    RemoveSource(String),
    Restart,
    /// The daemon is started anew from what it stored.
    Restore,
    Later(u64),
    Earlier(u64),
}

/// A board, the naive one beside it, and the clock they share.
#[derive(Clone, Debug)]
pub(crate) struct Pair {
    pub(crate) board: Board,
    pub(crate) naive: Naive,
    pub(crate) now: u64,
}

impl Pair {
    pub(crate) fn holding_at_most(limit: usize, now: u64) -> Self {
        Self { board: Board::holding_at_most(limit), naive: Naive::holding_at_most(limit), now }
    }

    /// Lets both do it, and compares what they say they did.
    #[track_caller]
    pub(crate) fn apply(&mut self, operation: &Operation) {
        let now = self.now;
        match operation {
            Operation::Report(report) => {
                let before = report.sequence.map(|_| format!("{:?}", self.board));
                let got = self.board.report(report.clone(), at(now));
                if let (Err(_), Some(before)) = (&got, before) {
                    assert_eq!(format!("{:?}", self.board), before, "a refused report changes nothing");
                }
                compare_outcome(got, self.naive.report(report, now));
            }
            Operation::Remove(by, name) => {
                compare_outcome(self.board.remove(by, name, at(now)), self.naive.remove(by, name, now));
            }
            Operation::RemoveSource(by) => {
                compare_outcome(Ok(self.board.remove_source(by, at(now))), Ok(self.naive.remove_source(by, now)));
            }
            Operation::Restart => {
                self.board.restart(at(now));
                self.naive.restart(now);
            }
            Operation::Restore => {
                self.board = restored(&self.board, now);
                self.naive.restart(now);
            }
            Operation::Later(secs) => self.now = now + secs,
            Operation::Earlier(secs) => self.now = now.saturating_sub(*secs),
        }
    }

    /// Compares everything that can be read of either under these horizons at this moment.
    #[track_caller]
    pub(crate) fn compare(&self, horizons: &[Horizon]) {
        compare_state(&self.board, &self.naive);
        let snapshot = self.board.snapshot();
        assert_eq!(
            snapshot.unreported_since().map(UnixSeconds::as_secs),
            self.naive.unreported_since,
            "the restart after which nobody has reported"
        );
        for horizon in horizons {
            compare_judgement(&snapshot, &self.naive, *horizon, self.now);
        }
    }
}

/// The board after it was stored and the daemon started again from that.
pub(crate) fn restored(board: &Board, now: u64) -> Board {
    let snapshot = board.snapshot();
    let rows = snapshot.rows().map(|row| {
        let mut held = Held::clone(row.held);
        held.last_change = held.stored_change();
        held.clamped_from = None;
        (held, *row.vouch)
    });
    let memory = board.remembered().map(|gone| {
        let (last_change, removed) = gone.stored_times();
        Remembered { last_change, removed, clamped_from: None, ..gone.clone() }
    });
    Board::restore(rows, memory, at(now))
}

pub(crate) fn word(refusal: &Refusal) -> &'static str {
    match refusal {
        Refusal::Row { .. } => "row",
        Refusal::Duplicate { .. } => "duplicate",
        Refusal::Held { .. } => "held",
        Refusal::OfAnother { .. } => "of another",
        Refusal::Sequence { .. } | Refusal::SequenceTooLarge(_) => "sequence",
        Refusal::TooManyRows { .. } => "rows",
        Refusal::TooManySources { .. } => "sources",
        Refusal::Unknown { .. } => "unknown",
        Refusal::Source(_) => "source",
    }
}

fn strings(names: &[Name]) -> Vec<String> {
    names.iter().map(ToString::to_string).collect()
}

#[track_caller]
fn compare_outcome(got: Result<Effects, Refusal>, expected: Result<Did, Vec<&'static str>>) {
    match (got, expected) {
        (Err(refusal), Err(reasons)) => {
            assert!(
                reasons.contains(&word(&refusal)),
                "refused for {refusal:?}, though what is against it is {reasons:?}"
            );
        }
        (Ok(effects), Ok(mut did)) => {
            let mut forgotten = strings(&effects.forgotten);
            forgotten.sort();
            did.forgotten.sort();
            let got = Did {
                changed: strings(&effects.changed),
                touched: strings(&effects.touched),
                removed: strings(&effects.removed),
                forgotten,
                confirmed_again: strings(&effects.confirmed_again),
            };
            assert_eq!(got, did, "what the operation did, the board first");
            let renewed = match &effects.renewed {
                Renewed::Nothing => Vec::new(),
                Renewed::Source(_) => return,
                Renewed::Rows(names) => strings(names),
            };
            assert!(did.confirmed_again.iter().all(|name| renewed.contains(name)), "confirmed again but not renewed");
        }
        (got, expected) => panic!("the board said {got:?}, the naive one {expected:?}"),
    }
}

fn fields_of(row: &Row) -> Vec<String> {
    vec![
        row.phase.to_string(),
        format!("{:?}", row.serving_sha),
        format!("{:?}", row.last_green),
        format!("{:?}", row.last_red_sha),
        format!("{:?}", row.last_red_reason),
        format!("{:?}", row.last_red_files),
        format!("{:?}", row.pending_sha),
        row.draining.to_string(),
    ]
}

/// Rows, stamps, vouches, memory and sources.
#[track_caller]
pub(crate) fn compare_state(board: &Board, naive: &Naive) {
    let snapshot = board.snapshot();
    assert_eq!(board.len(), naive.rows.len(), "rows on the board");
    for (row, line) in snapshot.rows().zip(&naive.rows) {
        let name = &line.name;
        assert_eq!(row.name().as_str(), name, "the order of the rows");
        assert_eq!(board.row(name).map(|row| row.held.order), Some(row.held.order), "{name} is found by its name");
        assert_eq!(fields_of(&row.held.row), line.facts.fields, "{name}");
        assert_eq!(row.held.source.as_str(), line.source, "who reports {name}");
        assert_eq!(row.held.last_change.as_secs(), line.stamp, "the stamp of {name}");
        assert_eq!(row.held.stored_change().as_secs(), line.stored_stamp, "the stored stamp of {name}");
        assert_eq!(row.vouch.last_report.as_secs(), line.last_report, "the last report of {name}");
        assert_eq!(row.vouch.good_for, line.good_for, "for how long {name} is good");
        assert_eq!(row.vouch.good_until.map(UnixSeconds::as_secs), line.good_until, "until when {name} is good");
        let route = &row.held.route;
        let route =
            [format!("{:?}", route.proxy_port), format!("{:?}", route.public_host), format!("{:?}", route.expires_at)];
        assert_eq!(route.as_slice(), line.route, "{name}");
    }
    let mut gone: Vec<_> = naive.gone.iter().collect();
    gone.sort_by(|one, other| one.name.cmp(&other.name));
    assert_eq!(board.remembered().count(), gone.len(), "rows in memory");
    for (remembered, gone) in board.remembered().zip(gone) {
        let name = &gone.name;
        assert_eq!(remembered.name.as_str(), name);
        assert_eq!(fields_of(&remembered.row), gone.facts.fields, "{name}");
        assert_eq!(remembered.last_change.as_secs(), gone.stamp, "the remembered stamp of {name}");
        assert_eq!(remembered.removed.as_secs(), gone.removed, "the removal of {name}");
        let (stamp, removed) = remembered.stored_times();
        assert_eq!((stamp.as_secs(), removed.as_secs()), (gone.stored_stamp, gone.stored_removed), "{name}");
    }
    let mut sources: Vec<_> = naive.sources.iter().map(|(name, last, _)| (name.as_str(), *last)).collect();
    sources.sort_unstable();
    let got: Vec<_> = board.sources().map(|(name, known)| (name.as_str(), known.last_report.as_secs())).collect();
    assert_eq!(got, sources, "sources");
    assert_eq!(board.has_been_reported_to(), !sources.is_empty());
}

/// Verdict, lists, standings and flips.
#[track_caller]
pub(crate) fn compare_judgement(snapshot: &Snapshot, naive: &Naive, horizon: Horizon, now: u64) {
    compare_verdict(snapshot, naive, horizon, now);
    for (row, line) in snapshot.rows().zip(&naive.rows) {
        let moment = at(now);
        assert_eq!(row.standing(horizon, moment), line.standing(horizon, now), "{line:?} at {now} under {horizon:?}");
        assert_eq!(row.since(moment).as_secs(), line.since(now), "since when {line:?} stands so at {now}");
        assert_eq!(row.ages_out(horizon, moment).map(UnixSeconds::as_secs), line.ages_out(horizon, now), "{line:?}");
        assert_eq!(row.is_stale(horizon, moment), line.is_stale(horizon, now), "{line:?} at {now} under {horizon:?}");
        assert_eq!(row.idle_secs(moment), now.saturating_sub(line.stamp), "{line:?} at {now}");
        assert_eq!(row.is_confirmed(moment), line.is_confirmed(now), "{line:?} at {now}");
        assert_eq!(row.lost_its_witness(moment), line.facts.serves && !line.is_confirmed(now), "{line:?} at {now}");
    }
    let Judgement { ready, reason, lists: judged } = snapshot.judge(horizon, at(now));
    assert_eq!(ready, naive.is_ready(horizon, now));
    assert_eq!(reason, naive.reason(horizon, now));
    assert_eq!(judged.stale_after_secs, horizon);
    for (got, standing) in [
        (&judged.serving, Standing::Serving),
        (&judged.live_degraded, Standing::LiveDegraded),
        (&judged.stale_degraded, Standing::StaleDegraded),
        (&judged.never_green, Standing::NeverGreen),
    ] {
        assert_eq!(strings(got), naive.names(standing, horizon, now), "{standing} at {now} under {horizon:?}");
    }
    assert_eq!(strings(&judged.unconfirmed), naive.unconfirmed(now), "unconfirmed at {now}");
    let expected = naive.flips(naive.moments(horizon), horizon, now);
    assert_eq!(judged.flips, expected, "flips at {now} under {horizon:?} of {naive:#?}");
    compare_next_flip(snapshot, horizon, now, expected.first());
}

#[track_caller]
pub(crate) fn compare_verdict(snapshot: &Snapshot, naive: &Naive, horizon: Horizon, now: u64) {
    let verdict = snapshot.verdict(horizon, at(now));
    let context = || format!("at {now} under {horizon:?} of {naive:#?}");
    assert_eq!(verdict.reason(), naive.reason(horizon, now), "{}", context());
    assert_eq!(verdict.is_ready(), naive.is_ready(horizon, now), "{}", context());
    assert_eq!(
        verdict.blocking().map(|row| row.name().as_str()),
        naive.blocking(horizon, now).map(|line| line.name.as_str()),
        "the row that blocks longest {}",
        context()
    );
    assert_eq!(snapshot.next_lapse(at(now)).map(UnixSeconds::as_secs), naive.next_lapse(now), "{}", context());
}

#[track_caller]
pub(crate) fn compare_next_flip(snapshot: &Snapshot, horizon: Horizon, now: u64, first: Option<&Flip>) {
    let next = snapshot.next_flip(horizon, at(now));
    assert_eq!(next, first.map(|flip| (flip.at_unix, flip.ready)), "the next flip is the first of the flips, at {now}");
}
