//! Which frames answer a request. Nothing here reads, writes or waits.

use super::crc::is_sound;
use super::exception::Exception;
use super::request::Request;

/// Bytes of an exception response: unit, function, code, checksum.
const EXCEPTION_LEN: usize = 5;
/// Bytes of the reply to a write: unit, function, four bytes that are echoed, checksum.
const WRITTEN_LEN: usize = 8;

/// A good reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// What was read, by address; bits are 0 or 1.
    Points(Vec<u16>),
    /// The unit confirmed the write, with the address and the value or count that was sent.
    Written,
}

/// What a unit answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// It did.
    Reply(Reply),
    /// It did not.
    Exception(Exception),
}

impl Answer {
    /// Whether it proves that the unit answered: what a gateway says of it proves nothing of what the
    /// unit may still answer.
    pub(super) fn is_of_unit(&self) -> bool {
        match self {
            Self::Reply(_) => true,
            Self::Exception(exception) => !exception.is_of_gateway(),
        }
    }
}

/// All that is known of a reply before it comes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shape {
    unit: u8,
    function: u8,
    body: Body,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Body {
    /// So many bits, in whole bytes.
    Bits(u16),
    /// So many registers.
    Words(u16),
    /// These bytes of the request.
    Echoed([u8; 4]),
}

impl Shape {
    /// The reply to a request.
    #[must_use]
    pub fn of(unit: u8, request: &Request) -> Self {
        let echoed = |address: u16, second: u16| {
            let ([a, b], [c, d]) = (address.to_be_bytes(), second.to_be_bytes());
            Body::Echoed([a, b, c, d])
        };
        let count = |count: usize| u16::try_from(count).unwrap_or(u16::MAX);
        let body = match request {
            Request::Read { table, count, .. } if table.is_bits() => Body::Bits(*count),
            Request::Read { count, .. } => Body::Words(*count),
            Request::WriteCoil { address, value } | Request::WriteRegister { address, value } => {
                echoed(*address, *value)
            }
            Request::WriteCoils { address, states } => echoed(*address, count(states.len())),
            Request::WriteRegisters { address, words } => echoed(*address, count(words.len())),
        };
        Self {
            unit,
            function: request.function(),
            body,
        }
    }

    /// Whose reply it is.
    #[must_use]
    pub fn unit(&self) -> u8 {
        self.unit
    }

    /// The function that it answers.
    #[must_use]
    pub fn function(&self) -> u8 {
        self.function
    }

    /// Bytes of the good reply, checksum and all.
    #[must_use]
    pub fn frame_len(&self) -> usize {
        match &self.body {
            Body::Bits(_) | Body::Words(_) => 5 + self.data_len(),
            Body::Echoed(_) => WRITTEN_LEN,
        }
    }

    /// Bytes of this answer, checksum and all.
    #[must_use]
    pub fn answer_len(&self, answer: &Answer) -> usize {
        match answer {
            Answer::Reply(_) => self.frame_len(),
            Answer::Exception(_) => EXCEPTION_LEN,
        }
    }

    /// The answer whose frame ends where `tail` ends.
    #[must_use]
    pub fn answer(&self, tail: &[u8]) -> Option<Answer> {
        let last = |count: usize| tail.len().checked_sub(count).map(|at| &tail[at..]);
        let reply = last(self.frame_len()).and_then(|frame| self.reply(frame));
        reply.map(Answer::Reply).or_else(|| {
            let code = last(EXCEPTION_LEN).and_then(|frame| self.exception(frame));
            code.map(Answer::Exception)
        })
    }

    /// Whether a reply to the one could be taken for a reply to the other.
    #[must_use]
    pub fn is_like(&self, other: &Self) -> bool {
        let is_same = (self.unit, self.function) == (other.unit, other.function);
        is_same
            && match (&self.body, &other.body) {
                (Body::Echoed(own), Body::Echoed(others)) => own == others,
                (Body::Bits(_) | Body::Words(_), Body::Bits(_) | Body::Words(_)) => {
                    self.data_len() == other.data_len()
                }
                (Body::Bits(_) | Body::Words(_) | Body::Echoed(_), _) => false,
            }
    }

    /// Bytes of what is read; none of a write.
    fn data_len(&self) -> usize {
        match &self.body {
            Body::Bits(count) => usize::from(*count).div_ceil(8),
            Body::Words(count) => usize::from(*count) * 2,
            Body::Echoed(_) => 0,
        }
    }

    fn reply(&self, frame: &[u8]) -> Option<Reply> {
        if frame[0] != self.unit || frame[1] != self.function {
            return None;
        }
        let data = &frame[3..frame.len() - 2];
        let reply = match &self.body {
            Body::Bits(_) | Body::Words(_) if usize::from(frame[2]) != self.data_len() => None,
            Body::Bits(count) => {
                let bit = |at: u16| u16::from((data[usize::from(at / 8)] >> (at % 8)) & 1);
                Some(Reply::Points((0..*count).map(bit).collect()))
            }
            Body::Words(_) => {
                let words = data.chunks_exact(2);
                let words = words.map(|pair| u16::from_be_bytes([pair[0], pair[1]]));
                Some(Reply::Points(words.collect()))
            }
            Body::Echoed(bytes) => (frame[2..6] == *bytes).then_some(Reply::Written),
        };
        reply.filter(|_| is_sound(frame))
    }

    fn exception(&self, frame: &[u8]) -> Option<Exception> {
        let is_ours = frame[0] == self.unit && frame[1] == self.function | 0x80 && frame[2] != 0;
        (is_ours && is_sound(frame)).then_some(Exception(frame[2]))
    }
}
