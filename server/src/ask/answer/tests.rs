//! Answers as they come: in pieces of every size, damaged, and cut short.

use proptest::prelude::*;

use super::*;

/// The status, the bytes of the body and what the end leaves, with the text in pieces of every size.
#[track_caller]
fn check(text: &[u8], expected: Result<(u16, u64, Ended), NotHttp>) {
    for size in (1..=text.len().max(1)).filter(|size| *size < 40 || *size == text.len()) {
        assert_eq!(read(text.chunks(size)), expected, "in pieces of {size}: {:?}", String::from_utf8_lossy(text));
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ended {
    Kept,
    Closed,
    WhenClosed,
    Short,
}

fn read<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> Result<(u16, u64, Ended), NotHttp> {
    let mut reader = Reader::new();
    let mut status = 0;
    for piece in pieces {
        reader.buffer.extend_from_slice(piece);
        loop {
            match reader.step(None)? {
                Step::More => break,
                Step::Head { status: told, .. } => status = told,
                Step::Complete { keep } => {
                    return Ok((status, reader.body_bytes, if keep { Ended::Kept } else { Ended::Closed }));
                }
            }
        }
    }
    match reader.end() {
        End::Complete => Ok((status, reader.body_bytes, Ended::WhenClosed)),
        End::Short => Ok((status, reader.body_bytes, Ended::Short)),
        End::NotHttp => Err(NotHttp),
    }
}

#[test]
fn a_body_ends_where_its_framing_says() {
    check(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok", Ok((200, 2, Ended::Kept)));
    check(b"HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nok", Ok((200, 2, Ended::Short)));
    check(b"HTTP/1.1 200 OK\r\nContent-Length: 2, 2\r\n\r\nok", Ok((200, 2, Ended::Kept)));
    check(b"HTTP/1.1 200\r\n\r\nok", Ok((200, 2, Ended::WhenClosed)));
    check(b"HTTP/1.1 204 No\r\ncontent-length: 5\r\n\r\n", Ok((204, 0, Ended::Kept)));
    check(b"HTTP/1.1 304 Same\r\n\r\n", Ok((304, 0, Ended::Kept)));
    let chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, Chunked\r\ncontent-length: 9\r\n\r\n";
    let with = |rest: &[u8]| [&chunked[..], rest].concat();
    check(&with(b"2\r\nok\r\n0\r\n\r\n"), Ok((200, 2, Ended::Kept)));
    check(&with(b"2;a=b\r\nok\r\nA\r\n0123456789\r\n0\r\nx: y\r\n\r\n"), Ok((200, 12, Ended::Kept)));
    check(&with(b"2\r\nok\r\n"), Ok((200, 2, Ended::Short)));
    check(&with(b"2\r\nok\r\n0\r\n"), Ok((200, 2, Ended::Short)));
    check(b"HTTP/1.1 200 OK\r\ntransfer-encoding: gzip\r\n\r\nok", Ok((200, 2, Ended::WhenClosed)));
}

#[test]
fn a_connection_is_kept_as_its_version_and_its_headers_say() {
    for (version, header, expected) in [
        ("1.1", "", Ended::Kept),
        ("1.1", "connection: close\r\n", Ended::Closed),
        ("1.1", "Connection: x, Close\r\n", Ended::Closed),
        ("1.0", "", Ended::Closed),
        ("1.0", "connection: keep-alive\r\n", Ended::Kept),
    ] {
        let text = format!("HTTP/{version} 200 OK\r\n{header}content-length: 0\r\n\r\n");
        check(text.as_bytes(), Ok((200, 0, expected)));
    }
    let more = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\nmore";
    assert_eq!(read(std::iter::once(&more[..])), Ok((200, 0, Ended::Closed)));
}

#[test]
fn interim_answers_are_passed_over_and_a_switch_is_an_answer() {
    let interim = "HTTP/1.1 100 Go\r\n\r\nHTTP/1.1 103 Hints\r\nlink: <a>\r\n\r\n";
    check(format!("{interim}HTTP/1.1 503 No\r\ncontent-length: 0\r\n\r\n").as_bytes(), Ok((503, 0, Ended::Kept)));
    check(b"HTTP/1.1 101 Switch\r\n\r\n", Ok((101, 0, Ended::Closed)));
    check(b"HTTP/1.1 100 Go\r\n\r\n", Ok((0, 0, Ended::Short)));
}

#[test]
fn what_is_not_http_is_told_at_once() {
    for text in [
        "hello, this is no answer",
        "HTTP/2.0 200 OK\r\n\r\n",
        "HTTP/1.1 2x0 OK\r\n\r\n",
        "HTTP/1.1 099 No\r\n\r\n",
        "SSH-2.0-OpenSSH_9.2\r\n",
        "HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n",
        "HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n",
        "HTTP/1.1 200 OK\r\ncontent-length: 99999999999999999999\r\n\r\n",
        "HTTP/1.1 200 OK\r\n: x\r\n\r\n",
        "HTTP/1.1 200 OK\r\na: b\r\n folded\r\n\r\n",
        "HTTP/1.0 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
        "HTTP/1.1 200 no\0 such words, and no end of the line",
        "<html>no head</html>",
        "HTTP/1.1 200 OK\r\ncontent-length: 1, 2\r\n\r\n1",
        "HTTP/1.1 200 OK\r\ncontent-length:\r\n\r\n",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nokay\r\n",
    ] {
        check(text.as_bytes(), Err(NotHttp));
    }
}

/// An answer by its parts, and what it is to be read as.
fn answers() -> impl Strategy<Value = (Vec<u8>, (u16, u64, Ended))> {
    let sizes = prop::collection::vec(1_usize..70, 0..5);
    let header = prop::sample::select(vec!["", "connection: close\r\n", "X-A: b\r\nCONNECTION:  Keep-Alive \r\n"]);
    let final_status = prop::sample::select(vec![200_u16, 204, 301, 304, 404, 503, 599]);
    (0_usize..3, final_status, 0_u8..3, sizes, header, any::<bool>()).prop_map(
        |(interim, status, framing, sizes, header, cut)| {
            let mut text = b"HTTP/1.1 103 Early\r\nlink: <a>; b\r\n\r\n".repeat(interim);
            let total: usize = sizes.iter().sum();
            let head = format!("HTTP/1.1 {status} Words\r\n{header}");
            let has_body = !matches!(status, 204 | 304);
            let closes = header.contains("close");
            let (framed, body) = match framing {
                0 => (format!("content-length: {total}\r\n\r\n"), vec![b'x'; total]),
                1 => ("Transfer-Encoding: chunked\r\n\r\n".to_owned(), chunked(&sizes)),
                _ => ("\r\n".to_owned(), vec![b'x'; total]),
            };
            text.extend(head.into_bytes());
            text.extend(framed.into_bytes());
            let kept = if closes { Ended::Closed } else { Ended::Kept };
            if !has_body {
                return (text, (status, 0, kept));
            }
            text.extend(&body);
            let told = total as u64;
            match framing {
                0 | 1 if cut && !body.is_empty() => {
                    text.pop();
                    let missing = u64::from(framing == 0);
                    (text, (status, told - missing, Ended::Short))
                }
                0 | 1 => (text, (status, told, kept)),
                _ => (text, (status, told, Ended::WhenClosed)),
            }
        },
    )
}

fn chunked(sizes: &[usize]) -> Vec<u8> {
    let chunks = sizes.iter().map(|size| format!("{size:X};a=b\r\n{}\r\n", "x".repeat(*size)));
    chunks.chain(["0\r\nx: trailer\r\n\r\n".to_owned()]).collect::<String>().into_bytes()
}

/// The text in pieces that end at these places.
fn pieces<'a>(text: &'a [u8], ends: &[prop::sample::Index]) -> Vec<&'a [u8]> {
    let mut ends: Vec<usize> = ends.iter().map(|end| end.index(text.len() + 1)).collect();
    ends.push(text.len());
    ends.sort_unstable();
    let starts = std::iter::once(0).chain(ends.iter().copied());
    starts.zip(&ends).map(|(start, end)| &text[start..*end]).collect()
}

proptest! {
    #[test]
    fn an_answer_is_the_same_wherever_it_is_cut_into_pieces(
        (text, expected) in answers(),
        ends in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
    ) {
        prop_assert_eq!(read(pieces(&text, &ends).into_iter()), Ok(expected));
        for end in 0..=text.len() {
            prop_assert_eq!(read([&text[..end], &text[end..]].into_iter()), Ok(expected), "cut at {}", end);
        }
    }

    #[test]
    fn a_damaged_answer_is_read_the_same_wherever_it_is_cut_and_never_panics(
        (text, _) in answers(),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
        ends in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
    ) {
        let mut text = text;
        for (place, byte) in damage {
            let place = place.index(text.len());
            text[place] = byte;
        }
        // Whether more came behind the answer is known only of what came with it.
        let told = |read: Result<(u16, u64, Ended), NotHttp>| read.map(|(status, bytes, ended)| match ended {
            Ended::Kept | Ended::Closed => (status, bytes, Ended::Closed),
            Ended::WhenClosed | Ended::Short => (status, bytes, ended),
        });
        let whole = told(read(std::iter::once(&text[..])));
        prop_assert_eq!(told(read(pieces(&text, &ends).into_iter())), whole);
        prop_assert_eq!(told(read(text.chunks(1))), whole);
    }
}

#[test]
fn nothing_that_never_ends_is_kept() {
    let endless = |start: &str, line: &str| {
        let mut reader = Reader::new();
        reader.buffer.extend_from_slice(start.as_bytes());
        for _ in 0..100_000 {
            loop {
                match reader.step(None) {
                    Ok(Step::Head { .. }) => {}
                    Ok(Step::More) => break,
                    other => return other,
                }
            }
            assert!(reader.buffer.len() <= 2 * MAX_HEAD_BYTES, "{start:?}");
            reader.buffer.extend_from_slice(line.as_bytes());
        }
        Ok(Step::More)
    };
    let chunked = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
    assert_eq!(endless("HTTP/1.1 200 OK\r\n", "a: b\r\n"), Err(NotHttp));
    assert_eq!(endless("HTTP/1.1 200 ", "aaaaaaaa"), Err(NotHttp));
    assert_eq!(endless(&format!("{chunked}2;"), "aaaaaaaa"), Err(NotHttp));
    assert_eq!(endless(&format!("{chunked}0\r\n"), "aaaaaaaa"), Err(NotHttp));
    assert_eq!(endless("HTTP/1.1 200 OK\r\n\r\n", "aaaaaaaa"), Ok(Step::More));
}

#[test]
fn the_wanted_header_is_found_whatever_its_case() {
    let mut reader = Reader::new();
    reader.buffer.extend_from_slice(b"HTTP/1.1 200 OK\r\nX-Sha:  a1 \r\ncontent-length: 0\r\n\r\n");
    assert_eq!(reader.step(Some("x-sha")), Ok(Step::Head { status: 200, wanted: Some("a1".into()) }));
    assert_eq!(reader.step(Some("x-sha")), Ok(Step::Complete { keep: true }));
}
