//! Where a robot's wheels stand: what it can do and see without a word of the gateway.

use std::sync::Arc;
use std::time::Duration;

use protocol::hardware::Reading;
use protocol::{ElevatorId, RobotId};
use tokio::sync::watch;

use super::errand::{Errand, Threshold};
use crate::live::building::{Building, UnknownCar};
use crate::live::pace::Pace;
use crate::live::truth::{Ask, Reach, TruthError};
use crate::record::Entry;

/// Between two looks at a car of a building elsewhere, in the building's milliseconds.
const LOOK_EVERY_MS: u64 = 500;

/// The building that a robot drives in.
#[derive(Debug, Clone)]
pub enum Ground {
    /// In this process.
    Here(Arc<Building>),
    /// In another process, over its truth channel.
    There(Reach, Pace),
    /// A real building: every crossing succeeds, and no door is seen.
    Unseen(Pace),
}

/// Why the ground does not answer.
#[derive(Debug, thiserror::Error)]
pub enum GroundError {
    /// There is no such car.
    #[error(transparent)]
    Unknown(#[from] UnknownCar),
    /// The truth channel failed.
    #[error(transparent)]
    Truth(#[from] TruthError),
}

/// A robot's eyes for one car.
#[derive(Debug)]
pub(super) enum Sight {
    /// Told at each change.
    Told(watch::Receiver<Reading>),
    /// It has to look.
    Looks(Reach, ElevatorId, Duration),
}

impl Ground {
    /// How fast the building's time runs.
    #[must_use]
    pub fn pace(&self) -> &Pace {
        match self {
            Self::Here(building) => building.pace(),
            Self::There(_, pace) | Self::Unseen(pace) => pace,
        }
    }

    /// Tells the record that a robot was given an order.
    pub(super) async fn starts(&self, robot: &RobotId, errand: &Errand) -> Result<(), GroundError> {
        match self {
            Self::Here(building) => building.note(Entry::Asked {
                robot: robot.clone(),
                order: errand.order.clone(),
                from: errand.from.clone(),
                to: errand.to.clone(),
            }),
            Self::There(reach, _) => {
                reach.ask(&Ask::starts(robot, errand)).await?;
            }
            Self::Unseen(_) => {}
        }
        Ok(())
    }

    pub(super) async fn begin(&self, robot: &RobotId, at: &Threshold) -> Result<bool, GroundError> {
        Ok(match self {
            Self::Here(building) => building.begin_crossing(robot, at)?,
            Self::There(reach, _) => reach.ask(&Ask::begins(robot, at)).await?.done,
            Self::Unseen(_) => true,
        })
    }

    pub(super) async fn end(&self, robot: &RobotId, at: &Threshold) -> Result<bool, GroundError> {
        Ok(match self {
            Self::Here(building) => building.end_crossing(robot, at)?,
            Self::There(reach, _) => reach.ask(&Ask::ends(robot, at)).await?.done,
            Self::Unseen(_) => true,
        })
    }

    /// Eyes for a car; `None` where nothing can be seen.
    pub(super) fn sight(&self, elevator: &ElevatorId) -> Result<Option<Sight>, GroundError> {
        Ok(match self {
            Self::Here(building) => Some(Sight::Told(building.sight(elevator)?)),
            Self::There(reach, pace) => {
                let every = pace.ours(LOOK_EVERY_MS);
                Some(Sight::Looks(reach.clone(), elevator.clone(), every))
            }
            Self::Unseen(_) => None,
        })
    }
}

impl Sight {
    /// Whether every door of the car is closed.
    pub(super) async fn is_shut(&mut self) -> Result<bool, GroundError> {
        Ok(match self {
            Self::Told(sight) => sight.borrow_and_update().is_shut(),
            Self::Looks(reach, elevator, _) => reach.ask(&Ask::looks(elevator)).await?.shut,
        })
    }

    /// Waits until it is worth to look again. Cancel safe.
    pub(super) async fn changed(&mut self) {
        match self {
            Self::Told(sight) => {
                if sight.changed().await.is_err() {
                    // The building is gone; there is nothing more to see.
                    std::future::pending::<()>().await;
                }
            }
            Self::Looks(_, _, every) => tokio::time::sleep(*every).await,
        }
    }
}
