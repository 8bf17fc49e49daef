//! A line on a clock of the tests' own, with devices that have nothing behind them or a car.
//!
//! Frames are written by hand from the Modbus specification; their CRCs are those of an independent
//! calculation.

mod faults;
mod pace;
mod port;
mod relays;
mod rules;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use protocol::{ElevatorId, FloorLabel, Side, ZoneId};

use super::devices::{Delays, Devices};
use super::wire::Wire;
use super::{Plan, Speed};
use crate::car::{CarConfig, Stop};
use crate::live::building::{Building, CarPlan};
use crate::live::modbus::{Unit, Units};
use crate::live::pace::Pace;

/// Unit 1, holding register 5 and what a plain device answers.
const READ_5: [u8; 8] = [0x01, 0x03, 0x00, 0x05, 0x00, 0x01, 0x94, 0x0B];
const FIVE: [u8; 7] = [0x01, 0x03, 0x02, 0x00, 0x05, 0x78, 0x47];
/// Unit 2, the same.
const READ_5_OF_2: [u8; 8] = [0x02, 0x03, 0x00, 0x05, 0x00, 0x01, 0x94, 0x38];
const FIVE_OF_2: [u8; 7] = [0x02, 0x03, 0x02, 0x00, 0x05, 0x3C, 0x47];

/// No answer.
const NOTHING: [u8; 0] = [];

/// A line and the moment on it.
struct Bench {
    devices: Devices,
    now: Duration,
}

impl Bench {
    /// Two plain devices, 1 and 2, at 19,200 baud that reply after 5 ms.
    fn plain(plan: Plan) -> Self {
        let units = BTreeMap::from([(1, Unit::Plain), (2, Unit::Plain)]);
        Self::new(building(), units, Speed::default(), 5, plan)
    }

    fn new(
        building: Arc<Building>,
        units: BTreeMap<u8, Unit>,
        speed: Speed,
        reply_ms: u64,
        plan: Plan,
    ) -> Self {
        let delays = Delays {
            usual: Duration::from_millis(reply_ms),
            by_unit: BTreeMap::new(),
        };
        let units = Units::new(building, units).unwrap();
        Self {
            devices: Devices::new(Wire::new(speed, false), units, plan, delays),
            now: Duration::ZERO,
        }
    }

    /// Sends, and returns what comes within a second of the line, with the moment of its last byte.
    fn ask(&mut self, request: &[u8]) -> (Vec<u8>, Duration) {
        self.send(request);
        self.listen(Duration::from_secs(1))
    }

    fn send(&mut self, bytes: &[u8]) {
        self.devices.receive(self.now, bytes);
    }

    /// Lets so much time pass, in the steps that the line asks for.
    fn listen(&mut self, time: Duration) -> (Vec<u8>, Duration) {
        let until = self.now + time;
        let (mut heard, mut last) = (Vec::new(), self.now);
        while let Some(next) = self.devices.next().filter(|next| *next <= until) {
            self.now = next.max(self.now);
            let bytes = self.devices.turn(self.now);
            if !bytes.is_empty() {
                last = self.now;
                heard.extend(bytes);
            }
        }
        self.now = until;
        heard.extend(self.devices.turn(until));
        (heard, last)
    }

    fn fired(&self) -> BTreeMap<super::FaultKind, u64> {
        self.devices.plan.fired().clone()
    }
}

fn elevator() -> ElevatorId {
    ElevatorId::new("EL001").unwrap()
}

/// One car with floors 1F to 4F that stands shut at 1F.
fn building() -> Arc<Building> {
    let stop = |number: u8| Stop {
        label: FloorLabel::new(&format!("{number}F")).unwrap(),
        height_m: 3.5 * f64::from(number - 1),
        sides: [Side::Front].into(),
    };
    let plan = CarPlan {
        elevator: elevator(),
        zone: ZoneId::new("main").unwrap(),
        config: CarConfig::new((1..=4).map(stop).collect()),
    };
    Building::new(vec![plan], Pace::new(50.0).unwrap())
}
