//! What follows from deeds.

use protocol::{ElevatorId, RobotId};

use crate::world::trouble::Side;

/// What follows from a deed.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Then {
    RobotConnects(RobotId),
    BrokerUp,
    Link(Side),
    GoodWeather,
    Start,
    KillAndStart(u64),
    StartAltered,
    CarIsWell(ElevatorId),
    ModeNormal(ElevatorId),
    PeopleLeave(ElevatorId),
    LinkUp(ElevatorId),
    Restarts(ElevatorId),
    FireOver { annex: bool, wire: bool },
    SyncMs(u64),
    DiskWell,
    DiskSpace,
    WallClock,
    InUse(ElevatorId),
    Resume,
}

impl Then {
    /// Whether a process starts by it.
    pub(super) fn starts(&self) -> bool {
        matches!(
            self,
            Self::Start | Self::KillAndStart(_) | Self::StartAltered
        )
    }
}
