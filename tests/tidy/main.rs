//! The house keeps its rules: who may use whom, what may be built from, how long things may get, and
//! that every code is explained.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use serde_json::Value;

mod crash_points;
mod cycles;
mod docs;
mod licence;
mod mutants;
mod packages;
mod rooms;
mod sizes;
mod source;
mod words;

/// The rooms with the folder of their sources and the rooms that each may use (architecture).
const ROOMS: &[(&str, &str, &[&str])] = &[
    ("hallcall-protocol", "protocol/src", &[]),
    ("hallcall-dispatch", "dispatch/src", &["hallcall-protocol"]),
    ("hallcall-adapters", "adapters/src", &["hallcall-protocol"]),
    (
        "hallcall-sim",
        "sim/src",
        &[
            "hallcall-protocol",
            "hallcall-dispatch",
            "hallcall-adapters",
        ],
    ),
    (
        "hallcall",
        "src",
        &[
            "hallcall-protocol",
            "hallcall-dispatch",
            "hallcall-adapters",
            "hallcall-sim",
        ],
    ),
];

/// The top of the repository.
fn top() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// What `cargo metadata` says of this machine's build.
static METADATA: LazyLock<Value> = LazyLock::new(|| {
    let version = run(Command::new(cargo()).arg("-vV"));
    let host = version
        .lines()
        .find_map(|line| line.strip_prefix("host: "))
        .expect("a host");
    let metadata = run(Command::new(cargo()).args([
        "metadata",
        "--format-version=1",
        "--locked",
        "--all-features",
        "--filter-platform",
        host,
    ]));
    serde_json::from_str(&metadata).expect("JSON")
});

/// The packages of [`METADATA`].
fn packages() -> &'static [Value] {
    METADATA["packages"].as_array().expect("packages")
}

/// Every file that is part of the repository, or will be once it is committed.
fn tracked() -> Vec<PathBuf> {
    let list = run(Command::new("git").current_dir(top()).args([
        "ls-files",
        "--cached",
        "--others",
        "--exclude-standard",
    ]));
    list.lines()
        .map(|name| top().join(name))
        .filter(|path| path.is_file())
        .collect()
}

fn cargo() -> String {
    std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned())
}

fn run(command: &mut Command) -> String {
    let output = command
        .output()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {stderr}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// Fails with all of them, one a line.
fn assert_none(what: &str, found: &[String]) {
    assert!(found.is_empty(), "{what}:\n  {}", found.join("\n  "));
}

/// The name of a file from the top of the repository.
fn name(path: &Path) -> String {
    path.strip_prefix(top())
        .unwrap_or(path)
        .display()
        .to_string()
}
