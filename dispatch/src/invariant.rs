//! The laws as code: what must hold after every step, looked at in tests and in exploration.

use protocol::ride::{Instruction, RideState};

use crate::core::Core;
use crate::live::Live;
use crate::state::{Ride, State};

impl Core {
    /// What of the laws does not hold at this moment, one sentence each; empty when all do.
    ///
    /// Not called by the gateway itself: it costs a look at everything that is known.
    #[must_use]
    pub fn broken_laws(&self) -> Vec<String> {
        let mut broken = Vec::new();
        owners(self.state(), &mut broken);
        rides(self.state(), self.live(), &mut broken);
        robots(self.state(), &mut broken);
        broken
    }
}

/// Law 1: one elevator, one order; and each order that needs one has one.
fn owners(state: &State, broken: &mut Vec<String>) {
    for (id, elevator) in &state.elevators {
        let Some(owner) = &elevator.owner else {
            if elevator.kept.is_some() {
                broken.push(format!("{id} is kept back for nobody"));
            }
            continue;
        };
        if owner.fence > elevator.fence {
            broken.push(format!(
                "{id}: the owner's fence is above the highest given"
            ));
        }
        if elevator.kept.is_some() {
            continue;
        }
        let holds = state.rides.get(&owner.order).is_some_and(|ride| {
            ride.elevator.as_ref() == Some(id)
                && ride.fence == Some(owner.fence)
                && needs_elevator(ride.state)
        });
        if !holds {
            broken.push(format!(
                "{id} is owned by {}, which does not ride it",
                owner.order
            ));
        }
    }
}

/// Laws 1 and 2, seen from the rides.
fn rides(state: &State, live: &Live, broken: &mut Vec<String>) {
    for (order, ride) in &state.rides {
        let owned = ride.elevator.as_ref().is_some_and(|id| {
            state.elevators.get(id).is_some_and(|elevator| {
                elevator.kept.is_none()
                    && elevator
                        .owner
                        .as_ref()
                        .is_some_and(|owner| &owner.order == order)
            })
        });
        if needs_elevator(ride.state) && !owned {
            broken.push(format!("{order} is {} without its elevator", ride.state));
        }
        if ride.inside && !may_be_inside(ride.state) {
            broken.push(format!(
                "{order} is {} with a robot that may be inside",
                ride.state
            ));
        }
        if !fits(ride) {
            broken.push(format!(
                "{order} is {} with {}",
                ride.state, ride.instruction
            ));
        }
        if (ride.state == RideState::Queued) != live.queued.contains(order) {
            broken.push(format!("{order} is {} and the queue disagrees", ride.state));
        }
        if ride.state.is_terminal() == live.rides.contains_key(order) {
            broken.push(format!(
                "{order} is {} and its progress disagrees",
                ride.state
            ));
        }
    }
}

/// One robot, one live ride; every ride that is shown is remembered.
fn robots(state: &State, broken: &mut Vec<String>) {
    for (order, ride) in &state.rides {
        if state.robots.get(&ride.robot) != Some(order) {
            broken.push(format!("{order} is not the order of {}", ride.robot));
        }
        if state.ledger.find(order).is_none() && !ride.state.is_terminal() {
            broken.push(format!("{order} lives and is not remembered"));
        }
    }
}

fn needs_elevator(state: RideState) -> bool {
    match state {
        RideState::Granted
        | RideState::WaitingHallCall
        | RideState::ElevatorArrived
        | RideState::RobotEntered
        | RideState::Running
        | RideState::TargetArrived
        | RideState::Hold => true,
        RideState::Queued
        | RideState::RobotExited
        | RideState::Cancelled
        | RideState::Expired
        | RideState::Failed => false,
    }
}

fn may_be_inside(state: RideState) -> bool {
    match state {
        RideState::ElevatorArrived
        | RideState::RobotEntered
        | RideState::Running
        | RideState::TargetArrived
        | RideState::Hold => true,
        RideState::Queued
        | RideState::Granted
        | RideState::WaitingHallCall
        | RideState::RobotExited
        | RideState::Cancelled
        | RideState::Expired
        | RideState::Failed => false,
    }
}

/// The instruction is one that `wire.md` section 4 lists for the state.
fn fits(ride: &Ride) -> bool {
    let word = ride.instruction;
    match ride.state {
        RideState::Queued => word == Instruction::Wait,
        RideState::Granted | RideState::WaitingHallCall => word == Instruction::Approach,
        RideState::ElevatorArrived => {
            matches!(
                word,
                Instruction::Enter | Instruction::Approach | Instruction::Stay
            )
        }
        RideState::RobotEntered | RideState::Running => word == Instruction::Ride,
        RideState::TargetArrived | RideState::Hold => {
            matches!(word, Instruction::Exit | Instruction::Stay)
        }
        RideState::RobotExited | RideState::Cancelled | RideState::Expired | RideState::Failed => {
            word == Instruction::Clear
        }
    }
}
