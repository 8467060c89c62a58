//! What a daemon is run with: plain values, whatever they came from.

use std::net::SocketAddr;
use std::path::PathBuf;

use greenlight_core::rotation::RotationPolicy;
use greenlight_core::{GoodFor, Horizon, Name};

/// The effective configuration of a daemon.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Where the daemon listens. Port 0 takes a free one.
    pub bind: SocketAddr,
    /// Where the board is kept.
    pub data: Data,
    /// The horizon: how long a change counts.
    pub stale_after: Horizon,
    /// For how long a report is good that does not say so itself.
    pub good_for: GoodFor,
    /// The tokens of the write plane, one a line, all valid. `None`: one is made in `DATA/token`.
    pub token_file: Option<PathBuf>,
    /// The tokens of the read plane. `None`: reads are open.
    pub read_token_file: Option<PathBuf>,
    /// How long a daemon that was asked to end still serves everything but `/readyz`, in seconds. 0: not at all.
    pub drain_secs: u64,
    /// How long history is kept, in seconds. 0: none is.
    pub history_secs: u64,
    /// Whether to stand by, live and not ready, while another daemon holds the data directory; else that is an
    /// error at start.
    pub wait_for_lock: bool,
    /// The daemons that are followed. No two have the same URL and prefix.
    pub follow: Vec<Follow>,
    /// The members that are probed. No two have the same name.
    pub probe: Vec<Probe>,
    /// The origins whose pages may read: `scheme://host[:port]`, or `*` for all. Never for writes.
    pub allow_origin: Vec<String>,
    /// A folder that is served as the page, instead of the one within the binary.
    pub web_dir: Option<PathBuf>,
    /// What is logged, and how.
    pub log: Log,
}

/// Where the board is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Data {
    /// In this folder, which is made at first start.
    Dir(PathBuf),
    /// Nowhere: a restart forgets every stamp.
    Memory,
}

impl Data {
    /// The file that holds the token which the daemon makes for itself; `None` in memory.
    pub fn token_file(&self) -> Option<PathBuf> {
        match self {
            Self::Dir(folder) => Some(folder.join("token")),
            Self::Memory => None,
        }
    }
}

/// Another daemon whose `/app` is polled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Follow {
    /// Its address, `http` or `https`, without user or password. A path says where its `/app` is; without a path
    /// it is at `/app`.
    pub url: String,
    /// What is put before the name of every row. A name may begin with it.
    pub prefix: Option<String>,
    /// The time from poll to poll in seconds, at least 1.
    pub every_secs: u64,
}

impl Follow {
    /// Ten seconds: a follower is heard from well within any horizon, and costs its upstream next to nothing.
    pub const EVERY_SECS: u64 = 10;
}

/// A member that is probed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Probe {
    /// What it is called, in rotation and on the board.
    pub name: Name,
    /// What is asked, `http` or `https`, without user or password.
    pub url: String,
    /// The time from one due time to the next, in milliseconds: 10 ms to a day.
    pub every_ms: u64,
    /// How long an answer may take, in milliseconds: 1 ms to five minutes. Due times that pass meanwhile are skipped.
    pub timeout_ms: u64,
    /// When it joins and leaves.
    pub policy: RotationPolicy,
    /// The header of a ready answer whose value tells what it serves.
    pub version_header: Option<String>,
    /// Whether a certificate must be one that this machine trusts, for that host.
    pub verify: bool,
}

impl Probe {
    /// Once a second.
    pub const EVERY_MS: u64 = 1000;
    /// Longer than a healthy member takes, and short enough to notice three silences within seconds.
    pub const TIMEOUT_MS: u64 = 300;

    /// Whether both put the same question to the same member: what is known of it then stays.
    pub(crate) fn asks_the_same(&self, other: &Self) -> bool {
        (&self.name, &self.url, &self.version_header, self.verify)
            == (&other.name, &other.url, &other.version_header, other.verify)
    }
}

/// What is logged, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Log {
    /// One line of text or of JSON for each event.
    pub format: LogFormat,
    /// Which events, as `tracing` filters them: `info`, `greenlight=debug`, …. It parses.
    pub filter: String,
}

/// How an event is written down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogFormat {
    /// For people.
    Text,
    /// For machines: one object a line.
    Json,
}

impl LogFormat {
    /// The word for it in flags, variables and the file.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Json => "json",
        }
    }
}
