//! The register maps of the simulator's Modbus controllers and relay boards, as the text that a
//! gateway reads.

use protocol::hardware::{Door, Mode};

use super::layout::{self, Layout};
use super::modbus::{BoardLayout, FLASH_ON, door_word, mode_word};

/// The map of controllers with this layout, to be read every `poll_ms` milliseconds.
#[must_use]
pub fn map_text(layout: &Layout, poll_ms: u64) -> String {
    format!(
        "# The registers of a simulated elevator controller.\npoll_ms = {poll_ms}\n\
         read_gap_max = 32\n{}{}",
        seen(layout),
        told(layout)
    )
}

/// The map of relay boards with this layout, to be read every `poll_ms` milliseconds. The board
/// itself ends each press after `press_ms`, which is a multiple of 100.
#[must_use]
pub fn relay_map_text(layout: &BoardLayout, poll_ms: u64, press_ms: u64) -> String {
    let floors = layout.floors();
    let lamps = 8 + floors;
    let row = |number: u16| FLASH_ON + number * floors;
    let press =
        |relay: u16| format!("{{ point = \"coil\", address = {relay}, flash_ms = {press_ms} }}");
    let input = |input: u16| format!("{{ point = \"discrete\", address = {input} }}");
    format!(
        r#"# The inputs and relays of a simulated relay board in front of an elevator.
poll_ms = {poll_ms}
read_gap_max = 32

[floors]
count = {floors}

[floor]
bits = {at}

[motion]
moving = {moving}
up = {up}

[mode.bits]
normal = {normal}
maintenance = {maintenance}
fire = {fire}

[signals]
presence = {presence}

[front.door]
open_limit = {open_limit}
closed_limit = {closed_limit}

[front.lamps]
hall_up = {lamp_up}
hall_down = {lamp_down}
car = {lamp_car}

[front.buttons]
hall_up = {hall_up}
hall_down = {hall_down}
car = {car}
open = {open}
close = {close}
"#,
        at = input(8),
        moving = input(2),
        up = input(3),
        normal = input(5),
        maintenance = input(6),
        fire = input(7),
        presence = input(4),
        open_limit = input(0),
        closed_limit = input(1),
        lamp_up = input(lamps),
        lamp_down = input(lamps + floors),
        lamp_car = input(lamps + 2 * floors),
        hall_up = press(row(0)),
        hall_down = press(row(1)),
        car = press(row(2)),
        open = press(row(3)),
        close = press(row(3) + 1),
    )
}

/// What is read.
fn seen(layout: &Layout) -> String {
    let [(_, lamp_up), (_, lamp_down), (_, lamp_car)] = layout.rows();
    format!(
        r#"
[floors]
count = {floors}

[floor]
register = {{ point = "input", address = {floor} }}

[motion]
moving = {{ point = "discrete", address = 2 }}
up = {{ point = "discrete", address = 3 }}

[mode]
register = {{ point = "input", address = {mode} }}
values = {{ {modes} }}
bits.normal = {{ point = "discrete", address = 5 }}
bits.maintenance = {{ point = "discrete", address = 6 }}
bits.fire = {{ point = "discrete", address = 7 }}

[signals]
presence = {{ point = "discrete", address = 4 }}
load = {{ point = "input", address = {load} }}

[front.door]
register = {{ point = "input", address = {door} }}
values = {{ {doors} }}
open_limit = {{ point = "discrete", address = 0 }}
closed_limit = {{ point = "discrete", address = 1 }}

[front.lamps]
hall_up = {{ point = "discrete", address = {lamp_up} }}
hall_down = {{ point = "discrete", address = {lamp_down} }}
car = {{ point = "discrete", address = {lamp_car} }}
"#,
        floors = layout.floors(),
        floor = layout::FLOOR,
        door = layout::DOOR,
        mode = layout::MODE,
        load = layout::LOAD,
        modes = modes(),
        doors = doors(),
    )
}

/// What is written.
fn told(layout: &Layout) -> String {
    let [(up, _), (down, _), (car, _)] = layout.rows();
    let open = layout.buttons();
    let (close, cancel, claim) = (open + 1, open + 2, open + 3);
    format!(
        r#"
[front.buttons]
hall_up = {{ point = "coil", address = {up} }}
hall_down = {{ point = "coil", address = {down} }}
car = {{ point = "coil", address = {car} }}
open = {{ point = "coil", address = {open} }}
close = {{ point = "coil", address = {close} }}
hold_s = {{ point = "holding", address = {hold} }}

[commands]
cancel_calls = {{ point = "coil", address = {cancel} }}
claim = {{ point = "coil", address = {claim} }}
fence = {{ point = "holding", address = {fence}, words = 2, order = "low_first" }}
command_id = {{ point = "holding", address = {number} }}
"#,
        hold = layout::HOLD_S,
        fence = layout::FENCE,
        number = layout::COMMAND_ID,
    )
}

fn doors() -> String {
    listed(&[
        ("closed", door_word(Door::Closed)),
        ("opening", door_word(Door::Opening)),
        ("open", door_word(Door::Open)),
        ("closing", door_word(Door::Closing)),
    ])
}

fn modes() -> String {
    listed(&[
        ("normal", mode_word(Mode::Normal)),
        ("robot", mode_word(Mode::Robot)),
        ("attendant", mode_word(Mode::Attendant)),
        ("maintenance", mode_word(Mode::Maintenance)),
        ("fire", mode_word(Mode::Fire)),
        ("emergency", mode_word(Mode::Emergency)),
        ("out_of_service", mode_word(Mode::OutOfService)),
    ])
}

fn listed(words: &[(&str, u16)]) -> String {
    let entries: Vec<_> = words
        .iter()
        .map(|(word, number)| format!("{word} = {number}"))
        .collect();
    entries.join(", ")
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use adapters::map::RegisterMap;

    use super::*;

    #[test]
    fn the_gateway_can_read_the_map() {
        for floors in [2, 8, 40] {
            let layout = Layout::new(floors).unwrap();
            let map = RegisterMap::parse(&map_text(&layout, 200)).unwrap();
            assert_eq!(map.poll_ms(), 200);
        }
        for floors in [2, 8, 20] {
            let layout = BoardLayout::new(floors).unwrap();
            let map = RegisterMap::parse(&relay_map_text(&layout, 200, 500)).unwrap();
            assert_eq!(map.poll_ms(), 200);
        }
        assert!(BoardLayout::new(21).is_none());
    }
}
