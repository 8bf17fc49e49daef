//! What a unit of Kestrel says without being asked.

use std::time::Duration;

use super::super::record::Talker;
use super::super::speech::{self, Speech};
use super::Devices;

/// How often a unit that reports by itself looks whether there is something to report.
const LOOK_EVERY: Duration = Duration::from_millis(50);

impl Devices {
    /// The report of a unit at this moment; nothing where what is spoken has none.
    pub(super) fn report(&self, unit: u8) -> Vec<u8> {
        let speech = self.wire.speech();
        match self.units.status(unit) {
            Some(status) if speech == Speech::Kestrel => {
                speech.seal(unit, &speech::report(&status))
            }
            Some(_) | None => Vec::new(),
        }
    }

    /// A unit of Kestrel whose car shows something new says so when the line is silent.
    pub(super) fn report_news(&mut self, now: Duration) {
        if self.wire.speech() != Speech::Kestrel || now < self.look_at {
            return;
        }
        self.look_at = now + LOOK_EVERY;
        if !self.wire.is_silent(now) {
            return;
        }
        let numbers: Vec<_> = self.units.numbers().collect();
        for unit in numbers {
            if !self.is_awake(unit, now) {
                continue;
            }
            let Some([floor, door, motion, mode, ..]) = self.units.status(unit) else {
                continue;
            };
            let picture = [floor, door, motion, mode];
            if self
                .shown
                .insert(unit, picture)
                .is_some_and(|old| old != picture)
            {
                let report = self.report(unit);
                self.wire.speak(Talker::Unit(unit), now, &report);
                return;
            }
        }
    }
}
