//! What the core is given, as far as the model learns from it.

use dispatch::{Effect, Input};
use protocol::hardware::{Call, Door, Mode, Report};
use protocol::ride::RideState;
use protocol::robot::{ConnectionState, RideEvent, RobotEvent, RobotStatus};
use protocol::{ElevatorId, OrderId, RobotId, RobotMessage, ZoneId};

use super::model::{Before, Car, Model, Word, signed};

impl Model {
    /// Takes an input; `effects` only tells what an operator was answered.
    pub(super) fn hear(&mut self, input: &Input, effects: &[Effect]) {
        match input {
            Input::Start { .. } => self.start(),
            Input::Robot { robot, message } => self.robot_says(robot, message),
            Input::Unreadable(refusal) => {
                if let Some((robot, _)) = &refusal.robot {
                    self.heard(robot, true);
                }
            }
            Input::Report { elevator, report } => self.report(elevator, report),
            Input::ZoneFire { zone, clear } => self.zone_fire(zone, *clear),
            Input::Broker { up } => self.broker(*up),
            Input::Disk { low } => self.disk_low = *low,
            Input::Stopping => self.stopping = true,
            Input::Operator(request) => self.operator(request, effects),
            Input::OwnRide { .. }
            | Input::OwnElevator { .. }
            | Input::Client { .. }
            | Input::Device { .. }
            | Input::TokenKey(_)
            | Input::Bus { .. }
            | Input::Insecure
            | Input::Tick => {}
        }
    }

    /// A new process: all that was only in mind is gone.
    fn start(&mut self) {
        self.stalled_ms = self.now_ms;
        self.frozen_ms = 0;
        self.frozen_since_ms = Some(self.now_ms);
        self.stopping = false;
        self.disk_low = false;
        let (now_ms, clock, wall) = (self.now_ms, self.clock(), self.wall);
        for zone in self.zones.values_mut() {
            zone.clear = None;
        }
        for car in self.cars.values_mut() {
            *car = Car {
                kept: std::mem::take(&mut car.kept),
                kept_ms: now_ms,
                came: car.came,
                start_ms: now_ms,
                link_ms: now_ms,
                left: car.left,
                left_order: car.left_order.take(),
                ..Car::default()
            };
        }
        for robot in self.robots.values_mut() {
            // What it said is kept with its order.
            let order = robot.order.as_ref().and_then(|order| self.rides.get(order));
            robot.in_car = order.is_some_and(|ride| ride.in_car);
            robot.heard_clock = clock;
            robot.messages = 0;
            robot.second = 0;
            robot.refused = false;
        }
        for ride in self.rides.values_mut().filter(|ride| ride.is_live()) {
            ride.since_ms = now_ms;
            ride.since_clock = clock;
            ride.born_ms = signed(now_ms) - signed(wall.since(ride.accepted_at));
            ride.permitted_ms = now_ms;
            ride.shut_seen = ride.inside;
            ride.opened = false;
            ride.word = ride.word.map(|(word, _)| (word, now_ms));
        }
        self.alarmed.clear();
    }

    fn broker(&mut self, up: bool) {
        match (up, self.frozen_since_ms) {
            (true, Some(since)) => {
                self.frozen_ms += self.now_ms - since;
                self.frozen_since_ms = None;
            }
            (false, None) => self.frozen_since_ms = Some(self.now_ms),
            (true, None) | (false, Some(_)) => {}
        }
    }

    /// Notes a word of a robot. Says whether it is within its rate.
    fn heard(&mut self, robot: &RobotId, renews: bool) {
        let (clock, second) = (self.clock(), self.now_ms / 1_000);
        let known = self.robots.entry(robot.clone()).or_default();
        if renews {
            known.heard_clock = clock;
        }
        if known.second != second {
            known.second = second;
            known.messages = 0;
        }
        known.messages += 1;
        known.refused = known.messages > self.site.limits.robot_messages_per_s;
    }

    fn robot_says(&mut self, robot: &RobotId, message: &RobotMessage) {
        let renews = match message {
            RobotMessage::Connection(connection) => {
                connection.connection_state == ConnectionState::Online
            }
            RobotMessage::Request(_)
            | RobotMessage::Event(_)
            | RobotMessage::Cancel(_)
            | RobotMessage::Status(_) => true,
        };
        self.heard(robot, renews);
        match message {
            RobotMessage::Event(event) if !self.robots[robot].refused => self.event(robot, event),
            RobotMessage::Status(status) => self.status(robot, status),
            RobotMessage::Event(_)
            | RobotMessage::Request(_)
            | RobotMessage::Cancel(_)
            | RobotMessage::Connection(_) => {}
        }
    }

    /// The word of a robot about where it is, where the table takes it.
    fn event(&mut self, robot: &RobotId, event: &RideEvent) {
        let order = &event.order_id;
        let now_ms = self.now_ms;
        let Some(ride) = self.rides.get(order) else {
            return;
        };
        let elsewhere = event.elevator_id.is_some() && event.elevator_id != ride.elevator;
        let word = match &event.event {
            RobotEvent::Entered => Word::Entered,
            RobotEvent::Exited => Word::Exited,
            RobotEvent::CancelEnter { .. } => Word::CancelEnter,
            RobotEvent::CancelExit => Word::Entered,
            RobotEvent::AtDoor => {
                if let Some(ride) = self.rides.get_mut(order)
                    && &ride.robot == robot
                {
                    ride.away = false;
                }
                return;
            }
            RobotEvent::Query | RobotEvent::HoldDoor { .. } => return,
        };
        if &ride.robot != robot || event.fence != ride.fence || elsewhere {
            return;
        }
        let counts = match ride.state {
            RideState::ElevatorArrived
            | RideState::TargetArrived
            | RideState::Hold
            | RideState::Running => true,
            RideState::Queued
            | RideState::Granted
            | RideState::WaitingHallCall
            | RideState::RobotEntered
            | RideState::RobotExited
            | RideState::Cancelled
            | RideState::Expired
            | RideState::Failed => false,
        };
        if !counts {
            return;
        }
        self.remember_ride(order);
        if let Some(ride) = self.rides.get_mut(order) {
            let said = ride.word.is_some_and(|(said, _)| said == word);
            if event.event != RobotEvent::CancelExit && !said {
                ride.word = Some((word, now_ms));
            }
            if ride.state == RideState::ElevatorArrived && word == Word::Entered {
                ride.inside = true;
            }
        }
    }

    fn status(&mut self, robot: &RobotId, status: &RobotStatus) {
        let Some(known) = self.robots.get_mut(robot) else {
            return;
        };
        // Too many words a second are refused, but for this one.
        if known.refused && status.in_car != Some(true) {
            return;
        }
        if let Some(in_car) = status.in_car {
            known.in_car = in_car;
        }
        let Some(order) = known.order.clone() else {
            return;
        };
        self.remember_ride(&order);
        let Some(ride) = self.rides.get_mut(&order) else {
            return;
        };
        if let Some(in_car) = status.in_car {
            ride.in_car = in_car;
            ride.inside |= in_car && ride.state == RideState::ElevatorArrived;
        }
        match (status.at_door, status.eta_s) {
            (Some(at_door), _) => ride.away = !at_door,
            (None, Some(eta)) => ride.away = eta > 0,
            (None, None) => {}
        }
    }

    /// The robot's word that it is outside was taken: it does not say that it is in a car any more.
    pub(super) fn is_out(&mut self, order: &OrderId) {
        self.remember_ride(order);
        let Some(ride) = self.rides.get_mut(order) else {
            return;
        };
        ride.in_car = false;
        if let Some(robot) = self.robots.get_mut(&ride.robot) {
            robot.in_car = false;
        }
    }

    fn report(&mut self, elevator: &ElevatorId, report: &Report) {
        let now_ms = self.now_ms;
        let signal = self.site.elevators.get(elevator);
        let signal = signal.is_some_and(|config| config.mode_signal);
        let Some(car) = self.cars.get_mut(elevator) else {
            return;
        };
        match report {
            Report::Reading {
                reading,
                asked_ms: Some(asked_ms),
            } => {
                if *asked_ms < car.link_ms || car.asked_ms.is_some_and(|last| *asked_ms < last) {
                    return;
                }
                car.take_reading(reading, (*asked_ms, now_ms), &self.site.timing);
                self.note_reading(elevator);
            }
            Report::Reading {
                reading,
                asked_ms: None,
            } => car.doubt(&super::read::as_change(reading), now_ms, signal),
            Report::Change(change) => car.doubt(change, now_ms, signal),
            Report::Outcome {
                command_id,
                outcome,
            } => car.answered(command_id, outcome, now_ms),
            Report::Link { up } => {
                car.doubt_ms = Some(now_ms);
                if *up {
                    car.link_ms = now_ms;
                }
            }
            Report::Stale { .. } | Report::Clock { .. } => {}
        }
        self.latch_fire(elevator);
    }

    /// A fire of one elevator is one of its zone, until an operator ends it.
    fn latch_fire(&mut self, elevator: &ElevatorId) {
        if matches!(self.mode(elevator), Mode::Fire | Mode::Emergency)
            && let Some(config) = self.site.elevators.get(elevator)
        {
            let zone = config.zone.clone();
            self.burn(&zone);
        }
    }

    fn burn(&mut self, zone: &ZoneId) {
        let known = self.zones.get(zone);
        if let Some(before) = known.filter(|zone| !zone.burning) {
            let before = Before::Zone(zone.clone(), (false, before.suspended));
            self.remember(before);
        }
        if let Some(zone) = self.zones.get_mut(zone) {
            zone.burning = true;
        }
    }

    /// What a reading says of the ride that owns the car.
    fn note_reading(&mut self, elevator: &ElevatorId) {
        let Some(car) = self.cars.get_mut(elevator) else {
            return;
        };
        let Some(ride) = car
            .kept
            .owner
            .as_ref()
            .and_then(|it| self.rides.get_mut(it))
        else {
            return;
        };
        let Some(reading) = car.read(ride.since_ms) else {
            return;
        };
        let doors = [reading.front, reading.rear.unwrap_or(Door::Closed)];
        let any_open = doors.iter().any(|door| *door != Door::Closed);
        let (came, shut) = (reading.is_open_at(&ride.from), reading.is_shut());
        // Where calls cannot be read, its word is enough.
        let called = reading.calls.as_ref().is_none_or(|calls| {
            calls.iter().any(|call| {
                matches!(call, Call::Car { floor, side } if *floor == ride.to.floor
                    && side.is_none_or(|side| side == ride.to.side))
            })
        });
        car.came |= came;
        if ride.is_live() && matches!(ride.state, RideState::Running | RideState::Hold) {
            ride.opened |= any_open;
        }
        ride.shut_seen |= ride.is_live() && ride.inside && shut;
        ride.called |= ride.state == RideState::RobotEntered && called;
    }

    fn zone_fire(&mut self, zone: &ZoneId, clear: bool) {
        let has_input = self.site.zones.get(zone);
        if !has_input.is_some_and(|config| config.fire_input) {
            return;
        }
        if let Some(zone) = self.zones.get_mut(zone) {
            zone.clear = Some(clear);
        }
        if !clear {
            self.burn(zone);
        }
    }
}

impl super::model::Ride {
    pub(super) fn is_live(&self) -> bool {
        !self.state.is_terminal()
    }
}
