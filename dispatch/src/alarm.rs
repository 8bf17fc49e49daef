//! The alarms that stand, and what each is about.

use std::collections::BTreeMap;

use protocol::ops::{Alarm, Severity};
use protocol::{AlarmCode, ElevatorId, OrderId, ReasonCode};

/// What an alarm is about.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Subject {
    pub(crate) code: AlarmCode,
    pub(crate) elevator: Option<ElevatorId>,
    pub(crate) order: Option<OrderId>,
    /// A zone or a bus.
    pub(crate) place: Option<String>,
}

/// An alarm that stands.
#[derive(Debug, Clone)]
pub(crate) struct Open {
    pub(crate) alarm: Alarm,
    pub(crate) said_ms: u64,
}

/// The alarms that stand.
#[derive(Debug, Clone, Default)]
pub(crate) struct Alarms {
    pub(crate) open: BTreeMap<Subject, Open>,
}

pub(crate) type Wanted = BTreeMap<Subject, (Severity, String)>;

/// Whether an alarm is about what applications ask for; those are looked after by themselves.
pub(crate) fn is_of_applications(code: AlarmCode) -> bool {
    matches!(
        code,
        AlarmCode::CapacityHigh
            | AlarmCode::CleanupHigh
            | AlarmCode::Quarantined
            | AlarmCode::SeriesExhausted
            | AlarmCode::DeviceFault
    )
}

/// The alarm that stands for a reason; `None` for reasons that nobody need look at.
pub(crate) fn alarm_of(code: ReasonCode) -> Option<AlarmCode> {
    match code {
        ReasonCode::Busy
        | ReasonCode::Unavailable
        | ReasonCode::Suspended
        | ReasonCode::CancelledByRobot
        | ReasonCode::CancelledByOperator
        | ReasonCode::RequestExpired => None,
        ReasonCode::HallCallTimeout => Some(AlarmCode::HallCallTimeout),
        ReasonCode::CallRefused => Some(AlarmCode::CallRefused),
        ReasonCode::BoardingTimeout => Some(AlarmCode::BoardingTimeout),
        ReasonCode::EntryUnconfirmed => Some(AlarmCode::EntryUnconfirmed),
        ReasonCode::RobotLost => Some(AlarmCode::RobotLost),
        ReasonCode::ControllerLost => Some(AlarmCode::ControllerLost),
        ReasonCode::DoorFault => Some(AlarmCode::DoorFault),
        ReasonCode::WrongFloor => Some(AlarmCode::WrongFloor),
        ReasonCode::TravelTimeout => Some(AlarmCode::TravelTimeout),
        ReasonCode::ExitTimeout => Some(AlarmCode::ExitTimeout),
        ReasonCode::ExitRefused => Some(AlarmCode::ExitRefused),
        ReasonCode::FireMode => Some(AlarmCode::FireMode),
        ReasonCode::OutOfService => Some(AlarmCode::OutOfService),
        ReasonCode::OperatorReset => Some(AlarmCode::OperatorReset),
    }
}

/// The same for the same subject, over restarts too: its code and a checksum of the rest.
pub(crate) fn alarm_id(subject: &Subject) -> String {
    let text = format!(
        "{:?}/{:?}/{:?}",
        subject.elevator, subject.order, subject.place
    );
    format!("{}:{:08x}", subject.code, crc32c::crc32c(text.as_bytes()))
}
