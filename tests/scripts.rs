//! The transcripts of `tests/scripts/*.txt`: the system told by what it does.
//!
//! Each block is one or more command lines, a line `----`, and exactly what then happened. Every
//! script is played from the start in a world with a virtual clock, and compared line by line.
//! `UPDATE_EXPECT=1 cargo test --test scripts` writes down what happens instead; what it wrote is
//! read against `ride.md` before it is committed.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    missing_docs,
    unreachable_pub
)]

#[path = "scripts/facts.rs"]
mod facts;
#[path = "scripts/hardware.rs"]
mod hardware;
#[path = "scripts/play.rs"]
mod play;
#[path = "scripts/print.rs"]
mod print;
#[path = "scripts/words.rs"]
mod words;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use play::Player;

const DIVIDER: &str = "----";

#[test]
fn every_script_goes_as_it_is_written() {
    let mut scripts: Vec<_> = std::fs::read_dir(root().join("tests/scripts"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "txt"))
        .collect();
    scripts.sort();
    assert!(!scripts.is_empty());
    let wanted = std::env::var("SCRIPT").ok();
    let update = std::env::var_os("UPDATE_EXPECT").is_some_and(|value| value == "1");
    let mut failures = String::new();
    for path in scripts {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        if wanted.as_ref().is_some_and(|wanted| *wanted != name) {
            continue;
        }
        let written = std::fs::read_to_string(&path).unwrap();
        let played = play(&written);
        if played == written {
            continue;
        }
        if update {
            std::fs::write(&path, played).unwrap();
        } else {
            write!(
                failures,
                "\n{name}.txt:\n{}",
                first_difference(&written, &played)
            )
            .unwrap();
        }
    }
    assert!(failures.is_empty(), "{failures}");
}

/// Plays a script; gives it back with what really happened.
fn play(script: &str) -> String {
    let mut player = Player::new();
    let mut played = String::new();
    for block in script
        .split("\n\n")
        .map(str::trim_end)
        .filter(|block| !block.trim().is_empty())
    {
        let block = block.trim_start_matches('\n');
        if !played.is_empty() {
            played.push('\n');
        }
        let commands: Vec<_> = block.lines().take_while(|line| *line != DIVIDER).collect();
        for command in &commands {
            writeln!(played, "{command}").unwrap();
        }
        if commands.iter().all(|line| line.starts_with('#')) {
            continue;
        }
        let deeds: Vec<_> = commands
            .iter()
            .filter(|line| !line.starts_with('#'))
            .copied()
            .collect();
        writeln!(played, "{DIVIDER}").unwrap();
        for line in player.block(&deeds) {
            writeln!(played, "{line}").unwrap();
        }
    }
    played
}

fn first_difference(written: &str, played: &str) -> String {
    let mut text = String::new();
    let (mut written, mut played) = (written.lines(), played.lines());
    for number in 1.. {
        let (left, right) = (written.next(), played.next());
        if left != right {
            let show = |line: Option<&str>| line.unwrap_or("(the end)").to_owned();
            writeln!(
                text,
                "line {number}\n  written: {}\n  played:  {}",
                show(left),
                show(right)
            )
            .unwrap();
            break;
        }
    }
    text
}

/// The root of the repository: the nearest directory above that holds this file.
fn root() -> PathBuf {
    let here = std::env::var_os("HALLCALL_ROOT")
        .map_or_else(|| std::env::current_dir().unwrap(), PathBuf::from);
    let holds = |directory: &&Path| directory.join("tests/scripts.rs").is_file();
    here.ancestors()
        .find(holds)
        .expect("run inside the repository")
        .to_path_buf()
}
