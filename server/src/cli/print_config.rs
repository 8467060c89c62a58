//! `serve --print-config`: the effective configuration as a file that could be used as one, and where each value
//! came from. It names the files of tokens, and holds no token.

use std::fmt;
use std::path::Path;

use greenlight_core::rotation::HoldLast;

use super::config::{Origin, Resolved};
use super::settings::{Data, Follow, Probe};
use super::values::{exact_good_for, exact_horizon, exact_millis, exact_span};

impl Resolved {
    /// The configuration as TOML, each value with a comment that says whether it came from a flag, the
    /// environment, the file or the default.
    pub fn to_toml(&self) -> String {
        let settings = &self.settings;
        let mut page = Page { resolved: self, lines: Vec::new() };
        page.set("bind", quoted(&settings.bind.to_string()));
        match &settings.data {
            Data::Dir(path) => page.set("data", quoted_path(path)),
            Data::Memory => page.set("data", quoted("memory")),
        }
        page.set("stale_after", quoted(&exact_horizon(settings.stale_after)));
        page.set("good_for", quoted(&exact_good_for(settings.good_for)));
        page.set_or("token_file", settings.token_file.as_deref(), "made in the data directory");
        page.set_or("read_token_file", settings.read_token_file.as_deref(), "reads are open");
        page.set("drain", quoted(&exact_span(settings.drain_secs)));
        page.set("history", quoted(&exact_span(settings.history_secs)));
        page.set("wait_for_lock", settings.wait_for_lock);
        let origins: Vec<String> = settings.allow_origin.iter().map(|origin| quoted(origin)).collect();
        page.set("allow_origin", format!("[{}]", origins.join(", ")));
        page.set_or("web_dir", settings.web_dir.as_deref(), "the page within the binary");
        page.set("log", quoted(&settings.log.filter));
        page.set("log_format", quoted(settings.log.format.as_str()));
        page.follow(&settings.follow);
        page.probe(&settings.probe);
        page.finish()
    }
}

struct Page<'a> {
    resolved: &'a Resolved,
    lines: Vec<(String, String)>,
}

impl Page<'_> {
    fn origin(&self, key: &str) -> String {
        self.resolved.origins.get(key).unwrap_or(&Origin::Default).to_string()
    }

    fn set(&mut self, key: &str, value: impl fmt::Display) {
        let origin = self.origin(key);
        self.lines.push((format!("{key} = {value}"), origin));
    }

    fn set_or(&mut self, key: &str, path: Option<&Path>, without: &str) {
        match path {
            Some(path) => self.set(key, quoted_path(path)),
            None => self.lines.push((format!("# {key} is not set: {without}"), self.origin(key))),
        }
    }

    fn follow(&mut self, follows: &[Follow]) {
        let origin = self.origin("follow");
        match follows {
            [] => self.lines.push(("follow = []".into(), origin)),
            _ => {
                for follow in follows {
                    self.lines.push((String::new(), String::new()));
                    self.lines.push(("[[follow]]".into(), origin.clone()));
                    self.lines.push((format!("url = {}", quoted(&follow.url)), String::new()));
                    if let Some(prefix) = &follow.prefix {
                        self.lines.push((format!("prefix = {}", quoted(prefix)), String::new()));
                    }
                    self.lines.push((format!("every = {}", quoted(&exact_span(follow.every_secs))), String::new()));
                }
            }
        }
    }

    fn probe(&mut self, probes: &[Probe]) {
        let origin = self.origin("probe");
        if probes.is_empty() {
            // A list of tables may stand behind others; a plain key would belong to the last of them.
            self.lines.push(("# probe is not set: nobody is probed".into(), origin));
            return;
        }
        for probe in probes {
            self.lines.push((String::new(), String::new()));
            self.lines.push(("[[probe]]".into(), origin.clone()));
            let mut say = |key: &str, value: String| self.lines.push((format!("{key} = {value}"), String::new()));
            say("name", quoted(probe.name.as_str()));
            say("url", quoted(&probe.url));
            say("every", quoted(&exact_millis(probe.every_ms)));
            say("timeout", quoted(&exact_millis(probe.timeout_ms)));
            say("silences_to_leave", probe.policy.silences_to_leave.to_string());
            say("answers_to_join", probe.policy.answers_to_join.to_string());
            say("hold_last", (probe.policy.hold_last == HoldLast::On).to_string());
            if let Some(header) = &probe.version_header {
                say("version_header", quoted(header));
            }
            say("verify", probe.verify.to_string());
        }
    }

    fn finish(self) -> String {
        let width = self.lines.iter().map(|(line, _)| line.chars().count()).max().unwrap_or(0).min(MAX_COLUMN);
        let mut text = String::new();
        for (line, origin) in self.lines {
            if origin.is_empty() {
                text.extend([&line, "\n"]);
            } else {
                text.extend([&format!("{line:width$}"), "  # ", &origin, "\n"]);
            }
        }
        text
    }
}

/// Beyond this a long value does not push the comments of all others to the right.
const MAX_COLUMN: usize = 60;

fn quoted(text: &str) -> String {
    toml::Value::from(text).to_string()
}

fn quoted_path(path: &Path) -> String {
    quoted(&path.to_string_lossy())
}
