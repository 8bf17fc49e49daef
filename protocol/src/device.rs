//! Devices that are rented: what they are told, what they say and how they are shown (`wire.md`
//! section 8).

use serde::{Deserialize, Serialize};

use crate::client::{hex, hmac_sha256};
use crate::elevator::Health;
use crate::id::{CommandId, DeviceId, Fence, InstanceId, MessageId, OrderId};
use crate::sensitive::Sensitive;
use crate::time::Timestamp;
use crate::word::words;

words! {
    /// Where a device stands, as the gateway knows it.
    DeviceState {
        /// Free.
        Idle = "IDLE",
        /// Reserved: only the holder of the token may start it.
        Locked = "LOCKED",
        /// Rented; the start or the stop may still be on its way.
        Renting = "RENTING",
        /// Out of order, silent, or running for nobody.
        Fault = "FAULT",
        /// An operator took it out of use.
        Maintenance = "MAINTENANCE",
        /// It must say how it stands first: the data were restored from a backup.
        Unknown = "UNKNOWN",
    }
}

words! {
    /// What a device says of itself.
    DeviceWord {
        /// Unlocked, under way.
        Running = "RUNNING",
        /// It stands.
        Stopped = "STOPPED",
        /// It stands and is locked.
        Locked = "LOCKED",
        /// It is out of order.
        Fault = "FAULT",
    }
}

words! {
    /// What a device is told to do.
    DeviceAction {
        /// Unlock and run.
        Start = "start",
        /// Stand and lock.
        Stop = "stop",
        /// Lock.
        Lock = "lock",
        /// Unlock.
        Unlock = "unlock",
        /// Say how you stand.
        Query = "query",
    }
}

words! {
    /// What a device's event is about.
    DeviceEventKind {
        /// It will act.
        Accepted = "accepted",
        /// It acted, now or before.
        Done = "done",
        /// It will not act.
        Failed = "failed",
        /// It says how it stands.
        State = "state",
    }
}

/// `devices/{device}/event`. Its `detail` may say where the device is, and is not kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceEvent {
    /// Correlates nothing; for records.
    pub message_id: MessageId,
    /// When the device made it.
    pub timestamp: Timestamp,
    /// What it is about.
    pub event: DeviceEventKind,
    /// This start of the device.
    pub boot_id: InstanceId,
    /// Grows with each event of this start.
    pub seq: u64,
    /// The command that it answers.
    pub command_id: Option<CommandId>,
    /// The order of that command.
    pub order_id: Option<OrderId>,
    /// How the device stands.
    pub device_state: Option<DeviceWord>,
}

/// A command to a device, not signed yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceCommand {
    /// The device.
    pub device_id: DeviceId,
    /// This command; a re-send is a new one of the same order.
    pub command_id: CommandId,
    /// The order; with the word of the command it makes a repetition known.
    pub order_id: Option<OrderId>,
    /// Grows with each command; a device obeys no lower one than it has seen.
    pub sequence: u64,
    /// Of the rental.
    pub fence: Fence,
    /// What to do.
    pub command: DeviceAction,
    /// Too late from then on, by the wall clock.
    pub expires_at: Timestamp,
    /// Milliseconds from now until then.
    pub expires_in_ms: u64,
}

/// The key that a device shares with the gateway. It is never printed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceKey(Sensitive<Vec<u8>>);

impl DeviceKey {
    /// A key of any bytes.
    #[must_use]
    pub fn new(bytes: Vec<u8>) -> Self {
        Self(Sensitive::new(bytes))
    }

    /// The signature of a command: HMAC-SHA-256 over
    /// `device\norder_id\ncommand_id\ncommand\nsequence\nfence\nexpires_at`, no order being empty.
    #[must_use]
    pub fn sign(&self, command: &DeviceCommand) -> Signature {
        let order = command.order_id.as_ref().map_or("", OrderId::as_str);
        let text = format!(
            "{}\n{order}\n{}\n{}\n{}\n{}\n{}",
            command.device_id,
            command.command_id,
            command.command,
            command.sequence,
            command.fence,
            command.expires_at,
        );
        Signature(hex(&hmac_sha256(self.0.reveal(), text.as_bytes())))
    }
}

/// What proves to a device that the gateway said it: lower-case hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Signature(String);

impl Signature {
    /// The digits.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// `devices/{device}/state`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceView {
    /// The device.
    pub device_id: DeviceId,
    /// The state.
    pub state: DeviceState,
    /// Grows by one with each change of the state.
    pub version: u64,
    /// Of its newest rental; 0 before the first.
    pub fence: Fence,
    /// Whether the device is heard.
    pub health: Health,
    /// When it said last how it stands.
    pub observed_at: Option<Timestamp>,
}
