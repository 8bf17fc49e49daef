//! A program built without the feature `mutants` has no planted mistake in it.

use serde_json::Value;

use crate::{ROOMS, assert_none, name, packages, tracked};

const FEATURE: &str = "mutants";
const MACRO: &str = include_str!("../../dispatch/src/mutant.rs");
/// The one file of the wrong words, and who declares it.
const PLANTED: &str = "dispatch/src/mutant/planted.rs";
const DECLARED: &str = "#[cfg(feature = \"mutants\")]\nmod planted;\n";
/// What the macro is without the feature: its right expression and nothing of the wrong one.
const RIGHT: &str = "#[cfg(not(feature = \"mutants\"))]
macro_rules! mutate {
    ($name:ident, $right:expr, $wrong:expr) => {
        $right
    };
}
";

#[test]
fn without_the_feature_only_the_right_expression_is_there() {
    assert!(MACRO.contains(DECLARED), "{PLANTED} is declared otherwise");
    assert!(
        MACRO.contains(RIGHT),
        "the macro is another without the feature"
    );
    assert_eq!(MACRO.matches("macro_rules!").count(), 2);
}

#[test]
fn no_other_code_names_a_planted_mistake() {
    let names = |text: &str| text.contains("mutant::") || text.contains("Mutant");
    let found: Vec<String> = tracked()
        .into_iter()
        .filter(|path| {
            let name = name(path);
            let of_the_program = ROOMS.iter().any(|(_, folder, _)| name.starts_with(folder));
            of_the_program && name.ends_with(".rs") && !name.starts_with("dispatch/src/mutant")
        })
        .filter(|path| std::fs::read_to_string(path).is_ok_and(|text| names(&text)))
        .map(|path| name(&path))
        .collect();
    assert_none(
        "files that name a mutant otherwise than by the macro",
        &found,
    );
}

#[test]
fn no_feature_turns_mutants_on() {
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
    assert_none("what turns mutants on", &turned);
}

fn names_it(feature: &Value) -> bool {
    feature
        .as_str()
        .is_some_and(|feature| feature.ends_with(FEATURE))
}
