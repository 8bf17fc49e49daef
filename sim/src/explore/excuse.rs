//! What is not judged, as narrowly as can be: whoever lies or does not ask can only hurt himself,
//! and nobody sees through a signal that lies.

use std::collections::BTreeMap;

use protocol::{ElevatorId, OrderId, RobotId};

use super::attendant::Attendant;
use crate::record::Violation;
use crate::world::World;

/// A signal lied: whoever was misled needs so long to be out of the way.
const MISLED_MS: u64 = 120_000;

/// Who is not judged.
#[derive(Debug, Default)]
pub(super) struct Excuses {
    /// Elevators whose signals lie, or lied until then.
    lying: BTreeMap<ElevatorId, u64>,
}

impl Excuses {
    /// The signals of an elevator lie until then.
    pub(super) fn lies(&mut self, elevator: &ElevatorId, until_ms: u64) {
        let until_ms = until_ms.saturating_add(MISLED_MS);
        let lies = self.lying.entry(elevator.clone()).or_default();
        *lies = (*lies).max(until_ms);
    }

    /// Whether a violation is one that the promise does not cover.
    pub(super) fn excuse(
        &self,
        world: &World,
        attendant: &Attendant,
        violation: &Violation,
    ) -> bool {
        let offended =
            |robot: &RobotId| world.robot(robot).is_some_and(|robot| robot.has_offended());
        let lied = |elevator: &ElevatorId| {
            let until_ms = self.lying.get(elevator);
            until_ms.is_some_and(|until_ms| world.now_ms() <= *until_ms)
        };
        let forced = |order: &OrderId| attendant.has_forced(order);
        match violation {
            Violation::TwoRobots {
                elevator,
                first,
                second,
            } => offended(first) || offended(second) || lied(elevator),
            Violation::ForeignCommand {
                elevator, robot, ..
            } => offended(robot) || lied(elevator),
            Violation::ClosedOnRobot { elevator, robot }
            | Violation::CrossedUnopened {
                elevator, robot, ..
            }
            | Violation::MovedFromDoorway { elevator, robot } => offended(robot) || lied(elevator),
            Violation::EndedWhileInside {
                elevator,
                robot,
                order,
                ..
            } => offended(robot) || lied(elevator) || forced(order),
            Violation::FenceWentBack { .. }
            | Violation::TwoOwners { .. }
            | Violation::FenceNotNew { .. } => false,
        }
    }
}
