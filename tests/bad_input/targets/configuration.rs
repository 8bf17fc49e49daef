//! A configuration file, and the same text as a register map. No file is touched: what the
//! configuration names is in memory.

use std::path::Path;

use adapters::map::{MappedFloor, Needs, RegisterMap};
use dispatch::{Core, Effects, Input, Now};
use hallcall::config::{Config, Files};
use protocol::{Side, Timestamp, Topics};

/// The map that a configuration may name.
const MAP: &str = include_str!("../../../configs/maps/example.toml");
/// Mistakes that are told of one file.
const MISTAKES_MAX: usize = 201;
/// Bytes of one mistake as it is told.
const TOLD_BYTES_MAX: usize = 20_000;

/// Takes an input; panics where a promise is broken. Returns what came of it.
pub(crate) fn run(data: &[u8]) -> String {
    let Ok(text) = std::str::from_utf8(data) else {
        return String::new();
    };
    let config = Config::load_from(Path::new("site.toml"), &Memory(text));
    let map = RegisterMap::parse(text);
    let log = format!("{config:?}\n{map:?}");
    match config {
        Ok(config) => check_config(config),
        Err(mistakes) => check_told(mistakes.iter().map(ToString::to_string)),
    }
    match map {
        Ok(map) => check_map(&map),
        Err(errors) => check_told(errors.iter().map(ToString::to_string)),
    }
    log
}

/// The file itself, the map that it may name (or itself as one), a certificate and a password.
struct Memory<'t>(&'t str);

impl Files for Memory<'_> {
    fn text(&self, path: &Path, bytes_max: u64) -> Result<String, String> {
        let text = match path.to_str() {
            Some("site.toml" | "maps/own.toml") => self.0,
            Some("maps/example.toml") => MAP,
            Some("ca.crt") => "-----BEGIN CERTIFICATE-----\n",
            Some(_) | None => return Err("a file that exists".to_owned()),
        };
        if text.len() as u64 > bytes_max {
            return Err(format!("at most {bytes_max} bytes"));
        }
        Ok(text.to_owned())
    }

    fn secret(&self, path: &Path, _bytes_max: u64) -> Result<String, String> {
        match path.to_str() {
            Some("gw-1.password") => Ok("secret\n".to_owned()),
            Some("own.password") => Ok(self.0.to_owned()),
            Some(_) | None => Err("a file that exists".to_owned()),
        }
    }
}

/// A configuration that was taken can be started with.
fn check_config(config: Config) {
    check_told(
        config
            .advice
            .iter()
            .map(ToString::to_string)
            .chain(["advice".to_owned()]),
    );
    let site = &config.gateway.site;
    Topics::new(&config.gateway.root, site).expect("a root that was taken");
    assert!((1..=256).contains(&config.site.elevators.len()));
    assert!(config.site.elevators.keys().eq(config.drivers.keys()));
    for elevator in config.site.elevators.values() {
        assert!((2..=256).contains(&elevator.floors.len()));
        assert!(elevator.floors.iter().all(|floor| !floor.sides.is_empty()));
        let heights: Vec<_> = elevator
            .floors
            .iter()
            .map(|floor| floor.height_mm)
            .collect();
        assert!(heights.is_sorted_by(|a, b| a < b), "{heights:?}");
        assert!(config.site.zones.contains_key(&elevator.zone));
        let hears_of_fire = elevator.mode_signal || config.zone_inputs.contains_key(&elevator.zone);
        assert!(hears_of_fire, "{} is deaf", elevator.id);
    }
    let mut core = Core::new(config.site);
    let mut out = Effects::default();
    for (mono_ms, input) in [
        (0, Input::Start { restored: false }),
        (86_400_000, Input::Tick),
    ] {
        let wall = Timestamp(1_796_032_800_000 + mono_ms);
        core.step(Now { mono_ms, wall }, input, &mut out);
        out.clear();
    }
}

/// What is asked of a map never fails but by a mistake that is told.
fn check_map(map: &RegisterMap) {
    assert!((50..=10_000).contains(&map.poll_ms()));
    let floor = |label: &str, sides: &[Side]| MappedFloor {
        label: label.parse().expect("a floor label"),
        sides: sides.iter().copied().collect(),
    };
    let front = [Side::Front];
    let fits = [
        map.check_floors(&[]),
        map.check_floors(&[floor("1F", &front), floor("2F", &front)]),
        map.check_floors(&[floor("1F", &[Side::Rear]), floor("B1", &Side::ALL)]),
        map.check_needs(Needs {
            mode_signal: true,
            presence: true,
            claim: true,
            hold_max_ms: u64::MAX,
        }),
    ];
    for errors in fits.into_iter().filter_map(Result::err) {
        check_told(errors.iter().map(ToString::to_string));
    }
}

/// At least one mistake, not too many, each on one line of bounded length.
fn check_told(told: impl Iterator<Item = String>) {
    let mut count = 0;
    for line in told {
        count += 1;
        assert!(line.len() <= TOLD_BYTES_MAX, "{} bytes", line.len());
        let breaks = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}');
        assert!(!line.contains(breaks), "{line:?}");
    }
    assert!((1..=MISTAKES_MAX).contains(&count), "{count} mistakes");
}
