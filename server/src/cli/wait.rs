//! `greenlight wait NAME --sha SHA`: asks once a second until it is decided or time is up.

use std::time::Duration;

use clap::Args;
use greenlight_core::{Name, Span};
use serde::Deserialize;

use super::client::{Client, Target};
use super::console::{Console, inert};
use super::environment::Environment;
use super::outcome::{Failure, Outcome};
use super::pace::{Pace, RealPace};
use super::values;
use super::waiting::{NotYet, SHORTEST_PREFIX, SeenRow, Sight, Waiting};

/// What is waited for.
#[derive(Args, Debug)]
pub(crate) struct WaitArgs {
    /// The instance
    #[arg(value_parser = values::instance_name)]
    name: Name,

    /// The build: its sha, or a prefix of 7 characters or more
    #[arg(long, value_name = "SHA", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    sha: String,

    /// For how long at most; 0 asks once
    #[arg(long, value_name = "SPAN", default_value = "30m", value_parser = values::span)]
    timeout: Span,

    #[command(flatten)]
    target: Target,
}

/// What one question brought.
enum Look {
    /// The row, if there is one.
    Row(Option<SeenRow>),
    /// No answer, or none that can be understood: it may be starting again.
    NoAnswer(String),
    /// An answer that will not change by itself.
    Never(String),
}

pub(crate) fn run(args: &WaitArgs, environment: &Environment, console: &mut Console<'_>) -> Result<Outcome, Failure> {
    let client = args.target.client(environment)?;
    if args.sha.len() < SHORTEST_PREFIX {
        console.note(format_args!(
            "greenlight: {} is shorter than {SHORTEST_PREFIX} characters: only a build of that very name will do",
            inert(&args.sha)
        ));
    }
    let (mut pace, _ender) = RealPace::new();
    until_decided(args, &mut pace, |time_left| ask(&client, &args.name, time_left), console)
}

/// Asks until it is decided. The last question is put when the time is just up, so that a build which comes at the
/// last moment is not missed.
fn until_decided(
    args: &WaitArgs,
    pace: &mut impl Pace,
    mut ask: impl FnMut(Duration) -> Look,
    console: &mut Console<'_>,
) -> Result<Outcome, Failure> {
    let (name, sha) = (&args.name, inert(&args.sha));
    let start = pace.now_ms();
    let deadline = start.saturating_add(args.timeout.0.saturating_mul(1000));
    let give_up_unreached = deadline.min(start.saturating_add(UNREACHED_MS));
    let mut waiting = Waiting::new(&args.sha);
    let mut reached = false;
    let mut told = String::new();
    loop {
        let time_left = deadline.saturating_sub(pace.now_ms()).clamp(SHORTEST_QUESTION_MS, LONGEST_QUESTION_MS);
        let state = match ask(Duration::from_millis(time_left)) {
            Look::Row(row) => {
                reached = true;
                match waiting.observe(row.as_ref()) {
                    Sight::Serves => {
                        console.say(format_args!("{name} serves {sha}"));
                        return Ok(Outcome::Yes);
                    }
                    Sight::Red { reason } => {
                        let reason = reason.map(|reason| format!(": {}", inert(&reason))).unwrap_or_default();
                        console.say(format_args!("{sha} went red on {name}{reason}"));
                        return Ok(Outcome::No);
                    }
                    Sight::Superseded { by } => {
                        console.say(format_args!("{sha} was superseded on {name}: {} came to serve", inert(&by)));
                        return Ok(Outcome::No);
                    }
                    Sight::NotYet(why) => in_words(name, &args.sha, &why),
                }
            }
            Look::NoAnswer(error) => {
                if !reached && pace.now_ms() >= give_up_unreached {
                    return Err(Failure::not_found_out(error));
                }
                format!("{error} (asking again)")
            }
            Look::Never(error) => return Err(Failure::not_found_out(error)),
        };
        if state != told {
            console.note(format_args!("waiting: {state}"));
            told = state;
        }
        let now = pace.now_ms();
        if now >= deadline {
            return Err(Failure::not_found_out(format_args!("time is up after {}: {told}", args.timeout)));
        }
        let _ = pace.pause(Duration::from_millis(deadline.saturating_sub(now).min(PERIOD_MS)));
    }
}

fn in_words(name: &Name, sha: &str, why: &NotYet) -> String {
    let sha = inert(sha);
    let word = |sha: &Option<String>| sha.as_deref().map_or("nothing".into(), |sha| inert(sha).to_string());
    match why {
        NotYet::Absent => format!("nobody has reported {name} yet"),
        NotYet::Unconfirmed => format!("{name} served {sha}, but nobody vouches for that now"),
        NotYet::Pending => format!("{sha} is pending on {name}"),
        NotYet::Other { serving, pending: None } => format!("{name} serves {}", word(serving)),
        NotYet::Other { serving, pending } => {
            format!("{name} serves {}, and {} is pending", word(serving), word(pending))
        }
    }
}

/// The row as the daemon has it now. A daemon that does not say who is unconfirmed vouches for all of its rows.
fn ask(client: &Client, name: &str, time_left: Duration) -> Look {
    let answer = match client.get("/app", time_left) {
        Ok(answer) => answer,
        Err(error) => return Look::NoAnswer(error.0),
    };
    match answer.status {
        200 => match row_in(&answer.body, name) {
            Ok(row) => Look::Row(row),
            Err(error) => Look::NoAnswer(format!("the answer of {} cannot be understood: {error}", client.base())),
        },
        401 | 403 => Look::Never(format!("{}: {}", client.base(), answer.problem())),
        _ => Look::NoAnswer(format!("{}: {}", client.base(), answer.problem())),
    }
}

fn row_in(body: &[u8], name: &str) -> Result<Option<SeenRow>, serde_json::Error> {
    #[derive(Deserialize)]
    struct App {
        instances: Vec<NamedRow>,
        #[serde(default)]
        readiness: Readiness,
    }

    #[derive(Deserialize)]
    struct NamedRow {
        name: String,
        #[serde(flatten)]
        row: SeenRow,
    }

    #[derive(Default, Deserialize)]
    struct Readiness {
        #[serde(default)]
        unconfirmed: Vec<String>,
    }

    let app: App = serde_json::from_slice(body)?;
    let confirmed = !app.readiness.unconfirmed.iter().any(|unconfirmed| unconfirmed == name);
    Ok(app.instances.into_iter().find(|row| row.name == name).map(|found| SeenRow { confirmed, ..found.row }))
}

/// Often enough for a person, seldom enough for a daemon that a whole fleet of builds waits at.
const PERIOD_MS: u64 = 1000;
/// A daemon that is started beside the wait has come up by then; one that is not there need not cost half an hour.
const UNREACHED_MS: u64 = 10_000;
const LONGEST_QUESTION_MS: u64 = 10_000;
/// Even the last question, when time is up, gets a chance to be answered.
const SHORTEST_QUESTION_MS: u64 = 1000;

#[cfg(test)]
mod tests {
    use super::super::console::testing::captured;
    use super::super::pace::testing::ManualPace;
    use super::*;

    const SHA: &str = "c0ffee1234567890";

    fn serving(sha: &str) -> Look {
        Look::Row(Some(SeenRow { serving_sha: Some(sha.into()), confirmed: true, ..SeenRow::default() }))
    }

    fn refused() -> Look {
        Look::NoAnswer("connection refused".into())
    }

    /// Waits with the answer of each second; the last answer stays. Gives the result, what was said, and how long
    /// it took.
    fn wait(timeout: u64, answers: &[fn() -> Look]) -> (Result<Outcome, Failure>, String, u64) {
        let args = WaitArgs {
            name: Name::of_instance("dev").unwrap(),
            sha: SHA.into(),
            timeout: Span(timeout),
            target: Target::default(),
        };
        let mut pace = ManualPace::default();
        let mut asked = 0;
        let (result, out, _) = captured("", |console| {
            let ask = |_| {
                let look = answers[asked.min(answers.len() - 1)]();
                asked += 1;
                look
            };
            until_decided(&args, &mut pace, ask, console)
        });
        (result, out, pace.now_ms)
    }

    #[test]
    fn a_build_that_comes_to_serve_ends_the_wait() {
        let (result, out, took_ms) = wait(60, &[|| Look::Row(None), || serving("old"), || serving(SHA)]);
        assert_eq!((result, out.as_str(), took_ms), (Ok(Outcome::Yes), "dev serves c0ffee1234567890\n", 2000));
    }

    #[test]
    fn a_daemon_that_restarts_is_asked_again_until_time_is_up() {
        let (result, _, took_ms) = wait(1800, &[|| serving("old"), refused, refused, || serving(SHA)]);
        assert_eq!((result, took_ms), (Ok(Outcome::Yes), 3000));
        let (result, _, took_ms) = wait(60, &[|| serving("old"), refused]);
        let Err(Failure::NotFoundOut(text)) = result else { panic!("{result:?}") };
        assert!(text.contains("time is up after 1m") && text.contains("refused"), "{text}");
        assert_eq!(took_ms, 60_000);
    }

    #[test]
    fn a_daemon_that_was_never_reached_is_given_up_after_ten_seconds() {
        assert_eq!(wait(1800, &[refused]).2, 10_000);
        assert_eq!(wait(3, &[refused]).2, 3000);
        assert_eq!(wait(1800, &[refused, refused, || serving(SHA)]).0, Ok(Outcome::Yes));
    }

    #[test]
    fn a_timeout_of_zero_asks_once() {
        assert_eq!(wait(0, &[|| serving(SHA)]).0, Ok(Outcome::Yes));
        let (result, _, took_ms) = wait(0, &[|| serving("old"), || serving(SHA)]);
        assert_eq!((result.unwrap_err().outcome(), took_ms), (Outcome::NotFoundOut, 0));
    }

    #[test]
    fn a_build_that_comes_when_time_is_just_up_is_seen() {
        assert_eq!(wait(1, &[|| serving("old"), || serving(SHA)]).0, Ok(Outcome::Yes));
    }

    #[test]
    fn a_closed_door_is_not_waited_for() {
        let (result, _, took_ms) = wait(60, &[|| Look::Never("a token is needed".into())]);
        assert_eq!((result, took_ms), (Err(Failure::NotFoundOut("a token is needed".into())), 0));
    }

    #[test]
    fn a_red_reason_is_shown_inert() {
        let red = || {
            Look::Row(Some(SeenRow {
                last_red_sha: Some(SHA.into()),
                last_red_reason: Some("\u{1b}[2J".into()),
                ..SeenRow::default()
            }))
        };
        let (result, out, _) = wait(60, &[red]);
        assert_eq!((result, out.as_str()), (Ok(Outcome::No), "c0ffee1234567890 went red on dev: \\u{1b}[2J\n"));
    }

    #[test]
    fn a_row_is_confirmed_unless_the_daemon_says_otherwise() {
        let body = r#"{"instances":[{"name":"a","serving_sha":"1","standing":"x"},{"name":"b"}],"readiness":{"unconfirmed":["a"]}}"#;
        let row = row_in(body.as_bytes(), "a").unwrap().unwrap();
        assert_eq!((row.serving_sha.as_deref(), row.confirmed), (Some("1"), false));
        assert!(row_in(body.as_bytes(), "b").unwrap().unwrap().confirmed);
        assert_eq!(row_in(body.as_bytes(), "c").unwrap(), None);
        assert!(row_in(br#"{"instances":[{"name":"a"}],"ready":false}"#, "a").unwrap().unwrap().confirmed);
        assert!(row_in(b"<html>", "a").is_err());
    }
}
