//! Every scenario file holds.

#![cfg(feature = "scenario")]
#![expect(clippy::unwrap_used, reason = "a file that cannot be read fails the test")]

use std::fs;
use std::path::{Path, PathBuf};

use greenlight_core::scenario::{Scenario, play};

fn scenario_files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/scenarios");
    let mut files: Vec<PathBuf> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ext| ext == "json"))
        .collect();
    files.sort();
    files
}

#[test]
fn every_scenario_holds() {
    let files = scenario_files();
    assert!(files.len() >= 24, "scenario files are missing: {files:?}");
    for file in files {
        let scenario = fs::read_to_string(&file).unwrap();
        let scenario: Scenario = serde_json::from_str(&scenario).unwrap_or_else(|error| panic!("{file:?}: {error}"));
        let misses = play(&scenario);
        assert!(misses.is_empty(), "{}: {misses:#?}", scenario.scenario);
    }
}
