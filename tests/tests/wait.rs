//! `greenlight wait` through the real daemon: when a build is live, red, superseded, or not to be found out.

use std::net::TcpListener;

use greenlight_tests::{Daemon, Folder, Ran, Started, greenlight, start};

const SHA: &str = "c0ffee1234567890";
const OLD: &str = "a1b2c3d4e5f60718";
const NEW: &str = "0badcafe00112233";

fn put(daemon: &Daemon, row: &str) {
    let (status, answer) = daemon.put("/sources/driver/instances/dev?good_for_secs=600", row);
    assert_eq!(status, 200, "{answer}");
}

/// Begins to wait, and goes on once the wait has seen the row and said so.
#[track_caller]
fn waiting(daemon: &Daemon, says: &str) -> Started {
    let mut wait = start(&["wait", "dev", "--sha", SHA, "--to", &daemon.url, "--timeout", "60s"]);
    assert_eq!(wait.note(), format!("waiting: {says}\n"));
    wait
}

/// Asks once.
fn asked(daemon: &Daemon, sha: &str) -> Ran {
    greenlight(&["wait", "dev", "--sha", sha, "--to", &daemon.url, "--timeout", "0"], "")
}

#[track_caller]
fn check(ran: &Ran, code: i32, said: &str) {
    assert!(ran.code == Some(code) && format!("{}{}", ran.out, ran.err).contains(said), "{ran:?}");
}

#[test]
fn a_build_is_live_once_it_serves_by_its_sha_or_a_prefix_either_way_round() {
    let folder = Folder::new();
    let daemon = Daemon::start(folder.path(), &[]);
    check(&asked(&daemon, SHA), 3, "nobody has reported dev yet");
    let wait = waiting(&daemon, "nobody has reported dev yet");
    put(&daemon, &format!(r#"{{"serving_sha":"{SHA}","last_green":"{SHA}"}}"#));
    check(&wait.ended(), 0, "dev serves c0ffee1234567890\n");
    for sha in [SHA, &SHA[..7], &format!("{SHA}abcdef")] {
        check(&asked(&daemon, sha), 0, "dev serves c0ffee1");
    }
    check(&asked(&daemon, &SHA[..6]), 3, "is shorter than 7 characters");
}

#[test]
fn an_old_build_that_still_serves_is_not_live_and_one_that_nobody_vouches_for_is_not_either() {
    let folder = Folder::new();
    let mut daemon = Daemon::start(folder.path(), &[]);
    put(&daemon, &format!(r#"{{"serving_sha":"{OLD}","last_green":"{OLD}"}}"#));
    check(&asked(&daemon, SHA), 3, &format!("time is up after 0s: dev serves {OLD}"));
    daemon.kill();
    let daemon = Daemon::start(folder.path(), &[]);
    check(&asked(&daemon, OLD), 3, "but nobody vouches for that now");
}

#[test]
fn an_old_red_of_a_build_that_is_tried_again_is_not_red_and_one_that_is_not_is() {
    let folder = Folder::new();
    let daemon = Daemon::start(folder.path(), &[]);
    let red = format!(r#""serving_sha":"{OLD}","last_red_sha":"{SHA}","last_red_reason":"exited 1\u001b[2J""#);
    put(&daemon, &format!(r#"{{{red},"pending_sha":"{SHA}"}}"#));
    check(&asked(&daemon, SHA), 3, "is pending on dev");
    let wait = waiting(&daemon, &format!("{SHA} is pending on dev"));
    put(&daemon, &format!("{{{red}}}"));
    check(&wait.ended(), 1, r"c0ffee1234567890 went red on dev: exited 1\u{1b}[2J");
}

#[test]
fn another_build_that_comes_to_serve_supersedes_and_an_old_one_that_comes_back_does_not() {
    let folder = Folder::new();
    let daemon = Daemon::start(folder.path(), &[]);
    put(&daemon, &format!(r#"{{"last_green":"{OLD}"}}"#));
    let mut wait = waiting(&daemon, "dev serves nothing");
    put(&daemon, &format!(r#"{{"serving_sha":"{OLD}","last_green":"{OLD}"}}"#));
    assert_eq!(wait.note(), format!("waiting: dev serves {OLD}\n"));
    put(&daemon, &format!(r#"{{"serving_sha":"{NEW}","last_green":"{NEW}"}}"#));
    check(&wait.ended(), 1, &format!("{SHA} was superseded on dev: {NEW} came to serve"));
}

#[test]
fn a_wait_goes_on_over_a_restart_of_the_daemon_and_a_daemon_that_is_not_there_is_not_found_out() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let url = format!("http://{free}");
    let nobody = greenlight(&["wait", "dev", "--sha", SHA, "--to", &url, "--timeout", "1s"], "");
    check(&nobody, 3, "connection refused");
    let folder = Folder::new();
    let mut daemon = Daemon::start(folder.path(), &["--bind", &free.to_string()]);
    put(&daemon, &format!(r#"{{"serving_sha":"{OLD}"}}"#));
    let mut wait = waiting(&daemon, &format!("dev serves {OLD}"));
    daemon.kill();
    assert!(wait.note().contains("(asking again)"));
    let daemon = Daemon::start(folder.path(), &["--bind", &free.to_string()]);
    put(&daemon, &format!(r#"{{"serving_sha":"{SHA}"}}"#));
    check(&wait.ended(), 0, "dev serves");
}
