//! A web server that misbehaves as often as it is told. What it does wrong is counted, not timed, so that what a
//! rehearsal must find is known exactly, however busy the machine is.
//!
//! ```text
//! fault-server [--fault KIND=COUNT[@fresh|@kept]]... [--after REQUESTS] [--stall-ready FIRST:COUNT] [--flap TIMES]
//!              [--never-ready] [--listen-after MS] [--ready-apart [--ready-closes]] [--keep ANSWERS]
//!              [--shut-at REQUEST:MS] [--one-worker MS] [--on-term graceful|close|exit|ignore|hang] [--grace MS]
//!              [--fail WORDS] [--log FILE]
//! ```
//!
//! Kinds: `close` and `reset` before an answer, `tear` half a body, `garble`, `error` 500, `other` 404, `hold` for
//! ever, `ok-reset` a complete answer and then a reset. The ports are those of the environment: PORT, and READY_PORT
//! under `--ready-apart`; with `--ready-closes` that one closes on a SIGTERM, as a port for the management does.

#![expect(clippy::print_stderr, reason = "a server of a test says why it does not start")]

mod plan;

use std::fs::OpenOptions;
use std::io::Write as _;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

use self::plan::{OnTerm, Plan, Planned};

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(words) => {
            eprintln!("fault-server: {words}");
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Result<(), String> {
    let plan = Plan::from_arguments()?;
    if let Some(words) = &plan.fail {
        return Err(words.clone());
    }
    let mut terminations = signal(SignalKind::terminate()).map_err(|error| error.to_string())?;
    let server = Arc::new(Server::new(plan));
    let (listening, mut is_listening) = watch::channel(true);
    if let Some(port) = server.plan.ready_port {
        let listener = bind(port).await?;
        let server = Arc::clone(&server);
        tokio::spawn(async move {
            let open = server.ready_open.subscribe();
            serve(server, listener, open).await;
        });
    }
    sleep(server.plan.listen_after).await;
    let port = server.plan.port;
    let listener = bind(port).await?;
    let accepting = Arc::clone(&server);
    let mut doorkeeper = tokio::spawn(async move { door(accepting, listener, port, &mut is_listening).await });
    loop {
        tokio::select! {
            _ = terminations.recv() => {}
            ended = &mut doorkeeper => return ended.map_err(|error| error.to_string()),
        }
        server.log("sigterm");
        match server.plan.on_term {
            OnTerm::Ignore => {}
            OnTerm::Exit => return Ok(()),
            OnTerm::Close | OnTerm::Hang | OnTerm::Graceful => {
                let (server, listening) = (Arc::clone(&server), listening.clone());
                tokio::spawn(async move { drain(&server, &listening).await });
            }
        }
    }
}

/// Ends as the plan says, once told to.
#[expect(clippy::exit, reason = "a server that has drained ends, whoever still holds a connection")]
async fn drain(server: &Server, listening: &watch::Sender<bool>) {
    server.is_draining.store(true, Ordering::SeqCst);
    if server.plan.ready_closes {
        server.ready_open.send_replace(false);
    }
    if server.plan.on_term == OnTerm::Graceful {
        sleep(server.plan.grace).await;
    }
    listening.send_replace(false);
    if server.plan.on_term == OnTerm::Hang {
        return;
    }
    if server.plan.on_term == OnTerm::Close {
        sleep(server.plan.grace).await;
    }
    // Only what was asked already is still answered.
    while server.under_way.load(Ordering::SeqCst) > 0 {
        sleep(Duration::from_millis(5)).await;
    }
    server.log("exit");
    std::process::exit(0);
}

/// Accepts while it may, and opens again after it was shut.
async fn door(server: Arc<Server>, listener: TcpListener, port: u16, is_listening: &mut watch::Receiver<bool>) {
    let mut listener = Some(listener);
    loop {
        if let Some(open) = listener.take() {
            tokio::select! {
                () = serve(Arc::clone(&server), open, is_listening.clone()) => {}
                () = server.shut.notified() => {}
            }
        }
        server.log("closed");
        if !*is_listening.borrow() {
            std::future::pending::<()>().await;
        }
        sleep(server.plan.shut_at.map_or(Duration::ZERO, |(_, shut_for)| shut_for)).await;
        match bind(port).await {
            Ok(again) => {
                server.log("opened");
                listener = Some(again);
            }
            Err(words) => eprintln!("fault-server: {words}"),
        }
    }
}

async fn serve(server: Arc<Server>, listener: TcpListener, mut is_listening: watch::Receiver<bool>) {
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = is_listening.wait_for(|open| !*open) => return,
        };
        let Ok((stream, _)) = accepted else { continue };
        if server.plan.one_worker.is_some() {
            // Whoever comes meanwhile waits in the system's queue.
            converse(&server, stream).await;
        } else {
            let server = Arc::clone(&server);
            tokio::spawn(async move { converse(&server, stream).await });
        }
    }
}

async fn bind(port: u16) -> Result<TcpListener, String> {
    TcpListener::bind(("127.0.0.1", port)).await.map_err(|error| format!("port {port}: {error}"))
}

/// What a request comes to.
enum Reply {
    /// These bytes, and the connection goes on.
    Go(Vec<u8>),
    /// These bytes, and it is closed.
    Close(Vec<u8>),
    /// These bytes, and it is reset.
    Reset(Vec<u8>),
    /// Nothing, until the peer goes.
    Hold,
}

async fn converse(server: &Server, mut stream: TcpStream) {
    let mut read = Vec::new();
    let mut answers = 0;
    loop {
        let end = loop {
            if let Some(end) = read.windows(4).position(|bytes| bytes == b"\r\n\r\n") {
                break end + 4;
            }
            let mut piece = [0; 4096];
            match stream.read(&mut piece).await {
                Ok(0) | Err(_) => return,
                Ok(bytes) => read.extend_from_slice(&piece[..bytes]),
            }
        };
        let head = String::from_utf8_lossy(&read[..end]).to_lowercase();
        read.drain(..end);
        server.under_way.fetch_add(1, Ordering::SeqCst);
        let reply = server.reply(&head);
        let work = server.plan.one_worker.filter(|_| !head.starts_with("get /readyz"));
        if let Some(takes) = work {
            sleep(takes).await;
        }
        let sent = match &reply {
            Reply::Go(bytes) | Reply::Close(bytes) | Reply::Reset(bytes) => stream.write_all(bytes).await,
            Reply::Hold => Ok(()),
        };
        if matches!(reply, Reply::Hold) {
            server.log("held");
            let mut nothing = [0; 1];
            // Until the peer goes.
            let _ = stream.read(&mut nothing).await;
        }
        server.under_way.fetch_sub(1, Ordering::SeqCst);
        if work.is_some() && sent.is_ok() {
            server.log("served");
        }
        answers += 1;
        match reply {
            Reply::Go(_) if sent.is_ok() && !head.contains("connection: close") => {}
            Reply::Reset(_) => {
                let _ = stream.set_zero_linger();
                return;
            }
            Reply::Go(_) | Reply::Close(_) | Reply::Hold => return,
        }
        if server.plan.keep.is_some_and(|most| answers >= most) {
            // The close comes apart from the answer, once the peer has that and asks nothing more.
            let mut piece = [0; 4096];
            match timeout(QUIET, stream.read(&mut piece)).await {
                Ok(Ok(bytes)) if bytes > 0 => read.extend_from_slice(&piece[..bytes]),
                Ok(_) | Err(_) => return,
            }
        }
    }
}

struct Server {
    plan: Plan,
    faults: Mutex<Vec<Planned>>,
    requests: AtomicU64,
    ready_asked: AtomicU64,
    under_way: AtomicU64,
    is_draining: AtomicBool,
    shut: tokio::sync::Notify,
    /// Whether the port of readiness is.
    ready_open: watch::Sender<bool>,
}

impl Server {
    fn new(plan: Plan) -> Self {
        Self {
            faults: Mutex::new(plan.faults.clone()),
            plan,
            requests: AtomicU64::new(0),
            ready_asked: AtomicU64::new(0),
            under_way: AtomicU64::new(0),
            is_draining: AtomicBool::new(false),
            shut: tokio::sync::Notify::new(),
            ready_open: watch::Sender::new(true),
        }
    }

    fn reply(&self, head: &str) -> Reply {
        if head.starts_with("get /readyz") {
            return self.readiness();
        }
        let number = self.requests.fetch_add(1, Ordering::SeqCst) + 1;
        if self.plan.shut_at.is_some_and(|(at, _)| at == number) {
            self.shut.notify_one();
        }
        let fault = if number > self.plan.after { self.next_fault(head) } else { None };
        match fault.as_deref() {
            None if self.plan.one_worker.is_some() => Reply::Close(answer("200 OK\r\nconnection: close", "ok")),
            None => Reply::Go(answer("200 OK", "ok")),
            Some("close") => Reply::Close(Vec::new()),
            Some("reset") => Reply::Reset(Vec::new()),
            Some("tear") => Reply::Close(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf".to_vec()),
            Some("garble") => Reply::Close(b"\x01\x02 this is not HTTP\r\n\r\n".to_vec()),
            Some("error") => Reply::Go(answer("500 Internal Server Error", "no")),
            Some("other") => Reply::Go(answer("404 Not Found", "no")),
            Some("ok-reset") => Reply::Reset(answer("200 OK", "ok")),
            Some(_) => Reply::Hold,
        }
    }

    fn readiness(&self) -> Reply {
        let number = self.ready_asked.fetch_add(1, Ordering::SeqCst) + 1;
        let (first, count) = self.plan.stall_ready;
        let flaps = number > 1 && number.is_multiple_of(2) && number / 2 <= self.plan.flap;
        if self.is_draining.load(Ordering::SeqCst) || self.plan.never_ready || flaps {
            Reply::Close(answer("503 Service Unavailable", "no"))
        } else if count > 0 && (first..first + count).contains(&number) {
            Reply::Hold
        } else {
            Reply::Close(answer("200 OK", "ok"))
        }
    }

    fn next_fault(&self, head: &str) -> Option<String> {
        let lane = if head.contains("connection: close") { "fresh" } else { "kept" };
        let mut faults = self.faults.lock().unwrap_or_else(PoisonError::into_inner);
        let fault =
            faults.iter_mut().find(|fault| fault.left > 0 && fault.lane.as_deref().is_none_or(|only| only == lane))?;
        fault.left -= 1;
        Some(fault.kind.clone())
    }

    fn log(&self, line: &str) {
        if let Some(path) = &self.plan.log
            && let Ok(mut file) = OpenOptions::new().create(true).append(true).open(path)
        {
            let _ = writeln!(file, "{line}");
        }
    }
}

fn answer(status: &str, body: &str) -> Vec<u8> {
    format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

/// After so long without a question a connection that has had its answers is closed. Less than the time between two
/// questions of a lane, so that nobody asks just then.
const QUIET: Duration = Duration::from_millis(5);
