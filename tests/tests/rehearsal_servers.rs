//! Rehearsals of servers that were not written for them: axum's graceful shutdown, nginx, and greenlight itself.

#![expect(clippy::unwrap_used, reason = "a helper of a test fails the test")]

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use greenlight_tests::rehearsal::{Rehearsal, Rehearsed, fault_server};
use greenlight_tests::{Folder, binary};

/// Beside the binary, where cargo puts examples.
fn graceful() -> PathBuf {
    let server = binary().with_file_name("examples").join("graceful");
    assert!(server.exists(), "no {}: run `cargo build -p greenlight-tests --examples` first", server.display());
    server
}

/// Broken, since a listener was closed while it was still asked, by itself or with its process, which has nothing to
/// wait for where nothing is under way; the line that says why names it, and the lag.
#[track_caller]
fn closes_its_listener_too_early(rehearsed: &Rehearsed) {
    assert_eq!(rehearsed.exit, Some(1), "{}", rehearsed.text);
    let why = rehearsed.why();
    // A probe may come before any tick.
    let met = rehearsed.total("refused") + rehearsed.total("cut");
    assert!(met > 0 || why.contains("no tick by luck"), "{}", rehearsed.text);
    assert!(why.starts_with("old closed its listener ") && why.contains(" ms before it left rotation"), "{why}");
    rehearsed.left_nothing();
}

#[test]
fn axum_with_nothing_but_graceful_shutdown_is_broken_and_the_listener_named() {
    let command = format!("{} {{port}}", graceful().display());
    closes_its_listener_too_early(&Rehearsal::of_commands(&command, &command).run());
}

#[test]
fn the_same_server_behind_a_second_of_503_is_kept() {
    let command = format!("{} {{port}} 1000", graceful().display());
    Rehearsal::of_commands(&command, &command).run().kept();
}

#[test]
fn nginx_told_to_stop_by_sigterm_is_broken_and_the_listener_named() {
    let folder = Folder::new();
    for version in ["old", "new"] {
        let prefix = folder.path().join(version);
        std::fs::create_dir_all(prefix.join("html")).unwrap();
        std::fs::write(prefix.join("html/index.html"), "here\n").unwrap();
    }
    // nginx reads no port from its command line: a shell writes the file, and becomes nginx.
    let command = |version: &str| {
        let prefix = folder.path().join(version).display().to_string();
        format!(
            "printf 'pid nginx.pid; worker_processes 1; daemon off; error_log stderr; events {{}} http {{ access_log off; \
             client_body_temp_path a; proxy_temp_path b; fastcgi_temp_path c; uwsgi_temp_path d; scgi_temp_path e; \
             server {{ listen 127.0.0.1:%s; location = /readyz {{ return 200; }} }} }}' $PORT > {prefix}/nginx.conf && \
             exec nginx -p {prefix} -c nginx.conf"
        )
    };
    let rehearsed = Rehearsal::of_commands(&command("old"), &command("new")).by_shell().run();
    closes_its_listener_too_early(&rehearsed);
}

#[test]
fn greenlight_itself_rolls_without_a_miss() {
    let folder = Folder::new();
    let probed = Probed::start(folder.path());
    let command = format!(
        "{} serve --bind 127.0.0.1:{{port}} --data {}/{{port}} --drain 1s --probe web=http://127.0.0.1:{}/readyz",
        binary().display(),
        folder.path().display(),
        probed.port
    );
    let rehearsed = Rehearsal::of_commands(&command, &command).with(&["--path", "/livez"]).run();
    rehearsed.kept();
    rehearsed.left_nothing();
}

/// A server that both greenlights probe.
struct Probed {
    child: Child,
    port: u16,
}

impl Probed {
    fn start(folder: &Path) -> Self {
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut command = Command::new(fault_server());
        command.env("PORT", port.to_string()).arg("--log").arg(folder.join("probed"));
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        Self { child, port }
    }
}

impl Drop for Probed {
    fn drop(&mut self) {
        // It may have gone by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
