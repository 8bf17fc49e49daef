//! What time does to rentals and devices: holds that end, commands that are told again, and the
//! start of a process.

use protocol::client::{RentalReason, RentalState};
use protocol::device::{DeviceAction, DeviceState, DeviceView};
use protocol::{DeviceId, Fence, InstanceId, OrderId, RentalId};

use super::fact::RentalFact;
use super::row::Rental;
use crate::fact::Fact;
use crate::step::Step;
use crate::timer::TimerKey;

/// From one device to the next where all are told something: no step is long.
const APART_MS: u64 = 2;
/// Fences and sequences are raised by so much where devices may have seen higher ones.
const RAISE: u64 = 1_000;
/// A rental that was over so lately is told again after a start.
const TOLD_AGAIN_MS: u64 = 3_600_000;

/// What is known of a device while the process runs.
#[derive(Debug, Clone, Default)]
pub(crate) struct DeviceWatch {
    /// The newest event.
    pub(super) seen: Option<(InstanceId, u64)>,
    /// Told something that nothing was heard after, since.
    pub(super) asked_ms: Option<u64>,
    /// It did not answer in time.
    pub(super) is_silent: bool,
    /// It is to be asked how it stands then.
    pub(super) query_ms: Option<u64>,
    /// It is told so often again to stop, under this order.
    pub(super) stops_left: u32,
    pub(super) stop_order: Option<OrderId>,
    /// As it was published last.
    pub(super) shown: Option<DeviceView>,
}

impl DeviceWatch {
    /// Something newer was heard.
    pub(super) fn hear(&mut self) {
        self.asked_ms = None;
        self.is_silent = false;
    }
}

impl Step<'_> {
    /// The first input of a process.
    pub(crate) fn start_rentals(&mut self, restored: bool) {
        if restored {
            self.doubt_devices();
        }
        let live: Vec<Rental> = self.state.rentals.live.values().cloned().collect();
        for rental in live {
            if self
                .config
                .applications
                .rentals
                .devices
                .contains(&rental.device)
            {
                self.wait_for_rental(&rental.rental);
                if rental.state != RentalState::Reserved {
                    self.show_rental(&rental.rental);
                }
            } else {
                let why = format!("device {} is not configured any more", rental.device);
                self.fail_rental_of(&rental.device, (RentalReason::DeviceFault, why));
            }
        }
        let wall = self.now.wall;
        let lately = self.state.rentals.past.iter().filter(|rental| {
            rental
                .over_at
                .is_some_and(|at| wall.since(at) < TOLD_AGAIN_MS)
        });
        let lately: Vec<RentalId> = lately.map(|rental| rental.rental.clone()).collect();
        for rental in lately {
            self.show_rental(&rental);
        }
        self.tend_device_alarms();
    }

    /// What happened since the backup is not known here: a device must say how it stands.
    fn doubt_devices(&mut self) {
        let devices = self.config.applications.rentals.devices.clone();
        for id in devices {
            let device = self.state.rentals.device(&id);
            self.record(Fact::Rental(RentalFact::Raised {
                device: id.clone(),
                fence: Fence(device.fence.0.saturating_add(RAISE)),
                sequence: device.sequence.saturating_add(RAISE),
            }));
            if device.state == DeviceState::Idle {
                self.set_device(&id, DeviceState::Unknown);
            }
        }
    }

    /// Ingest is there, after it was away for so long: nobody could be heard. Each device is asked
    /// how it stands, and told again what it may not have heard.
    pub(crate) fn thaw_rentals(&mut self, away_ms: u64) {
        let now_ms = self.now.mono_ms;
        let mut at_ms = now_ms;
        for id in &self.config.applications.rentals.devices {
            at_ms = at_ms.saturating_add(APART_MS);
            let watch = self.live.devices.entry(id.clone()).or_default();
            watch.query_ms = Some(at_ms);
            watch.asked_ms = None;
            watch.shown = None;
            self.live
                .timers
                .set(TimerKey::Device(id.clone()), Some(at_ms));
        }
        at_ms = now_ms;
        let waiting: Vec<(RentalId, RentalState)> = self
            .state
            .rentals
            .live
            .values()
            .map(|rental| (rental.rental.clone(), rental.state))
            .collect();
        for (id, state) in waiting {
            let ends_ms = match state {
                RentalState::Pending | RentalState::Ending => {
                    at_ms = at_ms.saturating_add(APART_MS);
                    self.live.rentals_again.insert(id.clone());
                    Some(at_ms)
                }
                RentalState::Reserved
                | RentalState::Active
                | RentalState::Ended
                | RentalState::Cancelled
                | RentalState::Expired
                | RentalState::Failed => {
                    let ends_ms = self.live.rental_ends.get(&id);
                    ends_ms.map(|at| at.saturating_add(away_ms))
                }
            };
            self.set_rental_end(&id, ends_ms);
        }
    }

    /// What a rental waits for in its state begins now.
    pub(super) fn wait_for_rental(&mut self, id: &RentalId) {
        self.live.rentals_again.remove(id);
        let Some(rental) = self.state.rentals.live.get(id) else {
            self.set_rental_end(id, None);
            return;
        };
        let span_ms = match rental.state {
            RentalState::Reserved => rental.expires_at.map(|at| at.since(self.now.wall)),
            RentalState::Pending | RentalState::Ending => {
                Some(self.config.applications.rentals.pending_ms)
            }
            RentalState::Active
            | RentalState::Ended
            | RentalState::Cancelled
            | RentalState::Expired
            | RentalState::Failed => None,
        };
        let ends_ms = span_ms.map(|span| self.now.mono_ms.saturating_add(span));
        self.set_rental_end(id, ends_ms);
    }

    fn set_rental_end(&mut self, id: &RentalId, ends_ms: Option<u64>) {
        match ends_ms {
            Some(ends_ms) => self.live.rental_ends.insert(id.clone(), ends_ms),
            None => self.live.rental_ends.remove(id),
        };
        self.live.timers.set(TimerKey::Rental(id.clone()), ends_ms);
    }

    /// Whether what a rental waits for did not come in time.
    pub(super) fn is_over(&self, id: &RentalId) -> bool {
        let ends_ms = self.live.rental_ends.get(id);
        ends_ms.is_some_and(|ends_ms| *ends_ms <= self.now.mono_ms)
    }

    /// A rental's moment.
    pub(crate) fn tend_rental(&mut self, id: &RentalId) {
        if self.live.frozen_since_ms.is_some() || !self.is_over(id) {
            // What stands still goes on by `thaw_rentals`.
            return;
        }
        let Some(rental) = self.state.rentals.live.get(id).cloned() else {
            return;
        };
        match rental.state {
            RentalState::Reserved => {
                let why = "it was not started in time".to_owned();
                let why = Some((RentalReason::TokenExpired, why));
                self.move_rental(id, RentalState::Expired, why, false);
                self.set_device(&rental.device, DeviceState::Idle);
            }
            RentalState::Pending => self.tell_again(&rental, DeviceAction::Start),
            RentalState::Ending => self.tell_again(&rental, DeviceAction::Stop),
            RentalState::Active
            | RentalState::Ended
            | RentalState::Cancelled
            | RentalState::Expired
            | RentalState::Failed => {}
        }
    }

    fn tell_again(&mut self, rental: &Rental, action: DeviceAction) {
        let is_free = self.live.rentals_again.contains(&rental.rental);
        let tries = rental.tries + u32::from(!is_free);
        if tries > self.config.applications.rentals.resends {
            self.give_up_telling(rental);
            return;
        }
        self.tell_rental(&rental.rental, action, tries);
        self.wait_for_rental(&rental.rental);
    }

    /// The device does not answer. Whoever waits for its start gets the money back; the device is
    /// free only when it says that it stands.
    fn give_up_telling(&mut self, rental: &Rental) {
        let device = &rental.device;
        let watch = self.live.device(device);
        watch.is_silent = true;
        // The stop has its own while.
        watch.asked_ms = None;
        if rental.state == RentalState::Pending {
            let told = self.config.applications.rentals.resends.saturating_add(1);
            let why = format!("{device} was told {told} times and did not say that it runs");
            let why = Some((RentalReason::DeviceSilent, why));
            self.tell_rental(&rental.rental, DeviceAction::Stop, 0);
            self.move_rental(&rental.rental, RentalState::Cancelled, why, true);
        } else {
            self.tell_rental(&rental.rental, DeviceAction::Stop, rental.tries);
            self.set_rental_end(&rental.rental, None);
        }
        let watch = self.live.device(device);
        watch.stops_left = self.config.applications.rentals.resends;
        watch.stop_order = Some(rental.order.clone());
        self.set_device(device, DeviceState::Fault);
    }

    /// Something was said to a device: it has a while to be heard.
    pub(super) fn await_device(&mut self, id: &DeviceId) {
        let now_ms = self.now.mono_ms;
        let since_ms = *self.live.device(id).asked_ms.get_or_insert(now_ms);
        let until_ms = since_ms.saturating_add(self.config.applications.rentals.pending_ms);
        let at_ms = until_ms.max(now_ms.saturating_add(1));
        self.live.timers.hasten(TimerKey::Device(id.clone()), at_ms);
    }

    /// A device's moment: to be asked, to be told again to stop, or to be called silent.
    pub(crate) fn tend_device(&mut self, id: &DeviceId) {
        if self.live.frozen_since_ms.is_some() {
            return;
        }
        let now_ms = self.now.mono_ms;
        let pending_ms = self.config.applications.rentals.pending_ms;
        let watch = self.live.device(id);
        if watch.query_ms.is_some_and(|at| at <= now_ms) {
            watch.query_ms = None;
            self.ask_device(id);
        } else if watch
            .asked_ms
            .is_some_and(|since| since.saturating_add(pending_ms) <= now_ms)
        {
            watch.asked_ms = None;
            watch.is_silent = true;
            let order = watch.stop_order.clone().filter(|_| watch.stops_left > 0);
            if let Some(order) = order {
                watch.stops_left -= 1;
                self.tell_device(id, DeviceAction::Stop, Some(order), None);
            }
        }
        let watch = self.live.device(id);
        let answer_ms = watch.asked_ms.map(|since| since.saturating_add(pending_ms));
        let next_ms = watch.query_ms.into_iter().chain(answer_ms).min();
        self.live.timers.set(TimerKey::Device(id.clone()), next_ms);
        self.show_device(id);
    }
}
