//! Relay boards whose addresses are known, so that a map that would harm is refused.
//!
//! A relay that is toggled is in a state that nobody knows after a reply that was lost; a relay that
//! the gateway has to switch off stays on when the gateway dies in between. A board of this kind
//! times a press itself.

use std::ops::RangeInclusive;

use super::button::Button;
use super::point::Table;
use super::toml_section::{Mistakes, Section, whole};

/// Relays of a Waveshare board, one by one (Modbus RTU Relay, development protocol).
const WAVESHARE_SWITCH: RangeInclusive<u16> = 0x0000..=0x00FE;
/// Its relays, to be set for a time.
const WAVESHARE_FLASH: RangeInclusive<u16> = 0x0200..=0x02FE;
/// Relays of an R413D08 board, one by one.
const R413D08_SWITCH: RangeInclusive<u16> = 1..=8;
/// On, off, and on for a second.
const R413D08_ON: u16 = 0x0100;
const R413D08_OFF: u16 = 0x0200;
const R413D08_MOMENTARY: u16 = 0x0500;
/// On for 1 to 255 s.
const R413D08_DELAYS: RangeInclusive<u16> = 0x0601..=0x06FF;

/// A kind of board.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Board {
    /// Waveshare Modbus RTU Relay, and boards that follow it.
    Waveshare,
    /// R413D08 and its larger kin: a command for each relay in a holding register.
    R413d08,
}

impl Board {
    /// The section `[relays]`, where there is one.
    pub(super) fn parse(root: &mut Section<'_>, m: &mut Mistakes) -> Option<Self> {
        let mut section = root.section("relays", m)?;
        let boards = [("waveshare", Self::Waveshare), ("r413d08", Self::R413d08)];
        if !section.has("board") {
            m.add(section.missing("board", "waveshare, r413d08"));
        }
        let board = section.word("board", &boards, m);
        section.finish(m);
        board
    }

    /// Refuses a button that toggles, that all relays follow, or that the gateway would have to let
    /// go. A level, which stays on until it is written off, is a switch.
    pub(super) fn check(self, key: &str, count: u16, button: &Button, m: &mut Mistakes) {
        let (table, first, last) = button.range(count);
        let is_level = key == "commands.claim";
        let within = |range: &RangeInclusive<u16>| range.contains(&first) && range.contains(&last);
        let place = format!("{first:#06x}");
        let mut refuse = |name: &str, value: &str, expected: &str| {
            m.add(whole(&format!("{key}.{name}"), value, expected));
        };
        match self {
            Self::Waveshare if table != Table::Coil => {
                refuse("point", "holding", "coil: this board has its relays there");
            }
            Self::Waveshare if is_level => {
                if !within(&WAVESHARE_SWITCH) {
                    let expected = "0x0000 to 0x00fe: others toggle or switch all relays";
                    refuse("address", &place, expected);
                }
            }
            Self::Waveshare if !button.is_flash() => {
                let expected = "the time of the press, which the board ends by itself";
                refuse("flash_ms", "", expected);
            }
            Self::Waveshare => {
                if !within(&WAVESHARE_FLASH) {
                    let expected = "0x0200 to 0x02fe, where a relay is set for a time: others \
                                    toggle or switch for good";
                    refuse("address", &place, expected);
                }
            }
            Self::R413d08 if table != Table::Holding => {
                refuse(
                    "point",
                    "coil",
                    "holding: this board takes its commands there",
                );
            }
            Self::R413d08 if !within(&R413D08_SWITCH) => {
                refuse(
                    "address",
                    &place,
                    "1 to 8, the relays: 0 switches all of them",
                );
            }
            Self::R413d08 if button.has_pulse() => {
                let expected = "no pulse_ms: on = 0x0500 or 0x06NN, which the board ends by itself";
                refuse("pulse_ms", "set", expected);
            }
            Self::R413d08 => {
                let values = button.values();
                let is_timed = values
                    .is_some_and(|(on, _)| on == R413D08_MOMENTARY || R413D08_DELAYS.contains(&on));
                let is_switch = values == Some((R413D08_ON, R413D08_OFF));
                if is_level && !is_switch {
                    refuse(
                        "on",
                        "",
                        "0x0100, and off = 0x0200: others toggle or end by time",
                    );
                } else if !is_level && !is_timed {
                    refuse(
                        "on",
                        "",
                        "0x0500 for one second or 0x06NN for NN: others toggle",
                    );
                }
            }
        }
    }
}
