//! What a controller makes of a command.

use protocol::hardware::{Action, Door};
use protocol::{FloorLabel, Landing};

use super::{Car, Place};

impl Car {
    /// Does what a command asks, as a controller of the maker would.
    ///
    /// # Errors
    /// What the controller answers instead: the mode, a landing that the car does not serve, or a
    /// door command for a car that does not stand at that landing.
    pub fn execute(&mut self, now_ms: u64, action: &Action) -> Result<(), String> {
        self.advance(now_ms);
        if !self.mode.serves_robots() && !action.is_allowed_in_any_mode() {
            return Err(format!("mode is {}", self.mode));
        }
        match action {
            Action::Query => Ok(()),
            Action::Claim => {
                self.claim(now_ms);
                Ok(())
            }
            Action::Release => {
                self.release(now_ms);
                Ok(())
            }
            Action::HallCall { landing, direction } => {
                let taken = self.hall_call(now_ms, landing, *direction);
                taken.then_some(()).ok_or_else(|| not_served(landing))
            }
            Action::CancelCall { landing, direction } => {
                self.cancel_call(now_ms, landing, *direction);
                Ok(())
            }
            Action::CarCall { landing } => {
                let taken = self.car_call(now_ms, landing);
                taken.then_some(()).ok_or_else(|| not_served(landing))
            }
            Action::OpenDoor { landing } => {
                self.stands_at(&landing.floor)?;
                self.open_door(now_ms, landing.side);
                Ok(())
            }
            Action::HoldDoor { landing, hold_ms } => {
                self.stands_at(&landing.floor)?;
                if self.door(landing.side).seen() == Door::Closed {
                    return Err("the door is closed".to_owned());
                }
                self.hold_door(now_ms, landing.side, *hold_ms);
                Ok(())
            }
            Action::CloseDoor { landing } => {
                self.stands_at(&landing.floor)?;
                self.close_door(now_ms);
                Ok(())
            }
        }
    }

    /// Whether the effect of a command is there: a controller then says `done`.
    #[must_use]
    pub fn is_done(&self, action: &Action) -> bool {
        match action {
            Action::HallCall { landing, .. }
            | Action::CarCall { landing }
            | Action::OpenDoor { landing } => self.is_open_at(landing),
            Action::CloseDoor { .. } => self.is_shut(),
            Action::Query
            | Action::Claim
            | Action::Release
            | Action::CancelCall { .. }
            | Action::HoldDoor { .. } => true,
        }
    }

    /// The controller starts anew: calls, holds and a claim are gone; a trip goes on to its end.
    pub fn forget(&mut self, now_ms: u64) {
        self.release(now_ms);
        for press in std::mem::take(&mut self.calls) {
            self.note_unlit(press);
        }
    }

    fn stands_at(&self, floor: &FloorLabel) -> Result<(), String> {
        match self.place {
            Place::Travelling(_) => Err("the car moves".to_owned()),
            Place::Standing { floor: at } if &self.config.floors[at].label == floor => Ok(()),
            Place::Standing { floor: at } => {
                let at = &self.config.floors[at].label;
                Err(format!("the car stands at {at}, not at {floor}"))
            }
        }
    }
}

fn not_served(landing: &Landing) -> String {
    format!("the car has no landing {landing}")
}
