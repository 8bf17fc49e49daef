//! The packages of others, judged by the lists of `deny.toml`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use serde_json::Value;
use toml::Table;

use crate::licence::is_allowed;
use crate::{METADATA, assert_none, packages, top};

/// A package `name`, or `name@version` with the first parts of a version, and why.
struct Entry {
    name: String,
    version: Option<String>,
    is_explained: bool,
}

impl Entry {
    fn matches(&self, name: &str, version: &str) -> bool {
        let is_version = |wanted: &String| {
            version
                .strip_prefix(wanted.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        self.name == name && self.version.as_ref().is_none_or(is_version)
    }
}

fn rules() -> Table {
    fs::read_to_string(top().join("deny.toml"))
        .expect("deny.toml")
        .parse()
        .expect("TOML")
}

fn entries(rules: &Table, list: &str) -> Vec<Entry> {
    let entry = |entry: &toml::Value| {
        let spec = entry["crate"].as_str().expect("crate");
        let (name, version) = match spec.split_once('@') {
            Some((name, version)) => (name, Some(version.to_owned())),
            None => (spec, None),
        };
        let reason = entry.get("reason").and_then(toml::Value::as_str);
        Entry {
            name: name.to_owned(),
            version,
            is_explained: reason.is_some_and(|r| r.len() > 5),
        }
    };
    rules["bans"][list]
        .as_array()
        .expect(list)
        .iter()
        .map(entry)
        .collect()
}

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value[key].as_str().unwrap_or_default()
}

#[test]
fn licences_are_permissive() {
    let rules = rules();
    let allow: Vec<&str> = rules["licenses"]["allow"]
        .as_array()
        .expect("allow")
        .iter()
        .filter_map(toml::Value::as_str)
        .collect();
    let wrong: Vec<String> = packages()
        .iter()
        .filter(|package| !is_allowed(text(package, "license"), &|one| allow.contains(&one)))
        .map(|package| format!("{}: {:?}", text(package, "name"), text(package, "license")))
        .collect();
    assert!(packages().len() > 50, "only {} packages", packages().len());
    assert_none("licences that deny.toml does not allow", &wrong);
}

#[test]
fn packages_come_from_one_registry() {
    let rules = rules();
    for rule in ["unknown-registry", "unknown-git"] {
        assert_eq!(
            rules["sources"][rule].as_str(),
            Some("deny"),
            "deny.toml: sources.{rule}"
        );
    }
    let members = METADATA["workspace_members"].as_array().expect("members");
    let mut sources = BTreeSet::new();
    let mut wrong = Vec::new();
    for package in packages()
        .iter()
        .filter(|package| !members.contains(&package["id"]))
    {
        let source = text(package, "source");
        sources.insert(source);
        if !source.starts_with("registry+") {
            wrong.push(format!("{}: {source:?}", text(package, "name")));
        }
    }
    assert_none("packages from elsewhere", &wrong);
    assert_eq!(sources.len(), 1, "more than one registry: {sources:?}");
}

#[test]
fn banned_packages_are_not_used() {
    let banned = entries(&rules(), "deny");
    let used: Vec<String> = packages()
        .iter()
        .filter(|package| {
            banned
                .iter()
                .any(|entry| entry.matches(text(package, "name"), text(package, "version")))
        })
        .map(|package| text(package, "name").to_owned())
        .collect();
    assert_none("packages that deny.toml bans", &used);
}

/// One version of each package, but for those that `deny.toml` explains; and of those that we use
/// ourselves the newest.
#[test]
fn packages_have_one_version() {
    let skip = entries(&rules(), "skip");
    let unexplained: Vec<String> = skip
        .iter()
        .filter(|entry| !entry.is_explained)
        .map(|entry| entry.name.clone())
        .collect();
    assert_none("skipped without a reason", &unexplained);

    let mut versions: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for package in packages() {
        versions
            .entry(text(package, "name"))
            .or_default()
            .insert(text(package, "version"));
    }
    let mut wrong = Vec::new();
    for (name, versions) in &versions {
        let counted: Vec<_> = versions
            .iter()
            .filter(|version| !skip.iter().any(|entry| entry.matches(name, version)))
            .collect();
        if counted.len() > 1 {
            wrong.push(format!("{name}: {counted:?}"));
        }
    }
    for entry in &skip {
        if versions
            .get(entry.name.as_str())
            .is_none_or(|versions| versions.len() < 2)
        {
            wrong.push(format!(
                "{}: has one version, deny.toml skips it for nothing",
                entry.name
            ));
        }
    }
    assert_none("versions", &wrong);
    assert_none("an old version of our own", &skipped_of_ours(&skip));
}

/// What a room of ours asks for in a version that `deny.toml` skips.
fn skipped_of_ours(skip: &[Entry]) -> Vec<String> {
    let members = METADATA["workspace_members"].as_array().expect("members");
    let nodes = METADATA["resolve"]["nodes"].as_array().expect("nodes");
    let ours = nodes.iter().filter(|node| members.contains(&node["id"]));
    let used: BTreeSet<&str> = ours
        .flat_map(|node| node["dependencies"].as_array().expect("dependencies"))
        .filter_map(Value::as_str)
        .collect();
    packages()
        .iter()
        .filter(|package| used.contains(text(package, "id")))
        .map(|package| (text(package, "name"), text(package, "version")))
        .filter(|(name, version)| skip.iter().any(|entry| entry.matches(name, version)))
        .map(|(name, version)| format!("{name} {version}"))
        .collect()
}
