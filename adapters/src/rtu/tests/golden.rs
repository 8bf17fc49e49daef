//! Golden frames: the examples of the Modbus application protocol 1.1b3, chapter 6, and of makers'
//! manuals, with their checksums. Nothing here is made by the code under test.

use super::*;

/// Each request, the bytes that ask it, the bytes that answer it, and what they say.
fn table() -> Vec<(u8, Request, &'static str, &'static str, Reply)> {
    let bits = |count: usize, on: &[usize]| {
        let bit = |at| u16::from(on.contains(&at));
        Reply::Points((0..count).map(bit).collect())
    };
    let coils = (0..37).filter(|at| [0xCD, 0x6B, 0xB2, 0x0E, 0x1B][at / 8] >> (at % 8) & 1 == 1);
    let inputs = (0..22).filter(|at| [0xAC, 0xDB, 0x35][at / 8] >> (at % 8) & 1 == 1);
    let states = [1, 0, 1, 1, 0, 0, 1, 1, 1, 0].map(|bit| bit == 1);
    vec![
        (
            17,
            read(Table::Coil, 19, 37),
            "11 01 0013 0025 0E84",
            "11 01 05 CD6BB20E1B 45E6",
            bits(37, &coils.collect::<Vec<_>>()),
        ),
        (
            17,
            read(Table::Discrete, 196, 22),
            "11 02 00C4 0016 BAA9",
            "11 02 03 ACDB35 2018",
            bits(22, &inputs.collect::<Vec<_>>()),
        ),
        (
            17,
            read(Table::Holding, 107, 3),
            "11 03 006B 0003 7687",
            "11 03 06 AE41 5652 4340 49AD",
            Reply::Points(vec![0xAE41, 0x5652, 0x4340]),
        ),
        (
            17,
            read(Table::Input, 8, 1),
            "11 04 0008 0001 B298",
            "11 04 02 000A F8F4",
            Reply::Points(vec![10]),
        ),
        (
            17,
            Request::WriteCoil {
                address: 172,
                value: COIL_ON,
            },
            "11 05 00AC FF00 4E8B",
            "11 05 00AC FF00 4E8B",
            Reply::Written,
        ),
        (
            17,
            write(1, 3),
            "11 06 0001 0003 9A9B",
            "11 06 0001 0003 9A9B",
            Reply::Written,
        ),
        (
            17,
            Request::WriteCoils {
                address: 19,
                states: states.to_vec(),
            },
            "11 0F 0013 000A 02 CD01 BF0B",
            "11 0F 0013 000A 2699",
            Reply::Written,
        ),
        (
            17,
            Request::WriteRegisters {
                address: 1,
                words: vec![0x000A, 0x0102],
            },
            "11 10 0001 0002 04 000A 0102 C6F0",
            "11 10 0001 0002 1298",
            Reply::Written,
        ),
        // Waveshare, Modbus RTU Relay: relay 0 on for 700 ms.
        (
            1,
            Request::WriteCoil {
                address: 0x0200,
                value: 7,
            },
            "01 05 0200 0007 8DB0",
            "01 05 0200 0007 8DB0",
            Reply::Written,
        ),
    ]
}

#[test]
fn requests_and_replies_are_those_of_the_specification() {
    for (unit, request, asked, replied, means) in table() {
        assert_eq!(request.frame(unit).unwrap(), bytes(asked), "{request:?}");
        let reply = Answer::Reply(means);
        let shape = Shape::of(unit, &request);
        assert_eq!(shape.answer(&bytes(replied)), Some(reply), "{request:?}");
        assert_eq!(shape.frame_len(), bytes(replied).len(), "{request:?}");
    }
    // Modbus over Serial Line V1.02 has no whole frame; this one is printed by everybody.
    let ten = read(Table::Holding, 0, 10).frame(1).unwrap();
    assert_eq!(ten, bytes("01 03 0000 000A C5CD"));
}

/// The example of section 6.1 with an unknown coil, and a busy unit.
#[test]
fn exceptions_are_those_of_the_specification() {
    let coil = read(Table::Coil, 0x04A1, 1);
    assert_eq!(coil.frame(10).unwrap(), bytes("0A 01 04A1 0001 AC63"));
    let answer = Shape::of(10, &coil).answer(&bytes("0A 81 02 B053"));
    assert_eq!(answer, Some(Answer::Exception(Exception(2))));
    let busy = Shape::of(17, &write(1, 3)).answer(&bytes("11 86 06 C3A7"));
    assert_eq!(busy, Some(Answer::Exception(Exception(6))));
    let said = Exception(6).to_string();
    assert_eq!(said, "Modbus exception 06, SERVER DEVICE BUSY");
    let refusals = (1..=11).filter(|code| Exception(*code).is_refusal());
    assert_eq!(refusals.collect::<Vec<_>>(), [1, 2, 3, 4, 7, 8, 9]);
}

#[test]
fn what_cannot_be_asked_is_refused_by_name() {
    let words = |count| Request::WriteRegisters {
        address: 0,
        words: vec![0; count],
    };
    let states = |count| Request::WriteCoils {
        address: 0,
        states: vec![true; count],
    };
    for (unit, request, said) in [
        (0, read_three(), "unit = 0: expected 1 to 255"),
        (1, read(Table::Input, 0, 0), "count = 0: expected 1 to 125"),
        (
            1,
            read(Table::Input, 0, 126),
            "count = 126: expected 1 to 125",
        ),
        (
            1,
            read(Table::Coil, 0, 2_001),
            "count = 2001: expected 1 to 2000",
        ),
        (
            1,
            read(Table::Coil, 65_535, 2),
            "count = 2: expected 1 to 1",
        ),
        (1, words(124), "count = 124: expected 1 to 123"),
        (1, states(1_969), "count = 1969: expected 1 to 1968"),
    ] {
        assert_eq!(request.frame(unit).unwrap_err().to_string(), said);
    }
    assert_eq!(words(123).frame(1).unwrap().len(), 255);
    assert_eq!(states(1_968).frame(1).unwrap().len(), 255);
}

/// AT-LIFT-19: golden byte frames per command, over a stream.
#[tokio::test(start_paused = true)]
async fn a_line_asks_and_is_answered_to_the_byte() {
    for (unit, request, asked, replied, means) in table() {
        let (mut master, peer) = line(move |_, frame| match frame {
            // A read that shows whether the line echoes.
            [_, 3 | 1, 0, 0 | 0xAC | 1, ..] => vec![Emit::now(peer::obey(frame, 0))],
            [_, 1, 2, 0, ..] => vec![Emit::now(peer::exception(frame, 2))],
            _ => vec![Emit::now(bytes(replied))],
        });
        assert_eq!(master.request(unit, &request).await, Ok(means), "{asked}");
        assert_eq!(peer.requests().last().unwrap(), &bytes(asked));
    }
}
