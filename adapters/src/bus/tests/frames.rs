//! Golden frames: every function that is used, in the bytes of the Modbus TCP specification,
//! written by hand. Nothing here is made by the code under test.

use protocol::hardware::{Direction, Door, Motion};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use super::*;

/// A peer that expects each request, to the byte, and gives the reply. Spaces are for reading.
async fn peer(script: &'static [(&'static str, &'static str)]) -> (String, JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let task = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        for (request, reply) in script {
            let expected = bytes(request);
            let mut got = vec![0; expected.len()];
            stream.read_exact(&mut got).await.unwrap();
            assert_eq!(got, expected, "expected {request}");
            stream.write_all(&bytes(reply)).await.unwrap();
        }
    });
    (address, task)
}

fn bytes(hex: &str) -> Vec<u8> {
    let digits: String = hex.split_whitespace().collect();
    let pair = |at: usize| u8::from_str_radix(&digits[at..at + 2], 16).unwrap();
    (0..digits.len()).step_by(2).map(pair).collect()
}

async fn ended(task: JoinHandle<()>) {
    timeout(PATIENCE, task).await.unwrap().unwrap();
}

#[tokio::test]
async fn reads_by_functions_01_02_03_and_04() {
    let map = r#"
        poll_ms = 10000
        [floors]
        count = 8
        [floor]
        register = { point = "input", address = 256 }
        [motion]
        register = { point = "holding", address = 5 }
        values = { stopped = 0, up = 1, down = 2 }
        [front.door]
        open_limit = { point = "coil", address = 10 }
        closed_limit = { point = "discrete", address = 19 }
        [signals]
        presence = { point = "discrete", address = 26 }
        [front.buttons]
        hall_up = { point = "coil", address = 0 }
        hall_down = { point = "coil", address = 0 }
        car = { point = "coil", address = 0 }
        open = { point = "coil", address = 0 }
        close = { point = "coil", address = 0 }
    "#;
    let (address, task) = peer(&[
        // Coil 10: on.
        (
            "0000 0000 0006 11 01 000A 0001",
            "0000 0000 0004 11 01 01 01",
        ),
        // Discrete inputs 19 to 26: the last one on.
        (
            "0001 0000 0006 11 02 0013 0008",
            "0001 0000 0004 11 02 01 80",
        ),
        // Input register 256: 5.
        (
            "0002 0000 0006 11 04 0100 0001",
            "0002 0000 0005 11 04 02 0005",
        ),
        // Holding register 5: 0.
        (
            "0003 0000 0006 11 03 0005 0001",
            "0003 0000 0005 11 03 02 0000",
        ),
    ])
    .await;
    let mut line = line_to(&address, vec![unit(0x11, map)], Vec::new(), TIMING);
    let reports = run_until(&mut line, |reports| has_reading(reports, 0x11)).await;
    let (reading, _) = readings(&reports, 0x11).remove(0);
    assert_eq!(
        (reading.front, reading.motion),
        (Door::Open, Motion::Stopped)
    );
    assert_eq!(
        (reading.floor, reading.occupied),
        (Some(floor("6F")), Some(true))
    );
    ended(task).await;
}

#[tokio::test]
async fn writes_by_functions_05_and_06() {
    let (address, task) = peer(&[
        // Hall call up at floor number 1.
        (
            "0000 0000 0006 01 05 0001 FF00",
            "0000 0000 0006 01 05 0001 FF00",
        ),
        // Hall call down at floor number 7.
        (
            "0001 0000 0006 01 05 0017 FF00",
            "0001 0000 0006 01 05 0017 FF00",
        ),
        // Hold for 10 s.
        (
            "0002 0000 0006 01 06 0000 000A",
            "0002 0000 0006 01 06 0000 000A",
        ),
        // Close: hold for 0 s, then the button.
        (
            "0003 0000 0006 01 06 0000 0000",
            "0003 0000 0006 01 06 0000 0000",
        ),
        (
            "0004 0000 0006 01 05 0031 FF00",
            "0004 0000 0006 01 05 0031 FF00",
        ),
    ])
    .await;
    let mut line = line_to(&address, vec![unit(1, MAP)], Vec::new(), TIMING);
    for action in [
        Action::HallCall {
            landing: at("2F"),
            direction: Direction::Up,
        },
        Action::HallCall {
            landing: at("8F"),
            direction: Direction::Down,
        },
        Action::HoldDoor {
            landing: at("1F"),
            hold_ms: 9_500,
        },
        Action::CloseDoor { landing: at("1F") },
    ] {
        let (outcome, _) = execute(&mut line, command(1, action)).await;
        assert_eq!(outcome, Outcome::Accepted);
    }
    ended(task).await;
}

#[tokio::test]
async fn writes_by_functions_15_and_16_and_the_fence_before_each_command() {
    let map =
        MAP.replace(
            r#"hall_up = { point = "coil", address = 0 }"#,
            r#"hall_up = { point = "coil", address = 0, function = 15 }"#,
        )
        .replace(
            r#"hold_s = { point = "holding", address = 0 }"#,
            r#"hold_s = { point = "holding", address = 0, function = 16 }"#,
        ) + r#"
        [commands]
        fence = { point = "holding", address = 1, words = 2, order = "high_first" }
        command_id = { point = "holding", address = 4 }
    "#;
    let (address, task) = peer(&[
        // Fence 17 in two words from 1, the high one first; the number of the command id "a" in 4:
        // FNV-1a of "a" is E40C292C, and E40C xor 292C is CD20.
        (
            "0000 0000 000B 01 10 0001 0002 04 0000 0011",
            "0000 0000 0006 01 10 0001 0002",
        ),
        (
            "0001 0000 0006 01 06 0004 CD20",
            "0001 0000 0006 01 06 0004 CD20",
        ),
        // Coil 2 by function 15.
        (
            "0002 0000 0008 01 0F 0002 0001 01 01",
            "0002 0000 0006 01 0F 0002 0001",
        ),
        (
            "0003 0000 000B 01 10 0001 0002 04 0000 0011",
            "0003 0000 0006 01 10 0001 0002",
        ),
        (
            "0004 0000 0006 01 06 0004 CD20",
            "0004 0000 0006 01 06 0004 CD20",
        ),
        // Hold for 5 s by function 16.
        (
            "0005 0000 0009 01 10 0000 0001 02 0005",
            "0005 0000 0006 01 10 0000 0001",
        ),
    ])
    .await;
    let mut line = line_to(&address, vec![unit(1, &map)], Vec::new(), TIMING);
    let call = Action::HallCall {
        landing: at("3F"),
        direction: Direction::Up,
    };
    let hold = Action::HoldDoor {
        landing: at("1F"),
        hold_ms: 5_000,
    };
    for action in [call, hold] {
        let (outcome, _) = execute(&mut line, command(1, action)).await;
        assert_eq!(outcome, Outcome::Accepted);
    }
    ended(task).await;
}

#[tokio::test]
async fn an_exception_has_the_name_of_the_specification() {
    let (address, task) = peer(&[
        ("0000 0000 0006 01 05 0030 FF00", "0000 0000 0003 01 85 02"),
        ("0001 0000 0006 01 05 0030 FF00", "0001 0000 0003 01 85 0B"),
        ("0002 0000 0006 01 05 0030 FF00", "0002 0000 0003 01 85 63"),
        ("0003 0000 0006 01 05 0030 FF00", "0003 0000 0003 01 85 06"),
        ("0004 0000 0006 01 05 0030 FF00", "0004 0000 0003 01 85 05"),
        // The connection went on.
        (
            "0005 0000 0006 01 05 0030 FF00",
            "0005 0000 0006 01 05 0030 FF00",
        ),
    ])
    .await;
    let mut line = line_to(&address, vec![unit(1, MAP)], Vec::new(), TIMING);
    let mut outcomes = Vec::new();
    for _ in 0..6 {
        let open = command(1, Action::OpenDoor { landing: at("1F") });
        outcomes.push(execute(&mut line, open).await.0);
    }
    let failed = |detail: &str| Outcome::Failed {
        detail: detail.to_owned(),
    };
    // A gateway that got no reply cannot know, a unit that is busy may do it yet.
    let unknown = |detail: &str| Outcome::Unknown {
        detail: detail.to_owned(),
    };
    let expected = [
        failed("Modbus exception 02, ILLEGAL DATA ADDRESS"),
        unknown("Modbus exception 11, GATEWAY TARGET DEVICE FAILED TO RESPOND"),
        failed("Modbus exception 99, which the specification does not name"),
        unknown("Modbus exception 06, SERVER DEVICE BUSY"),
        unknown("Modbus exception 05, ACKNOWLEDGE"),
        Outcome::Accepted,
    ];
    assert_eq!(outcomes, expected);
    ended(task).await;
}
