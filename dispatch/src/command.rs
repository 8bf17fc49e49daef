//! Commands to one elevator: wanted by rides, sent one at a time, judged by readings; and the
//! queries in between (law 5, law 6).

use protocol::hardware::{Action, Command};
use protocol::ride::RideState;
use protocol::{CommandId, ElevatorId};

use crate::effect::Effect;
use crate::effort::{Aim, Stage, command_id};
use crate::step::Step;

/// However short `reading_fresh_s` is, a controller is polled no more often than this.
const FRESH_POLL_MS_MIN: u64 = 200;

impl Step<'_> {
    /// Wants a command done. Outside a mode that serves robots only `release` is (law 7).
    pub(crate) fn order(&mut self, elevator: &ElevatorId, aim: Aim, action: Action) {
        let barred = !action.is_allowed_in_any_mode() && !self.mode(elevator).serves_robots();
        if mutate!(CommandInFire, barred, false) {
            return;
        }
        if let Some(car) = self.live.cars.get_mut(elevator) {
            car.efforts.begin(aim, action);
            self.live.touched.insert(elevator.clone());
        }
    }

    /// Wants a reading that is asked for from here on.
    pub(crate) fn ask(&mut self, elevator: &ElevatorId) {
        self.ask_since(elevator, self.now.mono_ms);
    }

    /// Wants a reading that is asked for at or after `since_ms`; nothing where one is under way.
    pub(crate) fn ask_since(&mut self, elevator: &ElevatorId, since_ms: u64) {
        let Some(car) = self.live.cars.get_mut(elevator) else {
            return;
        };
        let asked = car.query.last_ms.is_some_and(|last| last >= since_ms);
        if !asked {
            // Of two wishes the earlier is served first; who wants the later asks again.
            let since_ms = car
                .query
                .wanted_ms
                .map_or(since_ms, |wanted| wanted.min(since_ms));
            car.query.wanted_ms = Some(since_ms);
            self.live.touched.insert(elevator.clone());
        }
    }

    /// Wants a reading because of a stale or foreign message: at most one every `requery_s`.
    pub(crate) fn ask_seldom(&mut self, elevator: &ElevatorId) {
        let pause_ms = self.config.timing.requery_ms;
        let now_ms = self.now.mono_ms;
        let due = self.live.cars.get(elevator).is_some_and(|car| {
            car.query
                .last_ms
                .is_none_or(|last| now_ms >= last.saturating_add(pause_ms))
        });
        if due {
            self.ask(elevator);
        }
    }

    /// Judges what is under way by the time and by what was READ.
    pub(crate) fn judge_commands(&mut self, elevator: &ElevatorId) {
        let accept_ms = self.config.timing.accept_ms;
        let now_ms = self.now.mono_ms;
        let Some(car) = self.live.cars.get_mut(elevator) else {
            return;
        };
        let reading = car.reading.as_ref().zip(car.asked_ms);
        if let Some(since) = car.efforts.judge(reading, now_ms, accept_ms)
            && car.query.last_ms.is_none_or(|last| last < since)
        {
            car.query.wanted_ms = Some(since);
        }
    }

    /// Judges what is under way, and sends what may be sent.
    pub(crate) fn pump(&mut self, elevator: &ElevatorId) {
        let now_ms = self.now.mono_ms;
        let serves = self.mode(elevator).serves_robots();
        self.judge_commands(elevator);
        self.poll(elevator);
        self.drop_unless_level(elevator);
        let mut sent: Option<(Aim, Action, CommandId)> = None;
        if let Some(car) = self.live.cars.get_mut(elevator)
            && car.efforts.is_lane_free()
        {
            let barred = mutate!(CommandInFire, !serves, false);
            if mutate!(WaitingInFire, barred, false) {
                car.efforts.keep_only_release();
            }
            sent = car
                .efforts
                .take_next(now_ms, self.live.boot, &mut self.live.commands);
        }
        if let Some((aim, action, id)) = sent {
            self.note_sent(elevator, aim, &action);
            self.send(elevator, id, action);
        }
    }

    /// What opens or holds a door and waited its turn while the car left does not go out (`wire.md`
    /// section 6).
    fn drop_unless_level(&mut self, elevator: &ElevatorId) {
        for aim in [Aim::Open, Aim::Hold] {
            let car = self.live.cars.get(elevator);
            let effort = car.and_then(|car| car.efforts.get(aim));
            if let Some(effort) = effort
                && effort.stage == Stage::Waiting
                && let Action::OpenDoor { landing } | Action::HoldDoor { landing, .. } =
                    &effort.action
                && !self.stands_level(elevator, landing)
                && let Some(car) = self.live.cars.get_mut(elevator)
            {
                car.efforts.drop_aim(aim);
            }
        }
    }

    /// Asks when a reading is wanted, or when none came for `poll_s`.
    fn poll(&mut self, elevator: &ElevatorId) {
        let (poll_ms, accept_ms) = (self.poll_ms(elevator), self.config.timing.accept_ms);
        let now_ms = self.now.mono_ms;
        let Some(car) = self.live.cars.get_mut(elevator) else {
            return;
        };
        let read_ms = car.read_ms.unwrap_or(0);
        let quiet = car.read_ms.is_none() || now_ms >= read_ms.saturating_add(poll_ms);
        let open = car
            .query
            .sent_ms
            .is_some_and(|sent| now_ms < sent.saturating_add(accept_ms.max(poll_ms)));
        let polled = car
            .query
            .last_ms
            .is_some_and(|last| now_ms < last.saturating_add(poll_ms));
        let wanted = car.query.wanted_ms.is_some_and(|since| {
            now_ms >= since && car.query.last_ms.is_none_or(|last| last < since)
        });
        if wanted || (quiet && !open && !polled) {
            car.query.wanted_ms = None;
            car.query.sent_ms = Some(now_ms);
            car.query.last_ms = Some(now_ms);
            let id = self.next_command_id();
            if let Some(car) = self.live.cars.get_mut(elevator) {
                car.query.id = Some(id.clone());
            }
            self.send(elevator, id, Action::Query);
        }
    }

    /// The longest silence before the car is asked: `poll_s`, and less where a robot waits for a
    /// permission or for its door to be held, which a stale reading founds no more.
    fn poll_ms(&self, elevator: &ElevatorId) -> u64 {
        let timing = &self.config.timing;
        let record = self.state.elevators.get(elevator);
        let owner = record
            .filter(|record| record.kept.is_none())
            .and_then(|record| record.owner.as_ref());
        let ride = owner.and_then(|owner| self.state.rides.get(&owner.order));
        if !ride.is_some_and(|ride| may_cross_in(ride.state)) {
            return timing.poll_ms;
        }
        // The answer takes its time too.
        let fresh_ms = timing.reading_fresh_ms.saturating_mul(2) / 3;
        timing.poll_ms.min(fresh_ms.max(FRESH_POLL_MS_MIN))
    }

    fn next_command_id(&mut self) -> CommandId {
        command_id(self.live.boot, &mut self.live.commands)
    }

    fn note_sent(&mut self, elevator: &ElevatorId, aim: Aim, action: &Action) {
        let timing = &self.config.timing;
        let now_ms = self.now.mono_ms;
        let Some(car) = self.live.cars.get_mut(elevator) else {
            return;
        };
        match aim {
            Aim::Hold => {
                if let Action::HoldDoor { hold_ms, .. } = action {
                    let spare = timing.valid_ms.saturating_add(timing.accept_ms);
                    let pause = hold_ms.saturating_sub(spare).max(hold_ms / 5).max(1);
                    car.hold_next_ms = now_ms.saturating_add(pause);
                    car.release_due = true;
                }
            }
            Aim::Claim => car.release_due = true,
            Aim::Release => car.release_due = false,
            Aim::Close => car.close_ms = Some(now_ms),
            Aim::Call | Aim::Cancel | Aim::Open => {}
        }
    }

    fn send(&mut self, elevator: &ElevatorId, command_id: CommandId, action: Action) {
        let record = self.state.elevators.get(elevator);
        let owner = record.and_then(|record| record.owner.as_ref());
        let highest = record.map(|record| record.fence).unwrap_or_default();
        let command = Command {
            elevator_id: elevator.clone(),
            command_id,
            fence: mutate!(
                CommandFence,
                owner.map_or(highest, |owner| owner.fence),
                protocol::Fence(highest.0.saturating_sub(1))
            ),
            order_id: owner.map(|owner| owner.order.clone()),
            action,
            expires_in_ms: self.config.timing.valid_ms,
        };
        self.out.effects.push(Effect::Command(command));
    }

    /// When the elevator must be looked at for its commands and polls.
    pub(crate) fn command_timer(&self, elevator: &ElevatorId) -> Option<u64> {
        let timing = &self.config.timing;
        let car = self.live.cars.get(elevator)?;
        let base = car.query.last_ms.unwrap_or(0).max(car.read_ms.unwrap_or(0));
        let poll = base.saturating_add(self.poll_ms(elevator));
        let silent = car
            .read_ms
            .unwrap_or(car.start_ms)
            .saturating_add(timing.silent_ms);
        let silent = (silent > self.now.mono_ms).then_some(silent);
        [
            Some(poll),
            car.query.wanted_ms,
            silent,
            car.efforts.next_ms(timing.accept_ms),
        ]
        .into_iter()
        .flatten()
        .min()
    }
}

/// Whether a robot may be told to cross a threshold in this state.
fn may_cross_in(state: RideState) -> bool {
    match state {
        RideState::ElevatorArrived | RideState::TargetArrived | RideState::Hold => true,
        RideState::Queued
        | RideState::Granted
        | RideState::WaitingHallCall
        | RideState::RobotEntered
        | RideState::Running
        | RideState::RobotExited
        | RideState::Cancelled
        | RideState::Expired
        | RideState::Failed => false,
    }
}
