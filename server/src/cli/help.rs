//! What `--help` says below the flags: the meaning, the exit codes and examples. Each paragraph is one line, which
//! the terminal's width breaks.

pub(super) const EXIT_CODES: &str = "\
Exit codes of every command: 0 yes, 1 no, 2 the command line or a file was not understood, 3 it could not be found \
out. Lengths of time are written 90s, 15m, 1h30m, 7d, or as a bare number of seconds.";

pub(super) const SERVE: &str = "\
A flag comes before the environment (GREENLIGHT_BIND for --bind, and so on; lists apart by white space; an empty \
variable is not set), that before the file, that before the default. A list is taken whole from the first of them \
that names it. The file is TOML with the same names, stale_after for --stale-after; relative paths in it count \
from its own folder. SIGHUP reads tokens, horizon and probes again. SIGTERM ends: not ready at once, everything \
else goes on for --drain, then what is in flight gets 5 s more.

  stale_after = \"30m\"
  [[follow]]
  url = \"https://eu.example.org\"
  prefix = \"eu/\"
  every = \"10s\"
  [[probe]]                             # what is not said here is as shown
  name = \"dev\"
  url = \"http://127.0.0.1:8080/readyz\"
  every = \"1s\"
  timeout = \"300ms\"
  silences_to_leave = 3                 # so many timeouts (or 429s) in a row; a no, a refusal or a cut: at once
  answers_to_join = 1
  hold_last = false                     # true: silence does not remove the last one that is in
  version_header = \"x-version\"         # not asked for unless said; its value becomes serving_sha
  verify = true                         # false: any certificate will do

Exit codes: 0 ended by a signal, at the latest --drain and 5 s after it, or the configuration is printed; 1 ended at \
once by a second signal: what was in flight is cut off, what was answered with 200 is kept; 2 the configuration is \
wrong; 3 it cannot run: the address is taken, the data directory is held by another daemon, or cannot be used. Where \
the board's task breaks by a bug of ours the process ends itself by SIGABRT, which a shell shows as 134.

Examples:
  greenlight serve
  greenlight serve --bind 0.0.0.0:8787 --data /var/lib/greenlight --stale-after 30m
  greenlight serve --probe dev=http://127.0.0.1:8080/readyz
  greenlight serve --follow eu/=https://eu.example.org --print-config";

pub(super) const DEMO: &str = "\
The daemon is the real one, at a horizon of one minute, with its data in a folder that goes when the demo ends. \
The driver reports over HTTP, as yours would; two web servers beside it are probed. Ctrl-C ends them all.

Exit codes: 0 ended, 2 usage, 3 the daemon could not be run.

Examples:
  greenlight demo
  greenlight demo --bind 127.0.0.1:8787 --for 5m";

pub(super) const PUBLISH: &str = "\
A row is published whole: a field that is not given is null (draining 0, phase idle). The daemon stamps it when it \
sees it change; publishing the same again changes nothing but how long it is good.

The file of --report holds {\"instances\": [rows], \"good_for_secs\": 90, \"sequence\": 7}, or just the rows. Rows that \
the source reported before and that it no longer names are removed. Fields that the daemon does not know are \
refused, so that a slip of the pen does not go unseen.

Exit codes: 0 accepted (where the daemon cannot make it durable, that is told on standard error), 1 refused by the \
daemon, 2 usage or a file that is no report, 3 the daemon could not be reached or could not do it.

Examples:
  greenlight publish dev --phase serving --serving-sha a1b2c3d
  greenlight publish lane --phase building --last-green 9f6e4d5 --last-red-sha c0ffee1 --last-red-reason 'exited 1'
  my-driver | greenlight publish --report - --source driver --good-for 90s";

pub(super) const STATUS: &str = "\
Exit codes: 0 ready, 1 not ready, 2 usage, 3 not found out.

Examples:
  greenlight status
  greenlight status https://greenlight.example.org --json | jq .readiness";

pub(super) const WAIT: &str = "\
A build is the one that is waited for if it has the same name, or if one of the two is a prefix of the other of 7 \
characters or more. It is asked once a second.

  serves      serving_sha is it, and somebody vouches for the row now
  went red    last_red_sha is it, and pending_sha is not: one that is being tried again is not red
  superseded  since the wait began another one came to serve, and nothing is pending

A name that is not on the board yet is waited for, and so is a daemon that restarts. One that was never reached is \
given up after 10 s, or when --timeout ends if that is sooner.

Exit codes: 0 it serves it, 1 it went red or was superseded, 2 usage, 3 time is up or the daemon cannot be reached.

Examples:
  greenlight wait dev --sha \"$(git rev-parse HEAD)\"
  greenlight wait dev --sha a1b2c3d --timeout 5m";

pub(super) const HISTORY: &str = "\
The daemon's own rule over what the daemon recorded, second by second: what would the verdict have been under \
another horizon? Where no daemon was watching it was neither ready nor not. A row is masked while it is degraded and \
no longer vetoes.

Exit codes: 0 told, 2 usage, 3 the daemon could not be reached, keeps no history, or did not tell all of it.

Examples:
  greenlight history --from -7d --stale-after 15m,1h,never
  greenlight history --from 2026-08-03T07:00:00Z --until 2026-08-03T09:00:00Z --json | jq 'select(.span==\"verdict\")'";

pub(super) const EXPORT: &str = "\
The first line says what it is and of which window, then comes the board as it was before, then what happened, and \
the last line says that it is whole. Reasons and evidence of failures are in it as the sources told them.

Exit codes: 0 written, 2 usage, 3 the daemon could not be reached, keeps no history, or did not tell all of it.

Examples:
  greenlight export --from -2h --out incident.jsonl
  greenlight export --from -7d --name lane | gzip > lane.jsonl.gz";

pub(super) const IMPORT: &str = "\
Nothing is told to any daemon: the file is judged as greenlight history judges what a daemon tells. One that breaks \
off, is of a newer version or is something else is refused, with the line.

Exit codes: 0 judged, 2 usage or a file that is refused, 3 the answer could not be written.

Examples:
  greenlight import incident.jsonl --stale-after 1h,15m
  greenlight import --salvage half-an-incident.jsonl --csv";

pub(super) const TEST: &str = "\
A scenario is JSON: a name, the horizon, and steps that report, remove, restart and expect, each at its moment.

  { \"scenario\": \"a dead slot ages out\",
    \"stale_after_secs\": 3600,
    \"steps\": [
      { \"at\": 0, \"report\": { \"source\": \"driver\", \"instances\": [
          { \"name\": \"dev\", \"serving_sha\": \"a1\" },
          { \"name\": \"lane\", \"last_green\": \"77\" } ] } },
      { \"at\": 3599, \"expect\": { \"ready\": false, \"live_degraded\": [\"lane\"] } },
      { \"at\": 3600, \"expect\": { \"ready\": true, \"stale_degraded\": [\"lane\"] } } ] }

Every expectation that does not hold is printed, and one line for each file.

Exit codes: 0 all hold, 1 some do not, 2 a file is not a scenario (it says where), 3 the answer could not be written.

Examples:
  greenlight test scenarios/
  greenlight test - < a-dead-slot-ages-out.json";

#[cfg(feature = "rehearse")]
pub(super) const REHEARSE: &str = "\
Starts the old version, waits until it is ready, and sends one request every 10 ms in turn to whoever is in rotation: \
on a connection of its own and on one that is kept, by turns. Then starts the new version and, once that is ready, \
sends the old one a single SIGTERM. {port} in a command and PORT in its environment are where it is to listen, \
{ready_port} and READY_PORT where it may answer its readiness apart. Commands are split into words, not run by a \
shell; of one that --shell runs, the shell gets the SIGTERM, so write exec before the server.

Lengths of time may be as short as 300us or 10ms.

Exit codes: 0 kept, 1 broken (a request was refused, lost, answered otherwise, too slow, or found nobody), 2 usage or \
something is wrong before the start, 3 inconclusive: the rehearsal had trouble of its own, 4 the roll did not complete, \
130 interrupted, with what was found until then.

Examples:
  greenlight rehearse --old './server-v1 --port {port}' --new './server-v2 --port {port}'
  greenlight rehearse --old './server --port {port}' --path /api --lag 500ms --record roll.jsonl
  greenlight rehearse --old 'exec ./server >/tmp/log' --shell --runs 20 --busy 8";

#[cfg(feature = "rehearse")]
pub(super) const EXPLAIN: &str = "\
The report is the one that the rehearsal printed, byte for byte. Of a record that breaks off, what can be read is \
reported.

Exit codes: 0 kept, 1 broken, 3 inconclusive, 4 incomplete, 130 interrupted, as of the rehearsal; 2 it is no record.

Examples:
  greenlight explain roll.jsonl
  greenlight explain --json - < roll.jsonl | jq .totals";

#[cfg(feature = "rehearse")]
pub(super) const HELPER: &str = "\
Exit codes: 0 done, 2 usage, 3 it could not be done. Example: greenlight rehearse starts it.";

pub(super) const COMPLETIONS: &str = "\
Exit codes: 0 printed, 2 usage, 3 it could not be written.

Example:
  greenlight completions bash > ~/.local/share/bash-completion/completions/greenlight";

pub(super) const OPENAPI: &str = "\
Exit codes: 0 printed, 3 it could not be written.

Example:
  greenlight openapi > openapi.json";

#[cfg(feature = "page")]
pub(super) const PAGE: &str = "\
The copy shows the daemon that its address names, https://HOST/?daemon=https://DAEMON, if that daemon
has --allow-origin for its host; and any saved /app, without a daemon.

Exit codes: 0 written, 3 it could not be written.

Example:
  greenlight page --out site";

#[cfg(test)]
mod tests {
    #[test]
    fn the_scenario_in_the_help_is_one_and_holds() {
        let (start, end) = (super::TEST.find('{').unwrap(), super::TEST.rfind('}').unwrap());
        let scenario = serde_json::from_str(&super::TEST[start..=end]).unwrap();
        assert_eq!(greenlight_core::scenario::play(&scenario), []);
    }
}
