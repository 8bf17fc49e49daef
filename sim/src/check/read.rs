//! What is read of a car, and what its controller says of commands.

use dispatch::config::Timing;
use protocol::hardware::{Action, Call, Change, Door, Mode, Motion, Outcome, Reading};
use protocol::{CommandId, Landing};

use super::model::{Car, Flight, Held};

impl Car {
    pub(super) fn take_reading(
        &mut self,
        reading: &Reading,
        (asked_ms, now_ms): (u64, u64),
        timing: &Timing,
    ) {
        let accept_ms = timing.accept_ms;
        let open = [Some(reading.front), reading.rear].contains(&Some(Door::Open));
        if self.quiet_ms(now_ms) >= timing.silent_ms {
            // Nothing is known of the door from the silence.
            self.open_since_ms = None;
        }
        if open && reading.motion == Motion::Stopped {
            self.open_since_ms.get_or_insert(now_ms);
        } else {
            self.open_since_ms = None;
        }
        self.reading = Some(reading.clone());
        self.asked_ms = Some(asked_ms);
        self.read_ms = Some(now_ms);
        self.mode_seen = None;
        // A reading that was asked for once it was unknown clears the lane, and so does one that
        // shows what the command was to do.
        let told = |flight: &Flight| {
            let unknown_ms = flight.unknown_ms.unwrap_or(flight.sent_ms + accept_ms);
            asked_ms >= unknown_ms || (asked_ms > flight.sent_ms && shows(&flight.action, reading))
        };
        if self.flight.as_ref().is_some_and(told) {
            self.flight = None;
        }
        // A door that closes, or is elsewhere, is not held.
        let broken = |hold: &Held| {
            let stands = reading.motion == Motion::Stopped
                && reading.floor.as_ref() == Some(&hold.landing.floor);
            let door = reading.door(hold.landing.side);
            let kept = stands && matches!(door, Door::Open | Door::Opening);
            asked_ms >= hold.since_ms && !kept
        };
        if self.held.as_ref().is_some_and(broken) {
            self.held = None;
        }
    }

    /// A hold was taken: it goes on from the one before where that has not ended.
    fn hold(&mut self, landing: &Landing, sent_ms: u64, hold_ms: u64, now_ms: u64) {
        let before = self.held.as_ref();
        let before = before.filter(|hold| hold.landing == *landing && hold.until_ms >= now_ms);
        let since_ms = before.map_or(now_ms, |hold| hold.since_ms);
        let known_ms = before.map_or(0, |hold| hold.until_ms);
        self.held = Some(Held {
            landing: landing.clone(),
            since_ms,
            until_ms: known_ms.max(sent_ms + hold_ms),
        });
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
        let mut held = None;
        if let Some(sent) = self.known.iter_mut().find(|sent| sent.id == *id) {
            if taken && let Action::HoldDoor { landing, hold_ms } = &sent.action {
                held = Some((landing.clone(), sent.sent_ms, *hold_ms));
            }
            if matches!(outcome, Outcome::Unknown { .. }) {
                sent.unknown_ms.get_or_insert(now_ms);
            }
        }
        if let Some((landing, sent_ms, hold_ms)) = held {
            self.hold(&landing, sent_ms, hold_ms, now_ms);
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

/// Whether a reading shows what a command was to do (`wire.md` section 6: a visible effect). A hold
/// shows in no reading.
fn shows(action: &Action, reading: &Reading) -> bool {
    let called = |landing: &Landing, wanted: bool| {
        let calls = reading.calls.as_ref()?;
        Some(calls.iter().any(|call| {
            let (hall, floor, side) = match call {
                Call::Hall { floor, side, .. } => (true, floor, side),
                Call::Car { floor, side } => (false, floor, side),
            };
            let there = *floor == landing.floor && side.is_none_or(|it| it == landing.side);
            hall == wanted && there
        }))
    };
    match action {
        Action::Query | Action::HoldDoor { .. } => false,
        Action::Claim => reading.mode == Mode::Robot,
        Action::Release => reading.mode == Mode::Normal,
        Action::HallCall { landing, .. } => {
            called(landing, true) == Some(true) || reading.is_open_at(landing)
        }
        Action::CancelCall { landing, .. } => called(landing, true) == Some(false),
        Action::CarCall { landing } => {
            let goes = matches!(reading.motion, Motion::Up | Motion::Down);
            let there = reading.floor.as_ref() == Some(&landing.floor);
            called(landing, false) == Some(true) || goes || there
        }
        Action::OpenDoor { landing } => {
            matches!(reading.door(landing.side), Door::Open | Door::Opening)
        }
        Action::CloseDoor { landing } => {
            matches!(reading.door(landing.side), Door::Closed | Door::Closing)
        }
    }
}
