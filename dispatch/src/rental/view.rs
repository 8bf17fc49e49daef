//! Rentals and devices as operators see them, and what they do about them.

use protocol::client::RentalReason;
use protocol::device::{DeviceState, DeviceView, DeviceWord};
use protocol::ops::Severity;
use protocol::{AlarmCode, DeviceId, RentalId};

use super::row::RentalRow;
use crate::alarm::{Subject, Wanted};
use crate::effect::OperatorAnswer;
use crate::step::Step;

impl Step<'_> {
    /// All open rentals.
    pub(crate) fn rental_rows(&self) -> Vec<RentalRow> {
        let live = self.state.rentals.live.values();
        live.map(|rental| rental.row(self.now.wall)).collect()
    }

    /// One rental, open or lately over.
    pub(crate) fn rental_row(&self, id: &RentalId) -> Result<OperatorAnswer, String> {
        let rental = self.state.rentals.find(id);
        let rental = rental.ok_or_else(|| format!("rental {id} is not known, or is long over"))?;
        Ok(OperatorAnswer::Rentals(vec![rental.row(self.now.wall)]))
    }

    /// All devices.
    pub(crate) fn device_views(&self) -> Vec<DeviceView> {
        let devices = self.config.applications.rentals.devices.iter();
        devices.map(|id| self.device_view(id)).collect()
    }

    /// Takes a device out of use, or gives it back once it was heard saying that it stands.
    pub(crate) fn maintain_device(
        &mut self,
        id: &DeviceId,
        on: bool,
    ) -> Result<OperatorAnswer, String> {
        if !self.config.applications.rentals.devices.contains(id) {
            return Err(format!("device {id} is not known"));
        }
        let device = self.state.rentals.device(id);
        let is_on = device.state == DeviceState::Maintenance;
        if on && !is_on {
            let why = format!("an operator took {id} out of use");
            self.fail_rental_of(id, (RentalReason::Maintenance, why));
            self.set_device(id, DeviceState::Maintenance);
            self.ask_device(id);
        } else if !on && is_on {
            let stands = matches!(device.word, Some(DeviceWord::Stopped | DeviceWord::Locked));
            if !device.heard_since || !stands {
                self.ask_device(id);
                return Err(format!(
                    "device {id} has not said STOPPED or LOCKED since it is in maintenance; it was \
                     asked, try again"
                ));
            }
            self.set_device(id, DeviceState::Idle);
        }
        let word = if on { "in maintenance" } else { "back in use" };
        Ok(OperatorAnswer::Done(format!("device {id} is {word}")))
    }

    /// Raises and clears the alarms of devices.
    pub(crate) fn tend_device_alarms(&mut self) {
        let mut wanted = Wanted::new();
        for id in &self.config.applications.rentals.devices {
            let Some(device) = self.state.rentals.devices.get(id) else {
                continue;
            };
            if device.state != DeviceState::Fault {
                continue;
            }
            let why = match device.word {
                Some(DeviceWord::Running) => "runs and nobody has it",
                Some(DeviceWord::Fault) => "says that it is out of order",
                Some(DeviceWord::Stopped | DeviceWord::Locked) | None => {
                    "does not say that it does what it was told"
                }
            };
            let subject = Subject {
                code: AlarmCode::DeviceFault,
                elevator: None,
                order: None,
                place: Some(id.to_string()),
            };
            let detail = format!("device {id} {why}");
            wanted.insert(subject, (Severity::Critical, detail));
        }
        self.tend_alarms_of_code(AlarmCode::DeviceFault, wanted);
    }
}
