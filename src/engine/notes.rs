//! What the log tells of claims (R-REG-047) and devices: one line each, with a field for each thing.

use dispatch::Note;

/// Writes a note into the log.
pub(super) fn write(note: &Note) {
    match note {
        Note::Acquired {
            claim,
            pool,
            resource,
            owner,
            used,
            capacity,
        } => tracing::info!(event = "acquire", %claim, %pool, %resource, %owner, used, capacity,
            "a resource is taken"),
        Note::Released {
            claim,
            pool,
            resource,
            owner,
            state,
            used,
            capacity,
        } => {
            let resource = resource.as_ref().map(ToString::to_string);
            tracing::info!(event = "release", %claim, %pool, resource, %owner, %state, used,
                capacity, "a claim has ended");
        }
        Note::NotOwner {
            claim,
            resource,
            owner,
            caller,
            client,
        } => {
            let resource = resource.as_ref().map(ToString::to_string);
            tracing::warn!(event = "not_owner", %claim, resource, %owner, %caller, %client,
                "somebody wants to release what another holds");
        }
        Note::HeartbeatRefused {
            claim,
            owner,
            client,
            code,
        } => tracing::warn!(event = "heartbeat_refused", %claim, %owner, %client, %code,
            "a heartbeat for what is not held"),
        Note::DeviceRefused {
            device,
            command,
            order,
        } => {
            let command = command.as_ref().map(ToString::to_string);
            let order = order.as_ref().map(ToString::to_string);
            tracing::warn!(event = "device_refused", %device, command, order,
                "a device did not do what it was told");
        }
        Note::Cleaned { count } => tracing::warn!(
            event = "cleanup",
            count,
            "claims whose holders were silent were taken back"
        ),
    }
}
