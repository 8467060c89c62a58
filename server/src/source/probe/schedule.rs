//! When a member is asked: at once, then at fixed moments that nothing drifts.

use std::time::Duration;

/// The due times of one member, as time since it was begun with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Schedule {
    every: Duration,
    second: Duration,
}

impl Schedule {
    /// The first is due at once; the second, from which on all stand `every` apart, between half a period and one and
    /// a half later. `jitter` says where between, in 65536ths, so that members do not all come due together.
    pub(super) fn new(every: Duration, jitter: u16) -> Self {
        let second = every / 2 + every * u32::from(jitter) / (u32::from(u16::MAX) + 1);
        Self { every, second }
    }

    /// The first due time after `now`: those up to it are met or missed, and are not made up for.
    pub(super) fn next_after(&self, now: Duration) -> Duration {
        match now.checked_sub(self.second) {
            None => self.second,
            Some(since) => {
                let met = since.as_nanos() / self.every.as_nanos().max(1);
                let more = u32::try_from(met + 1).unwrap_or(u32::MAX);
                self.second.saturating_add(self.every.saturating_mul(more))
            }
        }
    }
}

/// Where in its first period a member stands: evenly apart, from a start that is another for each daemon.
pub(super) fn jitter(number: u64, start: u16) -> u16 {
    // Multiples of the golden ratio fall evenly between one another, however many there are.
    let [high, low, ..] = number.wrapping_mul(0x9E37_79B9_7F4A_7C15).to_be_bytes();
    u16::from_be_bytes([high, low]).wrapping_add(start)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    #[test]
    fn due_times_are_exact_multiples_from_the_second_on() {
        let schedule = Schedule::new(ms(1000), 1 << 15);
        let mut due = vec![schedule.next_after(ms(0))];
        for _ in 0..3 {
            due.push(schedule.next_after(due[due.len() - 1]));
        }
        assert_eq!(due, [1000, 2000, 3000, 4000].map(ms));
    }

    #[test]
    fn due_times_met_while_a_probe_is_undecided_are_skipped() {
        let schedule = Schedule::new(ms(100), 1 << 15);
        assert_eq!(schedule.next_after(ms(99)), ms(100));
        assert_eq!(schedule.next_after(ms(100)), ms(200));
        assert_eq!(schedule.next_after(ms(199)), ms(200));
        assert_eq!(schedule.next_after(ms(557)), ms(600));
    }

    #[test]
    fn the_second_probe_comes_half_a_period_to_one_and_a_half_after_the_first() {
        for number in 0..1000 {
            let schedule = Schedule::new(ms(1000), jitter(number, 4711));
            let second = schedule.next_after(Duration::ZERO);
            assert!((ms(500)..ms(1500)).contains(&second), "{second:?}");
        }
    }

    #[test]
    fn a_thousand_members_fall_evenly_into_the_period() {
        let mut tenths = [0; 10];
        for number in 0..1000 {
            let place = usize::from(jitter(number, 99)) * 10 / 65536;
            tenths[place] += 1;
        }
        assert!(tenths.iter().all(|count| (95..=105).contains(count)), "{tenths:?}");
    }
}
