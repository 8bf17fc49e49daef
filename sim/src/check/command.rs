//! Commands that a step wants sent: in their state, their mode, their turn.

use protocol::hardware::{Action, Command};
use protocol::ride::{Instruction, RideState};
use protocol::{ElevatorId, Landing};

use super::law::{Found, Law};
use super::model::{Car, Flight, Model, Until};
use super::seen::Step;

/// Commands that are remembered to know a repetition.
const KNOWN_MAX: usize = 64;

impl Model {
    /// A command that a step wants sent.
    pub(super) fn commanded(&mut self, step: &Step<'_>, command: &Command, found: &mut Found) {
        let elevator = &command.elevator_id;
        let owned = self
            .cars
            .get(elevator)
            .is_some_and(|car| car.kept.owner.is_some());
        if owned && command.order_id.is_none() {
            // The elevator's own state comes last in a step.
            self.freed(step, elevator, found);
        }
        let Some(car) = self.cars.get(elevator) else {
            found.add(
                Law::I16,
                format!("{elevator} is commanded and not configured"),
            );
            return;
        };
        let owner = car.kept.owner.as_ref();
        let word = command.action.word();
        let fence = owner.and_then(|order| self.rides.get(order)?.fence);
        let owns = command.order_id.as_ref() == owner;
        let loose = owner
            .and_then(|order| self.rides.get(order))
            .is_some_and(|it| it.loose);
        found.check(owns || loose, Law::I1, || {
            format!(
                "{elevator}: {word} of {:?}, it is {owner:?}'s",
                command.order_id
            )
        });
        let expected = fence
            .filter(|_| car.kept.until.is_none())
            .unwrap_or(car.kept.fence);
        found.check(command.fence == expected || loose, Law::I3, || {
            format!(
                "{elevator}: {word} with fence {}, not {expected}",
                command.fence
            )
        });
        if command.action == Action::Query {
            return;
        }
        if !matches!(command.action, Action::Release) {
            let serves = self.serves(elevator);
            found.check(serves, Law::I12, || {
                format!("{elevator}: {word} in mode {}", self.mode(elevator))
            });
            found.check(car.reading.is_some(), Law::I4, || {
                format!("{elevator}: {word} before anything was read")
            });
        }
        if !loose && let Err(why) = self.in_place(car, command) {
            found.add(Law::I10, format!("{elevator}: {word} {why}"));
        }
        self.sent(command, found);
    }

    /// The command is one that the state of the ride or of what it left behind asks for.
    fn in_place(&self, car: &Car, command: &Command) -> Result<(), String> {
        let owner = car.kept.owner.as_ref();
        let ride = owner.and_then(|order| self.rides.get(order));
        let ride = ride.filter(|_| car.kept.until.is_none());
        let state = ride.map(|ride| ride.state);
        let at = |landing: &Landing, wanted: &Landing| landing == wanted;
        let allowed = match &command.action {
            Action::Query => true,
            Action::Release => {
                let config = self.site.elevators.get(&command.elevator_id);
                config.is_some_and(|config| config.claim) || !self.serves(&command.elevator_id)
            }
            Action::Claim => state == Some(RideState::WaitingHallCall),
            Action::HallCall { landing, .. } => {
                state == Some(RideState::WaitingHallCall)
                    && ride.is_some_and(|ride| at(landing, &ride.from))
            }
            Action::CancelCall { .. } => matches!(car.kept.until, Some(Until::CallCleared(_))),
            Action::CarCall { landing } => {
                matches!(state, Some(RideState::RobotEntered | RideState::Running))
                    && ride.is_some_and(|ride| at(landing, &ride.to))
            }
            Action::CloseDoor { .. } => {
                state == Some(RideState::RobotEntered) || car.kept.until == Some(Until::ShutOrEmpty)
            }
            Action::OpenDoor { landing } => {
                return if car.stands_at(landing) && ride.is_some() {
                    Ok(())
                } else {
                    Err(format!("at {landing}, where the car is not read level"))
                };
            }
            Action::HoldDoor { hold_ms, landing } => {
                let config = self.site.elevators.get(&command.elevator_id);
                let most_ms = config.map_or(0, |config| config.hold_max_ms);
                let stands = car.stands_at(landing);
                *hold_ms <= most_ms && stands && ride.is_some() && state != Some(RideState::Granted)
            }
        };
        if allowed {
            return Ok(());
        }
        let until = &car.kept.until;
        Err(format!("out of place: {state:?}, kept until {until:?}"))
    }

    /// One command under way, a repetition only of what was read not to have taken (law 5).
    fn sent(&mut self, command: &Command, found: &mut Found) {
        let (now_ms, accept_ms) = (self.now_ms, self.site.timing.accept_ms);
        let elevator = &command.elevator_id;
        let Some(car) = self.cars.get_mut(elevator) else {
            return;
        };
        let known = car
            .known
            .iter_mut()
            .find(|sent| sent.id == command.command_id);
        if let Some(first) = known {
            let unknown_ms = first.unknown_ms.unwrap_or(first.sent_ms + accept_ms);
            let read = car.asked_ms.is_some_and(|asked_ms| asked_ms >= unknown_ms);
            let held = matches!(command.action, Action::HoldDoor { .. });
            let same = first.action == command.action;
            found.check(same && read && !held && !first.resent, Law::I4, || {
                let word = command.action.word();
                format!(
                    "{elevator}: {word} {} was sent blindly again",
                    command.command_id
                )
            });
            first.resent = true;
            first.sent_ms = now_ms;
            first.unknown_ms = None;
            car.flight = Some(first.clone());
        } else {
            if let Some(flight) = &car.flight {
                // A recall waits for nothing.
                let recall = command.action == Action::Release;
                let word = command.action.word();
                found.check(recall, Law::I4, || {
                    format!(
                        "{elevator}: {word} while {} is under way",
                        flight.action.word()
                    )
                });
            }
            let sent = Flight {
                id: command.command_id.clone(),
                action: command.action.clone(),
                sent_ms: now_ms,
                resent: false,
                unknown_ms: None,
            };
            if car.known.len() == KNOWN_MAX {
                car.known.pop_front();
            }
            car.known.push_back(sent.clone());
            car.flight = Some(sent);
        }
        if matches!(command.action, Action::HoldDoor { .. }) {
            car.hold_sent_ms = Some(now_ms);
        }
    }

    /// The bytes of a command left.
    pub(super) fn left(&mut self, command: &Command, found: &mut Found) {
        let elevator = &command.elevator_id;
        let Some(car) = self.cars.get_mut(elevator) else {
            return;
        };
        found.check(command.fence >= car.left, Law::I3, || {
            format!(
                "{elevator}: fence {} left after {}",
                command.fence, car.left
            )
        });
        let another = car.left_order.is_some()
            && command.order_id.is_some()
            && car.left_order != command.order_id;
        found.check(!(another && command.fence == car.left), Law::I2, || {
            format!("{elevator}: fence {} is another order's", command.fence)
        });
        car.left = car.left.max(command.fence);
        if command.order_id.is_some() {
            car.left_order.clone_from(&command.order_id);
        }
    }

    /// Law 9: while a robot may cross and the door is read open, it is held before the hold ends.
    pub(super) fn is_held(&self, elevator: &ElevatorId, found: &mut Found) {
        let Some(car) = self.cars.get(elevator) else {
            return;
        };
        let (Some(open_ms), Some(config)) = (car.open_since_ms, self.site.elevators.get(elevator))
        else {
            return;
        };
        let ride = car.kept.owner.as_ref().and_then(|it| self.rides.get(it));
        let Some(ride) = ride.filter(|_| car.kept.until.is_none()) else {
            return;
        };
        let waits = match ride.state {
            RideState::ElevatorArrived => ride.instruction == Instruction::Enter,
            RideState::TargetArrived => ride.instruction == Instruction::Exit,
            RideState::Hold => ride.inside,
            RideState::Queued
            | RideState::Granted
            | RideState::WaitingHallCall
            | RideState::RobotEntered
            | RideState::Running
            | RideState::RobotExited
            | RideState::Cancelled
            | RideState::Expired
            | RideState::Failed => false,
        };
        let since = car
            .hold_sent_ms
            .unwrap_or(0)
            .max(open_ms)
            .max(ride.since_ms);
        let silent = car.quiet_ms(self.now_ms) >= self.site.timing.silent_ms;
        let busy = car.flight.is_some() || silent;
        // A process that stood still held nothing.
        let since = since.max(self.stalled_ms);
        let late = self.now_ms > since + config.hold_max_ms;
        if waits && late && !busy && self.serves(elevator) {
            let order = car.kept.owner.as_ref();
            let ago = self.now_ms - since;
            found.add(
                Law::I10,
                format!("{elevator} is open for {order:?} and was held {ago} ms ago"),
            );
        }
    }
}
