//! What the server is told to do wrong.

use std::path::PathBuf;
use std::time::Duration;

/// Faults of a kind that are still to come.
#[derive(Clone)]
pub(crate) struct Planned {
    pub(crate) kind: String,
    pub(crate) left: u64,
    pub(crate) lane: Option<String>,
}

/// What it does on a SIGTERM.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum OnTerm {
    Graceful,
    Close,
    Exit,
    Ignore,
    Hang,
}

/// What it was told on its command line.
pub(crate) struct Plan {
    pub(crate) port: u16,
    pub(crate) ready_port: Option<u16>,
    pub(crate) faults: Vec<Planned>,
    pub(crate) after: u64,
    pub(crate) stall_ready: (u64, u64),
    pub(crate) flap: u64,
    pub(crate) never_ready: bool,
    pub(crate) listen_after: Duration,
    /// The port of readiness closes on a SIGTERM.
    pub(crate) ready_closes: bool,
    pub(crate) keep: Option<u64>,
    pub(crate) shut_at: Option<(u64, Duration)>,
    /// One request at a time, each of so long.
    pub(crate) one_worker: Option<Duration>,
    pub(crate) on_term: OnTerm,
    pub(crate) grace: Duration,
    pub(crate) fail: Option<String>,
    pub(crate) log: Option<PathBuf>,
}

impl Plan {
    /// The plan of this process.
    pub(crate) fn from_arguments() -> Result<Self, String> {
        let mut plan = Self {
            port: port("PORT")?,
            ready_port: None,
            faults: Vec::new(),
            after: 0,
            stall_ready: (0, 0),
            flap: 0,
            never_ready: false,
            listen_after: Duration::ZERO,
            ready_closes: false,
            keep: None,
            shut_at: None,
            one_worker: None,
            on_term: OnTerm::Graceful,
            grace: Duration::from_secs(1),
            fail: None,
            log: None,
        };
        let mut arguments = std::env::args().skip(1);
        while let Some(flag) = arguments.next() {
            let mut value = || arguments.next().ok_or(format!("{flag} needs a value"));
            match flag.as_str() {
                "--fault" => plan.faults.push(fault(&value()?)?),
                "--after" => plan.after = number(&value()?)?,
                "--stall-ready" => plan.stall_ready = pair(&value()?)?,
                "--flap" => plan.flap = number(&value()?)?,
                "--never-ready" => plan.never_ready = true,
                "--listen-after" => plan.listen_after = Duration::from_millis(number(&value()?)?),
                "--ready-apart" => plan.ready_port = Some(port("READY_PORT")?),
                "--ready-closes" => plan.ready_closes = true,
                "--keep" => plan.keep = Some(number(&value()?)?),
                "--shut-at" => {
                    let (at, shut_for) = pair(&value()?)?;
                    plan.shut_at = Some((at, Duration::from_millis(shut_for)));
                }
                "--one-worker" => plan.one_worker = Some(Duration::from_millis(number(&value()?)?)),
                "--on-term" => {
                    plan.on_term = match value()?.as_str() {
                        "graceful" => OnTerm::Graceful,
                        "close" => OnTerm::Close,
                        "exit" => OnTerm::Exit,
                        "ignore" => OnTerm::Ignore,
                        "hang" => OnTerm::Hang,
                        other => return Err(format!("--on-term {other}")),
                    };
                }
                "--grace" => plan.grace = Duration::from_millis(number(&value()?)?),
                "--fail" => plan.fail = Some(value()?),
                "--log" => plan.log = Some(value()?.into()),
                other => return Err(format!("{other} is not known")),
            }
        }
        Ok(plan)
    }
}

#[expect(clippy::disallowed_methods, reason = "a server of a test learns its port as any other does")]
fn port(variable: &str) -> Result<u16, String> {
    let text = std::env::var(variable).map_err(|error| format!("{variable}: {error}"))?;
    text.parse().map_err(|error| format!("{variable}: {error}"))
}

fn number(text: &str) -> Result<u64, String> {
    text.parse().map_err(|error| format!("{text}: {error}"))
}

fn pair(text: &str) -> Result<(u64, u64), String> {
    let (first, second) = text.split_once(':').ok_or(format!("{text} is not A:B"))?;
    Ok((number(first)?, number(second)?))
}

fn fault(text: &str) -> Result<Planned, String> {
    let (kind, rest) = text.split_once('=').ok_or(format!("{text} is not KIND=COUNT"))?;
    let (count, lane) = rest.split_once('@').map_or((rest, None), |(count, lane)| (count, Some(lane.to_owned())));
    Ok(Planned { kind: kind.into(), left: number(count)?, lane })
}
