//! Everything that can happen to the core. One input, one step.

use protocol::client::{ClientRequest, TokenKey};
use protocol::device::DeviceEvent;
use protocol::hardware::Report;
use protocol::{
    ClaimId, ClientId, DepartmentId, DeviceId, ElevatorId, Fence, Inbound, OrderId, PoolId,
    Refusal, RentalId, ResourceId, RobotId, RobotMessage, SeriesId, Timestamp, ZoneId,
};
use serde::{Deserialize, Serialize};

/// The moment of a step. The core has no other clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Now {
    /// Milliseconds of a clock that never goes back, from any origin; every wait counts on it.
    pub mono_ms: u64,
    /// The wall clock, for records and for what people read.
    pub wall: Timestamp,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Input {
    /// The gateway starts; the first input of a process, after the state was restored.
    Start {
        /// The data directory was restored from a backup.
        restored: bool,
    },
    /// A robot said something.
    Robot {
        /// Who.
        robot: RobotId,
        /// What.
        message: RobotMessage,
    },
    /// An application asked for something.
    Client {
        /// Who.
        client: ClientId,
        /// What.
        request: Box<ClientRequest>,
    },
    /// What tokens of rentals are made with; in no record of inputs, so that whoever reads one
    /// can make none.
    TokenKey(#[serde(skip)] Option<TokenKey>),
    /// A device that is rented said something.
    Device {
        /// Who.
        device: DeviceId,
        /// What.
        event: DeviceEvent,
    },
    /// A robot's or an application's topic carried something that cannot be read.
    Unreadable(Refusal),
    /// A driver has something to say.
    Report {
        /// About which elevator.
        elevator: ElevatorId,
        /// What.
        report: Report,
    },
    /// A zone's fire input was read, or could not be.
    ZoneFire {
        /// Which zone.
        zone: ZoneId,
        /// Read, and clear. A signal that cannot be read is not clear.
        clear: bool,
    },
    /// The broker still showed a ride state of ours from before this start.
    OwnRide {
        /// Whose.
        robot: RobotId,
        /// Which order it names.
        order: OrderId,
        /// Whether it was at its end.
        terminal: bool,
    },
    /// The broker still showed an elevator state of ours from before this start.
    OwnElevator {
        /// Which elevator.
        elevator: ElevatorId,
        /// The fence that it names.
        fence: Fence,
    },
    /// The ingest connection to the broker opened or closed.
    Broker {
        /// Whether it is open, with every subscription granted.
        up: bool,
    },
    /// A bus opened or closed.
    Bus {
        /// Its name in the configuration.
        bus: String,
        /// Whether it is open.
        up: bool,
    },
    /// Space for the journal fell below 64 MiB, or is there again.
    Disk {
        /// Whether it is low.
        low: bool,
    },
    /// The embedded broker listens beyond loopback.
    Insecure,
    /// The gateway ends: no new orders, no new grants, no new permission.
    Stopping,
    /// An operator asks for something.
    Operator(OperatorRequest),
    /// Nothing but time.
    Tick,
}

impl Input {
    /// The input that a message of the wire is; `None` for those that the shell deals with itself:
    /// a controller's event goes through its driver, a gateway's presence to the instance check.
    #[must_use]
    pub fn from_wire(inbound: Inbound) -> Option<Self> {
        match inbound {
            Inbound::Robot { robot, message } => Some(Self::Robot { robot, message }),
            Inbound::Client { client, request } => Some(Self::Client { client, request }),
            Inbound::Device { device, event } => Some(Self::Device { device, event }),
            Inbound::OwnRide {
                robot,
                order,
                terminal,
            } => Some(Self::OwnRide {
                robot,
                order,
                terminal,
            }),
            Inbound::OwnElevator { elevator, fence } => Some(Self::OwnElevator { elevator, fence }),
            Inbound::Controller { .. } | Inbound::Gateway { .. } => None,
        }
    }
}

/// How an operator says that a HOLD ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ResolveOutcome {
    /// The robot is out of the car.
    RobotOut,
    /// The ride goes on.
    Continue,
}

/// What an operator wants (`ride.md` section 4).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum OperatorAction {
    /// All elevators.
    ElevatorList,
    /// One elevator.
    ElevatorShow(ElevatorId),
    /// All live orders.
    OrderList,
    /// One order.
    OrderShow(OrderId),
    /// End a ride that waits.
    OrderCancel(OrderId),
    /// End a HOLD.
    ElevatorResolve {
        /// The elevator.
        elevator: ElevatorId,
        /// The order that holds it; named so that no other is hit.
        order: OrderId,
        /// How it ended.
        outcome: ResolveOutcome,
        /// The operator saw that the car is empty.
        car_seen_empty: bool,
        /// There is no reading to be had.
        force: bool,
    },
    /// End a BLOCK or a kept-back elevator.
    ElevatorReset {
        /// The elevator.
        elevator: ElevatorId,
        /// The operator saw that the car is empty.
        car_seen_empty: bool,
        /// There is no reading to be had.
        force: bool,
    },
    /// Take an elevator out of use or give it back.
    ElevatorMaintenance {
        /// The elevator.
        elevator: ElevatorId,
        /// Out of use, or back.
        on: bool,
    },
    /// All series.
    SeriesList,
    /// One series.
    SeriesShow(SeriesId),
    /// A series that was stopped gives numbers again.
    SeriesResume {
        /// The series.
        series: SeriesId,
        /// The last number that stands on a device; `None` = the last one that is known here.
        last: Option<u64>,
    },
    /// All departments.
    TurnList,
    /// One department.
    TurnShow(DepartmentId),
    /// All pools.
    PoolList,
    /// One pool.
    PoolShow(PoolId),
    /// Change the capacity of a pool; nobody is evicted.
    PoolCapacity {
        /// The pool.
        pool: PoolId,
        /// Its places.
        capacity: u64,
    },
    /// All claims that have not ended.
    ClaimList,
    /// The claims that ended last.
    ClaimHistory,
    /// One claim.
    ClaimShow(ClaimId),
    /// A resource in quarantine was seen stopped.
    ClaimStopped {
        /// The pool.
        pool: PoolId,
        /// The resource.
        resource: ResourceId,
    },
    /// All open rentals.
    RentalList,
    /// One rental, open or lately over.
    RentalShow(RentalId),
    /// All devices.
    DeviceList,
    /// Take a device out of use or give it back.
    DeviceMaintenance {
        /// The device.
        device: DeviceId,
        /// Out of use, or back.
        on: bool,
    },
    /// No grants any more.
    SiteSuspend {
        /// In this zone; `None` = in all.
        zone: Option<ZoneId>,
    },
    /// Grants again; also ends a latched fire.
    SiteResume {
        /// In this zone; `None` = in all.
        zone: Option<ZoneId>,
    },
}

/// An operator's request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OperatorRequest {
    /// Comes back with the answer.
    pub ticket: u64,
    /// Who, at most 64 bytes.
    pub operator: String,
    /// Why, at most 256 bytes.
    pub reason: String,
    /// What.
    pub action: OperatorAction,
}
