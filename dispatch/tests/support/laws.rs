//! The laws, looked at from outside after every step (`architecture.md`, Laws).

use std::collections::BTreeMap;

use dispatch::{
    Core, Effect, Effects, ElevatorFact, Fact, Input, Ledger, RideFact, SiteConfig, State,
    ledger_changes,
};
use protocol::hardware::{Action, Change, Command, Mode, Motion, Reading, Report};
use protocol::ops::Presence;
use protocol::ride::{Instruction, RideState};
use protocol::{ElevatorId, Fence, ReasonCode};

/// Records of one sync (architecture, The life of a message).
const GROUP_RECORDS_MAX: usize = 256;

/// What the observer knows, from inputs and facts alone.
#[derive(Debug)]
pub(crate) struct Laws {
    config: SiteConfig,
    folded: State,
    ledger: BTreeMap<Vec<u8>, Vec<u8>>,
    fences: BTreeMap<ElevatorId, Fence>,
    /// The last READ of each car, and the worst that an unasked word said since.
    read: BTreeMap<ElevatorId, Reading>,
    told_mode: BTreeMap<ElevatorId, Mode>,
    fire_clear: BTreeMap<protocol::ZoneId, bool>,
    pub(crate) steps_at_once: u32,
}

impl Laws {
    pub(crate) fn new(config: &SiteConfig, state: State) -> Self {
        Self {
            config: config.clone(),
            folded: state,
            ledger: BTreeMap::new(),
            fences: BTreeMap::new(),
            read: BTreeMap::new(),
            told_mode: BTreeMap::new(),
            fire_clear: BTreeMap::new(),
            steps_at_once: 0,
        }
    }

    /// The state as a journal would give it back.
    pub(crate) fn reload(&self) -> State {
        let mut ledger = Ledger::default();
        for (key, row) in &self.ledger {
            ledger.load_row(key, row).expect("a row");
        }
        State::load(Some(&self.folded.encode_snapshot()), ledger, []).expect("a state")
    }

    pub(crate) fn restart(&mut self, state: State) {
        self.folded = state;
        self.read.clear();
        self.told_mode.clear();
        self.fire_clear.clear();
    }

    /// Notes what an input tells about the cars.
    pub(crate) fn before(&mut self, input: &Input) {
        if let Input::ZoneFire { zone, clear } = input {
            self.fire_clear.insert(zone.clone(), *clear);
        }
        let Input::Report { elevator, report } = input else {
            return;
        };
        match report {
            Report::Reading {
                reading,
                asked_ms: Some(_),
            } => {
                self.read.insert(elevator.clone(), reading.clone());
                self.told_mode.insert(elevator.clone(), reading.mode);
            }
            Report::Reading { reading, .. } => self.note_mode(elevator, reading.mode),
            Report::Change(Change {
                mode: Some(mode), ..
            }) => self.note_mode(elevator, *mode),
            Report::Change(_)
            | Report::Outcome { .. }
            | Report::Stale { .. }
            | Report::Link { .. }
            | Report::Clock { .. } => {}
        }
    }

    fn note_mode(&mut self, elevator: &ElevatorId, mode: Mode) {
        if !mode.serves_robots() {
            self.told_mode.insert(elevator.clone(), mode);
        }
    }

    /// Looks at what a step did.
    pub(crate) fn after(&mut self, core: &Core, now_ms: u64, out: &Effects) {
        let facts = out.facts.len();
        assert!(facts <= GROUP_RECORDS_MAX, "{facts} facts in one step");
        let highest: BTreeMap<_, _> = self.fences.clone();
        for fact in &out.facts {
            self.look_at_fact(fact);
            self.folded.apply(fact);
        }
        let state = core.state();
        assert_eq!(state, &self.folded, "the state is the fold of the facts");
        for change in ledger_changes(&self.folded, &out.facts) {
            match change.row {
                Some(row) => self.ledger.insert(change.key, row),
                None => self.ledger.remove(&change.key),
            };
        }
        if !out.facts.is_empty() {
            let loaded = self.reload();
            assert_eq!(state, &loaded, "snapshot and ledger give the state back");
        }
        let broken = core.broken_laws();
        assert!(broken.is_empty(), "{broken:?} at {now_ms} ms");
        self.look_at_owners(state);
        for effect in &out.effects {
            if let Effect::Command(command) = effect {
                self.look_at_command(state, &highest, command);
            }
        }
    }

    /// Law 3: fences only grow; seq by one. Law 2: no `enter` unless READ open at `from`.
    fn look_at_fact(&mut self, fact: &Fact) {
        match fact {
            Fact::Elevator(ElevatorFact::Granted {
                elevator, fence, ..
            }) => {
                let last = self.fences.insert(elevator.clone(), *fence);
                assert!(
                    last < Some(*fence),
                    "{elevator}: fence {fence} after {last:?}"
                );
                let owner = self.folded.elevator(elevator).owner;
                assert!(owner.is_none(), "{elevator} was given twice: {owner:?}");
            }
            Fact::Elevator(ElevatorFact::FenceRaised { elevator, fence }) => {
                let last = self.fences.insert(elevator.clone(), *fence);
                assert!(
                    last <= Some(*fence),
                    "{elevator}: fence {fence} after {last:?}"
                );
            }
            Fact::Ride(RideFact::Moved {
                order,
                instruction,
                seq,
                ..
            }) => {
                let ride = &self.folded.rides[order];
                self.look_at_signal(fact);
                assert_eq!(*seq, ride.seq + 1, "{order}: no state is skipped");
                if *instruction == Instruction::Enter && ride.instruction != Instruction::Enter {
                    let elevator = ride.elevator.as_ref().expect("an elevator before enter");
                    let read = self.read.get(elevator).expect("a READ before enter");
                    assert!(read.is_open_at(&ride.from), "enter into {read:?}");
                    assert!(self.mode(elevator).serves_robots(), "enter out of mode");
                }
            }
            Fact::Ride(_)
            | Fact::Elevator(_)
            | Fact::Site(_)
            | Fact::Answer(_)
            | Fact::Series(_)
            | Fact::Turn(_)
            | Fact::Claim(_)
            | Fact::Rental(_) => {}
        }
    }

    /// Where there is a presence signal, no ride goes in or comes out without it (AT-LIFT-09).
    fn look_at_signal(&self, fact: &Fact) {
        let Fact::Ride(RideFact::Moved {
            order,
            state,
            reason,
            ..
        }) = fact
        else {
            return;
        };
        let ride = &self.folded.rides[order];
        let Some(elevator) = &ride.elevator else {
            return;
        };
        let by_operator = reason
            .as_ref()
            .is_some_and(|reason| reason.code == ReasonCode::OperatorReset);
        if self.config.elevators[elevator].presence == Presence::None || by_operator {
            return;
        }
        let occupied = self.read.get(elevator).and_then(|reading| reading.occupied);
        let ends = state.is_terminal() || *state == RideState::Queued;
        if *state == RideState::RobotEntered && ride.state != RideState::RobotEntered {
            assert_eq!(occupied, Some(true), "{order} goes in");
        } else if ends && ride.inside {
            assert_eq!(occupied, Some(false), "{order} comes out as {state}");
        }
    }

    /// Law 1: an order has at most one elevator that is not kept back.
    fn look_at_owners(&self, state: &State) {
        let mut owned: BTreeMap<_, Vec<&ElevatorId>> = BTreeMap::new();
        for (id, elevator) in &state.elevators {
            if let (Some(owner), None) = (&elevator.owner, &elevator.kept) {
                owned.entry(&owner.order).or_default().push(id);
            }
        }
        for (order, elevators) in owned {
            assert_eq!(elevators.len(), 1, "{order} owns {elevators:?}");
        }
    }

    /// Laws 3, 7 and 9, command by command.
    fn look_at_command(
        &self,
        state: &State,
        highest: &BTreeMap<ElevatorId, Fence>,
        command: &Command,
    ) {
        let id = &command.elevator_id;
        let record = state.elevator(id);
        let owner = record.owner.as_ref().map(|owner| owner.fence);
        // One that goes out before a grant of the same step carries the highest fence before it.
        let last = command.order_id.is_none()
            && highest.get(id).copied().unwrap_or_default() == command.fence;
        let fence = owner.unwrap_or(record.fence);
        assert!(
            last || command.fence == fence,
            "{command:?} while the fence is {fence}"
        );
        if !command.action.is_allowed_in_any_mode() {
            let mode = self.mode(id);
            assert!(mode.serves_robots(), "{command:?} in mode {mode}");
        }
        if let Action::CloseDoor { .. } = command.action {
            let order = &record.owner.as_ref().expect("an owner").order;
            let ride = state.rides.get(order).map(|ride| ride.state);
            let confirmed = matches!(ride, Some(RideState::RobotEntered | RideState::RobotExited));
            assert!(confirmed, "close_door in {ride:?}");
        }
        if let Action::CarCall { .. } = command.action {
            let order = &record.owner.as_ref().expect("an owner").order;
            let ride = state.rides.get(order).map(|ride| ride.state);
            let confirmed = matches!(ride, Some(RideState::RobotEntered | RideState::Running));
            assert!(confirmed, "car_call in {ride:?}");
        }
        if let Action::OpenDoor { landing } = &command.action {
            let read = self.read.get(id).expect("a READ before open_door");
            let level =
                read.motion == Motion::Stopped && read.floor.as_ref() == Some(&landing.floor);
            assert!(level, "open_door while {read:?}");
        }
    }

    fn mode(&self, elevator: &ElevatorId) -> Mode {
        let config = &self.config.elevators[elevator];
        let burns = self
            .folded
            .zones
            .get(&config.zone)
            .is_some_and(|zone| zone.fire.is_some());
        if burns || self.fire_clear.get(&config.zone) == Some(&false) {
            return Mode::Fire;
        }
        if self.folded.elevator(elevator).maintenance {
            return Mode::OutOfService;
        }
        if !config.mode_signal {
            let clear = self.fire_clear.get(&config.zone) == Some(&true);
            return if clear { Mode::Normal } else { Mode::Unknown };
        }
        self.told_mode
            .get(elevator)
            .copied()
            .unwrap_or(Mode::Unknown)
    }
}
