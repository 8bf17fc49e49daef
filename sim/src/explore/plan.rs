//! A plan: a site, its robots, and every deed of a run with its moment. The same plan, the same
//! run; each deed can be left out without changing the chance of the others.

use std::fmt::Write as _;

use dispatch::Timing;
use protocol::hardware::Mode;
use protocol::ops::Presence;
use protocol::robot::RobotEvent;
use serde::{Deserialize, Serialize};

use super::attendant::Manner;
use super::fault::Fault;
use crate::world::broker::Weather;
use crate::world::robot::Habits;
use crate::world::trouble::Side;

/// A run as a whole.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Where it comes from; the chance inside the world comes from it too.
    pub seed: u64,
    /// The site.
    pub site: Site,
    /// The floor at which each robot begins, as an index.
    pub robots: Vec<u16>,
    /// How those behave who look after the elevators.
    pub manner: Manner,
    /// When requests and faults end, in milliseconds.
    pub until_ms: u64,
    /// What is done, each with its moment, in order.
    pub deeds: Vec<(u64, Deed)>,
}

/// A site.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Site {
    /// Floors.
    pub floors: u16,
    /// The elevators.
    pub elevators: Vec<Lift>,
    /// The waits that are drawn.
    pub waits: Waits,
    /// Milliseconds to and from the broker.
    pub latency_ms: u64,
    /// Milliseconds of a sync.
    pub sync_ms: u64,
    /// Whether each zone has a fire input.
    pub fire_inputs: bool,
}

/// An elevator.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Lift {
    /// Its presence signal.
    pub presence: Presence,
    /// In the second zone.
    pub annex: bool,
    /// Whether it is claimed for robots.
    pub claim: bool,
    /// Whether it has a mode signal.
    pub mode_signal: bool,
    /// How long one hold lasts.
    pub hold_max_ms: u64,
    /// Whether its controller tells changes unasked.
    pub tells: bool,
    /// Where it goes in a fire, as an index.
    pub recall: Option<u16>,
    /// The highest floors that it does not serve.
    pub not_served: u16,
    /// To the controller and back.
    pub hop_ms: (u64, u64),
}

/// The waits that are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waits {
    /// `poll_s`.
    pub poll_ms: u64,
    /// `silent_s`.
    pub silent_ms: u64,
    /// `lease_s`.
    pub lease_ms: u64,
    /// `entry_s` and `exit_s`.
    pub door_ms: u64,
    /// `valid_s`.
    pub valid_ms: u64,
    /// `promote_s`.
    pub promote_ms: u64,
    /// `reading_fresh_s`.
    pub fresh_ms: u64,
    /// `sweep_s`.
    pub sweep_ms: u64,
}

impl Waits {
    /// All waits of the site.
    #[must_use]
    pub fn timing(&self) -> Timing {
        Timing {
            poll_ms: self.poll_ms,
            silent_ms: self.silent_ms,
            lease_ms: self.lease_ms,
            entry_ms: self.door_ms,
            exit_ms: self.door_ms,
            valid_ms: self.valid_ms,
            promote_ms: self.promote_ms,
            reading_fresh_ms: self.fresh_ms,
            sweep_ms: self.sweep_ms,
            ..Timing::default()
        }
    }
}

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
    /// Somebody carries dead and stranded robots out.
    Rescue,
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

impl Plan {
    /// As text: the head in the first line, then one deed a line.
    #[must_use]
    pub fn to_text(&self) -> String {
        let head = Self {
            deeds: Vec::new(),
            ..self.clone()
        };
        let mut text = json(&head);
        text.push('\n');
        for deed in &self.deeds {
            let _ = writeln!(text, "{}", json(deed));
        }
        text
    }

    /// Reads such a text.
    ///
    /// # Errors
    /// The line that cannot be read, and why.
    pub fn from_text(text: &str) -> Result<Self, String> {
        let mut lines = (1..).zip(text.lines()).filter(|(_, line)| {
            let line = line.trim();
            !line.is_empty() && !line.starts_with('#')
        });
        let wrong = |number: usize, error: serde_json::Error| format!("line {number}: {error}");
        let (number, head) = lines.next().ok_or("the plan is empty")?;
        let mut plan: Self = serde_json::from_str(head).map_err(|error| wrong(number, error))?;
        for (number, line) in lines {
            plan.deeds
                .push(serde_json::from_str(line).map_err(|error| wrong(number, error))?);
        }
        plan.check()?;
        Ok(plan)
    }

    /// Whether every index of it names something.
    fn check(&self) -> Result<(), String> {
        if self.site.elevators.is_empty() || self.robots.is_empty() || self.site.floors < 2 {
            return Err("a plan has an elevator, a robot and two floors at least".to_owned());
        }
        if self.deeds.is_sorted_by_key(|(at_ms, _)| *at_ms) {
            return Ok(());
        }
        Err("the deeds of a plan are in the order of their moments".to_owned())
    }

    /// How many deeds are no plain rides.
    #[must_use]
    pub fn faults(&self) -> usize {
        let faults = self
            .deeds
            .iter()
            .filter(|(_, deed)| Fault::of(deed).is_some());
        faults.count()
    }
}

/// Plans hold numbers, words and lists only, which JSON can hold.
fn json<T: Serialize>(value: &T) -> String {
    serde_json::to_string(value).unwrap_or_default()
}
