//! `greenlight.toml`: where it is, and what stands in it.

use std::fmt;
use std::fs;
use std::io::{ErrorKind, Read};
use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

use greenlight_core::rotation::{HoldLast, RotationPolicy};
use greenlight_core::{GoodFor, Horizon};
use serde::de::{self, Deserializer, Visitor};
use serde::{Deserialize, Serialize};

use super::config::ConfigError;
use super::environment::{CONFIG, Environment};
use super::settings::{Data, Follow, LogFormat, Probe};
use super::values;

/// What a configuration file says; a key that it leaves out is `None`. A relative path in it counts from the
/// folder of the file, so that it means the same wherever the daemon is started.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ConfigFile {
    #[serde(skip)]
    pub(crate) path: PathBuf,
    #[serde(deserialize_with = "written_address")]
    pub(crate) bind: Option<SocketAddr>,
    #[serde(deserialize_with = "written_data")]
    pub(crate) data: Option<Data>,
    #[serde(deserialize_with = "written_horizon")]
    pub(crate) stale_after: Option<Horizon>,
    #[serde(deserialize_with = "written_good_for")]
    pub(crate) good_for: Option<GoodFor>,
    pub(crate) token_file: Option<PathBuf>,
    pub(crate) read_token_file: Option<PathBuf>,
    #[serde(deserialize_with = "written_secs")]
    pub(crate) drain: Option<u64>,
    #[serde(deserialize_with = "written_secs")]
    pub(crate) history: Option<u64>,
    pub(crate) wait_for_lock: Option<bool>,
    #[serde(deserialize_with = "written_origins")]
    pub(crate) allow_origin: Option<Vec<String>>,
    pub(crate) web_dir: Option<PathBuf>,
    #[serde(deserialize_with = "written_filter")]
    pub(crate) log: Option<String>,
    #[serde(deserialize_with = "written_log_format")]
    pub(crate) log_format: Option<LogFormat>,
    #[serde(deserialize_with = "written_follows")]
    pub(crate) follow: Option<Vec<Follow>>,
    #[serde(deserialize_with = "written_probes")]
    pub(crate) probe: Option<Vec<Probe>>,
}

impl ConfigFile {
    /// The file that `flag` or `GREENLIGHT_CONFIG` names, else `greenlight/greenlight.toml` in the XDG
    /// configuration folder if there is one. Never one in the working directory.
    ///
    /// # Errors
    /// Where the file that was named does not exist, and where one cannot be read or understood.
    pub fn find(flag: Option<&Path>, environment: &Environment) -> Result<Option<Self>, ConfigError> {
        if let Some(named) = flag.map(Path::to_path_buf).or_else(|| environment.path(CONFIG)) {
            let text = read(&named).map_err(|error| ConfigError(format!("{}: {error}", named.display())))?;
            return Self::parse(&text, &named).map(Some);
        }
        let Some(folder) = environment.xdg("XDG_CONFIG_HOME", ".config") else { return Ok(None) };
        let path = folder.join("greenlight").join("greenlight.toml");
        match read(&path) {
            Ok(text) => Self::parse(&text, &path).map(Some),
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
            Err(error) => Err(ConfigError(format!("{}: {error}", path.display()))),
        }
    }

    /// Reads the text of the file at `path`.
    ///
    /// # Errors
    /// Names the file, the line, and the key that is unknown or wrong.
    pub fn parse(text: &str, path: &Path) -> Result<Self, ConfigError> {
        let mut file: Self = toml::from_str(text)
            .map_err(|error| ConfigError(format!("{}: {}", path.display(), error.to_string().trim_end())))?;
        let folder = path.parent().unwrap_or(Path::new(""));
        let from_folder = |path: &mut PathBuf| *path = folder.join(&*path);
        for path in [&mut file.token_file, &mut file.read_token_file, &mut file.web_dir].into_iter().flatten() {
            from_folder(path);
        }
        match &mut file.data {
            Some(Data::Dir(path)) => from_folder(path),
            Some(Data::Memory) | None => {}
        }
        file.path = path.to_path_buf();
        Ok(file)
    }
}

/// One table `[[follow]]`.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct FollowTable {
    url: String,
    prefix: Option<String>,
    #[serde(default, deserialize_with = "written_secs")]
    every: Option<u64>,
}

/// One table `[[probe]]`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ProbeTable {
    name: String,
    url: String,
    #[serde(default, deserialize_with = "written_period")]
    every: Option<u64>,
    #[serde(default, deserialize_with = "written_timeout")]
    timeout: Option<u64>,
    silences_to_leave: Option<NonZeroU32>,
    answers_to_join: Option<NonZeroU32>,
    hold_last: Option<bool>,
    #[serde(default, deserialize_with = "written_header")]
    version_header: Option<String>,
    verify: Option<bool>,
}

impl ProbeTable {
    fn into_probe(self) -> Result<Probe, String> {
        let usual = values::probed(&self.name, &self.url)?;
        let policy = RotationPolicy {
            silences_to_leave: self.silences_to_leave.unwrap_or(usual.policy.silences_to_leave),
            answers_to_join: self.answers_to_join.unwrap_or(usual.policy.answers_to_join),
            hold_last: self.hold_last.map_or(usual.policy.hold_last, HoldLast::from),
        };
        Ok(Probe {
            every_ms: self.every.unwrap_or(usual.every_ms),
            timeout_ms: self.timeout.unwrap_or(usual.timeout_ms),
            policy,
            version_header: self.version_header,
            verify: self.verify.unwrap_or(usual.verify),
            ..usual
        })
    }
}

fn read(path: &Path) -> std::io::Result<String> {
    let mut text = String::new();
    let read = fs::File::open(path)?.take(MAX_BYTES + 1).read_to_string(&mut text)?;
    if u64::try_from(read).is_ok_and(|read| read > MAX_BYTES) {
        return Err(std::io::Error::other(format!("is larger than {MAX_BYTES} bytes: not a configuration file")));
    }
    Ok(text)
}

/// Far more than anybody writes by hand.
const MAX_BYTES: u64 = 1024 * 1024;

/// A value that is written as text, or as a whole number where it is one of seconds.
fn written<'de, D: Deserializer<'de>, T>(
    deserializer: D,
    parse: fn(&str) -> Result<T, String>,
) -> Result<Option<T>, D::Error> {
    struct Written<T>(fn(&str) -> Result<T, String>);

    impl<T> Visitor<'_> for Written<T> {
        type Value = T;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("text or a whole number")
        }

        fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
            self.0(text).map_err(E::custom)
        }

        fn visit_i64<E: de::Error>(self, number: i64) -> Result<T, E> {
            self.0(&number.to_string()).map_err(E::custom)
        }
    }

    deserializer.deserialize_any(Written(parse)).map(Some)
}

fn written_address<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<SocketAddr>, D::Error> {
    written(deserializer, values::address)
}

fn written_data<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Data>, D::Error> {
    written(deserializer, values::data)
}

fn written_horizon<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Horizon>, D::Error> {
    written(deserializer, values::horizon)
}

fn written_good_for<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<GoodFor>, D::Error> {
    written(deserializer, values::good_for)
}

fn written_secs<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    written(deserializer, values::secs)
}

fn written_filter<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    written(deserializer, values::log_filter)
}

fn written_log_format<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<LogFormat>, D::Error> {
    written(deserializer, values::log_format)
}

fn written_origins<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<String>>, D::Error> {
    let origins = Vec::<String>::deserialize(deserializer)?;
    origins.iter().map(|text| values::origin(text)).collect::<Result<_, _>>().map(Some).map_err(de::Error::custom)
}

fn written_follows<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<Follow>>, D::Error> {
    Vec::<FollowTable>::deserialize(deserializer)?
        .into_iter()
        .map(|table| {
            values::followed(&table.url, table.prefix.as_deref(), table.every.unwrap_or(Follow::EVERY_SECS))
                .map_err(|error| de::Error::custom(format!("follow: {error}")))
        })
        .collect::<Result<_, _>>()
        .map(Some)
}

fn written_period<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    written(deserializer, values::probe_period)
}

fn written_timeout<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    written(deserializer, values::probe_timeout)
}

fn written_header<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    written(deserializer, values::header_name)
}

fn written_probes<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<Probe>>, D::Error> {
    Vec::<ProbeTable>::deserialize(deserializer)?
        .into_iter()
        .map(|table| table.into_probe().map_err(|error| de::Error::custom(format!("probe: {error}"))))
        .collect::<Result<_, _>>()
        .map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn error(text: &str) -> String {
        ConfigFile::parse(text, Path::new("/etc/greenlight.toml")).unwrap_err().to_string()
    }

    #[test]
    fn an_unknown_key_is_named_with_its_line() {
        let error = error("bind = \"127.0.0.1:1\"\nstale_aftr = \"1h\"\n");
        assert!(error.starts_with("/etc/greenlight.toml: "), "{error}");
        assert!(error.contains("line 2") && error.contains("stale_aftr"), "{error}");
    }

    #[test]
    fn an_unknown_key_of_a_followed_daemon_is_named_with_its_line() {
        let error = error("[[follow]]\nurl = \"https://a\"\nevry = \"1s\"\n");
        assert!(error.contains("line 3") && error.contains("evry"), "{error}");
    }

    #[test]
    fn a_probe_is_read_with_all_its_settings_or_the_usual_ones() {
        let text = "[[probe]]\nname = \"dev\"\nurl = \"http://a/x\"\nevery = \"100ms\"\ntimeout = 2\nsilences_to_leave = 5\n\
                    answers_to_join = 2\nhold_last = true\nversion_header = \"X-Sha\"\nverify = false\n\
                    [[probe]]\nname = \"lane\"\nurl = \"https://b\"\n";
        let file = ConfigFile::parse(text, Path::new("/etc/greenlight.toml")).unwrap();
        let [dev, lane] = &file.probe.unwrap()[..] else { panic!("two probes") };
        assert_eq!((dev.every_ms, dev.timeout_ms, dev.verify), (100, 2000, false));
        assert_eq!((dev.policy.silences_to_leave.get(), dev.policy.answers_to_join.get()), (5, 2));
        assert_eq!((dev.policy.hold_last, dev.version_header.as_deref()), (HoldLast::On, Some("x-sha")));
        assert_eq!(*lane, values::probe("lane=https://b").unwrap());
    }

    #[test]
    fn a_wrong_probe_is_told_in_words() {
        for (line, why) in [
            ("every = \"1ms\"", "every 10ms to every 1d"),
            ("timeout = \"0\"", "1ms to 5m"),
            ("silences_to_leave = 0", "nonzero"),
            ("answers_to_join = -1", "nonzero"),
            ("version_header = \"a b\"", "no name of a header"),
            ("silences = 3", "unknown field"),
        ] {
            let error = error(&format!("[[probe]]\nname = \"dev\"\nurl = \"http://a\"\n{line}\n"));
            assert!(error.contains("line 4") && error.contains(why), "{line}: {error}");
        }
        assert!(error("[[probe]]\nname = \"dev\"\nurl = \"a\"\n").contains("is not a URL"));
        assert!(error("[[probe]]\nname = \"a b\"\nurl = \"http://a\"\n").contains("no name of a member"));
    }

    #[test]
    fn a_wrong_value_is_named_with_its_line() {
        for (text, why) in [
            ("bind = \"localhost\"", "127.0.0.1:8787"),
            ("bind = 8787", "not an address"),
            ("stale_after = \"soon\"", "or never"),
            ("stale_after = -5", "not a length of time"),
            ("good_for = 0", "one second at least"),
            ("wait_for_lock = \"yes\"", "expected a boolean"),
            ("allow_origin = [\"a\"]", "is not an origin"),
            ("log = \"greenlight=loud\"", "log filter"),
            ("log_format = \"xml\"", "neither text nor json"),
            ("bind = ", "line 1"),
        ] {
            let error = error(text);
            assert!(error.contains("line 1") && error.contains(why), "{text}: {error}");
        }
        assert!(error("[[follow]]\nurl = \"ftp://a\"\n").contains("is for ftp"));
        assert!(error("[[follow]]\nprefix = \"a\"\n").contains("url"));
    }

    #[test]
    fn relative_paths_count_from_the_folder_of_the_file() {
        let text = "data = \"state\"\ntoken_file = \"/run/token\"\nweb_dir = \"web\"\n";
        let file = ConfigFile::parse(text, Path::new("/etc/g/greenlight.toml")).unwrap();
        assert_eq!(file.data, Some(Data::Dir("/etc/g/state".into())));
        assert_eq!(file.token_file, Some("/run/token".into()));
        assert_eq!(file.web_dir, Some("/etc/g/web".into()));
    }

    #[test]
    fn a_file_that_was_named_must_exist_and_the_usual_one_need_not() {
        let nowhere: Environment = [("XDG_CONFIG_HOME", "/does/not/exist")].into_iter().collect();
        assert!(ConfigFile::find(None, &nowhere).unwrap().is_none());
        assert!(ConfigFile::find(None, &Environment::default()).unwrap().is_none());
        assert!(ConfigFile::find(Some(Path::new("/does/not/exist")), &nowhere).is_err());
        let named: Environment = [("GREENLIGHT_CONFIG", "/does/not/exist")].into_iter().collect();
        assert!(ConfigFile::find(None, &named).is_err());
    }
}
