//! The sites of the tests, and their names.

use std::collections::{BTreeMap, BTreeSet};

use dispatch::{
    Applications, ElevatorConfig, Limits, QueuePolicy, ServedFloor, SiteConfig, Timing, ZoneConfig,
};
use protocol::ops::Presence;
use protocol::{ElevatorId, FloorLabel, Landing, OrderId, RobotId, Side, Timestamp, ZoneId};

/// The elevator of the one-elevator site.
pub(crate) const E1: &str = "EL001";
/// The second elevator.
pub(crate) const E2: &str = "EL002";
/// The robot that most tests are about.
pub(crate) const R1: &str = "R001";
/// Another robot.
pub(crate) const R2: &str = "R002";
/// The order that most tests are about.
pub(crate) const T1: &str = "T-1";
/// Another order.
pub(crate) const T2: &str = "T-2";

pub(crate) fn elevator(id: &str) -> ElevatorId {
    id.parse().expect("an elevator id")
}

pub(crate) fn order(id: &str) -> OrderId {
    id.parse().expect("an order id")
}

pub(crate) fn robot(id: &str) -> RobotId {
    id.parse().expect("a robot id")
}

pub(crate) fn zone(id: &str) -> ZoneId {
    id.parse().expect("a zone id")
}

pub(crate) fn floor(label: &str) -> FloorLabel {
    label.parse().expect("a floor label")
}

pub(crate) fn front(label: &str) -> Landing {
    Landing {
        floor: floor(label),
        side: Side::Front,
    }
}

/// Floors `1F` to `{top}F`, 3.5 m apart, doors in front.
pub(crate) fn served(labels: &[u32]) -> Vec<ServedFloor> {
    labels
        .iter()
        .map(|number| ServedFloor {
            label: floor(&format!("{number}F")),
            sides: BTreeSet::from([Side::Front]),
            height_mm: i64::from(*number - 1) * 3_500,
        })
        .collect()
}

/// An elevator that serves 1F, 3F and 6F, with the defaults of `wire.md` section 7.
pub(crate) fn car(id: &str, presence: Presence) -> ElevatorConfig {
    ElevatorConfig {
        id: elevator(id),
        bank_id: None,
        zone: zone("main"),
        presence,
        mode_signal: true,
        hold_max_ms: 10_000,
        claim: false,
        floors: served(&[1, 3, 6]),
    }
}

/// A site of these elevators in one zone.
pub(crate) fn site(elevators: Vec<ElevatorConfig>) -> SiteConfig {
    let mut zones = BTreeMap::new();
    for elevator in &elevators {
        zones.insert(elevator.zone.clone(), ZoneConfig::default());
    }
    SiteConfig {
        applications: Applications::default(),
        gateway: "gw-1".parse().expect("a gateway id"),
        timing: Timing::default(),
        limits: Limits::default(),
        queue: QueuePolicy::default(),
        elevators: elevators
            .into_iter()
            .map(|elevator| (elevator.id.clone(), elevator))
            .collect(),
        zones,
    }
}

/// One elevator, `EL001`.
pub(crate) fn one_car(presence: Presence) -> SiteConfig {
    site(vec![car(E1, presence)])
}

/// Two elevators, `EL001` and `EL002`, without presence signals.
pub(crate) fn two_cars() -> SiteConfig {
    site(vec![car(E1, Presence::None), car(E2, Presence::None)])
}

/// A wall clock moment so many milliseconds later.
pub(crate) fn later(at: Timestamp, ms: u64) -> Timestamp {
    Timestamp(at.0 + ms)
}
