//! What a device says, and what follows from it: the rental of the moment trusts the device's
//! newest word, in the order of its starts and numbers, not in the order of arrival.

use protocol::client::{RentalReason, RentalState};
use protocol::device::{DeviceAction, DeviceEvent, DeviceEventKind, DeviceState, DeviceWord};
use protocol::{DeviceId, OrderId};

use super::fact::RentalFact;
use super::finish::is_refunded;
use super::row::Rental;
use crate::effect::Note;
use crate::fact::Fact;
use crate::step::Step;

impl Step<'_> {
    /// A device said something.
    pub(crate) fn device(&mut self, id: &DeviceId, event: &DeviceEvent) {
        if !self.config.applications.rentals.devices.contains(id) {
            return;
        }
        let known = self.state.rentals.device(id);
        let watch = self.live.device(id);
        let seen = (event.boot_id.clone(), event.seq);
        let is_repeated = watch
            .seen
            .as_ref()
            .is_some_and(|(boot, seq)| *boot == seen.0 && event.seq <= *seq);
        if is_repeated || !known.is_newer(&event.boot_id, event.seq) {
            return;
        }
        watch.seen = Some(seen);
        watch.hear();
        self.keep_word(id, event);
        match event.device_state {
            Some(DeviceWord::Running) => self.device_runs(id, event.order_id.as_ref()),
            Some(DeviceWord::Stopped | DeviceWord::Locked) => self.device_stands(id),
            Some(DeviceWord::Fault) => self.device_fails(id),
            None if event.event == DeviceEventKind::Done => self.ask_device(id),
            None => {}
        }
        if event.event == DeviceEventKind::Failed {
            self.note(Note::DeviceRefused {
                device: id.clone(),
                command: event.command_id.clone(),
                order: event.order_id.clone(),
            });
        }
        self.show_device(id);
    }

    /// Keeps what was said where it is news, or is waited for.
    fn keep_word(&mut self, id: &DeviceId, event: &DeviceEvent) {
        let known = self.state.rentals.device(id);
        let is_booted = known.boot.as_ref() != Some(&event.boot_id);
        let is_news = event.device_state.is_some() && event.device_state != known.word;
        let is_awaited = match known.state {
            DeviceState::Idle => false,
            DeviceState::Locked
            | DeviceState::Renting
            | DeviceState::Fault
            | DeviceState::Maintenance
            | DeviceState::Unknown => event.device_state.is_some() && !known.heard_since,
        };
        if is_booted || is_news || is_awaited {
            self.record(Fact::Rental(RentalFact::Heard {
                device: id.clone(),
                boot: event.boot_id.clone(),
                seq: event.seq,
                word: event.device_state,
                at: self.now.wall,
            }));
        }
    }

    fn device_runs(&mut self, id: &DeviceId, order: Option<&OrderId>) {
        let rental = self.state.rentals.of_device(id).cloned();
        match (self.state.rentals.device(id).state, rental) {
            (DeviceState::Maintenance, _) => {}
            (DeviceState::Renting, Some(rental)) => self.rental_runs(id, &rental, order),
            (DeviceState::Idle, None) if self.runs_for_a_claim(id) => {}
            (
                DeviceState::Idle
                | DeviceState::Locked
                | DeviceState::Renting
                | DeviceState::Fault
                | DeviceState::Unknown,
                rental,
            ) => {
                let is_reserved = rental.is_some_and(|one| one.state == RentalState::Reserved);
                if is_reserved {
                    let why = format!("{id} runs and nobody started it");
                    self.fail_rental_of(id, (RentalReason::DeviceFault, why));
                }
                self.set_device(id, DeviceState::Fault);
                self.stop_stray(id);
            }
        }
    }

    fn rental_runs(&mut self, id: &DeviceId, rental: &Rental, order: Option<&OrderId>) {
        match rental.state {
            RentalState::Pending if order.is_none_or(|order| *order == rental.order) => {
                self.move_rental(&rental.rental, RentalState::Active, None, false);
            }
            // It answers for another order: whether it runs for this one it must say.
            RentalState::Pending => self.ask_device(id),
            RentalState::Reserved
            | RentalState::Active
            | RentalState::Ending
            | RentalState::Ended
            | RentalState::Cancelled
            | RentalState::Expired
            | RentalState::Failed => {}
        }
    }

    fn device_stands(&mut self, id: &DeviceId) {
        self.free_quarantined(id);
        let device = self.state.rentals.device(id);
        match device.state {
            DeviceState::Idle | DeviceState::Locked | DeviceState::Maintenance => return,
            DeviceState::Renting | DeviceState::Fault | DeviceState::Unknown => {}
        }
        if let Some(rental) = self.state.rentals.of_device(id).cloned() {
            let why = match rental.state {
                // It may not have heard of its start yet.
                RentalState::Pending | RentalState::Reserved => return,
                RentalState::Active => {
                    let why = format!("{id} stopped by itself");
                    Some((RentalReason::DeviceStopped, why))
                }
                RentalState::Ending
                | RentalState::Ended
                | RentalState::Cancelled
                | RentalState::Expired
                | RentalState::Failed => None,
            };
            let refunded = is_refunded(&rental);
            self.move_rental(&rental.rental, RentalState::Ended, why, refunded);
        }
        self.live.device(id).stops_left = 0;
        self.set_device(id, DeviceState::Idle);
    }

    fn device_fails(&mut self, id: &DeviceId) {
        if self.state.rentals.device(id).state == DeviceState::Maintenance {
            return;
        }
        let why = format!("{id} says that it is out of order");
        self.fail_rental_of(id, (RentalReason::DeviceFault, why));
        self.set_device(id, DeviceState::Fault);
    }

    /// T-RENT-09: a device that runs for nobody is told to stop at once.
    fn stop_stray(&mut self, id: &DeviceId) {
        // Under the order that it was told to stop for, as long as it may not have heard that;
        // what a device has done under an order it does not do again.
        let order = self.live.device(id).stop_order.take();
        let order = order.unwrap_or_else(|| self.new_stop_order());
        self.tell_device(id, DeviceAction::Stop, Some(order), None);
    }
}
