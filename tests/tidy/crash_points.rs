//! A program built without the feature `crash-points` has nothing of it.

use std::path::PathBuf;

use serde_json::Value;

use crate::{ROOMS, assert_none, name, packages, tracked};

const FEATURE: &str = "crash-points";
/// What the environment variables begin with; in two parts, so that this file does not hold it.
const VARIABLE: &str = concat!("HALLCALL_", "CRASH");
/// The one file that reads them, and who declares it.
const POINTS: &str = "src/crash/points.rs";
const DECLARED: &str = "#[cfg(feature = \"crash-points\")]\nmod points;\n";
const DECLARED_BY: &str = include_str!("../../src/crash.rs");

#[test]
fn only_a_file_of_the_feature_reads_what_ends_the_process() {
    assert!(
        DECLARED_BY.contains(DECLARED),
        "{POINTS} is declared otherwise"
    );
    let of_the_program = |path: &PathBuf| {
        let name = name(path);
        ROOMS.iter().any(|(_, folder, _)| name.starts_with(folder)) && name != POINTS
    };
    let holds =
        |path: &PathBuf| std::fs::read_to_string(path).is_ok_and(|text| text.contains(VARIABLE));
    let found = tracked().into_iter().filter(of_the_program).filter(holds);
    let found: Vec<String> = found.map(|path| name(&path)).collect();
    assert_none("files that name a crash point's variable", &found);
}

#[test]
fn no_feature_turns_crash_points_on() {
    let mut turned = Vec::new();
    for package in packages() {
        let Some((room, ..)) = ROOMS.iter().find(|(room, ..)| package["name"] == *room) else {
            continue;
        };
        let features = package["features"].as_object().expect("features");
        for (feature, turns_on) in features.iter().filter(|(feature, _)| *feature != FEATURE) {
            if turns_on.as_array().expect("a list").iter().any(names_it) {
                turned.push(format!("{room}: {feature}"));
            }
        }
        for dependency in package["dependencies"].as_array().expect("dependencies") {
            if dependency["features"]
                .as_array()
                .expect("a list")
                .iter()
                .any(names_it)
            {
                turned.push(format!("{room}: its dependency {}", dependency["name"]));
            }
        }
    }
    assert_none("what turns crash points on", &turned);
}

/// Where there is a release: its bytes.
#[test]
fn a_release_has_no_crash_points() {
    let debug = PathBuf::from(env!("CARGO_BIN_EXE_hallcall"));
    let target = debug.parent().and_then(|folder| folder.parent());
    let release = target.expect("a folder of builds").join("release/hallcall");
    let Ok(bytes) = std::fs::read(release) else {
        return;
    };
    let mut windows = bytes.windows(VARIABLE.len());
    assert!(!windows.any(|window| window == VARIABLE.as_bytes()));
}

fn names_it(feature: &Value) -> bool {
    feature
        .as_str()
        .is_some_and(|feature| feature.ends_with(FEATURE))
}
