//! What devices say (`wire.md` section 8).

use crate::decode::robot::stamp;
use crate::device::{DeviceEvent, DeviceEventKind};
use crate::field::{Bad, integer, name, optional, required, text, word};
use crate::json::Object;
use crate::limits::CONTROLLER_DETAIL_BYTES_MAX;

pub(super) fn event(fields: &Object<'_>) -> Result<DeviceEvent, Bad> {
    let (message_id, timestamp) = stamp(fields)?;
    let event = DeviceEvent {
        message_id,
        timestamp,
        event: required(fields, "event", word)?,
        boot_id: required(fields, "boot_id", name)?,
        seq: required(fields, "seq", integer(0..=u64::MAX))?,
        command_id: optional(fields, "command_id", name)?,
        order_id: optional(fields, "order_id", name)?,
        device_state: optional(fields, "device_state", word)?,
    };
    // It may say where the device is: it is bounded and goes nowhere.
    optional(fields, "detail", text(CONTROLLER_DETAIL_BYTES_MAX))?;
    if event.event == DeviceEventKind::State && event.device_state.is_none() {
        return Err(Bad::missing("device_state"));
    }
    Ok(event)
}
