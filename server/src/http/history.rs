//! `/history`: what happened in a window, in the order in which it was recorded.
//!
//! The answer begins with the board as it was before the window, told as events, so that whoever reads it can replay
//! the window from it alone. It is read from the store a page at a time, each when the one before has gone out, so
//! that a reader costs the memory of a page however much happened.

use std::collections::BTreeSet;
use std::io;

use axum::body::Body;
use axum::extract::State;
use axum::http::{StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use greenlight_core::history::{End, Event, Happening, Head, SCHEMA, Tail, record};
use greenlight_core::{Horizon, Name, UnixSeconds};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;

use super::openapi::JSON_LINES;
use super::problem::Problem;
use super::streamed::PIECE_BYTES;
use super::{Api, json, query};
use crate::moment::Moment;
use crate::store::{EventReader, Opening, StoreError};
use crate::utc::Utc;

pub(crate) async fn history(State(api): State<Api>, uri: Uri) -> Result<Response, Problem> {
    let pairs = query::pairs(&uri)?;
    let now = api.shared().clock.now();
    let (from, to) = window(&pairs, now)?;
    // Before the store is read: what is stored meanwhile is then told of, and not yet called whole.
    let published = api.shared().published.load_full();
    let asked = Asked {
        now,
        horizon: published.horizon,
        known_until: published.unrecorded_since.unwrap_or(UnixSeconds::MAX).min(now.later(1)).min(to),
        from,
        to,
        names: names(&pairs)?,
        after: query::integer(&pairs, "after", 0)?,
        limit: query::integer(&pairs, "limit", 1)?.unwrap_or(u64::MAX),
        format: if query::flag(&pairs, "lines") { Format::Lines } else { Format::Object },
    };
    let Some(reader) = api.handle.events.clone() else {
        return Err(Problem::not_found("this daemon keeps no history: it was started with --data memory"));
    };
    let content_type = match asked.format {
        Format::Object => "application/json",
        Format::Lines => JSON_LINES,
    };
    let permit = api.heavy.admit().await?;
    let telling = tokio::task::spawn_blocking(move || Telling::begin(reader, asked))
        .await
        .map_err(|_| Problem::shutting_down())?;
    let telling = telling.map_err(|untold| match untold {
        Untold::Lost => Problem::new(
            StatusCode::GONE,
            "The place is lost",
            "what followed `after` has been pruned, or the store was begun anew: begin anew too, without `after`",
        ),
        Untold::Store(error) => {
            tracing::warn!(%error, "history cannot be read");
            Problem::new(
                StatusCode::SERVICE_UNAVAILABLE,
                "History cannot be read",
                "the store is in trouble: the daemon's log says which",
            )
        }
    })?;
    let (out, pieces) = mpsc::channel(PIECES_AHEAD);
    tokio::task::spawn_blocking(move || {
        let _permit = permit;
        let mut out = Out { out, piece: Vec::with_capacity(PIECE_BYTES) };
        match telling.tell(&mut out) {
            Ok(()) | Err(Stop::Gone) => {}
            Err(Stop::Store(error)) => {
                tracing::warn!(%error, "history could not be told to its end");
                out.cut();
            }
        }
    });
    Ok(([(header::CONTENT_TYPE, content_type)], Body::from_stream(ReceiverStream::new(pieces))).into_response())
}

/// What is asked for.
struct Asked {
    now: UnixSeconds,
    /// The daemon's own.
    horizon: Horizon,
    from: UnixSeconds,
    to: UnixSeconds,
    /// Before which second all is recorded: a store in trouble lacks what came after.
    known_until: UnixSeconds,
    names: Option<Vec<Name>>,
    after: Option<u64>,
    limit: u64,
    format: Format,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Format {
    /// One object with an array of events.
    Object,
    /// A head, events and an end, each a line.
    Lines,
}

/// Why there is no answer.
enum Untold {
    /// What was to follow is not there any more.
    Lost,
    Store(StoreError),
}

/// Why an answer was not told to its end.
enum Stop {
    /// Nobody reads any more.
    Gone,
    /// The store gave no more.
    Store(StoreError),
}

struct Telling {
    reader: EventReader,
    asked: Asked,
    head: Head,
    opening: Opening,
}

impl Telling {
    fn begin(reader: EventReader, asked: Asked) -> Result<Self, Untold> {
        let from = match asked.after {
            // The board is not told again, and what follows the place must not be taken into it.
            Some(_) => asked.from,
            None => asked.from.max(outlives_the_answer(reader.dropped_before().map_err(Untold::Store)?, asked.now)),
        };
        let opening = reader.opening(from, asked.to).map_err(Untold::Store)?;
        let is_told_as_board = from > asked.from && opening.after > opening.pruned;
        if asked.after.is_some_and(|after| !(opening.pruned..=opening.last).contains(&after)) {
            return Err(Untold::Lost);
        }
        let head = Head {
            schema: SCHEMA.into(),
            version: env!("CARGO_PKG_VERSION").into(),
            from_unix: asked.from,
            to_unix: asked.to,
            known_until_unix: asked.known_until,
            stale_after_secs: asked.horizon,
            complete_from_unix: if is_told_as_board { Some(from) } else { opening.complete_from },
            names: asked.names.clone(),
            lives: opening.lives.clone(),
        };
        Ok(Self { reader, asked, head, opening })
    }

    fn tell(self, out: &mut Out) -> Result<(), Stop> {
        let Self { reader, asked, head, opening } = self;
        let Opening { past, is_known, after, last, .. } = opening;
        let mut telling = Events { format: asked.format, told: 0 };
        match asked.format {
            Format::Object => {
                // The head is an object of its own: its last brace gives way to what follows.
                let mut bytes = json::to_vec(&head);
                bytes.pop();
                out.piece.extend_from_slice(&bytes);
                out.piece.extend_from_slice(b",\"events\":[");
            }
            Format::Lines => {
                json::append(&mut out.piece, &head);
                out.piece.push(b'\n');
            }
        }
        let mut at = after;
        match asked.after {
            Some(sequence) => at = sequence.max(after),
            None if is_known => {
                for event in record::of_board(past.rows().collect(), None, past.latest()) {
                    telling.tell_if_named(&event, asked.names.as_deref(), out)?;
                }
            }
            None => {}
        }
        drop(past);
        let mut left = asked.limit;
        while left > 0 && at < last {
            let page = reader.page(at, last, usize::try_from(left).unwrap_or(usize::MAX)).map_err(Stop::Store)?;
            let Some((newest, _)) = page.last() else {
                at = last;
                break;
            };
            (at, left) = (*newest, left.saturating_sub(page.len() as u64));
            for (_, event) in page {
                if asked.names.is_none() && json::is_plain(&event) {
                    telling.tell(out, |piece| piece.extend_from_slice(&event))?;
                } else {
                    let event = serde_json::from_slice(&event)
                        .map_err(|error| Stop::Store(StoreError::Corrupt(format!("an event: {error}"))))?;
                    telling.tell_if_named(&event, asked.names.as_deref(), out)?;
                }
            }
        }
        let tail = Tail { events: telling.told, next: (at < last).then_some(at) };
        match asked.format {
            Format::Object => {
                out.piece.extend_from_slice(b"],\"next\":");
                json::append(&mut out.piece, &tail.next);
                out.piece.extend_from_slice(b"}\n");
            }
            Format::Lines => {
                json::append(&mut out.piece, &End { end: tail });
                out.piece.push(b'\n');
            }
        }
        out.send()
    }
}

/// The events of an answer.
struct Events {
    format: Format,
    told: u64,
}

impl Events {
    fn tell_if_named(&mut self, event: &Event, names: Option<&[Name]>, out: &mut Out) -> Result<(), Stop> {
        match names {
            None => self.tell(out, |piece| json::append(piece, event)),
            Some(names) => match about(event, names) {
                Some(event) => self.tell(out, |piece| json::append(piece, &event)),
                None => Ok(()),
            },
        }
    }

    fn tell(&mut self, out: &mut Out, write: impl FnOnce(&mut Vec<u8>)) -> Result<(), Stop> {
        if self.format == Format::Object && self.told > 0 {
            out.piece.push(b',');
        }
        write(&mut out.piece);
        if self.format == Format::Lines {
            out.piece.push(b'\n');
        }
        self.told += 1;
        if out.piece.len() >= PIECE_BYTES { out.send() } else { Ok(()) }
    }
}

/// From when on events will still be there when the answer comes to them. Those before are told as the board that they
/// made: they are dropped next, and would be missing in the middle.
fn outlives_the_answer(dropped_before: UnixSeconds, now: UnixSeconds) -> UnixSeconds {
    let kept_secs = now.as_secs().saturating_sub(dropped_before.as_secs());
    dropped_before.later(MOST_AHEAD_SECS.min(kept_secs / 100))
}

/// What of an event is about these instances, which stand in order; `None` where nothing is.
fn about(event: &Event, names: &[Name]) -> Option<Event> {
    // A query has room for thousands of names, and a window for millions of events.
    let is_meant = |name: &Name| names.binary_search(name).is_ok();
    let meant = |all: &[Name]| -> Option<Vec<Name>> {
        let meant: Vec<Name> = all.iter().filter(|name| is_meant(name)).cloned().collect();
        (!meant.is_empty()).then_some(meant)
    };
    let mut event = event.clone();
    match &mut event.what {
        Happening::Changed { name, .. } | Happening::Removed { name } => is_meant(name).then_some(())?,
        Happening::Lapsed { names, .. } | Happening::CameBack { names, .. } => *names = meant(names)?,
        Happening::Started { .. } | Happening::Resumed { .. } | Happening::Retold { .. } => {}
    }
    Some(event)
}

/// Where pieces of the answer go.
struct Out {
    out: mpsc::Sender<io::Result<Bytes>>,
    piece: Vec<u8>,
}

impl Out {
    /// Sends what there is, as soon as there is room for it.
    fn send(&mut self) -> Result<(), Stop> {
        let piece = std::mem::replace(&mut self.piece, Vec::with_capacity(PIECE_BYTES));
        self.out.blocking_send(Ok(Bytes::from(piece))).map_err(|_| Stop::Gone)
    }

    /// Ends with an error, so that nobody takes what there is for a whole answer.
    fn cut(self) {
        // Nobody reads any more: nobody to tell.
        let _ = self.out.blocking_send(Err(io::Error::other("history could not be told to its end")));
    }
}

/// From when on, and up to when. One of no length is empty; one that ends before it begins was not meant.
fn window(pairs: &[(String, String)], now: UnixSeconds) -> Result<(UnixSeconds, UnixSeconds), Problem> {
    let from = moment(pairs, "from", now)?.unwrap_or_default();
    let end = moment(pairs, "to", now)?;
    // The second that is running is told as it is so far.
    let to = end.unwrap_or(now.later(1));
    if from <= to {
        return Ok((from, to));
    }
    let detail = match end {
        Some(to) => {
            format!("the window begins at {} and ends before that, at {}: exchange the two", Utc(from), Utc(to))
        }
        None => format!("the window begins at {} and it is {} now: give an earlier beginning", Utc(from), Utc(now)),
    };
    Err(Problem::new(StatusCode::BAD_REQUEST, "The window ends before it begins", detail))
}

/// A moment under a key.
fn moment(pairs: &[(String, String)], key: &str, now: UnixSeconds) -> Result<Option<UnixSeconds>, Problem> {
    let moment = query::last(pairs, key).map(str::parse::<Moment>).transpose();
    moment
        .map(|moment| moment.map(|moment| moment.asked(now)))
        .map_err(|form| Problem::bad_query(format!("{key} is a moment: {form}")))
}

/// The instances that are asked for, in order and each once; `None` where all are.
fn names(pairs: &[(String, String)]) -> Result<Option<Vec<Name>>, Problem> {
    let names = pairs.iter().filter(|(key, _)| key == "name").map(|(_, name)| Name::of_instance(name));
    let names: BTreeSet<Name> =
        names.collect::<Result<_, _>>().map_err(|error| Problem::bad_query(format!("name: {error}")))?;
    Ok((!names.is_empty()).then(|| names.into_iter().collect()))
}

/// An answer stays so far ahead of what is dropped, unless it takes longer than that for its first event.
const MOST_AHEAD_SECS: u64 = 600;
/// One piece waits while the next is made.
const PIECES_AHEAD: usize = 1;
