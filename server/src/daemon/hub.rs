//! The event streams: one ring of what was said, and everybody who listens.
//!
//! A frame is made once and shared by all streams. A stream that cannot keep up is ended, never waited for; its
//! client comes back with the last id it saw and gets what it missed, or `reset` where that is too far back.

use std::collections::VecDeque;
use std::fmt::{self, Write as _};
use std::str::FromStr;
use std::sync::Mutex;

use bytes::Bytes;
use serde::Serialize;
use tokio::sync::broadcast;

use crate::http::json;

/// Where in the life of which daemon: `<boot>.<revision>`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EventId {
    /// A word that is another after each start.
    pub(crate) boot: String,
    /// See [`Published::revision`](super::published::Published::revision).
    pub(crate) revision: u64,
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.boot, self.revision)
    }
}

impl FromStr for EventId {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (boot, revision) = text.rsplit_once('.').ok_or(())?;
        Ok(Self { boot: boot.into(), revision: revision.parse().map_err(|_| ())? })
    }
}

/// One server-sent event, as it goes over the wire.
pub(crate) fn frame(event: &str, id: Option<&EventId>, data: &impl Serialize) -> Bytes {
    let mut text = format!("event: {event}\n");
    if let Some(id) = id {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "id: {id}");
    }
    let mut bytes = text.into_bytes();
    bytes.extend_from_slice(b"data: ");
    json::append(&mut bytes, data);
    bytes.extend_from_slice(b"\n\n");
    Bytes::from(bytes)
}

/// Everybody who listens, and what can still be resumed.
#[derive(Debug)]
pub(crate) struct Hub {
    boot: String,
    inner: Mutex<Inner>,
}

#[derive(Debug)]
struct Inner {
    /// `None` once the daemon is shutting down.
    sender: Option<broadcast::Sender<Bytes>>,
    /// The last changes, each with the revision it led to, without holes.
    ring: VecDeque<(u64, Bytes)>,
    ring_bytes: usize,
    revision: u64,
}

/// What a new stream begins with, and where the rest comes from.
#[derive(Debug)]
pub(crate) struct Subscription {
    /// What it missed since the id it named, or one `reset`.
    pub(crate) backlog: Vec<Bytes>,
    /// What is said from now on.
    pub(crate) receiver: broadcast::Receiver<Bytes>,
}

impl Hub {
    pub(crate) fn new(boot: String) -> Self {
        let inner = Inner {
            sender: Some(broadcast::Sender::new(FRAMES_BEHIND)),
            ring: VecDeque::new(),
            ring_bytes: 0,
            revision: 0,
        };
        Self { boot, inner: Mutex::new(inner) }
    }

    /// A word that is another after each start.
    pub(crate) fn boot(&self) -> &str {
        &self.boot
    }

    /// The id of a revision of this life.
    pub(crate) fn id(&self, revision: u64) -> EventId {
        EventId { boot: self.boot.clone(), revision }
    }

    /// Joins the stream; `None` while shutting down.
    pub(crate) fn subscribe(&self, after: Option<&str>) -> Option<Subscription> {
        let inner = self.lock();
        let receiver = inner.sender.as_ref()?.subscribe();
        let backlog = match after {
            None => Vec::new(),
            Some(after) => match after.parse::<EventId>() {
                Ok(after) if after.boot == self.boot => inner.since(after.revision),
                Ok(_) | Err(()) => vec![reset("the id is of another life of this daemon")],
            },
        };
        Some(Subscription { backlog, receiver })
    }

    /// Says that rows changed, came or went. A change too large to be kept is told as a `reset`.
    pub(crate) fn change(&self, revision: u64, data: &impl Serialize) {
        let frame = frame("change", Some(&self.id(revision)), data);
        let mut inner = self.lock();
        inner.revision = revision;
        if frame.len() > MAX_FRAME_BYTES {
            inner.ring.clear();
            inner.ring_bytes = 0;
            inner.say(reset("more changed at once than a stream carries"));
            return;
        }
        inner.ring_bytes += frame.len();
        inner.ring.push_back((revision, frame.clone()));
        while inner.ring.len() > MAX_RING_FRAMES || inner.ring_bytes > MAX_RING_BYTES {
            let Some((_, oldest)) = inner.ring.pop_front() else { break };
            inner.ring_bytes -= oldest.len();
        }
        inner.say(frame);
    }

    /// Says something that cannot be missed: it is told again to whoever joins.
    pub(crate) fn say(&self, frame: Bytes) {
        self.lock().say(frame);
    }

    /// Ends every stream; nobody joins any more.
    pub(crate) fn close(&self) {
        self.lock().sender = None;
    }

    /// How many streams are open.
    pub(crate) fn streams(&self) -> usize {
        self.lock().sender.as_ref().map_or(0, broadcast::Sender::receiver_count)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl Inner {
    fn say(&self, frame: Bytes) {
        if let Some(sender) = &self.sender {
            // No stream is open: nobody to tell.
            let _ = sender.send(frame);
        }
    }

    fn since(&self, revision: u64) -> Vec<Bytes> {
        if revision == self.revision {
            return Vec::new();
        }
        let missed: Vec<Bytes> =
            self.ring.iter().filter(|(to, _)| *to > revision).map(|(_, frame)| frame.clone()).collect();
        let reaches_back = self.ring.front().is_some_and(|(oldest, _)| *oldest <= revision.saturating_add(1));
        if reaches_back && revision < self.revision {
            missed
        } else {
            vec![reset("the id is older than what is kept, or unknown")]
        }
    }
}

fn reset(reason: &str) -> Bytes {
    frame("reset", None, &serde_json::json!({ "reason": reason }))
}

/// A stream so many frames behind is ended: more than a minute of beats.
const FRAMES_BEHIND: usize = 32;
/// So many changes can be resumed: a quarter of an hour at one a second.
const MAX_RING_FRAMES: usize = 1024;
/// What the changes that can be resumed may take in memory.
const MAX_RING_BYTES: usize = 8 << 20;
/// The largest change that is sent as one; above it a client does better to read `/app` again.
const MAX_FRAME_BYTES: usize = 4 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    fn revisions(backlog: &[Bytes]) -> Vec<String> {
        backlog
            .iter()
            .map(|frame| {
                let text = String::from_utf8(frame.to_vec()).unwrap();
                let word = |key: &str| text.lines().find_map(|line| line.strip_prefix(key)).unwrap_or("-").to_owned();
                format!("{} {}", word("event: "), word("id: "))
            })
            .collect()
    }

    #[test]
    fn a_stream_resumes_after_the_id_it_names() {
        let hub = Hub::new("b".into());
        for revision in 1..=3 {
            hub.change(revision, &());
        }
        let backlog = |after: Option<&str>| revisions(&hub.subscribe(after).unwrap().backlog);
        assert_eq!(backlog(Some("b.1")), ["change b.2", "change b.3"]);
        assert_eq!(backlog(Some("b.0")), ["change b.1", "change b.2", "change b.3"]);
        assert!(backlog(Some("b.3")).is_empty() && backlog(None).is_empty());
    }

    #[test]
    fn an_id_too_old_unknown_or_of_another_boot_gives_reset() {
        let hub = Hub::new("b".into());
        for revision in 1..=(MAX_RING_FRAMES as u64 + 2) {
            hub.change(revision, &());
        }
        for after in ["b.0", "b.99999", "a.3", "nonsense", "", "b.", "b.-1"] {
            assert_eq!(revisions(&hub.subscribe(Some(after)).unwrap().backlog), ["reset -"], "{after}");
        }
    }

    #[test]
    fn a_change_too_large_to_carry_is_a_reset_and_cannot_be_resumed_over() {
        let hub = Hub::new("b".into());
        hub.change(1, &());
        let mut open = hub.subscribe(None).unwrap();
        hub.change(2, &"x".repeat(MAX_FRAME_BYTES));
        assert_eq!(revisions(&[open.receiver.try_recv().unwrap()]), ["reset -"]);
        assert_eq!(revisions(&hub.subscribe(Some("b.1")).unwrap().backlog), ["reset -"]);
        assert!(hub.subscribe(Some("b.2")).unwrap().backlog.is_empty());
    }

    #[test]
    fn nobody_joins_after_the_end() {
        let hub = Hub::new("b".into());
        let mut open = hub.subscribe(None).unwrap();
        hub.close();
        assert!(matches!(open.receiver.try_recv(), Err(broadcast::error::TryRecvError::Closed)));
        assert!(hub.subscribe(None).is_none());
    }
}
