//! A sorted list that stays quick when it is long: pieces of a few dozen places, so that a place that comes or goes
//! moves no more than those of its piece.
//!
//! Where an ordered set of the standard library would do the same, it would weigh more in the page than the sweep that
//! uses it.

use alloc::vec::Vec;
use core::cmp::Ordering;
use core::mem::{replace, swap};

/// Something that comes first, and a place in the past.
pub(crate) type Key = (u64, usize);

/// Keys in order. By which order is for the caller to know, who gives the same one each time.
///
/// Invariant: no piece is empty, and none is longer than [`PIECE`].
#[derive(Clone, Debug, Default)]
pub(crate) struct Sorted {
    pieces: Vec<Vec<Key>>,
    len: usize,
}

/// Where a key stands, or would stand: which piece, and where in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Spot(usize, usize);

impl Sorted {
    /// Where the key is that `compare` calls equal, or else where it would be; `compare` tells how a key stands to the
    /// wanted one.
    pub(crate) fn seek(&self, compare: impl Fn(&Key) -> Ordering) -> Result<Spot, Spot> {
        // The last piece that does not begin behind it.
        let mut piece: usize = 0;
        let mut beyond = self.pieces.len();
        while piece.saturating_add(1) < beyond {
            let middle = piece.midpoint(beyond);
            let begins_behind =
                self.pieces.get(middle).and_then(|keys| keys.first()).is_some_and(|first| compare(first).is_gt());
            if begins_behind {
                beyond = middle;
            } else {
                piece = middle;
            }
        }
        let keys = self.pieces.get(piece).map_or(&[][..], Vec::as_slice);
        let (mut from, mut to): (usize, usize) = (0, keys.len());
        while from < to {
            let middle = from.midpoint(to);
            match keys.get(middle).map_or(Ordering::Greater, &compare) {
                Ordering::Less => from = middle.saturating_add(1),
                Ordering::Equal => return Ok(Spot(piece, middle)),
                Ordering::Greater => to = middle,
            }
        }
        Err(Spot(piece, from))
    }

    /// The key in a spot that was found.
    pub(crate) fn at(&self, spot: Spot) -> Option<Key> {
        self.pieces.get(spot.0)?.get(spot.1).copied()
    }

    /// Puts a key where it was found to be missing.
    pub(crate) fn put(&mut self, spot: Spot, key: Key) {
        self.len = self.len.saturating_add(1);
        let Some(keys) = self.pieces.get_mut(spot.0) else {
            self.pieces.push(Vec::from([key]));
            return;
        };
        insert(keys, spot.1, key);
        if keys.len() > PIECE {
            let half: Vec<Key> = keys.iter().skip(PIECE / 2).copied().collect();
            keys.truncate(PIECE / 2);
            insert(&mut self.pieces, spot.0.saturating_add(1), half);
        }
    }

    /// Takes out the key in a spot that was found.
    pub(crate) fn take(&mut self, spot: Spot) {
        let Some(keys) = self.pieces.get_mut(spot.0) else { return };
        if remove(keys, spot.1).is_some() {
            self.len = self.len.saturating_sub(1);
        }
        if keys.is_empty() {
            remove(&mut self.pieces, spot.0);
        }
    }

    /// Adds a key by its own order, where it is missing.
    pub(crate) fn add(&mut self, key: Key) {
        if let Err(spot) = self.seek(|other| other.cmp(&key)) {
            self.put(spot, key);
        }
    }

    /// Takes a key out by its own order, where it is.
    pub(crate) fn discard(&mut self, key: Key) {
        if let Ok(spot) = self.seek(|other| other.cmp(&key)) {
            self.take(spot);
        }
    }

    pub(crate) fn first(&self) -> Option<Key> {
        self.at(Spot(0, 0))
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = Key> {
        self.pieces.iter().flatten().copied()
    }
}

/// As the vectors' own, whose words for an index that is too large would bring a formatter along.
fn insert<T>(list: &mut Vec<T>, at: usize, new: T) {
    let mut carried = new;
    for slot in list.iter_mut().skip(at) {
        swap(slot, &mut carried);
    }
    list.push(carried);
}

fn remove<T>(list: &mut Vec<T>, at: usize) -> Option<T> {
    if at >= list.len() {
        return None;
    }
    let mut carried = list.pop()?;
    for slot in list.iter_mut().skip(at).rev() {
        carried = replace(slot, carried);
    }
    Some(carried)
}

/// So many keys move faster than they are searched for in two pieces.
const PIECE: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::BTreeSet;

    #[test]
    fn it_holds_what_an_ordered_set_holds() {
        let mut random: u64 = 7;
        for bound in [3, 100, 5_000] {
            let (mut sorted, mut set) = (Sorted::default(), BTreeSet::new());
            for _ in 0..20_000 {
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let key = ((random >> 33) % bound, usize::from(random >> 60 > 7));
                if random >> 40 & 1 == 0 {
                    sorted.add(key);
                    set.insert(key);
                } else {
                    sorted.discard(key);
                    set.remove(&key);
                }
                assert_eq!((sorted.first(), sorted.len()), (set.first().copied(), set.len()));
                assert!(sorted.pieces.iter().all(|keys| !keys.is_empty() && keys.len() <= PIECE));
            }
            assert!(sorted.iter().eq(set.iter().copied()));
            while let Some(first) = sorted.first() {
                assert_eq!(Some(first), set.pop_first());
                sorted.discard(first);
            }
            assert!(set.is_empty());
        }
    }
}
