//! From the configuration to the lines that it names.

use std::sync::Arc;

use adapters::bus::{Bus, Device, LineConfig, LineTiming, Unit, ZoneInput};
use adapters::driver::Driver;
use adapters::map::{MapError, MappedFloor};
use dispatch::ElevatorConfig;
use protocol::ElevatorId;

use crate::clock::Clock;
use crate::config::{Config, DriverConfig};

/// What [`super::spawn`] needs of one line.
pub struct LineParts {
    /// Its name in the configuration.
    pub name: String,
    /// The elevators whose commands go over it.
    pub elevators: Vec<ElevatorId>,
    /// What drives it.
    pub driver: Box<dyn Driver>,
}

/// The lines of a site, one per bus, still closed. `seed` is of their jitter.
///
/// # Errors
/// A map that does not fit an elevator; a configuration that was checked has none.
pub fn bus_lines(
    config: &Config,
    clock: Clock,
    seed: u64,
) -> Result<Vec<LineParts>, Vec<MapError>> {
    let mut lines = Vec::with_capacity(config.buses.len());
    for (name, bus) in &config.buses {
        let units: Vec<Unit> = config
            .drivers
            .iter()
            .filter_map(|(id, driver)| unit(name, config.site.elevators.get(id)?, driver))
            .collect();
        let zones = config
            .zone_inputs
            .iter()
            .filter(|(_, input)| &input.bus == name);
        let zones = zones.map(|(zone, input)| ZoneInput {
            zone: zone.clone(),
            unit: input.unit,
            point: input.point,
            address: input.address,
            clear: input.clear,
        });
        let elevators = units.iter().map(|unit| unit.elevator.clone()).collect();
        let line = LineConfig {
            transport: bus.transport.clone(),
            units,
            zones: zones.collect(),
            timing: LineTiming::default(),
            // Each line has a series of its own; a line uses one number per elevator and zone.
            seed: seed.wrapping_add(u64::try_from(lines.len()).unwrap_or(0) << 16),
        };
        let driver = Bus::new(line, Arc::new(move || clock.mono_ms()))?;
        lines.push(LineParts {
            name: name.clone(),
            elevators,
            driver: Box::new(driver),
        });
    }
    Ok(lines)
}

fn unit(bus: &str, elevator: &ElevatorConfig, driver: &DriverConfig) -> Option<Unit> {
    let (own, unit, relay_unit, device) = match driver {
        DriverConfig::Modbus {
            bus,
            unit,
            relay_unit,
            map,
        } => (bus, unit, *relay_unit, Device::from(map.clone())),
        DriverConfig::Frames { bus, unit, profile } => {
            (bus, unit, None, Device::from(Arc::clone(profile)))
        }
        DriverConfig::Mqtt => return None,
    };
    let floors = elevator.floors.iter().map(|floor| MappedFloor {
        label: floor.label.clone(),
        sides: floor.sides.clone(),
    });
    (own == bus).then(|| Unit {
        elevator: elevator.id.clone(),
        unit: *unit,
        relay_unit,
        device,
        floors: floors.collect(),
    })
}
