//! What may go wrong on a line and behind it.

use std::time::Duration;

use tokio_modbus::prelude::ExceptionCode;

use crate::car::DoorStuck;
use crate::live::modbus::Position;

/// Something that goes wrong with one reply of one device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// The reply begins so much later than it should.
    Late(Duration),
    /// The reply waits for the next request to the same unit and is sent before its reply.
    IntoNext,
    /// A bit of the reply is turned, so that its CRC is wrong.
    BadCrc,
    /// The reply is sent again, so much after its end.
    Twice(Duration),
    /// The last so many bytes of the reply are missing; one at least is sent.
    Truncated(usize),
    /// What the unit replied before, or else this reply, follows without a silence.
    Merged,
    /// The reply, CRC and all, bears this unit number.
    WrongUnit(u8),
    /// The reply, CRC and all, bears another function.
    WrongFunction,
    /// A reading has a word, an echo of a write a byte, less than it should, and the right CRC.
    WrongLength,
    /// The device refuses, without doing what was asked; `Acknowledge` (05) does it.
    Refuse(ExceptionCode),
    /// The master hears its own bytes before the reply.
    Echo,
    /// The device does what was asked and its reply is lost.
    NoReply,
    /// The request is lost: nothing is done and nothing said.
    NoRequest,
    /// The door sticks for so long, from before the request on.
    Door(DoorStuck, Duration),
    /// The door opens again so many times instead of closing.
    Reopens(u32),
    /// The controller starts anew and is silent meanwhile; it forgets calls, holds and registers.
    Restart(Duration),
    /// The controller has no power for so long: as a restart, and the car does not move.
    PowerLoss(Duration),
    /// The position shown is not the car's, for so long.
    Position(Position, Duration),
    /// So many bytes of junk come before the reply.
    Junk(usize),
    /// A frame of another conversation comes before the reply.
    Foreign,
    /// A unit of Kestrel reports its status before its answer, or in the middle of it; on other lines
    /// the reply is right.
    Report {
        /// In the middle of it.
        inside: bool,
    },
    /// The device shouts junk for so long, at most 10 s, instead of replying.
    Babble(Duration),
}

/// The kinds of faults, by the letters of the design; each is counted when it fires.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FaultKind {
    /// H1, a late reply.
    LateReply,
    /// H2, a CRC error.
    BadCrc,
    /// H3, a duplicate reply.
    Duplicate,
    /// H4, a truncated or merged frame.
    Mangled,
    /// H5, a reply from the wrong unit.
    WrongUnit,
    /// H6, a wrong function or length.
    WrongShape,
    /// H7, an exception.
    Exception,
    /// H8, an echo on half-duplex.
    Echo,
    /// H9, silence.
    Silence,
    /// H10, a stuck door.
    StuckDoor,
    /// H11, a controller that started anew.
    Restart,
    /// H12, a controller without power.
    PowerLoss,
    /// H13, a wrong position.
    Position,
    /// Junk between frames.
    Junk,
    /// Frames that are not ours.
    Foreign,
    /// A device that shouts.
    Babble,
    /// A report that nobody asked for.
    Report,
}

impl FaultKind {
    /// All of them.
    pub const ALL: [Self; 17] = [
        Self::LateReply,
        Self::BadCrc,
        Self::Duplicate,
        Self::Mangled,
        Self::WrongUnit,
        Self::WrongShape,
        Self::Exception,
        Self::Echo,
        Self::Silence,
        Self::StuckDoor,
        Self::Restart,
        Self::PowerLoss,
        Self::Position,
        Self::Junk,
        Self::Foreign,
        Self::Babble,
        Self::Report,
    ];

    /// Its name in tables: `H1` to `H13`, or a word.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::LateReply => "H1",
            Self::BadCrc => "H2",
            Self::Duplicate => "H3",
            Self::Mangled => "H4",
            Self::WrongUnit => "H5",
            Self::WrongShape => "H6",
            Self::Exception => "H7",
            Self::Echo => "H8",
            Self::Silence => "H9",
            Self::StuckDoor => "H10",
            Self::Restart => "H11",
            Self::PowerLoss => "H12",
            Self::Position => "H13",
            Self::Junk => "junk",
            Self::Foreign => "foreign",
            Self::Babble => "babble",
            Self::Report => "report",
        }
    }
}

impl Fault {
    /// What kind it is of.
    #[must_use]
    pub fn kind(&self) -> FaultKind {
        match self {
            Self::Late(_) | Self::IntoNext => FaultKind::LateReply,
            Self::BadCrc => FaultKind::BadCrc,
            Self::Twice(_) => FaultKind::Duplicate,
            Self::Truncated(_) | Self::Merged => FaultKind::Mangled,
            Self::WrongUnit(_) => FaultKind::WrongUnit,
            Self::WrongFunction | Self::WrongLength => FaultKind::WrongShape,
            Self::Refuse(_) => FaultKind::Exception,
            Self::Echo => FaultKind::Echo,
            Self::NoReply | Self::NoRequest => FaultKind::Silence,
            Self::Door(..) | Self::Reopens(_) => FaultKind::StuckDoor,
            Self::Restart(_) => FaultKind::Restart,
            Self::PowerLoss(_) => FaultKind::PowerLoss,
            Self::Position(..) => FaultKind::Position,
            Self::Junk(_) => FaultKind::Junk,
            Self::Foreign => FaultKind::Foreign,
            Self::Babble(_) => FaultKind::Babble,
            Self::Report { .. } => FaultKind::Report,
        }
    }
}
