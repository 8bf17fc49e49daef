//! Enumerations of the wire: each value is one word.

use crate::code::{AlarmCode, Code, ReasonCode};
use crate::elevator::{ControllerEvent, Health};
use crate::floor::Side;
use crate::hardware::{Direction, Door, Mode, Motion};
use crate::ops::{Presence, Severity, SuspensionCode};
use crate::ride::{Instruction, ReplyResult, RideState};
use crate::robot::ConnectionState;

/// A value that is one word of a list.
pub(crate) trait Word: Copy + 'static {
    /// All of them.
    const ALL: &'static [Self];

    /// The word on the wire.
    fn word(self) -> &'static str;
}

macro_rules! words {
    ($($name:ident)*) => {$(
        impl Word for $name {
            const ALL: &'static [Self] = $name::ALL;

            fn word(self) -> &'static str {
                self.as_str()
            }
        }
    )*};
}

words! {
    AlarmCode Code ConnectionState ControllerEvent Direction Door Health Instruction Mode Motion
    Presence ReasonCode ReplyResult RideState Severity SuspensionCode
}

impl Word for Side {
    const ALL: &'static [Self] = &Self::ALL;

    fn word(self) -> &'static str {
        self.as_str()
    }
}
