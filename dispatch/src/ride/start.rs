//! After a restart: every ride where it was, nothing permitted, and a read before all else.

use protocol::ride::{Instruction, RideState};
use protocol::{ElevatorId, Fence, OrderId, ReasonCode, RobotId};

use crate::fact::{ElevatorFact, Fact};
use crate::live::{Car, Progress, Recheck};
use crate::queue::signed;
use crate::step::Step;
use crate::timer::TimerKey;

/// Fences are raised by so much where others may have seen higher ones than we know.
const FENCE_STEP: u64 = 1_000;
/// No grant ever comes near it: what is told above is no fence of ours, and would leave no room.
const FENCE_MAX: Fence = Fence(1 << 53);

impl Step<'_> {
    /// The first input of a process.
    pub(crate) fn start(&mut self, restored: bool) {
        let now_ms = self.now.mono_ms;
        self.live.boot = self.now.wall;
        self.live.frozen_since_ms = Some(now_ms);
        for id in self.config.elevators.keys() {
            let car = Car {
                start_ms: now_ms,
                link_ms: now_ms,
                ..Car::default()
            };
            self.live.cars.insert(id.clone(), car);
            self.live.touched.insert(id.clone());
        }
        if restored {
            let ids: Vec<ElevatorId> = self.config.elevators.keys().cloned().collect();
            for id in ids {
                let highest = self.state.elevator(&id).fence;
                self.raise_fence(&id, Fence(highest.0.saturating_add(FENCE_STEP)));
            }
        }
        let orders: Vec<OrderId> = self.state.rides.keys().cloned().collect();
        for order in orders {
            self.resume_ride(&order);
        }
        for id in self.config.elevators.keys() {
            if let Some(car) = self.live.cars.get_mut(id) {
                car.kept.since_ms = now_ms;
                car.release_due = true;
            }
        }
        self.live.timers.hasten(
            TimerKey::Sweep,
            now_ms.saturating_add(self.config.timing.sweep_ms),
        );
        self.live.site_due = true;
        self.start_series(restored);
        self.tend_days();
        self.start_claims();
        self.start_rentals(restored);
        self.say_open_alarms();
    }

    fn resume_ride(&mut self, order: &OrderId) {
        let Some(ride) = self.state.rides.get(order) else {
            return;
        };
        if ride.state.is_terminal() {
            self.show(order);
            return;
        }
        let now_ms = self.now.mono_ms;
        let timing = &self.config.timing;
        let (state, inside) = (ride.state, ride.inside);
        let age_ms = self.now.wall.since(ride.accepted_at);
        let (deadline_ms, word) = match state {
            RideState::Queued => (None, Instruction::Wait),
            RideState::Granted => (Some(timing.grant_check_ms), Instruction::Approach),
            RideState::WaitingHallCall => (Some(timing.hall_call_ms), Instruction::Approach),
            RideState::ElevatorArrived if !inside => (Some(timing.entry_ms), Instruction::Approach),
            RideState::ElevatorArrived => (
                Some(timing.entry_ms),
                mutate!(StartPermits, Instruction::Stay, ride.instruction),
            ),
            RideState::RobotEntered => (Some(timing.door_close_ms), Instruction::Ride),
            RideState::Running => (Some(timing.travel_ms), Instruction::Ride),
            RideState::TargetArrived => (Some(timing.exit_ms), Instruction::Stay),
            RideState::Hold => (None, Instruction::Stay),
            RideState::RobotExited
            | RideState::Cancelled
            | RideState::Expired
            | RideState::Failed => return,
        };
        let progress = Progress {
            since_ms: now_ms,
            deadline_ms: deadline_ms.map(|span| now_ms.saturating_add(span)),
            heard_ms: now_ms,
            born_ms: signed(now_ms).saturating_sub(signed(age_ms)),
            shut_seen: inside,
            recheck: ride
                .claim
                .map(|claim| Recheck::begin(claim, now_ms, timing.entry_recheck_ms)),
            resumed: true,
            permitted_ms: now_ms,
            ..Progress::default()
        };
        self.live.rides.insert(order.clone(), progress);
        if state == RideState::Queued {
            self.enqueue(order);
        }
        self.live
            .timers
            .hasten(TimerKey::Ride(order.clone()), now_ms);
        let same = self
            .ride(order)
            .is_some_and(|ride| ride.instruction == word);
        if same {
            self.show(order);
        } else {
            self.instruct(order, word);
        }
    }

    /// The broker still shows a ride of ours from before: one that is not the robot's present one
    /// is overwritten; the present one was published at the start.
    pub(crate) fn own_ride(&mut self, robot: &RobotId, order: &OrderId) {
        match self.state.robots.get(robot).cloned() {
            Some(current) if &current == order => {}
            Some(current) => self.show(&current),
            None => self.say(protocol::Outgoing::RideStateCleared {
                robot: robot.clone(),
            }),
        }
    }

    /// Somebody has seen a fence: where it is higher than ours, our data is not the newest.
    pub(crate) fn own_elevator(&mut self, elevator: &ElevatorId, fence: Fence) {
        if self.config.elevators.contains_key(elevator)
            && fence <= FENCE_MAX
            && fence > self.state.elevator(elevator).fence
        {
            self.raise_fence(elevator, Fence(fence.0.saturating_add(FENCE_STEP)));
        }
    }

    /// Restored data (`ride.md` section 4): the fence rises, an owned elevator's ride is held, any
    /// other elevator is unknown until it is read.
    fn raise_fence(&mut self, elevator: &ElevatorId, fence: Fence) {
        let id = elevator.clone();
        self.record(Fact::Elevator(ElevatorFact::FenceRaised {
            elevator: id.clone(),
            fence,
        }));
        let owner = self.state.elevator(elevator).owner;
        let held = owner
            .as_ref()
            .and_then(|owner| self.ride(&owner.order))
            .is_some_and(|ride| {
                ride.elevator.as_ref() == Some(elevator) && !ride.state.is_terminal()
            });
        if let (Some(owner), true) = (owner, held) {
            if self
                .ride(&owner.order)
                .is_some_and(|ride| ride.state != RideState::Hold)
            {
                let detail = "the data was restored: where the robot is must be seen";
                self.hold(&owner.order, ReasonCode::EntryUnconfirmed, detail);
            }
        } else {
            self.record(Fact::Elevator(ElevatorFact::MustBeRead {
                elevator: id,
                on: true,
            }));
        }
        self.live.touched.insert(elevator.clone());
        self.live.published.remove(elevator);
    }
}
