//! When a member is asked: at once, then at fixed moments that nothing drifts.

use std::time::Duration;

/// The due times of one member, as time since the prober began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Schedule {
    every: Duration,
    first: Duration,
}

impl Schedule {
    /// Due times stand `every` apart. `jitter` says where in the period, in 65536ths, so that members do not all come
    /// due together; what falls within the same [`SLOT`] is asked in one go, which costs far less than one by one.
    pub(super) fn new(every: Duration, jitter: u16) -> Self {
        let slots = u32::try_from(every.as_nanos() / SLOT.as_nanos()).unwrap_or(u32::MAX).max(1);
        let slot = u64::from(slots) * u64::from(jitter) / (u64::from(u16::MAX) + 1);
        Self { every, first: SLOT.saturating_mul(u32::try_from(slot).unwrap_or(u32::MAX)) }
    }

    /// The due time after the probe of a member that was asked at once: half a period later, up to one and a half.
    pub(super) fn second_after(&self, now: Duration) -> Duration {
        self.next_after(now.saturating_add(self.every / 2))
    }

    /// The first due time after `now`: those up to it are met or missed, and are not made up for.
    pub(super) fn next_after(&self, now: Duration) -> Duration {
        match now.checked_sub(self.first) {
            None => self.first,
            Some(since) => {
                let met = since.as_nanos() / self.every.as_nanos().max(1);
                let more = u32::try_from(met + 1).unwrap_or(u32::MAX);
                self.first.saturating_add(self.every.saturating_mul(more))
            }
        }
    }
}

/// Where in its period a member stands: evenly apart, from a start that is another for each daemon.
pub(super) fn jitter(number: u64, start: u16) -> u16 {
    // Multiples of the golden ratio fall evenly between one another, however many there are.
    let [high, low, ..] = number.wrapping_mul(0x9E37_79B9_7F4A_7C15).to_be_bytes();
    u16::from_be_bytes([high, low]).wrapping_add(start)
}

/// Fifty of a thousand members that are asked once a second.
const SLOT: Duration = Duration::from_millis(50);

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    #[test]
    fn due_times_are_exact_multiples() {
        let schedule = Schedule::new(ms(1000), 1 << 15);
        let mut due = vec![schedule.next_after(ms(0))];
        for _ in 0..3 {
            due.push(schedule.next_after(due[due.len() - 1]));
        }
        assert_eq!(due, [500, 1500, 2500, 3500].map(ms));
    }

    #[test]
    fn due_times_met_while_a_probe_is_undecided_are_skipped() {
        let schedule = Schedule::new(ms(100), 0);
        assert_eq!(schedule.next_after(ms(99)), ms(100));
        assert_eq!(schedule.next_after(ms(100)), ms(200));
        assert_eq!(schedule.next_after(ms(199)), ms(200));
        assert_eq!(schedule.next_after(ms(557)), ms(600));
    }

    #[test]
    fn the_second_probe_comes_half_a_period_to_one_and_a_half_after_the_first() {
        for (number, every) in (0..1000).zip([10, 15, 20, 50, 1000, 60_000].into_iter().cycle()) {
            let schedule = Schedule::new(ms(every), jitter(number, 4711));
            let now = ms(number * 37);
            let wait = schedule.second_after(now).saturating_sub(now);
            assert!(wait > ms(every) / 2 && wait <= ms(every) * 3 / 2, "{every}: {wait:?}");
        }
    }

    #[test]
    fn a_thousand_members_fall_evenly_into_the_slots_of_the_period() {
        let mut slots = std::collections::BTreeMap::new();
        for number in 0..1000 {
            let due = Schedule::new(ms(1000), jitter(number, 99)).next_after(ms(1000));
            *slots.entry(due).or_insert(0) += 1;
        }
        assert_eq!(slots.len(), 20);
        assert!(slots.values().all(|count| (48..=52).contains(count)), "{slots:?}");
    }
}
