//! The columns of the ride table, each reached by inputs alone.

use protocol::hardware::{Mode, Motion};
use protocol::ops::Presence;
use protocol::ride::RideState;
use protocol::robot::RobotEvent;

use super::site::{R1, T1, one_car};
use super::{Building, site};

macro_rules! situations {
    ($($(#[$doc:meta])* $name:ident = $words:literal,)*) => {
        /// A state of the ride, where need be with what the cells of the table distinguish in it.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub(crate) enum Situation { $($(#[$doc])* $name,)* }

        impl Situation {
            /// All of them, in the order of the table.
            pub(crate) const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// As the documentation names it.
            pub(crate) fn words(self) -> &'static str {
                match self { $(Self::$name => $words,)* }
            }
        }
    };
}

situations! {
    /// No able elevator is fit.
    Queued = "QUEUED",
    /// The elevator does not answer yet.
    Granted = "GRANTED",
    /// The hall call is registered, the car is shut at 6F.
    Waiting = "WAITING_HALL_CALL",
    /// Open at 1F, held, `enter` given.
    Arrived = "ELEVATOR_ARRIVED",
    /// The same, the robot said that it is not at the door.
    Withheld = "ELEVATOR_ARRIVED, `enter` withheld",
    /// Confirmed inside, the door stands open, the car call is not seen registered.
    EnteredOpen = "ROBOT_ENTERED, door open",
    /// The same, the door seen shut at 1F.
    EnteredShut = "ROBOT_ENTERED, door shut",
    /// Under way, no door seen open.
    Running = "RUNNING",
    /// The car stands open at 3F.
    RunningOpened = "RUNNING, door seen open at 3F",
    /// Open at 6F, held.
    Target = "TARGET_ARRIVED",
    /// Out, the door stands open still.
    Exited = "ROBOT_EXITED",
    /// From ELEVATOR_ARRIVED by `cancel_exit`: the car stands open at 1F.
    HoldBoarding = "HOLD(ENTRY_UNCONFIRMED) in boarding, open at 1F",
    /// The same, then seen shut.
    HoldBoardingShut = "HOLD(ENTRY_UNCONFIRMED) in boarding, shut",
    /// From ELEVATOR_ARRIVED by the mode `fire`, open at 1F.
    HoldFire = "HOLD(FIRE_MODE) in boarding, open at 1F",
    /// From RUNNING, the controller was silent and is back; no door seen open.
    HoldRunning = "HOLD(CONTROLLER_LOST) from RUNNING, shut",
    /// From TARGET_ARRIVED by `cancel_exit`, open at 6F.
    HoldTarget = "HOLD(EXIT_REFUSED), open at 6F",
    /// By `ride/cancel` in WAITING_HALL_CALL; the last ride of its elevator, which is free.
    Cancelled = "CANCELLED",
    /// In QUEUED; it never had an elevator.
    Expired = "EXPIRED",
    /// By the lease in WAITING_HALL_CALL; the last ride of its elevator, which is free.
    Failed = "FAILED",
}

const STEP_MS: u64 = 5_000;

impl Situation {
    /// A building in which the ride `T-1` of `R001` on `EL001` has come so far.
    pub(crate) fn building(self, presence: Presence) -> Building {
        let mut building = Building::new(one_car(presence));
        building.reach(self);
        building
    }
}

impl Building {
    /// Drives the ride `T-1` from nothing to a situation.
    pub(crate) fn reach(&mut self, situation: Situation) {
        match situation {
            Situation::Queued => {
                self.plant().reading.fault = Some("door motor".to_owned());
                self.run(2_500);
                self.request(R1, T1);
            }
            Situation::Granted => {
                self.plant().answers = false;
                self.request(R1, T1);
                self.run(50);
            }
            Situation::Waiting => self.reach_waiting(true),
            Situation::Arrived => self.reach_arrived(true),
            Situation::Withheld => self.reach_arrived(false),
            Situation::EnteredOpen => {
                self.plant().deaf.insert("car_call");
                self.reach_entered();
                self.run(300);
                self.plant().deaf.clear();
            }
            Situation::EnteredShut => {
                self.reach_entered();
                self.run_until("the door shuts", STEP_MS, |building| {
                    building
                        .plants
                        .values()
                        .all(|plant| plant.reading.is_shut())
                });
                self.read_again();
            }
            Situation::Running => self.reach_running(),
            Situation::RunningOpened => {
                self.reach_running();
                self.plant().open_at("3F");
                self.read_again();
            }
            Situation::Target => self.reach_target(),
            Situation::HoldBoarding
            | Situation::HoldBoardingShut
            | Situation::HoldFire
            | Situation::HoldRunning
            | Situation::HoldTarget => self.reach_hold(situation),
            Situation::Exited | Situation::Cancelled | Situation::Expired | Situation::Failed => {
                self.reach_end(situation)
            }
        }
        let state = situation.state();
        assert!(
            self.is_in(T1, state),
            "{situation:?} was not reached: {}",
            self.describe(T1)
        );
    }

    fn reach_hold(&mut self, situation: Situation) {
        if situation == Situation::HoldFire {
            self.reach_arrived(true);
            self.plant().reading.mode = Mode::Fire;
            self.read_again();
            self.run(100);
        } else if situation == Situation::HoldRunning {
            self.reach_running();
            self.plant().answers = false;
            self.run(12_000);
            self.plant().answers = true;
            self.run(3_000);
        } else if situation == Situation::HoldTarget {
            self.reach_target();
            self.event(R1, T1, RobotEvent::CancelExit);
            self.run(200);
        } else {
            self.reach_arrived(true);
            self.event(R1, T1, RobotEvent::CancelExit);
            self.run(200);
            if situation == Situation::HoldBoardingShut {
                self.plant().shut_at("1F");
                self.read_again();
            }
        }
    }

    fn reach_end(&mut self, situation: Situation) {
        if situation == Situation::Exited {
            self.reach_target();
            self.plant().occupied(false);
            self.plant().deaf.insert("close_door");
            self.read_again();
            self.event(R1, T1, RobotEvent::Exited);
            // A signal that says EMPTY once more would free the car, which stands open.
            self.plant().occupied(true);
            self.run(100);
        } else if situation == Situation::Expired {
            self.plant().reading.fault = Some("door motor".to_owned());
            self.run(2_500);
            let mut request = self.request_of(T1);
            request.expires_at = Some(site::later(self.wall(), 1_000));
            self.ask(R1, request);
            self.run(1_500);
        } else if situation == Situation::Cancelled {
            self.reach_waiting(true);
            self.cancel(R1, T1);
            self.run(4_000);
        } else {
            self.reach_waiting(true);
            self.run(40_000);
        }
    }

    fn reach_waiting(&mut self, at_door: bool) {
        let mut request = self.request_of(T1);
        request.at_door = Some(at_door);
        self.ask(R1, request);
        self.run_until("a registered call", STEP_MS, |building| {
            building
                .plants
                .values()
                .any(|plant| plant.count("hall_call") > 0)
        });
        self.run(1_000);
    }

    fn reach_arrived(&mut self, at_door: bool) {
        self.reach_waiting(at_door);
        self.plant().open_at("1F");
        self.run_to(RideState::ElevatorArrived);
    }

    fn reach_entered(&mut self) {
        self.reach_arrived(true);
        self.plant().occupied(true);
        if self.plant().reading.occupied.is_some() {
            self.read_again();
        }
        self.event(R1, T1, RobotEvent::Entered);
        assert!(
            self.is_in(T1, RideState::RobotEntered),
            "{}",
            self.describe(T1)
        );
    }

    fn reach_running(&mut self) {
        self.reach_entered();
        self.run_until("the door shuts", STEP_MS, |building| {
            building
                .plants
                .values()
                .all(|plant| plant.reading.is_shut())
        });
        self.plant().pass("3F", Motion::Up);
        self.run_to(RideState::Running);
    }

    fn reach_target(&mut self) {
        self.reach_running();
        self.plant().open_at("6F");
        self.run_to(RideState::TargetArrived);
    }

    /// Runs until `T-1` is in a state, and a little longer.
    pub(crate) fn run_to(&mut self, state: RideState) {
        self.run_until(state.as_str(), STEP_MS, |building| {
            building.is_in(T1, state)
        });
        self.run(50);
    }
}

impl Situation {
    /// The state of the ride.
    pub(crate) fn state(self) -> RideState {
        match self {
            Self::Queued => RideState::Queued,
            Self::Granted => RideState::Granted,
            Self::Waiting => RideState::WaitingHallCall,
            Self::Arrived | Self::Withheld => RideState::ElevatorArrived,
            Self::EnteredOpen | Self::EnteredShut => RideState::RobotEntered,
            Self::Running | Self::RunningOpened => RideState::Running,
            Self::Target => RideState::TargetArrived,
            Self::Exited => RideState::RobotExited,
            Self::HoldBoarding
            | Self::HoldBoardingShut
            | Self::HoldFire
            | Self::HoldRunning
            | Self::HoldTarget => RideState::Hold,
            Self::Cancelled => RideState::Cancelled,
            Self::Expired => RideState::Expired,
            Self::Failed => RideState::Failed,
        }
    }
}
