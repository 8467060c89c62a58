//! From what was asked for to what can be run: everything that can be known to be wrong is said before anything
//! starts, with the words to put it right.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::net::{IpAddr, SocketAddr};
use std::ops::RangeInclusive;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use greenlight_core::rehearsal::{Event, Header, MAX_LINE_BYTES, Machine, Options, Planned, SCHEMA, Spawn};
use greenlight_core::rotation::RotationPolicy;

use super::bug::Bug;
use super::command::{split, with_ports};
use super::limits;
use super::ports;
use super::stream::MAX_IDLE;
use crate::ask::{Target, Trust, Use};

/// What was asked for.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    /// How the run goes.
    pub(crate) options: Options,
    /// When a process joins and leaves.
    pub(crate) policy: RotationPolicy,
    /// The command of the old one and of the new one.
    pub(crate) commands: [String; 2],
    /// Where readiness is asked: a path, or `:{ready_port}/path`.
    pub(crate) ready: String,
    /// The literal address on which the processes listen.
    pub(crate) host: IpAddr,
    /// The ports to give to them; `None`: any free ones.
    pub(crate) ports: Option<RangeInclusive<u16>>,
    /// Where the record goes.
    pub(crate) record: Option<PathBuf>,
    /// Where commands are looked for: the value of PATH.
    pub(crate) search: Option<OsString>,
    /// The bug that a test asks for.
    pub(crate) bug: Option<Bug>,
}

/// What can be run.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub(super) header: Header,
    pub(super) launches: Vec<Launch>,
    pub(super) record: Option<(File, PathBuf)>,
    /// The limit of descriptors that the processes get.
    pub(super) descriptors: u64,
    pub(super) bug: Option<Bug>,
}

/// A process to be started.
#[derive(Debug)]
pub(super) struct Launch {
    pub(super) name: &'static str,
    pub(super) words: Vec<String>,
    pub(super) port: u16,
    pub(super) ready_port: u16,
    pub(super) address: SocketAddr,
    pub(super) ready_address: SocketAddr,
    pub(super) url: String,
    pub(super) ready_url: String,
    /// What is asked on a new connection, and on one that is kept.
    pub(super) fresh: Arc<Target>,
    pub(super) kept: Arc<Target>,
    pub(super) probe: Arc<Target>,
}

/// The places of the two in every list.
pub(super) const OLD: usize = 0;
pub(super) const NEW: usize = 1;
const NAMES: [&str; 2] = ["old", "new"];

/// Makes it ready to run. Ports are free when this returns, and nothing was started.
///
/// # Errors
/// In words, what is wrong and what to do.
pub(crate) fn preflight(plan: &Plan) -> Result<Prepared, String> {
    let Plan { options, policy, commands, ready, host, ports: given, record, search, bug } = plan;
    if options.every_us < LEAST_EVERY_US {
        return Err("--every is less than 0.1 ms: write 1ms or more".into());
    }
    if !options.path.starts_with('/') {
        return Err(format!("--path {:?} does not begin with a slash", options.path));
    }
    if options.probe_every_us < 1_000 || options.probe_timeout_us < 1_000 || options.give_up_us < 1_000 {
        return Err("--probe-every, --probe-timeout and --give-up are 1ms at least".into());
    }
    let descriptors = limits::raise();
    let needed = limits::needed(options, MAX_IDLE);
    if needed > descriptors.allowed {
        return Err(format!(
            "{needed} file descriptors are needed for requests that nobody answers, and {} are allowed: raise the hard \
             limit (ulimit -Hn), or lower --give-up or the rate by --every",
            descriptors.allowed
        ));
    }
    let ports = ports::pick(*host, given.clone(), 4)?;
    let mut launches = Vec::new();
    for ((name, command), ports) in NAMES.into_iter().zip(commands).zip(ports.chunks(2)) {
        let &[port, ready_port] = ports else { return Err("no ports were found: a bug of ours".into()) };
        let words = words_of(command, options.spawn, port, ready_port).map_err(|why| format!("--{name} {why}"))?;
        if let Some(program) = words.first() {
            find(program, search.as_deref()).map_err(|why| format!("--{name}: {why}"))?;
        }
        launches.push(launch(name, words, options, ready, *host, [port, ready_port])?);
    }
    if let [old, new] = launches.as_slice()
        && old.ready_address == new.ready_address
    {
        return Err(format!(
            "both versions would be asked at {}, and nobody could tell which one answers: write \
             --ready ':{{ready_port}}/readyz', and have each listen on its READY_PORT",
            old.ready_address
        ));
    }
    let header = Header {
        schema: SCHEMA.into(),
        version: env!("CARGO_PKG_VERSION").into(),
        options: options.clone(),
        policy: *policy,
        machine: Machine {
            cores: std::thread::available_parallelism()
                .map_or(1, |cores| u32::try_from(cores.get()).unwrap_or(u32::MAX)),
            descriptors: descriptors.allowed.min(greenlight_core::MAX_INTEGER),
            descriptors_needed: needed,
            client_ports: u32::try_from(ports::client_ports().len()).unwrap_or(u32::MAX),
        },
        processes: launches.iter().map(planned).collect(),
    };
    fits_a_line(&header)?;
    let record = match record {
        Some(path) => {
            let file = File::create(path).map_err(|error| format!("--record {}: {error}", path.display()))?;
            Some((file, path.clone()))
        }
        None => None,
    };
    Ok(Prepared { header, launches, record, descriptors: descriptors.before, bug: *bug })
}

/// Whether the record can be read back: its first line holds both commands.
fn fits_a_line(header: &Header) -> Result<(), String> {
    let line = serde_json::to_string(&Event::Header(header.clone())).map_err(|error| error.to_string())?;
    if line.len() <= MAX_LINE_BYTES {
        return Ok(());
    }
    Err(format!(
        "with these commands and this path the first line of the record is {} bytes long, and at most {MAX_LINE_BYTES} \
         can be read back: put what is long into a script",
        line.len()
    ))
}

fn planned(launch: &Launch) -> Planned {
    Planned {
        name: launch.name.into(),
        command: launch.words.join(" ").into(),
        address: launch.address.to_string().into(),
        ready: launch.ready_url.as_str().into(),
    }
}

fn words_of(command: &str, spawn: Spawn, port: u16, ready_port: u16) -> Result<Vec<String>, String> {
    match spawn {
        // The ports are put into words that are split already: they hold nothing that would split them again.
        Spawn::Direct => Ok(split(command)?.iter().map(|word| with_ports(word, port, ready_port)).collect()),
        Spawn::Shell if command.trim().is_empty() => Err("is empty: write the command that starts the server".into()),
        Spawn::Shell => Ok(vec!["sh".into(), "-c".into(), with_ports(command, port, ready_port)]),
    }
}

fn launch(
    name: &'static str,
    words: Vec<String>,
    options: &Options,
    ready: &str,
    host: IpAddr,
    [port, ready_port]: [u16; 2],
) -> Result<Launch, String> {
    let address = SocketAddr::new(host, port);
    let ready = with_ports(ready, port, ready_port);
    let (ready_address, ready_path) = match ready.strip_prefix(':') {
        None if ready.starts_with('/') => (address, ready.as_str()),
        Some(rest) => {
            let (port, _) = rest.split_once('/').unwrap_or((rest, ""));
            let port_number: u16 = port.parse().map_err(|_| ready_is_wrong(&ready))?;
            (SocketAddr::new(host, port_number), rest.strip_prefix(port).unwrap_or_default())
        }
        None => return Err(ready_is_wrong(&ready)),
    };
    let (url, ready_url) = (format!("http://{address}{}", options.path), format!("http://{ready_address}{ready_path}"));
    let target = |url: &str, connection| Target::new(url, connection, Trust::Machine).map(Arc::new);
    Ok(Launch {
        name,
        words,
        port,
        ready_port,
        address,
        ready_address,
        fresh: target(&url, Use::Once)?,
        kept: target(&url, Use::Again)?,
        probe: target(&ready_url, Use::Once)?,
        url,
        ready_url,
    })
}

fn ready_is_wrong(ready: &str) -> String {
    format!("--ready {ready:?} is neither a path nor a port with one: write /readyz or ':{{ready_port}}/readyz'")
}

/// Whether a command can be found as the system will look for it.
fn find(program: &str, search: Option<&OsStr>) -> Result<(), String> {
    let is_program =
        |path: &Path| fs::metadata(path).is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0);
    if program.contains('/') {
        return if is_program(Path::new(program)) {
            Ok(())
        } else {
            Err(format!("{program} is no program that can be run: check the path and its permissions"))
        };
    }
    let found = std::env::split_paths(search.unwrap_or(OsStr::new(USUAL_SEARCH)))
        .any(|folder| is_program(&folder.join(program)));
    if found { Ok(()) } else { Err(format!("there is no command {program:?} on PATH: write its path, or use --shell")) }
}

/// Where the system looks that was told nothing.
const USUAL_SEARCH: &str = "/bin:/usr/bin";
/// Ten thousand requests a second: more than one connection each is good for.
const LEAST_EVERY_US: i64 = 100;

#[cfg(test)]
mod tests {
    use super::*;

    fn plan() -> Plan {
        Plan {
            options: Options::default(),
            policy: RotationPolicy::default(),
            commands: ["sh -c {port}".into(), "sh".into()],
            ready: "/readyz".into(),
            host: "127.0.0.1".parse().unwrap(),
            ports: None,
            record: None,
            search: Some(USUAL_SEARCH.into()),
            bug: None,
        }
    }

    #[test]
    fn each_version_has_its_own_ports_and_addresses() {
        let prepared = preflight(&Plan { ready: ":{ready_port}/ready?a=b".into(), ..plan() }).unwrap();
        let [old, new] = prepared.launches.as_slice() else { panic!("two versions") };
        assert_eq!(old.words, ["sh", "-c", &old.port.to_string()]);
        assert_eq!(old.ready_url, format!("http://127.0.0.1:{}/ready?a=b", old.ready_port));
        assert_eq!((old.ready_address.port(), old.address.port()), (old.ready_port, old.port));
        assert!(new.port != old.port && new.ready_port != old.ready_port);
        assert_eq!(&*prepared.header.processes[1].name, "new");
    }

    #[test]
    fn what_cannot_be_run_is_said_with_what_to_do() {
        let refused = |plan: Plan| preflight(&plan).unwrap_err();
        for (plan, why) in [
            (Plan { commands: ["no-such-server".into(), "sh".into()], ..plan() }, "--old: there is no command"),
            (Plan { commands: ["sh".into(), "/no/such".into()], ..plan() }, "--new: /no/such is no program"),
            (Plan { commands: ["sh 'x".into(), "sh".into()], ..plan() }, "--old \"sh 'x\" has a ' that is not closed"),
            (Plan { commands: ["sh".into(), " ".into()], ..plan() }, "--new is empty"),
            (Plan { ready: ":9/readyz".into(), ..plan() }, "both versions would be asked at 127.0.0.1:9"),
            (Plan { ready: "readyz".into(), ..plan() }, "is neither a path"),
            (Plan { ready: ":x/readyz".into(), ..plan() }, "is neither a path"),
            (
                Plan { commands: ["sh".into(), format!("sh {}", "x".repeat(70_000))], ..plan() },
                "first line of the record",
            ),
            (Plan { record: Some("/no/such/folder/x".into()), ..plan() }, "--record /no/such/folder/x"),
            (Plan { options: Options { every_us: 0, ..Options::default() }, ..plan() }, "--every is less"),
            (Plan { options: Options { path: "x".into(), ..Options::default() }, ..plan() }, "--path"),
            (
                Plan { options: Options { every_us: 100, give_up_us: i64::MAX, ..Options::default() }, ..plan() },
                "file descriptors",
            ),
        ] {
            let error = refused(plan);
            assert!(error.contains(why), "{error}");
        }
    }
}
