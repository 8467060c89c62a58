//! An answer as it comes in, byte by byte: HTTP/1's framing without any input or output.
//!
//! A probe that costs less than a checker written for nothing else cannot afford a client's channels and buffers: the
//! parsing is a library's, the framing stands here.

use std::cell::RefCell;

use httparse::{EMPTY_HEADER, Status};

use super::MAX_HEAD_BYTES;

/// Reads one answer.
#[derive(Debug)]
pub(super) struct Reader {
    /// What has come in and is not dealt with.
    pub(super) buffer: Vec<u8>,
    /// How much of it has been looked at in vain.
    looked_at: usize,
    state: State,
    /// How many bytes of the body have come.
    pub(super) body_bytes: u64,
    keep: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Head,
    /// So many bytes are still to come.
    Length(u64),
    /// The size of the next chunk is to come.
    ChunkSize,
    /// So many bytes of a chunk, and the end of its line.
    Chunk(u64),
    ChunkEnd,
    Trailers,
    UntilClosed,
    Complete,
}

/// What the bytes so far amount to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// More is needed.
    More,
    /// The head of the final answer is complete.
    Head {
        status: u16,
        /// The value of the header that is wanted, where it is given and is text.
        wanted: Option<Box<str>>,
    },
    /// The answer is complete; whether the connection may carry another.
    Complete { keep: bool },
}

/// What an answer is where the peer has closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// Complete: nothing else told where it ends.
    Complete,
    /// Something is missing.
    Short,
    /// What came in place of a head is not HTTP.
    NotHttp,
}

/// What came is not HTTP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NotHttp;

impl Reader {
    /// A reader of nothing yet.
    pub(super) fn new() -> Self {
        let spare = SPARE.with_borrow_mut(Vec::pop);
        let buffer = spare.unwrap_or_else(|| Vec::with_capacity(USUAL_BYTES));
        Self { buffer, looked_at: 0, state: State::Head, body_bytes: 0, keep: true }
    }

    /// Goes on with what is in the buffer. After [`Step::Head`] it is to be asked again.
    pub(super) fn step(&mut self, wanted: Option<&str>) -> Result<Step, NotHttp> {
        loop {
            match self.state {
                State::Head => match self.head(wanted)? {
                    Some(step) => return Ok(step),
                    None => return Ok(Step::More),
                },
                State::Length(0) | State::Complete => {
                    self.state = State::Complete;
                    return Ok(Step::Complete { keep: self.keep && self.buffer.is_empty() });
                }
                State::Length(left) => {
                    let taken = self.take(left);
                    if taken == 0 {
                        return Ok(Step::More);
                    }
                    self.state = State::Length(left - taken);
                }
                State::UntilClosed => {
                    self.take(u64::MAX);
                    return Ok(Step::More);
                }
                State::ChunkSize => match httparse::parse_chunk_size(&self.buffer) {
                    Ok(Status::Complete((read, size))) if read <= MAX_LINE_BYTES => {
                        self.drop_first(read);
                        self.state = if size == 0 { State::Trailers } else { State::Chunk(size) };
                    }
                    Ok(Status::Partial) if self.buffer.len() <= MAX_LINE_BYTES => return Ok(Step::More),
                    Ok(Status::Complete(_) | Status::Partial) | Err(_) => return Err(NotHttp),
                },
                State::Chunk(0) => self.state = State::ChunkEnd,
                State::Chunk(left) => {
                    let taken = self.take(left);
                    if taken == 0 {
                        return Ok(Step::More);
                    }
                    self.state = State::Chunk(left - taken);
                }
                State::ChunkEnd => match self.buffer.get(..2) {
                    Some(b"\r\n") => {
                        self.drop_first(2);
                        self.state = State::ChunkSize;
                    }
                    Some(_) => return Err(NotHttp),
                    None => return Ok(Step::More),
                },
                State::Trailers => {
                    let Some(end) = self.buffer.iter().position(|byte| *byte == b'\n') else {
                        return if self.buffer.len() <= MAX_LINE_BYTES { Ok(Step::More) } else { Err(NotHttp) };
                    };
                    if end >= MAX_LINE_BYTES {
                        return Err(NotHttp);
                    }
                    let is_last = matches!(self.buffer.get(..end), Some(b"" | b"\r"));
                    self.drop_first(end + 1);
                    if is_last {
                        self.state = State::Complete;
                    }
                }
            }
        }
    }

    /// The peer has closed, and all that came was dealt with: what the answer is by that.
    pub(super) fn end(&self) -> End {
        match self.state {
            State::UntilClosed | State::Complete => End::Complete,
            // Nobody looked at a line that had not ended.
            State::Head => match httparse::Response::new(&mut [EMPTY_HEADER; MAX_HEADERS]).parse(&self.buffer) {
                Ok(_) => End::Short,
                Err(_) => End::NotHttp,
            },
            State::Length(_) | State::ChunkSize | State::Chunk(_) | State::ChunkEnd | State::Trailers => End::Short,
        }
    }

    /// `None`: more is needed.
    fn head(&mut self, wanted: Option<&str>) -> Result<Option<Step>, NotHttp> {
        loop {
            let has_line = self.buffer.get(self.looked_at..).is_some_and(|new| new.contains(&b'\n'));
            // What begins like no answer is none, even if its line never ends.
            if !has_line && self.looked_at >= STATUS_LINE_BYTES && self.buffer.len() <= MAX_HEAD_BYTES {
                return Ok(None);
            }
            let mut headers = [EMPTY_HEADER; MAX_HEADERS];
            let mut response = httparse::Response::new(&mut headers);
            let read = match response.parse(&self.buffer).map_err(|_| NotHttp)? {
                Status::Complete(read) if read <= MAX_HEAD_BYTES => read,
                Status::Partial if self.buffer.len() <= MAX_HEAD_BYTES => {
                    self.looked_at = self.buffer.len();
                    return Ok(None);
                }
                Status::Complete(_) | Status::Partial => return Err(NotHttp),
            };
            let status = response.code.filter(|code| (100..=999).contains(code)).ok_or(NotHttp)?;
            if matches!(status, 100 | 102..=199) {
                self.drop_first(read);
                self.looked_at = 0;
                continue;
            }
            let is_current = response.version == Some(1);
            let framing = Framing::of(response.headers)?;
            if framing.is_coded && !is_current {
                // Of before codings were known: nobody can tell what it means by them.
                return Err(NotHttp);
            }
            let wanted = wanted.and_then(|wanted| value_of(response.headers, wanted));
            self.keep = status != 101
                && match framing.connection {
                    Connection::Close => false,
                    Connection::KeepAlive => true,
                    Connection::Unsaid => is_current,
                };
            self.state = match (status, framing.body) {
                (101 | 204 | 304, _) => State::Length(0),
                (_, Body::Chunked) => State::ChunkSize,
                (_, Body::Length(length)) => State::Length(length),
                (_, Body::UntilClosed) => State::UntilClosed,
            };
            self.drop_first(read);
            return Ok(Some(Step::Head { status, wanted }));
        }
    }

    /// Takes up to so many bytes of the body.
    fn take(&mut self, most: u64) -> u64 {
        let taken = usize::try_from(most).unwrap_or(usize::MAX).min(self.buffer.len());
        self.drop_first(taken);
        self.body_bytes = self.body_bytes.saturating_add(taken as u64);
        taken as u64
    }

    fn drop_first(&mut self, bytes: usize) {
        if bytes >= self.buffer.len() {
            self.buffer.clear();
        } else {
            self.buffer.drain(..bytes);
        }
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        let mut buffer = std::mem::take(&mut self.buffer);
        if buffer.capacity() > USUAL_BYTES {
            return;
        }
        buffer.clear();
        // A thread that ends has none to spare any more.
        let _ = SPARE.try_with(|spare| {
            let mut spare = spare.borrow_mut();
            if spare.len() < MAX_SPARE {
                spare.push(buffer);
            }
        });
    }
}

thread_local! {
    /// Buffers that wait for the next question: each of them is asked for a thousand times a second.
    static SPARE: RefCell<Vec<Vec<u8>>> = const { RefCell::new(Vec::new()) };
}

/// What the headers say of what follows them.
struct Framing {
    body: Body,
    is_coded: bool,
    connection: Connection,
}

#[derive(Clone, Copy)]
enum Body {
    Chunked,
    Length(u64),
    UntilClosed,
}

enum Connection {
    Close,
    KeepAlive,
    Unsaid,
}

impl Framing {
    fn of(headers: &[httparse::Header<'_>]) -> Result<Self, NotHttp> {
        let mut length = None;
        let mut coding = None;
        let mut connection = Connection::Unsaid;
        for header in headers {
            if header.name.eq_ignore_ascii_case("content-length") {
                // Some repeat it; what they repeat must be the same.
                for text in items(header.value) {
                    let told = length_in(text).ok_or(NotHttp)?;
                    if length.is_some_and(|known| known != told) {
                        return Err(NotHttp);
                    }
                    length = Some(told);
                }
            } else if header.name.eq_ignore_ascii_case("transfer-encoding") {
                coding = items(header.value).last().or(coding);
            } else if header.name.eq_ignore_ascii_case("connection") {
                for item in items(header.value) {
                    if item.eq_ignore_ascii_case(b"close") {
                        connection = Connection::Close;
                    } else if item.eq_ignore_ascii_case(b"keep-alive") && matches!(connection, Connection::Unsaid) {
                        connection = Connection::KeepAlive;
                    }
                }
            }
        }
        let body = match (coding, length) {
            (Some(last), _) if last.eq_ignore_ascii_case(b"chunked") => Body::Chunked,
            (Some(_), _) | (None, None) => Body::UntilClosed,
            (None, Some(length)) => Body::Length(length),
        };
        Ok(Self { body, is_coded: coding.is_some(), connection })
    }
}

/// Digits alone: no sign, nothing between them.
fn length_in(text: &[u8]) -> Option<u64> {
    let digits = std::str::from_utf8(text).ok()?;
    digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok()).flatten()
}

fn items(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    value.split(|byte| *byte == b',').map(<[u8]>::trim_ascii)
}

fn value_of(headers: &[httparse::Header<'_>], wanted: &str) -> Option<Box<str>> {
    let header = headers.iter().find(|header| header.name.eq_ignore_ascii_case(wanted))?;
    std::str::from_utf8(header.value).ok().map(str::trim).filter(|text| !text.is_empty()).map(Into::into)
}

/// An answer to a probe, head and body, in one piece.
const USUAL_BYTES: usize = 1024;
/// As many as are asked together.
const MAX_SPARE: usize = 64;
/// More than any answer to a probe has.
const MAX_HEADERS: usize = 100;
/// The size of a chunk with what is said beside it, or one trailer.
const MAX_LINE_BYTES: usize = 16 * 1024;
/// `HTTP/1.1 200 `: what is not this by then is no answer.
const STATUS_LINE_BYTES: usize = 13;

#[cfg(test)]
mod tests;
