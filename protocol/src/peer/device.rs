//! What a device is told, read back.

use serde::Deserialize;

use crate::device::{DeviceAction, DeviceCommand, Signature};
use crate::id::{CommandId, DeviceId, Fence, OrderId};
use crate::time::{Seconds, Timestamp};

#[derive(Deserialize)]
struct Body {
    command_id: CommandId,
    order_id: Option<OrderId>,
    sequence: u64,
    fence: Fence,
    command: DeviceAction,
    expires_at: Timestamp,
    expires_in_s: Seconds,
    signature: Signature,
}

/// Reads a payload of the command topic of a device.
///
/// # Errors
/// What is wrong with it.
pub(super) fn command(
    device_id: DeviceId,
    payload: &[u8],
) -> Result<(Box<DeviceCommand>, Signature), serde_json::Error> {
    let body: Body = serde_json::from_slice(payload)?;
    let command = DeviceCommand {
        device_id,
        command_id: body.command_id,
        order_id: body.order_id,
        sequence: body.sequence,
        fence: body.fence,
        command: body.command,
        expires_at: body.expires_at,
        expires_in_ms: body.expires_in_s.ms,
    };
    Ok((Box::new(command), body.signature))
}
