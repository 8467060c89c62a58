//! The environment: the one file that reads it.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use super::config::KEYS;

/// The variables that Greenlight looks at, read once. An empty one counts as not set.
///
/// Others that begin with `GREENLIGHT_` are passed over, not refused: in a cluster with a service called
/// `greenlight` every container finds `GREENLIGHT_PORT`, `GREENLIGHT_SERVICE_HOST` and more of that kind.
#[derive(Clone, Debug, Default)]
pub struct Environment(BTreeMap<String, OsString>);

impl Environment {
    /// What the process was started with.
    #[expect(clippy::disallowed_methods, reason = "this is the file in which the environment is read")]
    pub fn of_process() -> Self {
        let ours = KEYS.iter().map(|key| variable(key)).chain(OURS.iter().map(|name| (*name).to_owned()));
        let theirs = THEIRS.iter().map(|name| (*name).to_owned());
        Self(ours.chain(theirs).filter_map(|name| std::env::var_os(&name).map(|value| (name, value))).collect())
    }

    /// The value of a variable.
    ///
    /// # Errors
    /// Where it is not UTF-8: the name of the variable.
    pub(crate) fn text(&self, name: &str) -> Result<Option<&str>, String> {
        match self.raw(name) {
            Some(value) => value.to_str().map(Some).ok_or_else(|| format!("{name} is not UTF-8")),
            None => Ok(None),
        }
    }

    /// The value of a variable that holds a path.
    pub(crate) fn path(&self, name: &str) -> Option<PathBuf> {
        self.raw(name).map(PathBuf::from)
    }

    /// A folder of the XDG base directories: the variable where it holds an absolute path (the standard says to
    /// pass over a relative one), else `beneath_home` in the home directory. `None` without a home either.
    pub(crate) fn xdg(&self, name: &str, beneath_home: &str) -> Option<PathBuf> {
        self.path(name)
            .filter(|path| path.is_absolute())
            .or_else(|| self.path("HOME").map(|home| home.join(beneath_home)))
    }

    fn raw(&self, name: &str) -> Option<&OsStr> {
        self.0.get(name).map(OsString::as_os_str).filter(|value| !value.is_empty())
    }
}

impl<K: Into<String>, V: Into<OsString>> FromIterator<(K, V)> for Environment {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(variables: I) -> Self {
        Self(variables.into_iter().map(|(name, value)| (name.into(), value.into())).collect())
    }
}

/// The variable of a key of the configuration: `stale_after` is `GREENLIGHT_STALE_AFTER`.
pub(crate) fn variable(key: &str) -> String {
    format!("GREENLIGHT_{}", key.to_ascii_uppercase())
}

/// Every variable that could change what a daemon does, for a child that must not inherit them.
pub(crate) fn ours() -> impl Iterator<Item = String> {
    KEYS.iter().map(|key| variable(key)).chain(OURS.iter().map(|name| (*name).to_owned()))
}

/// Which configuration file, and which daemon clients speak to.
pub(crate) const CONFIG: &str = "GREENLIGHT_CONFIG";
/// See [`CONFIG`].
pub(crate) const TO: &str = "GREENLIGHT_TO";
const OURS: [&str; 2] = [CONFIG, TO];
const THEIRS: [&str; 4] = ["XDG_CONFIG_HOME", "XDG_STATE_HOME", "HOME", "PATH"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_variable_is_not_set() {
        let environment: Environment = [("GREENLIGHT_BIND", "")].into_iter().collect();
        assert_eq!(environment.text("GREENLIGHT_BIND"), Ok(None));
    }

    #[test]
    fn a_relative_xdg_folder_is_passed_over() {
        let environment: Environment = [("XDG_STATE_HOME", "state"), ("HOME", "/home/ada")].into_iter().collect();
        assert_eq!(environment.xdg("XDG_STATE_HOME", ".local/state"), Some(PathBuf::from("/home/ada/.local/state")));
        assert_eq!(Environment::default().xdg("XDG_STATE_HOME", ".local/state"), None);
    }

    #[cfg(unix)]
    #[test]
    fn text_that_is_not_utf_8_is_named() {
        use std::os::unix::ffi::OsStringExt;
        let bytes = OsString::from_vec(vec![0xff]);
        let environment: Environment = [("GREENLIGHT_BIND", bytes)].into_iter().collect();
        assert_eq!(environment.text("GREENLIGHT_BIND"), Err("GREENLIGHT_BIND is not UTF-8".into()));
    }
}
