//! What robots say (`wire.md` sections 3 and 5).

use crate::field::{
    Bad, choice, flag, integer, list, moment, name, number, object, optional, required, text, word,
};
use crate::id::{Fence, MessageId};
use crate::json::{Json, Object};
use crate::limits::{
    ETA_S_MAX, HOLD_S_DEFAULT, HOLD_S_MAX, MAP_BYTES_MAX, PRIORITY_DEFAULT, PRIORITY_MAX,
    REASON_BYTES_MAX, REQUEST_ELEVATORS_MAX,
};
use crate::robot::{
    Place, Position, RideCancel, RideEvent, RideRequest, RobotConnection, RobotEvent, RobotStatus,
};
use crate::sensitive::Sensitive;
use crate::time::Timestamp;

/// What every message carries.
pub(super) fn stamp(fields: &Object<'_>) -> Result<(MessageId, Timestamp), Bad> {
    Ok((
        required(fields, "message_id", name)?,
        required(fields, "timestamp", moment)?,
    ))
}

pub(super) fn request(fields: &Object<'_>) -> Result<RideRequest, Bad> {
    let (message_id, timestamp) = stamp(fields)?;
    let elevators = list(REQUEST_ELEVATORS_MAX, name);
    Ok(RideRequest {
        message_id,
        timestamp,
        order_id: required(fields, "order_id", name)?,
        from: required(fields, "from", object(place))?,
        to: required(fields, "to", object(place))?,
        elevators: optional(fields, "elevators", elevators)?.unwrap_or_default(),
        priority: optional(fields, "priority", integer(0..=PRIORITY_MAX))?
            .unwrap_or(PRIORITY_DEFAULT),
        at_door: optional(fields, "at_door", flag)?,
        eta_s: optional(fields, "eta_s", integer(0..=ETA_S_MAX))?,
        expires_at: optional(fields, "expires_at", moment)?,
        dry_run: optional(fields, "dry_run", flag)?.unwrap_or(false),
    })
}

fn place(fields: &Object<'_>) -> Result<Place, Bad> {
    Ok(Place {
        floor: required(fields, "floor", name)?,
        side: optional(fields, "side", word)?,
    })
}

pub(super) fn event(fields: &Object<'_>) -> Result<RideEvent, Bad> {
    let (message_id, timestamp) = stamp(fields)?;
    let order_id = required(fields, "order_id", name)?;
    let again = optional(fields, "again", flag)?.unwrap_or(false);
    let hold_s = optional(fields, "hold_s", integer(1..=HOLD_S_MAX))?.unwrap_or(HOLD_S_DEFAULT);
    let events = RobotEvent::all(again, hold_s);
    Ok(RideEvent {
        message_id,
        timestamp,
        order_id,
        event: required(fields, "event", choice(events, RobotEvent::word))?,
        fence: optional(fields, "fence", integer(0..=u64::MAX))?.map(Fence),
        elevator_id: optional(fields, "elevator_id", name)?,
    })
}

pub(super) fn cancel(fields: &Object<'_>) -> Result<RideCancel, Bad> {
    let (message_id, timestamp) = stamp(fields)?;
    Ok(RideCancel {
        message_id,
        timestamp,
        order_id: required(fields, "order_id", name)?,
        reason: required(fields, "reason", text(REASON_BYTES_MAX))?,
    })
}

pub(super) fn status(fields: &Object<'_>) -> Result<RobotStatus, Bad> {
    let (message_id, timestamp) = stamp(fields)?;
    Ok(RobotStatus {
        message_id,
        timestamp,
        floor: optional(fields, "floor", name)?,
        at_door: optional(fields, "at_door", flag)?,
        eta_s: optional(fields, "eta_s", integer(0..=ETA_S_MAX))?,
        battery_pct: optional(fields, "battery_pct", number(0.0..=100.0))?,
        position: optional(fields, "position", object(position))?.map(Sensitive::new),
        in_car: optional(fields, "in_car", flag)?,
    })
}

fn position(fields: &Object<'_>) -> Result<Position, Bad> {
    Ok(Position {
        x: required(fields, "x", unseen(number(f64::MIN..=f64::MAX)))?,
        y: required(fields, "y", unseen(number(f64::MIN..=f64::MAX)))?,
        map: required(fields, "map", unseen(text(MAP_BYTES_MAX)))?,
    })
}

/// A value that is not shown where it is wrong: the sentence goes into the log.
fn unseen<T>(
    read: impl FnOnce(&Json<'_>) -> Result<T, Bad>,
) -> impl FnOnce(&Json<'_>) -> Result<T, Bad> {
    |json| read(json).map_err(|_| Bad::new("cannot be read, its value is not shown".to_owned()))
}

pub(super) fn connection(fields: &Object<'_>) -> Result<RobotConnection, Bad> {
    let (message_id, timestamp) = stamp(fields)?;
    Ok(RobotConnection {
        message_id,
        timestamp,
        connection_state: required(fields, "connection_state", word)?,
    })
}
