//! The kinds of faults, and how often each truly happened.

use super::plan::{CarDeed, Deed, GatewayDeed, OperatorDeed, RobotDeed};
use crate::world::broker::Mishaps;
use crate::world::robot::Habits;
use crate::world::trouble::Side;

macro_rules! faults {
    ($($(#[$doc:meta])* $name:ident = $text:literal,)*) => {
        /// A kind of fault.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Fault { $($(#[$doc])* $name,)* }

        impl Fault {
            /// All kinds.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// Its number in the list of faults, where it has one, and what it is.
            #[must_use]
            pub fn text(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }
        }
    };
}

faults! {
    /// A message again after a connection ended.
    Redelivered = "M1 message again, DUP",
    /// A message twice.
    Twice = "M2 message twice, no DUP",
    /// A message passed one of another topic.
    Reordered = "M3 messages of two topics reordered",
    /// A message came late.
    Late = "M4 message late",
    /// A message was lost with its connection.
    LostBeforeAck = "M5 message lost before its PUBACK",
    /// An acknowledgement was lost with its connection.
    AckLost = "M6 PUBACK lost",
    /// The broker restarted with its memory.
    BrokerDown = "M7 broker away, sessions kept",
    /// The broker restarted without its memory.
    BrokerLost = "M8 broker away, sessions lost",
    /// A session was taken over.
    TakenOver = "M9 session taken over",
    /// Junk, retained or not.
    Junk = "M10 junk on topics, retained and not",
    /// A will of one that lives.
    EarlyWill = "M11 will early or late",
    /// A connection that is not read.
    SlowConsumer = "M12 connection not read",
    /// One of the gateway's connections broke.
    LinkCut = "gateway connection cut",
    /// A robot died while it waited.
    DiesWaiting = "R1 robot dies waiting",
    /// A robot died in a car.
    DiesInside = "R2 robot dies inside",
    /// A robot died on a threshold.
    DiesInDoorway = "R2 robot dies in the doorway",
    /// A robot stood on a threshold for long.
    BlocksDoor = "R3 robot blocks the door",
    /// A robot stood still and went on.
    Freezes = "R4 robot pauses and goes on",
    /// A robot crossed long after the answer.
    CrossesLate = "R4 robot crosses long after the answer",
    /// A robot repeated an old message.
    RepeatsOld = "R5 robot repeats old fences",
    /// A robot lied about its floor or a car.
    Lies = "R6 robot lies about where it is",
    /// A robot did not confirm.
    NeverConfirms = "R7 robot never confirms",
    /// A robot said too much.
    Storms = "R8 renew storm",
    /// A robot never asked before it crossed.
    NeverAsks = "robot never asks before it crosses",
    /// A robot feigned to cross.
    Feigns = "robot says that it crossed and did not",
    /// A robot took another car.
    WrongCar = "robot enters the wrong car",
    /// A robot did not go where it might.
    Refrains = "robot does not enter or leave",
    /// A robot without radio in a car.
    NoRadioInside = "robot offline in the car",
    /// A robot without radio.
    NoRadio = "robot offline",
    /// A robot that restarted.
    Reboots = "robot restarts and forgets",
    /// A robot spoke out of order.
    OutOfOrder = "robot says what has no place",
    /// A robot gave up.
    Cancels = "robot gives up",
    /// A robot asked for two.
    AsksBeside = "robot asks for another ride, or the same one otherwise",
    /// The wall clock jumped.
    WallJump = "T1 wall clock jumps",
    /// The process stood still.
    Stall = "T2 gateway stands still",
    /// The process and its clock stood still.
    StallWithClock = "T2 gateway and its clock stand still",
    /// A robot's clock is off.
    RobotClock = "T3 robot clock off",
    /// A controller was late.
    SlowController = "H1 controller late",
    /// A controller stuttered.
    Stutters = "H3 controller says everything twice",
    /// A controller refused.
    Refuses = "H7 controller refuses",
    /// A controller was silent.
    Silent = "H9 controller silent",
    /// A controller did not answer and obeyed.
    Mute = "H9 controller obeys and says nothing",
    /// A door did not open.
    StuckClosed = "H10 door does not open",
    /// A door did not close.
    StuckOpen = "H10 door does not close",
    /// A door opened again.
    Reopens = "H10 door opens again",
    /// A controller restarted.
    Restarts = "H11 controller restarts and forgets",
    /// A call was forgotten.
    ForgetsCalls = "H11 controller forgets calls",
    /// A controller had no power.
    NoPower = "H12 controller without power",
    /// A position was frozen.
    Frozen = "H13 readings frozen",
    /// A position was wrong.
    FloorsOff = "H13 wrong position",
    /// The car stood between floors.
    StuckCar = "H13 car stands between floors",
    /// The car went to another floor.
    WrongFloor = "car goes to the wrong floor",
    /// A door signal was late.
    DoorLag = "door signal late",
    /// A presence signal lied.
    PresenceLies = "presence signal stuck",
    /// A signal could not be read.
    Unreadable = "mode or calls unreadable",
    /// A fault was shown.
    ShowsFault = "controller shows a fault",
    /// A mode of people.
    ModeChanged = "maintenance, attendant, out of service",
    /// The way to a controller broke.
    LinkLost = "way to a controller lost",
    /// A controller's clock was off.
    ControllerClock = "controller clock off",
    /// People called a car.
    HallCall = "people steal the car by a hall call",
    /// People rode along.
    People = "people ride along",
    /// People closed the door.
    ClosePressed = "people close the door",
    /// A fire.
    Fire = "fire",
    /// A fire input that cannot be read.
    FireWire = "fire input not clear, or its wire cut",
    /// The process was killed.
    Killed = "D1 gateway killed",
    /// The power went.
    PowerCut = "D2 power cut",
    /// A record was torn.
    Torn = "D3 record torn",
    /// A bit was flipped.
    Flipped = "D4 bit flipped",
    /// Space was low.
    DiskLow = "D5 disk full",
    /// Writing failed.
    DiskFails = "D6 disk fails to write or sync",
    /// A sync was slow.
    DiskSlow = "D7 slow sync",
    /// It crashed again while it recovered.
    CrashInRecovery = "D8 crash during recovery",
    /// An operator erred.
    OperatorErrs = "operator errs",
    /// An operator acted without need.
    OperatorActs = "operator takes out of use, suspends, cancels",
}

impl Fault {
    /// The fault that a deed is; none where it is a plain ride, or where it is counted by what it
    /// did.
    #[must_use]
    pub fn of(deed: &Deed) -> Option<Self> {
        match deed {
            Deed::Ride { from: Some(_), .. } => Some(Self::Lies),
            Deed::Ride { habits, .. } => Self::of_habits(habits),
            Deed::Robot { what, .. } => Some(Self::of_robot(what)),
            Deed::Elevator { what, .. } => Some(Self::of_car(what)),
            Deed::Gateway { what, .. } => Self::of_gateway(what),
            Deed::Fire { wire, .. } => Some(if *wire { Self::FireWire } else { Self::Fire }),
            Deed::Operator(what) => Some(match what {
                OperatorDeed::Cancels(_)
                | OperatorDeed::Maintains(..)
                | OperatorDeed::Suspends(_)
                | OperatorDeed::Resumes => Self::OperatorActs,
                OperatorDeed::Resolves { .. }
                | OperatorDeed::Resets(_)
                | OperatorDeed::Forces(_) => Self::OperatorErrs,
            }),
        }
    }

    fn of_habits(habits: &Habits) -> Option<Self> {
        let table = [
            (habits.dies_in_doorway, Self::DiesInDoorway),
            (habits.dies_inside, Self::DiesInside),
            (habits.takes_any_car, Self::WrongCar),
            (habits.feigns_entry || habits.feigns_exit, Self::Feigns),
            (!habits.asks, Self::NeverAsks),
            (habits.late_ms > 0, Self::CrossesLate),
            (
                !habits.tells_entry || !habits.tells_exit,
                Self::NeverConfirms,
            ),
            (!habits.enters || !habits.leaves, Self::Refrains),
            (habits.cross_ms > 20_000, Self::BlocksDoor),
            (!habits.radio_inside, Self::NoRadioInside),
            (
                habits.clock_ahead_ms != 0 || habits.clock_ppm != 0,
                Self::RobotClock,
            ),
        ];
        table
            .into_iter()
            .find(|(is, _)| *is)
            .map(|(_, fault)| fault)
    }

    fn of_robot(what: &RobotDeed) -> Self {
        match what {
            RobotDeed::Cancels => Self::Cancels,
            RobotDeed::Says(_) => Self::OutOfOrder,
            RobotDeed::RepeatsOld(_) => Self::RepeatsOld,
            RobotDeed::Storms(_) => Self::Storms,
            RobotDeed::LiesInCar(_) => Self::Lies,
            RobotDeed::AsksBeside { .. } => Self::AsksBeside,
            RobotDeed::AsksAhead(_) => Self::RobotClock,
            RobotDeed::LosesRadio(_) => Self::NoRadio,
            RobotDeed::TakenOver => Self::TakenOver,
            RobotDeed::Dies => Self::DiesWaiting,
            RobotDeed::Reboots => Self::Reboots,
            RobotDeed::Freezes(_) => Self::Freezes,
            RobotDeed::EarlyWill => Self::EarlyWill,
        }
    }

    fn of_car(what: &CarDeed) -> Self {
        match what {
            CarDeed::Slow(_) => Self::SlowController,
            CarDeed::Silent => Self::Silent,
            CarDeed::Mute => Self::Mute,
            CarDeed::Stutters => Self::Stutters,
            CarDeed::Refuses { .. } => Self::Refuses,
            CarDeed::ForgetsCalls(_) => Self::ForgetsCalls,
            CarDeed::Restarts => Self::Restarts,
            CarDeed::NoPower => Self::NoPower,
            CarDeed::StuckClosed => Self::StuckClosed,
            CarDeed::StuckOpen => Self::StuckOpen,
            CarDeed::Reopens(_) => Self::Reopens,
            CarDeed::Stuck => Self::StuckCar,
            CarDeed::WrongFloor(_) => Self::WrongFloor,
            CarDeed::FloorsOff(_) => Self::FloorsOff,
            CarDeed::Frozen => Self::Frozen,
            CarDeed::DoorLag(_) => Self::DoorLag,
            CarDeed::Presence(_) => Self::PresenceLies,
            CarDeed::ModeUnreadable | CarDeed::CallsUnreadable => Self::Unreadable,
            CarDeed::ShowsFault => Self::ShowsFault,
            CarDeed::Mode(_) => Self::ModeChanged,
            CarDeed::HallCall(_) => Self::HallCall,
            CarDeed::People(_) => Self::People,
            CarDeed::ClosePressed => Self::ClosePressed,
            CarDeed::LinkLost => Self::LinkLost,
            CarDeed::ClockOff(_) => Self::ControllerClock,
        }
    }

    fn of_gateway(what: &GatewayDeed) -> Option<Self> {
        Some(match what {
            GatewayDeed::BrokerDown { forgets: false } => Self::BrokerDown,
            GatewayDeed::BrokerDown { forgets: true } => Self::BrokerLost,
            GatewayDeed::LinkCut(Side::Ingest | Side::Egress) => Self::LinkCut,
            GatewayDeed::LinkStalls(_) => Self::SlowConsumer,
            GatewayDeed::Weather(_) => return None,
            GatewayDeed::EarlyWill => Self::EarlyWill,
            GatewayDeed::Junk(_) => Self::Junk,
            GatewayDeed::Killed { twice: true } | GatewayDeed::PowerCut { twice: true } => {
                Self::CrashInRecovery
            }
            GatewayDeed::Killed { twice: false } => Self::Killed,
            GatewayDeed::PowerCut { twice: false } => Self::PowerCut,
            GatewayDeed::RecordAltered => Self::Flipped,
            GatewayDeed::SyncFails(_) | GatewayDeed::DiskFails => Self::DiskFails,
            GatewayDeed::DiskLow => Self::DiskLow,
            GatewayDeed::DiskSlow(_) => Self::DiskSlow,
            GatewayDeed::WallClock(_) => Self::WallJump,
            GatewayDeed::Stalls { clock: false } => Self::Stall,
            GatewayDeed::Stalls { clock: true } => Self::StallWithClock,
        })
    }
}

/// How often each kind happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fired {
    counts: Vec<u64>,
}

impl Default for Fired {
    fn default() -> Self {
        Self {
            counts: vec![0; Fault::ALL.len()],
        }
    }
}

impl Fired {
    /// It happened so often more.
    pub fn add(&mut self, fault: Fault, times: u64) {
        self.counts[fault as usize] += times;
    }

    /// What the broker saw.
    pub fn add_mishaps(&mut self, mishaps: Mishaps) {
        self.add(Fault::Redelivered, mishaps.redelivered);
        self.add(Fault::Twice, mishaps.twice);
        self.add(Fault::Late, mishaps.late);
        self.add(Fault::Reordered, mishaps.reordered);
        self.add(Fault::AckLost, mishaps.acks_lost);
        self.add(Fault::LostBeforeAck, mishaps.lost_before_ack);
    }

    /// All of another run.
    pub fn merge(&mut self, other: &Self) {
        for (count, more) in self.counts.iter_mut().zip(&other.counts) {
            *count += more;
        }
    }

    /// Each kind and how often.
    pub fn iter(&self) -> impl Iterator<Item = (Fault, u64)> {
        Fault::ALL.iter().copied().zip(self.counts.iter().copied())
    }

    /// How often any happened.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// The kinds that never did.
    #[must_use]
    pub fn never(&self) -> Vec<Fault> {
        let never = self.iter().filter(|(_, count)| *count == 0);
        never.map(|(fault, _)| fault).collect()
    }
}
