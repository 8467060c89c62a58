//! What can refuse a report, all of it before anything is changed.

use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::vec;
use alloc::vec::Vec;

use super::{Board, MAX_SOURCES};
use crate::name::Name;
use crate::report::{Extent, Refusal};
use crate::row::ReportedRow;
use crate::time::{MAX_INTEGER, UnixSeconds};

/// Where the rows of a report that is not refused stand on the board.
pub(super) struct Admitted {
    /// Of each row in turn; `None` where it is new.
    pub(super) places: Vec<Option<usize>>,
    /// Of each place on the board, whether the report names it.
    pub(super) named: Vec<bool>,
}

impl Board {
    /// Everything that can refuse a report, before anything is changed. The rows are brought into shape.
    pub(super) fn admit(
        &mut self,
        source: &Name,
        extent: Extent,
        rows: &mut [ReportedRow],
        sequence: Option<u64>,
        now: UnixSeconds,
    ) -> Result<Admitted, Refusal> {
        if let Some(got) = sequence {
            if got > MAX_INTEGER {
                return Err(Refusal::SequenceTooLarge(got));
            }
            if let Some(last) = self.sources.get(source).and_then(|known| known.last_sequence)
                && got <= last
            {
                return Err(Refusal::Sequence { got, last });
            }
        }
        if rows.len() > self.limit {
            return Err(Refusal::TooManyRows { rows: rows.len(), limit: self.limit });
        }
        let mut named = vec![false; self.rows.len()];
        let mut new: Vec<Box<str>> = Vec::new();
        let mut places = Vec::with_capacity(rows.len());
        let mut next = 0;
        for (index, row) in rows.iter_mut().enumerate() {
            let place = self.place_or_next(&row.name, next);
            let there = place.and_then(|place| Some((place, self.rows.get(place)?, self.vouches.get(place)?)));
            // A name that is on the board was checked when it came.
            let name = if there.is_some() { Ok(()) } else { row.check_name() };
            name.and_then(|()| row.check_fields()).map_err(|error| Refusal::Row {
                index,
                name: first_bytes(&row.name),
                error,
            })?;
            match there {
                Some((place, held, vouch)) => {
                    if held.source != *source && vouch.is_confirmed(now) {
                        return Err(Refusal::Held { name: held.name.clone(), owner: held.source.clone() });
                    }
                    if let Some(seen) = named.get_mut(place)
                        && core::mem::replace(seen, true)
                    {
                        return Err(Refusal::Duplicate { name: row.name.clone() });
                    }
                    next = place.saturating_add(1);
                }
                None => new.push(row.name.clone()),
            }
            places.push(place);
        }
        new.sort_unstable();
        if let Some(twice) = new.windows(2).find_map(|pair| match pair {
            [one, other] if one == other => Some(one.clone()),
            _ => None,
        }) {
            return Err(Refusal::Duplicate { name: twice });
        }
        let leaving = match extent {
            Extent::Full => {
                self.rows.iter().zip(&named).filter(|(held, seen)| !**seen && held.source == *source).count()
            }
            Extent::Partial => 0,
        };
        let rows = self.rows.len().saturating_add(new.len()).saturating_sub(leaving);
        if rows > self.limit {
            return Err(Refusal::TooManyRows { rows, limit: self.limit });
        }
        self.make_room_for(source)?;
        Ok(Admitted { places, named })
    }

    /// Keeps the table of sources bounded: forgets the longest silent one that has no rows.
    fn make_room_for(&mut self, source: &Name) -> Result<(), Refusal> {
        if self.sources.len() < MAX_SOURCES || self.sources.contains_key(source) {
            return Ok(());
        }
        let with_rows: BTreeSet<&Name> = self.rows.iter().map(|held| &held.source).collect();
        let idle = self
            .sources
            .iter()
            .filter(|(name, _)| !with_rows.contains(name))
            .min_by_key(|(_, known)| known.last_report)
            .map(|(name, _)| name.clone());
        match idle {
            Some(name) => {
                self.sources.remove(&name);
                Ok(())
            }
            None => Err(Refusal::TooManySources { limit: MAX_SOURCES }),
        }
    }
}

fn first_bytes(name: &str) -> Box<str> {
    name.get(..name.floor_char_boundary(Name::MAX_BYTES)).unwrap_or_default().into()
}
