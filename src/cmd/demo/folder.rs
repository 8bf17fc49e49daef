//! What a demo writes.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;
use protocol::ops::Presence;
use protocol::{ElevatorId, FloorLabel, Landing, Side, SiteId, ZoneId};
use sim::car::{CarConfig, Stop};
use sim::live::layout::Layout;
use sim::live::map_text::{map_text, relay_map_text};
use sim::live::modbus::BoardLayout;
use sim::live::{CarPlan, Pace};
use tempfile::TempDir;

use super::wires::Wires;
use super::{Controllers, DemoArgs, toml_path};

/// The root of the topics.
pub(in crate::cmd) const ROOT: &str = "hallcall/v1";
/// Height of a storey.
const STOREY_M: f64 = 3.5;
/// Seconds for which a controller keeps one hold, in the building's time.
const HOLD_MAX_S: f64 = 10.0;
/// The frames of the invented maker that the simulator speaks.
const KESTREL: &str = include_str!("../../../configs/frames/kestrel.toml");
/// Bytes of the gateway's log that are shown where something went wrong.
const LOG_SHOWN: usize = 4_000;
/// Waits of `wire.md` section 7 in the building's seconds, and the shortest that this machine's
/// network and scheduler leave room for, in ours.
const WAITS: [(&str, f64, f64); 18] = [
    ("lease_s", 30.0, 10.0),
    ("grant_check_s", 5.0, 3.0),
    ("hall_call_s", 60.0, 10.0),
    ("entry_s", 60.0, 10.0),
    ("entry_recheck_s", 1.0, 0.3),
    ("door_close_s", 15.0, 3.0),
    ("travel_s", 180.0, 15.0),
    ("exit_s", 60.0, 10.0),
    ("valid_s", 5.0, 1.0),
    ("settle_s", 0.5, 0.05),
    ("requery_s", 2.0, 0.2),
    ("sweep_s", 5.0, 0.5),
    ("promote_s", 120.0, 12.0),
    ("reading_fresh_s", 3.0, 1.0),
    ("accept_s", 2.0, 0.6),
    ("poll_s", 2.0, 0.2),
    ("silent_s", 10.0, 6.0),
    ("heal_s", 10.0, 1.0),
];

/// The temporary folder of a demo.
pub(in crate::cmd) struct Folder(TempDir);

/// `[limits]` that are not the defaults of `wire.md`.
pub(in crate::cmd) struct Bounds {
    /// 1 to 1000.
    pub(in crate::cmd) robot_messages_per_s: u32,
    /// Seconds.
    pub(in crate::cmd) dedup_retention_s: u32,
}

/// The site of a demo.
pub(in crate::cmd) fn site() -> anyhow::Result<SiteId> {
    Ok(SiteId::new("demo")?)
}

/// The cars of a demo, in the building's time. They start at different floors.
pub(in crate::cmd) fn cars(args: &DemoArgs, pace: &Pace) -> anyhow::Result<Vec<CarPlan>> {
    let plan = |(number, elevator): (usize, ElevatorId)| {
        let mut config = CarConfig::new(stops(args)?);
        config.start = number * 3 % usize::from(args.floors);
        config.hold_max_s = hold_max_s(args.speed) * args.speed;
        config.dwell_s = pace.dwell_s(config.dwell_s);
        config.ride_s = args.ride_s;
        config.presence = Presence::Robot;
        Ok(CarPlan {
            elevator,
            zone: ZoneId::new("main")?,
            config,
        })
    };
    elevators(args)?.into_iter().enumerate().map(plan).collect()
}

/// Where each car opens.
pub(in crate::cmd) fn landings(
    args: &DemoArgs,
) -> anyhow::Result<BTreeMap<ElevatorId, Vec<Landing>>> {
    let stops = stops(args)?;
    let landing = |stop: &Stop| Landing {
        floor: stop.label.clone(),
        side: Side::Front,
    };
    let all: Vec<_> = stops.iter().map(landing).collect();
    Ok(elevators(args)?
        .into_iter()
        .map(|elevator| (elevator, all.clone()))
        .collect())
}

impl Bounds {
    /// Robots speak `speed` times as often; orders are remembered for 7 days.
    pub(in crate::cmd) fn at(speed: f64) -> Self {
        // 20 to 1000.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let robot_messages_per_s = (20.0 * speed.max(1.0)).min(1_000.0) as u32;
        Self {
            robot_messages_per_s,
            dedup_retention_s: 604_800,
        }
    }
}

impl Folder {
    /// A new folder below `within`, or below the system's place for temporary ones.
    pub(in crate::cmd) fn new(within: Option<&Path>) -> anyhow::Result<Self> {
        let mut name = tempfile::Builder::new();
        name.prefix("hallcall-demo-");
        let folder = match within {
            Some(within) => name.tempdir_in(within),
            None => name.tempdir(),
        };
        Ok(Self(folder.context("no temporary folder")?))
    }

    /// Where it is.
    pub(in crate::cmd) fn path(&self) -> &Path {
        self.0.path()
    }

    /// Where the gateway's log goes.
    pub(in crate::cmd) fn log(&self) -> PathBuf {
        self.0.path().join("gateway.log")
    }

    /// The end of the gateway's log.
    pub(in crate::cmd) fn last_of_log(&self) -> String {
        let log = fs::read(self.log()).unwrap_or_default();
        let from = log.len().saturating_sub(LOG_SHOWN);
        String::from_utf8_lossy(&log[from..]).into_owned()
    }

    /// Leaves the folder where it is.
    pub(in crate::cmd) fn keep(self) -> PathBuf {
        self.0.keep()
    }

    /// Writes the configuration and the map that it names.
    pub(in crate::cmd) fn write(
        &self,
        args: &DemoArgs,
        wires: &Wires,
        bounds: &Bounds,
    ) -> anyhow::Result<PathBuf> {
        let folder = self.0.path();
        let (floors, poll_ms) = (args.floors.into(), poll_ms(args.speed));
        let map = if args.controllers == Controllers::Relays {
            BoardLayout::new(floors)
                .map(|layout| relay_map_text(&layout, poll_ms, press_ms(args.speed)))
        } else if args.controllers == Controllers::Frames {
            Some(KESTREL.replacen("poll_ms = 250", &format!("poll_ms = {poll_ms}"), 1))
        } else {
            Layout::new(floors).map(|layout| map_text(&layout, poll_ms))
        };
        let map = map.context("too many floors")?;
        fs::write(folder.join("controller.toml"), map)?;
        let config = folder.join("hallcall.toml");
        fs::write(&config, text(args, wires, bounds, folder)?)?;
        Ok(config)
    }
}

/// The configuration file.
fn text(args: &DemoArgs, wires: &Wires, bounds: &Bounds, folder: &Path) -> anyhow::Result<String> {
    let mut text = format!(
        "[gateway]\nsite = \"{}\"\nroot = \"{ROOT}\"\ndata_dir = {}\n\n[mqtt]\n{}\n\n[timing]\n",
        site()?,
        toml_path(&folder.join("data")),
        wires.broker(),
    );
    for (key, building_s, floor_s) in WAITS {
        writeln!(
            text,
            "{key} = {:.3}",
            (building_s / args.speed).max(floor_s)
        )?;
    }
    writeln!(
        text,
        "\n[limits]\nrobot_messages_per_s = {}\ndedup_retention_s = {}",
        bounds.robot_messages_per_s, bounds.dedup_retention_s,
    )?;
    text.push_str(&wires.buses()?);
    let floors: Vec<_> = stops(args)?
        .iter()
        .map(|stop| {
            format!(
                "  {{ label = \"{}\", height_m = {:.1} }},\n",
                stop.label, stop.height_m
            )
        })
        .collect();
    let floors = floors.concat();
    for (elevator, driver) in wires.drivers() {
        writeln!(
            text,
            "\n[[elevators]]\nid = \"{elevator}\"\npresence = \"robot\"\nhold_max_s = {:.3}\n\
             floors = [\n{floors}]\ndriver = {driver}",
            hold_max_s(args.speed),
        )?;
    }
    Ok(text)
}

/// The names of the cars.
pub(in crate::cmd) fn elevators(args: &DemoArgs) -> anyhow::Result<Vec<ElevatorId>> {
    (1..=args.elevators)
        .map(|number| Ok(ElevatorId::new(&format!("EL{number:03}"))?))
        .collect()
}

fn stops(args: &DemoArgs) -> anyhow::Result<Vec<Stop>> {
    let stop = |number: u16| {
        Ok(Stop {
            label: FloorLabel::new(&format!("{number}F"))?,
            height_m: f64::from(number - 1) * STOREY_M,
            sides: [Side::Front].into(),
        })
    };
    (1..=args.floors).map(stop).collect()
}

/// Our seconds for which a controller keeps one hold: longer than a permission and a command's
/// answer take together, with room to renew it.
fn hold_max_s(speed: f64) -> f64 {
    let wait = |name: &str| {
        let (_, building_s, floor_s) = WAITS.iter().find(|(key, ..)| *key == name)?;
        Some((building_s / speed).max(*floor_s))
    };
    let least_s = wait("valid_s").unwrap_or_default() + wait("accept_s").unwrap_or_default();
    (HOLD_MAX_S / speed).max(1.5 * least_s)
}

/// How long a relay board presses a button: half a second of the building, in ours, in tenths of a
/// second as boards count.
fn press_ms(speed: f64) -> u64 {
    // Between 1 and 50.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let tenths = (5.0 / speed).clamp(1.0, 50.0) as u64;
    100 * tenths
}

/// How often a controller is read: every 200 ms of the building, in ours.
fn poll_ms(speed: f64) -> u64 {
    // Between 50 and 10,000, as a map wants it.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let poll_ms = (500.0 / speed).clamp(50.0, 10_000.0) as u64;
    poll_ms
}
