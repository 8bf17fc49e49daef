//! A site of the world: what the gateway is configured with, and the cars that go with it.

use std::collections::{BTreeMap, BTreeSet};

use dispatch::{
    Applications, ElevatorConfig, Limits, QueuePolicy, ServedFloor, SiteConfig, Timing, ZoneConfig,
};
use protocol::id::IdError;
use protocol::ops::Presence;
use protocol::{ElevatorId, FloorLabel, GatewayId, Side, ZoneId};

use super::controller::ControllerConfig;
use crate::car::{CarConfig, Stop};

/// Height of a storey, in millimetres.
const STOREY_MM: u32 = 3_500;

/// An elevator: how the gateway knows it, and its car.
#[derive(Debug, Clone)]
pub struct ElevatorPlan {
    /// How the gateway knows it.
    pub config: ElevatorConfig,
    /// What its car is.
    pub car: CarConfig,
    /// How its controller behaves.
    pub controller: ControllerConfig,
}

impl ElevatorPlan {
    /// An elevator in the zone `main` that serves the floors `1F`, `2F`, ... 3.5 m apart at the
    /// front, without presence signal, with holds of 10 s.
    ///
    /// # Errors
    /// [`IdError`] when `id` is no identifier.
    pub fn new(id: &str, floors: u32) -> Result<Self, IdError> {
        let id = ElevatorId::new(id)?;
        let zone = ZoneId::new("main")?;
        let labels = (1..=floors).filter_map(|n| FloorLabel::new(&format!("{n}F")).ok());
        let sides = BTreeSet::from([Side::Front]);
        let served: Vec<_> = (0..)
            .zip(labels)
            .map(|(n, label)| ServedFloor {
                label,
                sides: sides.clone(),
                height_mm: i64::from(n * STOREY_MM),
            })
            .collect();
        let car = CarConfig::new(served.iter().map(stop).collect());
        let config = ElevatorConfig {
            id,
            bank_id: None,
            zone,
            presence: Presence::None,
            mode_signal: true,
            hold_max_ms: 10_000,
            claim: false,
            floors: served,
        };
        Ok(Self {
            config,
            car,
            controller: ControllerConfig::default(),
        })
    }

    /// With a presence signal.
    #[must_use]
    pub fn presence(mut self, presence: Presence) -> Self {
        self.config.presence = presence;
        self.car.presence = presence;
        self
    }

    /// Standing at a floor at the beginning, by its index.
    #[must_use]
    pub fn starting_at(mut self, floor: usize) -> Self {
        self.car.start = floor;
        self
    }

    /// With other floors; the car is made to fit.
    #[must_use]
    pub fn serving(mut self, floors: Vec<ServedFloor>) -> Self {
        self.car.floors = floors.iter().map(stop).collect();
        self.config.floors = floors;
        self
    }
}

/// A whole site.
#[derive(Debug, Clone)]
pub struct SitePlan {
    /// The elevators.
    pub elevators: Vec<ElevatorPlan>,
    /// The waits.
    pub timing: Timing,
    /// The bounds.
    pub limits: Limits,
    /// How waiting rides are ranked.
    pub queue: QueuePolicy,
    /// The zones that have a fire input.
    pub fire_inputs: BTreeSet<ZoneId>,
}

impl SitePlan {
    /// A site with these elevators and the defaults of `wire.md` section 7.
    #[must_use]
    pub fn new(elevators: Vec<ElevatorPlan>) -> Self {
        Self {
            elevators,
            timing: Timing::default(),
            limits: Limits::default(),
            queue: QueuePolicy::default(),
            fire_inputs: BTreeSet::new(),
        }
    }

    /// What the gateway `gateway` is configured with.
    #[must_use]
    pub fn config(&self, gateway: GatewayId) -> SiteConfig {
        let configs = self.elevators.iter().map(|plan| plan.config.clone());
        let elevators: BTreeMap<_, _> = configs.map(|config| (config.id.clone(), config)).collect();
        let zone = |config: &ElevatorConfig| {
            let fire_input = self.fire_inputs.contains(&config.zone);
            (config.zone.clone(), ZoneConfig { fire_input })
        };
        SiteConfig {
            applications: Applications::default(),
            gateway,
            timing: self.timing.clone(),
            limits: self.limits.clone(),
            queue: self.queue.clone(),
            zones: elevators.values().map(zone).collect(),
            elevators,
        }
    }
}

fn stop(floor: &ServedFloor) -> Stop {
    // A building is lower than 2^53 mm.
    #[allow(clippy::cast_precision_loss)]
    let height_m = floor.height_mm as f64 / 1_000.0;
    Stop {
        label: floor.label.clone(),
        height_m,
        sides: floor.sides.clone(),
    }
}
