//! What drivers say: readings, unasked changes, outcomes of commands, links.

use protocol::hardware::{Change, Door, Mode, Motion, Outcome, Reading, Report};
use protocol::ride::RideState;
use protocol::{CommandId, ElevatorId, OrderId};

use crate::fact::{ElevatorFact, Fact};
use crate::step::Step;

impl Step<'_> {
    /// A driver has something to say about an elevator.
    pub(crate) fn report(&mut self, elevator: &ElevatorId, report: Report) {
        if !self.live.cars.contains_key(elevator) {
            return;
        }
        self.live.touched.insert(elevator.clone());
        match report {
            Report::Reading { reading, asked_ms } => self.reading(elevator, reading, asked_ms),
            Report::Change(change) => self.change(elevator, &change),
            Report::Outcome {
                command_id,
                outcome,
            } => self.outcome(elevator, &command_id, &outcome),
            Report::Stale { .. } => self.ask_seldom(elevator),
            Report::Link { up } => self.link(elevator, up),
            Report::Clock { .. } => {
                if let Some(car) = self.live.cars.get_mut(elevator) {
                    car.clock_off_ms = Some(self.now.mono_ms);
                }
            }
        }
    }

    fn outcome(&mut self, elevator: &ElevatorId, id: &CommandId, outcome: &Outcome) {
        let now_ms = self.now.mono_ms;
        let Some(car) = self.live.cars.get_mut(elevator) else {
            return;
        };
        if car.query.id.as_ref() == Some(id) {
            if matches!(outcome, Outcome::Failed { .. }) {
                self.query_refused(elevator);
            }
            return;
        }
        let known = car.efforts.answer(id, outcome, now_ms);
        if !known && *outcome != Outcome::Sent {
            self.ask_seldom(elevator);
        }
    }

    /// The query of a grant was refused: the next candidate. Any other is asked again by the poll.
    fn query_refused(&mut self, elevator: &ElevatorId) {
        let record = self.state.elevators.get(elevator);
        let owner = record.filter(|record| record.kept.is_none());
        let owner = owner.and_then(|record| record.owner.as_ref());
        let order = owner.map(|owner| owner.order.clone());
        let granted = |order: &OrderId| {
            self.state
                .rides
                .get(order)
                .is_some_and(|ride| ride.state == RideState::Granted)
        };
        if let Some(order) = order.filter(granted) {
            self.next_candidate(&order, elevator);
        }
    }

    fn reading(&mut self, elevator: &ElevatorId, reading: Reading, asked_ms: Option<u64>) {
        let now_ms = self.now.mono_ms;
        let wall = self.now.wall;
        let Some(car) = self.live.cars.get_mut(elevator) else {
            return;
        };
        let Some(asked_ms) = asked_ms.filter(|asked_ms| *asked_ms <= now_ms) else {
            // Nobody asked for it, or another process did: it shows what it shows, founds nothing, and causes a query.
            car.seen = Some(reading.clone());
            car.observed_at = Some(wall);
            let change = Change {
                floor: reading.floor,
                front: Some(reading.front),
                rear: reading.rear,
                motion: Some(reading.motion),
                mode: Some(reading.mode),
                occupied: reading.occupied,
                fault: reading.fault,
            };
            self.doubt(elevator, &change);
            self.ask_if_it_matters(elevator);
            return;
        };
        let late = asked_ms < car.link_ms || car.asked_ms.is_some_and(|last| asked_ms < last);
        if mutate!(LateReading, late, false) {
            return;
        }
        if car.query.sent_ms.is_some_and(|sent| sent <= asked_ms) {
            car.query.sent_ms = None;
        }
        car.asked_ms = Some(asked_ms);
        car.read_ms = Some(now_ms);
        car.observed_at = Some(wall);
        car.mode_seen = None;
        car.seen = Some(reading.clone());
        car.reading = Some(reading);
        car.drop_broken_hold();
        self.judge_fitness(elevator);
    }

    /// READs have been good since when.
    fn judge_fitness(&mut self, elevator: &ElevatorId) {
        let serves = self.mode(elevator).serves_robots();
        let now_ms = self.now.mono_ms;
        let heal_ms = self.config.timing.heal_ms;
        let Some(car) = self.live.cars.get_mut(elevator) else {
            return;
        };
        let good = serves
            && car
                .reading
                .as_ref()
                .is_some_and(|reading| reading.fault.is_none());
        if good {
            let since = *car.good_since_ms.get_or_insert(now_ms);
            if car.must_heal && now_ms >= since.saturating_add(heal_ms) {
                car.must_heal = false;
            }
        } else {
            car.good_since_ms = None;
        }
        let record = self.state.elevators.get(elevator);
        let unread = record.is_some_and(|record| record.must_be_read);
        if unread && serves {
            let elevator = elevator.clone();
            self.record(Fact::Elevator(ElevatorFact::MustBeRead {
                elevator,
                on: false,
            }));
        }
        self.live.dispatch_due = true;
    }

    fn change(&mut self, elevator: &ElevatorId, change: &Change) {
        if let Some(car) = self.live.cars.get_mut(elevator)
            && let Some(seen) = &mut car.seen
        {
            merge(seen, change);
        }
        self.doubt(elevator, change);
        self.ask_if_it_matters(elevator);
    }

    /// An unasked word that takes a permission away acts at once (`ride.md` section 0, READ).
    fn doubt(&mut self, elevator: &ElevatorId, change: &Change) {
        let now_ms = self.now.mono_ms;
        let Some(car) = self.live.cars.get_mut(elevator) else {
            return;
        };
        let shuts = |door: Option<Door>| door.is_some_and(|door| door != Door::Open);
        let opened = |reading: &Reading| reading.front == Door::Open;
        let open_front = car.reading.as_ref().is_some_and(opened);
        let open_rear = car
            .reading
            .as_ref()
            .is_some_and(|reading| reading.rear == Some(Door::Open));
        let door = (open_front && shuts(change.front)) || (open_rear && shuts(change.rear));
        let moves = matches!(change.motion, Some(Motion::Up | Motion::Down));
        if mutate!(NoDoubt, door || moves, false) {
            car.doubt_ms = Some(now_ms);
        }
        let has_signal = self
            .config
            .elevators
            .get(elevator)
            .is_some_and(|config| config.mode_signal);
        if let Some(mode) = change.mode
            && has_signal
            && !mode.serves_robots()
            && (mode != Mode::Unknown || car.reading.is_some())
        {
            car.mode_seen = Some(mode);
        }
    }

    /// An unasked word causes a query, at once where a ride may wait for it.
    fn ask_if_it_matters(&mut self, elevator: &ElevatorId) {
        let owned = self
            .state
            .elevators
            .get(elevator)
            .is_some_and(|record| record.owner.is_some() || record.kept.is_some());
        if owned {
            self.ask(elevator);
        } else {
            self.ask_seldom(elevator);
        }
    }

    fn link(&mut self, elevator: &ElevatorId, up: bool) {
        let now_ms = self.now.mono_ms;
        if let Some(car) = self.live.cars.get_mut(elevator) {
            car.query.sent_ms = None;
            car.doubt_ms = Some(now_ms);
            if up {
                car.link_ms = now_ms;
                car.query.last_ms = None;
            }
        }
        if up {
            self.ask(elevator);
        }
    }

    /// A silent elevator needs `heal_s` of good READs before it is granted again.
    pub(crate) fn note_silence(&mut self, elevator: &ElevatorId) {
        let silent = self.is_silent(elevator);
        let known = self
            .live
            .cars
            .get(elevator)
            .is_some_and(|car| car.read_ms.is_some());
        if silent
            && known
            && let Some(car) = self.live.cars.get_mut(elevator)
        {
            car.must_heal = true;
            car.good_since_ms = None;
        }
    }
}

fn merge(seen: &mut Reading, change: &Change) {
    if let Some(floor) = &change.floor {
        seen.floor = Some(floor.clone());
    }
    if let Some(door) = change.front {
        seen.front = door;
    }
    if let Some(door) = change.rear {
        seen.rear = Some(door);
    }
    if let Some(motion) = change.motion {
        seen.motion = motion;
    }
    if let Some(mode) = change.mode {
        seen.mode = mode;
    }
    if let Some(occupied) = change.occupied {
        seen.occupied = Some(occupied);
    }
    if let Some(fault) = &change.fault {
        seen.fault = Some(fault.clone());
    }
}
