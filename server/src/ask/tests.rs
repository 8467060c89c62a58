//! What comes of a question, against a listener that misbehaves in a counted way.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::mpsc;
use std::task::{Context, Poll};
use std::time::Duration;

use greenlight_core::rotation::{Answer, Cutting, Refuser, Silence};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::progress::Facts;
use super::trouble::Trouble;
use super::{BODY_IS_COMPLETE_AT, Exchange, Question, Ruling, Stage, Target, Trust, Use};
use crate::clock::instant;

/// What the listener does with a connection, once it has read a whole head.
type Deed = Box<dyn FnOnce(TcpStream) + Send>;

fn head_of(socket: &mut TcpStream) -> String {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") && socket.read(&mut byte).is_ok_and(|read| read == 1) {
        head.extend(byte);
    }
    String::from_utf8(head).unwrap()
}

/// Answers one connection after the other, each with the next deed, then closes its listener.
fn listener(deeds: Vec<Deed>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for deed in deeds {
            let (mut socket, _) = listener.accept().unwrap();
            head_of(&mut socket);
            deed(socket);
        }
    });
    address
}

fn says(text: impl AsRef<[u8]> + Send + 'static) -> Deed {
    Box::new(move |mut socket| socket.write_all(text.as_ref()).unwrap())
}

fn resets_after(text: &'static str) -> Deed {
    Box::new(move |mut socket| {
        socket.write_all(text.as_bytes()).unwrap();
        socket2::SockRef::from(&socket).set_linger(Some(Duration::ZERO)).unwrap();
    })
}

fn target_at(address: SocketAddr) -> Arc<Target> {
    Arc::new(Target::new(&format!("http://{address}/readyz"), Use::Once, Trust::Machine).unwrap())
}

async fn ask(target: Arc<Target>) -> Exchange {
    let mut question = Question::on_new_connection(target, BODY_IS_COMPLETE_AT);
    match question.by(instant() + Duration::from_secs(20)).await {
        Ruling::Decided { exchange, .. } => *exchange,
        Ruling::Silent { .. } => panic!("silent: {question:?}"),
    }
}

#[track_caller]
fn check(deed: Deed, expected: &Answer, code: &str) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let exchange = runtime.block_on(ask(target_at(listener(vec![deed]))));
    assert_eq!(exchange.answer(), *expected, "{exchange:?}");
    let found = exchange.result.as_ref().map_or_else(|trouble| trouble.code().to_owned(), |_| String::new());
    assert_eq!(found, code, "{exchange:?}");
    assert!(exchange.progress.written_bytes > 0 && exchange.progress.connected_at.is_some(), "{exchange:?}");
}

fn cut(by: Cutting) -> Answer {
    Answer::Cut { by }
}

#[test]
fn a_complete_answer_is_what_its_status_says() {
    let ready = Answer::of_status(200, None);
    check(says("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"), &ready, "");
    check(says("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"), &ready, "");
    check(says("HTTP/1.0 200 OK\r\n\r\nok, and the end is the end"), &ready, "");
    check(says("HTTP/1.1 204 No Content\r\n\r\n"), &Answer::of_status(204, None), "");
    check(says("HTTP/1.1 503 No\r\ncontent-length: 0\r\n\r\n"), &Answer::NotReady { status: 503 }, "");
    check(
        says("HTTP/1.1 302 There\r\nlocation: /\r\ncontent-length: 0\r\n\r\n"),
        &Answer::NotReady { status: 302 },
        "",
    );
    let too_many = Answer::Silent { by: Silence::TooManyRequests };
    check(says("HTTP/1.1 429 Less\r\ncontent-length: 0\r\n\r\n"), &too_many, "");
}

#[test]
fn interim_answers_are_passed_over() {
    let text = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: <a>\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";
    check(says(text), &Answer::of_status(200, None), "");
}

#[test]
fn a_complete_answer_followed_by_a_reset_is_complete() {
    check(resets_after("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"), &Answer::of_status(200, None), "");
}

#[test]
fn the_first_64_kib_of_a_body_are_enough() {
    let deed: Deed = Box::new(|mut socket| {
        socket.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 1000000000\r\n\r\n").unwrap();
        while socket.write_all(&[b'x'; 4096]).is_ok() {}
    });
    check(deed, &Answer::of_status(200, None), "");
}

#[test]
fn what_breaks_off_before_it_is_complete_is_cut() {
    check(says(""), &cut(Cutting::Closed), "EOF");
    check(says("HTTP/1.1 200 O"), &cut(Cutting::Closed), "EOF");
    check(says("HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nok"), &cut(Cutting::Closed), "EOF");
    check(resets_after(""), &cut(Cutting::Reset), "ECONNRESET");
}

#[test]
fn what_is_not_http_is_garbled_with_or_without_an_end() {
    check(says("hello\r\n"), &cut(Cutting::Garbled), "NOT_HTTP");
    check(says([0xff_u8, 0, 1, 2, 13, 10, 13, 10]), &cut(Cutting::Garbled), "NOT_HTTP");
    let endless: Deed = Box::new(|mut socket| {
        let _ = socket.write_all(b"HTTP/1.1 200 OK\r\n");
        while socket.write_all(b"a: b\r\n").is_ok() {}
    });
    check(endless, &cut(Cutting::Garbled), "NOT_HTTP");
}

#[tokio::test]
async fn a_head_without_its_body_is_told_from_no_head() {
    let torn = ask(target_at(listener(vec![says("HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nok")]))).await;
    assert!(matches!(torn.result, Err(Trouble::Torn { .. })) && torn.progress.head_at.is_some(), "{torn:?}");
    let garbled = says("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n");
    let torn = ask(target_at(listener(vec![garbled]))).await;
    assert!(matches!(torn.result, Err(Trouble::Torn { by: Cutting::Garbled, .. })), "{torn:?}");
    let cut = ask(target_at(listener(vec![says("HTTP")]))).await;
    assert!(matches!(cut.result, Err(Trouble::Cut { .. })) && cut.progress.head_at.is_none(), "{cut:?}");
}

#[tokio::test]
async fn nobody_at_the_address_is_a_refusal_and_nothing_was_written() {
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let exchange = ask(target_at(address)).await;
    assert_eq!(exchange.answer(), Answer::Refused { by: Refuser::Host });
    assert_eq!((exchange.progress.written_bytes, exchange.progress.connected_at), (0, None));
}

#[tokio::test]
async fn a_connection_to_oneself_is_our_own_trouble() {
    let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
    socket.bind(&SocketAddr::from(([127, 0, 0, 1], 0)).into()).unwrap();
    let address = socket.local_addr().unwrap().as_socket().unwrap();
    socket.connect(&address.into()).unwrap();
    socket.set_nonblocking(true).unwrap();
    let stream = Arc::new(tokio::net::TcpStream::from_std(socket.into()).unwrap());
    let target = target_at(address);
    let mut connection = super::exchange::begin_on(stream, &target, Arc::new(Facts::new())).await.unwrap();
    let trouble = super::exchange::converse(&mut connection, &target, BODY_IS_COMPLETE_AT).await.unwrap_err();
    assert_eq!(trouble.answer(), Answer::Fault { code: "SELF_CONNECT".into() });
}

#[tokio::test]
async fn no_session_is_a_cut() {
    let address = listener(vec![Box::new(|_| {})]);
    let plain = std::thread::spawn(move || TcpStream::connect(address).map(|mut socket| socket.write_all(b"\r\n\r\n")));
    plain.join().unwrap().unwrap().unwrap();
    let garbage = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = garbage.local_addr().unwrap();
    std::thread::spawn(move || {
        let (mut socket, _) = garbage.accept().unwrap();
        socket.write_all(b"HTTP/1.1 400 Plain\r\n\r\n").unwrap();
        let _ = socket.read(&mut [0; 4096]);
    });
    let target = Target::new(&format!("https://{address}/"), Use::Once, Trust::Anybody).unwrap();
    assert_eq!(ask(Arc::new(target)).await.answer(), cut(Cutting::Tls));
}

#[tokio::test]
async fn a_certificate_that_nobody_has_signed_is_no_session_unless_anybody_is_trusted() {
    let signed = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let key = tokio_rustls::rustls::pki_types::PrivateKeyDer::try_from(signed.signing_key.serialize_der()).unwrap();
    let config = tokio_rustls::rustls::ServerConfig::builder_with_provider(Arc::new(
        tokio_rustls::rustls::crypto::ring::default_provider(),
    ))
    .with_safe_default_protocol_versions()
    .unwrap()
    .with_no_client_auth()
    .with_single_cert(vec![signed.cert.der().clone()], key)
    .unwrap();
    let acceptor = tokio_rustls::TlsAcceptor::from(Arc::new(config));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        loop {
            let (socket, _) = listener.accept().await.unwrap();
            let Ok(mut session) = acceptor.accept(socket).await else { continue };
            let _ = session.read(&mut [0; 4096]).await;
            let _ = session.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok").await;
        }
    });
    for (trust, expected) in [(Trust::Anybody, Answer::of_status(200, None)), (Trust::Machine, cut(Cutting::Tls))] {
        let target = Target::new(&format!("https://{address}/"), Use::Once, trust).unwrap();
        assert_eq!(ask(Arc::new(target)).await.answer(), expected, "{trust:?}");
    }
}

#[tokio::test]
async fn the_wanted_header_comes_with_the_answer_where_it_is_text() {
    for (line, expected) in [
        ("x-version: a1b2c3d", Some("a1b2c3d")),
        ("X-Version:   spaced \t", Some("spaced")),
        ("x-version: ", None),
        ("x-other: a", None),
    ] {
        let text = format!("HTTP/1.1 200 OK\r\n{line}\r\ncontent-length: 0\r\n\r\n");
        let address = listener(vec![says(text)]);
        let target = Target::new(&format!("http://{address}/"), Use::Once, Trust::Machine).unwrap();
        let target = target.wanting(&hyper::header::HeaderName::from_static("x-version"));
        let expected = Answer::of_status(200, expected.map(Into::into));
        assert_eq!(ask(Arc::new(target)).await.answer(), expected, "{line:?}");
    }
}

#[tokio::test]
async fn what_lay_in_our_system_at_a_deadline_that_we_came_late_to_is_taken() {
    let (go, goes) = mpsc::channel::<()>();
    let (answered, was_answered) = mpsc::channel();
    let deed: Deed = Box::new(move |mut socket| {
        goes.recv().unwrap();
        socket.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").unwrap();
        answered.send(()).unwrap();
    });
    let mut question = Question::on_new_connection(target_at(listener(vec![deed])), BODY_IS_COMPLETE_AT);
    // The question is sent; then this thread, which alone turns the runtime, is held up until the answer has come.
    while question.progress().written_bytes == 0 {
        let look = |cx: &mut Context<'_>| Poll::Ready(std::pin::Pin::new(&mut question).poll(cx).is_pending());
        assert!(std::future::poll_fn(look).await);
        tokio::task::yield_now().await;
    }
    go.send(()).unwrap();
    was_answered.recv().unwrap();
    let deadline = instant();
    match question.by(deadline).await {
        Ruling::Decided { exchange, .. } => assert_eq!(exchange.answer(), Answer::of_status(200, None)),
        Ruling::Silent { .. } => panic!("{question:?}"),
    }
}

#[tokio::test]
async fn a_silent_question_may_be_awaited_further() {
    let (go, goes) = mpsc::channel::<()>();
    let deed: Deed = Box::new(move |mut socket| {
        goes.recv().unwrap();
        socket.write_all(b"HTTP/1.1 503 No\r\ncontent-length: 0\r\n\r\n").unwrap();
    });
    let mut question = Question::on_new_connection(target_at(listener(vec![deed])), BODY_IS_COMPLETE_AT);
    let ruling = question.by(instant() + Duration::from_millis(20)).await;
    assert!(matches!(ruling, Ruling::Silent { .. }), "{ruling:?}");
    assert_eq!(question.progress().stage, Stage::Waiting);
    go.send(()).unwrap();
    assert_eq!(question.await.answer(), Answer::NotReady { status: 503 });
}

#[tokio::test]
async fn a_kept_connection_carries_more_questions_until_it_is_closed() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (go, goes) = mpsc::channel::<()>();
    let (closed, was_closed) = mpsc::channel();
    std::thread::spawn(move || {
        let (mut socket, _) = listener.accept().unwrap();
        for _ in 0..2 {
            let head = head_of(&mut socket);
            assert!(!head.to_ascii_lowercase().contains("connection:"), "{head}");
            socket.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok").unwrap();
        }
        goes.recv().unwrap();
        drop(socket);
        closed.send(()).unwrap();
    });
    let target = Arc::new(Target::new(&format!("http://{address}/"), Use::Again, Trust::Machine).unwrap());
    let mut exchange = Question::on_new_connection(Arc::clone(&target), u64::MAX).await;
    let mut uses = vec![exchange.earlier_uses];
    exchange = Question::on(exchange.connection.unwrap(), Arc::clone(&target), u64::MAX).await;
    uses.push(exchange.earlier_uses);
    assert_eq!(exchange.answer(), Answer::of_status(200, None));
    let connection = exchange.connection.unwrap();
    go.send(()).unwrap();
    was_closed.recv().unwrap();
    exchange = Question::on(connection, target, u64::MAX).await;
    uses.push(exchange.earlier_uses);
    assert_eq!(exchange.answer(), cut(Cutting::Closed));
    assert_eq!((exchange.progress.written_bytes, uses), (0, vec![0, 1, 2]));
}

#[tokio::test]
async fn a_name_is_looked_up_and_one_that_does_not_exist_is_a_refusal_or_our_own_trouble() {
    let address = listener(vec![says("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")]);
    let url = format!("http://localhost:{}/", address.port());
    let target = Arc::new(Target::new(&url, Use::Once, Trust::Machine).unwrap());
    assert_eq!(ask(target).await.answer(), Answer::of_status(200, None));
    let nowhere = Arc::new(Target::new("http://greenlight.invalid/", Use::Once, Trust::Machine).unwrap());
    // Where no names' service can be reached, nobody can say that the name does not exist.
    let answer = ask(nowhere).await.answer();
    assert!(matches!(answer, Answer::Refused { by: Refuser::Names } | Answer::Fault { .. }), "{answer:?}");
}
