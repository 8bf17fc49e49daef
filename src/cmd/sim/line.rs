//! `hallcall sim line`: one serial line with simulated devices, for whatever master there is.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use protocol::{ElevatorId, FloorLabel, Side, ZoneId};
use serde_json::json;
use sim::car::{CarConfig, Stop};
use sim::live::modbus::{Line, Unit};
use sim::live::rtu::{FaultKind, LineSettings, Plan, Pty, RtuLine, Rule, Speech, Speed, Spoken};
use sim::live::{Building, CarPlan, Pace};

use crate::cmd::demo::stop_signal;

/// Height of a storey.
const STOREY_M: f64 = 3.5;

/// Which line.
#[derive(Debug, Clone, clap::Args)]
pub struct LineArgs {
    /// A device, 1 to 247: a car's own controller, a relay board in front of a car, or registers
    /// that show their own addresses
    #[arg(long = "unit", value_name = "N=car|relays|plain", required = true)]
    pub units: Vec<Device>,
    /// A name for the pseudoterminal, such as /tmp/line; without it only the system's
    #[arg(long, value_name = "PATH", conflicts_with = "listen")]
    pub link: Option<PathBuf>,
    /// Frames over TCP at this address instead of a pseudoterminal; port 0 takes a free one
    #[arg(long, value_name = "HOST:PORT")]
    pub listen: Option<SocketAddr>,
    /// The pace of the line, 1200 to 1000000
    #[arg(long, value_name = "N", default_value_t = 19_200, value_parser = baud)]
    pub baud: u32,
    /// How long a device takes to answer, in milliseconds
    #[arg(long, value_name = "MS", default_value_t = 5, value_parser = clap::value_parser!(u64).range(0..=10_000))]
    pub reply_ms: u64,
    /// The master hears its own bytes
    #[arg(long)]
    pub echo: bool,
    /// Floors of each car, 1 to 256; a relay board suffices for 20
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u16).range(1..=256))]
    pub floors: u16,
    /// Seconds of the building in one of ours, 0.1 to 100
    #[arg(long, value_name = "N", default_value_t = 1.0)]
    pub speed: f64,
    /// What goes wrong: `KIND[=VALUE][@UNIT]:SHARE`, or `#N` for the n-th request, such as
    /// `bad_crc:0.01`
    #[arg(long = "fault", value_name = "RULE")]
    pub faults: Vec<Rule>,
    /// Which requests a share strikes
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
}

/// A device of the line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Device {
    unit: u8,
    kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Car,
    Relays,
    Plain,
}

impl FromStr for Device {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (unit, kind) = text.split_once('=').unwrap_or((text, "car"));
        let unit = unit.parse().ok().filter(|unit| (1..=247).contains(unit));
        let unit = unit.ok_or_else(|| "the unit is not 1 to 247".to_owned())?;
        let kind = match kind {
            "car" => Kind::Car,
            "relays" => Kind::Relays,
            "plain" => Kind::Plain,
            _ => return Err(format!("{kind:?} is not car, relays or plain")),
        };
        Ok(Self { unit, kind })
    }
}

/// Serves the line until a signal ends it, then says what it saw as one JSON object.
pub(super) async fn serve(args: &LineArgs, pace: Pace) -> anyhow::Result<ExitCode> {
    let (plans, units) = stage(args)?;
    let building = Building::new(plans, pace);
    let settings = LineSettings {
        speech: Speech::Rtu,
        speed: Speed::new(args.baud)?,
        reply_delay: Duration::from_millis(args.reply_ms),
        echo: args.echo,
    };
    let plan = args
        .faults
        .iter()
        .cloned()
        .fold(Plan::new(args.seed), Plan::with);
    let line = RtuLine::new(Arc::clone(&building), units, &settings, plan)?;
    let (place, ended) = match args.listen {
        Some(address) => {
            let listener = Line::listen(address).await?;
            let place = listener.local_addr()?.to_string();
            (place, tokio::spawn(Arc::clone(&line).serve_tcp(listener)))
        }
        None => {
            let pty = pty(args.link.as_deref())?;
            let path = args.link.as_deref().unwrap_or_else(|| pty.path());
            let place = path.display().to_string();
            (place, tokio::spawn(Arc::clone(&line).serve_pty(pty)))
        }
    };
    writeln!(io::stdout(), "ready: {place} at {} baud", args.baud)?;
    tokio::select! {
        () = building.run() => {}
        ended = ended => ended.context("the line broke")?.context("the line broke")?,
        stopped = stop_signal() => stopped?,
    }
    writeln!(io::stdout(), "{}", told(&line))?;
    Ok(ExitCode::SUCCESS)
}

/// A pseudoterminal, under a name where one is given.
pub(super) fn pty(link: Option<&Path>) -> anyhow::Result<Pty> {
    match link {
        Some(link) => {
            Pty::linked(link).with_context(|| format!("{} cannot be made", link.display()))
        }
        None => Pty::open().context("no pseudoterminal"),
    }
}

/// The pace of a line, as an argument.
pub(super) fn baud(text: &str) -> Result<u32, String> {
    let speed: Result<Speed, _> = text.parse();
    speed.map(Speed::baud).map_err(|error| error.to_string())
}

/// Cars `EL001`, `EL002`, in the order of the units that have one.
fn stage(args: &LineArgs) -> anyhow::Result<(Vec<CarPlan>, BTreeMap<u8, Unit>)> {
    let (mut plans, mut units) = (Vec::new(), BTreeMap::new());
    for device in &args.units {
        let unit = match device.kind {
            Kind::Plain => Unit::Plain,
            Kind::Car | Kind::Relays => {
                let elevator = ElevatorId::new(&format!("EL{:03}", plans.len() + 1))?;
                plans.push(CarPlan {
                    elevator: elevator.clone(),
                    zone: ZoneId::new("main")?,
                    config: CarConfig::new(stops(args.floors)?),
                });
                if device.kind == Kind::Car {
                    Unit::Car(elevator)
                } else {
                    Unit::Relays(elevator)
                }
            }
        };
        anyhow::ensure!(
            units.insert(device.unit, unit).is_none(),
            "unit {} is there twice",
            device.unit
        );
    }
    Ok((plans, units))
}

fn stops(floors: u16) -> anyhow::Result<Vec<Stop>> {
    let stop = |number: u16| {
        Ok(Stop {
            label: FloorLabel::new(&format!("{number}F"))?,
            height_m: f64::from(number - 1) * STOREY_M,
            sides: [Side::Front].into(),
        })
    };
    (1..=floors).map(stop).collect()
}

/// What the line saw: requests and answers by unit, what nobody could read, where the master spoke
/// over a device or too soon, and the faults that struck.
pub(in crate::cmd) fn told(line: &RtuLine) -> serde_json::Value {
    let count = |kind: &FaultKind| (kind.name(), line.fired(*kind));
    let struck = FaultKind::ALL.iter().map(count);
    let faults: BTreeMap<_, _> = struck.filter(|(_, fired)| *fired > 0).collect();
    line.record(|record| {
        let silence = record.silence_min;
        let hex = |byte: &u8| format!("{byte:02X}");
        let hex = |spoken: &Spoken| spoken.bytes.iter().map(hex).collect::<Vec<_>>().join(" ");
        let unreadable_last = record.unreadable_last.as_ref();
        json!({
            "requests": record.requests,
            "answered": record.answered,
            "unreadable": record.unreadable,
            "unreadable_last": unreadable_last.map(hex),
            "collisions": record.collisions,
            "breaches": record.breach_count(),
            "kept_back": record.kept_back,
            "silence_min_ms": silence.map(|silence| silence.as_secs_f64() * 1000.0),
            "faults": faults,
        })
    })
}
