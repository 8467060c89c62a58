//! Every key from every layer, and that the printed configuration is one.

use std::path::Path;

use clap::Parser;

use super::config::{KEYS, Resolved};
use super::config_file::ConfigFile;
use super::environment::{Environment, variable};
use super::serve::ServeFlags;
use super::settings::{Data, Settings};

#[derive(Parser)]
struct Flags {
    #[command(flatten)]
    flags: ServeFlags,
}

/// A key with a value for the flag, the environment and the file in turn, and the default, as they are printed.
const VALUES: [(&str, [&str; 4]); 15] = [
    ("bind", ["127.0.0.1:1", "127.0.0.1:2", "127.0.0.1:3", "127.0.0.1:8787"]),
    ("data", ["/flag", "/environment", "/file", "/state/greenlight"]),
    ("stale_after", ["1m", "never", "3m", "1h"]),
    ("good_for", ["90s", "forever", "until_restart", "10m"]),
    ("token_file", ["/flag", "/environment", "/file", ""]),
    ("read_token_file", ["/flag", "/environment", "/file", ""]),
    ("drain", ["0s", "1s", "3m", "5s"]),
    ("history", ["1h", "0s", "3d", "30d"]),
    ("wait_for_lock", ["true", "true", "true", "false"]),
    ("allow_origin", ["https://flag", "https://environment", "https://file", ""]),
    ("web_dir", ["/flag", "/environment", "/file", ""]),
    ("log", ["error", "warn", "debug", "info"]),
    ("log_format", ["json", "json", "json", "text"]),
    ("follow", ["https://flag", "https://environment", "https://file", ""]),
    ("probe", ["a=http://flag", "a=http://environment", "a=http://file", ""]),
];

fn in_file(key: &str, value: &str) -> String {
    match key {
        "wait_for_lock" => format!("{key} = {value}\n"),
        "allow_origin" => format!("{key} = [{value:?}]\n"),
        "follow" => format!("[[follow]]\nurl = {value:?}\n"),
        "probe" => {
            let (name, url) = value.split_once('=').unwrap();
            format!("[[probe]]\nname = {name:?}\nurl = {url:?}\n")
        }
        _ => format!("{key} = {value:?}\n"),
    }
}

fn resolve(arguments: &[String], variables: &[(String, String)], file: Option<&str>) -> Resolved {
    let flags = Flags::parse_from(["serve".to_owned()].iter().chain(arguments)).flags;
    let environment: Environment =
        variables.iter().cloned().chain([("XDG_STATE_HOME".to_owned(), "/state".to_owned())]).collect();
    let file = file.map(|text| ConfigFile::parse(text, Path::new("/etc/greenlight.toml")).unwrap());
    Settings::resolve(&flags, &environment, file.as_ref()).unwrap()
}

/// What is printed of a key: its value without quotes, and where it came from.
fn printed(resolved: &Resolved, key: &str) -> (String, String) {
    let text = resolved.to_toml();
    let line = match key {
        "follow" => text.lines().find(|line| line.starts_with("[[follow]]") || line.starts_with("follow = [")),
        "probe" => text.lines().find(|line| line.starts_with("[[probe]]") || line.starts_with("# probe ")),
        _ => text.lines().find(|line| line.trim_start_matches("# ").starts_with(&format!("{key} "))),
    };
    let (line, origin) = line.unwrap().split_once("  # ").unwrap();
    let value = match key {
        "follow" => text.lines().find(|line| line.starts_with("url = ")).unwrap_or_default(),
        "probe" => return (probe_in(&text), origin.to_owned()),
        _ if line.contains(" is not set") => "",
        _ => line,
    };
    let value = value.split_once(" = ").map_or("", |(_, value)| value);
    (value.replace(['"', '[', ']'], "").trim().to_owned(), origin.to_owned())
}

fn probe_in(text: &str) -> String {
    let value = |key: &str| {
        let mut lines = text.lines().skip_while(|line| !line.starts_with("[[probe]]"));
        lines.find_map(|line| line.strip_prefix(key)).map(|value| value.replace('"', "").trim().to_owned())
    };
    value("name = ").zip(value("url = ")).map(|(name, url)| format!("{name}={url}")).unwrap_or_default()
}

#[test]
fn each_key_comes_from_the_first_layer_that_names_it() {
    assert_eq!(VALUES.map(|(key, _)| key), KEYS);
    for (key, [flag_value, environment_value, file_value, default_value]) in VALUES {
        let flag = format!("--{}", key.replace('_', "-"));
        for layers in 0..8_u8 {
            let [has_flag, has_variable, has_file] = [1, 2, 4].map(|layer| layers & layer != 0);
            let arguments = if has_flag { vec![format!("{flag}={flag_value}")] } else { Vec::new() };
            let variables = if has_variable { vec![(variable(key), environment_value.to_owned())] } else { Vec::new() };
            let file = has_file.then(|| in_file(key, file_value));
            let resolved = resolve(&arguments, &variables, file.as_deref());
            let expected = match (has_flag, has_variable, has_file) {
                (true, _, _) => (flag_value, format!("flag {flag}")),
                (false, true, _) => (environment_value, format!("environment {}", variable(key))),
                (false, false, true) => (file_value, "file /etc/greenlight.toml".into()),
                (false, false, false) => (default_value, "default".into()),
            };
            assert_eq!(printed(&resolved, key), (expected.0.into(), expected.1), "{key}, layers {layers:03b}");
        }
    }
}

#[test]
fn the_printed_configuration_read_as_a_file_is_the_same() {
    let all: Vec<String> =
        VALUES.iter().map(|(key, values)| format!("--{}={}", key.replace('_', "-"), values[0])).collect();
    let with_prefix =
        ["--follow=eu/=https://eu".to_owned(), "--allow-origin=*".to_owned(), "--stale-after=90".to_owned()];
    let strange = ["--data=/a \"b\"\\c # d".to_owned()];
    for arguments in [&all[..], &with_prefix, &strange, &[]] {
        let resolved = resolve(arguments, &[], None);
        let text = resolved.to_toml();
        assert_eq!(resolve(&[], &[], Some(&text)).settings, resolved.settings, "{text}");
    }
}

#[test]
fn a_list_is_taken_whole_and_apart_by_white_space() {
    let variables = [("GREENLIGHT_FOLLOW".to_owned(), "https://a  b/=https://b\n".to_owned())];
    let follow = resolve(&[], &variables, Some("[[follow]]\nurl = \"https://c\"\nevery = 3\n")).settings.follow;
    let seen: Vec<_> = follow.iter().map(|follow| (follow.url.as_str(), follow.prefix.as_deref())).collect();
    assert_eq!(seen, [("https://a", None), ("https://b", Some("b/"))]);
    assert!(follow.iter().all(|follow| follow.every_secs == 10));
}

#[test]
fn a_followed_daemon_is_polled_as_often_as_its_table_says() {
    let file = "[[follow]]\nurl = \"https://c\"\nprefix = \"c-\"\nevery = \"3s\"\n";
    assert_eq!(resolve(&[], &[], Some(file)).settings.follow[0].every_secs, 3);
}

#[test]
fn memory_is_a_word_and_a_path_of_that_name_is_not() {
    let data = |value: &str| resolve(&[format!("--data={value}")], &[], None).settings.data;
    assert_eq!(data("memory"), Data::Memory);
    assert_eq!(data("./memory"), Data::Dir("./memory".into()));
}

#[test]
fn what_is_wrong_is_named() {
    let error = |variables: &[(&str, &str)], file: Option<&str>| {
        let environment = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let file = file.map(|text| ConfigFile::parse(text, Path::new("greenlight.toml")).unwrap());
        Settings::resolve(&ServeFlags::default(), &environment, file.as_ref()).unwrap_err().to_string()
    };
    assert!(error(&[], None).contains("give --data DIR"));
    let home = ("HOME", "/home/ada");
    assert!(
        error(&[home, ("GREENLIGHT_DRAIN", "soon")], None).starts_with("GREENLIGHT_DRAIN: \"soon\" is not a length")
    );
    assert!(error(&[home, ("GREENLIGHT_FOLLOW", "https://a ftp://b")], None).starts_with("GREENLIGHT_FOLLOW: "));
    assert!(error(&[home, ("GREENLIGHT_WAIT_FOR_LOCK", "maybe")], None).contains("neither true nor false"));
    let twice = "[[follow]]\nurl = \"https://a\"\n[[follow]]\nurl = \"https://a/\"\n";
    assert!(error(&[home], Some(twice)).contains("followed twice"));
}

#[test]
fn a_flag_of_yes_or_no_may_stand_alone() {
    let waits = |arguments: &[&str]| {
        let arguments: Vec<String> = arguments.iter().map(|argument| (*argument).to_owned()).collect();
        resolve(&arguments, &[("GREENLIGHT_WAIT_FOR_LOCK".into(), "1".into())], None).settings.wait_for_lock
    };
    assert!(waits(&["--wait-for-lock"]));
    assert!(!waits(&["--wait-for-lock=false"]));
    assert!(waits(&[]));
}
