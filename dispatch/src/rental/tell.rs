//! What devices are told, and what others are told of devices and rentals.

use protocol::device::{DeviceAction, DeviceCommand, DeviceState, DeviceView};
use protocol::elevator::Health;
use protocol::{DeviceId, OrderId, Outgoing, RentalId, Timestamp};

use super::fact::RentalFact;
use crate::effect::Effect;
use crate::effort::command_id;
use crate::fact::Fact;
use crate::step::Step;

impl Step<'_> {
    /// The device of a rental is told to start or to stop, under the rental's order, for the first
    /// time or again.
    pub(super) fn tell_rental(&mut self, id: &RentalId, action: DeviceAction, tries: u32) {
        let Some(rental) = self.state.rentals.find(id) else {
            return;
        };
        let (device, order) = (rental.device.clone(), rental.order.clone());
        self.tell_device(&device, action, Some(order), Some((id.clone(), tries)));
    }

    /// A device is told something that it does once for each order. The number of the command is
    /// the wall clock's, or one more than the last: it grows over a lost journal too.
    pub(super) fn tell_device(
        &mut self,
        id: &DeviceId,
        action: DeviceAction,
        order: Option<OrderId>,
        rental: Option<(RentalId, u32)>,
    ) {
        let last = self.state.rentals.device(id).sequence;
        let sequence = last.saturating_add(1).max(self.now.wall.0);
        self.record(Fact::Rental(RentalFact::Commanded {
            device: id.clone(),
            sequence,
            rental,
        }));
        self.send_to_device(id, action, order, sequence);
    }

    /// A device is asked how it stands. That has no number of its own.
    pub(super) fn ask_device(&mut self, id: &DeviceId) {
        let sequence = self.state.rentals.device(id).sequence;
        self.send_to_device(id, DeviceAction::Query, None, sequence);
    }

    fn send_to_device(
        &mut self,
        id: &DeviceId,
        command: DeviceAction,
        order_id: Option<OrderId>,
        sequence: u64,
    ) {
        let span_ms = self.config.applications.rentals.pending_ms;
        let command = DeviceCommand {
            device_id: id.clone(),
            command_id: command_id(self.live.boot, &mut self.live.commands),
            order_id,
            sequence,
            fence: self.state.rentals.device(id).fence,
            command,
            expires_at: Timestamp(self.now.wall.0.saturating_add(span_ms)),
            expires_in_ms: span_ms,
        };
        self.out.effects.push(Effect::Device(Box::new(command)));
        self.await_device(id);
    }

    /// An order of our own: nobody has executed it.
    pub(super) fn new_stop_order(&mut self) -> OrderId {
        let id = command_id(self.live.boot, &mut self.live.commands);
        let text = format!("stop-{id}");
        // The id has at most 16 hexadecimal digits, a hyphen and 20 digits.
        OrderId::new(&text).unwrap_or_else(|_| unreachable!("{text} is an identifier"))
    }

    /// Publishes a rental as it is.
    pub(super) fn show_rental(&mut self, id: &RentalId) {
        let Some(rental) = self.state.rentals.find(id) else {
            return;
        };
        let client = rental.client.clone();
        let view = Box::new(rental.view(self.now.wall));
        self.say(Outgoing::RentalState { client, view });
    }

    /// Publishes a device where anything of it changed; when it was heard last is no change.
    pub(super) fn show_device(&mut self, id: &DeviceId) {
        if !self.config.applications.rentals.devices.contains(id) {
            return;
        }
        let view = self.device_view(id);
        let watch = self.live.device(id);
        let same = watch.shown.as_ref().is_some_and(|shown| {
            let observed_at = view.observed_at;
            view == DeviceView {
                observed_at,
                ..shown.clone()
            }
        });
        if !same {
            watch.shown = Some(view.clone());
            self.say(Outgoing::DeviceState(Box::new(view)));
        }
    }

    /// A device as others see it.
    pub(super) fn device_view(&self, id: &DeviceId) -> DeviceView {
        let device = self.state.rentals.device(id);
        let watch = self.live.devices.get(id);
        let health = match watch {
            _ if device.state == DeviceState::Maintenance => Health::Maintenance,
            Some(watch) if watch.is_silent => Health::Offline,
            Some(watch) if watch.seen.is_some() => Health::Ok,
            Some(_) | None => Health::Unknown,
        };
        DeviceView {
            device_id: id.clone(),
            state: device.state,
            version: device.version,
            fence: device.fence,
            health,
            observed_at: device.heard_at,
        }
    }
}
