//! Lines against a Modbus TCP device on loopback that is played byte by byte.

mod device;
mod faults;
mod frames;
mod places;
mod plugged;
mod polls;
mod rtu;
mod zones;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use protocol::hardware::{Action, Reading, Report};
use protocol::{CommandId, ElevatorId, Fence, FloorLabel, Landing, Side, ZoneId};
use tokio::time::timeout;

use super::*;
use crate::map::{MappedFloor, RegisterMap, Table};

/// As long as any wait of a test may take.
const PATIENCE: Duration = Duration::from_secs(20);

const TIMING: LineTiming = LineTiming {
    connect_ms: 1_000,
    request_ms: 100,
    backoff_min_ms: 20,
    backoff_max_ms: 200,
    unit_backoff_max_ms: 200,
    fire_lost_ms: 0,
};

/// Floor in input register 0; door by discrete inputs 0 and 1; motion by 2 and 3.
const MAP: &str = r#"
poll_ms = 50
[floors]
count = 8
[floor]
register = { point = "input", address = 0 }
[motion]
up = { point = "discrete", address = 2 }
down = { point = "discrete", address = 3 }
[front.door]
open_limit = { point = "discrete", address = 0 }
closed_limit = { point = "discrete", address = 1 }
[front.buttons]
hall_up = { point = "coil", address = 0 }
hall_down = { point = "coil", address = 16 }
car = { point = "coil", address = 32, pulse_ms = 200 }
open = { point = "coil", address = 48 }
close = { point = "coil", address = 49 }
hold_s = { point = "holding", address = 0 }
"#;

fn floor(label: &str) -> FloorLabel {
    FloorLabel::new(label).unwrap()
}

fn floors(count: usize) -> Vec<MappedFloor> {
    let floor = |at| MappedFloor {
        label: floor(&format!("{at}F")),
        sides: [Side::Front].into(),
    };
    (1..=count).map(floor).collect()
}

fn elevator(number: u8) -> ElevatorId {
    ElevatorId::new(&format!("EL{number:03}")).unwrap()
}

fn unit(number: u8, map: &str) -> Unit {
    let map = RegisterMap::parse(map).unwrap();
    Unit {
        elevator: elevator(number),
        unit: number,
        relay_unit: None,
        device: map.into(),
        floors: floors(8),
    }
}

fn line_to(address: &str, units: Vec<Unit>, zones: Vec<ZoneInput>, timing: LineTiming) -> Bus {
    let config = LineConfig {
        transport: Transport::Tcp {
            address: address.to_owned(),
        },
        units,
        zones,
        timing,
        seed: 7,
    };
    let ticks = Arc::new(AtomicU64::new(1_000));
    // Each look at the clock is a millisecond later than the one before.
    let clock = move || ticks.fetch_add(1, Ordering::Relaxed);
    Bus::new(config, Arc::new(clock)).unwrap()
}

fn command(number: u8, action: Action) -> Command {
    Command {
        elevator_id: elevator(number),
        command_id: CommandId::new("a").unwrap(),
        fence: Fence(17),
        order_id: None,
        action,
        expires_in_ms: 5_000,
    }
}

fn at(label: &str) -> Landing {
    Landing {
        floor: floor(label),
        side: Side::Front,
    }
}

async fn execute(line: &mut Bus, command: Command) -> (Outcome, Vec<DriverReport>) {
    let mut reports = Vec::new();
    let mut gate = open_gate;
    let outcome = line.execute(&command, &mut gate, &mut reports);
    let outcome = timeout(PATIENCE, outcome).await.unwrap();
    (outcome, reports)
}

/// Lets the line do what is due until what it learned is `enough`.
async fn run_until(
    line: &mut Bus,
    mut is_enough: impl FnMut(&[DriverReport]) -> bool,
) -> Vec<DriverReport> {
    let mut reports = Vec::new();
    let run = async {
        while !is_enough(&reports) {
            line.ready().await;
            line.read(&mut reports).await;
        }
    };
    let ended = timeout(PATIENCE, run).await;
    assert!(ended.is_ok(), "only {reports:?}");
    reports
}

/// The readings of an elevator, each with when it was asked for.
fn readings(reports: &[DriverReport], number: u8) -> Vec<(Reading, u64)> {
    let of = elevator(number);
    let reading = |report: &DriverReport| match report {
        DriverReport::Elevator {
            elevator,
            report: Report::Reading { reading, asked_ms },
        } if *elevator == of => Some((reading.clone(), asked_ms.unwrap())),
        DriverReport::Elevator { .. }
        | DriverReport::ZoneFire { .. }
        | DriverReport::Bus { .. } => None,
    };
    reports.iter().filter_map(reading).collect()
}

fn has_reading(reports: &[DriverReport], number: u8) -> bool {
    !readings(reports, number).is_empty()
}

fn link(number: u8, up: bool) -> DriverReport {
    DriverReport::Elevator {
        elevator: elevator(number),
        report: Report::Link { up },
    }
}
