//! Maps from the outside: mistakes, readings and writes. Expected values come from the comments
//! of `configs/maps/example.toml` and from `wire.md` section 6, by hand.

mod commands;
mod mistakes;
mod readings;
mod relays;

use protocol::hardware::{Action, Call, Command, Direction, Door, Mode, Motion};
use protocol::{CommandId, ElevatorId, Fence, Landing};

use super::*;

const EXAMPLE: &str = include_str!("../../../configs/maps/example.toml");

/// As little as a map may hold, with the parts under test put in place of the `@` lines.
const SMALL: &str = r#"
@top
[floors]
count = 3
[floor]
@floor
[motion]
@motion
[front.door]
@door
@more
"#;

fn small(parts: &[(&str, &str)]) -> String {
    let mut text = SMALL.to_owned();
    let defaults = [
        ("@top", ""),
        ("@floor", r#"register = { point = "input", address = 0 }"#),
        (
            "@motion",
            r#"up = { point = "discrete", address = 0 }
            down = { point = "discrete", address = 1 }"#,
        ),
        (
            "@door",
            r#"open_limit = { point = "discrete", address = 2 }
            closed_limit = { point = "discrete", address = 3 }"#,
        ),
        ("@more", ""),
    ];
    for (place, default) in defaults {
        let part = parts
            .iter()
            .find(|(name, _)| *name == place)
            .map_or(default, |(_, part)| part);
        text = text.replace(place, part);
    }
    text
}

fn parse(parts: &[(&str, &str)]) -> RegisterMap {
    RegisterMap::parse(&small(parts)).unwrap()
}

fn mistakes(parts: &[(&str, &str)]) -> Vec<String> {
    RegisterMap::parse(&small(parts))
        .unwrap_err()
        .iter()
        .map(|error| error.key.clone())
        .collect()
}

fn floors(labels: &[&str]) -> Vec<MappedFloor> {
    let floor = |label: &&str| MappedFloor {
        label: FloorLabel::new(label).unwrap(),
        sides: [Side::Front].into(),
    };
    labels.iter().map(floor).collect()
}

fn label(text: &str) -> Option<FloorLabel> {
    Some(FloorLabel::new(text).unwrap())
}

/// An image in which all that the map reads is 0, but for the points given.
fn image(map: &RegisterMap, points: &[(Table, u16, u16)]) -> Image {
    let mut image = Image::new();
    for block in map.blocks() {
        image.extend((0..block.count).map(|at| ((block.table, block.address + at), 0)));
    }
    for (table, address, word) in points {
        assert!(
            image.insert((*table, *address), *word).is_some(),
            "{table:?} {address} unread"
        );
    }
    image
}

fn command(action: Action) -> Command {
    Command {
        elevator_id: ElevatorId::new("EL001").unwrap(),
        command_id: CommandId::new("foobar").unwrap(),
        fence: Fence(0x0002_0003),
        order_id: None,
        action,
        expires_in_ms: 5_000,
    }
}

fn landing(floor: &str, side: Side) -> Landing {
    Landing {
        floor: FloorLabel::new(floor).unwrap(),
        side,
    }
}

fn writes(map: &RegisterMap, action: Action) -> Result<Vec<Write>, String> {
    let table = map.floor_table(&floors(&["1F", "2F", "3F"]));
    let steps = map.steps(&command(action), &table)?;
    Ok(steps.into_iter().map(|step| step.write).collect())
}

fn coil(address: u16, on: bool) -> Write {
    Write::Coil {
        address,
        on,
        multiple: false,
    }
}

fn register(address: u16, word: u16) -> Write {
    Write::Registers {
        address,
        words: vec![word],
        multiple: false,
    }
}
