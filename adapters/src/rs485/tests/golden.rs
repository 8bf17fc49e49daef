//! What goes over the line for each command, and what answers mean (AT-LIFT-19). The frames were
//! written by hand from the description of the maker; their checksums are those of another
//! implementation of CRC-16/IBM-3740.

use protocol::hardware::{Action, Call, Change, Command, Direction, Door, Mode, Motion};
use protocol::{CommandId, ElevatorId, Fence, FloorLabel, Landing, Side};

use super::*;
use crate::map::{FloorTable, Image, MappedFloor, Table};

fn label(number: u8) -> FloorLabel {
    FloorLabel::new(&format!("{number}F")).unwrap()
}

fn floors() -> FloorTable {
    let floor = |number| MappedFloor {
        label: label(number),
        sides: [Side::Front].into(),
    };
    let floors: Vec<_> = (0..8).map(floor).collect();
    kestrel().sight().floor_table(&floors)
}

fn command(action: Action) -> Command {
    Command {
        elevator_id: ElevatorId::new("EL1").unwrap(),
        command_id: CommandId::new("a").unwrap(),
        fence: Fence(17),
        order_id: None,
        action,
        expires_in_ms: 5_000,
    }
}

/// Each as the 8th and the following frames to unit 1, by an owner with fence 17.
#[test]
fn each_command_is_these_bytes() {
    let landing = || Landing {
        floor: label(4),
        side: Side::Front,
    };
    let (up, down) = (Direction::Up, Direction::Down);
    let table = [
        (
            Action::HallCall {
                landing: landing(),
                direction: up,
            },
            "AA 55 0A 01 08 10 04 01 01 00 00 00 11 81 1B 0D",
        ),
        (
            Action::CancelCall {
                landing: landing(),
                direction: down,
            },
            "AA 55 0A 01 09 11 04 01 02 00 00 00 11 C3 39 0D",
        ),
        (
            Action::CarCall { landing: landing() },
            "AA 55 09 01 0A 12 04 01 00 00 00 11 47 10 0D",
        ),
        (
            Action::OpenDoor { landing: landing() },
            "AA 55 09 01 0B 13 04 01 00 00 00 11 B8 A2 0D",
        ),
        (
            // 9.001 s are 10 whole ones.
            Action::HoldDoor {
                landing: landing(),
                hold_ms: 9_001,
            },
            "AA 55 0A 01 0C 14 04 01 0A 00 00 00 11 FE 66 0D",
        ),
        (
            Action::CloseDoor { landing: landing() },
            "AA 55 09 01 0D 16 04 01 00 00 00 11 41 CE 0D",
        ),
        (Action::Claim, "AA 55 07 01 0E 17 00 00 00 11 AF 7A 0D"),
        (Action::Release, "AA 55 07 01 0F 18 00 00 00 11 8F 23 0D"),
    ];
    let profile = kestrel();
    for (sequence, (action, expected)) in (8..).zip(table) {
        let message = profile.message(&command(action.clone()), &floors());
        let frame = profile.request(1, sequence, &message.unwrap().unwrap());
        assert_eq!(frame, bytes(expected), "{action:?}");
    }
    assert_eq!(
        profile.message(&command(Action::Query), &floors()),
        Ok(None)
    );
    let status = profile.request(1, 7, &profile.status());
    assert_eq!(status, bytes("AA 55 03 01 07 01 A1 9A 0D"));
}

#[test]
fn what_does_not_fit_is_not_sent() {
    let profile = kestrel();
    let landing = Landing {
        floor: FloorLabel::new("9F").unwrap(),
        side: Side::Front,
    };
    let unknown = command(Action::CarCall { landing });
    let told = profile.message(&unknown, &floors()).unwrap_err();
    assert_eq!(told, "the profile has no number for floor 9F");
    let mut high = command(Action::Claim);
    high.fence = Fence(1 << 32);
    let told = profile.message(&high, &floors()).unwrap_err();
    assert_eq!(
        told,
        "commands.claim: 4294967296 does not fit into its place in the payload"
    );
}

fn heard(text: &str) -> Vec<Frame> {
    let profile = kestrel();
    let mut decoder = Decoder::new(Arc::clone(profile.framing()), profile.payloads());
    let bytes = bytes(text).into_iter();
    bytes.filter_map(|byte| decoder.feed(byte)).collect()
}

#[test]
fn answers_and_what_they_mean() {
    let profile = kestrel();
    let frames = heard(
        "AA 55 0F 01 07 81 02 02 00 00 00 05 00 00 00 00 04 00 2E 13 0D \
         AA 55 04 01 08 06 10 FF 88 0D AA 55 05 01 08 15 10 05 99 C6 0D \
         AA 55 0F 01 00 82 03 00 01 00 01 05 00 00 00 00 04 00 1A E0 0D",
    );
    let [status, taken, refused, report] = frames.as_slice() else {
        panic!("{frames:?}");
    };
    assert_eq!(
        (status.unit, status.sequence, status.code),
        (1, Some(7), 0x81)
    );
    let landing = Landing {
        floor: label(4),
        side: Side::Front,
    };
    let call = command(Action::HallCall {
        landing: landing.clone(),
        direction: Direction::Up,
    });
    let call = profile.message(&call, &floors()).unwrap().unwrap();
    let other = command(Action::CarCall { landing });
    let other = profile.message(&other, &floors()).unwrap().unwrap();
    let busy = Verdict::Refused {
        reason: Some(5),
        is_busy: true,
    };
    assert_eq!(profile.judge(&profile.status(), status), Verdict::Status);
    assert_eq!(profile.judge(&call, taken), Verdict::Taken);
    assert_eq!(profile.judge(&call, refused), busy);
    // What answers another command, or a command and not a status.
    for (message, frame) in [(&other, taken), (&other, refused), (&call, status)] {
        assert_eq!(profile.judge(message, frame), Verdict::None);
    }
    for message in [&call, &profile.status()] {
        assert_eq!(profile.judge(message, report), Verdict::Unasked);
    }
    let change = Change {
        floor: Some(label(3)),
        front: Some(Door::Closed),
        rear: None,
        motion: Some(Motion::Up),
        mode: Some(Mode::Normal),
        occupied: Some(true),
        fault: None,
    };
    assert_eq!(profile.change(&report.payload, &floors()), change);
}

#[test]
fn a_status_is_a_whole_reading() {
    let image: Image = (0..)
        .zip(STATUS)
        .map(|(at, byte)| ((Table::Holding, at), u16::from(byte)))
        .collect();
    let reading = kestrel().sight().reading(&image, &floors());
    assert_eq!(reading.floor, Some(label(2)));
    assert_eq!(reading.front, Door::Open);
    assert_eq!(
        (reading.motion, reading.mode),
        (Motion::Stopped, Mode::Normal)
    );
    assert_eq!((reading.occupied, reading.load_pct), (Some(true), Some(5)));
    let call = Call::Hall {
        floor: label(2),
        side: Some(Side::Front),
        direction: Some(Direction::Up),
    };
    assert_eq!(reading.calls, Some(vec![call]));
    assert_eq!(reading.fault, None);
}
