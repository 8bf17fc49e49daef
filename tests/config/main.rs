//! The configuration file (`wire.md` section 7): what is refused, how it is told, and what comes
//! out of it. Every expected text was written by hand from the specification.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use hallcall::config::Config;
use tempfile::TempDir;

mod applications;
mod check;
mod drivers;
mod elevators;
mod examples;
mod file;
mod frames;
mod gateway;
mod http;

const GATEWAY: &str = "[gateway]\nsite = \"demo\"\n";
const ELEVATOR: &str = r#"
[[elevators]]
id = "EL001"
floors = [{ label = "1F" }, { label = "2F" }]
"#;
const BUS: &str = "[[buses]]\nid = \"b1\"\naddress = \"127.0.0.1:1502\"\n";

/// A folder with a configuration `site.toml` in it.
struct Site(TempDir);

impl Site {
    fn new(text: &str) -> Self {
        let site = Self(tempfile::tempdir().expect("a temporary folder"));
        site.write("site.toml", text, 0o644);
        site
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: &str, mode: u32) {
        fs::write(self.path(name), text).expect(name);
        fs::set_permissions(self.path(name), fs::Permissions::from_mode(mode)).expect(name);
    }

    fn config(&self) -> Config {
        Config::load(&self.path("site.toml")).unwrap_or_else(|mistakes| panic!("{mistakes:#?}"))
    }

    /// All that is told of `site.toml`, without file and line.
    fn mistakes(&self) -> Vec<String> {
        let mistakes = match Config::load(&self.path("site.toml")) {
            Ok(config) => config.advice,
            Err(mistakes) => mistakes,
        };
        let told = mistakes
            .iter()
            .map(|m| format!("{} = {}: expected {}", m.key, m.value, m.expected));
        told.collect()
    }
}

fn assert_refused(text: &str, expected: &str) {
    assert_eq!(Site::new(text).mistakes(), [expected], "{text}");
}

/// Beside a good gateway and a good elevator.
fn assert_beside_refused(text: &str, expected: &str) {
    assert_refused(&format!("{GATEWAY}{ELEVATOR}{text}"), expected);
}

/// In the table of the one elevator, `keys` in place of those of the same name.
fn elevator(keys: &str) -> String {
    let mut text = format!("{GATEWAY}{BUS}[[elevators]]\n");
    for (name, line) in [
        ("id", "id = \"EL001\""),
        (
            "floors",
            "floors = [{ label = \"1F\" }, { label = \"2F\" }]",
        ),
    ] {
        if !keys.starts_with(name) {
            text.push_str(line);
            text.push('\n');
        }
    }
    text + keys
}

fn assert_elevator_refused(keys: &str, expected: &str) {
    assert_refused(&elevator(keys), expected);
}
