//! What the board hears of members, at moments of the test's own.

use std::sync::Arc;
use std::time::Duration;

use greenlight_core::rotation::{Answer, Cutting, MemberId, Refuser, Silence};
use greenlight_core::{Horizon, Name, RowView, Standing};

use super::SOURCE;
use super::report::Reporter;
use super::state::{Learned, Shared, Wake};
use crate::cli::settings::Probe;
use crate::clock::{Clock, ManualTime};
use crate::daemon::Daemon;
use crate::source::view::Rotating;

/// A board and a prober's state, without anybody who asks.
struct Bench {
    time: Arc<ManualTime>,
    daemon: Daemon,
    reporter: Reporter,
    member: MemberId,
}

const READY: Answer = Answer::Ready { status: 200, version: None };
const NO: Answer = Answer::NotReady { status: 503 };
const REFUSED: Answer = Answer::Refused { by: Refuser::Host };
const SILENT: Answer = Answer::Silent { by: Silence::Timeout };

fn fault() -> Answer {
    Answer::Fault { code: "EMFILE".into() }
}

fn probe(name: &str) -> Probe {
    Probe {
        name: Name::of_instance(name).unwrap(),
        url: "http://127.0.0.1:1/".into(),
        every_ms: Probe::EVERY_MS,
        timeout_ms: Probe::TIMEOUT_MS,
        policy: greenlight_core::rotation::RotationPolicy::default(),
        version_header: None,
        verify: true,
    }
}

impl Bench {
    fn new() -> Self {
        let time = ManualTime::at(1_785_000_000);
        let daemon = Daemon::builder().clock(Clock::of(time.clone())).stale_after(Horizon::After(60)).start().unwrap();
        let shared = Arc::new(Shared::default());
        let member = shared.lock().add(probe("dev"), None, 0);
        shared.lock().set_order(vec![member]);
        let reporter = Reporter { handle: daemon.handle(), source: Name::of_source(SOURCE).unwrap(), shared };
        Self { time, daemon, reporter, member }
    }

    fn take(&self, answer: Answer) -> Wake {
        let now_ms = self.daemon.handle().shared.clock.now_ms();
        let learned = Learned { answer, took: Duration::from_millis(2), late: Duration::ZERO };
        self.reporter.shared.lock().take(self.member, learned, now_ms)
    }

    /// One probe a second, with what it learned.
    async fn learn(&self, answers: impl IntoIterator<Item = Answer>) {
        for answer in answers {
            self.time.advance(1);
            self.take(answer);
            self.reporter.report().await;
            self.daemon.handle().tick().await.unwrap();
        }
    }

    async fn with_row<T>(&self, look: impl FnOnce(Option<RowView<'_>>) -> T) -> T {
        self.daemon.handle().tick().await.unwrap();
        let published = self.daemon.handle().shared.published.load_full();
        look(published.snapshot.rows().next())
    }

    async fn standing(&self) -> Option<Standing> {
        let (horizon, now) = (Horizon::After(60), self.daemon.handle().shared.clock.now());
        self.with_row(|row| row.map(|row| row.standing(horizon, now))).await
    }
}

#[tokio::test]
async fn nothing_is_reported_before_a_join_a_definite_no_or_the_last_silence() {
    let bench = Bench::new();
    bench.learn([fault(), SILENT, SILENT, fault()]).await;
    assert_eq!(bench.standing().await, None);
    bench.learn([SILENT]).await;
    assert_eq!(bench.standing().await, Some(Standing::NeverGreen));
    let reason = bench.with_row(|row| row.unwrap().held.row.last_red_reason.clone()).await;
    assert_eq!(reason.as_deref(), Some("silent 3 times in a row"));
}

#[tokio::test]
async fn a_dead_member_that_alternates_between_refusal_and_silence_keeps_its_stamp_and_ages_out() {
    let bench = Bench::new();
    bench.learn([READY, NO]).await;
    let left = bench.daemon.handle().shared.clock.now();
    let revision = bench.daemon.handle().shared.published.load().revision;
    for _ in 0..14 {
        bench.learn([REFUSED, SILENT, SILENT, SILENT]).await;
        assert_eq!(bench.with_row(|row| row.unwrap().held.last_change).await, left);
    }
    assert_eq!(bench.standing().await, Some(Standing::LiveDegraded));
    bench.learn([Answer::Cut { by: Cutting::Reset }, SILENT, REFUSED, SILENT]).await;
    assert_eq!(bench.standing().await, Some(Standing::StaleDegraded));
    assert_eq!(bench.daemon.handle().shared.published.load().revision, revision);
}

#[tokio::test]
async fn where_the_prober_cannot_ask_the_row_lapses_after_three_periods_and_the_member_stays() {
    let bench = Bench::new();
    bench.learn([READY]).await;
    bench.learn(std::iter::repeat_with(fault).take(29)).await;
    let now = || bench.daemon.handle().shared.clock.now();
    assert!(bench.with_row(|row| row.unwrap().is_confirmed(now())).await);
    bench.learn([fault()]).await;
    assert!(!bench.with_row(|row| row.unwrap().is_confirmed(now())).await);
    let view = bench.reporter.shared.view();
    assert!(view.members[0].in_rotation);
    assert_eq!((view.members[0].faults, view.trouble.map(|trouble| trouble.members)), (30, Some(1)));
    bench.learn([READY]).await;
    assert!(bench.with_row(|row| row.unwrap().is_confirmed(now())).await);
    assert!(bench.reporter.shared.view().trouble.is_none());
}

#[tokio::test]
async fn only_what_is_new_wakes_the_reporter_before_the_others_are_told() {
    let bench = Bench::new();
    assert_eq!((bench.take(READY), bench.reporter.shared.lock().is_news()), (Wake::Yes, true));
    bench.reporter.report().await;
    assert_eq!((bench.take(READY), bench.reporter.shared.lock().is_news()), (Wake::Yes, false));
    assert_eq!(bench.take(READY), Wake::No);
    assert_eq!((bench.take(NO), bench.reporter.shared.lock().is_news()), (Wake::Yes, true));
    assert_eq!(bench.reporter.shared.lock().rows_to_report().len(), 1);
    assert_eq!(bench.reporter.shared.lock().rows_to_report().len(), 0);
}

#[tokio::test]
async fn one_row_that_the_board_does_not_take_keeps_no_other_from_it() {
    let bench = Bench::new();
    let row = crate::ReportedRow { name: "dev".into(), ..crate::ReportedRow::default() };
    bench.daemon.handle().publish("driver", vec![row]).await.unwrap();
    let lane = bench.reporter.shared.lock().add(probe("lane"), None, 0);
    bench.take(READY);
    let learned = Learned { answer: READY, took: Duration::ZERO, late: Duration::ZERO };
    bench.reporter.shared.lock().take(lane, learned, 0);
    bench.reporter.report().await;
    let published = bench.daemon.handle().shared.published.load_full();
    let rows: Vec<_> = published.snapshot.rows().map(|row| (row.name().as_str(), row.held.source.as_str())).collect();
    assert_eq!(rows, [("dev", "driver"), ("lane", "probe")]);
    let why = bench.reporter.shared.view().members[0].not_on_board.clone();
    assert!(why.is_some_and(|why| why.contains("driver")));
}
