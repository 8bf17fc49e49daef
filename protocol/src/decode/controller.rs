//! What controllers that speak MQTT say (`wire.md` section 6).

use crate::decode::robot::stamp;
use crate::elevator::{ControllerEvent, Doors, ElevatorEvent};
use crate::field::{
    Bad, choice, flag, integer, list, name, object, optional, required, text, word,
};
use crate::hardware::Call;
use crate::json::Object;
use crate::limits::{CALLS_MAX, CONTROLLER_DETAIL_BYTES_MAX};

pub(super) fn event(fields: &Object<'_>) -> Result<ElevatorEvent, Bad> {
    let (message_id, timestamp) = stamp(fields)?;
    let event = ElevatorEvent {
        message_id,
        timestamp,
        event: required(fields, "event", word)?,
        boot_id: optional(fields, "boot_id", name)?,
        seq: optional(fields, "seq", integer(0..=u64::MAX))?,
        command_id: optional(fields, "command_id", name)?,
        floor: optional(fields, "floor", name)?,
        side: optional(fields, "side", word)?,
        door: optional(fields, "door", word)?,
        doors: optional(fields, "doors", object(doors))?,
        motion: optional(fields, "motion", word)?,
        mode: optional(fields, "mode", word)?,
        occupied: optional(fields, "occupied", flag)?,
        load_pct: optional(fields, "load_pct", integer(0..=u8::MAX))?,
        calls: optional(fields, "calls", list(CALLS_MAX, |json| object(call)(json)))?,
        detail: optional(fields, "detail", text(CONTROLLER_DETAIL_BYTES_MAX))?,
    };
    whole(&event)?;
    Ok(event)
}

/// The fields without which the event says nothing.
fn whole(event: &ElevatorEvent) -> Result<(), Bad> {
    let missing = match event.event {
        ControllerEvent::Accepted | ControllerEvent::Done | ControllerEvent::Failed => {
            event.command_id.is_none().then_some("command_id")
        }
        ControllerEvent::State => {
            if event.door.is_none() && event.doors.is_none() {
                Some("doors")
            } else if event.motion.is_none() {
                Some("motion")
            } else {
                event.mode.is_none().then_some("mode")
            }
        }
        ControllerEvent::Arrived
        | ControllerEvent::DoorOpen
        | ControllerEvent::DoorClosed
        | ControllerEvent::Moving
        | ControllerEvent::Fault => None,
    };
    missing.map_or(Ok(()), |name| Err(Bad::missing(name)))
}

fn doors(fields: &Object<'_>) -> Result<Doors, Bad> {
    Ok(Doors {
        front: required(fields, "front", word)?,
        rear: optional(fields, "rear", word)?,
    })
}

fn call(fields: &Object<'_>) -> Result<Call, Bad> {
    let kind = required(fields, "kind", choice(["hall", "car"], |kind| kind))?;
    let floor = required(fields, "floor", name)?;
    let side = optional(fields, "side", word)?;
    let direction = optional(fields, "direction", word)?;
    Ok(if kind == "hall" {
        Call::Hall {
            floor,
            side,
            direction,
        }
    } else {
        Call::Car { floor, side }
    })
}
