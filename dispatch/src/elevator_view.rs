//! Elevators and the site as others see them.

use protocol::elevator::{Doors, ElevatorView, Health, OwnerView};
use protocol::hardware::{Door, Mode, Motion};
use protocol::ops::{SiteElevator, SiteFloor, SiteView, Suspension, SuspensionCode};
use protocol::{ElevatorId, Outgoing, Seconds, Side};

use crate::step::{Step, cut};

/// How often a robot shall send `status` at least, in milliseconds (`wire.md` section 5).
const STATUS_MS: u64 = 10_000;
/// How often an elevator's state is published at least (`wire.md` section 6).
const ELEVATOR_STATE_MS: u64 = 30_000;

impl Step<'_> {
    /// Publishes the states of touched elevators that changed, and each at least every 30 s.
    pub(crate) fn show_elevators(&mut self) {
        let touched = std::mem::take(&mut self.live.touched);
        for id in touched {
            let Some(view) = self.elevator_view(&id) else {
                continue;
            };
            let now_ms = self.now.mono_ms;
            let known = self.live.published.get(&id);
            let due = known.is_none_or(|(shown, at)| {
                !same_but_for_time(shown, &view) || now_ms >= at.saturating_add(ELEVATOR_STATE_MS)
            });
            if due {
                self.live.published.insert(id, (view.clone(), now_ms));
                self.say(Outgoing::ElevatorState(view));
            }
        }
    }

    /// An elevator as others see it.
    pub(crate) fn elevator_view(&self, id: &ElevatorId) -> Option<ElevatorView> {
        let config = self.elevator_config(id)?;
        let car = self.live.cars.get(id)?;
        let record = self.state.elevators.get(id);
        let seen = car.seen.as_ref();
        let rear = config
            .floors
            .iter()
            .any(|floor| floor.sides.contains(&Side::Rear))
            .then(|| seen.and_then(|seen| seen.rear).unwrap_or(Door::Unknown));
        let (health, health_reason) = self.health(id);
        Some(ElevatorView {
            elevator_id: id.clone(),
            bank_id: config.bank_id.clone(),
            floor: seen.and_then(|seen| seen.floor.clone()),
            doors: Doors {
                front: seen.map_or(Door::Unknown, |seen| seen.front),
                rear,
            },
            motion: seen.map_or(Motion::Unknown, |seen| seen.motion),
            mode: self.mode(id),
            occupied: seen.and_then(|seen| seen.occupied),
            health,
            health_reason,
            owner: record
                .and_then(|record| record.owner.as_ref())
                .map(|owner| OwnerView {
                    robot_id: owner.robot.clone(),
                    fence: owner.fence,
                    since: owner.since,
                }),
            fence: record.map(|record| record.fence).unwrap_or_default(),
            busy: car.efforts.is_busy(),
            queue_length: self.queue_length(id),
            observed_at: car.observed_at,
        })
    }

    fn health(&self, id: &ElevatorId) -> (Health, Option<String>) {
        let timing = &self.config.timing;
        let now_ms = self.now.mono_ms;
        let record = self.state.elevators.get(id);
        if record.is_some_and(|record| record.maintenance) {
            return (Health::Maintenance, None);
        }
        if let Some(block) = record.and_then(|record| record.block.as_ref()) {
            let code = block.reason.code;
            let text = if block.occupant {
                format!("UNEXPECTED_OCCUPANT: {}", block.reason.detail)
            } else {
                format!("{code}: {}", block.reason.detail)
            };
            return (Health::Unknown, Some(cut(text)));
        }
        if record.is_some_and(|record| record.must_be_read) {
            return (
                Health::Unknown,
                Some("the data was restored: it must be read".to_owned()),
            );
        }
        if self.mode(id) == Mode::Maintenance {
            return (Health::Maintenance, None);
        }
        let Some(car) = self.live.cars.get(id) else {
            return (Health::Offline, None);
        };
        let quiet = car.quiet_ms(now_ms);
        if quiet >= timing.silent_ms {
            let text = format!(
                "CONTROLLER_LOST: no reading for {} s",
                timing.silent_ms / 1000
            );
            (Health::Offline, Some(text))
        } else if quiet >= timing.reading_fresh_ms || car.read_ms.is_none() {
            (Health::Stale, None)
        } else {
            (Health::Ok, None)
        }
    }

    /// Publishes what there is.
    pub(crate) fn show_site(&mut self) {
        let floors = self.config.floors();
        let index = |place: usize| u32::try_from(place).unwrap_or(u32::MAX);
        let view = SiteView {
            versions: vec!["v1".to_owned()],
            gateway: self.config.gateway.clone(),
            suspended: self.suspension(),
            lease_s: Seconds::from_ms(self.config.timing.lease_ms),
            status_s: Seconds::from_ms(STATUS_MS),
            floors: floors
                .into_iter()
                .enumerate()
                .map(|(place, floor)| SiteFloor {
                    label: floor.label,
                    index: index(place),
                    sides: floor.sides.into_iter().collect(),
                })
                .collect(),
            elevators: self
                .config
                .elevators
                .values()
                .map(|elevator| SiteElevator {
                    id: elevator.id.clone(),
                    bank_id: elevator.bank_id.clone(),
                    zone: elevator.zone.clone(),
                    floors: elevator
                        .floors
                        .iter()
                        .map(|floor| floor.label.clone())
                        .collect(),
                    presence: elevator.presence,
                    hold_max_s: Seconds::from_ms(elevator.hold_max_ms),
                })
                .collect(),
        };
        self.say(Outgoing::Site(view));
    }

    fn suspension(&self) -> Option<Suspension> {
        let burning: Vec<_> = self
            .state
            .zones
            .iter()
            .filter(|(_, zone)| zone.fire.is_some())
            .collect();
        let suspended: Vec<_> = self
            .state
            .zones
            .iter()
            .filter(|(_, zone)| zone.suspended.is_some())
            .collect();
        let (code, zones) = if burning.is_empty() {
            (SuspensionCode::Suspended, suspended)
        } else {
            (SuspensionCode::FireMode, burning)
        };
        let since = zones.iter().filter_map(|(_, zone)| match code {
            SuspensionCode::Suspended => zone.suspended,
            SuspensionCode::FireMode => zone.fire,
        });
        let since = since.min()?;
        Some(Suspension {
            code,
            zones: zones.iter().map(|(id, _)| (*id).clone()).collect(),
            since,
        })
    }
}

/// Readings' times and queue lengths alone are no change that is worth a message.
fn same_but_for_time(a: &ElevatorView, b: &ElevatorView) -> bool {
    let ElevatorView {
        elevator_id,
        bank_id,
        floor,
        doors,
        motion,
        mode,
        occupied,
        health,
        health_reason,
        owner,
        fence,
        busy: _,
        queue_length: _,
        observed_at: _,
    } = a;
    *doors == b.doors
        && (*motion, *mode, *occupied) == (b.motion, b.mode, b.occupied)
        && *floor == b.floor
        && (*health, *fence) == (b.health, b.fence)
        && *owner == b.owner
        && *health_reason == b.health_reason
        && *elevator_id == b.elevator_id
        && *bank_id == b.bank_id
}
