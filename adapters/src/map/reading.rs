//! From the points of a device to a [`Reading`].

use protocol::hardware::{Door, Mode, Reading};
use protocol::limits::CALLS_MAX;

use super::point::Image;
use super::{FloorTable, RegisterMap};

impl RegisterMap {
    /// What an image says of an elevator with these floors. A car without a front door has a
    /// closed one, so that it can be shut.
    pub(crate) fn reading(&self, image: &Image, floors: &FloorTable) -> Reading {
        let count = self.floors.count;
        let number = self.floor.read(count, image);
        Reading {
            floor: number.and_then(|number| floors.label(number)).cloned(),
            front: self
                .front
                .as_ref()
                .map_or(Door::Closed, |side| side.door.read(image)),
            rear: self.rear.as_ref().map(|side| side.door.read(image)),
            motion: self.motion.read(image),
            mode: self
                .mode
                .as_ref()
                .map_or(Mode::Unknown, |mode| mode.read(image)),
            occupied: self.signals.occupied(image),
            load_pct: self.signals.load_pct(image),
            calls: self.calls(image, floors),
            fault: self.signals.fault(image),
        }
    }

    fn calls(&self, image: &Image, floors: &FloorTable) -> Option<Vec<protocol::hardware::Call>> {
        let mut calls = Vec::new();
        for (side, map) in self.sides() {
            let lamps = map.lamps.as_ref()?;
            for (label, number) in &floors.0 {
                lamps.read(side, label, *number, image, &mut calls);
            }
        }
        calls.truncate(CALLS_MAX);
        Some(calls)
    }
}
