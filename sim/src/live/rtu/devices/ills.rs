//! What breaks in a device, and when it is whole again.

use std::time::Duration;

use super::super::fault::Fault;
use super::{BROKEN_MAX, Cure, Devices};

/// Cures that are due; what breaks beyond them stays broken.
const CURES_MAX: usize = 1_024;

impl Devices {
    /// What breaks in the device before it takes the request.
    pub(super) fn upset(&mut self, at: Duration, unit: u8, fault: &Fault) {
        match fault {
            Fault::Door(stuck, time) => {
                let stuck = *stuck;
                self.units
                    .set_faults(unit, |faults| faults.door = Some(stuck));
                self.cure_after(at, *time, unit, Cure::Door);
            }
            Fault::Reopens(times) => {
                self.units
                    .set_faults(unit, |faults| faults.reopens = *times);
            }
            Fault::Restart(time) => {
                self.units.restart(unit);
                self.asleep.insert(unit, at + (*time).min(BROKEN_MAX));
            }
            Fault::PowerLoss(time) => {
                self.units.restart(unit);
                self.units.set_power(unit, false);
                self.asleep.insert(unit, at + (*time).min(BROKEN_MAX));
                self.cure_after(at, *time, unit, Cure::Power);
            }
            Fault::Position(position, time) => {
                self.units.set_position(unit, Some(*position));
                self.cure_after(at, *time, unit, Cure::Position);
            }
            Fault::Late(_)
            | Fault::IntoNext
            | Fault::BadCrc
            | Fault::Twice(_)
            | Fault::Truncated(_)
            | Fault::Merged
            | Fault::WrongUnit(_)
            | Fault::WrongFunction
            | Fault::WrongLength
            | Fault::Refuse(_)
            | Fault::Echo
            | Fault::NoReply
            | Fault::NoRequest
            | Fault::Junk(_)
            | Fault::Foreign
            | Fault::Report { .. }
            | Fault::Babble(_) => {}
        }
    }

    fn cure_after(&mut self, at: Duration, time: Duration, unit: u8, cure: Cure) {
        if self.cures.len() < CURES_MAX {
            self.cure_count += 1;
            let due = at + time.min(BROKEN_MAX);
            self.cures.insert((due, self.cure_count), (unit, cure));
        }
    }

    pub(super) fn cure(&mut self, now: Duration) {
        while let Some(entry) = self.cures.first_entry()
            && entry.key().0 <= now
        {
            match entry.remove() {
                (unit, Cure::Door) => self.units.set_faults(unit, |faults| faults.door = None),
                (unit, Cure::Power) => self.units.set_power(unit, true),
                (unit, Cure::Position) => self.units.set_position(unit, None),
            }
        }
    }
}
