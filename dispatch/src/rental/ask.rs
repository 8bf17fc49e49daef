//! `rental.reserve` and `rental.start`.

use protocol::client::{
    EndRental, RentalBody, RentalState, ReplyBody, Reserve, StartRental, Token, TokenHash,
};
use protocol::device::{DeviceAction, DeviceState};
use protocol::{Code, DeviceId, Fence, RentalId, Seconds, Timestamp, UserId};

use super::fact::RentalFact;
use super::kept::Device;
use super::row::Rental;
use crate::client::{Answer, Caller, Granted, Refused};
use crate::fact::Fact;
use crate::step::Step;

impl Step<'_> {
    /// A free device, locked for the holder of a token.
    pub(crate) fn reserve(&mut self, caller: &Caller, ask: &Reserve) -> Answer {
        let device = self.known_device(&ask.device_id)?;
        if device.state != DeviceState::Idle {
            return Err(unavailable(&ask.device_id, device.state));
        }
        self.refuse_claimed(&ask.device_id)?;
        self.check_limit(&ask.user_id)?;
        let Some(key) = &self.live.token_key else {
            let detail = "there is no key to make tokens with".to_owned();
            return Err((Code::Unavailable, detail));
        };
        let rental_id = rental_id(self.now.wall, self.state.rentals.made.saturating_add(1));
        let token = key.token(&rental_id, &ask.user_id, &ask.device_id);
        let hold_ms = match ask.hold_s {
            Some(hold_s) => u64::from(hold_s) * 1000,
            None => self.config.applications.rentals.token_ms,
        };
        let expires_at = Timestamp(self.now.wall.0.saturating_add(hold_ms));
        let rental = Rental {
            token: Some(token.hash()),
            expires_at: Some(expires_at),
            ..self.new_rental(caller, rental_id, &ask.device_id, &ask.user_id)?
        };
        self.open(device.version, rental.clone());
        Ok(Granted::Done(ReplyBody::Rental(RentalBody {
            rental_id: Some(rental.rental),
            token: Some(token),
            state: Some(RentalState::Reserved),
            expires_at: Some(expires_at),
            expires_in_s: Some(Seconds::from_ms(hold_ms)),
            metered_s: None,
        })))
    }

    /// The token of a reservation that was made before; `None` where that is not known any more,
    /// or where the key is another one.
    pub(crate) fn token_of(&self, rental: Option<&RentalId>, ask: &Reserve) -> Option<Token> {
        let rental = rental?;
        let key = self.live.token_key.as_ref()?;
        let token = key.token(rental, &ask.user_id, &ask.device_id);
        let known = self.state.rentals.find(rental)?;
        (known.token == Some(token.hash())).then_some(token)
    }

    /// The device is told to start: a reserved one by the holder of its token, a free one by
    /// anybody.
    pub(crate) fn start_rental(&mut self, caller: &Caller, ask: &StartRental) -> Answer {
        let device = self.known_device(&ask.device_id)?;
        let rental = match device.state {
            DeviceState::Locked => self.start_reserved(caller, ask, &device)?,
            DeviceState::Idle => {
                self.refuse_claimed(&ask.device_id)?;
                self.refuse_old_token(ask)?;
                self.check_limit(&ask.user_id)?;
                let id = rental_id(self.now.wall, self.state.rentals.made.saturating_add(1));
                let rental = Rental {
                    state: RentalState::Pending,
                    ..self.new_rental(caller, id, &ask.device_id, &ask.user_id)?
                };
                let id = rental.rental.clone();
                self.open(device.version, rental);
                id
            }
            state @ (DeviceState::Renting
            | DeviceState::Fault
            | DeviceState::Maintenance
            | DeviceState::Unknown) => return Err(unavailable(&ask.device_id, state)),
        };
        self.tell_rental(&rental, DeviceAction::Start, 0);
        Ok(Granted::Done(ReplyBody::Rental(RentalBody {
            rental_id: Some(rental),
            state: Some(RentalState::Pending),
            ..RentalBody::default()
        })))
    }

    fn start_reserved(
        &mut self,
        caller: &Caller,
        ask: &StartRental,
        device: &Device,
    ) -> Result<RentalId, Refused> {
        let bad_token = || {
            let detail = format!("device_id {} is reserved by another token", ask.device_id);
            (Code::BadToken, detail)
        };
        let rental = self
            .state
            .rentals
            .of_device(&ask.device_id)
            .ok_or_else(bad_token)?;
        let is_named = ask.rental_id.as_ref().is_none_or(|id| *id == rental.rental);
        let is_theirs = rental.user == ask.user_id && is_named;
        if ask.token.is_none() || ask.token != rental.token || !is_theirs {
            // An old token of another reservation is expired, not wrong.
            self.refuse_old_token(ask)?;
            return Err(bad_token());
        }
        let id = rental.rental.clone();
        if self.is_over(&id) {
            return Err(expired(&id));
        }
        let order = caller.order.clone().ok_or_else(no_order)?;
        self.record(Fact::Rental(RentalFact::Started {
            version: device.version,
            rental: id.clone(),
            order,
            client: caller.client.clone(),
            at: self.now.wall,
        }));
        self.wait_for_rental(&id);
        self.show_device(&ask.device_id);
        Ok(id)
    }

    /// A token of a reservation that is over starts nothing, whatever became of the device.
    fn refuse_old_token(&self, ask: &StartRental) -> Result<(), Refused> {
        let Some(token) = ask.token else {
            return match &ask.rental_id {
                Some(id) if !self.state.rentals.live.contains_key(id) => {
                    Err(self.why_not_live(id, None))
                }
                Some(_) | None => Ok(()),
            };
        };
        let past = self.state.rentals.past.iter().rev();
        let same = past.clone().find(|one| one.token == Some(token));
        Err(match same {
            Some(rental) if rental.state == RentalState::Expired => expired(&rental.rental),
            Some(_) | None => {
                let detail = format!("token is none of device_id {}", ask.device_id);
                (Code::BadToken, detail)
            }
        })
    }

    fn known_device(&self, id: &DeviceId) -> Result<Device, Refused> {
        if self.config.applications.rentals.devices.contains(id) {
            return Ok(self.state.rentals.device(id));
        }
        let detail = format!("device_id {id} is not known");
        Err((Code::UnknownDevice, detail))
    }

    /// T-RENT-06: no two devices to one user.
    fn check_limit(&self, user: &UserId) -> Result<(), Refused> {
        let open = self.state.rentals.open_of(user);
        if open < self.config.applications.rentals.per_user {
            return Ok(());
        }
        let detail = format!("user_id {user} has {open} open rentals");
        Err((Code::RentalLimit, detail))
    }

    fn new_rental(
        &self,
        caller: &Caller,
        rental: RentalId,
        device: &DeviceId,
        user: &UserId,
    ) -> Result<Rental, Refused> {
        let fence = self.state.rentals.device(device).fence;
        Ok(Rental {
            rental,
            device: device.clone(),
            user: user.clone(),
            client: caller.client.clone(),
            order: caller.order.clone().ok_or_else(no_order)?,
            state: RentalState::Reserved,
            token: None,
            expires_at: None,
            fence: Fence(fence.0.saturating_add(1)),
            tries: 0,
            made_at: self.now.wall,
            active_at: None,
            metered_until: None,
            over_at: None,
            refunded: false,
            why: None,
        })
    }

    fn open(&mut self, version: u64, rental: Rental) {
        let (id, device) = (rental.rental.clone(), rental.device.clone());
        self.record(Fact::Rental(RentalFact::Opened {
            version,
            rental: Box::new(rental),
        }));
        self.wait_for_rental(&id);
        self.show_device(&device);
    }

    /// A rental that its holder names, by its token or by its user.
    pub(super) fn held_rental(&self, ask: &EndRental) -> Result<Rental, Refused> {
        let known = self.state.rentals.find(&ask.rental_id);
        let Some(rental) = known else {
            return Err(self.why_not_live(&ask.rental_id, None));
        };
        if ask.token.is_some() && ask.token != rental.token {
            return Err(bad_token_of(&ask.rental_id));
        }
        if let Some(user) = ask.user_id.as_ref().filter(|user| **user != rental.user) {
            let detail = format!("rental_id {} is not that of user_id {user}", ask.rental_id);
            return Err((Code::NotOwner, detail));
        }
        Ok(rental.clone())
    }

    /// Why a rental that was named is none that can be started or given up.
    pub(super) fn why_not_live(&self, id: &RentalId, token: Option<TokenHash>) -> Refused {
        match self.state.rentals.find(id) {
            Some(rental) if token.is_some() && rental.token != token => bad_token_of(id),
            Some(rental) if rental.state == RentalState::Expired => expired(id),
            Some(rental) => misplaced(rental),
            None => (
                Code::UnknownRental,
                format!("rental_id {id} is not known, or is long over"),
            ),
        }
    }
}

/// A new id. Each has its own, in restored data too.
fn rental_id(at: Timestamp, number: u64) -> RentalId {
    let text = format!("r{:x}-{number}", at.0);
    // A letter, at most 16 hexadecimal digits, a hyphen and at most 20 digits are an identifier.
    RentalId::new(&text).unwrap_or_else(|_| unreachable!("{text} is an identifier"))
}

fn no_order() -> Refused {
    (Code::Malformed, "order_id is missing".to_owned())
}

fn unavailable(device: &DeviceId, state: DeviceState) -> Refused {
    let detail = format!("device_id {device} is {state}");
    (Code::DeviceUnavailable, detail)
}

pub(super) fn bad_token_of(id: &RentalId) -> Refused {
    let detail = format!("token is not that of rental_id {id}");
    (Code::BadToken, detail)
}

pub(super) fn expired(id: &RentalId) -> Refused {
    let detail = format!("rental_id {id} was not started in time");
    (Code::RentalExpired, detail)
}

pub(super) fn misplaced(rental: &Rental) -> Refused {
    let detail = format!("rental_id {} is {}", rental.rental, rental.state);
    (Code::WrongState, detail)
}
