//! Sections 2 and 3 of the design once more, word by word: a list of rows, every answer by looking at each of
//! them, no summary and no index. Written from the design's text; it shares only the types of what goes in and
//! what comes out with the crate under test.

use greenlight_core::{Extent, Flip, GoodFor, Horizon, Name, Reason, Report, ReportedRow, Standing, UnixSeconds};

const LARGEST: u64 = (1 << 53) - 1;
const THIRTY_DAYS: u64 = 30 * 24 * 60 * 60;

/// The state of the daemon.
#[derive(Clone, Debug)]
pub(crate) struct Naive {
    pub(crate) rows: Vec<Line>,
    pub(crate) gone: Vec<Gone>,
    /// Source, its last report, its last sequence.
    pub(crate) sources: Vec<(String, u64, Option<u64>)>,
    /// The restart after which nobody has reported, if rows were on the board.
    pub(crate) unreported_since: Option<u64>,
    pub(crate) limit: usize,
}

/// One row with everything that is known of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) name: String,
    pub(crate) facts: Facts,
    pub(crate) route: Vec<String>,
    pub(crate) source: String,
    pub(crate) stamp: u64,
    pub(crate) stored_stamp: u64,
    pub(crate) last_report: u64,
    pub(crate) good_for: GoodFor,
    pub(crate) good_until: Option<u64>,
}

/// One row that was removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Gone {
    pub(crate) name: String,
    pub(crate) facts: Facts,
    pub(crate) stamp: u64,
    pub(crate) stored_stamp: u64,
    pub(crate) removed: u64,
    pub(crate) stored_removed: u64,
}

/// Every field that counts for the change test, written out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Facts {
    pub(crate) serves: bool,
    pub(crate) was_green: bool,
    pub(crate) fields: Vec<String>,
}

/// What an operation did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Did {
    pub(crate) changed: Vec<String>,
    pub(crate) touched: Vec<String>,
    pub(crate) removed: Vec<String>,
    pub(crate) forgotten: Vec<String>,
    pub(crate) confirmed_again: Vec<String>,
}

pub(crate) fn facts_of(row: &ReportedRow) -> Facts {
    let mut files: Vec<String> = row.last_red_files.iter().flatten().map(ToString::to_string).collect();
    files.sort();
    files.dedup();
    Facts {
        serves: row.serving_sha.is_some(),
        was_green: row.last_green.is_some(),
        fields: vec![
            row.phase.as_deref().unwrap_or("idle").to_string(),
            format!("{:?}", row.serving_sha),
            format!("{:?}", row.last_green),
            format!("{:?}", row.last_red_sha),
            format!("{:?}", row.last_red_reason),
            format!("{files:?}"),
            format!("{:?}", row.pending_sha),
            row.draining.unwrap_or(0).to_string(),
        ],
    }
}

fn route_of(row: &ReportedRow) -> Vec<String> {
    vec![format!("{:?}", row.proxy_port), format!("{:?}", row.public_host), format!("{:?}", row.expires_at)]
}

fn breaks_a_limit(row: &ReportedRow) -> bool {
    let long = |text: &Option<Box<str>>| text.as_ref().is_some_and(|text| text.len() > 1024);
    let large = |integer: Option<u64>| integer.is_some_and(|integer| integer > LARGEST);
    let mut files: Vec<&str> = row.last_red_files.iter().flatten().map(|file| &**file).collect();
    files.sort_unstable();
    files.dedup();
    row.name.is_empty()
        || row.name.len() > 253
        || row.name.chars().any(|c| c.is_whitespace() || c.is_control() || "\u{200b}\u{202e}\u{feff}".contains(c))
        || row.name.split('/').any(|part| part.is_empty() || part == "." || part == "..")
        || long(&row.phase)
        || long(&row.serving_sha)
        || long(&row.last_green)
        || long(&row.last_red_sha)
        || long(&row.pending_sha)
        || long(&row.public_host)
        || files.iter().any(|file| file.len() > 1024)
        || files.len() > 1000
        || large(row.draining)
        || large(row.proxy_port)
        || large(row.expires_at)
        || large(row.idle_secs)
}

impl Naive {
    pub(crate) fn holding_at_most(limit: usize) -> Self {
        Self { rows: Vec::new(), gone: Vec::new(), sources: Vec::new(), unreported_since: None, limit }
    }

    fn line(&self, name: &str) -> Option<usize> {
        self.rows.iter().position(|line| line.name == name)
    }

    fn last_sequence(&self, source: &str) -> Option<u64> {
        self.sources.iter().find(|(known, _, _)| known == source).and_then(|(_, _, sequence)| *sequence)
    }

    /// Gives every reason that there is to refuse, in no order.
    pub(crate) fn report(&mut self, report: &Report, now: u64) -> Result<Did, Vec<&'static str>> {
        let source = report.source.as_str();
        let mut against = Vec::new();
        if report
            .sequence
            .is_some_and(|got| got > LARGEST || self.last_sequence(source).is_some_and(|last| got <= last))
        {
            against.push("sequence");
        }
        let mut names: Vec<&str> = Vec::new();
        for row in &report.rows {
            if breaks_a_limit(row) {
                against.push("row");
            }
            if names.contains(&&*row.name) {
                against.push("duplicate");
            }
            names.push(&row.name);
            if let Some(place) = self.line(&row.name) {
                let line = &self.rows[place];
                if line.source != source && line.is_confirmed(now) {
                    against.push("held");
                }
            }
        }
        let stays = |line: &&Line| match report.extent {
            Extent::Full => line.source != source || names.contains(&line.name.as_str()),
            Extent::Partial => true,
        };
        let new = names.iter().filter(|name| self.line(name).is_none()).count();
        if names.len() > self.limit || self.rows.iter().filter(stays).count() + new > self.limit {
            against.push("rows");
        }
        if !against.is_empty() {
            return Err(against);
        }

        let mut did = Did::default();
        self.forget_what_is_too_old(now, &mut did);
        for row in &report.rows {
            self.take_in(row, report, now, &mut did);
        }
        if report.extent == Extent::Full {
            let (stay, go) = self.rows.drain(..).partition(|line| stays(&line));
            self.rows = stay;
            self.remember(go, now, &mut did);
        }
        self.forget_what_is_too_much(&mut did);
        let sequence = report.sequence.or(self.last_sequence(source));
        self.sources.retain(|(known, _, _)| known != source);
        self.sources.push((source.to_string(), now, sequence));
        self.unreported_since = None;
        Ok(did)
    }

    fn take_in(&mut self, row: &ReportedRow, report: &Report, now: u64, did: &mut Did) {
        let good_until = match report.good_for {
            GoodFor::Seconds(secs) => Some(now.saturating_add(secs).min(LARGEST)),
            GoodFor::UntilRestart | GoodFor::Forever => None,
        };
        let lapsed_at = row.lapsed_secs.map(|secs| now.saturating_sub(secs));
        let name = row.name.to_string();
        let source = report.source.to_string();
        let (facts, route) = (facts_of(row), route_of(row));
        if let Some(place) = self.line(&name) {
            let line = &mut self.rows[place];
            let was_confirmed = line.is_confirmed(now);
            if line.facts != facts {
                line.stamp = now;
                line.stored_stamp = now;
                did.changed.push(name.clone());
            } else if line.route != route || line.source != source {
                did.touched.push(name.clone());
            }
            line.facts = facts;
            line.route = route;
            line.source = source;
            match lapsed_at {
                None => {
                    line.last_report = now;
                    line.good_for = report.good_for;
                    line.good_until = good_until;
                }
                Some(lapsed) => line.good_until = Some(line.good_until.unwrap_or(lapsed).min(lapsed)),
            }
            if line.is_confirmed(now) && !was_confirmed {
                did.confirmed_again.push(name);
            }
        } else {
            let remembered = self.gone.iter().position(|gone| gone.name == name).map(|place| self.gone.remove(place));
            let (stamp, stored_stamp) = match &remembered {
                Some(gone) if gone.facts == facts => (gone.stamp, gone.stored_stamp),
                Some(_) => (now, now),
                None => {
                    let stamp = now.saturating_sub(row.idle_secs.unwrap_or(0));
                    (stamp, stamp)
                }
            };
            if remembered.is_some() {
                did.forgotten.push(name.clone());
            }
            did.changed.push(name.clone());
            self.rows.push(Line {
                name,
                facts,
                route,
                source,
                stamp,
                stored_stamp,
                last_report: now,
                good_for: report.good_for,
                good_until: lapsed_at.or(good_until),
            });
        }
    }

    /// Gives what there is against it.
    pub(crate) fn remove(&mut self, source: &str, name: &str, now: u64) -> Result<Did, Vec<&'static str>> {
        let place = self.line(name).ok_or(vec!["unknown"])?;
        if self.rows[place].source != source {
            return Err(vec!["of another"]);
        }
        let mut did = Did::default();
        self.forget_what_is_too_old(now, &mut did);
        let line = self.rows.remove(place);
        self.remember(vec![line], now, &mut did);
        self.forget_what_is_too_much(&mut did);
        Ok(did)
    }

    pub(crate) fn remove_source(&mut self, source: &str, now: u64) -> Did {
        let mut did = Did::default();
        self.forget_what_is_too_old(now, &mut did);
        let (go, stay) = self.rows.drain(..).partition(|line| line.source == source);
        self.rows = stay;
        self.remember(go, now, &mut did);
        self.forget_what_is_too_much(&mut did);
        did
    }

    fn remember(&mut self, lines: Vec<Line>, now: u64, did: &mut Did) {
        for line in lines {
            did.removed.push(line.name.clone());
            self.gone.push(Gone {
                name: line.name,
                facts: line.facts,
                stamp: line.stamp,
                stored_stamp: line.stored_stamp,
                removed: now,
                stored_removed: now,
            });
        }
    }

    fn forget_what_is_too_old(&mut self, now: u64, did: &mut Did) {
        let too_old = |gone: &Gone| now.saturating_sub(gone.removed) >= THIRTY_DAYS;
        did.forgotten.extend(self.gone.iter().filter(|gone| too_old(gone)).map(|gone| gone.name.clone()));
        self.gone.retain(|gone| !too_old(gone));
    }

    fn forget_what_is_too_much(&mut self, did: &mut Did) {
        while self.gone.len() > self.limit {
            let mut oldest = 0;
            for place in 1..self.gone.len() {
                let (one, other) = (&self.gone[place], &self.gone[oldest]);
                // Of those removed at one moment, the first by name.
                if (one.removed, &one.name) < (other.removed, &other.name) {
                    oldest = place;
                }
            }
            did.forgotten.push(self.gone.remove(oldest).name);
        }
    }

    /// What the daemon knows after it was stopped, and started again at `now` from what it had stored.
    pub(crate) fn restart(&mut self, now: u64) {
        for line in &mut self.rows {
            line.good_until = match line.good_for {
                GoodFor::Forever => line.good_until,
                GoodFor::Seconds(_) | GoodFor::UntilRestart => Some(line.good_until.unwrap_or(now).min(now)),
            };
            line.stamp = line.stored_stamp.min(now);
        }
        for gone in &mut self.gone {
            gone.stamp = gone.stored_stamp.min(now);
            gone.removed = gone.stored_removed.min(now);
        }
        self.sources.clear();
        self.unreported_since = if self.rows.is_empty() { None } else { Some(now) };
    }

    pub(crate) fn is_ready(&self, horizon: Horizon, now: u64) -> bool {
        self.reason(horizon, now) == Reason::Ready
    }

    pub(crate) fn reason(&self, horizon: Horizon, now: u64) -> Reason {
        let some = |standing| self.rows.iter().any(|line| line.standing(horizon, now) == standing);
        if !some(Standing::Serving) {
            Reason::NothingServing
        } else if some(Standing::LiveDegraded) {
            Reason::LiveDegraded
        } else {
            Reason::Ready
        }
    }

    /// The live degraded row that blocks longest, the first of such on the board.
    pub(crate) fn blocking(&self, horizon: Horizon, now: u64) -> Option<&Line> {
        if self.reason(horizon, now) != Reason::LiveDegraded {
            return None;
        }
        let mut longest: Option<&Line> = None;
        for line in &self.rows {
            if line.standing(horizon, now) == Standing::LiveDegraded
                && longest.is_none_or(|longest| line.since(now) > longest.since(now))
            {
                longest = Some(line);
            }
        }
        longest
    }

    pub(crate) fn names(&self, standing: Standing, horizon: Horizon, now: u64) -> Vec<String> {
        self.rows.iter().filter(|line| line.standing(horizon, now) == standing).map(|line| line.name.clone()).collect()
    }

    pub(crate) fn unconfirmed(&self, now: u64) -> Vec<String> {
        self.rows.iter().filter(|line| !line.is_confirmed(now)).map(|line| line.name.clone()).collect()
    }

    pub(crate) fn next_lapse(&self, now: u64) -> Option<u64> {
        self.rows.iter().filter_map(|line| line.good_until).filter(|until| *until > now).min()
    }

    /// Every moment at which anything can change by time alone: the ends of reports, and a horizon after each
    /// of those and after each stamp.
    pub(crate) fn moments(&self, horizon: Horizon) -> Vec<u64> {
        let mut moments = Vec::new();
        for line in &self.rows {
            moments.extend(line.good_until);
            if let Horizon::After(secs) = horizon {
                moments.push(line.stamp.saturating_add(secs).min(LARGEST));
                moments.extend(line.good_until.map(|until| until.saturating_add(secs).min(LARGEST)));
            }
        }
        moments.sort_unstable();
        moments.dedup();
        moments
    }

    /// The flips after `now` among `moments`, each judged against the second before it.
    pub(crate) fn flips(&self, moments: impl IntoIterator<Item = u64>, horizon: Horizon, now: u64) -> Vec<Flip> {
        let mut flips = Vec::new();
        for at in moments.into_iter().filter(|at| *at > now) {
            let ready = self.is_ready(horizon, at);
            if ready == self.is_ready(horizon, at - 1) {
                continue;
            }
            let stopped_being = if ready { Standing::LiveDegraded } else { Standing::Serving };
            let because = self.rows.iter().find(|line| {
                line.standing(horizon, at - 1) == stopped_being && line.standing(horizon, at) != stopped_being
            });
            let because = because.unwrap_or_else(|| panic!("no row explains the flip at {at} of {self:#?}"));
            flips.push(Flip {
                at_unix: UnixSeconds::new(at),
                ready,
                because: Name::of_instance(&because.name).unwrap(),
            });
        }
        flips.truncate(32);
        flips
    }
}

impl Line {
    pub(crate) fn is_confirmed(&self, now: u64) -> bool {
        match self.good_until {
            None => true,
            Some(until) => now < until,
        }
    }

    pub(crate) fn since(&self, now: u64) -> u64 {
        match self.good_until {
            Some(until) if self.facts.serves && !self.is_confirmed(now) => self.stamp.max(until),
            _ => self.stamp,
        }
    }

    pub(crate) fn standing(&self, horizon: Horizon, now: u64) -> Standing {
        if self.facts.serves && self.is_confirmed(now) {
            Standing::Serving
        } else if !self.facts.was_green {
            Standing::NeverGreen
        } else if is_live(now.saturating_sub(self.since(now)), horizon) {
            Standing::LiveDegraded
        } else {
            Standing::StaleDegraded
        }
    }

    pub(crate) fn is_stale(&self, horizon: Horizon, now: u64) -> bool {
        !is_live(now.saturating_sub(self.stamp), horizon)
    }

    pub(crate) fn ages_out(&self, horizon: Horizon, now: u64) -> Option<u64> {
        match (self.standing(horizon, now), horizon) {
            (Standing::LiveDegraded, Horizon::After(secs)) => Some(self.since(now).saturating_add(secs).min(LARGEST)),
            _ => None,
        }
    }
}

fn is_live(age: u64, horizon: Horizon) -> bool {
    match horizon {
        Horizon::After(secs) => age < secs,
        Horizon::Never => true,
    }
}
