//! What outlives every crash: the broker, the cars with their controllers, and the record of what
//! happened there.

use std::collections::BTreeMap;
use std::fs;
use std::sync::Arc;

use protocol::hardware::{Door, Motion};
use protocol::ops::Presence;
use protocol::{ElevatorId, FloorLabel, Landing, RobotId, Side, SiteId, Topics, ZoneId};
use sim::car::{CarConfig, Stop};
use sim::live::layout::Layout;
use sim::live::map_text::map_text;
use sim::live::modbus::{Line, Unit};
use sim::live::mqtt_controller::MqttController;
use sim::live::robot::{Threshold, Way};
use sim::live::{Building, CarPlan, Endpoint, Pace};
use tempfile::TempDir;
use tokio::runtime::Runtime;

use crate::bus::BusTap;
use crate::support::{Mosquitto, Site};

/// The building's time beside ours.
const SPEED: f64 = 20.0;
/// The elevator that rides, and the one that never comes.
pub(crate) const RIDES: &str = "EL001";
pub(crate) const NEVER_COMES: &str = "EL002";

/// Waits of wire.md section 7, short enough for a ride in a second or two.
const TIMING: &str = "[timing]\n\
    lease_s = 3\ngrant_check_s = 5\nhall_call_s = 20\nentry_s = 20\nentry_recheck_s = 0.3\n\
    door_close_s = 8\ntravel_s = 20\nexit_s = 20\nvalid_s = 0.8\nsettle_s = 0.05\n\
    requery_s = 0.2\nsweep_s = 0.5\nreading_fresh_s = 1\naccept_s = 0.5\npoll_s = 0.2\n\
    silent_s = 8\nheal_s = 0.5\n[limits]\nrobot_messages_per_s = 500\n";

pub(crate) struct World {
    pub(crate) building: Arc<Building>,
    /// What went over the Modbus line, where there is one.
    pub(crate) tap: Option<BusTap>,
    pub(crate) broker: Mosquitto,
    _runtime: Runtime,
    _map: TempDir,
}

impl World {
    /// With its site; the elevators are on a Modbus line, or speak MQTT.
    pub(crate) fn start(on_bus: bool) -> (Self, Site) {
        let broker = Mosquitto::start();
        let runtime = Runtime::new().unwrap();
        let building = Building::new(plans(), Pace::new(SPEED).unwrap());
        runtime.spawn(Arc::clone(&building).run());
        let map = tempfile::tempdir().unwrap();
        let mut site = Site::new(&broker).with(TIMING);
        let mut tap = None;
        if on_bus {
            let path = map.path().join("map.toml");
            fs::write(&path, map_text(&Layout::new(2).unwrap(), 50)).unwrap();
            let line = serve_line(&runtime, &building);
            let bus = BusTap::start(line);
            site = site.with(&format!(
                "[[buses]]\nid = \"b1\"\naddress = \"127.0.0.1:{}\"",
                bus.port()
            ));
            for (name, unit) in [(RIDES, 1), (NEVER_COMES, 2)] {
                site = site.elevator_with(
                    name,
                    &elevator(&format!(
                        "{{ kind = \"modbus_tcp\", bus = \"b1\", unit = {unit}, map = {path:?} }}"
                    )),
                );
            }
            tap = Some(bus);
        } else {
            for name in [RIDES, NEVER_COMES] {
                serve_mqtt(&runtime, &building, &broker, name);
                site = site.elevator_with(name, &elevator("{ kind = \"mqtt\" }"));
            }
        }
        let world = Self {
            building,
            tap,
            broker,
            _runtime: runtime,
            _map: map,
        };
        (world, site)
    }

    /// A robot goes over the threshold, where it sees the door open. Says whether it went.
    pub(crate) fn cross(&self, robot: &str, floor: &str, way: Way) -> bool {
        let elevator = ElevatorId::new(RIDES).unwrap();
        let reading = self.building.snapshot(&elevator).unwrap();
        let floor = FloorLabel::new(floor).unwrap();
        let is_open = reading.front == Door::Open
            && reading.motion == Motion::Stopped
            && reading.floor.as_ref() == Some(&floor);
        let at = Threshold {
            elevator,
            landing: Landing {
                floor,
                side: Side::Front,
            },
            way,
            fence: None,
        };
        let robot = RobotId::new(robot).unwrap();
        is_open
            && self.building.begin_crossing(&robot, &at).unwrap()
            && self.building.end_crossing(&robot, &at).unwrap()
    }
}

fn plans() -> Vec<CarPlan> {
    let stop = |(label, height_m): (&str, f64)| Stop {
        label: FloorLabel::new(label).unwrap(),
        height_m,
        sides: [Side::Front].into(),
    };
    let car = |(name, ride_s): (&str, Option<f64>)| {
        let mut config = CarConfig::new([("1F", 0.0), ("6F", 17.5)].map(stop).to_vec());
        config.presence = Presence::Robot;
        config.hold_max_s = 60.0;
        config.ride_s = ride_s;
        CarPlan {
            elevator: ElevatorId::new(name).unwrap(),
            zone: ZoneId::new("main").unwrap(),
            config,
        }
    };
    [(RIDES, None), (NEVER_COMES, Some(100_000.0))]
        .map(car)
        .to_vec()
}

fn elevator(driver: &str) -> String {
    format!("presence = \"robot\"\nhold_max_s = 1.5\ndriver = {driver}\n")
}

fn serve_mqtt(runtime: &Runtime, building: &Arc<Building>, broker: &Mosquitto, name: &str) {
    let topics = Topics::new("hallcall/v1", &SiteId::new("demo").unwrap()).unwrap();
    let endpoint = Endpoint::parse(&format!("127.0.0.1:{}", broker.port())).unwrap();
    let _here = runtime.enter();
    let elevator = ElevatorId::new(name).unwrap();
    let controller =
        MqttController::new(Arc::clone(building), topics, &endpoint, elevator).unwrap();
    runtime.spawn(controller.run());
}

/// The port of a line with both cars.
fn serve_line(runtime: &Runtime, building: &Arc<Building>) -> u16 {
    let unit = |name: &str| Unit::Car(ElevatorId::new(name).unwrap());
    let units = BTreeMap::from([(1, unit(RIDES)), (2, unit(NEVER_COMES))]);
    let line = Line::new(Arc::clone(building), units).unwrap();
    runtime.block_on(async {
        let listener = Line::listen(([127, 0, 0, 1], 0).into()).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        tokio::spawn(line.serve(listener));
        port
    })
}
