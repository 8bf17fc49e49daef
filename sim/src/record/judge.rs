//! What must never happen, judged from what cars, controllers and robots saw.

use std::collections::BTreeSet;

use protocol::hardware::{Action, Command, Door};
use protocol::ride::RideState;
use protocol::{CommandId, ElevatorId, Fence, OrderId, RobotId};

use crate::car::CarEvent;

/// Something that must never happen.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Violation {
    /// Two robots in one car (law 1).
    #[error("{elevator}: {second} came in while {first} was inside")]
    TwoRobots {
        /// The car.
        elevator: ElevatorId,
        /// Who was there.
        first: RobotId,
        /// Who came.
        second: RobotId,
    },
    /// A command with a lower fence than one received before (law 3).
    #[error("{elevator}: command {command} has fence {fence} after {highest}")]
    FenceWentBack {
        /// The car.
        elevator: ElevatorId,
        /// The command.
        command: CommandId,
        /// Its fence.
        fence: Fence,
        /// The highest before it.
        highest: Fence,
    },
    /// A command of another order while a robot was in the car or on its threshold (law 1).
    #[error("{elevator}: command {command} of {order} while {robot} was inside")]
    ForeignCommand {
        /// The car.
        elevator: ElevatorId,
        /// The command.
        command: CommandId,
        /// Whose command.
        order: OrderId,
        /// Who was there.
        robot: RobotId,
    },
    /// The door was told to close on a robot on the threshold (law 9).
    #[error("{elevator}: close_door while {robot} was in the doorway")]
    ClosedOnRobot {
        /// The car.
        elevator: ElevatorId,
        /// Who was there.
        robot: RobotId,
    },
    /// A robot crossed where no door stood open.
    #[error(
        "{elevator}: {robot} crossed, the door was {door} and the car {}",
        if *level { "there" } else { "elsewhere" }
    )]
    CrossedUnopened {
        /// The car.
        elevator: ElevatorId,
        /// Who.
        robot: RobotId,
        /// What the door did.
        door: Door,
        /// Whether the car stood there.
        level: bool,
    },
    /// The car left while a robot stood on the threshold.
    #[error("{elevator}: left with {robot} in the doorway")]
    MovedFromDoorway {
        /// The car.
        elevator: ElevatorId,
        /// Who.
        robot: RobotId,
    },
    /// The gateway said that a ride is over while its robot was in the car (law 2).
    #[error("{elevator}: {order} was told {state} while {robot} was inside")]
    EndedWhileInside {
        /// The car.
        elevator: ElevatorId,
        /// Who.
        robot: RobotId,
        /// The order.
        order: OrderId,
        /// What was said.
        state: RideState,
    },
    /// Two orders were told that the same elevator is theirs at one time (law 1).
    #[error("{elevator}: {second} owned it while {first} did")]
    TwoOwners {
        /// The car.
        elevator: ElevatorId,
        /// Whose it was.
        first: OrderId,
        /// Who was told the same.
        second: OrderId,
    },
    /// A grant whose fence is not higher than that of another order before it (law 3).
    #[error("{elevator}: {order} got fence {fence} after {highest}")]
    FenceNotNew {
        /// The car.
        elevator: ElevatorId,
        /// The order.
        order: OrderId,
        /// Its fence.
        fence: Fence,
        /// The highest before it.
        highest: Fence,
    },
}

/// What is true of one car.
#[derive(Debug, Clone, Default)]
pub(super) struct CarTruth {
    inside: BTreeSet<RobotId>,
    doorway: BTreeSet<RobotId>,
    /// The highest fence that its controller received.
    commanded: Fence,
    /// The order that was told last that it owns the car, until it is told otherwise.
    owner: Option<OrderId>,
    /// The highest fence that was told, and to which order.
    granted: Option<(Fence, OrderId)>,
}

impl CarTruth {
    /// Whether the robot is in the car.
    pub(super) fn holds(&self, robot: &RobotId) -> bool {
        self.inside.contains(robot)
    }

    pub(super) fn event(&mut self, elevator: &ElevatorId, event: &CarEvent) -> Option<Violation> {
        let elevator = elevator.clone();
        match event {
            CarEvent::InDoorway { robot } => {
                self.doorway.insert(robot.clone());
            }
            CarEvent::OffDoorway { robot } => {
                self.doorway.remove(robot);
            }
            CarEvent::Entered { robot, .. } => {
                self.doorway.remove(robot);
                let first = self.inside.iter().find(|other| *other != robot).cloned();
                self.inside.insert(robot.clone());
                let second = robot.clone();
                return first.map(|first| Violation::TwoRobots {
                    elevator,
                    first,
                    second,
                });
            }
            CarEvent::Left { robot, .. } => {
                self.doorway.remove(robot);
                self.inside.remove(robot);
            }
            CarEvent::CrossedUnopened { robot, door, level } => {
                let (robot, door, level) = (robot.clone(), *door, *level);
                return Some(Violation::CrossedUnopened {
                    elevator,
                    robot,
                    door,
                    level,
                });
            }
            CarEvent::MovedFromDoorway { robot } => {
                return Some(Violation::MovedFromDoorway {
                    elevator,
                    robot: robot.clone(),
                });
            }
            CarEvent::Called { .. }
            | CarEvent::CallCleared { .. }
            | CarEvent::Departed { .. }
            | CarEvent::Passed { .. }
            | CarEvent::Arrived { .. }
            | CarEvent::Door { .. }
            | CarEvent::Mode(_) => {}
        }
        None
    }

    pub(super) fn command<'a>(
        &mut self,
        command: &Command,
        order_of: impl Fn(&RobotId) -> Option<&'a OrderId>,
    ) -> Vec<Violation> {
        let mut found = Vec::new();
        let elevator = command.elevator_id.clone();
        if command.fence < self.commanded {
            found.push(Violation::FenceWentBack {
                elevator: elevator.clone(),
                command: command.command_id.clone(),
                fence: command.fence,
                highest: self.commanded,
            });
        }
        self.commanded = self.commanded.max(command.fence);
        let present = self.inside.iter().chain(&self.doorway);
        if let Some(order) = &command.order_id {
            let others = present.filter(|robot| order_of(robot) != Some(order));
            found.extend(others.map(|robot| Violation::ForeignCommand {
                elevator: elevator.clone(),
                command: command.command_id.clone(),
                order: order.clone(),
                robot: robot.clone(),
            }));
        }
        if matches!(command.action, Action::CloseDoor { .. }) {
            found.extend(self.doorway.iter().map(|robot| Violation::ClosedOnRobot {
                elevator: elevator.clone(),
                robot: robot.clone(),
            }));
        }
        found
    }

    /// An order was told that the car is its own.
    pub(super) fn owned(
        &mut self,
        elevator: &ElevatorId,
        order: &OrderId,
        fence: Fence,
    ) -> Vec<Violation> {
        let mut found = Vec::new();
        if let Some(first) = self.owner.as_ref().filter(|owner| *owner != order) {
            found.push(Violation::TwoOwners {
                elevator: elevator.clone(),
                first: first.clone(),
                second: order.clone(),
            });
        }
        self.owner = Some(order.clone());
        match &self.granted {
            Some((highest, other)) if other != order && fence <= *highest => {
                found.push(Violation::FenceNotNew {
                    elevator: elevator.clone(),
                    order: order.clone(),
                    fence,
                    highest: *highest,
                });
            }
            Some((highest, _)) if fence < *highest => {}
            Some(_) | None => self.granted = Some((fence, order.clone())),
        }
        found
    }

    /// An order was told that it is over, queued again, or has another car.
    pub(super) fn disowned(&mut self, order: &OrderId) {
        if self.owner.as_ref() == Some(order) {
            self.owner = None;
        }
    }
}
