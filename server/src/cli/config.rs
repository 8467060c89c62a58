//! Which value holds: flag, else environment, else file, else default, and which of them it was.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use greenlight_core::{GoodFor, Horizon};

use super::config_file::ConfigFile;
use super::environment::{Environment, variable};
use super::serve::ServeFlags;
use super::settings::{Data, Log, LogFormat, Settings};
use super::values;

/// Every key of the configuration, as it is written in the file. The flag is `--stale-after`, the variable
/// `GREENLIGHT_STALE_AFTER`.
pub(crate) const KEYS: [&str; 15] = [
    "bind",
    "data",
    "stale_after",
    "good_for",
    "token_file",
    "read_token_file",
    "drain",
    "history",
    "wait_for_lock",
    "allow_origin",
    "web_dir",
    "log",
    "log_format",
    "follow",
    "probe",
];

/// Settings with where each one came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolved {
    /// The effective configuration.
    pub settings: Settings,
    pub(crate) origins: BTreeMap<&'static str, Origin>,
}

/// Where a value came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The command line.
    Flag(String),
    /// A variable of the environment.
    Environment(String),
    /// The configuration file.
    File(PathBuf),
    /// Nobody said anything else.
    Default,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag(flag) => write!(f, "flag {flag}"),
            Self::Environment(variable) => write!(f, "environment {variable}"),
            Self::File(path) => write!(f, "file {}", path.display()),
            Self::Default => f.write_str("default"),
        }
    }
}

/// Why there is no configuration. Says which flag, variable, or line of which file is wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ConfigError(pub(crate) String);

impl Settings {
    /// The effective configuration. Pure: the same arguments give the same settings, so that a running daemon
    /// may ask again with the file as it is now.
    ///
    /// A list is taken whole from the first layer that names it; lists of several layers are not joined.
    ///
    /// # Errors
    /// Where a variable cannot be read, a daemon is followed twice, or there is no place for the data.
    pub fn resolve(
        flags: &ServeFlags,
        environment: &Environment,
        file: Option<&ConfigFile>,
    ) -> Result<Resolved, ConfigError> {
        let none = ConfigFile::default();
        let file = file.unwrap_or(&none);
        let mut layers = Layers { environment, file, origins: BTreeMap::new() };
        let data = layers.optional("data", flags.data.as_ref(), values::data, file.data.as_ref())?;
        let settings = Self {
            bind: layers.or("bind", flags.bind.as_ref(), values::address, file.bind.as_ref(), DEFAULT_BIND)?,
            data: data.map_or_else(|| default_data(environment), Ok)?,
            stale_after: layers.or(
                "stale_after",
                flags.stale_after.as_ref(),
                values::horizon,
                file.stale_after.as_ref(),
                Horizon::DEFAULT,
            )?,
            good_for: layers.or(
                "good_for",
                flags.good_for.as_ref(),
                values::good_for,
                file.good_for.as_ref(),
                DEFAULT_GOOD_FOR,
            )?,
            token_file: layers.optional(
                "token_file",
                flags.token_file.as_ref(),
                values::path,
                file.token_file.as_ref(),
            )?,
            read_token_file: layers.optional(
                "read_token_file",
                flags.read_token_file.as_ref(),
                values::path,
                file.read_token_file.as_ref(),
            )?,
            drain_secs: layers.or(
                "drain",
                flags.drain.as_ref(),
                values::secs,
                file.drain.as_ref(),
                DEFAULT_DRAIN_SECS,
            )?,
            history_secs: layers.or(
                "history",
                flags.history.as_ref(),
                values::secs,
                file.history.as_ref(),
                DEFAULT_HISTORY_SECS,
            )?,
            wait_for_lock: layers.or(
                "wait_for_lock",
                flags.wait_for_lock.as_ref(),
                values::yes_or_no,
                file.wait_for_lock.as_ref(),
                false,
            )?,
            allow_origin: layers.list(
                "allow_origin",
                &flags.allow_origin,
                values::origin,
                file.allow_origin.as_ref(),
            )?,
            web_dir: layers.optional("web_dir", flags.web_dir.as_ref(), values::path, file.web_dir.as_ref())?,
            log: Log {
                filter: layers.or(
                    "log",
                    flags.log.as_ref(),
                    values::log_filter,
                    file.log.as_ref(),
                    DEFAULT_LOG.into(),
                )?,
                format: layers.or(
                    "log_format",
                    flags.log_format.as_ref(),
                    values::log_format,
                    file.log_format.as_ref(),
                    LogFormat::Text,
                )?,
            },
            follow: layers.list("follow", &flags.follow, values::follow, file.follow.as_ref())?,
            probe: layers.list("probe", &flags.probe, values::probe, file.probe.as_ref())?,
        };
        for (place, follow) in settings.follow.iter().enumerate() {
            if settings.follow.iter().take(place).any(|other| other.url == follow.url && other.prefix == follow.prefix)
            {
                return Err(ConfigError(format!("{} is followed twice: each daemon is followed once", follow.url)));
            }
        }
        if settings.probe.len() > MAX_PROBES {
            return Err(ConfigError(format!(
                "{} members are to be probed: one daemon probes at most {MAX_PROBES}",
                settings.probe.len()
            )));
        }
        let mut names = BTreeSet::new();
        if let Some(twice) = settings.probe.iter().find(|probe| !names.insert(&probe.name)) {
            return Err(ConfigError(format!(
                "two probes are called {}: each member has a name of its own",
                twice.name
            )));
        }
        Ok(Resolved { settings, origins: layers.origins })
    }
}

/// What a running daemon needs to read its configuration again.
#[derive(Clone, Debug)]
pub struct Inputs {
    /// The command line.
    pub flags: ServeFlags,
    /// The environment at start: a process does not see it change.
    pub environment: Environment,
}

impl Inputs {
    /// Reads the file as it is now and resolves.
    ///
    /// # Errors
    /// As [`Settings::resolve`], and where the file cannot be read or understood.
    pub fn read(&self) -> Result<Resolved, ConfigError> {
        let file = ConfigFile::find(self.flags.config.as_deref(), &self.environment)?;
        Settings::resolve(&self.flags, &self.environment, file.as_ref())
    }
}

struct Layers<'a> {
    environment: &'a Environment,
    file: &'a ConfigFile,
    origins: BTreeMap<&'static str, Origin>,
}

impl Layers<'_> {
    fn optional<T: Clone>(
        &mut self,
        key: &'static str,
        flag: Option<&T>,
        parse: fn(&str) -> Result<T, String>,
        in_file: Option<&T>,
    ) -> Result<Option<T>, ConfigError> {
        let (value, origin) = if let Some(value) = flag {
            (Some(value.clone()), Origin::Flag(flag_of(key)))
        } else if let Some(value) = self.variable(key, parse)? {
            (Some(value), Origin::Environment(variable(key)))
        } else if let Some(value) = in_file {
            (Some(value.clone()), Origin::File(self.file.path.clone()))
        } else {
            (None, Origin::Default)
        };
        self.origins.insert(key, origin);
        Ok(value)
    }

    fn or<T: Clone>(
        &mut self,
        key: &'static str,
        flag: Option<&T>,
        parse: fn(&str) -> Result<T, String>,
        in_file: Option<&T>,
        default: T,
    ) -> Result<T, ConfigError> {
        Ok(self.optional(key, flag, parse, in_file)?.unwrap_or(default))
    }

    /// In a variable the items stand apart by white space: a URL may hold any other separator.
    fn list<T: Clone>(
        &mut self,
        key: &'static str,
        flags: &[T],
        parse: fn(&str) -> Result<T, String>,
        in_file: Option<&Vec<T>>,
    ) -> Result<Vec<T>, ConfigError> {
        let flags = (!flags.is_empty()).then(|| flags.to_vec());
        let name = variable(key);
        let in_variable = match self.environment.text(&name).map_err(ConfigError)? {
            Some(text) => Some(
                text.split_whitespace()
                    .map(|item| parse(item).map_err(|error| ConfigError(format!("{name}: {error}"))))
                    .collect::<Result<Vec<T>, _>>()?,
            ),
            None => None,
        };
        let (value, origin) = match (flags, in_variable, in_file) {
            (Some(value), _, _) => (value, Origin::Flag(flag_of(key))),
            (None, Some(value), _) => (value, Origin::Environment(name)),
            (None, None, Some(value)) => (value.clone(), Origin::File(self.file.path.clone())),
            (None, None, None) => (Vec::new(), Origin::Default),
        };
        self.origins.insert(key, origin);
        Ok(value)
    }

    fn variable<T>(&self, key: &str, parse: fn(&str) -> Result<T, String>) -> Result<Option<T>, ConfigError> {
        let name = variable(key);
        match self.environment.text(&name).map_err(ConfigError)? {
            Some(text) => parse(text).map(Some).map_err(|error| ConfigError(format!("{name}: {error}"))),
            None => Ok(None),
        }
    }
}

fn flag_of(key: &str) -> String {
    format!("--{}", key.replace('_', "-"))
}

fn default_data(environment: &Environment) -> Result<Data, ConfigError> {
    environment.xdg("XDG_STATE_HOME", ".local/state").map(|state| Data::Dir(state.join("greenlight"))).ok_or_else(
        || {
            ConfigError(
                "there is neither XDG_STATE_HOME nor HOME to keep data in: give --data DIR, or --data memory".into(),
            )
        },
    )
}

/// Nobody but this machine reaches a daemon that was not told otherwise.
pub(crate) const DEFAULT_BIND: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 8787);
/// Longer than any sane period of a driver, and short enough to notice its death within the horizon.
const DEFAULT_GOOD_FOR: GoodFor = GoodFor::Seconds(600);
/// Long enough for a balancer that asks every second or two to notice.
const DEFAULT_DRAIN_SECS: u64 = 5;
/// Two descriptors each is what a machine gives one process.
const MAX_PROBES: usize = 10_000;
const DEFAULT_HISTORY_SECS: u64 = 30 * 24 * 3600;
const DEFAULT_LOG: &str = "info";
