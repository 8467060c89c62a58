//! Whether a process got a processor when it wanted one, by the system's own account of its threads.
//!
//! A thread that waits for a processor waits for others. As long as those are threads of its own process, that is its
//! own doing; what it waited beyond what all of them ran is the doing of others, and no silence of the process.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use tokio::time::Instant;

/// What the threads of a process, and of those that it started, have run and waited since the first look at them.
#[derive(Debug, Default)]
pub(super) struct Starved {
    began: Option<Instant>,
    threads: BTreeMap<u32, Thread>,
}

/// The system's account of a thread at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Account {
    ran: Duration,
    /// Without the wait that it is in.
    waited: Duration,
    /// How often it got a processor.
    turns: u64,
    wants: Wants,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wants {
    /// It runs, or waits for a processor.
    ToRun,
    /// It waits for something else.
    Nothing,
}

#[derive(Debug)]
struct Thread {
    first: Account,
    newest: Account,
    /// Since when at the latest it has been in the wait that it is in; unless it runs, which the next look tells.
    since: Instant,
    waits: Duration,
}

impl Starved {
    /// Looks at a process, which has this number.
    pub(super) fn look(&mut self, pid: u32, now: Instant) {
        self.note(accounts(Path::new("/proc"), pid), now);
    }

    /// How long a thread of it waited for others at most.
    pub(super) fn by_others(&self) -> Duration {
        let ran: Duration =
            self.threads.values().map(|thread| thread.newest.ran.saturating_sub(thread.first.ran)).sum();
        let waited = self.threads.values().map(|thread| {
            let over = thread.newest.waited.saturating_sub(thread.first.waited);
            over + thread.waits
        });
        waited.max().unwrap_or_default().saturating_sub(ran)
    }

    fn note(&mut self, accounts: impl IntoIterator<Item = (u32, Account)>, now: Instant) {
        let began = *self.began.get_or_insert(now);
        for (id, account) in accounts {
            let thread = self.threads.entry(id).or_insert(Thread {
                first: account,
                newest: account,
                since: now,
                waits: Duration::ZERO,
            });
            let goes_on = account == thread.newest && account.wants == Wants::ToRun;
            if goes_on {
                thread.waits = now.saturating_duration_since(thread.since);
            } else {
                thread.since = now;
                thread.waits = Duration::ZERO;
            }
            // A wait that was over since the first look may have begun long before it.
            let most = thread.first.waited + now.saturating_duration_since(began);
            thread.newest = Account { waited: account.waited.min(most), ..account };
        }
    }
}

/// Of the first threads of a process and of those that it started; none of what has ended meanwhile, or where the
/// system keeps no account.
fn accounts(proc: &Path, pid: u32) -> Vec<(u32, Account)> {
    let mut found = Vec::new();
    let mut pids = vec![pid];
    while let Some(pid) = pids.pop() {
        let Ok(threads) = std::fs::read_dir(proc.join(pid.to_string()).join("task")) else { continue };
        for thread in threads.flatten() {
            if found.len() >= MOST_THREADS {
                return found;
            }
            let Some(id) = thread.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
            found.extend(account(&thread.path()).map(|account| (id, account)));
            // Those that a thread started, where the system tells.
            let children = std::fs::read_to_string(thread.path().join("children")).unwrap_or_default();
            pids.extend(children.split_whitespace().filter_map(|pid| pid.parse::<u32>().ok()));
        }
    }
    found
}

fn account(thread: &Path) -> Option<Account> {
    let schedule = std::fs::read_to_string(thread.join("schedstat")).ok()?;
    let mut numbers = schedule.split_whitespace().map(str::parse::<u64>);
    let mut next = || numbers.next()?.ok();
    let (ran, waited, turns) = (next()?, next()?, next()?);
    let stat = std::fs::read_to_string(thread.join("stat")).ok()?;
    // The name before it may hold anything, also what looks like the end of a name.
    let wants = match stat.rsplit_once(") ")?.1.chars().next()? {
        'R' => Wants::ToRun,
        _ => Wants::Nothing,
    };
    Some(Account { ran: Duration::from_nanos(ran), waited: Duration::from_nanos(waited), turns, wants })
}

/// A service with more of them is seen well enough by these.
const MOST_THREADS: usize = 256;

#[cfg(test)]
mod tests {
    use super::*;

    fn account(ran_ms: u64, waited_ms: u64, turns: u64, wants: Wants) -> Account {
        Account { ran: Duration::from_millis(ran_ms), waited: Duration::from_millis(waited_ms), turns, wants }
    }

    /// What is found after looks at these times.
    fn starved(looks: &[(u64, &[Account])]) -> u128 {
        let start = crate::clock::instant();
        let mut starved = Starved::default();
        for (at_ms, accounts) in looks {
            starved.note((1..).zip(accounts.iter().copied()), start + Duration::from_millis(*at_ms));
        }
        starved.by_others().as_millis()
    }

    #[test]
    fn one_that_waits_for_something_else_is_not_starved() {
        let idle = account(5, 7, 3, Wants::Nothing);
        assert_eq!(starved(&[]), 0);
        assert_eq!(starved(&[(0, &[idle]), (50, &[idle]), (200, &[idle])]), 0);
    }

    #[test]
    fn a_wait_that_is_over_counts_and_so_does_one_that_is_not() {
        let idle = account(5, 7, 3, Wants::Nothing);
        assert_eq!(starved(&[(0, &[idle]), (200, &[account(6, 127, 4, Wants::Nothing)])]), 119);
        let wants = account(5, 7, 3, Wants::ToRun);
        assert_eq!(starved(&[(0, &[idle]), (50, &[wants]), (100, &[wants]), (200, &[wants])]), 150);
        // It got one, and waits again.
        let again = account(6, 107, 4, Wants::ToRun);
        assert_eq!(starved(&[(0, &[wants]), (110, &[again]), (150, &[again])]), 100 - 1 + 40);
    }

    #[test]
    fn one_that_runs_does_not_wait() {
        let looks = [0, 50, 100].map(|at| (at, [account(at, 0, 1, Wants::ToRun)]));
        assert_eq!(starved(&looks.each_ref().map(|(at, accounts)| (*at, &accounts[..]))), 0);
    }

    #[test]
    fn threads_that_wait_for_each_other_are_their_own_doing() {
        let (one, other) = (account(0, 0, 1, Wants::ToRun), account(0, 0, 1, Wants::ToRun));
        let (ran, waited) = (account(200, 0, 1, Wants::ToRun), account(0, 200, 2, Wants::ToRun));
        assert_eq!(starved(&[(0, &[one, other]), (200, &[ran, waited])]), 0);
    }

    #[test]
    fn a_wait_from_before_the_first_look_counts_from_there() {
        let before = account(5, 0, 3, Wants::ToRun);
        assert_eq!(starved(&[(0, &[before]), (40, &[account(5, 9_000, 4, Wants::Nothing)])]), 40);
    }

    #[test]
    fn the_system_tells_of_this_very_process() {
        let mut starved = Starved::default();
        starved.look(std::process::id(), crate::clock::instant());
        assert!(starved.threads.values().any(|thread| thread.first.turns > 0), "{starved:?}");
        assert!(accounts(Path::new("/proc"), u32::MAX).is_empty());
    }
}
