//! What a map says about one side of the car: its door, its lamps and its buttons.

use protocol::hardware::{Call, Direction, Door};
use protocol::{FloorLabel, Side};

use super::blocks::Polls;
use super::button::Button;
use super::car::Coded;
use super::number::HoldSeconds;
use super::point::{Addresses, Bit, FloorBits, Image};
use super::toml_section::{Mistakes, Places, Section};

/// One side of the car.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SideMap {
    /// The door.
    pub(super) door: DoorSource,
    /// The lamps of registered calls; `None` where they cannot be seen.
    pub(super) lamps: Option<Lamps>,
    /// The buttons.
    pub(super) buttons: Buttons,
}

impl SideMap {
    /// The section `[front]` or `[rear]`, where there is one.
    pub(super) fn parse(
        root: &mut Section<'_>,
        side: Side,
        count: u16,
        polls: Polls,
        m: &mut Mistakes,
    ) -> Option<Self> {
        let mut section = root.section(side.as_str(), m)?;
        let door = DoorSource::parse(&mut section, m);
        let lamps = Lamps::parse(&mut section, count, polls, m);
        // A maker with frames of its own has commands, and no points to write.
        let buttons = match section.places() {
            Places::Tables => Buttons::parse(&mut section, count, m),
            Places::Bytes(_) => Buttons::default(),
        };
        section.finish(m);
        Some(Self {
            door: door?,
            lamps,
            buttons,
        })
    }
}

/// Where a door is read: a register, limit switches, or both.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DoorSource {
    register: Option<Coded<Door>>,
    /// The switches that are closed with the door fully open, and fully closed.
    limits: Option<(Bit, Bit)>,
}

impl DoorSource {
    fn parse(side: &mut Section<'_>, m: &mut Mistakes) -> Option<Self> {
        let expected = "register and values, or open_limit and closed_limit, or both";
        let mut section = side.need_section("door", expected, m)?;
        let words = [
            ("open", Door::Open),
            ("closed", Door::Closed),
            ("opening", Door::Opening),
            ("closing", Door::Closing),
        ];
        let register = Coded::parse(&mut section, &words, m);
        for (word, door) in [("open", Door::Open), ("closed", Door::Closed)] {
            if register.as_ref().is_some_and(|coded| !coded.means(door)) {
                m.add(section.refuse("values", &format!("a number for {word} among them")));
            }
        }
        let open = Bit::parse(&mut section, "open_limit", m);
        let closed = Bit::parse(&mut section, "closed_limit", m);
        for (name, other) in [
            ("open_limit", "closed_limit"),
            ("closed_limit", "open_limit"),
        ] {
            if section.has(other) && !section.has(name) {
                m.add(section.missing(name, "both limit switches: one alone proves too little"));
            }
        }
        if !section.has("register") && !section.has("open_limit") && !section.has("closed_limit") {
            m.add(section.missing("register", expected));
        }
        section.finish(m);
        Some(Self {
            register,
            limits: open.zip(closed),
        })
    }

    /// Adds what must be read for it.
    pub(super) fn collect(&self, addresses: &mut Addresses) {
        if let Some(register) = &self.register {
            register.collect(addresses);
        }
        if let Some((open, closed)) = &self.limits {
            open.collect(addresses);
            closed.collect(addresses);
        }
    }

    /// The door. `Unknown` where the limit switches contradict each other or the register, and
    /// where neither switch is on and no register tells which way the door moves.
    pub(super) fn read(&self, image: &Image) -> Door {
        let told = self
            .register
            .as_ref()
            .map(|register| register.read(image).unwrap_or(Door::Unknown));
        let Some((open, closed)) = &self.limits else {
            return told.unwrap_or(Door::Unknown);
        };
        let (Some(open), Some(closed)) = (open.read(image), closed.read(image)) else {
            return Door::Unknown;
        };
        match (told, open, closed) {
            (_, true, true) => Door::Unknown,
            (None | Some(Door::Open), true, false) => Door::Open,
            (None | Some(Door::Closed), false, true) => Door::Closed,
            // A door that starts or ends its way may still, or already, touch a switch.
            (Some(door @ (Door::Opening | Door::Closing)), _, _) => door,
            (None | Some(Door::Open | Door::Closed | Door::Unknown), _, _) => Door::Unknown,
        }
    }
}

/// The lamps of registered calls, one per floor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Lamps {
    hall_up: FloorBits,
    hall_down: FloorBits,
    car: FloorBits,
    poll_ms: u64,
}

impl Lamps {
    fn parse(side: &mut Section<'_>, count: u16, polls: Polls, m: &mut Mistakes) -> Option<Self> {
        let mut section = side.section("lamps", m)?;
        let poll_ms = polls.parse(&mut section, m);
        let mut lamp = |name| {
            if !section.has(name) {
                let expected = "all of hall_up, hall_down and car: a list of calls that may lack \
                                some proves nothing; leave the whole section out instead";
                m.add(section.missing(name, expected));
            }
            FloorBits::parse(&mut section, name, count, m)
        };
        let (hall_up, hall_down, car) = (lamp("hall_up"), lamp("hall_down"), lamp("car"));
        section.finish(m);
        Some(Self {
            hall_up: hall_up?,
            hall_down: hall_down?,
            car: car?,
            poll_ms,
        })
    }

    /// How often they are read, in milliseconds.
    pub(super) fn poll_ms(&self) -> u64 {
        self.poll_ms
    }

    /// Adds what must be read for `count` floors.
    pub(super) fn collect(&self, count: u16, addresses: &mut Addresses) {
        for row in [&self.hall_up, &self.hall_down, &self.car] {
            row.collect(count, addresses);
        }
    }

    /// Adds the calls of a floor whose lamps are on.
    pub(super) fn read(
        &self,
        side: Side,
        floor: &FloorLabel,
        number: u16,
        image: &Image,
        calls: &mut Vec<Call>,
    ) {
        let halls = [
            (&self.hall_up, Direction::Up),
            (&self.hall_down, Direction::Down),
        ];
        for (row, direction) in halls {
            if row.read(number, image) == Some(true) {
                calls.push(Call::Hall {
                    floor: floor.clone(),
                    side: Some(side),
                    direction: Some(direction),
                });
            }
        }
        if self.car.read(number, image) == Some(true) {
            calls.push(Call::Car {
                floor: floor.clone(),
                side: Some(side),
            });
        }
    }
}

/// The buttons of one side; each is `None` where the controller has no such point.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Buttons {
    /// A hall call upwards, by floor.
    pub(super) hall_up: Option<Button>,
    /// A hall call downwards, by floor.
    pub(super) hall_down: Option<Button>,
    /// A car call, by floor.
    pub(super) car: Option<Button>,
    /// Door open.
    pub(super) open: Option<Button>,
    /// Door close.
    pub(super) close: Option<Button>,
    /// The seconds for which the door shall stay open.
    pub(super) hold_s: Option<HoldSeconds>,
}

impl Buttons {
    fn parse(side: &mut Section<'_>, count: u16, m: &mut Mistakes) -> Self {
        let Some(mut section) = side.section("buttons", m) else {
            return Self::default();
        };
        let buttons = Self {
            hall_up: Button::parse(&mut section, "hall_up", Some(count), m),
            hall_down: Button::parse(&mut section, "hall_down", Some(count), m),
            car: Button::parse(&mut section, "car", Some(count), m),
            open: Button::parse(&mut section, "open", None, m),
            close: Button::parse(&mut section, "close", None, m),
            hold_s: HoldSeconds::parse(&mut section, m),
        };
        section.finish(m);
        buttons
    }
}
