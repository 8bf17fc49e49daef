//! ELEVATOR_ARRIVED after `entry_s`: NOSHOW is waited for, or the ride is held.

use protocol::ops::Presence;
use protocol::ride::Instruction;
use protocol::{ElevatorId, ReasonCode};

use super::Afterwards;
use crate::fact::KeptUntil;
use crate::state::Ride;
use crate::step::{Step, reason};

impl Step<'_> {
    /// `entry_s` is over: the permission ends, the door shuts by itself.
    pub(super) fn entry_is_over(&mut self, ride: &Ride, elevator: &ElevatorId) {
        self.release_hold(elevator);
        if !ride.inside {
            let detail = format!("{} did not come to the door in time", ride.robot);
            let until = Afterwards::Keep(KeptUntil::Shut);
            self.fail(&ride.order, ReasonCode::BoardingTimeout, &detail, until);
            return;
        }
        let presence = self.elevator_config(elevator).map(|config| config.presence);
        if presence.is_none_or(|presence| presence == Presence::None) {
            self.hold_for_no_show(ride);
            return;
        }
        let hold_ms = self
            .elevator_config(elevator)
            .map_or(0, |config| config.hold_max_ms);
        let span_ms = hold_ms.saturating_add(self.config.timing.door_close_ms.saturating_mul(2));
        let now_ms = self.now.mono_ms;
        if let Some(progress) = self.progress(&ride.order) {
            progress.entry_over = true;
            progress.deadline_ms = Some(now_ms.saturating_add(span_ms));
        }
        self.explain_stay(ride);
    }

    fn explain_stay(&mut self, ride: &Ride) {
        let detail = format!("{} did not enter in time", ride.robot);
        let why = reason(ReasonCode::BoardingTimeout, detail);
        self.explain(&ride.order, Instruction::Stay, why);
    }

    fn hold_for_no_show(&mut self, ride: &Ride) {
        let detail = format!("{} did not enter in time, and may be inside", ride.robot);
        self.hold(&ride.order, ReasonCode::BoardingTimeout, &detail);
    }

    /// NOSHOW: the permission ran out, the hold is released, SHUT, then EMPTY while SHUT.
    pub(super) fn await_no_show(&mut self, ride: &Ride, elevator: &ElevatorId) {
        let Some(progress) = self.live.rides.get(&ride.order) else {
            return;
        };
        let valid_ms = self.config.timing.valid_ms;
        let permitted = progress
            .permitted_ms
            .saturating_add(valid_ms.saturating_mul(2));
        let over = self.now.mono_ms >= permitted;
        let shut = self
            .read(elevator, permitted)
            .is_some_and(|reading| reading.is_shut() && reading.occupied == Some(false));
        if over && mutate!(NoShowUnseen, shut && !self.says_in_car(&ride.robot), true) {
            let detail = format!("{} did not enter, the car is empty", ride.robot);
            self.fail(
                &ride.order,
                ReasonCode::BoardingTimeout,
                &detail,
                Afterwards::Free,
            );
        } else if self.is_late(&ride.order) {
            self.hold_for_no_show(ride);
        }
    }
}
