//! What is read of a car, and what its controller says of commands.

use protocol::CommandId;
use protocol::hardware::{Action, Change, Door, Mode, Motion, Outcome, Reading};

use super::model::{Car, Flight};

impl Car {
    pub(super) fn take_reading(&mut self, reading: &Reading, asked_ms: u64, now_ms: u64) {
        let open = [Some(reading.front), reading.rear].contains(&Some(Door::Open));
        if open && reading.motion == Motion::Stopped {
            self.open_since_ms.get_or_insert(now_ms);
        } else {
            self.open_since_ms = None;
        }
        self.reading = Some(reading.clone());
        self.asked_ms = Some(asked_ms);
        self.read_ms = Some(now_ms);
        self.mode_seen = None;
        // A reading that was asked for once it was unknown clears the lane.
        let told = |flight: &Flight| flight.unknown_ms.is_some_and(|since| asked_ms >= since);
        if self.flight.as_ref().is_some_and(told) {
            self.flight = None;
        }
    }

    /// An unasked word takes a permission away at once, and founds nothing.
    pub(super) fn doubt(&mut self, change: &Change, now_ms: u64, signal: bool) {
        let was_open = |door: Option<Door>| door == Some(Door::Open);
        let shuts = |door: Option<Door>| door.is_some_and(|door| door != Door::Open);
        let (front, rear) = match &self.reading {
            Some(reading) => (Some(reading.front), reading.rear),
            None => (None, None),
        };
        let door =
            (was_open(front) && shuts(change.front)) || (was_open(rear) && shuts(change.rear));
        if door || matches!(change.motion, Some(Motion::Up | Motion::Down)) {
            self.doubt_ms = Some(now_ms);
            self.open_since_ms = None;
        }
        if let Some(mode) = change.mode
            && signal
            && !mode.serves_robots()
            && (mode != Mode::Unknown || self.reading.is_some())
        {
            self.mode_seen = Some(mode);
        }
    }

    pub(super) fn answered(&mut self, id: &CommandId, outcome: &Outcome, now_ms: u64) {
        let taken = matches!(outcome, Outcome::Accepted | Outcome::Done);
        if let Some(sent) = self.known.iter_mut().find(|sent| sent.id == *id) {
            if taken && let Action::HoldDoor { landing, hold_ms } = &sent.action {
                let until_ms = sent.sent_ms + hold_ms;
                let known_ms = self.held.as_ref().map_or(0, |(_, until_ms)| *until_ms);
                if until_ms > known_ms {
                    self.held = Some((landing.clone(), until_ms));
                }
            }
            if matches!(outcome, Outcome::Unknown { .. }) {
                sent.unknown_ms.get_or_insert(now_ms);
            }
        }
        let Some(flight) = &mut self.flight else {
            return;
        };
        if flight.id != *id {
            return;
        }
        match outcome {
            Outcome::Sent => {}
            Outcome::Unknown { .. } => {
                flight.unknown_ms.get_or_insert(now_ms);
            }
            Outcome::Accepted
            | Outcome::Done
            | Outcome::Failed { .. }
            | Outcome::Dropped { .. } => {
                self.flight = None;
            }
        }
    }
}

pub(super) fn as_change(reading: &Reading) -> Change {
    Change {
        floor: reading.floor.clone(),
        front: Some(reading.front),
        rear: reading.rear,
        motion: Some(reading.motion),
        mode: Some(reading.mode),
        occupied: reading.occupied,
        fault: reading.fault.clone(),
    }
}
