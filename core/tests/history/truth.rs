//! What was said at each second, as it was said, and how the spans of a replay are held against it.

use std::collections::BTreeMap;
use std::sync::Arc;

use greenlight_core::history::{Blame, MAX_BLAMED, Said, StandingSpan, Stood, Told, VerdictSpan, Window};
use greenlight_core::{Horizon, Name, Reason, Snapshot, Standing, UnixSeconds};

/// The horizons under which everything is held against life.
pub(crate) const HORIZONS: [Horizon; LANES] =
    [Horizon::After(0), Horizon::After(900), Horizon::After(3_600), Horizon::After(86_400), Horizon::Never];
const LANES: usize = 5;

/// What was said at each second of a window. A second names its picture by number; number 0 is that nobody watched.
pub(crate) struct Truth {
    pub(crate) window: Window,
    seconds: Vec<u32>,
    /// Beyond this nothing was said yet.
    written: usize,
    pictures: Vec<Picture>,
    /// The standings of the newest picture, by row and lane, and the snapshot of which it is.
    newest: Vec<Standing>,
    newest_of: u64,
}

/// A board as it was said under each horizon.
#[derive(Debug, Default)]
struct Picture {
    said: Vec<Said>,
    rows: BTreeMap<Name, Pictured>,
}

/// A row's standing under each horizon, and what it said that it served.
type Pictured = ([Option<Standing>; LANES], Option<Arc<str>>);

impl Truth {
    pub(crate) fn of(window: Window) -> Self {
        Self {
            window,
            seconds: vec![0; usize::try_from(window.secs()).unwrap()],
            written: 0,
            pictures: vec![Picture { said: vec![Said::NotWatching; LANES], rows: BTreeMap::new() }],
            newest: Vec::new(),
            newest_of: u64::MAX,
        }
    }

    /// The place of a moment, or that of the nearest one within the window or at its end.
    fn index(&self, moment: UnixSeconds) -> usize {
        usize::try_from(self.window.from.age(moment.min(self.window.to))).unwrap()
    }

    /// Notes what a board says at a second: the verdict by the rule itself, and the names as `/app` lists them.
    /// Snapshots that are the same have the same number.
    pub(crate) fn say(&mut self, now: UnixSeconds, snapshot: &Snapshot, number: u64) {
        if now < self.window.from || now >= self.window.to {
            return;
        }
        if number != self.newest_of {
            self.newest = vec![Standing::NeverGreen; snapshot.len() * LANES];
        }
        let mut is_new = number != self.newest_of;
        let mut newest = self.newest.iter_mut();
        for row in snapshot.rows() {
            for horizon in HORIZONS {
                let (standing, seen) = (row.standing(horizon, now), newest.next().unwrap());
                is_new |= *seen != standing;
                *seen = standing;
            }
        }
        if is_new {
            self.newest_of = number;
            self.pictures.push(picture(now, snapshot));
        }
        let newest = self.pictures.last().unwrap();
        for (horizon, said) in HORIZONS.into_iter().zip(&newest.said) {
            let verdict = snapshot.verdict(horizon, now);
            match said {
                Said::Ready => assert!(verdict.is_ready()),
                Said::NotReady { reason, .. } => assert_eq!(*reason, verdict.reason()),
                Said::NotWatching => unreachable!("life is always watching"),
            }
        }
        let index = self.index(now);
        self.seconds[index] = u32::try_from(self.pictures.len() - 1).unwrap();
        self.written = self.written.max(index + 1);
    }

    /// From a second on nothing is known: nobody is watching, or another life begins.
    pub(crate) fn forget(&mut self, from: UnixSeconds) {
        let from = self.index(from);
        if from < self.written {
            self.seconds[from..self.written].fill(0);
            self.written = from;
        }
    }

    /// How many seconds under a horizon something was said of.
    pub(crate) fn secs(&self, lane: usize, wanted: impl Fn(&Said) -> bool) -> u64 {
        self.seconds.iter().filter(|picture| wanted(&self.pictures[**picture as usize].said[lane])).count() as u64
    }

    /// Holds every span against what was said, and sees that nothing that was said is missing.
    #[track_caller]
    pub(crate) fn check(&self, told: &[Told]) {
        let mut ends = [self.window.from; LANES];
        let mut last: [Option<&Said>; LANES] = [None; LANES];
        let mut stood: BTreeMap<(&Name, usize), UnixSeconds> = BTreeMap::new();
        let mut watched = 0;
        for told in told {
            match told {
                Told::Verdict(span) => {
                    assert_eq!(span.from, ends[span.lane], "spans follow each other without holes: {span:?}");
                    assert_ne!(last[span.lane], Some(&span.said), "a span ends where something else is said: {span:?}");
                    self.check_verdict(span);
                    (ends[span.lane], last[span.lane]) = (span.to, Some(&span.said));
                }
                Told::Standing(span) => {
                    let end = stood.insert((&span.name, span.lane), span.to);
                    assert!(end.is_none_or(|end| end <= span.from), "two spans at once: {span:?}");
                    self.check_standing(span);
                    watched += if span.stood == Stood::NotWatching { 0 } else { span.from.age(span.to) };
                }
                Told::Difference(span) => {
                    let rows: Vec<&Name> = span.rows.names.iter().collect();
                    for picture in self.pictures(span.from, span.to) {
                        assert_eq!(picture.said[span.ready], Said::Ready);
                        let vetoes = |(name, (standings, _)): (&Name, &Pictured)| {
                            assert_ne!(standings[span.ready], Some(Standing::LiveDegraded));
                            (standings[span.not_ready] == Some(Standing::LiveDegraded)).then(|| name.clone())
                        };
                        let mut names: Vec<Name> = picture.rows.iter().filter_map(vetoes).collect();
                        let mut told: Vec<Name> = rows.iter().map(|name| (*name).clone()).collect();
                        names.sort();
                        told.sort();
                        assert_eq!(told, names, "{span:?}");
                    }
                }
            }
        }
        assert_eq!(ends, [self.window.to; LANES], "the spans of each horizon fill the window");
        let lived: usize = self.seconds.iter().map(|picture| self.pictures[*picture as usize].rows.len()).sum();
        assert_eq!(watched, (lived * LANES) as u64, "every second of every row is told, under each horizon");
    }

    /// What was said in these seconds, without repetitions.
    fn pictures(&self, from: UnixSeconds, to: UnixSeconds) -> impl Iterator<Item = &Picture> {
        assert!(from < to, "a span is never empty");
        let seconds = &self.seconds[self.index(from)..self.index(to)];
        seconds.chunk_by(|one, other| one == other).map(|run| &self.pictures[run[0] as usize])
    }

    #[track_caller]
    fn check_verdict(&self, span: &VerdictSpan) {
        for picture in self.pictures(span.from, span.to) {
            assert_eq!(span.said, picture.said[span.lane], "under {:?}, in {span:?}", HORIZONS[span.lane]);
        }
    }

    #[track_caller]
    fn check_standing(&self, span: &StandingSpan) {
        for picture in self.pictures(span.from, span.to) {
            match span.stood {
                Stood::As(standing) => {
                    let (standings, sha) = &picture.rows[&span.name];
                    assert_eq!((standings[span.lane], sha), (Some(standing), &span.serving_sha), "{span:?}");
                }
                Stood::NotWatching => assert_eq!(picture.said[span.lane], Said::NotWatching, "{span:?}"),
            }
        }
    }
}

fn picture(now: UnixSeconds, snapshot: &Snapshot) -> Picture {
    let blame = |horizon, wanted: &[Standing]| {
        let blamed = snapshot.rows().filter(|row| wanted.contains(&row.standing(horizon, now)));
        let mut names: Vec<Name> = blamed.map(|row| row.name().clone()).collect();
        let more = names.len().saturating_sub(MAX_BLAMED) as u64;
        names.truncate(MAX_BLAMED);
        Blame { names: names.into(), more }
    };
    let said = HORIZONS.map(|horizon| match snapshot.verdict(horizon, now).reason() {
        Reason::Ready => Said::Ready,
        reason @ Reason::LiveDegraded => Said::NotReady { reason, blame: blame(horizon, &[Standing::LiveDegraded]) },
        reason @ Reason::NothingServing => {
            let blame = blame(horizon, &[Standing::LiveDegraded, Standing::StaleDegraded]);
            Said::NotReady { reason, blame }
        }
    });
    let rows = snapshot.rows().map(|row| {
        let standings = HORIZONS.map(|horizon| Some(row.standing(horizon, now)));
        (row.name().clone(), (standings, row.held.row.serving_sha.as_deref().map(Into::into)))
    });
    Picture { said: said.into(), rows: rows.collect() }
}
