//! From points to readings: every kind of signal, and what contradicts itself.

use super::*;

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
