//! `rental.end` and `rental.cancel`, and every other end of a rental.

use protocol::client::{
    CancelRental, EndRental, RentalBody, RentalReason, RentalState, RentalWhy, ReplyBody,
};
use protocol::device::{DeviceAction, DeviceState};
use protocol::{DeviceId, RentalId};

use super::ask::{bad_token_of, misplaced};
use super::fact::RentalFact;
use super::row::Rental;
use crate::client::{Answer, Granted};
use crate::fact::Fact;
use crate::step::{Step, cut};

/// Why a rental moves, before it is cut to what the wire takes.
pub(super) type Why = Option<(RentalReason, String)>;

impl Step<'_> {
    /// The device is told to stop; it is free when it says that it stands.
    pub(crate) fn end_rental(&mut self, ask: &EndRental) -> Answer {
        let rental = self.held_rental(ask)?;
        match rental.state {
            RentalState::Pending | RentalState::Active => {
                self.move_rental(&rental.rental, RentalState::Ending, None, false);
                self.tell_rental(&rental.rental, DeviceAction::Stop, 0);
                Ok(Granted::Done(self.rental_body(&rental.rental)))
            }
            RentalState::Ending | RentalState::Ended => {
                Ok(Granted::Before(self.rental_body(&rental.rental)))
            }
            RentalState::Expired => Err(super::ask::expired(&rental.rental)),
            RentalState::Reserved | RentalState::Cancelled | RentalState::Failed => {
                Err(misplaced(&rental))
            }
        }
    }

    /// A reservation is given up; the device is free.
    pub(crate) fn cancel_rental(&mut self, ask: &CancelRental) -> Answer {
        let id = &ask.rental_id;
        let Some(rental) = self.state.rentals.find(id).cloned() else {
            return Err(self.why_not_live(id, None));
        };
        if rental.token != Some(ask.token) {
            return Err(bad_token_of(id));
        }
        let is_theirs = rental
            .why
            .as_ref()
            .is_some_and(|why| why.code == RentalReason::CancelledByUser);
        match rental.state {
            RentalState::Reserved => {
                let why = (RentalReason::CancelledByUser, "given up".to_owned());
                self.move_rental(id, RentalState::Cancelled, Some(why), false);
                self.set_device(&rental.device, DeviceState::Idle);
                Ok(Granted::Done(self.rental_body(id)))
            }
            RentalState::Cancelled if is_theirs => Ok(Granted::Before(self.rental_body(id))),
            RentalState::Pending
            | RentalState::Active
            | RentalState::Ending
            | RentalState::Ended
            | RentalState::Cancelled
            | RentalState::Expired
            | RentalState::Failed => Err(self.why_not_live(id, Some(ask.token))),
        }
    }

    fn rental_body(&self, id: &RentalId) -> ReplyBody {
        let rental = self.state.rentals.find(id);
        ReplyBody::Rental(RentalBody {
            rental_id: Some(id.clone()),
            state: rental.map(|rental| rental.state),
            metered_s: rental.map(|rental| rental.metered(self.now.wall)),
            ..RentalBody::default()
        })
    }

    /// A rental goes on to another state, and its application hears of it.
    pub(super) fn move_rental(
        &mut self,
        id: &RentalId,
        state: RentalState,
        why: Why,
        refunded: bool,
    ) {
        self.record(Fact::Rental(RentalFact::Moved {
            rental: id.clone(),
            state,
            why: why.map(|(code, detail)| RentalWhy {
                code,
                detail: cut(detail),
            }),
            refunded,
            at: self.now.wall,
        }));
        self.wait_for_rental(id);
        self.show_rental(id);
    }

    /// The device cannot be used: its open rental fails, and whatever may run is told to stop.
    pub(super) fn fail_rental_of(&mut self, device: &DeviceId, why: (RentalReason, String)) {
        let Some(rental) = self.state.rentals.of_device(device).cloned() else {
            return;
        };
        if rental.state != RentalState::Reserved {
            self.tell_rental(&rental.rental, DeviceAction::Stop, 0);
        }
        let refunded = is_refunded(&rental);
        self.move_rental(&rental.rental, RentalState::Failed, Some(why), refunded);
    }

    /// The device goes on to another state.
    pub(super) fn set_device(&mut self, device: &DeviceId, state: DeviceState) {
        let known = self.state.rentals.device(device);
        if known.state == state {
            return;
        }
        self.record(Fact::Rental(RentalFact::Device {
            device: device.clone(),
            version: known.version,
            state,
            at: self.now.wall,
        }));
        if [known.state, state].contains(&DeviceState::Fault) {
            self.tend_device_alarms();
        }
        self.show_device(device);
        if state == DeviceState::Idle {
            self.give_place(device);
        }
    }
}

/// Whoever paid and was never given a running device gets it back; a reservation costs nothing.
pub(super) fn is_refunded(rental: &Rental) -> bool {
    let is_paid = rental.state != RentalState::Reserved;
    is_paid && rental.active_at.is_none()
}
