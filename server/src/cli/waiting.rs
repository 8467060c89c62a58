//! The decision of `greenlight wait`: from the rows that are seen one after another, whether the build serves, will
//! not, or is still to be waited for. It knows no time.

use std::collections::BTreeSet;

use serde::Deserialize;

/// What of a row the decision looks at.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub(crate) struct SeenRow {
    /// What it serves.
    #[serde(default)]
    pub(crate) serving_sha: Option<String>,
    /// The newest build that served.
    #[serde(default)]
    pub(crate) last_green: Option<String>,
    /// The newest failure.
    #[serde(default)]
    pub(crate) last_red_sha: Option<String>,
    /// Why it failed.
    #[serde(default)]
    pub(crate) last_red_reason: Option<String>,
    /// The newest build that waits.
    #[serde(default)]
    pub(crate) pending_sha: Option<String>,
    /// Whether somebody vouches for the row. A claim to serve that nobody vouches for counts for nothing; a failure
    /// is a thing of the past, and no silence undoes it.
    #[serde(skip)]
    pub(crate) confirmed: bool,
}

/// What a row says of the build that is waited for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Sight {
    /// It serves, and somebody vouches for that.
    Serves,
    /// It is the newest failure, and it is not being tried again.
    Red {
        /// Why, where the source said so.
        reason: Option<String>,
    },
    /// Another build, that was not there when the wait began, serves, and nothing is pending.
    Superseded {
        /// That build.
        by: String,
    },
    /// Nothing is decided, and why.
    NotYet(NotYet),
}

/// Why nothing is decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NotYet {
    /// There is no such row.
    Absent,
    /// The row says that the build serves, and nobody vouches for it.
    Unconfirmed,
    /// It is waiting for its turn, for the first time or again.
    Pending,
    /// Another serves, or none.
    Other {
        /// What serves.
        serving: Option<String>,
        /// What waits.
        pending: Option<String>,
    },
}

/// A wait for one build of one instance.
#[derive(Debug)]
pub(crate) struct Waiting {
    sha: String,
    /// The builds that served, or had served, before the wait could have missed anything: until the row was first
    /// seen with somebody vouching for it. One of these that serves again supersedes nothing.
    old: BTreeSet<String>,
    has_seen_confirmed: bool,
    /// The newest build that came to serve since.
    came: Option<String>,
}

impl Waiting {
    /// A wait for a build, by its sha or a prefix of it.
    pub(crate) fn new(sha: &str) -> Self {
        Self { sha: sha.into(), old: BTreeSet::new(), has_seen_confirmed: false, came: None }
    }

    /// Takes in the row as it is now, `None` where there is none, and decides.
    pub(crate) fn observe(&mut self, row: Option<&SeenRow>) -> Sight {
        let Some(row) = row else { return Sight::NotYet(NotYet::Absent) };
        self.remember(row);
        let is_it = |sha: &Option<String>| sha.as_deref().is_some_and(|sha| same_build(sha, &self.sha));
        if is_it(&row.serving_sha) {
            return if row.confirmed { Sight::Serves } else { Sight::NotYet(NotYet::Unconfirmed) };
        }
        if is_it(&row.pending_sha) {
            return Sight::NotYet(NotYet::Pending);
        }
        if is_it(&row.last_red_sha) {
            return Sight::Red { reason: row.last_red_reason.clone() };
        }
        match (&self.came, &row.pending_sha) {
            (Some(by), None) => Sight::Superseded { by: by.clone() },
            (Some(_) | None, _) => {
                Sight::NotYet(NotYet::Other { serving: row.serving_sha.clone(), pending: row.pending_sha.clone() })
            }
        }
    }

    fn remember(&mut self, row: &SeenRow) {
        if !self.has_seen_confirmed {
            self.old.extend([&row.serving_sha, &row.last_green].into_iter().flatten().cloned());
            self.has_seen_confirmed = row.confirmed;
        } else if let Some(serving) = &row.serving_sha
            && row.confirmed
            && !same_build(serving, &self.sha)
            && !self.old.contains(serving)
        {
            self.came = Some(serving.clone());
        }
    }
}

/// Whether two names mean one build: they are equal, or one begins with the other, which then has
/// [`SHORTEST_PREFIX`] characters or more.
pub(crate) fn same_build(one: &str, other: &str) -> bool {
    let shorter = one.len().min(other.len());
    one == other || (shorter >= SHORTEST_PREFIX && (one.starts_with(other) || other.starts_with(one)))
}

/// As short as git itself shows a sha.
pub(crate) const SHORTEST_PREFIX: usize = 7;

#[cfg(test)]
mod tests {
    use super::*;

    const SHA: &str = "c0ffee1234567890";
    const OLD: &str = "a1b2c3d4e5f60718";
    const NEW: &str = "0badcafe00112233";

    fn row(serving: Option<&str>, red: Option<&str>, pending: Option<&str>) -> SeenRow {
        SeenRow {
            serving_sha: serving.map(Into::into),
            last_green: serving.map(Into::into),
            last_red_sha: red.map(Into::into),
            last_red_reason: red.map(|_| "exited 1".into()),
            pending_sha: pending.map(Into::into),
            confirmed: true,
        }
    }

    fn unconfirmed(row: SeenRow) -> SeenRow {
        SeenRow { confirmed: false, ..row }
    }

    /// One letter for each sight: S serves, R red, X superseded, `.` not yet.
    fn letter(sight: &Sight) -> char {
        match sight {
            Sight::Serves => 'S',
            Sight::Red { .. } => 'R',
            Sight::Superseded { .. } => 'X',
            Sight::NotYet(_) => '.',
        }
    }

    #[track_caller]
    fn check(rows: &[Option<SeenRow>], expected: &str) {
        let mut waiting = Waiting::new(SHA);
        let seen: String = rows.iter().map(|row| letter(&waiting.observe(row.as_ref()))).collect();
        assert_eq!(seen, expected);
    }

    #[test]
    fn a_build_is_waited_for_until_it_serves() {
        check(
            &[
                None,
                Some(row(Some(OLD), None, None)),
                Some(row(Some(OLD), None, Some(SHA))),
                Some(row(None, None, None)),
                Some(row(Some(SHA), None, None)),
            ],
            "....S",
        );
    }

    #[test]
    fn an_old_build_that_still_serves_is_neither_it_nor_another_one() {
        check(&[Some(row(Some(OLD), None, None)), Some(row(Some(OLD), None, None))], "..");
    }

    #[test]
    fn an_old_build_that_comes_back_supersedes_nothing() {
        let down = SeenRow { last_green: Some(OLD.into()), ..row(None, None, None) };
        check(&[Some(down), Some(row(Some(OLD), None, None))], "..");
    }

    #[test]
    fn an_old_red_of_a_build_that_is_tried_again_is_not_red() {
        check(
            &[
                Some(row(Some(OLD), Some(SHA), Some(SHA))),
                Some(row(Some(OLD), Some(SHA), Some(SHA))),
                Some(row(Some(OLD), Some(SHA), None)),
            ],
            "..R",
        );
    }

    #[test]
    fn a_red_that_was_there_when_the_wait_began_is_red() {
        check(&[Some(row(Some(OLD), Some(SHA), None))], "R");
        check(&[Some(row(Some(OLD), Some(SHA), Some(NEW)))], "R");
    }

    #[test]
    fn a_red_is_red_though_nobody_vouches_for_the_row_any_more() {
        check(&[Some(unconfirmed(row(None, Some(SHA), None)))], "R");
    }

    #[test]
    fn a_row_that_nobody_vouches_for_does_not_serve() {
        check(
            &[
                Some(unconfirmed(row(Some(SHA), None, None))),
                Some(unconfirmed(row(Some(SHA), Some(SHA), None))),
                Some(row(Some(SHA), Some(SHA), None)),
            ],
            "..S",
        );
    }

    #[test]
    fn another_build_that_came_to_serve_supersedes_once_nothing_is_pending() {
        let mut waiting = Waiting::new(SHA);
        waiting.observe(Some(&row(Some(OLD), None, Some(SHA))));
        assert_eq!(waiting.observe(Some(&row(Some(NEW), None, Some(SHA)))), Sight::NotYet(NotYet::Pending));
        let other = NotYet::Other { serving: Some(NEW.into()), pending: Some(OLD.into()) };
        assert_eq!(waiting.observe(Some(&row(Some(NEW), None, Some(OLD)))), Sight::NotYet(other));
        assert_eq!(waiting.observe(Some(&row(Some(NEW), None, None))), Sight::Superseded { by: NEW.into() });
    }

    #[test]
    fn another_build_that_served_before_the_row_was_first_vouched_for_supersedes_nothing() {
        let before_the_restart = unconfirmed(row(Some(OLD), None, None));
        check(&[Some(before_the_restart), Some(row(Some(NEW), None, None)), Some(row(Some(NEW), None, None))], "...");
        check(&[None, Some(row(Some(NEW), None, None)), Some(row(Some(NEW), None, None))], "...");
    }

    #[test]
    fn a_claim_that_nobody_vouches_for_supersedes_nothing() {
        check(&[Some(row(Some(OLD), None, None)), Some(unconfirmed(row(Some(NEW), None, None)))], "..");
    }

    #[test]
    fn a_row_that_goes_and_comes_back_forgets_nothing() {
        check(&[Some(row(Some(OLD), None, None)), None, Some(row(Some(NEW), None, None))], "..X");
    }

    #[test]
    fn a_prefix_of_seven_means_the_same_build_either_way_round() {
        assert!(same_build("c0ffee1", SHA) && same_build(SHA, "c0ffee1"));
        assert!(!same_build("c0ffee", SHA) && !same_build(SHA, "c0ffee"));
        assert!(!same_build("c0ffee2", SHA));
        assert!(same_build("v2", "v2") && !same_build("v2", "v21"));
        assert!(!same_build("", SHA));
        check(&[Some(row(Some("c0ffee1"), None, None))], "S");
        check(&[Some(row(None, Some("c0ffee1"), None))], "R");
        check(&[Some(row(None, Some("c0ffee1"), Some("c0ffee123")))], ".");
    }

    /// Every row that can follow the sight of an old build, against the three sentences of the manual.
    #[test]
    fn every_second_row_is_decided_as_the_manual_says() {
        let builds = [None, Some(SHA), Some(OLD), Some(NEW)];
        let mut count = 0;
        for serving in builds {
            for red in builds {
                for pending in builds {
                    for confirmed in [true, false] {
                        let mut waiting = Waiting::new(SHA);
                        waiting.observe(Some(&row(Some(OLD), None, None)));
                        let second = SeenRow { confirmed, ..row(serving, red, pending) };
                        let expected = if serving == Some(SHA) {
                            if confirmed { 'S' } else { '.' }
                        } else if red == Some(SHA) && pending != Some(SHA) {
                            'R'
                        } else if serving == Some(NEW) && confirmed && pending.is_none() {
                            'X'
                        } else {
                            '.'
                        };
                        assert_eq!(letter(&waiting.observe(Some(&second))), expected, "{second:?}");
                        count += 1;
                    }
                }
            }
        }
        assert_eq!(count, 128);
    }
}
