//! The shape of frames, and how one is put together and taken apart.

use super::checksum::Checksum;

/// One place of a header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Slot {
    /// Always this byte.
    Byte(u8),
    /// What is asked or said.
    Code,
    /// How much follows.
    Length,
    /// The number of the gateway on the line.
    Master,
    /// The number of the frame, which its answer repeats.
    Sequence,
    /// The unit that is asked, or that answers.
    Unit,
}

/// The field that tells how long a frame is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Length {
    /// What it tells beyond the bytes of the payload.
    pub(super) adds: u16,
    /// It has two bytes, and whether the higher one goes first.
    pub(super) wide: Option<bool>,
}

/// What stands for bytes that would look like the beginning or the end of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Escape {
    /// Goes before such a byte.
    pub(super) byte: u8,
    /// Turns these bits of it.
    pub(super) xor: u8,
}

/// The shape of frames.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Framing {
    pub(super) start: Vec<u8>,
    /// The header of what the gateway sends.
    pub(super) request: Vec<Slot>,
    /// The header of what units send.
    pub(super) answer: Vec<Slot>,
    pub(super) length: Length,
    pub(super) master: u8,
    pub(super) checksum: Checksum,
    pub(super) end: Vec<u8>,
    pub(super) escape: Option<Escape>,
    /// What is sent comes back before any answer.
    pub(super) echo: bool,
}

/// Who sends a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// The gateway.
    Request,
    /// A unit.
    Answer,
}

/// What the header of a frame tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// The unit.
    pub unit: u8,
    /// The number of the frame; of no meaning where frames have none.
    pub sequence: u8,
    /// The code.
    pub code: u8,
}

/// A frame that a unit sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// The unit.
    pub unit: u8,
    /// The number of the frame, where frames have one.
    pub sequence: Option<u8>,
    /// The code.
    pub code: u8,
    /// The payload.
    pub payload: Vec<u8>,
}

impl Framing {
    /// The bytes of a frame.
    #[must_use]
    pub fn encode(&self, way: Way, head: Head, payload: &[u8]) -> Vec<u8> {
        let mut body = Vec::with_capacity(payload.len() + 8);
        for slot in self.header(way) {
            match slot {
                Slot::Byte(byte) => body.push(*byte),
                Slot::Code => body.push(head.code),
                Slot::Length => body.extend(self.length.of(payload.len())),
                Slot::Master => body.push(self.master),
                Slot::Sequence => body.push(head.sequence),
                Slot::Unit => body.push(head.unit),
            }
        }
        body.extend(payload);
        body.extend(self.checksum.of(&self.start, &body));
        let mut frame = self.start.clone();
        match self.escape {
            None => frame.extend(body),
            Some(escape) => {
                for byte in body {
                    if self.is_reserved(byte) {
                        frame.extend([escape.byte, byte ^ escape.xor]);
                    } else {
                        frame.push(byte);
                    }
                }
            }
        }
        frame.extend(&self.end);
        frame
    }

    /// Takes the bytes of a frame apart that a unit sent; `None` where they are not exactly one.
    #[must_use]
    pub fn decode(&self, bytes: &[u8]) -> Option<Frame> {
        let inner = bytes.strip_prefix(self.start.as_slice())?;
        let inner = inner.strip_suffix(self.end.as_slice())?;
        let plain;
        let inner = match self.escape {
            None => inner,
            Some(escape) => {
                plain = self.plain(inner, escape)?;
                plain.as_slice()
            }
        };
        let at = inner.len().checked_sub(self.checksum.width())?;
        let (body, checksum) = inner.split_at(at);
        if self.checksum.of(&self.start, body) != checksum {
            return None;
        }
        self.take_apart(body)
    }

    /// Whether what units send is numbered as what they were asked by.
    #[must_use]
    pub fn has_sequence(&self) -> bool {
        self.answer.contains(&Slot::Sequence)
    }

    /// Bytes of the longest frame with so many in its payload.
    #[must_use]
    pub fn len_max(&self, way: Way, payload: usize) -> usize {
        let header = self.header(way).iter();
        let header: usize = header.map(|slot| self.width(*slot)).sum();
        let inner = header + payload + self.checksum.width();
        let times = if self.escape.is_some() { 2 } else { 1 };
        self.start.len() + inner * times + self.end.len()
    }

    /// Whether a byte has to be escaped.
    pub(super) fn is_reserved(&self, byte: u8) -> bool {
        let escape = self.escape.map(|escape| escape.byte);
        self.start.contains(&byte) || self.end.contains(&byte) || escape == Some(byte)
    }

    /// The slots of a header.
    pub(super) fn header(&self, way: Way) -> &[Slot] {
        match way {
            Way::Request => &self.request,
            Way::Answer => &self.answer,
        }
    }

    fn width(&self, slot: Slot) -> usize {
        match slot {
            Slot::Length if self.length.wide.is_some() => 2,
            Slot::Length
            | Slot::Byte(_)
            | Slot::Code
            | Slot::Master
            | Slot::Sequence
            | Slot::Unit => 1,
        }
    }

    /// Undoes escapes; `None` where they are not those that [`Framing::encode`] makes.
    fn plain(&self, bytes: &[u8], escape: Escape) -> Option<Vec<u8>> {
        let mut plain = Vec::with_capacity(bytes.len());
        let mut rest = bytes.iter().copied();
        while let Some(byte) = rest.next() {
            if byte == escape.byte {
                let meant = rest.next()? ^ escape.xor;
                if !self.is_reserved(meant) {
                    return None;
                }
                plain.push(meant);
            } else if self.is_reserved(byte) {
                return None;
            } else {
                plain.push(byte);
            }
        }
        Some(plain)
    }

    fn take_apart(&self, body: &[u8]) -> Option<Frame> {
        let (mut unit, mut sequence, mut code, mut length) = (None, None, None, None);
        let mut rest = body;
        for slot in &self.answer {
            let (field, behind) = rest.split_at_checked(self.width(*slot))?;
            rest = behind;
            let byte = *field.first()?;
            match slot {
                Slot::Byte(always) if byte != *always => return None,
                Slot::Master if byte != self.master => return None,
                Slot::Byte(_) | Slot::Master => {}
                Slot::Code => code = Some(byte),
                Slot::Length => length = Some(field),
                Slot::Sequence => sequence = Some(byte),
                Slot::Unit => unit = Some(byte),
            }
        }
        if length.is_some_and(|length| length != self.length.of(rest.len())) {
            return None;
        }
        Some(Frame {
            unit: unit?,
            sequence,
            code: code?,
            payload: rest.to_vec(),
        })
    }
}

impl Length {
    /// The bytes of the field in a frame with so many in its payload.
    fn of(self, payload: usize) -> Vec<u8> {
        let told = payload.saturating_add(usize::from(self.adds));
        let told = u16::try_from(told).unwrap_or(u16::MAX);
        match self.wide {
            Some(true) => told.to_be_bytes().to_vec(),
            Some(false) => told.to_le_bytes().to_vec(),
            // A profile whose frames do not fit is refused.
            None => vec![u8::try_from(told).unwrap_or(u8::MAX)],
        }
    }
}
