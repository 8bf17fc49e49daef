//! A site for the inputs to happen at.

use std::collections::{BTreeMap, BTreeSet};

use dispatch::{
    Applications, ElevatorConfig, Limits, PoolConfig, QueuePolicy, ResourceClass, SeriesConfig,
    ServedFloor, SiteConfig, Timing, WhenFull, ZoneConfig,
};
use protocol::Side;
use protocol::ops::Presence;

/// Two elevators between 1F and 6F; the second has doors on both sides, a robot mode to be claimed
/// and a presence signal.
pub(crate) fn site() -> SiteConfig {
    let floors = |sides: &[Side]| {
        let floor = |(label, height_mm): (&str, i64)| ServedFloor {
            label: label.parse().expect("a floor label"),
            sides: sides.iter().copied().collect::<BTreeSet<_>>(),
            height_mm,
        };
        [("1F", 0), ("2F", 3_500), ("6F", 17_500)]
            .map(floor)
            .to_vec()
    };
    let first = ElevatorConfig {
        id: "EL001".parse().expect("an id"),
        bank_id: None,
        zone: "main".parse().expect("an id"),
        presence: Presence::None,
        mode_signal: true,
        hold_max_ms: 10_000,
        claim: false,
        floors: floors(&[Side::Front]),
    };
    let second = ElevatorConfig {
        id: "EL002".parse().expect("an id"),
        presence: Presence::Any,
        claim: true,
        floors: floors(&Side::ALL),
        ..first.clone()
    };
    SiteConfig {
        applications: applications(),
        gateway: "gw-1".parse().expect("an id"),
        timing: Timing::default(),
        limits: Limits::default(),
        queue: QueuePolicy::default(),
        zones: BTreeMap::from([(first.zone.clone(), ZoneConfig::default())]),
        elevators: [first, second]
            .map(|elevator| (elevator.id.clone(), elevator))
            .into(),
    }
}

/// A pool of two, a series of three numbers, a department.
fn applications() -> Applications {
    let pool = PoolConfig {
        id: "P".parse().expect("an id"),
        capacity: 2,
        resources: BTreeSet::new(),
        any_id: true,
        class: ResourceClass::Logical,
        when_full: WhenFull::Wait,
        approval: false,
        heartbeat_ms: 30_000,
        init_ms: 10_000,
        quotas: Vec::new(),
    };
    let series = SeriesConfig {
        id: "AA".parse().expect("an id"),
        max: 3,
        start: 1,
        step: 1,
        switch: true,
    };
    Applications {
        series: vec![series],
        pools: BTreeMap::from([(pool.id.clone(), pool)]),
        departments: BTreeSet::from(["D1".parse().expect("an id")]),
        ..Applications::default()
    }
}
