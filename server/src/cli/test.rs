//! `greenlight test FILE…`: plays scenarios through the rules.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use clap::Args;
use greenlight_core::scenario::{Action, Scenario, play};

use super::console::{Console, inert};
use super::outcome::{Failure, Outcome};

/// What is played.
#[derive(Args, Debug)]
pub(crate) struct TestArgs {
    /// Scenario files; - reads standard input, and of a folder every *.json within, sorted
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
}

pub(crate) fn run(args: &TestArgs, console: &mut Console<'_>) -> Result<Outcome, Failure> {
    let mut files = Vec::new();
    for named in &args.files {
        if named.is_dir() {
            let within = scenarios_in(named)?;
            if within.is_empty() {
                return Err(Failure::usage(format_args!("{}: there is no *.json in this folder", named.display())));
            }
            files.extend(within);
        } else {
            files.push(named.clone());
        }
    }
    let mut outcome = Outcome::Yes;
    for file in &files {
        outcome = match (outcome, play_file(file, console)) {
            // What cannot be judged weighs more than what does not hold.
            (Outcome::Usage, _) | (_, Outcome::Usage) => Outcome::Usage,
            (Outcome::Yes, this) => this,
            (Outcome::No | Outcome::NotFoundOut | Outcome::Incomplete | Outcome::Interrupted, _) => outcome,
        };
    }
    Ok(outcome)
}

/// Says what does not hold, and one line in the end.
fn play_file(file: &Path, console: &mut Console<'_>) -> Outcome {
    let name = if file == Path::new("-") { "standard input".into() } else { file.display().to_string() };
    let scenario = match read(file, console).and_then(|text| parse(&text)) {
        Ok(scenario) => scenario,
        Err(error) => {
            console.note(format_args!("{name}{error}"));
            console.say(format_args!("not a scenario  {name}"));
            return Outcome::Usage;
        }
    };
    let misses = play(&scenario);
    for miss in &misses {
        console.say(format_args!("{name}: {}", inert(&miss.to_string())));
    }
    let title = inert(&scenario.scenario);
    let expectations = scenario.steps.iter().filter(|step| expects(&step.action)).count();
    match misses.len() {
        0 => {
            console.say(format_args!("holds           {name}: {title} ({})", counted(expectations, "expectation")));
            Outcome::Yes
        }
        differences => {
            console.say(format_args!("does not hold   {name}: {title} ({})", counted(differences, "difference")));
            Outcome::No
        }
    }
}

fn expects(action: &Action) -> bool {
    match action {
        Action::Expect(_) | Action::ExpectRotation(_) | Action::Report { refused: true, .. } => true,
        Action::Report { refused: false, .. } | Action::Remove(_) | Action::Restart | Action::Answer { .. } => false,
    }
}

fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

/// The scenario, or where the text is none: `:LINE:COLUMN: at PATH: what`.
fn parse(text: &str) -> Result<Scenario, String> {
    let mut json = serde_json::Deserializer::from_str(text);
    let scenario = serde_path_to_error::deserialize(&mut json).map_err(|error| {
        let path = error.path().to_string();
        let place = if matches!(path.as_str(), "." | "?") { String::new() } else { format!(" at {path}:") };
        format!("{place} {}", inert(&error.inner().to_string()))
    });
    let located = |error: &str| {
        // The position stands at the end of the message; an editor finds it in front.
        match error.rsplit_once(" at line ").and_then(|(what, at)| Some((what, at.split_once(" column ")?))) {
            Some((what, (line, column))) => format!(":{line}:{column}:{what}"),
            None => format!(":{error}"),
        }
    };
    let scenario = scenario.map_err(|error| located(&error))?;
    json.end().map_err(|error| located(&format!(" {error}")))?;
    Ok(scenario)
}

fn read(file: &Path, console: &mut Console<'_>) -> Result<String, String> {
    let mut text = String::new();
    let read = if file == Path::new("-") {
        console.input().take(MAX_BYTES + 1).read_to_string(&mut text)
    } else {
        fs::File::open(file).and_then(|file| file.take(MAX_BYTES + 1).read_to_string(&mut text))
    };
    match read {
        Ok(bytes) if u64::try_from(bytes).is_ok_and(|bytes| bytes > MAX_BYTES) => Err(": larger than 64 MiB".into()),
        Ok(_) => Ok(text),
        Err(error) => Err(format!(": {error}")),
    }
}

fn scenarios_in(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let failed = |error: std::io::Error| Failure::usage(format_args!("{}: {error}", folder.display()));
    let mut entries = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        // Links are not followed into folders: they may lead in a circle.
        entries.push((entry.path(), entry.file_type().map_err(failed)?.is_dir()));
    }
    entries.sort();
    let mut files = Vec::new();
    for (path, is_folder) in entries {
        if is_folder {
            files.extend(scenarios_in(&path)?);
        } else if path.extension().is_some_and(|extension| extension == "json") {
            files.push(path);
        }
    }
    Ok(files)
}

/// More than any scenario that people read; a wrong file is noticed before it fills the memory.
const MAX_BYTES: u64 = 64 * 1024 * 1024;

#[cfg(test)]
mod tests {
    use super::super::console::testing::captured;
    use super::*;

    const HOLDS: &str = r#"{"scenario": "nothing", "steps": [{"at": 0, "expect": {"ready": false}}]}"#;

    fn test(text: &str) -> (Outcome, String, String) {
        let args = TestArgs { files: vec!["-".into()] };
        let (result, out, err) = captured(text, |console| run(&args, console));
        (result.unwrap(), out, err)
    }

    #[test]
    fn a_scenario_that_holds_is_one_line() {
        assert_eq!(
            test(HOLDS),
            (Outcome::Yes, "holds           standard input: nothing (1 expectation)\n".into(), String::new())
        );
    }

    #[test]
    fn what_does_not_hold_is_told_with_both_values() {
        let (outcome, out, _) = test(&HOLDS.replace("false", "true"));
        assert_eq!(outcome, Outcome::No);
        assert!(out.contains("standard input: step 1 (at 0): ready: expected true, got false\n"), "{out}");
        assert!(out.ends_with("does not hold   standard input: nothing (1 difference)\n"), "{out}");
    }

    #[test]
    fn what_is_no_scenario_is_told_with_its_place() {
        for (text, place) in [
            (HOLDS.replace("ready", "reday"), "standard input:1:62: at steps[0].expect.reday: unknown field `reday`"),
            (HOLDS.replace("\"at\": 0", "\"at\": -1"), "standard input:1:"),
            (format!("{HOLDS}\n]"), "standard input:2:1: trailing characters"),
            ("{".into(), "standard input:1:1: EOF"),
            (String::new(), "standard input:1:0: EOF"),
        ] {
            let (outcome, out, err) = test(&text);
            assert_eq!((outcome, out.as_str()), (Outcome::Usage, "not a scenario  standard input\n"));
            assert!(err.starts_with(place), "{err}");
        }
    }

    #[test]
    fn every_scenario_of_a_folder_is_played_and_a_missing_file_is_usage() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/scenarios");
        let files = scenarios_in(&folder).unwrap();
        assert!(files.len() > 20 && files.is_sorted());
        let missing = TestArgs { files: vec![folder.join("missing.json"), files[0].clone()] };
        let (result, out, _) = captured("", |console| run(&missing, console));
        assert_eq!((result, out.lines().count()), (Ok(Outcome::Usage), 2));
    }
}
