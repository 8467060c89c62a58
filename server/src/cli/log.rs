//! Where the daemon's log goes: standard error, one line an event, whatever stands in it.

use std::io::{self, Write};

use greenlight_core::{JsonEscaped, is_invisible};
use tracing_subscriber::EnvFilter;

use super::settings::{Log, LogFormat};

/// Begins to log. A second call in one process changes nothing.
pub(crate) fn begin(log: &Log) {
    let format = log.format;
    let builder = tracing_subscriber::fmt()
        .with_env_filter(EnvFilter::new(&log.filter))
        .with_writer(move || InertLines { to: io::stderr(), format });
    // An error means that somebody logs already, who is then left to it.
    let _ = match format {
        LogFormat::Text => builder.try_init(),
        LogFormat::Json => builder.json().try_init(),
    };
}

/// Writes each event as one line without control or format characters, so that what a source says can neither
/// forge a line nor move a reader's cursor.
struct InertLines<W> {
    to: W,
    format: LogFormat,
}

impl<W: Write> Write for InertLines<W> {
    /// `event` is a whole event with the line feed that ends it: so the formatter hands it over.
    fn write(&mut self, event: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(event);
        let mut line = String::with_capacity(text.len());
        for c in text.strip_suffix('\n').unwrap_or(&text).chars() {
            match self.format {
                _ if !is_invisible(c) => line.push(c),
                LogFormat::Text => line.extend(c.escape_unicode()),
                LogFormat::Json => line.push_str(&JsonEscaped(c).to_string()),
            }
        }
        line.push('\n');
        self.to.write_all(line.as_bytes())?;
        Ok(event.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(format: LogFormat, event: &str, line: &str) {
        let mut to = Vec::new();
        InertLines { to: &mut to, format }.write_all(event.as_bytes()).unwrap();
        assert_eq!(String::from_utf8(to).unwrap(), line);
    }

    #[test]
    fn an_event_is_one_line_whatever_stands_in_it() {
        check(LogFormat::Text, "red: a\nERROR forged\u{1b}[2J\n", "red: a\\u{a}ERROR forged\\u{1b}[2J\n");
    }

    #[test]
    fn a_line_of_json_stays_json() {
        check(LogFormat::Json, "{\"a\":\"\u{202e}\u{e0001}\"}\n", "{\"a\":\"\\u202e\\udb40\\udc01\"}\n");
        let value: serde_json::Value = serde_json::from_str("{\"a\":\"\\u202e\\udb40\\udc01\"}").unwrap();
        assert_eq!(value["a"], "\u{202e}\u{e0001}");
    }
}
