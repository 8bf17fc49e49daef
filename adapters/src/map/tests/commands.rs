//! From commands to writes: every kind of button.

use super::*;

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

const BUTTONS: &str = r#"[front.buttons]
hall_up = { point = "holding", address = 10, first = 1, pulse_ms = 500 }
hall_down = { point = "holding", address = 20, values = [9, 8, 7], function = 16 }
open = { point = "holding", address = 40, on = 5, off = 6, pulse_ms = 300 }
[front.buttons.car]
point = "coil"
address = 30
stride = 4
function = 15
inverted = true
pulse_ms = 50
[commands]
fence = { point = "holding", address = 50, words = 4, order = "high_first" }
command_id = { point = "holding", address = 60 }
"#;

#[test]
fn buttons_of_every_kind() {
    let map = parse(&[("@more", BUTTONS)]);
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
}

#[test]
fn a_point_that_the_map_lacks_is_named() {
    let map = parse(&[("@more", BUTTONS)]);
    let table = map.floor_table(&floors(&["1F", "2F", "3F"]));
    let at = |floor| landing(floor, Side::Front);
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
