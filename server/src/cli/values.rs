//! How a value is written, the same in a flag, a variable and the file. Each reader says what to write instead.

use std::net::SocketAddr;
use std::path::PathBuf;

use greenlight_core::rotation::RotationPolicy;
use greenlight_core::{GoodFor, Horizon, Name, Span};
use hyper::header::HeaderName;
use tracing_subscriber::EnvFilter;
use ureq::http::Uri;

use crate::moment::Moment;

use super::settings::{Data, Follow, LogFormat, Probe};

pub(crate) fn address(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| format!("{text:?} is not an address and a port: write 127.0.0.1:8787 or [::1]:8787"))
}

/// The word `memory`, or a folder. A folder of that name is `./memory`.
pub(crate) fn data(text: &str) -> Result<Data, String> {
    match text {
        "memory" => Ok(Data::Memory),
        _ => path(text).map(Data::Dir),
    }
}

pub(crate) fn path(text: &str) -> Result<PathBuf, String> {
    if text.is_empty() { Err("is empty: write a path".into()) } else { Ok(text.into()) }
}

pub(crate) fn horizon(text: &str) -> Result<Horizon, String> {
    text.parse().map_err(|error| format!("{text:?} {error}, or never"))
}

pub(crate) fn span(text: &str) -> Result<Span, String> {
    text.parse().map_err(|error| format!("{text:?} {error}"))
}

pub(crate) fn secs(text: &str) -> Result<u64, String> {
    span(text).map(|Span(secs)| secs)
}

/// A moment, kept as it is written: the daemon's clock says what it means.
pub(crate) fn moment(text: &str) -> Result<String, String> {
    text.parse::<Moment>().map(|_| text.to_owned()).map_err(|form| format!("{text:?} is no moment: write {form}"))
}

pub(crate) fn good_for(text: &str) -> Result<GoodFor, String> {
    if let Some(word) = GoodFor::from_word(text) {
        return Ok(word);
    }
    let Span(secs) = text.parse().map_err(|error| format!("{text:?} {error}, until_restart or forever"))?;
    GoodFor::from_secs(secs).ok_or_else(|| "a report is good for one second at least: write 1s or more".into())
}

/// A length of time that [`secs`] reads back to the same: rounded down for people only where nothing is lost.
pub(crate) fn exact_span(secs: u64) -> String {
    let shown = Span(secs).to_string();
    if shown.parse() == Ok(Span(secs)) { shown } else { format!("{secs}s") }
}

pub(crate) fn exact_good_for(good_for: GoodFor) -> String {
    match good_for {
        GoodFor::Seconds(secs) => exact_span(secs),
        GoodFor::UntilRestart => "until_restart".into(),
        GoodFor::Forever => "forever".into(),
    }
}

pub(crate) fn exact_horizon(horizon: Horizon) -> String {
    match horizon {
        Horizon::After(secs) => exact_span(secs),
        Horizon::Never => "never".into(),
    }
}

pub(crate) fn yes_or_no(text: &str) -> Result<bool, String> {
    match text {
        "true" | "1" | "yes" => Ok(true),
        "false" | "0" | "no" => Ok(false),
        _ => Err(format!("{text:?} is neither true nor false")),
    }
}

pub(crate) fn log_format(text: &str) -> Result<LogFormat, String> {
    [LogFormat::Text, LogFormat::Json]
        .into_iter()
        .find(|format| format.as_str() == text)
        .ok_or_else(|| format!("{text:?} is neither text nor json"))
}

pub(crate) fn log_filter(text: &str) -> Result<String, String> {
    match EnvFilter::try_new(text) {
        Ok(_) => Ok(text.into()),
        Err(error) => Err(format!("{text:?} is not a log filter ({error}): write info, or greenlight=debug,info")),
    }
}

pub(crate) fn instance_name(text: &str) -> Result<Name, String> {
    Name::of_instance(text).map_err(|error| error.to_string())
}

pub(crate) fn source_name(text: &str) -> Result<Name, String> {
    Name::of_source(text).map_err(|error| error.to_string())
}

/// An `http` or `https` address with a host and without user or password: those would end up in logs and in the
/// list of processes. A `/` at its end is dropped.
pub(crate) fn url(text: &str) -> Result<Uri, String> {
    let example = "write http://127.0.0.1:8787 or https://greenlight.example.org";
    let uri: Uri = text.parse().map_err(|error| format!("{text:?} is not a URL ({error}): {example}"))?;
    match uri.scheme_str() {
        Some("http" | "https") => {}
        Some(other) => return Err(format!("{text:?} is for {other}: {example}")),
        None => return Err(format!("{text:?} is not a URL: {example}")),
    }
    match uri.authority() {
        Some(authority) if authority.as_str().contains('@') => {
            Err("holds a user or a password, which would end up in logs: give tokens by --token-file".into())
        }
        Some(authority) if !authority.host().is_empty() => Ok(uri),
        Some(_) | None => Err(format!("{text:?} names no host: {example}")),
    }
}

/// The address of a daemon: as [`url`], and without a query, since paths are put behind it.
pub(crate) fn daemon(text: &str) -> Result<String, String> {
    let uri = url(text)?;
    match uri.query() {
        Some(_) => Err(format!("{text:?} holds a query: write the address of the daemon alone")),
        None => Ok(text.trim_end_matches('/').into()),
    }
}

/// `[PREFIX=]URL`. The prefix ends at the first `=`, unless that is within the URL.
pub(crate) fn follow(text: &str) -> Result<Follow, String> {
    let (prefix, url) = match text.split_once('=') {
        Some((prefix, url)) if !prefix.contains("://") => (Some(prefix), url),
        Some(_) | None => (None, text),
    };
    followed(url, prefix, Follow::EVERY_SECS)
}

/// One followed daemon from its parts, each checked.
pub(crate) fn followed(address: &str, prefix: Option<&str>, every_secs: u64) -> Result<Follow, String> {
    url(address)?;
    let prefix = prefix.filter(|prefix| !prefix.is_empty());
    if let Some(prefix) = prefix {
        Name::of_instance(&format!("{prefix}x")).map_err(|error| format!("prefix {prefix:?} fits no name: {error}"))?;
    }
    if every_secs == 0 {
        return Err("is polled every 0 seconds: write 1s or more".into());
    }
    Ok(Follow { url: address.trim_end_matches('/').into(), prefix: prefix.map(Into::into), every_secs })
}

/// `NAME=URL`.
pub(crate) fn probe(text: &str) -> Result<Probe, String> {
    let Some((name, url)) = text.split_once('=') else {
        return Err(format!("{text:?} has no name: write dev=http://127.0.0.1:8080/readyz"));
    };
    probed(name, url)
}

/// A member that is probed in the usual way.
pub(crate) fn probed(name: &str, address: &str) -> Result<Probe, String> {
    let name = Name::of_instance(name).map_err(|error| format!("{name:?} is no name of a member: {error}"))?;
    url(address)?;
    Ok(Probe {
        name,
        url: address.into(),
        every_ms: Probe::EVERY_MS,
        timeout_ms: Probe::TIMEOUT_MS,
        policy: RotationPolicy::default(),
        version_header: None,
        verify: true,
    })
}

/// A length of time in milliseconds: `300ms`, or as [`span`] reads it.
pub(crate) fn millis(text: &str) -> Result<u64, String> {
    match text.strip_suffix("ms") {
        Some(number) => number.parse().map_err(|_| format!("{text:?} is not a length of time: write 300ms or 1s")),
        None => secs(text).map(|secs| secs.saturating_mul(1000)).map_err(|error| format!("{error}, or 300ms")),
    }
}

/// A length of time that [`millis`] reads back to the same.
pub(crate) fn exact_millis(millis: u64) -> String {
    if millis.is_multiple_of(1000) { exact_span(millis / 1000) } else { format!("{millis}ms") }
}

/// How often a member is asked.
pub(crate) fn probe_period(text: &str) -> Result<u64, String> {
    within(text, 10, 24 * 3600 * 1000, "a member is asked every 10ms to every 1d")
}

/// How long an answer may take.
pub(crate) fn probe_timeout(text: &str) -> Result<u64, String> {
    within(text, 1, 5 * 60 * 1000, "an answer may take 1ms to 5m")
}

fn within(text: &str, least: u64, most: u64, rule: &str) -> Result<u64, String> {
    let millis = millis(text)?;
    if (least..=most).contains(&millis) { Ok(millis) } else { Err(format!("{text:?} is out of bounds: {rule}")) }
}

/// The name of a header, in lower case.
pub(crate) fn header_name(text: &str) -> Result<String, String> {
    HeaderName::from_bytes(text.as_bytes())
        .map(|name| name.as_str().to_owned())
        .map_err(|_| format!("{text:?} is no name of a header: write x-version"))
}

/// `scheme://host[:port]`, exactly as a browser sends it, or `*`.
pub(crate) fn origin(text: &str) -> Result<String, String> {
    let is_origin = || {
        let uri = url(text).ok()?;
        let authority = uri.authority()?.as_str();
        let plain = format!("{}://{authority}", uri.scheme_str()?);
        (plain == text && plain == plain.to_ascii_lowercase()).then_some(())
    };
    if text == "*" || is_origin().is_some() {
        Ok(text.into())
    } else {
        Err(format!("{text:?} is not an origin: write https://status.example.org, without a path, or *"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exact_span_is_read_back_to_the_same_seconds() {
        for secs in [0, 1, 59, 60, 61, 90, 3599, 3600, 3900, 86_400, 172_800, 172_801, 2_592_000] {
            assert_eq!(super::secs(&exact_span(secs)), Ok(secs));
        }
        assert_eq!(exact_span(90), "90s");
        assert_eq!(exact_span(5400), "1h30m");
    }

    #[test]
    fn a_report_is_good_for_a_second_at_least_or_a_word() {
        assert_eq!(good_for("90s"), Ok(GoodFor::Seconds(90)));
        assert_eq!(good_for("forever"), Ok(GoodFor::Forever));
        assert_eq!(good_for("until_restart"), Ok(GoodFor::UntilRestart));
        assert!(good_for("0").unwrap_err().contains("one second at least"));
        assert!(good_for("soon").unwrap_err().ends_with("until_restart or forever"));
    }

    #[test]
    fn a_followed_address_may_bring_a_prefix() {
        let follows = |text: &str| follow(text).map(|follow| (follow.url, follow.prefix));
        let of = |url: &str, prefix: Option<&str>| Ok((url.to_owned(), prefix.map(str::to_owned)));
        assert_eq!(follows("https://eu.example.org"), of("https://eu.example.org", None));
        assert_eq!(follows("https://eu.example.org/"), of("https://eu.example.org", None));
        assert_eq!(follows("eu/=https://eu.example.org/g/app"), of("https://eu.example.org/g/app", Some("eu/")));
        assert_eq!(follows("http://[::1]:81/app?a=b"), of("http://[::1]:81/app?a=b", None));
        assert_eq!(follows("eu-=http://a/app?a=b"), of("http://a/app?a=b", Some("eu-")));
    }

    #[test]
    fn what_cannot_be_followed_is_refused() {
        for (text, why) in [
            ("ftp://a", "is for ftp"),
            ("a.example.org", "is not a URL"),
            ("https://ada:secret@a", "holds a user or a password"),
            ("../=https://a", "fits no name"),
            ("/=https://a", "fits no name"),
            ("e u=https://a", "fits no name"),
            ("", "is not a URL"),
        ] {
            let error = follow(text).unwrap_err();
            assert!(error.contains(why), "{text}: {error}");
            assert!(!error.contains("secret"), "{error}");
        }
        assert!(followed("https://a", None, 0).is_err());
    }

    #[test]
    fn an_origin_is_written_as_a_browser_sends_it() {
        for good in ["*", "https://status.example.org", "http://127.0.0.1:8080"] {
            assert_eq!(origin(good), Ok(good.to_owned()));
        }
        for bad in ["status.example.org", "https://status.example.org/", "https://A.example.org", "https://a/b", ""] {
            assert!(origin(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_probe_has_a_name_and_an_address() {
        let probe = probe("dev=http://127.0.0.1:8080/readyz?deep=1").unwrap();
        assert_eq!((probe.name.as_str(), &*probe.url), ("dev", "http://127.0.0.1:8080/readyz?deep=1"));
        assert_eq!((probe.every_ms, probe.timeout_ms, probe.verify), (1000, 300, true));
        for (text, why) in [
            ("http://127.0.0.1:8080", "has no name"),
            ("=http://a", "no name of a member"),
            ("a b=http://a", "no name of a member"),
            ("a=127.0.0.1:80", "is not a URL"),
            ("a=ftp://b", "is for ftp"),
            ("a=http://ada:secret@b", "holds a user or a password"),
            ("a=", "is not a URL"),
        ] {
            let error = super::probe(text).unwrap_err();
            assert!(error.contains(why) && !error.contains("secret"), "{text}: {error}");
        }
    }

    #[test]
    fn a_short_time_is_read_back_to_the_same() {
        for millis in [1, 300, 999, 1000, 1500, 60_000, 86_400_000] {
            assert_eq!(super::millis(&exact_millis(millis)), Ok(millis));
        }
        assert_eq!(super::millis("2"), Ok(2000));
        for text in ["ms", "1.5s", "-1ms", "soon", ""] {
            assert!(super::millis(text).is_err(), "{text}");
        }
        assert!(probe_period("9ms").is_err() && probe_timeout("0").is_err() && probe_timeout("6m").is_err());
        assert!(header_name("X Version").is_err());
        assert_eq!(header_name("X-Version"), Ok("x-version".into()));
    }

    #[test]
    fn a_log_filter_must_parse() {
        assert!(log_filter("greenlight=debug,info").is_ok());
        assert!(log_filter("greenlight=loud").is_err());
    }
}
