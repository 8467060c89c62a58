//! What a row's standing follows from, and nothing else: the same for a row on the board and for one of the past.

use crate::row::Vouch;
use crate::standing::Standing;
use crate::time::{Horizon, UnixSeconds};

/// What the rules read of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Facts {
    /// It says that it serves something.
    pub(crate) serves: bool,
    /// A build of it served once.
    pub(crate) was_green: bool,
    /// Its stamp.
    pub(crate) last_change: UnixSeconds,
    /// Who vouches for it.
    pub(crate) vouch: Vouch,
}

impl Facts {
    /// Since when the row stands as it does: its stamp, but where it says that it serves and nobody vouches
    /// for that any more, the moment the witness was lost if that is later.
    pub(crate) fn since(self, now: UnixSeconds) -> UnixSeconds {
        match self.vouch.good_until {
            Some(until) if self.serves && until <= now => self.last_change.max(until),
            Some(_) | None => self.last_change,
        }
    }

    /// What the row amounts to.
    pub(crate) fn standing(self, horizon: Horizon, now: UnixSeconds) -> Standing {
        if self.serves && self.vouch.is_confirmed(now) {
            Standing::Serving
        } else if !self.was_green {
            Standing::NeverGreen
        } else if horizon.is_stale(self.since(now).age(now)) {
            Standing::StaleDegraded
        } else {
            Standing::LiveDegraded
        }
    }

    /// The moments after `now` at which time alone may change that: when its report ends, and when it ages out.
    pub(crate) fn turning_points(self, horizon: Horizon, now: UnixSeconds) -> [Option<UnixSeconds>; 2] {
        let lapse = self.vouch.good_until.filter(|until| self.serves && *until > now);
        // A row that serves without end never becomes degraded; one that still serves does so at its lapse.
        let degraded_since = if self.serves && self.vouch.is_confirmed(now) {
            lapse.map(|at| self.since(at))
        } else {
            Some(self.since(now))
        };
        let aged_out = degraded_since
            .filter(|_| self.was_green)
            .and_then(|since| horizon.ages_out(since))
            .filter(|at| *at > now && lapse != Some(*at));
        [lapse, aged_out]
    }
}
