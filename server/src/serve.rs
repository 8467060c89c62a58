//! The daemon as a process: its socket, its data directory, its signals.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::http::{StatusCode, Uri};
use greenlight_core::Name;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;

use crate::cli::settings::{Data, Settings};
use crate::clock::Clock;
use crate::daemon::{Builder, Daemon, Handle};
use crate::http::server::{Phase, Server};
use crate::http::{HttpSettings, Tokens};
use crate::source::follow::{Upstream, follow};
use crate::source::probe::{self, Prober};
use crate::store::lock::{self, Lock, LockError};

/// How a daemon ended that was told to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    /// In order: what was in flight had its time, and everything is stored.
    InOrder,
    /// By a second signal, before that.
    AtOnce,
}

/// Runs a daemon until a signal ends it. `reload` reads the settings anew, for SIGHUP.
///
/// # Errors
/// What kept it from starting, in words: the address is taken, the data directory is held or cannot be used, a token
/// file cannot be read.
pub(crate) fn run(
    settings: Settings,
    reload: impl Fn() -> Result<Settings, String> + Send + 'static,
) -> Result<Ended, String> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        // With one core a probe would wait behind whatever runs.
        .worker_threads(std::thread::available_parallelism().map_or(2, |cores| cores.get().max(2)))
        .enable_all()
        .build()
        .map_err(|error| format!("the system gives no threads: {error}"))?;
    let ended = runtime.block_on(serve(settings, reload))?;
    // Nothing that still waits may hold the exit.
    runtime.shutdown_background();
    Ok(ended)
}

async fn serve(
    settings: Settings,
    reload: impl Fn() -> Result<Settings, String> + Send + 'static,
) -> Result<Ended, String> {
    let mut signals = Signals::new().map_err(|error| format!("signals cannot be heard: {error}"))?;
    let holder = format!("process {}, started for {}", std::process::id(), settings.bind);
    let held = match &settings.data {
        Data::Memory => Held::Nothing,
        Data::Dir(directory) => match lock::acquire(directory, &holder) {
            Ok(lock) => Held::Lock(lock),
            Err(LockError::Held { by, .. }) if settings.wait_for_lock => Held::By(by),
            Err(error) => return Err(error.to_string()),
        },
    };
    let server = Server::bind(settings.bind, DESCRIPTORS_PER_PROBE.saturating_mul(settings.probe.len()))
        .await
        .map_err(|error| format!("cannot listen on {}: {error}; give another --bind", settings.bind))?;
    let address = server.address().map_err(|error| error.to_string())?;
    let (routes, current) = watch::channel(standby(&held));
    let (phase, phases) = watch::channel(Phase::Serve);
    let serving = tokio::spawn(server.run(current, phases));
    // Whoever started us may have closed the pipe.
    let _ = writeln!(io::stdout(), "listening on http://{address}").and_then(|()| io::stdout().flush());

    let lock = match (held, &settings.data) {
        (Held::By(by), Data::Dir(directory)) => {
            tracing::warn!(directory = %directory.display(), held_by = %by, "standing by until the data directory is free");
            let (directory, holder) = (directory.clone(), holder.clone());
            let waiting = tokio::task::spawn_blocking(move || lock::wait(&directory, &holder));
            tokio::select! {
                lock = waiting => Some(lock.map_err(|error| error.to_string())?.map_err(|error| error.to_string())?),
                () = signals.end() => return Ok(Ended::InOrder),
            }
        }
        (Held::Lock(lock), _) => Some(lock),
        (Held::Nothing | Held::By(_), _) => None,
    };

    let (daemon, http) = start(&settings)?;
    let tokens = Arc::clone(&http.tokens);
    let read_tokens = http.read_tokens.clone();
    for (upstream, source) in upstreams(&settings)? {
        tokio::spawn(follow(upstream, source, daemon.handle()));
    }
    let prober = Prober::start(&settings.probe, daemon.handle())?;
    // Readers are gone only if the server is.
    let _ = routes.send(daemon.router(http));
    tracing::info!(%address, horizon = %settings.stale_after, "serving");

    let handle = daemon.handle();
    while signals.next().await == Told::ReadAgain {
        tokens.refresh();
        if let Some(read_tokens) = &read_tokens {
            read_tokens.refresh();
        }
        match reload() {
            Ok(settings) => {
                // An error means that the daemon is ending.
                let _ = handle.set_stale_after(settings.stale_after).await;
                if let Err(error) = prober.set(&settings.probe).await {
                    tracing::error!(%error, "the probes stay as they are");
                }
                tracing::info!(horizon = %settings.stale_after, "read the settings again");
            }
            Err(error) => tracing::error!(%error, "the settings cannot be read: they stay as they are"),
        }
    }
    let ended = shut_down(&handle, &phase, serving, Duration::from_secs(settings.drain_secs));
    let ended = tokio::select! {
        () = ended => Ended::InOrder,
        () = signals.end() => {
            tracing::warn!("a second signal: ending at once");
            Ended::AtOnce
        }
    };
    drop(lock);
    Ok(ended)
}

/// Not ready at once; everything else goes on for the drain; then what is in flight gets a last few seconds.
async fn shut_down(
    handle: &Handle,
    phase: &watch::Sender<Phase>,
    serving: tokio::task::JoinHandle<()>,
    drain: Duration,
) {
    tracing::info!(drain_secs = drain.as_secs(), "shutting down");
    handle.begin_shutdown();
    tokio::time::sleep(drain).await;
    // An error means that the server has ended already.
    let _ = phase.send(Phase::Finish);
    let finish = async {
        let _ = serving.await;
        handle.stop().await;
    };
    if tokio::time::timeout(LAST_REQUESTS, finish).await.is_err() {
        tracing::warn!("requests were still open at the end of their time");
        // What was reported while they were open is stored all the same, if the disk allows it in time.
        let _ = tokio::time::timeout(LAST_COMMIT, handle.stop()).await;
    }
}

fn start(settings: &Settings) -> Result<(Daemon, HttpSettings), String> {
    let builder = Daemon::builder()
        .clock(Clock::system())
        .stale_after(settings.stale_after)
        .good_for(settings.good_for)
        .history_secs(settings.history_secs)
        .exit_when_the_task_ends();
    let builder: Builder = match &settings.data {
        Data::Dir(directory) => builder.store(crate::store::open(directory).map_err(|error| error.to_string())?),
        Data::Memory => {
            tracing::warn!("--data memory: a restart forgets every row, stamp and token made here");
            builder
        }
    };
    let daemon = builder.start().map_err(|error| error.to_string())?;
    let in_words = |file: &Path| {
        let file = file.display().to_string();
        move |error: io::Error| format!("token file {file}: {error}")
    };
    let tokens = match (&settings.token_file, &settings.data) {
        (Some(file), _) => Tokens::of_file(file).map_err(in_words(file))?,
        (None, Data::Dir(directory)) => Tokens::of_data(directory).map_err(in_words(&directory.join("token")))?,
        (None, Data::Memory) => {
            tracing::warn!("--data memory without --token-file: nobody may write over HTTP");
            Tokens::none()
        }
    };
    let read_tokens =
        settings.read_token_file.as_deref().map(|file| Tokens::of_file(file).map_err(in_words(file))).transpose()?;
    let mut configured_sources = upstreams(settings)?.into_iter().map(|(_, source)| source).collect::<BTreeSet<Name>>();
    configured_sources.insert(Name::of_source(probe::SOURCE).map_err(|error| error.to_string())?);
    Ok((
        daemon,
        HttpSettings {
            tokens: Arc::new(tokens),
            read_tokens: read_tokens.map(Arc::new),
            allow_origin: settings.allow_origin.clone(),
            configured_sources,
            #[cfg(feature = "page")]
            page: crate::http::PageFiles::of(settings.web_dir.as_ref()),
        },
    ))
}

fn upstreams(settings: &Settings) -> Result<Vec<(Upstream, Name)>, String> {
    settings
        .follow
        .iter()
        .map(|follow| {
            let upstream = Upstream {
                url: follow.url.clone(),
                prefix: follow.prefix.clone().unwrap_or_default(),
                every_secs: follow.every_secs,
            };
            let source = upstream.source().map_err(|error| format!("--follow {}: {error}", upstream.url))?;
            Ok((upstream, source))
        })
        .collect()
}

/// Whether the data directory is ours.
enum Held {
    Lock(Lock),
    By(String),
    Nothing,
}

/// What a daemon answers that does not have its data directory yet: live, and not ready.
fn standby(held: &Held) -> Router {
    let why = match held {
        Held::By(by) => format!("not ready: standing by: the data directory is held by {by}\n"),
        Held::Lock(_) | Held::Nothing => "not ready: starting\n".into(),
    };
    Router::new().fallback(move |uri: Uri| {
        let why = why.clone();
        async move {
            match uri.path() {
                "/livez" | "/healthz" => (StatusCode::OK, "ok\n".to_owned()),
                _ => (StatusCode::SERVICE_UNAVAILABLE, why),
            }
        }
    })
}

/// What the system tells us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Told {
    End,
    ReadAgain,
}

struct Signals {
    term: Signal,
    interrupt: Signal,
    hangup: Signal,
}

impl Signals {
    fn new() -> io::Result<Self> {
        Ok(Self {
            term: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            hangup: signal(SignalKind::hangup())?,
        })
    }

    async fn next(&mut self) -> Told {
        tokio::select! {
            _ = self.term.recv() => Told::End,
            _ = self.interrupt.recv() => Told::End,
            _ = self.hangup.recv() => Told::ReadAgain,
        }
    }

    /// Waits for the word to end, and for no other.
    async fn end(&mut self) {
        while self.next().await != Told::End {}
    }
}

/// A probe, and the one whose late answer is awaited.
const DESCRIPTORS_PER_PROBE: usize = 2;
/// Requests that are open when the listener closes get so long.
const LAST_REQUESTS: Duration = Duration::from_millis(4_500);
/// The rest of their five seconds is for the store.
const LAST_COMMIT: Duration = Duration::from_millis(400);
