//! The HTTP client of the subcommands: one request, one answer, a limit on everything, and nothing tried twice.

use std::fmt;
use std::fs;
use std::io::{ErrorKind, Read};
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use serde::Deserialize;
use ureq::Agent;
use ureq::http::Uri;

use super::config::Inputs;
use super::console::inert;
use super::environment::{Environment, TO, variable};
use super::outcome::Failure;
use super::serve::ServeFlags;
use super::values;

/// Which daemon a command speaks to, and as whom.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct Target {
    /// The daemon's address [default: http://127.0.0.1:8787; env: GREENLIGHT_TO]
    #[arg(long, value_name = "URL", value_parser = values::daemon)]
    pub(crate) to: Option<String>,

    /// A file whose first token is sent; empty lines and lines that begin with # are passed over. A daemon on this
    /// machine is also sent the token that it keeps in its own data directory [env: GREENLIGHT_TOKEN_FILE]
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
}

/// A client of one daemon.
#[derive(Debug)]
pub(crate) struct Client {
    base: String,
    agent: Agent,
    token: Result<Token, String>,
}

/// What a daemon answered.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: Vec<u8>,
    /// What to try where the answer is that a token is needed.
    advice: Option<String>,
}

/// No answer came, in words: which address, what happened, and what to try.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unanswered(pub(crate) String);

impl From<Unanswered> for Failure {
    fn from(Unanswered(text): Unanswered) -> Self {
        Self::NotFoundOut(text)
    }
}

impl Target {
    /// A client of the daemon that the flags, the environment or the default name.
    pub(crate) fn client(&self, environment: &Environment) -> Result<Client, Failure> {
        let base = match &self.to {
            Some(to) => to.clone(),
            None => match environment.text(TO).map_err(Failure::Usage)? {
                Some(text) => values::daemon(text).map_err(|error| Failure::usage(format_args!("{TO}: {error}")))?,
                None => DEFAULT_TO.into(),
            },
        };
        let named = self.token_file.clone().or_else(|| environment.path(&variable("token_file")));
        let token = match named {
            // Somebody means this file: to go on without it would only hide that.
            Some(file) => Ok(Token::read(&file).map_err(Failure::Usage)?),
            None if is_local(&base) => local_token(environment),
            // The token of this machine's daemon is nobody else's business.
            None => Err("no token was sent: give --token-file FILE".into()),
        };
        Ok(Client::new(base, token))
    }
}

impl Client {
    pub(crate) fn new(base: String, token: Result<Token, String>) -> Self {
        let config = Agent::config_builder()
            .http_status_as_error(false)
            // A redirect would carry the token to somewhere else.
            .max_redirects(0)
            .max_redirects_will_error(false)
            // A kept connection that the daemon closed meanwhile would look like a failure of this request.
            .max_idle_connections(0)
            .timeout_connect(Some(CONNECT_TIMEOUT))
            .timeout_global(Some(TIMEOUT))
            .user_agent(concat!("greenlight/", env!("CARGO_PKG_VERSION")));
        // A proxy cannot reach what listens on this machine only.
        let config = if is_local(&base) { config.proxy(None) } else { config };
        Self { base, agent: config.build().new_agent(), token }
    }

    pub(crate) fn base(&self) -> &str {
        &self.base
    }

    /// Asks for a path, which begins with `/`. The answer is complete within `timeout`.
    pub(crate) fn get(&self, path: &str, timeout: Duration) -> Result<Answer, Unanswered> {
        let mut request = self.agent.get(format!("{}{path}", self.base));
        if let Ok(Token(token)) = &self.token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        self.answer(request.config().timeout_global(Some(timeout)).build().call())
    }

    /// Asks for a path and gives the body as it comes, however long that takes; an answer that is not 200 is read
    /// to its end.
    pub(crate) fn stream(&self, path: &str) -> Result<Result<impl Read + use<>, Answer>, Unanswered> {
        let mut request = self.agent.get(format!("{}{path}", self.base));
        if let Ok(Token(token)) = &self.token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        let request = request.config().timeout_global(None).timeout_recv_response(Some(TIMEOUT)).build();
        let response = request.call().map_err(|error| Unanswered(self.why(&error)))?;
        if response.status() == 200 {
            return Ok(Ok(response.into_body().into_reader()));
        }
        self.answer(Ok(response)).map(Err)
    }

    /// Puts a JSON body at a path.
    pub(crate) fn put(&self, path: &str, body: &[u8]) -> Result<Answer, Unanswered> {
        let mut request = self.agent.put(format!("{}{path}", self.base)).header("content-type", "application/json");
        if let Ok(Token(token)) = &self.token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        self.answer(request.send(body))
    }

    fn answer(&self, result: Result<ureq::http::Response<ureq::Body>, ureq::Error>) -> Result<Answer, Unanswered> {
        let unanswered = |error: &ureq::Error| Unanswered(self.why(error));
        let mut response = result.map_err(|error| unanswered(&error))?;
        let body = response
            .body_mut()
            .with_config()
            .limit(MAX_ANSWER_BYTES)
            .read_to_vec()
            .map_err(|error| unanswered(&error))?;
        Ok(Answer { status: response.status().as_u16(), body, advice: self.token.as_ref().err().cloned() })
    }

    fn why(&self, error: &ureq::Error) -> String {
        let base = &self.base;
        match error {
            ureq::Error::Io(io) if io.kind() == ErrorKind::ConnectionRefused => format!(
                "cannot reach {base}: connection refused. Start a daemon there with `greenlight serve`, or name another \
                 with --to URL"
            ),
            ureq::Error::HostNotFound => format!("cannot reach {base}: no such host. Look at --to URL"),
            ureq::Error::Timeout(ureq::Timeout::Connect | ureq::Timeout::Resolve) => {
                format!("cannot reach {base}: nobody took the connection in time. Look at --to URL")
            }
            ureq::Error::Timeout(_) => format!("{base} gave no complete answer in time"),
            ureq::Error::BodyExceedsLimit(limit) => format!("the answer of {base} is larger than {limit} bytes"),
            error => format!("no answer from {base}: {error}"),
        }
    }
}

impl Answer {
    /// What the daemon says is wrong: its title and detail, or where it is no problem of ours, the status. Inert.
    pub(crate) fn problem(&self) -> String {
        #[derive(Deserialize)]
        struct Problem {
            title: String,
            #[serde(default)]
            detail: Option<String>,
            #[serde(default)]
            path: Option<String>,
        }

        let mut text = if let Ok(problem) = serde_json::from_slice::<Problem>(&self.body) {
            let mut text = problem.title;
            text.extend(problem.path.map(|path| format!(" at {path}")));
            text.extend(problem.detail.map(|detail| format!(": {detail}")));
            inert(&text).to_string()
        } else {
            let start = String::from_utf8_lossy(&self.body).chars().take(SHOWN_CHARS).collect::<String>();
            match start.lines().next().map(str::trim).filter(|line| !line.is_empty()) {
                Some(line) => format!("status {}: {}", self.status, inert(line)),
                None => format!("status {} without a word", self.status),
            }
        };
        if let (401 | 403, Some(advice)) = (self.status, &self.advice) {
            text.extend([" (", advice, ")"]);
        }
        text
    }
}

/// A secret. It shows in no debug output.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Token(String);

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(..)")
    }
}

impl Token {
    /// The first token of a file.
    pub(crate) fn read(file: &Path) -> Result<Self, String> {
        let name = file.display();
        let mut text = String::new();
        fs::File::open(file)
            .and_then(|file| file.take(MAX_TOKEN_FILE_BYTES).read_to_string(&mut text))
            .map_err(|error| format!("token file {name}: {error}"))?;
        let token = text
            .lines()
            .map(str::trim)
            .find(|line| !line.is_empty() && !line.starts_with('#'))
            .ok_or_else(|| format!("token file {name} holds no token"))?;
        if token.bytes().all(|byte| byte.is_ascii_graphic()) {
            Ok(Self(token.into()))
        } else {
            Err(format!("token file {name}: the token holds characters that a header cannot carry"))
        }
    }
}

/// The token that the daemon on this machine takes, by the configuration that it would find.
fn local_token(environment: &Environment) -> Result<Token, String> {
    let inputs = Inputs { flags: ServeFlags::default(), environment: environment.clone() };
    let settings = inputs.read().map_err(|error| format!("no token was sent: {error}"))?.settings;
    match settings.token_file.or_else(|| settings.data.token_file()) {
        Some(file) => Token::read(&file).map_err(|error| format!("no token was sent: {error}")),
        None => Err("no token was sent: give --token-file FILE".into()),
    }
}

fn is_local(base: &str) -> bool {
    let Ok(uri) = base.parse::<Uri>() else { return false };
    let host = uri.host().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost") || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// A text as one part of a path: everything but letters, digits and `-._~` is percent-encoded, `/` too.
pub(crate) fn encoded(text: &str) -> String {
    let mut path = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            path.push(char::from(byte));
        } else {
            path.extend(['%', hex_digit(byte >> 4), hex_digit(byte & 0xf)]);
        }
    }
    path
}

fn hex_digit(value: u8) -> char {
    char::from_digit(value.into(), 16).unwrap_or('0').to_ascii_uppercase()
}

const DEFAULT_TO: &str = "http://127.0.0.1:8787";
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// A report of 16 MiB over a slow line, and a commit on a slow disk.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(30);
/// Beyond any board that people look at by this way: 100,000 rows of 2 KiB.
const MAX_ANSWER_BYTES: u64 = 256 * 1024 * 1024;
const MAX_TOKEN_FILE_BYTES: u64 = 64 * 1024;
/// Of an answer that is not ours, a person needs the first line at most.
const SHOWN_CHARS: usize = 200;
