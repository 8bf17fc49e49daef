//! The line of all controllers that speak MQTT themselves: from the fence gate to the message.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use adapters::mqtt::MqttDriver;
use dispatch::edge::FenceGate;
use dispatch::{ElevatorConfig, Input, Now};
use protocol::elevator::ElevatorEvent;
use protocol::hardware::{Command, Report};
use protocol::{ElevatorId, Outgoing, Side};

use crate::config::{Config, DriverConfig};

/// The controllers, behind one gate. The engine's thread brings what they say, the committer's
/// takes what they are told.
pub struct MqttLine {
    inner: Mutex<Inner>,
}

struct Inner {
    gate: FenceGate,
    drivers: BTreeMap<ElevatorId, MqttDriver>,
}

impl MqttLine {
    /// The controllers of a site that speak MQTT.
    #[must_use]
    pub fn new(config: &Config) -> Self {
        let drivers = config
            .drivers
            .iter()
            .filter(|(_, driver)| **driver == DriverConfig::Mqtt)
            .filter_map(|(id, _)| config.site.elevators.get(id))
            .map(|elevator| (elevator.id.clone(), MqttDriver::new(sides(elevator))))
            .collect();
        let gate = FenceGate::new();
        Self {
            inner: Mutex::new(Inner { gate, drivers }),
        }
    }

    /// The message that a command is which was released at `at_ms`.
    ///
    /// # Errors
    /// Why it must not be sent.
    pub fn command(&self, command: &Command, at_ms: u64, now: Now) -> Result<Outgoing, String> {
        let age_ms = now.mono_ms.saturating_sub(at_ms);
        let mut inner = self.lock();
        let Inner { gate, drivers } = &mut *inner;
        let driver = drivers
            .get_mut(&command.elevator_id)
            .ok_or_else(|| format!("{} has no controller", command.elevator_id))?;
        gate.pass(command, age_ms)
            .map_err(|dropped| dropped.to_string())?;
        // The gate lets none pass that is older.
        let expires_in_ms = command.expires_in_ms.saturating_sub(age_ms);
        let command = Command {
            expires_in_ms,
            ..command.clone()
        };
        Ok(Outgoing::ElevatorCommand(driver.command(
            now.mono_ms,
            now.wall,
            &command,
        )))
    }

    /// What a controller's event says; nothing for an elevator that has no such controller.
    #[must_use]
    pub fn heard(&self, elevator: &ElevatorId, event: &ElevatorEvent, now: Now) -> Vec<Input> {
        let mut inner = self.lock();
        let Some(driver) = inner.drivers.get_mut(elevator) else {
            tracing::debug!(%elevator, "an event for an elevator that has no MQTT controller");
            return Vec::new();
        };
        let reports = driver.event(now.mono_ms, now.wall, event);
        reports
            .into_iter()
            .map(|report| about(elevator, report))
            .collect()
    }

    /// The connection to the broker opened or closed.
    #[must_use]
    pub fn link(&self, up: bool) -> Vec<Input> {
        let mut inner = self.lock();
        let mut inputs = Vec::new();
        for (elevator, driver) in &mut inner.drivers {
            let reports = if up {
                driver.connected()
            } else {
                driver.disconnected()
            };
            inputs.extend(reports.into_iter().map(|report| about(elevator, report)));
        }
        inputs
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // A panic ends the process, so nobody ever sees a poisoned lock.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn about(elevator: &ElevatorId, report: Report) -> Input {
    Input::Report {
        elevator: elevator.clone(),
        report,
    }
}

fn sides(elevator: &ElevatorConfig) -> BTreeSet<Side> {
    elevator
        .floors
        .iter()
        .flat_map(|floor| floor.sides.iter().copied())
        .collect()
}
