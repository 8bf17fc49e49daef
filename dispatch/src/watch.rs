//! Alarms: which ought to stand is read off the state; raised, repeated and cleared follow.

use std::collections::BTreeSet;

use protocol::ops::{Alarm, Severity};
use protocol::ride::RideState;
use protocol::{AlarmCode, ElevatorId, Outgoing, limits};

use crate::alarm::{Open, Subject, Wanted, alarm_id, alarm_of, is_of_applications};
use crate::step::{Step, cut};
use crate::timer::TimerKey;

/// Critical alarms are repeated every 60 s (`wire.md` section 6).
const REPEAT_MS: u64 = 60_000;
/// A jump of the wall clock is told for this long.
const CLOCK_JUMP_SHOWN_MS: u64 = 60_000;
/// A controller's clock that is off is told for this long after it was last seen so.
const CLOCK_OFF_SHOWN_MS: u64 = 120_000;

impl Step<'_> {
    /// Raises what ought to stand, clears what ought not, repeats what is due.
    pub(crate) fn tend_alarms(&mut self) {
        let all = self.live.cars.keys().chain(self.state.elevators.keys());
        let all = all.cloned().collect();
        self.tend_alarms_of(&all);
    }

    /// The same for the site and these elevators; nothing happened to the others.
    pub(crate) fn tend_alarms_of(&mut self, elevators: &BTreeSet<ElevatorId>) {
        let wanted = self.wanted_alarms(elevators);
        self.settle_alarms(wanted, |subject| {
            let elevator = subject.elevator.as_ref();
            !is_of_applications(subject.code) && elevator.is_none_or(|id| elevators.contains(id))
        });
    }

    /// The same for the alarms of one code of applications.
    pub(crate) fn tend_alarms_of_code(&mut self, code: AlarmCode, wanted: Wanted) {
        self.settle_alarms(wanted, |subject| subject.code == code);
    }

    fn settle_alarms(&mut self, wanted: Wanted, is_theirs: impl Fn(&Subject) -> bool) {
        let now_ms = self.now.mono_ms;
        let mut said = Vec::new();
        let mut changed = false;
        let gone: Vec<Subject> = self
            .live
            .alarms
            .open
            .keys()
            .filter(|key| is_theirs(key) && !wanted.contains_key(key))
            .cloned()
            .collect();
        for subject in gone {
            if let Some(mut open) = self.live.alarms.open.remove(&subject) {
                open.alarm.cleared_at = Some(self.now.wall);
                said.push(open.alarm);
                changed = true;
            }
        }
        for (subject, (severity, detail)) in wanted {
            if let Some(open) = self.live.alarms.open.get_mut(&subject) {
                let due = now_ms >= open.said_ms.saturating_add(REPEAT_MS);
                let graver = open.alarm.severity != severity;
                if graver {
                    open.alarm.severity = severity;
                    open.alarm.detail = cut(detail);
                    changed = true;
                }
                if graver || (severity == Severity::Critical && due) {
                    open.said_ms = now_ms;
                    said.push(open.alarm.clone());
                }
            } else if self.live.alarms.open.len() < limits::ALARMS_MAX {
                let alarm = Alarm {
                    alarm_id: alarm_id(&subject),
                    severity,
                    code: subject.code,
                    elevator_id: subject.elevator.clone(),
                    order_id: subject.order.clone(),
                    raised_at: self.now.wall,
                    cleared_at: None,
                    detail: cut(detail),
                };
                said.push(alarm.clone());
                self.live.alarms.open.insert(
                    subject,
                    Open {
                        alarm,
                        said_ms: now_ms,
                    },
                );
                changed = true;
            }
        }
        for alarm in said {
            self.say(Outgoing::Alarm(alarm));
        }
        if changed {
            self.say_open_alarms();
        }
        let next = self.next_alarm_ms();
        self.live.timers.set(TimerKey::Alarms, next);
    }

    /// When a critical alarm is repeated next, or a warning that lasts a while ends. Any other
    /// warning stands without a timer: it ends with an input or at the sweep.
    fn next_alarm_ms(&self) -> Option<u64> {
        let open = self.live.alarms.open.values();
        let repeats = open
            .filter(|open| open.alarm.severity == Severity::Critical)
            .map(|open| open.said_ms.saturating_add(REPEAT_MS))
            // One that is due may be another's to say.
            .map(|at| at.max(self.now.mono_ms.saturating_add(1)));
        let clocks = self.live.cars.values().filter_map(|car| car.clock_off_ms);
        let clocks = clocks.map(|at| at.saturating_add(CLOCK_OFF_SHOWN_MS));
        let jump = self.live.clock_jump_ms;
        let jump = jump.map(|at| at.saturating_add(CLOCK_JUMP_SHOWN_MS));
        repeats
            .chain(clocks)
            .chain(jump)
            .filter(|at| *at > self.now.mono_ms)
            .min()
    }

    /// Publishes the list of all open alarms.
    pub(crate) fn say_open_alarms(&mut self) {
        let open = self
            .live
            .alarms
            .open
            .values()
            .map(|open| open.alarm.clone())
            .collect();
        self.say(Outgoing::Alarms(open));
    }

    fn wanted_alarms(&self, elevators: &BTreeSet<ElevatorId>) -> Wanted {
        let mut wanted = Wanted::new();
        for id in elevators {
            let record = self.state.elevators.get(id);
            if let Some(block) = record.and_then(|record| record.block.as_ref()) {
                let code = if block.occupant {
                    AlarmCode::UnexpectedOccupant
                } else {
                    alarm_of(block.reason.code).unwrap_or(AlarmCode::ControllerLost)
                };
                let subject = Subject {
                    code,
                    elevator: Some(id.clone()),
                    order: None,
                    place: None,
                };
                let detail = format!("{id} is blocked: {}", block.reason.detail);
                wanted.insert(subject, (Severity::Critical, detail));
            }
            self.add_hold(&mut wanted, id);
            self.add_silent(&mut wanted, id);
        }
        self.add_site(&mut wanted);
        wanted
    }

    fn add_hold(&self, wanted: &mut Wanted, id: &ElevatorId) {
        let owner = self
            .state
            .elevators
            .get(id)
            .and_then(|record| record.owner.as_ref());
        let Some(ride) = owner.and_then(|owner| self.state.rides.get(&owner.order)) else {
            return;
        };
        if ride.state != RideState::Hold || ride.elevator.as_ref() != Some(id) {
            return;
        }
        let Some(reason) = &ride.reason else { return };
        let Some(code) = alarm_of(reason.code) else {
            return;
        };
        let subject = Subject {
            code,
            elevator: Some(id.clone()),
            order: Some(ride.order.clone()),
            place: None,
        };
        let detail = format!("{} may be in {id}: {}", ride.robot, reason.detail);
        wanted.insert(subject, (Severity::Critical, detail));
    }

    fn add_silent(&self, wanted: &mut Wanted, id: &ElevatorId) {
        let now_ms = self.now.mono_ms;
        let subject = |code| Subject {
            code,
            elevator: Some(id.clone()),
            order: None,
            place: None,
        };
        if self.is_silent(id) {
            let detail = format!("the controller of {id} is silent");
            let silent = wanted.entry(subject(AlarmCode::ControllerLost));
            silent.or_insert((Severity::Warning, detail));
        }
        let off = self.live.cars.get(id).and_then(|car| car.clock_off_ms);
        if off.is_some_and(|at| now_ms < at.saturating_add(CLOCK_OFF_SHOWN_MS)) {
            let detail = format!("the clock of {id} is more than a minute off");
            let off = subject(AlarmCode::ControllerClock);
            wanted.insert(off, (Severity::Warning, detail));
        }
    }

    fn add_site(&self, wanted: &mut Wanted) {
        let mut add = |code, place: Option<String>, severity, detail: String| {
            let subject = Subject {
                code,
                elevator: None,
                order: None,
                place,
            };
            wanted.insert(subject, (severity, detail));
        };
        for (id, zone) in &self.state.zones {
            if zone.fire.is_some() {
                let detail = format!("zone {id} is in fire mode until it is resumed");
                add(
                    AlarmCode::FireMode,
                    Some(id.to_string()),
                    Severity::Critical,
                    detail,
                );
            }
        }
        for bus in &self.live.buses_down {
            let detail = format!("bus {bus} cannot be reached");
            add(
                AlarmCode::BusLost,
                Some(bus.clone()),
                Severity::Critical,
                detail,
            );
        }
        if self.live.broker_lost {
            let detail = "the broker cannot be reached".to_owned();
            add(AlarmCode::BrokerLost, None, Severity::Critical, detail);
        }
        if self.live.disk_low {
            let detail = "less than 64 MiB free: new orders are refused".to_owned();
            add(AlarmCode::DiskLow, None, Severity::Critical, detail);
        }
        if self.live.insecure {
            let detail = "the embedded broker listens beyond loopback without access control";
            add(
                AlarmCode::Insecure,
                None,
                Severity::Warning,
                detail.to_owned(),
            );
        }
        let jump = self.live.clock_jump_ms;
        if jump.is_some_and(|at| self.now.mono_ms < at.saturating_add(CLOCK_JUMP_SHOWN_MS)) {
            let detail = "the wall clock jumped".to_owned();
            add(AlarmCode::ClockJump, None, Severity::Warning, detail);
        }
    }
}
