//! Commands of a maker: which code each has, and what stands in its payload.

use protocol::Landing;
use protocol::Side;
use protocol::hardware::{Action, Command, Direction};

use super::answers::{Message, PAYLOAD_MAX, byte, need_byte};
use crate::map::toml_section::{Mistakes, Part, Section};
use crate::map::{FloorTable, RegisterMap, command_number};

/// A command of a maker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Layout {
    pub(super) code: u8,
    pieces: Vec<Piece>,
}

/// Something in a payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Piece {
    Byte(u8),
    Value(What, Size),
}

/// A value of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum What {
    Command,
    Direction,
    Fence,
    Floor,
    HoldS,
    Side,
}

/// How it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Size {
    Byte,
    Big(usize),
    Little(usize),
}

/// The words of a payload.
const PIECES: [(&str, What, Size); 10] = [
    ("command_be", What::Command, Size::Big(2)),
    ("command_le", What::Command, Size::Little(2)),
    ("direction", What::Direction, Size::Byte),
    ("fence_be", What::Fence, Size::Big(4)),
    ("fence_le", What::Fence, Size::Little(4)),
    ("floor", What::Floor, Size::Byte),
    ("floor_be", What::Floor, Size::Big(2)),
    ("floor_le", What::Floor, Size::Little(2)),
    ("hold_s", What::HoldS, Size::Byte),
    ("side", What::Side, Size::Byte),
];

/// The section `[words]`: the numbers of sides and directions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Words {
    front: u8,
    rear: u8,
    up: u8,
    down: u8,
}

/// The section `[commands]`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Layouts {
    pub(super) claim: Option<Layout>,
    pub(super) hall_call: Option<Layout>,
    pub(super) cancel_call: Option<Layout>,
    pub(super) car_call: Option<Layout>,
    pub(super) open_door: Option<Layout>,
    pub(super) hold_door: Option<Layout>,
    pub(super) close_door: Option<Layout>,
    pub(super) release: Option<Layout>,
}

impl Words {
    /// Reads the section, where there is one.
    pub(super) fn parse(root: &mut Section<'_>, m: &mut Mistakes) -> Self {
        let mut words = Self {
            front: 1,
            rear: 2,
            up: 1,
            down: 2,
        };
        let Some(mut section) = root.section("words", m) else {
            return words;
        };
        for (name, word) in [
            ("front", &mut words.front),
            ("rear", &mut words.rear),
            ("up", &mut words.up),
            ("down", &mut words.down),
        ] {
            *word = byte(&mut section, name, m).unwrap_or(*word);
        }
        for (name, other, is_same) in [
            ("rear", "front", words.rear == words.front),
            ("down", "up", words.down == words.up),
        ] {
            if is_same {
                m.add(section.refuse(name, &format!("another number than that of {other}")));
            }
        }
        section.finish(m);
        words
    }
}

impl Layouts {
    /// Reads the section.
    pub(super) fn parse(root: &mut Section<'_>, m: &mut Mistakes) -> Self {
        let expected = "hall_call, car_call and the others: what the maker can be told";
        let Some(mut section) = root.need_section("commands", expected, m) else {
            return Self::default();
        };
        let floor = &[What::Floor, What::Side];
        let call = &[What::Floor, What::Side, What::Direction];
        let hold = &[What::Floor, What::Side, What::HoldS];
        let mut layout = |name, values| Layout::parse(&mut section, name, values, m);
        let layouts = Self {
            claim: layout("claim", &[]),
            hall_call: layout("hall_call", call),
            cancel_call: layout("cancel_call", call),
            car_call: layout("car_call", floor),
            open_door: layout("open_door", floor),
            hold_door: layout("hold_door", hold),
            close_door: layout("close_door", floor),
            release: layout("release", &[]),
        };
        section.finish(m);
        layouts
    }

    /// All that there are, by name.
    pub(super) fn all(&self) -> impl Iterator<Item = (&'static str, &Layout)> {
        let all = [
            ("claim", &self.claim),
            ("hall_call", &self.hall_call),
            ("cancel_call", &self.cancel_call),
            ("car_call", &self.car_call),
            ("open_door", &self.open_door),
            ("hold_door", &self.hold_door),
            ("close_door", &self.close_door),
            ("release", &self.release),
        ];
        all.into_iter()
            .filter_map(|(name, layout)| Some((name, layout.as_ref()?)))
    }

    /// What a command is on the line; `None` for one that needs no frame.
    ///
    /// # Errors
    /// A sentence that names the command that the maker lacks, or the value that does not fit.
    pub(super) fn message(
        &self,
        command: &Command,
        (sight, floors, words): (&RegisterMap, &FloorTable, Words),
    ) -> Result<Option<Message>, String> {
        let action = &command.action;
        let (layout, landing, direction, hold_ms) = match action {
            Action::Query => return Ok(None),
            Action::Claim => (&self.claim, None, None, None),
            Action::HallCall { landing, direction } => {
                (&self.hall_call, Some(landing), Some(*direction), None)
            }
            Action::CancelCall { landing, direction } => {
                (&self.cancel_call, Some(landing), Some(*direction), None)
            }
            Action::CarCall { landing } => (&self.car_call, Some(landing), None, None),
            Action::OpenDoor { landing } => (&self.open_door, Some(landing), None, None),
            Action::HoldDoor { landing, hold_ms } => {
                (&self.hold_door, Some(landing), None, Some(*hold_ms))
            }
            Action::CloseDoor { landing } => (&self.close_door, Some(landing), None, None),
            // A maker without the command keeps nothing that could be released.
            Action::Release if self.release.is_none() => return Ok(None),
            Action::Release => (&self.release, None, None, None),
        };
        let word = action.word();
        let layout = layout.as_ref();
        let layout = layout.ok_or_else(|| format!("the profile has no commands.{word}"))?;
        let mut payload = Vec::new();
        for piece in &layout.pieces {
            let (what, size) = match piece {
                Piece::Byte(byte) => {
                    payload.push(*byte);
                    continue;
                }
                Piece::Value(what, size) => (*what, *size),
            };
            let number = match what {
                What::Command => Some(command_number(&command.command_id)),
                What::Fence => Some(command.fence.0),
                What::Floor => Some(floor(landing, sight, floors)?),
                What::HoldS => hold_ms.map(|hold_ms| hold_ms.div_ceil(1_000)),
                What::Side => landing.map(|landing| match landing.side {
                    Side::Front => words.front.into(),
                    Side::Rear => words.rear.into(),
                }),
                What::Direction => direction.map(|direction| match direction {
                    Direction::Up => words.up.into(),
                    Direction::Down => words.down.into(),
                }),
            };
            // A layout names no value that its command does not have.
            let number = number.unwrap_or(0);
            let written = size.write(number);
            payload.extend(written.ok_or_else(|| {
                format!("commands.{word}: {number} does not fit into its place in the payload")
            })?);
        }
        Ok(Some(Message {
            code: layout.code,
            payload,
            is_status: false,
        }))
    }
}

impl Layout {
    fn parse(
        parent: &mut Section<'_>,
        name: &'static str,
        values: &[What],
        m: &mut Mistakes,
    ) -> Option<Self> {
        let mut section = parent.section(name, m)?;
        let code = need_byte(&mut section, "code", m);
        let fits =
            |what: What| matches!(what, What::Fence | What::Command) || values.contains(&what);
        let pieces = PIECES.iter().filter(|(_, what, _)| fits(*what));
        let words: Vec<&str> = pieces.map(|(word, ..)| *word).collect();
        let parts = section.layout("payload", &words, m);
        let has_mistake = section.has("payload") && parts.is_none();
        let piece = |part: &Part<'_>| match part {
            Part::Byte(byte) => Some(Piece::Byte(*byte)),
            Part::Word(word) => PIECES
                .iter()
                .find(|(known, ..)| known == word)
                .map(|(_, what, size)| Piece::Value(*what, *size)),
        };
        let pieces: Vec<Piece> = parts.iter().flatten().filter_map(piece).collect();
        let layout = Self {
            code: code.unwrap_or(0),
            pieces,
        };
        let is_too_long = i64::try_from(layout.payload_len()).is_ok_and(|len| len > PAYLOAD_MAX);
        if is_too_long {
            m.add(section.refuse("payload", &format!("{PAYLOAD_MAX} bytes at most")));
        }
        if !has_mistake && values.contains(&What::Floor) && !layout.has(What::Floor) {
            let of_door = matches!(name, "open_door" | "hold_door" | "close_door");
            if !of_door {
                m.add(section.missing("payload", "a payload with the floor: \"floor\" or another"));
            }
        }
        section.finish(m);
        (code.is_some() && !has_mistake).then_some(layout)
    }

    /// Bytes of its payload.
    pub(super) fn payload_len(&self) -> usize {
        let len = |piece: &Piece| match piece {
            Piece::Byte(_) | Piece::Value(_, Size::Byte) => 1,
            Piece::Value(_, Size::Big(bytes) | Size::Little(bytes)) => *bytes,
        };
        self.pieces.iter().map(len).sum()
    }

    /// Whether floors go into one byte.
    pub(super) fn has_narrow_floor(&self) -> bool {
        self.pieces.contains(&Piece::Value(What::Floor, Size::Byte))
    }

    /// Whether the seconds of a hold go into one byte.
    pub(super) fn has_hold(&self) -> bool {
        self.has(What::HoldS)
    }

    fn has(&self, wanted: What) -> bool {
        let is_it = |piece: &Piece| matches!(piece, Piece::Value(what, _) if *what == wanted);
        self.pieces.iter().any(is_it)
    }
}

impl Size {
    /// The bytes of a number; `None` where it does not fit.
    fn write(self, number: u64) -> Option<Vec<u8>> {
        let len = match self {
            Self::Byte => 1,
            Self::Big(len) | Self::Little(len) => len,
        };
        let bytes = number.to_be_bytes();
        let (high, low) = bytes.split_at(bytes.len().checked_sub(len)?);
        if high.iter().any(|byte| *byte != 0) {
            return None;
        }
        let mut low = low.to_vec();
        if matches!(self, Self::Little(_)) {
            low.reverse();
        }
        Some(low)
    }
}

/// What the controller calls the floor of a landing.
fn floor(
    landing: Option<&Landing>,
    sight: &RegisterMap,
    floors: &FloorTable,
) -> Result<u64, String> {
    let Some(landing) = landing else { return Ok(0) };
    let number = floors.number(&landing.floor);
    let code = number.and_then(|number| sight.floor_code(number));
    code.map(u64::from)
        .ok_or_else(|| format!("the profile has no number for floor {}", landing.floor))
}
