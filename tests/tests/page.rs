//! The page as the daemon serves it: what lets a browser keep it, what it may do, and where else it may come from.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;
use std::process::Command;

use greenlight_tests::{Daemon, Folder, binary, wait_until};

struct Answer {
    status: u16,
    headers: BTreeMap<String, String>,
    body: Vec<u8>,
}

impl Answer {
    fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", String::as_str)
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

fn get(daemon: &Daemon, path: &str, headers: &[(&str, &str)]) -> Answer {
    let agent: ureq::Agent = ureq::Agent::config_builder().http_status_as_error(false).build().into();
    let request = agent.get(format!("{}{path}", daemon.url));
    let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
    let mut answer = request.call().expect("the daemon answers");
    let mut body = Vec::new();
    answer.body_mut().as_reader().read_to_end(&mut body).expect("the answer is whole");
    let headers = answer.headers().iter();
    Answer {
        status: answer.status().as_u16(),
        headers: headers.map(|(name, value)| (name.to_string(), value.to_str().unwrap_or("?").to_owned())).collect(),
        body,
    }
}

/// The addresses of assets that the page's index names, in the order in which it does.
fn named(index: &str) -> Vec<String> {
    index.split('"').filter(|part| part.starts_with("assets/")).map(|part| format!("/{part}")).collect()
}

#[test]
fn the_index_is_asked_for_each_time_and_sent_only_when_it_changed() {
    let folder = Folder::new();
    let daemon = Daemon::start(folder.path(), &[]);
    let index = get(&daemon, "/", &[]);
    assert_eq!((index.status, index.header("content-type")), (200, "text/html; charset=utf-8"));
    assert_eq!(index.header("cache-control"), "no-cache");
    let tag = index.header("etag");
    assert!(tag.starts_with('"') && tag.len() > 10, "{tag}");
    let again = get(&daemon, "/", &[("if-none-match", tag)]);
    assert_eq!((again.status, again.body.len(), again.header("etag")), (304, 0, tag));
    assert_eq!(get(&daemon, "/", &[("if-none-match", "\"another\"")]).status, 200);
}

#[test]
fn the_page_may_run_its_own_modules_and_its_own_wasm_and_nothing_inline() {
    let folder = Folder::new();
    let daemon = Daemon::start(folder.path(), &[]);
    let index = get(&daemon, "/", &[]);
    let policy = index.header("content-security-policy");
    for part in
        ["default-src 'none'", "script-src 'self' 'wasm-unsafe-eval';", "style-src 'self';", "frame-ancestors 'none'"]
    {
        assert!(policy.contains(part), "{part} in {policy}");
    }
    assert!(!policy.contains("unsafe-inline") && !policy.contains("'unsafe-eval'"), "{policy}");
    assert_eq!(index.header("referrer-policy"), "no-referrer");
    assert_eq!(index.header("x-content-type-options"), "nosniff");
    let text = index.text();
    assert!(!text.contains("<style") && !text.contains(" style=") && !text.contains(" onload="), "{text}");
    assert_eq!(text.matches("<script").count(), text.matches("<script type=\"module\" src=").count());
    assert!(text.contains("<noscript>") && text.contains("<a href=\"/status\">"), "{text}");
}

#[test]
fn every_asset_has_its_type_is_kept_for_ever_and_comes_as_small_as_the_reader_takes_it() {
    let folder = Folder::new();
    let daemon = Daemon::start(folder.path(), &[]);
    let index = get(&daemon, "/", &[]).text();
    let named = named(&index);
    for (start, why) in [("rel=\"preload\" as=\"fetch\"", "the wasm"), ("rel=\"modulepreload\"", "modules")] {
        assert!(index.contains(start), "{why} are asked for at once: {index}");
    }
    assert!(named.len() > 5, "{index}");
    for path in &named {
        let kind = match path.rsplit('.').next() {
            Some("js") => "text/javascript; charset=utf-8",
            Some("css") => "text/css; charset=utf-8",
            Some("wasm") => "application/wasm",
            other => panic!("what is {other:?}?"),
        };
        let plain = get(&daemon, path, &[]);
        assert_eq!((plain.status, plain.header("content-type")), (200, kind), "{path}");
        assert_eq!(plain.header("cache-control"), "public, max-age=31536000, immutable", "{path}");
        assert_eq!((plain.header("vary"), plain.header("content-encoding")), ("accept-encoding", ""), "{path}");
        let mut tags = vec![plain.header("etag").to_owned()];
        for (accepts, coding) in [("gzip", "gzip"), ("gzip, deflate, br", "br")] {
            let coded = get(&daemon, path, &[("accept-encoding", accepts)]);
            assert_eq!((coded.status, coded.header("content-type")), (200, kind), "{path}");
            if coded.header("content-encoding") == coding {
                assert!(coded.body.len() < plain.body.len(), "{path}");
                tags.push(coded.header("etag").to_owned());
            } else {
                assert!(plain.body.len() < 1000, "{path} of {} bytes is worth {coding}", plain.body.len());
            }
        }
        let count = tags.len();
        tags.sort();
        tags.dedup();
        assert_eq!(tags.len(), count, "two encodings of {path} share a tag");
        let known = get(&daemon, path, &[("if-none-match", plain.header("etag"))]);
        assert_eq!((known.status, known.body.len()), (304, 0), "{path}");
    }
    let elsewhere = named[0].replace(|letter: char| letter.is_ascii_digit(), "0");
    assert_eq!(get(&daemon, &elsewhere, &[]).status, 404, "{elsewhere}");
}

#[test]
fn a_folder_is_served_in_place_of_the_page_and_read_anew_for_each_request() {
    let folder = Folder::new();
    let mine = Folder::new();
    write(mine.path(), "index.html", "<!doctype html><title>one</title>");
    let daemon = Daemon::start(folder.path(), &["--web-dir", mine.path().to_str().expect("a plain path")]);
    let first = get(&daemon, "/", &[]);
    assert_eq!(
        (first.text().as_str(), first.header("cache-control")),
        ("<!doctype html><title>one</title>", "no-store")
    );
    write(mine.path(), "index.html", "<!doctype html><title>two</title>");
    assert!(get(&daemon, "/", &[]).text().contains("two"));
    write(mine.path(), "main.js", "export {};");
    let module = get(&daemon, "/main.js", &[]);
    assert_eq!(
        (module.text().as_str(), module.header("content-type")),
        ("export {};", "text/javascript; charset=utf-8")
    );
    // What is built rather than written comes from within the binary.
    let wasm = get(&daemon, "/greenlight_wasm_bg.wasm", &[]);
    assert_eq!((wasm.status, wasm.header("content-type")), (200, "application/wasm"));
    for outside in ["/../token", "/..%2ftoken", "/%2e%2e/token", "/.hidden"] {
        assert_ne!(get(&daemon, outside, &[]).status, 200, "{outside}");
    }
    // And the daemon's own routes are its own.
    write(mine.path(), "app", "not this");
    assert!(get(&daemon, "/app", &[]).text().contains("greenlight.app/1"));
}

#[test]
fn with_read_tokens_the_page_is_closed_as_everything_else_is() {
    let folder = Folder::new();
    let tokens = Folder::new();
    write(tokens.path(), "readers", "a-token-of-32-characters-for-all\n");
    let file = tokens.path().join("readers");
    let daemon = Daemon::start_unready(folder.path(), &["--read-token-file", file.to_str().expect("a plain path")]);
    // While it restores its board it answers nobody.
    wait_until(|| get(&daemon, "/", &[]).status != 503);
    assert_eq!(get(&daemon, "/", &[]).status, 401);
    let open = get(&daemon, "/", &[("authorization", "Bearer a-token-of-32-characters-for-all")]);
    assert_eq!(open.status, 200);
}

#[test]
fn the_page_as_files_is_the_page_and_says_that_it_is_a_copy() {
    let folder = Folder::new();
    let out = folder.path().join("site");
    let said = Command::new(binary()).args(["page", "--out"]).arg(&out).output().expect("the binary starts");
    assert!(said.status.success(), "{said:?}");
    let said = String::from_utf8_lossy(&said.stdout).into_owned();
    assert!(said.contains("?daemon=https://") && said.contains("--allow-origin"), "{said}");
    let index = std::fs::read_to_string(out.join("index.html")).expect("an index");
    assert!(index.contains("<meta name=\"greenlight-copy\""), "{index}");
    assert!(index.contains("http-equiv=\"Content-Security-Policy\""), "{index}");
    // Relative, so that it may lie anywhere on its host.
    assert!(!index.contains("=\"/assets/"), "{index}");
    let daemon = Daemon::start(&folder.path().join("data"), &[]);
    for path in named(&index) {
        let file = std::fs::read(out.join(&path[1..])).unwrap_or_else(|error| panic!("{path}: {error}"));
        assert_eq!(file, get(&daemon, &path, &[]).body, "{path}");
    }
    let blocked = folder.path().join("a-file");
    std::fs::write(&blocked, "").expect("a file");
    let refused = Command::new(binary()).args(["page", "--out"]).arg(&blocked).output().expect("the binary starts");
    assert!(!refused.status.success());
    assert!(String::from_utf8_lossy(&refused.stderr).contains("a-file"), "{refused:?}");
}

fn write(folder: &Path, name: &str, text: &str) {
    std::fs::write(folder.join(name), text).expect("a file of the test");
}
