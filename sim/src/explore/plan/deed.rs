//! What may be done in a plan.

use protocol::hardware::Mode;
use protocol::robot::RobotEvent;
use serde::{Deserialize, Serialize};

use crate::world::broker::Weather;
use crate::world::robot::Habits;
use crate::world::trouble::Side;

/// One thing that is done. Robots, elevators and floors are indices.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Deed {
    /// A robot, or the next that is idle, asks for a ride from where it stands.
    Ride {
        /// Which.
        robot: u16,
        /// To where; the next floor where it stands there.
        to: u16,
        /// Where it says that it stands; elsewhere.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        from: Option<u16>,
        /// Seconds until it is at the door.
        eta_s: u32,
        /// 0 to 9.
        priority: u8,
        /// The one elevator that it wants.
        only: Option<u16>,
        /// How it behaves on this ride.
        habits: Box<Habits>,
    },
    /// A robot does something that is not in its rules, or something happens to it.
    Robot {
        /// Which.
        robot: u16,
        /// What.
        what: RobotDeed,
    },
    /// Something happens to an elevator, and is over after a while.
    Elevator {
        /// Which.
        elevator: u16,
        /// What.
        what: CarDeed,
        /// For so long.
        span_ms: u64,
    },
    /// Something happens around the gateway, and is over after a while.
    Gateway {
        /// What.
        what: GatewayDeed,
        /// For so long.
        span_ms: u64,
    },
    /// The fire signal of a zone.
    Fire {
        /// The second zone.
        annex: bool,
        /// The fire input, where there is one; else the cars' modes.
        wire: bool,
        /// For so long.
        span_ms: u64,
    },
    /// An operator does what nothing calls for.
    Operator(OperatorDeed),
}

/// What a robot may do, or what may happen to it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RobotDeed {
    /// It gives its ride up.
    Cancels,
    /// It says something out of order.
    Says(RobotEvent),
    /// It says again what it said so many messages ago.
    RepeatsOld(u8),
    /// It says its status so often at once.
    Storms(u16),
    /// It says that it is in a car, or not, whatever is true.
    LiesInCar(bool),
    /// It asks for another order while it has one, or for the same one otherwise.
    AsksBeside {
        /// The same order id with another target.
        same: bool,
    },
    /// It asks with a clock that is so far ahead.
    AsksAhead(i64),
    /// It has no radio for so long.
    LosesRadio(u64),
    /// Another client connects with its id and leaves.
    TakenOver,
    /// It dies.
    Dies,
    /// It starts anew.
    Reboots,
    /// It stands still for so long, and goes on with what came meanwhile.
    Freezes(u64),
    /// Its will comes though it lives.
    EarlyWill,
}

/// What may happen to an elevator.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CarDeed {
    /// The controller answers up to so much late.
    Slow(u64),
    /// It neither hears nor speaks.
    Silent,
    /// It does what it is told and says nothing.
    Mute,
    /// It says everything twice.
    Stutters,
    /// It refuses the next commands of a word.
    Refuses {
        /// The word.
        word: String,
        /// So often.
        times: u32,
    },
    /// It takes so many calls and forgets them.
    ForgetsCalls(u32),
    /// It restarts after the span.
    Restarts,
    /// It has no power for the span.
    NoPower,
    /// The door does not open.
    StuckClosed,
    /// The door does not close.
    StuckOpen,
    /// The door opens again so often instead of closing.
    Reopens(u32),
    /// The car does not leave, or stands between floors.
    Stuck,
    /// The next trip ends at another floor.
    WrongFloor(i32),
    /// A floor is shown that is so many off.
    FloorsOff(i32),
    /// What is shown does not change any more.
    Frozen,
    /// Door signals are up to so much late.
    DoorLag(u64),
    /// The presence signal is stuck.
    Presence(bool),
    /// The mode cannot be read.
    ModeUnreadable,
    /// The calls cannot be read.
    CallsUnreadable,
    /// The controller shows a fault.
    ShowsFault,
    /// The mode.
    Mode(Mode),
    /// Somebody presses a hall button.
    HallCall(u16),
    /// So many people ride along.
    People(u32),
    /// Somebody inside presses the button that closes.
    ClosePressed,
    /// The way to the controller breaks.
    LinkLost,
    /// The controller's clock is so far ahead.
    ClockOff(i64),
}

/// What may happen around the gateway.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GatewayDeed {
    /// The broker is down, and then has its memory or not.
    BrokerDown {
        /// Its memory is lost.
        forgets: bool,
    },
    /// One connection is away.
    LinkCut(Side),
    /// One connection is not read.
    LinkStalls(Side),
    /// Messages fare badly.
    Weather(Weather),
    /// Its will comes though it lives.
    EarlyWill,
    /// Somebody publishes what nobody should.
    Junk(u8),
    /// The process is killed, and again while it recovers.
    Killed {
        /// Twice.
        twice: bool,
    },
    /// The power goes.
    PowerCut {
        /// Twice.
        twice: bool,
    },
    /// The process is killed and a record that was synced is altered.
    RecordAltered,
    /// So many syncs fail.
    SyncFails(u32),
    /// All writing fails.
    DiskFails,
    /// Space is low.
    DiskLow,
    /// A sync takes so long.
    DiskSlow(u64),
    /// The wall clock is so far off.
    WallClock(i64),
    /// The process stands still; its clock too or not.
    Stalls {
        /// Its clock too.
        clock: bool,
    },
}

/// What operators do that nothing calls for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OperatorDeed {
    /// Cancels a robot's order.
    Cancels(u16),
    /// Resolves an elevator with the order of a robot, whatever it is.
    Resolves {
        /// The elevator.
        elevator: u16,
        /// The robot.
        robot: u16,
        /// To go on.
        on: bool,
    },
    /// Resets an elevator, whatever it is.
    Resets(u16),
    /// Ends whatever an elevator is in, without a reading.
    Forces(u16),
    /// Takes an elevator out of use for so long.
    Maintains(u16, u64),
    /// Suspends the site for so long.
    Suspends(u64),
    /// Resumes the site.
    Resumes,
}
