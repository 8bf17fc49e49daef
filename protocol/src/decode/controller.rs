//! What controllers that speak MQTT say (`wire.md` section 6).

use crate::decode::robot::stamp;
use crate::elevator::{ControllerEvent, Doors, ElevatorEvent};
use crate::field::{
    Bad, flag, integer, list, name, object, optional, required, text, word,
};
use crate::floor::Side;
use crate::hardware::{Call, Direction, Door, Mode, Motion};
use crate::json::Object;
use crate::limits::{CALLS_MAX, CONTROLLER_DETAIL_BYTES_MAX};

pub(super) fn event(fields: &Object<'_>) -> Result<ElevatorEvent, Bad> {
    let (message_id, timestamp) = stamp(fields)?;
    let event = ElevatorEvent {
        message_id,
        timestamp,
        event: required(fields, "event", word(ControllerEvent::ALL, ControllerEvent::as_str))?,
        boot_id: optional(fields, "boot_id", name)?,
        seq: optional(fields, "seq", integer(0..=u64::MAX))?,
        command_id: optional(fields, "command_id", name)?,
        floor: optional(fields, "floor", name)?,
        side: optional(fields, "side", word(&Side::ALL, Side::as_str))?,
        door: optional(fields, "door", word(Door::ALL, Door::as_str))?,
        doors: optional(fields, "doors", object(doors))?,
        motion: optional(fields, "motion", word(Motion::ALL, Motion::as_str))?,
        mode: optional(fields, "mode", word(Mode::ALL, Mode::as_str))?,
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
        front: required(fields, "front", word(Door::ALL, Door::as_str))?,
        rear: optional(fields, "rear", word(Door::ALL, Door::as_str))?,
    })
}

fn call(fields: &Object<'_>) -> Result<Call, Bad> {
    let is_hall = required(fields, "kind", word(&["hall", "car"], str::trim))? == "hall";
    let floor = required(fields, "floor", name)?;
    let side = optional(fields, "side", word(&Side::ALL, Side::as_str))?;
    let direction = optional(fields, "direction", word(Direction::ALL, Direction::as_str))?;
    Ok(if is_hall { Call::Hall { floor, side, direction } } else { Call::Car { floor, side } })
}
