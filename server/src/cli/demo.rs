//! `greenlight demo`: the real daemon, a driver that tells it the story of four slots, and two web servers that it
//! probes.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use clap::Args;
use greenlight_core::Span;
use serde_json::json;

use super::client::{Client, TIMEOUT, Token};
use super::console::{Console, inert};
use super::demo_daemon::DemoDaemon;
use super::outcome::{Failure, Outcome};
use super::pace::{Pace, Pause, RealPace};
use super::story::{LENGTH_SECS, Moment, SOURCE, STALE_AFTER_SECS, STORY};
use super::values;

/// How the demo is run.
#[derive(Args, Debug)]
pub(crate) struct DemoArgs {
    /// Where the daemon listens; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS", value_parser = values::address,
          default_value_t = SocketAddr::new(Ipv4Addr::LOCALHOST.into(), 0))]
    bind: SocketAddr,

    /// End by itself after so long [default: with Ctrl-C]
    #[arg(long = "for", value_name = "SPAN", value_parser = values::span)]
    for_how_long: Option<Span>,
}

pub(crate) fn run(args: &DemoArgs, console: &mut Console<'_>) -> Result<Outcome, Failure> {
    let (mut pace, ender) = RealPace::new();
    super::demo_daemon::end_on_signals(ender).map_err(Failure::not_found_out)?;
    let probes = super::demo_web::start()
        .map_err(|error| Failure::not_found_out(format_args!("the two web servers cannot be started: {error}")))?;
    let daemon = DemoDaemon::start(args.bind, STALE_AFTER_SECS, &probes).map_err(Failure::not_found_out)?;
    let url = daemon.url();
    until_it_serves(&Client::new(url.into(), Err("the demo reads without one".into())), &mut pace)?;
    let token = Token::read(&daemon.token_file()).map_err(Failure::not_found_out)?;
    console.say(format_args!(
        "A real daemon listens on {url}, at a horizon of one minute. Try, in another terminal:\n\n  \
         curl -i '{url}/readyz?verbose'\n  curl {url}/status\n  curl '{url}/app?stale_after=never'\n  \
         curl -N {url}/events\n  curl {url}/rotation\n\nThe driver reports as source {SOURCE}. Two real web servers \
         are probed: web-1, and web-2, which now and then says\nnothing to two probes in a row, and stays in. Ctrl-C \
         ends it all.\n"
    ));
    let client = Client::new(url.into(), Ok(token));
    tell(&client, &mut pace, args.for_how_long, console)?;
    drop(daemon);
    console.say("The demo is over: the daemon has ended, and its data is gone.");
    Ok(Outcome::Yes)
}

/// A daemon listens before it has opened its store and made its token.
fn until_it_serves(client: &Client, pace: &mut impl Pace) -> Result<(), Failure> {
    let deadline = pace.now_ms().saturating_add(START_LIMIT_MS);
    loop {
        let answer = client.get("/status", TIMEOUT)?;
        match answer.status {
            200 => return Ok(()),
            _ if pace.now_ms() >= deadline => {
                return Err(Failure::not_found_out(format_args!("the daemon does not serve: {}", answer.problem())));
            }
            _ => match pace.pause(START_LOOK) {
                Pause::Over => {}
                Pause::Ended => return Err(Failure::not_found_out("ended before the daemon served")),
            },
        }
    }
}

/// Tells the story, over and over, until somebody asks to end, nobody reads on, or the time is up.
fn tell(
    client: &Client,
    pace: &mut impl Pace,
    for_how_long: Option<Span>,
    console: &mut Console<'_>,
) -> Result<(), Failure> {
    let start = pace.now_ms();
    let end = for_how_long.map(|Span(secs)| start.saturating_add(secs.saturating_mul(1000)));
    let mut moments = moments().peekable();
    let Some((_, mut now_told)) = moments.peek().copied() else { return Ok(()) };
    loop {
        let since = pace.now_ms().saturating_sub(start);
        let mut next_ms = since + RENEW_MS;
        let mut is_new = false;
        while let Some((at_ms, moment)) = moments.next_if(|(at_ms, _)| *at_ms <= since) {
            now_told = moment;
            is_new = true;
            console.say(format_args!("{:>4}s  {}", at_ms / 1000, moment.says));
        }
        next_ms = next_ms.min(moments.peek().map_or(next_ms, |(at_ms, _)| *at_ms));
        report(client, now_told)?;
        if is_new {
            let answer = client.get("/readyz", TIMEOUT)?;
            let body = String::from_utf8_lossy(&answer.body);
            let line = body.lines().next().unwrap_or_default();
            console.say(format_args!("       /readyz {}  {}", answer.status, inert(line)));
        }
        let now = pace.now_ms();
        if console.reader_is_gone() || end.is_some_and(|end| now >= end) {
            return Ok(());
        }
        let wake = start.saturating_add(next_ms).min(end.unwrap_or(u64::MAX));
        match pace.pause(Duration::from_millis(wake.saturating_sub(now))) {
            Pause::Over => {}
            Pause::Ended => return Ok(()),
        }
    }
}

/// All moments with their times in milliseconds, without end.
fn moments() -> impl Iterator<Item = (u64, &'static Moment)> {
    let round = |round: u64| move |moment: &'static Moment| (1000 * (round * LENGTH_SECS + moment.at_secs), moment);
    STORY.iter().map(round(0)).chain((1..).flat_map(move |number| STORY.iter().skip(1).map(round(number))))
}

/// The full report of the driver. Saying the same again renews it and changes nothing else.
fn report(client: &Client, moment: &Moment) -> Result<(), Failure> {
    let body = json!({ "instances": moment.slots, "good_for_secs": GOOD_FOR_SECS }).to_string();
    let answer = client.put(&format!("/sources/{SOURCE}?strict=true"), body.as_bytes())?;
    match answer.status {
        200 | 202 => Ok(()),
        _ => Err(Failure::not_found_out(format_args!("the daemon refused the driver: {}", answer.problem()))),
    }
}

const START_LIMIT_MS: u64 = 20_000;
const START_LOOK: Duration = Duration::from_millis(20);
/// A driver that missed three of these is silent.
const RENEW_MS: u64 = 5000;
const GOOD_FOR_SECS: u64 = 15;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_story_goes_on_without_end_in_rising_time() {
        let times: Vec<u64> = moments().take(3 * STORY.len()).map(|(at_ms, _)| at_ms).collect();
        assert!(times.is_sorted_by(|one, next| one < next), "{times:?}");
        assert_eq!(times[STORY.len()], 1000 * (LENGTH_SECS + STORY[1].at_secs));
    }
}
