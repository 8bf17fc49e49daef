//! Whether what is sent over a line comes back over it.
//!
//! The echo of a write by function 05 or 06 is the same bytes as its reply, so it has to be known
//! before such a write can be confirmed. An echo may be damaged, and then it must not be taken for
//! none (T-LIFT-42).

/// Requests in a row behind which no echo came, until the line counts as one without. One echo may
/// be lost as a whole on its way through an adapter.
const NONE_MIN: u8 = 2;

/// Whether a line echoes, as two-wire adapters do that listen while they speak.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Echo {
    /// Nothing has shown it yet.
    Unknown,
    /// It does not.
    Absent,
    /// It does: nothing that comes before the echo is a reply.
    Present,
}

/// What the bytes behind one request show of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EchoTrace {
    /// The whole echo.
    Whole,
    /// The answer, and beside it fewer bytes than half an echo has: a line that glitches when its
    /// drivers change over puts one or two in front of each reply.
    None,
    /// No whole echo, but what came may have been one, or may have been lost like one.
    Unclear,
    /// Nothing: the request is the same bytes as its reply.
    Nothing,
}

/// What is known of a line, from one request to the next.
#[derive(Debug)]
pub(super) struct EchoMemory {
    known: Echo,
    nones: u8,
}

impl EchoMemory {
    /// Nothing is known.
    pub(super) fn new() -> Self {
        Self {
            known: Echo::Unknown,
            nones: 0,
        }
    }

    /// What is known.
    pub(super) fn known(&self) -> Echo {
        self.known
    }

    /// Takes in what came behind one more request.
    pub(super) fn learn(&mut self, trace: EchoTrace) {
        self.nones = match trace {
            EchoTrace::None => self.nones.saturating_add(1),
            EchoTrace::Nothing => self.nones,
            EchoTrace::Whole | EchoTrace::Unclear => 0,
        };
        self.known = match (trace, self.known) {
            (EchoTrace::Whole, _) => Echo::Present,
            // The echo that was sure to come did not: something else is on the line.
            (EchoTrace::None | EchoTrace::Unclear, Echo::Present) => Echo::Unknown,
            (EchoTrace::None, Echo::Unknown) if self.nones >= NONE_MIN => Echo::Absent,
            (EchoTrace::None | EchoTrace::Unclear | EchoTrace::Nothing, known) => known,
        };
    }
}
