//! What an event says of time: how far it has come, and whether anybody was watching until then.

use crate::history::event::{Event, Happening};
use crate::time::UnixSeconds;

/// Time as it comes to an event.
#[derive(Clone, Copy, Debug)]
pub(super) struct Passage {
    pub(super) to: UnixSeconds,
    /// From when on nobody was watching, where that is known.
    pub(super) unwatched_from: Option<UnixSeconds>,
    pub(super) begins: Begins,
}

/// What begins with an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Begins {
    Nothing,
    /// Somebody watches.
    Watch,
    /// Another life of the daemon, which watches.
    Life,
}

impl Passage {
    pub(super) fn to(event: &Event) -> Self {
        let to = event.at_unix;
        // Nobody watched after that second, if there is one between.
        let after = |until: UnixSeconds| Some(until.later(1)).filter(|from| *from < to);
        let (unwatched_from, begins) = match &event.what {
            // Without an end to the life before, it was never known to be watching.
            Happening::Started { watched_until_unix, .. } => (watched_until_unix.and_then(after), Begins::Life),
            Happening::Resumed { watched_until_unix } => (after(*watched_until_unix), Begins::Watch),
            Happening::Retold { missing_since_unix } => (*missing_since_unix, Begins::Watch),
            Happening::Changed { .. }
            | Happening::Removed { .. }
            | Happening::Lapsed { .. }
            | Happening::CameBack { .. } => (None, Begins::Nothing),
        };
        Self { to, unwatched_from, begins }
    }
}
