//! The core: one input in, facts and effects out, nothing else.

use protocol::{ElevatorId, OrderId, limits};

use crate::config::SiteConfig;
use crate::effect::Effects;
use crate::input::{Input, Now};
use crate::live::Live;
use crate::reach::Reach;
use crate::state::State;
use crate::step::Step;
use crate::timer::TimerKey;

/// Timers that fire in one step at most; what is left fires in the next.
const TIMERS_MAX: usize = 10_000;
/// Rounds over touched elevators in one step. Each works off what the one before touched; an
/// elevator is touched again by a grant, its ride's next state or a wish for a reading that waits
/// for its time: a few are enough, and each elevator has its own next moment.
const ROUNDS_MAX: usize = 8;
/// The wall clock jumped when it and the monotonic one differ by more than this between steps.
const CLOCK_JUMP_MS: u64 = 5_000;

/// The one writer of who gets what.
#[derive(Debug, Clone)]
pub struct Core {
    config: SiteConfig,
    reach: Reach,
    state: State,
    live: Live,
}

impl Core {
    /// A core for a site that nothing is known of.
    #[must_use]
    pub fn new(config: SiteConfig) -> Self {
        Self::restore(config, State::default())
    }

    /// A core that goes on from a state. Its first input must be [`Input::Start`].
    #[must_use]
    pub fn restore(config: SiteConfig, state: State) -> Self {
        Self {
            reach: Reach::of(&config),
            config,
            state,
            live: Live::default(),
        }
    }

    /// What is known for sure.
    #[must_use]
    pub fn state(&self) -> &State {
        &self.state
    }

    /// The site.
    #[must_use]
    pub fn config(&self) -> &SiteConfig {
        &self.config
    }

    pub(crate) fn live(&self) -> &Live {
        &self.live
    }

    /// Everything that a next step depends on, as text: equal texts go on alike. For those who look
    /// at all states that there are.
    ///
    /// # Errors
    /// What `to` says.
    pub fn write_all(&self, to: &mut impl std::fmt::Write) -> std::fmt::Result {
        write!(to, "{:?}{:?}", self.state, self.live)
    }

    /// When [`Input::Tick`] is due, on the clock of [`Now::mono_ms`].
    #[must_use]
    pub fn next_deadline_ms(&self) -> Option<u64> {
        self.live.timers.next_ms()
    }

    /// One step. `out` holds what the step yields and must be empty before.
    pub fn step(&mut self, now: Now, input: Input, out: &mut Effects) {
        let mut step = Step {
            config: &self.config,
            reach: &self.reach,
            state: &mut self.state,
            live: &mut self.live,
            now,
            out,
        };
        step.watch_clock();
        step.take(input);
        step.settle_all();
    }
}

impl Step<'_> {
    fn take(&mut self, input: Input) {
        match input {
            Input::Start { restored } => self.start(restored),
            Input::Robot { robot, message } => self.robot(robot, message),
            Input::Client { client, request } => self.client(client, &request),
            Input::TokenKey(key) => self.live.token_key = key,
            Input::Device { device, event } => self.device(&device, &event),
            Input::Unreadable(refusal) => self.unreadable(refusal),
            Input::Report { elevator, report } => self.report(&elevator, report),
            Input::ZoneFire { zone, clear } => self.zone_fire(&zone, clear),
            Input::OwnRide { robot, order, .. } => self.own_ride(&robot, &order),
            Input::OwnElevator { elevator, fence } => self.own_elevator(&elevator, fence),
            Input::Broker { up } => self.broker(up),
            Input::Bus { bus, up } => {
                if up {
                    self.live.buses_down.remove(&bus);
                } else if self.live.buses_down.len() < limits::ELEVATORS_MAX {
                    self.live.buses_down.insert(bus);
                }
                self.tend_alarms();
            }
            Input::Disk { low } => {
                self.live.disk_low = low;
                self.tend_alarms();
            }
            Input::Insecure => {
                self.live.insecure = true;
                self.tend_alarms();
            }
            Input::Stopping => {
                self.live.stopping = true;
                self.live
                    .touched
                    .extend(self.config.elevators.keys().cloned());
            }
            Input::Operator(request) => self.operator(request),
            Input::Tick => {}
        }
    }

    /// All that follows from the input and from the time: timers, elevators, grants, alarms.
    fn settle_all(&mut self) {
        for _ in 0..TIMERS_MAX {
            let Some(key) = self.live.timers.pop_due(self.now.mono_ms) else {
                break;
            };
            match key {
                TimerKey::Sweep => self.sweep(),
                TimerKey::Alarms => {
                    self.tend_alarms();
                    self.tend_series_alarms();
                    self.tend_claim_alarms();
                    self.tend_device_alarms();
                }
                TimerKey::Day => self.tend_days(),
                TimerKey::ClaimSweep => self.sweep_claims(),
                TimerKey::Claim(claim) => self.tend_claim(&claim),
                TimerKey::Rental(rental) => self.tend_rental(&rental),
                TimerKey::Device(device) => self.tend_device(&device),
                TimerKey::Pool(pool) => self.tend_pool(&pool),
                TimerKey::Elevator(id) => {
                    self.live.touched.insert(id);
                }
                TimerKey::Ride(order) => self.tend_ride(&order),
            }
        }
        let mut alarms_due = false;
        let mut shown = std::collections::BTreeSet::new();
        for _ in 0..ROUNDS_MAX {
            let touched = std::mem::take(&mut self.live.touched);
            if touched.is_empty() && !self.live.dispatch_due {
                break;
            }
            alarms_due |= !touched.is_empty();
            for id in touched {
                self.tend_elevator(&id);
                shown.insert(id);
            }
            if self.live.dispatch_due {
                self.dispatch();
            }
        }
        if alarms_due {
            self.tend_alarms_of(&shown);
        }
        self.live.touched.extend(shown);
        if std::mem::take(&mut self.live.site_due) {
            self.show_site();
        }
        self.show_elevators();
    }

    /// Looks after one elevator: silence, mode, its ride, its commands, its next moment.
    fn tend_elevator(&mut self, id: &ElevatorId) {
        if !self.live.cars.contains_key(id) {
            return;
        }
        self.note_silence(id);
        self.drive_mode(id);
        self.judge_commands(id);
        self.drive_owner(id);
        self.pump(id);
        let now_ms = self.now.mono_ms;
        let next = [self.command_timer(id), self.ride_timer(id)]
            .into_iter()
            .flatten()
            .min();
        let next = next.map(|at| at.max(now_ms.saturating_add(1)));
        self.live.timers.set(TimerKey::Elevator(id.clone()), next);
    }

    /// When the ride or the leftovers of an elevator must be looked at.
    fn ride_timer(&self, id: &ElevatorId) -> Option<u64> {
        let timing = &self.config.timing;
        let now_ms = self.now.mono_ms;
        let car = self.live.cars.get(id)?;
        let record = self.state.elevators.get(id)?;
        let owner = record.owner.as_ref()?;
        let mut moments = Vec::with_capacity(8);
        if record.kept.is_some() {
            moments.extend(car.kept.deadline_ms);
            moments.push(car.kept.since_ms.saturating_add(timing.settle_ms));
        }
        if let Some(progress) = self.live.rides.get(&owner.order) {
            let late = self.live.frozen_since_ms.is_none();
            moments.extend(progress.deadline_ms.filter(|_| late));
            moments.extend(progress.asking_until_ms);
            moments.extend(progress.recheck.map(|recheck| recheck.next_ms));
            let valid_ms = timing.valid_ms.saturating_mul(2);
            moments.push(progress.permitted_ms.saturating_add(valid_ms));
            moments.push(progress.requery_ms);
            moments.push(progress.close_after_ms);
        }
        if car.hold_next_ms < u64::MAX {
            moments.push(car.hold_next_ms);
        }
        let read_ms = car.asked_ms.unwrap_or(0);
        moments.push(read_ms.saturating_add(timing.reading_fresh_ms));
        moments.into_iter().filter(|at| *at > now_ms).min()
    }

    /// Ingest came or went: leases and deadlines stand still while it is away.
    fn broker(&mut self, up: bool) {
        let now_ms = self.now.mono_ms;
        let was_lost = std::mem::replace(&mut self.live.broker_lost, !up);
        match (up, self.live.frozen_since_ms) {
            (true, Some(since)) => {
                let away_ms = now_ms.saturating_sub(since);
                for progress in self.live.rides.values_mut() {
                    progress.heard_ms = mutate!(
                        LeaseRuns,
                        progress.heard_ms.saturating_add(away_ms).min(now_ms),
                        progress.heard_ms
                    );
                    progress.deadline_ms =
                        progress.deadline_ms.map(|at| at.saturating_add(away_ms));
                }
                for car in self.live.cars.values_mut() {
                    let deadline = &mut car.kept.deadline_ms;
                    *deadline = deadline.map(|at| at.saturating_add(away_ms));
                }
                self.live.frozen_since_ms = None;
                self.live.thawed_ms = now_ms;
                self.thaw_claims(away_ms);
                self.thaw_rentals(away_ms);
                self.live
                    .touched
                    .extend(self.config.elevators.keys().cloned());
                let waiting: Vec<OrderId> = self.live.rides.keys().cloned().collect();
                for order in waiting {
                    self.live.timers.hasten(TimerKey::Ride(order), now_ms);
                }
                self.live.dispatch_due = true;
            }
            (false, None) => self.live.frozen_since_ms = Some(now_ms),
            (true, None) | (false, Some(_)) => {}
        }
        if up && was_lost {
            self.say_all_again();
        }
        self.tend_alarms();
    }

    /// A broker that was lost may have forgotten what it kept of us (`wire.md` section 4).
    fn say_all_again(&mut self) {
        let orders: Vec<OrderId> = self.state.rides.keys().cloned().collect();
        for order in orders {
            self.show(&order);
        }
        self.live.published.clear();
        self.live.site_due = true;
        self.say_open_alarms();
    }

    fn watch_clock(&mut self) {
        if let Some(last) = self.live.last_now {
            let mono = self.now.mono_ms.saturating_sub(last.mono_ms);
            let wall = self.now.wall.0.abs_diff(last.wall.0.saturating_add(mono));
            if wall > CLOCK_JUMP_MS {
                self.live.clock_jump_ms = Some(self.now.mono_ms);
            }
        }
        self.live.last_now = Some(self.now);
    }
}
