//! The first line of a record: under which rules the run stood, and on which machine.

use alloc::boxed::Box;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::rotation::RotationPolicy;

/// The schema that this version reads and writes.
pub const SCHEMA: &str = "greenlight.rehearsal/1";

/// The first line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// [`SCHEMA`].
    pub schema: Box<str>,
    /// The version of the program that wrote it.
    pub version: Box<str>,
    /// What was asked for.
    pub options: Options,
    /// When members join and leave.
    pub policy: RotationPolicy,
    /// What the run had at its disposal.
    pub machine: Machine,
    /// The processes, in order of start. Round robin goes in this order.
    pub processes: Vec<Planned>,
}

/// A process of the roll.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Planned {
    /// What it is called: `old`, `new`.
    pub name: Box<str>,
    /// Its command, the ports put in.
    pub command: Box<str>,
    /// Where it serves: a literal address with its port.
    pub address: Box<str>,
    /// Where it is asked whether it is ready: a literal address with its port, and the path.
    pub ready: Box<str>,
}

impl Planned {
    /// Whether it is asked for its readiness at the address where it serves.
    pub fn is_asked_where_it_serves(&self) -> bool {
        let path = self.ready.trim_start_matches("http://").strip_prefix(&*self.address);
        path.is_some_and(|path| path.is_empty() || path.starts_with('/'))
    }
}

/// What a run is asked to do. Lengths of time in microseconds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Options {
    /// The time between two ticks, at least 1.
    pub every_us: i64,
    /// The time between two probes of a process.
    pub probe_every_us: i64,
    /// How long a probe may take; a tick sent later than this after it was due is late.
    pub probe_timeout_us: i64,
    /// How long a join or a leave takes to reach the stream.
    pub lag_us: i64,
    /// When the client gives up on a tick, from when it was sent.
    pub give_up_us: i64,
    /// For how long the old one is asked alone before the new one starts.
    pub warm_up_us: i64,
    /// For how long the stream goes on after the old one exited.
    pub tail_us: i64,
    /// How long a process may take to join.
    pub start_timeout_us: i64,
    /// How long the old one may take from its SIGTERM to its exit.
    pub drain_timeout_us: i64,
    /// How many slow ticks are tolerated.
    pub max_slow: u64,
    /// What the stream asks for.
    pub path: Box<str>,
    /// The status that is fine; null: what the old one answers in preflight.
    pub expect: Option<u16>,
    /// How commands are run.
    pub spawn: Spawn,
    /// How many threads burn processor time meanwhile.
    pub busy: u32,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            every_us: 10_000,
            probe_every_us: 100_000,
            probe_timeout_us: 300_000,
            lag_us: 0,
            give_up_us: 10_000_000,
            warm_up_us: 2_000_000,
            tail_us: 2_000_000,
            start_timeout_us: 30_000_000,
            drain_timeout_us: 30_000_000,
            max_slow: 0,
            path: "/".into(),
            expect: None,
            spawn: Spawn::Direct,
            busy: 0,
        }
    }
}

/// How a command becomes a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Spawn {
    /// Split into words and started.
    Direct,
    /// Given to `sh -c`.
    Shell,
}

/// What the run had at its disposal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// Processors that it may use.
    pub cores: u32,
    /// File descriptors that it may have open at once.
    pub descriptors: u64,
    /// How many it reckoned to need at most.
    pub descriptors_needed: u64,
    /// Client ports that the system gives out.
    pub client_ports: u32,
}
