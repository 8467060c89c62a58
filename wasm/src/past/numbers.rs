//! A head and events out of the numbers that stand for them: which fields there are, and in which order.

use alloc::boxed::Box;
use alloc::string::ToString;
use alloc::vec::Vec;

use greenlight_core::history::{Event, Happening, Head, Lives};
use greenlight_core::{Name, Row, UnixSeconds};

use crate::number::saturating;

/// What is left of numbers from the other side.
pub(super) struct Numbers<'a>(pub(super) &'a [f64]);

impl Numbers<'_> {
    /// The next one; `None` where there is none, in either sense.
    pub(super) fn whole(&mut self) -> Option<u64> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        (*first >= 0.0).then(|| saturating(*first))
    }

    fn moment(&mut self) -> Option<UnixSeconds> {
        self.whole().map(UnixSeconds::new)
    }

    pub(super) fn place(&mut self) -> Option<usize> {
        usize::try_from(self.whole()?).ok()
    }

    /// But for its lives and names, of which nothing is asked here: the events are all at hand.
    pub(super) fn head(&mut self, schema: Box<str>) -> Option<Head> {
        Some(Head {
            schema,
            version: Box::default(),
            from_unix: self.moment()?,
            to_unix: self.moment()?,
            known_until_unix: self.moment()?,
            stale_after_secs: self.whole().into(),
            complete_from_unix: self.moment(),
            names: None,
            lives: Lives::default(),
        })
    }

    /// Its kind and its moment, then what belongs to the kind, in the order of its fields; of a row, its sha and
    /// whether it was ever green; before names, how many they are.
    pub(super) fn event(&mut self, aliases: &mut Vec<Name>) -> Option<Event> {
        let kind = self.whole()?;
        let at_unix = self.moment()?;
        let what = match kind {
            0 => Happening::Changed {
                name: self.name(aliases)?,
                order: self.whole()?,
                source: self.name(aliases)?,
                last_change_unix: self.moment()?,
                stored_change_unix: self.moment(),
                row: Box::new(Row {
                    serving_sha: self.name(aliases).map(|alias| alias.as_str().into()),
                    last_green: self.whole().map(|_| Box::default()),
                    ..Row::default()
                }),
            },
            1 => Happening::Removed { name: self.name(aliases)? },
            2 => Happening::Lapsed {
                source: self.name(aliases)?,
                good_until_unix: self.moment(),
                names: self.names(aliases)?,
            },
            3 => Happening::CameBack { source: self.name(aliases)?, names: self.names(aliases)? },
            4 => Happening::Started { watched_until_unix: self.moment(), drift_secs: self.signed()? },
            5 => Happening::Resumed { watched_until_unix: self.moment()? },
            _ => Happening::Retold { missing_since_unix: self.moment() },
        };
        Some(Event { at_unix, what })
    }

    /// The name that stands for the next number.
    fn name(&mut self, aliases: &mut Vec<Name>) -> Option<Name> {
        let place = self.place()?;
        while aliases.len() <= place {
            aliases.push(Name::of_instance(&aliases.len().to_string()).ok()?);
        }
        aliases.get(place).cloned()
    }

    fn names(&mut self, aliases: &mut Vec<Name>) -> Option<Vec<Name>> {
        let mut names = Vec::new();
        for _ in 0..self.whole()? {
            names.push(self.name(aliases)?);
        }
        Some(names)
    }

    /// Two numbers, of which one is not 0 at most: what it is above zero, and below.
    fn signed(&mut self) -> Option<i64> {
        let (above, below) = (self.whole()?, self.whole()?);
        Some(above.cast_signed().saturating_sub(below.cast_signed()))
    }
}
