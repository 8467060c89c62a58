//! What history has still to be told: events that wait for the store, and how many of them may.
//!
//! What finds no room is dropped, and since when is remembered: history then has a hole that it tells of, and the
//! board is told anew behind it.

use greenlight_core::history::{Event, Happening};
use greenlight_core::{Name, Row, UnixSeconds};

/// Events that are not known to be stored.
///
/// Those that were [sent](Self::send) come before those that wait, and a hole comes after all that wait.
#[derive(Debug, Default)]
pub(super) struct Pending {
    waiting: Load,
    sent: Option<Load>,
}

/// How the store takes what it is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flow {
    /// Each turn's events are stored with it: none pile up, and so there is room for as many as a turn brings.
    Free,
    /// Nobody knows when the store takes anything again: there is a limit.
    Held,
}

/// Since when events were dropped, and how many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Hole {
    pub(super) since: UnixSeconds,
    pub(super) events: u64,
}

#[derive(Debug, Default)]
struct Load {
    /// Empty for what was sent: the batch has it.
    events: Vec<Event>,
    count: usize,
    bytes: usize,
    /// The moment of the first event.
    first: Option<UnixSeconds>,
    hole: Option<Hole>,
}

impl Pending {
    /// Takes an event, or drops it where there is no room; and after one that was dropped all of them, until the
    /// board is told anew.
    pub(super) fn note(&mut self, event: Event, flow: Flow) {
        let bytes = bytes_of(&event);
        let has_room = match flow {
            Flow::Free => true,
            Flow::Held => {
                let (count, held) = self.sent.as_ref().map_or((0, 0), |sent| (sent.count, sent.bytes));
                count + self.waiting.count < MAX_EVENTS && held + self.waiting.bytes + bytes <= MAX_BYTES
            }
        };
        let Load { events, count, bytes: held, first, hole } = &mut self.waiting;
        match hole {
            None if has_room => {
                *count += 1;
                *held += bytes;
                first.get_or_insert(event.at_unix);
                events.push(event);
            }
            None => *hole = Some(Hole { since: event.at_unix, events: 1 }),
            Some(hole) => hole.events += 1,
        }
    }

    /// Whether nothing waits, sent or not.
    pub(super) fn nothing_waits(&self) -> bool {
        self.waiting.count == 0 && self.waiting.hole.is_none()
    }

    /// The moment of the first event that is not known to be stored; `None` where all are.
    pub(super) fn since(&self) -> Option<UnixSeconds> {
        let of = |load: &Load| load.first.or(load.hole.map(|hole| hole.since));
        self.sent.as_ref().and_then(of).or_else(|| of(&self.waiting))
    }

    /// Everything that waits, to be stored now; and since when history has a hole behind it, so that the board has
    /// to follow. Until it is [kept](Self::kept) or [refused](Self::refused) nothing more can be sent.
    pub(super) fn send(&mut self) -> (Vec<Event>, Option<UnixSeconds>) {
        let mut load = std::mem::take(&mut self.waiting);
        let events = std::mem::take(&mut load.events);
        let since = load.hole.map(|hole| hole.since);
        self.sent = Some(load);
        (events, since)
    }

    /// What was sent is stored. Returns the hole that is told of by now.
    pub(super) fn kept(&mut self) -> Option<Hole> {
        self.sent.take().and_then(|sent| sent.hole)
    }

    /// What was sent is not stored: `events`, as far as they were sent, wait again, before those that came since.
    pub(super) fn refused(&mut self, mut events: Vec<Event>) {
        let Some(sent) = self.sent.take() else { return };
        // Behind them stands the board as it was told anew: it will have to be told as it is by then.
        events.truncate(sent.count);
        let since = std::mem::take(&mut self.waiting);
        self.waiting = if let Some(hole) = sent.hole {
            let lost = u64::try_from(since.count).unwrap_or(u64::MAX) + since.hole.map_or(0, |hole| hole.events);
            // Without the board between them, what came since says nothing.
            Load { events, hole: Some(Hole { events: hole.events + lost, ..hole }), ..sent }
        } else {
            events.extend(since.events);
            Load {
                events,
                count: sent.count + since.count,
                bytes: sent.bytes + since.bytes,
                first: sent.first.or(since.first),
                hole: since.hole,
            }
        };
    }
}

/// About how much memory an event holds.
fn bytes_of(event: &Event) -> usize {
    let of_names = |names: &[Name]| names.iter().map(|name| size_of::<Name>() + name.as_str().len()).sum::<usize>();
    let held = match &event.what {
        Happening::Changed { name, row, .. } => name.as_str().len() + size_of::<Row>() + bytes_of_row(row),
        Happening::Removed { name } => name.as_str().len(),
        Happening::Lapsed { names, .. } | Happening::CameBack { names, .. } => of_names(names),
        Happening::Started { .. } | Happening::Resumed { .. } | Happening::Retold { .. } => 0,
    };
    size_of::<Event>() + held
}

fn bytes_of_row(row: &Row) -> usize {
    let Row { phase, serving_sha, last_green, last_red_sha, last_red_reason, last_red_files, pending_sha, draining: _ } =
        row;
    let texts = [serving_sha, last_green, last_red_sha, last_red_reason, pending_sha];
    let texts: usize = texts.into_iter().flatten().map(|text| text.len()).sum();
    let files: usize = last_red_files.iter().map(|file| size_of::<Box<str>>() + file.len()).sum();
    phase.len() + texts + files
}

/// So many events wait for a store in trouble, those that it has and has not answered for among them.
pub(super) const MAX_EVENTS: usize = 10_000;
/// And so much memory they take: usual rows take a few MiB, but one row may be a megabyte.
const MAX_BYTES: usize = 64 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    fn event(secs: u64) -> Event {
        let name = Name::of_instance(&format!("row-{secs}")).unwrap();
        Event { at_unix: UnixSeconds::new(secs), what: Happening::Removed { name } }
    }

    fn moments(events: &[Event]) -> Vec<u64> {
        events.iter().map(|event| event.at_unix.as_secs()).collect()
    }

    fn noted(pending: &mut Pending, secs: impl IntoIterator<Item = u64>, flow: Flow) {
        secs.into_iter().for_each(|secs| pending.note(event(secs), flow));
    }

    #[test]
    fn what_was_refused_waits_before_what_came_since() {
        let mut pending = Pending::default();
        noted(&mut pending, 1..=3, Flow::Free);
        let (events, since) = pending.send();
        assert_eq!((moments(&events), since), (vec![1, 2, 3], None));
        assert!(pending.nothing_waits());
        noted(&mut pending, 4..=5, Flow::Held);
        assert_eq!(pending.since(), Some(UnixSeconds::new(1)));
        pending.refused(events);
        assert_eq!(pending.since(), Some(UnixSeconds::new(1)));
        let (events, since) = pending.send();
        assert_eq!((moments(&events), since), (vec![1, 2, 3, 4, 5], None));
        assert_eq!(pending.kept(), None);
        assert_eq!((pending.nothing_waits(), pending.since()), (true, None));
    }

    #[test]
    fn what_was_sent_takes_room_until_it_is_answered_for() {
        let mut pending = Pending::default();
        let all = u64::try_from(MAX_EVENTS).unwrap();
        noted(&mut pending, 1..all, Flow::Held);
        let (sent, _) = pending.send();
        noted(&mut pending, all..all + 2, Flow::Held);
        assert_eq!(pending.kept(), None);
        let (events, since) = pending.send();
        assert_eq!((sent.len() + events.len(), since), (MAX_EVENTS, Some(UnixSeconds::new(all + 1))));
        assert_eq!(pending.kept(), Some(Hole { since: UnixSeconds::new(all + 1), events: 1 }));
        noted(&mut pending, [all + 3], Flow::Held);
        assert_eq!(moments(&pending.send().0), [all + 3]);
    }

    #[test]
    fn a_hole_that_could_not_be_told_of_goes_on_and_swallows_what_came_since() {
        let mut pending = Pending::default();
        let all = u64::try_from(MAX_EVENTS).unwrap();
        noted(&mut pending, 1..=all + 1, Flow::Held);
        let (mut events, since) = pending.send();
        assert_eq!(since, Some(UnixSeconds::new(all + 1)));
        // The board told anew.
        events.push(event(all + 2));
        noted(&mut pending, all + 3..=all + 4, Flow::Free);
        pending.refused(events);
        noted(&mut pending, [all + 5], Flow::Free);
        let (events, since) = pending.send();
        assert_eq!((events.len(), since), (MAX_EVENTS, Some(UnixSeconds::new(all + 1))));
        assert_eq!(pending.kept(), Some(Hole { since: UnixSeconds::new(all + 1), events: 4 }));
    }

    #[test]
    fn rows_of_a_megabyte_are_dropped_long_before_there_are_ten_thousand() {
        let mut pending = Pending::default();
        let row = Row { last_red_files: vec!["x".repeat(1024).into(); 1000], ..Row::default() };
        for secs in 1..=100 {
            let what = Happening::Changed {
                name: Name::of_instance("lane").unwrap(),
                order: 0,
                source: Name::of_source("driver").unwrap(),
                last_change_unix: UnixSeconds::new(secs),
                stored_change_unix: None,
                row: Box::new(row.clone()),
            };
            pending.note(Event { at_unix: UnixSeconds::new(secs), what }, Flow::Held);
        }
        let (events, since) = pending.send();
        assert_eq!((events.len(), since), (64, Some(UnixSeconds::new(65))));
    }
}
