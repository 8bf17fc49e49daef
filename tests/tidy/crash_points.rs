//! A program built without the feature `crash-points` has nothing of it.

use std::path::PathBuf;

use crate::{ROOMS, assert_none, name, tracked, turned_on_by};

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
    assert_none("what turns crash points on", &turned_on_by(FEATURE));
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
