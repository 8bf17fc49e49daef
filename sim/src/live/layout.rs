//! Where the simulator's Modbus controllers keep what: the registers of the example map.
//!
//! Rows with one point per floor start at multiples of 16, so that up to 16 floors lie exactly where
//! the example map has them; taller buildings get wider rows, in the same order.

/// The points of a controller with so many floors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    floors: u16,
    row: u16,
}

/// The most floors; their rows fit into one reading of 2000 bits.
pub const FLOORS_MAX: u16 = 256;

/// What a coil is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coil {
    /// The button for a call upwards at a floor.
    HallUp(u16),
    /// The button for a call downwards at a floor.
    HallDown(u16),
    /// The button for a floor in the car.
    Car(u16),
    /// The door-open button.
    OpenDoor,
    /// The door-close button.
    CloseDoor,
    /// Puts out all hall calls.
    CancelHallCalls,
    /// On while the car is claimed for robots.
    Claim,
}

/// What a discrete input is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Discrete {
    /// The door is fully open.
    DoorOpen,
    /// The door is fully closed.
    DoorClosed,
    /// The car moves.
    Moving,
    /// The car moves, or goes on, upwards.
    Up,
    /// Something is in the car.
    Occupied,
    /// The mode is normal or robot.
    ModeNormal,
    /// The mode is maintenance.
    Maintenance,
    /// The mode is fire.
    Fire,
    /// The lamp of the call upwards at a floor.
    LampUp(u16),
    /// The lamp of the call downwards at a floor.
    LampDown(u16),
    /// The lamp of a floor in the car.
    LampCar(u16),
    /// The car is at a floor: a sensor in the shaft, which only relay boards are wired to.
    At(u16),
}

/// Holding register: how many seconds the door shall stay open.
pub const HOLD_S: u16 = 0;
/// Holding register: the lower 16 bits of the fence; the upper 16 follow.
pub const FENCE: u16 = 1;
/// Holding register: the number of the command.
pub const COMMAND_ID: u16 = 3;
/// How many holding registers there are.
pub const HOLDING: u16 = 4;
/// Input register: the floor, from 0.
pub const FLOOR: u16 = 0;
/// Input register: the door, by the numbers of `map_text`.
pub const DOOR: u16 = 1;
/// Input register: the mode, by the numbers of `map_text`.
pub const MODE: u16 = 2;
/// Input register: the load in percent.
pub const LOAD: u16 = 3;
/// How many input registers there are.
pub const INPUTS: u16 = 4;

impl Layout {
    /// The layout of a car with so many floors; `None` for none, or more than [`FLOORS_MAX`].
    #[must_use]
    pub fn new(floors: usize) -> Option<Self> {
        let floors = u16::try_from(floors)
            .ok()
            .filter(|floors| (1..=FLOORS_MAX).contains(floors))?;
        Some(Self {
            floors,
            row: floors.div_ceil(16) * 16,
        })
    }

    /// How many floors it has.
    #[must_use]
    pub fn floors(&self) -> u16 {
        self.floors
    }

    /// The first coil and the first lamp of the rows: up, down, car. Lamps lie one row higher than
    /// buttons.
    #[must_use]
    pub fn rows(&self) -> [(u16, u16); 3] {
        [
            (0, self.row),
            (self.row, 2 * self.row),
            (2 * self.row, 3 * self.row),
        ]
    }

    /// The door-open coil; door-close, cancel and claim follow.
    #[must_use]
    pub fn buttons(&self) -> u16 {
        3 * self.row
    }

    /// What the coil at an address is.
    #[must_use]
    pub fn coil(&self, address: u16) -> Option<Coil> {
        match address.checked_sub(self.buttons()) {
            Some(0) => Some(Coil::OpenDoor),
            Some(1) => Some(Coil::CloseDoor),
            Some(2) => Some(Coil::CancelHallCalls),
            Some(3) => Some(Coil::Claim),
            Some(_) => None,
            None => {
                let floor = self.floor(address)?;
                Some(match address / self.row {
                    0 => Coil::HallUp(floor),
                    1 => Coil::HallDown(floor),
                    _ => Coil::Car(floor),
                })
            }
        }
    }

    /// What the discrete input at an address is.
    #[must_use]
    pub fn discrete(&self, address: u16) -> Option<Discrete> {
        match address {
            0 => Some(Discrete::DoorOpen),
            1 => Some(Discrete::DoorClosed),
            2 => Some(Discrete::Moving),
            3 => Some(Discrete::Up),
            4 => Some(Discrete::Occupied),
            5 => Some(Discrete::ModeNormal),
            6 => Some(Discrete::Maintenance),
            7 => Some(Discrete::Fire),
            _ => {
                let floor = self.floor(address)?;
                match address / self.row {
                    1 => Some(Discrete::LampUp(floor)),
                    2 => Some(Discrete::LampDown(floor)),
                    3 => Some(Discrete::LampCar(floor)),
                    _ => None,
                }
            }
        }
    }

    fn floor(&self, address: u16) -> Option<u16> {
        Some(address % self.row).filter(|floor| *floor < self.floors)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn eight_floors_lie_where_the_example_map_has_them() {
        let layout = Layout::new(8).unwrap();
        assert_eq!(layout.coil(0), Some(Coil::HallUp(0)));
        assert_eq!(layout.coil(7), Some(Coil::HallUp(7)));
        assert_eq!(layout.coil(8), None);
        assert_eq!(layout.coil(16), Some(Coil::HallDown(0)));
        assert_eq!(layout.coil(39), Some(Coil::Car(7)));
        assert_eq!(layout.coil(48), Some(Coil::OpenDoor));
        assert_eq!(layout.coil(51), Some(Coil::Claim));
        assert_eq!(layout.coil(52), None);
        assert_eq!(layout.discrete(1), Some(Discrete::DoorClosed));
        assert_eq!(layout.discrete(8), None);
        assert_eq!(layout.discrete(16), Some(Discrete::LampUp(0)));
        assert_eq!(layout.discrete(33), Some(Discrete::LampDown(1)));
        assert_eq!(layout.discrete(55), Some(Discrete::LampCar(7)));
    }

    #[test]
    fn a_tower_has_wider_rows() {
        let layout = Layout::new(40).unwrap();
        assert_eq!(layout.rows(), [(0, 48), (48, 96), (96, 144)]);
        assert_eq!(layout.coil(39), Some(Coil::HallUp(39)));
        assert_eq!(layout.coil(145), Some(Coil::CloseDoor));
        assert_eq!(layout.discrete(144), Some(Discrete::LampCar(0)));
        assert!(Layout::new(0).is_none());
        assert!(Layout::new(257).is_none());
    }
}
