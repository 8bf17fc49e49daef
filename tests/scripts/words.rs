//! The command language of the scripts: one line, one deed. `tests/scripts/README.md` lists it.

use std::collections::BTreeMap;

use protocol::robot::RobotEvent;
use protocol::{ElevatorId, Fence, FloorLabel, Landing, OrderId, RobotId, Side};

/// A line cut into words, options apart.
pub struct Line<'a> {
    /// The whole line, for complaints.
    pub text: &'a str,
    words: Vec<&'a str>,
    options: BTreeMap<&'a str, &'a str>,
}

impl<'a> Line<'a> {
    /// Cuts a line: `name=value` is an option wherever it stands.
    pub fn new(text: &'a str) -> Self {
        let (options, words) = text
            .split_whitespace()
            .partition::<Vec<_>, _>(|word| word.contains('='));
        let options = options
            .into_iter()
            .filter_map(|word| word.split_once('='))
            .collect();
        Self {
            text,
            words,
            options,
        }
    }

    /// The words that are no options.
    pub fn words(&self) -> &[&'a str] {
        &self.words
    }

    /// A word that must be there.
    pub fn word(&self, place: usize) -> &'a str {
        self.words
            .get(place)
            .unwrap_or_else(|| panic!("{:?} lacks word {place}", self.text))
    }

    /// Whether a bare word is there.
    pub fn has(&self, word: &str) -> bool {
        self.words.contains(&word)
    }

    /// An option.
    pub fn option(&self, name: &str) -> Option<&'a str> {
        self.options.get(name).copied()
    }

    /// An option that is a number.
    pub fn number(&self, name: &str) -> Option<u64> {
        self.option(name)
            .map(|text| text.parse().unwrap_or_else(|_| panic!("{:?}", self.text)))
    }

    /// The span of a word such as `5s`, `2m` or `250ms`, in milliseconds.
    pub fn span_ms(&self, place: usize) -> u64 {
        span_ms(self.word(place)).unwrap_or_else(|| panic!("{:?} has no span", self.text))
    }

    /// An elevator.
    pub fn elevator(&self, place: usize) -> ElevatorId {
        ElevatorId::new(self.word(place)).unwrap()
    }

    /// An order.
    pub fn order(&self, place: usize) -> OrderId {
        OrderId::new(self.word(place)).unwrap()
    }

    /// A robot.
    pub fn robot(&self, place: usize) -> RobotId {
        RobotId::new(self.word(place)).unwrap()
    }

    /// A landing: `3F`, or `3F/rear`.
    pub fn landing(&self, place: usize) -> Landing {
        landing(self.word(place))
    }

    /// The fence of the option `fence`.
    pub fn fence(&self) -> Option<Fence> {
        self.number("fence").map(Fence)
    }

    /// The event that a robot says; `again` and `hold=` go with it.
    pub fn event(&self, place: usize) -> RobotEvent {
        match self.word(place) {
            "query" => RobotEvent::Query,
            "at_door" => RobotEvent::AtDoor,
            "entered" => RobotEvent::Entered,
            "exited" => RobotEvent::Exited,
            "cancel_enter" => RobotEvent::CancelEnter {
                again: self.has("again"),
            },
            "cancel_exit" => RobotEvent::CancelExit,
            "hold_door" => {
                let hold_s = self.number("hold").unwrap_or(30);
                RobotEvent::HoldDoor {
                    hold_s: u32::try_from(hold_s).unwrap(),
                }
            }
            _ => panic!("{:?} has no event", self.text),
        }
    }
}

/// A landing: `3F`, or `3F/rear`.
pub fn landing(text: &str) -> Landing {
    let (floor, side) = match text.split_once('/') {
        Some((floor, "rear")) => (floor, Side::Rear),
        Some((floor, _)) => (floor, Side::Front),
        None => (text, Side::Front),
    };
    Landing {
        floor: FloorLabel::new(floor).unwrap(),
        side,
    }
}

fn span_ms(text: &str) -> Option<u64> {
    if let Some(ms) = text.strip_suffix("ms") {
        return ms.parse().ok();
    }
    if let Some(s) = text.strip_suffix('s') {
        return s.parse::<u64>().ok().map(|s| s * 1_000);
    }
    text.strip_suffix('m')
        .and_then(|m| m.parse::<u64>().ok())
        .map(|m| m * 60_000)
}
