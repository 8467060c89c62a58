//! One way to put things in order, whatever they are: a sort for each type of element would weigh more in the page than
//! the rules that need it.

use alloc::vec::Vec;

use super::record::{Record, Tick};

/// The places `0..length` in order of their keys, those of one key as they stand. Takes O(n) where they are in order
/// already, O(n log n) else.
pub(super) fn in_order(length: usize, key: &dyn Fn(usize) -> i64) -> Vec<usize> {
    let mut all: Vec<(i64, usize)> = Vec::with_capacity(length);
    for place in 0..length {
        all.push((key(place), place));
    }
    // Equal keys are told apart by their places, so that an unstable sort keeps them as they stand.
    all.sort_unstable();
    let mut places = Vec::with_capacity(length);
    for (_, place) in all {
        places.push(place);
    }
    places
}

/// These in order.
pub(super) fn sorted(all: &[i64]) -> Vec<i64> {
    let of = |place| all.get(place).copied().unwrap_or(0);
    let mut sorted = Vec::with_capacity(all.len());
    for place in in_order(all.len(), &of) {
        sorted.push(of(place));
    }
    sorted
}

/// The ticks that count, in order of their numbers.
pub(super) fn ticks_by_number<'a>(record: &'a Record, counts: &dyn Fn(&Tick) -> bool) -> Vec<&'a Tick> {
    let mut all = Vec::new();
    for tick in record.told_ticks() {
        if counts(tick) {
            all.push(tick);
        }
    }
    let number = |place: usize| all.get(place).map_or(0, |tick| i64::try_from(tick.tick).unwrap_or(i64::MAX));
    let mut ordered = Vec::with_capacity(all.len());
    for place in in_order(all.len(), &number) {
        if let Some(tick) = all.get(place) {
            ordered.push(*tick);
        }
    }
    ordered
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_short_list_is_put_in_order_and_equals_stay_as_they_stand() {
        for length in 0_u32..6 {
            for number in 0..4_u32.pow(length) {
                let keys: Vec<i64> = (0..length).map(|place| i64::from(number >> (2 * place) & 3)).collect();
                let mut expected: Vec<usize> = (0..keys.len()).collect();
                expected.sort_by_key(|place| keys[*place]);
                assert_eq!(in_order(keys.len(), &|place| keys[place]), expected, "{keys:?}");
            }
        }
        let falling: Vec<usize> = in_order(1000, &|place| -i64::try_from(place).unwrap_or(0));
        assert_eq!(falling, (0..1000).rev().collect::<Vec<_>>());
        assert!(in_order(0, &|_| 0).is_empty());
    }
}
