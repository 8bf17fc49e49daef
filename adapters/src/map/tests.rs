//! Maps from the outside: mistakes, readings and writes. Expected values come from the comments
//! of `configs/maps/example.toml` and from `wire.md` section 6, by hand.

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

#[test]
fn the_example_is_read_as_two_blocks() {
    let map = RegisterMap::parse(EXAMPLE).unwrap();
    assert_eq!(map.poll_ms(), 250);
    let inputs = Block {
        table: Table::Input,
        address: 0,
        count: 4,
    };
    let discretes = Block {
        table: Table::Discrete,
        address: 0,
        count: 56,
    };
    assert_eq!(map.blocks(), [discretes, inputs]);
}

#[test]
fn the_example_shows_floor_door_motion_mode_presence_load_and_calls() {
    let map = RegisterMap::parse(EXAMPLE).unwrap();
    let table = map.floor_table(&floors(&["1F", "2F", "3F", "4F", "5F", "6F", "7F", "8F"]));
    let points = [
        (Table::Input, 0, 5),
        (Table::Input, 1, 2),
        (Table::Input, 2, 1),
        (Table::Input, 3, 73),
        (Table::Discrete, 0, 1),
        (Table::Discrete, 4, 1),
        (Table::Discrete, 17, 1),
        (Table::Discrete, 39, 1),
        (Table::Discrete, 48, 1),
    ];
    let reading = map.reading(&image(&map, &points), &table);
    assert_eq!(reading.floor, label("6F"));
    assert_eq!((reading.front, reading.rear), (Door::Open, None));
    assert_eq!(
        (reading.motion, reading.mode),
        (Motion::Stopped, Mode::Robot)
    );
    assert_eq!((reading.occupied, reading.load_pct), (Some(true), Some(73)));
    let side = Some(Side::Front);
    let hall = |floor: &str, direction| Call::Hall {
        floor: FloorLabel::new(floor).unwrap(),
        side,
        direction: Some(direction),
    };
    let expected = [
        Call::Car {
            floor: FloorLabel::new("1F").unwrap(),
            side,
        },
        hall("2F", Direction::Up),
        hall("8F", Direction::Down),
    ];
    assert_eq!(reading.calls.as_deref(), Some(&expected[..]));
    assert_eq!(reading.fault, None);
}

#[test]
fn a_floor_that_the_elevator_does_not_serve_is_no_floor() {
    let map = RegisterMap::parse(EXAMPLE).unwrap();
    let table = map.floor_table(&floors(&["1F", "2F"]));
    assert_eq!(
        map.reading(&image(&map, &[(Table::Input, 0, 2)]), &table)
            .floor,
        None
    );
    assert_eq!(
        map.reading(&image(&map, &[(Table::Input, 0, 9)]), &table)
            .floor,
        None
    );
}

#[test]
fn a_door_whose_signals_contradict_each_other_is_unknown() {
    let limits = parse(&[]);
    let register = r#"register = { point = "input", address = 5, mask = 0x30 }
        values = { closed = 0, opening = 1, open = 2, closing = 3 }"#;
    let both_text = format!(
        "{register}\nopen_limit = {{ point = \"discrete\", address = 2 }}\n\
         closed_limit = {{ point = \"discrete\", address = 3, inverted = true }}"
    );
    let both = parse(&[("@door", &both_text)]);
    let register = parse(&[("@door", register)]);
    let door = |map: &RegisterMap, points: &[(Table, u16, u16)]| {
        map.reading(&image(map, points), &map.floor_table(&floors(&["1F"])))
            .front
    };
    let switches = |open, closed| [(Table::Discrete, 2, open), (Table::Discrete, 3, closed)];
    assert_eq!(door(&limits, &switches(1, 0)), Door::Open);
    assert_eq!(door(&limits, &switches(0, 1)), Door::Closed);
    assert_eq!(door(&limits, &switches(0, 0)), Door::Unknown);
    assert_eq!(door(&limits, &switches(1, 1)), Door::Unknown);
    // The mask takes bits 4 and 5; other bits do not matter.
    assert_eq!(door(&register, &[(Table::Input, 5, 0xFF2F)]), Door::Open);
    assert_eq!(door(&register, &[(Table::Input, 5, 0x0030)]), Door::Closing);
    // `closed_limit` is inverted there: 1 means off.
    let told = |word, open, closed| {
        door(
            &both,
            &[
                (Table::Input, 5, word),
                (Table::Discrete, 2, open),
                (Table::Discrete, 3, closed),
            ],
        )
    };
    assert_eq!(told(0x20, 1, 1), Door::Open);
    assert_eq!(told(0x20, 0, 1), Door::Unknown);
    assert_eq!(told(0x00, 0, 0), Door::Closed);
    assert_eq!(told(0x00, 0, 1), Door::Unknown);
    assert_eq!(told(0x10, 0, 1), Door::Opening);
    assert_eq!(told(0x10, 1, 0), Door::Unknown);
}

#[test]
fn motion_comes_from_bits_or_a_register() {
    let motion = |map: &RegisterMap, points: &[(Table, u16, u16)]| {
        map.reading(&image(map, points), &map.floor_table(&floors(&["1F"])))
            .motion
    };
    let two = parse(&[]);
    let bits = |up, down| [(Table::Discrete, 0, up), (Table::Discrete, 1, down)];
    assert_eq!(motion(&two, &bits(0, 0)), Motion::Stopped);
    assert_eq!(motion(&two, &bits(1, 0)), Motion::Up);
    assert_eq!(motion(&two, &bits(0, 1)), Motion::Down);
    assert_eq!(motion(&two, &bits(1, 1)), Motion::Unknown);
    let register = parse(&[(
        "@motion",
        r#"register = { point = "holding", address = 7, mask = 0x0003 }
        values = { stopped = [0, 3], up = 1, down = 2 }
        level = { point = "holding", address = 7, bit = 8 }"#,
    )]);
    let word = |word| [(Table::Holding, 7, word)];
    assert_eq!(motion(&register, &word(0x0100)), Motion::Stopped);
    assert_eq!(motion(&register, &word(0x0103)), Motion::Stopped);
    assert_eq!(
        motion(&register, &word(0x0000)),
        Motion::Unknown,
        "stopped between floors"
    );
    assert_eq!(motion(&register, &word(0x0001)), Motion::Up);
    assert_eq!(motion(&register, &word(0x0002)), Motion::Down);
    let moving = parse(&[(
        "@motion",
        r#"moving = { point = "coil", address = 0 }
        up = { point = "coil", address = 1 }"#,
    )]);
    let bits = |moving, up| [(Table::Coil, 0, moving), (Table::Coil, 1, up)];
    assert_eq!(motion(&moving, &bits(0, 1)), Motion::Stopped);
    assert_eq!(motion(&moving, &bits(1, 1)), Motion::Up);
    assert_eq!(motion(&moving, &bits(1, 0)), Motion::Down);
}

#[test]
fn of_several_mode_signals_the_most_restrictive_counts_and_none_is_unknown() {
    let mode = |map: &RegisterMap, points: &[(Table, u16, u16)]| {
        map.reading(&image(map, points), &map.floor_table(&floors(&["1F"])))
            .mode
    };
    let bits = parse(&[(
        "@more",
        r#"[mode.bits]
        normal = { point = "discrete", address = 10 }
        robot = { point = "discrete", address = 11 }
        fire = { point = "discrete", address = 12, inverted = true }"#,
    )]);
    let wires = |normal, robot, fire| {
        [
            (Table::Discrete, 10, normal),
            (Table::Discrete, 11, robot),
            (Table::Discrete, 12, fire),
        ]
    };
    assert_eq!(mode(&bits, &wires(1, 0, 1)), Mode::Normal);
    assert_eq!(mode(&bits, &wires(1, 1, 1)), Mode::Robot);
    assert_eq!(mode(&bits, &wires(1, 1, 0)), Mode::Fire);
    assert_eq!(mode(&bits, &wires(0, 0, 1)), Mode::Unknown);
    let example = RegisterMap::parse(EXAMPLE).unwrap();
    assert_eq!(mode(&example, &[]), Mode::Normal);
    assert_eq!(mode(&example, &[(Table::Input, 2, 5)]), Mode::Emergency);
    assert_eq!(
        mode(&example, &[(Table::Input, 2, 5), (Table::Discrete, 7, 1)]),
        Mode::Fire
    );
    assert_eq!(mode(&example, &[(Table::Input, 2, 9)]), Mode::Unknown);
    assert_eq!(
        mode(&example, &[(Table::Input, 2, 9), (Table::Discrete, 6, 1)]),
        Mode::Maintenance
    );
    assert_eq!(mode(&parse(&[]), &[]), Mode::Unknown);
}

#[test]
fn the_floor_is_read_by_values_or_by_one_bit_of_each_floor() {
    let read = |map: &RegisterMap, points: &[(Table, u16, u16)]| {
        map.reading(
            &image(map, points),
            &map.floor_table(&floors(&["B1", "1F", "2F"])),
        )
        .floor
    };
    let listed = parse(&[(
        "@floor",
        r#"register = { point = "input", address = 0, values = [255, 1, 2] }"#,
    )]);
    assert_eq!(read(&listed, &[(Table::Input, 0, 255)]), label("B1"));
    assert_eq!(read(&listed, &[(Table::Input, 0, 1)]), label("1F"));
    assert_eq!(read(&listed, &[(Table::Input, 0, 0)]), None);
    let first = parse(&[(
        "@floor",
        r#"register = { point = "input", address = 0, first = 1 }"#,
    )]);
    assert_eq!(read(&first, &[(Table::Input, 0, 3)]), label("2F"));
    assert_eq!(read(&first, &[(Table::Input, 0, 0)]), None);
    // From bit 15 the row runs on to bit 0 of the next register.
    let bits = parse(&[(
        "@floor",
        r#"bits = { point = "holding", address = 20, bit = 15 }"#,
    )]);
    assert_eq!(read(&bits, &[(Table::Holding, 20, 0x8000)]), label("B1"));
    assert_eq!(read(&bits, &[(Table::Holding, 21, 0x0001)]), label("1F"));
    assert_eq!(read(&bits, &[(Table::Holding, 21, 0x0002)]), label("2F"));
    assert_eq!(
        read(&bits, &[(Table::Holding, 21, 0x0003)]),
        None,
        "two floors at once"
    );
    assert_eq!(read(&bits, &[]), None);
}

#[test]
fn floors_have_the_numbers_that_the_map_gives_their_labels() {
    let map = RegisterMap::parse(
        &small(&[]).replace("count = 3", "count = 3\nlabels = { B1 = 2, 1F = 0 }"),
    )
    .unwrap();
    let table = map.floor_table(&floors(&["1F", "B1"]));
    assert_eq!(
        map.reading(&image(&map, &[(Table::Input, 0, 2)]), &table)
            .floor,
        label("B1")
    );
    let errors = map.check_floors(&floors(&["1F", "9F"])).unwrap_err();
    assert!(
        errors.iter().any(|error| error.key == "floors.labels.9F"),
        "{errors:?}"
    );
}

#[test]
fn commands_of_the_example_become_its_writes() {
    let map = RegisterMap::parse(EXAMPLE).unwrap();
    // Fence 0x00020003 low word first, then the published FNV-1a hash of "foobar", 0xbf9cf968,
    // upper half xor lower half.
    let head = Write::Registers {
        address: 1,
        words: vec![0x0003, 0x0002, 0x46f4],
        multiple: true,
    };
    let check = |action, expected: &[Write]| {
        let all: Vec<Write> = [head.clone()]
            .into_iter()
            .chain(expected.to_vec())
            .collect();
        assert_eq!(writes(&map, action).unwrap(), all);
    };
    let at = |floor| landing(floor, Side::Front);
    check(
        Action::HallCall {
            landing: at("2F"),
            direction: Direction::Up,
        },
        &[coil(1, true)],
    );
    check(
        Action::HallCall {
            landing: at("3F"),
            direction: Direction::Down,
        },
        &[coil(18, true)],
    );
    check(Action::CarCall { landing: at("3F") }, &[coil(34, true)]);
    check(
        Action::CancelCall {
            landing: at("1F"),
            direction: Direction::Up,
        },
        &[coil(50, true)],
    );
    check(Action::OpenDoor { landing: at("1F") }, &[coil(48, true)]);
    check(
        Action::HoldDoor {
            landing: at("1F"),
            hold_ms: 9_001,
        },
        &[register(0, 10)],
    );
    check(
        Action::CloseDoor { landing: at("1F") },
        &[register(0, 0), coil(49, true)],
    );
    check(Action::Claim, &[coil(51, true)]);
    check(Action::Release, &[coil(51, false), register(0, 0)]);
    assert_eq!(writes(&map, Action::Query).unwrap(), []);
    let error = writes(
        &map,
        Action::HoldDoor {
            landing: at("1F"),
            hold_ms: 61_000,
        },
    )
    .unwrap_err();
    assert_eq!(
        error,
        "a hold of 61 s is more than front.buttons.hold_s.max = 60"
    );
    let error = writes(&map, Action::CarCall { landing: at("9F") }).unwrap_err();
    assert_eq!(error, "the map has no number for floor 9F");
}

#[test]
fn buttons_of_every_kind() {
    let map = parse(&[(
        "@more",
        r#"[front.buttons]
        hall_up = { point = "holding", address = 10, first = 1, pulse_ms = 500 }
        hall_down = { point = "holding", address = 20, values = [9, 8, 7], function = 16 }
        car = { point = "coil", address = 30, stride = 4, function = 15, inverted = true, pulse_ms = 50 }
        open = { point = "holding", address = 40, on = 5, off = 6, pulse_ms = 300 }
        [commands]
        fence = { point = "holding", address = 50, words = 4, order = "high_first" }
        command_id = { point = "holding", address = 60 }"#,
    )]);
    let table = map.floor_table(&floors(&["1F", "2F", "3F"]));
    let steps = |action| map.steps(&command(action), &table).unwrap();
    let at = |floor| landing(floor, Side::Front);
    let up = steps(Action::HallCall {
        landing: at("2F"),
        direction: Direction::Up,
    });
    let fence = Write::Registers {
        address: 50,
        words: vec![0, 0, 2, 3],
        multiple: true,
    };
    assert_eq!(up[0], fence.into());
    assert_eq!(up[1], register(60, 0x46f4).into());
    assert_eq!(
        up[2],
        Step {
            write: register(10, 2),
            off: Some((500, register(10, 0)))
        }
    );
    let down = steps(Action::HallCall {
        landing: at("3F"),
        direction: Direction::Down,
    });
    let expected = Write::Registers {
        address: 20,
        words: vec![7],
        multiple: true,
    };
    assert_eq!(down[2], expected.into());
    let car = steps(Action::CarCall { landing: at("3F") });
    let coil = |on| Write::Coil {
        address: 38,
        on,
        multiple: true,
    };
    assert_eq!(
        car[2],
        Step {
            write: coil(false),
            off: Some((50, coil(true)))
        }
    );
    // Without a register for seconds, a hold presses the open button.
    let hold = steps(Action::HoldDoor {
        landing: at("1F"),
        hold_ms: 9_000,
    });
    assert_eq!(
        hold[2],
        Step {
            write: register(40, 5),
            off: Some((300, register(40, 6)))
        }
    );
    assert_eq!(
        steps(Action::Release).len(),
        2,
        "nothing of ours is kept there"
    );
    let refused = |action| map.steps(&command(action), &table).unwrap_err();
    assert_eq!(
        refused(Action::Claim),
        "the map has no point commands.claim"
    );
    assert_eq!(
        refused(Action::CloseDoor { landing: at("1F") }),
        "the map has no point front.buttons.close"
    );
    let call = Action::CancelCall {
        landing: at("1F"),
        direction: Direction::Up,
    };
    assert_eq!(refused(call), "the map has no point commands.cancel_calls");
    let rear = Action::OpenDoor {
        landing: landing("1F", Side::Rear),
    };
    assert_eq!(refused(rear), "the map has no section rear");
}

#[test]
fn a_car_with_two_sides_has_two_doors() {
    let map = parse(&[(
        "@more",
        r#"[rear.door]
        register = { point = "input", address = 9 }
        values = { open = 1, closed = 2 }
        [signals]
        load = { point = "input", address = 10, rated = 800 }
        fault_code = { point = "input", address = 11 }"#,
    )]);
    let points = [
        (Table::Discrete, 3, 1),
        (Table::Input, 9, 1),
        (Table::Input, 10, 880),
        (Table::Input, 11, 42),
    ];
    let reading = map.reading(&image(&map, &points), &map.floor_table(&floors(&["1F"])));
    assert_eq!(
        (reading.front, reading.rear),
        (Door::Closed, Some(Door::Open))
    );
    assert_eq!((reading.load_pct, reading.occupied), (Some(110), None));
    assert_eq!(reading.fault.as_deref(), Some("fault code 42"));
    assert_eq!(reading.calls, None, "no lamps: the calls cannot be read");
}

#[test]
fn every_mistake_is_told_with_its_line() {
    let text = small(&[
        ("@top", "pol_ms = 3\nread_gap_max = 100"),
        (
            "@floor",
            r#"register = { point = "inputs", address = 70000 }"#,
        ),
        ("@motion", r#"up = { point = "input", address = 1 }"#),
    ]);
    let errors = RegisterMap::parse(&text).unwrap_err();
    let told: Vec<String> = errors.iter().map(ToString::to_string).collect();
    let expected = [
        "line 2: pol_ms = 3: expected no such key here but poll_ms, read_gap_max, floors, floor, \
         motion, mode, signals, front, rear, commands",
        "line 3: read_gap_max = 100: expected a whole number from 0 to 64",
        "line 7: floor.register.point = \"inputs\": expected coil, discrete, input, holding",
        "line 7: floor.register.address = 70000: expected a whole number from 0 to 65535",
        "line 8: motion.register is missing: expected register and values, or moving and up, or \
         up and down",
        "line 9: motion.up.bit is missing: expected a whole number from 0 to 15",
    ];
    for line in expected {
        assert!(
            told.iter().any(|error| error == line),
            "{line}\nis not among {told:#?}"
        );
    }
    assert_eq!(told.len(), expected.len(), "{told:#?}");
}

#[test]
fn each_kind_of_mistake_is_found() {
    let check = |place: &str, part: &str, key: &str| {
        let found = mistakes(&[(place, part)]);
        assert_eq!(found, [key], "{part}");
    };
    let floor = |part: &str, key: &str| check("@floor", part, key);
    floor(
        r#"register = { point = "coil", address = 0 }"#,
        "floor.register.point",
    );
    floor(
        r#"register = { point = "input", address = 0, values = [1, 2] }"#,
        "floor.register.values",
    );
    floor(
        r#"register = { point = "input", address = 0, values = [1, 2, 2] }"#,
        "floor.register.values",
    );
    floor(
        r#"register = { point = "input", address = 0, first = 0, values = [1, 2, 3] }"#,
        "floor.register.first",
    );
    floor(
        r#"register = { point = "input", address = 0, mask = 0 }"#,
        "floor.register.mask",
    );
    floor(
        r#"bits = { point = "discrete", address = 65534 }"#,
        "floor.bits.address",
    );
    floor(
        r#"bits = { point = "discrete", address = 4, bit = 3 }"#,
        "floor.bits.bit",
    );
    floor("", "floor.register");
    let door = |part: &str, key: &str| check("@door", part, key);
    door(
        r#"open_limit = { point = "discrete", address = 0 }"#,
        "front.door.closed_limit",
    );
    door(
        r#"register = { point = "input", address = 0 }"#,
        "front.door.values",
    );
    let same = r#"register = { point = "input", address = 0 }
        values = { open = [1, 2], closed = 2 }"#;
    door(same, "front.door.values.closed");
    let large = r#"register = { point = "input", address = 0, mask = 0x3 }
        values = { open = 4, closed = 2 }"#;
    door(large, "front.door.values.open");
    let more = |part: &str, key: &str| check("@more", part, key);
    more(
        "[mode.bits]\nfire = { point = \"discrete\", address = 9 }",
        "mode.bits.normal",
    );
    more(
        "[front.lamps]\nhall_up = { point = \"coil\", address = 9 }\ncar = { point = \"coil\", address = 9 }",
        "front.lamps.hall_down",
    );
    let button = |part: &str, key: &str| more(&format!("[front.buttons]\n{part}"), key);
    button(
        r#"open = { point = "input", address = 1 }"#,
        "front.buttons.open.point",
    );
    button(
        r#"open = { point = "coil", address = 1, function = 6 }"#,
        "front.buttons.open.function",
    );
    button(
        r#"open = { point = "coil", address = 1, pulse_ms = 10 }"#,
        "front.buttons.open.pulse_ms",
    );
    button(
        r#"car = { point = "coil", address = 1, first = 1 }"#,
        "front.buttons.car.first",
    );
    button(
        r#"car = { point = "coil", address = 65534 }"#,
        "front.buttons.car.address",
    );
    button(
        r#"hold_s = { point = "coil", address = 1 }"#,
        "front.buttons.hold_s.point",
    );
    let command = |part: &str, key: &str| more(&format!("[commands]\n{part}"), key);
    command(
        r#"claim = { point = "coil", address = 1, pulse_ms = 100 }"#,
        "commands.claim",
    );
    command(
        r#"fence = { point = "holding", address = 1, words = 3, order = "low_first" }"#,
        "commands.fence.words",
    );
    command(
        r#"fence = { point = "holding", address = 1, words = 2 }"#,
        "commands.fence.order",
    );
    command(
        r#"fence = { point = "holding", address = 1, words = 2, order = "low_first", function = 6 }"#,
        "commands.fence.function",
    );
    command(
        r#"command_id = { point = "holding" }"#,
        "commands.command_id.address",
    );
    check("@top", "poll_ms = \"fast\"", "poll_ms");
}

#[test]
fn a_text_that_is_no_toml_is_refused_with_its_line() {
    let errors = RegisterMap::parse("poll_ms = 250\n[floors\n").unwrap_err();
    assert_eq!(errors[0].line, Some(2), "{errors:?}");
    let keys: Vec<_> = RegisterMap::parse("")
        .unwrap_err()
        .into_iter()
        .map(|e| e.key)
        .collect();
    assert_eq!(keys, ["floors", "floor", "motion", "front"]);
}

#[test]
fn check_names_what_a_map_lacks_for_an_elevator() {
    let example = RegisterMap::parse(EXAMPLE).unwrap();
    assert_eq!(
        example.check_floors(&floors(&["1F", "2F", "3F", "4F", "5F", "6F"])),
        Ok(())
    );
    let many = floors(&["1", "2", "3", "4", "5", "6", "7", "8", "9"]);
    let errors = example.check_floors(&many).unwrap_err();
    let told = "floors.count = 8: expected at least 9, the floors of the elevator";
    assert_eq!(errors[0].to_string(), told);
    let mut two_sides = floors(&["1F", "2F"]);
    two_sides[1].sides.insert(Side::Rear);
    assert_eq!(example.check_floors(&two_sides).unwrap_err()[0].key, "rear");
    let keys: Vec<_> = parse(&[])
        .check_floors(&floors(&["1F", "2F"]))
        .unwrap_err()
        .into_iter()
        .map(|error| error.key)
        .collect();
    let buttons = ["hall_up", "hall_down", "car", "open", "hold_s", "close"];
    assert_eq!(keys, buttons.map(|name| format!("front.buttons.{name}")));
    let needs = Needs {
        mode_signal: true,
        presence: true,
        claim: true,
        hold_max_ms: 60_000,
    };
    assert_eq!(example.check_needs(needs), Ok(()));
    let long = Needs {
        hold_max_ms: 60_001,
        ..needs
    };
    assert_eq!(
        example.check_needs(long).unwrap_err()[0].key,
        "front.buttons.hold_s.max"
    );
    let keys: Vec<_> = parse(&[])
        .check_needs(needs)
        .unwrap_err()
        .into_iter()
        .map(|e| e.key)
        .collect();
    assert_eq!(keys, ["mode", "signals.presence", "commands.claim"]);
}
