//! Suspension and the end of a fire, as operators order them.

use protocol::hardware::Mode;
use protocol::{ElevatorId, ReasonCode, ZoneId};

use crate::effect::OperatorAnswer;
use crate::fact::{Fact, SiteFact};
use crate::operator::{Answer, READ_MS};
use crate::step::{Step, reason};

impl Step<'_> {
    fn zones(&self, zone: Option<&ZoneId>) -> Result<Vec<ZoneId>, String> {
        match zone {
            None => Ok(self.config.zones.keys().cloned().collect()),
            Some(zone) if self.config.zones.contains_key(zone) => Ok(vec![zone.clone()]),
            Some(zone) => Err(format!("zone {zone} is not known")),
        }
    }

    pub(crate) fn suspend(&mut self, zone: Option<&ZoneId>) -> Answer {
        for zone in self.zones(zone)? {
            let at = self.now.wall;
            self.record(Fact::Site(SiteFact::Suspended {
                zone: zone.clone(),
                at,
            }));
            self.touch_zone(&zone);
        }
        self.live.site_due = true;
        Ok(OperatorAnswer::Done(
            "no grants until the site is resumed".to_owned(),
        ))
    }

    pub(crate) fn resume(&mut self, zone: Option<&ZoneId>) -> Answer {
        let zones = self.zones(zone)?;
        for zone in &zones {
            self.fire_is_over(zone)?;
        }
        for zone in zones {
            let record = self.state.zones.get(&zone).cloned().unwrap_or_default();
            if record.suspended.is_some() {
                self.record(Fact::Site(SiteFact::Resumed { zone: zone.clone() }));
            }
            if record.fire.is_some() {
                self.record(Fact::Site(SiteFact::FireEnded { zone: zone.clone() }));
                self.block_unread(&zone);
            }
            self.touch_zone(&zone);
        }
        self.live.site_due = true;
        Ok(OperatorAnswer::Done("grants are given again".to_owned()))
    }

    /// A latched fire ends only where no signal of it stands.
    fn fire_is_over(&self, zone: &ZoneId) -> Result<(), String> {
        if self
            .state
            .zones
            .get(zone)
            .is_none_or(|zone| zone.fire.is_none())
        {
            return Ok(());
        }
        let has_input = self
            .config
            .zones
            .get(zone)
            .is_some_and(|config| config.fire_input);
        if has_input && self.live.fire_clear.get(zone) != Some(&true) {
            return Err(format!("the fire input of zone {zone} is not read clear"));
        }
        for config in self
            .config
            .elevators
            .values()
            .filter(|config| &config.zone == zone)
        {
            let burning = matches!(self.told_mode(&config.id), Mode::Fire | Mode::Emergency);
            if config.mode_signal && burning {
                return Err(format!("{} is still in fire or emergency mode", config.id));
            }
        }
        Ok(())
    }

    /// The mode that the elevator's own signal told last.
    fn told_mode(&self, elevator: &ElevatorId) -> Mode {
        let Some(car) = self.live.cars.get(elevator) else {
            return Mode::Unknown;
        };
        let read = car
            .reading
            .as_ref()
            .map_or(Mode::Unknown, |reading| reading.mode);
        car.mode_seen.unwrap_or(read)
    }

    /// After a fire an elevator without a good reading is for an operator to look at.
    fn block_unread(&mut self, zone: &ZoneId) {
        let since = self.now.mono_ms.saturating_sub(READ_MS);
        let unread: Vec<ElevatorId> = self
            .config
            .elevators
            .values()
            .filter(|config| &config.zone == zone)
            .filter(|config| {
                let read = self.read(&config.id, since).is_some();
                !read || (config.mode_signal && !self.told_mode(&config.id).serves_robots())
            })
            .map(|config| config.id.clone())
            .collect();
        for elevator in unread {
            let detail = format!("{elevator} has no good reading after the fire");
            self.block(&elevator, reason(ReasonCode::FireMode, detail), false);
        }
    }
}
