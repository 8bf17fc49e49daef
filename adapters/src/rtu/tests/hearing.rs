//! The pure part: whatever comes, in whatever pieces, only the reply itself is one.

use proptest::prelude::*;

use super::super::echo::EchoMemory;
use super::peer::{Dice, exception, obey, sealed};
use super::*;

/// Feeds all bytes: the first answer, and how many bytes it took.
fn hear(hearing: &mut Hearing, bytes: &[u8]) -> Option<(Answer, usize)> {
    for (at, byte) in bytes.iter().enumerate() {
        if let Some(Event::Answer(answer)) = hearing.feed(*byte, &[]) {
            return Some((answer, at + 1));
        }
    }
    None
}

fn listen(request: &Request, echo: Echo) -> Hearing {
    Hearing::new(request.frame(1).unwrap(), Shape::of(1, request), echo)
}

fn words(words: &[u16]) -> Answer {
    Answer::Reply(Reply::Points(words.to_vec()))
}

fn requests() -> Vec<Request> {
    vec![
        read(Table::Coil, 0, 12),
        read(Table::Discrete, 7, 1),
        read_three(),
        read(Table::Input, 9, 1),
        Request::WriteCoil {
            address: 3,
            value: COIL_ON,
        },
        write(1, 3),
        Request::WriteCoils {
            address: 2,
            states: vec![true; 9],
        },
        Request::WriteRegisters {
            address: 4,
            words: vec![1, 2],
        },
    ]
}

/// AT-LIFT-19: no frame with a bit turned, of any request, is a reply or an exception.
#[test]
fn a_turned_bit_never_yields_a_value() {
    let mut frames = 0;
    for request in requests() {
        let asked = request.frame(1).unwrap();
        for good in [obey(&asked, 0xA5A5), exception(&asked, 2)] {
            let heard = hear(&mut listen(&request, Echo::Absent), &good);
            assert_eq!(heard.map(|(_, took)| took), Some(good.len()), "{request:?}");
            for bit in 0..good.len() * 8 {
                let mut turned = good.clone();
                turned[bit / 8] ^= 1 << (bit % 8);
                let heard = hear(&mut listen(&request, Echo::Absent), &turned);
                assert_eq!(heard, None, "{request:?}: bit {bit}");
                frames += 1;
            }
        }
    }
    assert!(frames > 800, "{frames}");
}

#[test]
fn foreign_frames_and_cut_ones_are_passed_over_and_named() {
    let request = read_three();
    let asked = request.frame(1).unwrap();
    let good = obey(&asked, 7);
    let other = |body: &[u8]| sealed(body);
    for (before, miss) in [
        (vec![], Miss::Silence),
        (asked.clone(), Miss::OwnEcho),
        (other(&[2, 3, 6, 0, 1, 0, 2, 0, 3]), Miss::OtherUnit(2)),
        (other(&[1, 4, 6, 0, 1, 0, 2, 0, 3]), Miss::OtherFunction(4)),
        (other(&[1, 0x84, 2]), Miss::OtherFunction(0x84)),
        (other(&[1, 3, 4, 0, 1, 0, 2]), Miss::OtherContent),
        (
            good[..4].to_vec(),
            Miss::Cut {
                bytes: 4,
                expected: 11,
            },
        ),
        (vec![1, 3, 6, 0, 1, 0, 2, 0, 3, 0, 0], Miss::Damaged),
        (vec![0xFF, 0x00, 0x55], Miss::Noise(3)),
    ] {
        let mut hearing = listen(&request, Echo::Unknown);
        assert_eq!(hear(&mut hearing, &before), None, "{before:02x?}");
        assert_eq!(hearing.miss(), miss, "{before:02x?}");
        let heard = hear(&mut hearing, &good);
        assert_eq!(heard, Some((words(&[7; 3]), 11)), "{before:02x?}");
    }
}

/// The echo of a write by 05 or 06 is the same bytes as its reply.
#[test]
fn on_a_line_that_echoes_a_write_is_confirmed_by_the_second_copy_only() {
    for request in [write(1, 3), requests()[4].clone()] {
        let copy = request.frame(1).unwrap();
        for echo in [Echo::Present, Echo::Unknown] {
            let mut hearing = listen(&request, echo);
            assert_eq!(hear(&mut hearing, &copy), None);
            assert!(hear(&mut hearing, &copy).is_some());
        }
        let mut hearing = listen(&request, Echo::Absent);
        assert!(hear(&mut hearing, &copy).is_some());
    }
    // Nothing that comes before the echo is a reply.
    let request = read_three();
    let asked = request.frame(1).unwrap();
    let mut hearing = listen(&request, Echo::Present);
    assert_eq!(hear(&mut hearing, &obey(&asked, 1)), None);
    assert_eq!(hear(&mut hearing, &asked), None);
    let heard = hear(&mut hearing, &obey(&asked, 2));
    assert_eq!(heard.unwrap().0, words(&[2; 3]));
}

/// An echo of 8 bytes of which half came is no sign that there is none.
#[test]
fn whether_a_line_echoes_is_learned_from_what_came_and_from_nothing_else() {
    let request = read_three();
    let asked = request.frame(1).unwrap();
    let good = obey(&asked, 1);
    let shown = |request: &Request, known, bytes: &[&[u8]]| {
        let mut hearing = listen(request, known);
        hear(&mut hearing, &bytes.concat());
        hearing.echo()
    };
    let glitch: &[u8] = &[0xFF, 0x00, 0x80];
    for known in [Echo::Unknown, Echo::Absent] {
        assert_eq!(shown(&request, known, &[&good]), EchoTrace::None);
        assert_eq!(shown(&request, known, &[glitch, &good]), EchoTrace::None);
        let half = [&asked[..4], &good];
        assert_eq!(shown(&request, known, &half), EchoTrace::Unclear);
        let rest = [&asked[1..], &good];
        assert_eq!(shown(&request, known, &rest), EchoTrace::Unclear);
        assert_eq!(shown(&request, known, &[&asked, &good]), EchoTrace::Whole);
        assert_eq!(shown(&request, known, &[&asked]), EchoTrace::Whole);
        assert_eq!(shown(&request, known, &[]), EchoTrace::Unclear);
    }
    // Nothing that comes before the echo is an answer, so nothing shows that there is none.
    assert_eq!(shown(&request, Echo::Present, &[&good]), EchoTrace::Unclear);
    // The echo of a write is the same bytes as its reply.
    let copy = write(1, 3).frame(1).unwrap();
    let twin = write(1, 3);
    assert_eq!(shown(&twin, Echo::Unknown, &[&copy]), EchoTrace::Nothing);
    assert_eq!(shown(&twin, Echo::Present, &[&copy]), EchoTrace::Nothing);
    assert_eq!(shown(&twin, Echo::Absent, &[&copy]), EchoTrace::Unclear);
}

#[test]
fn that_a_line_echoes_is_known_at_once_and_that_it_does_not_the_second_time() {
    use EchoTrace::{None, Nothing, Unclear, Whole};
    for (traces, known) in [
        (&[][..], Echo::Unknown),
        (&[Whole], Echo::Present),
        (&[None], Echo::Unknown),
        (&[None, None], Echo::Absent),
        (&[None, Unclear, None], Echo::Unknown),
        (&[None, Whole, Unclear, None], Echo::Unknown),
        (&[None, None, Unclear], Echo::Absent),
        (&[None, None, Whole], Echo::Present),
        (&[Whole, Nothing], Echo::Present),
        (&[Whole, Unclear], Echo::Unknown),
        (&[Whole, Unclear, None, None], Echo::Absent),
    ] {
        let mut memory = EchoMemory::new();
        for trace in traces {
            memory.learn(*trace);
        }
        assert_eq!(memory.known(), known, "{traces:?}");
    }
}

/// 10,000 bytes of noise and foreign frames before each reply: no wrong value, and the right one.
#[test]
fn ten_thousand_bytes_of_noise_are_no_reply() {
    for seed in 0..20 {
        let mut dice = Dice::new(seed);
        let request = read_three();
        let asked = request.frame(1).unwrap();
        let mut noise = Vec::new();
        while noise.len() < 10_000 {
            let body: Vec<u8> = (0..dice.below(30)).map(|_| dice.byte()).collect();
            match dice.below(3) {
                0 => noise.extend(body),
                1 => noise.extend(sealed(&[&[2, 3, 6], body.as_slice()].concat())),
                _ => noise.extend(&obey(&asked, 9)[..1 + usize::from(dice.byte()) % 9]),
            }
        }
        let mut hearing = listen(&request, Echo::Absent);
        assert_eq!(hear(&mut hearing, &noise), None, "seed {seed}");
        let heard = hear(&mut hearing, &obey(&asked, 5));
        assert_eq!(heard.unwrap().0, words(&[5; 3]), "seed {seed}");
    }
}

/// An exception that could be a late one is the late one's; a late reply is told from ours.
#[test]
fn what_is_owed_is_settled_before_what_is_asked() {
    let late = read(Table::Holding, 0, 5);
    let owed = [Shape::of(1, &late)];
    let request = read_three();
    let mut hearing = listen(&request, Echo::Absent);
    let mut events = Vec::new();
    let all = [
        obey(&late.frame(1).unwrap(), 9),
        exception(&late.frame(1).unwrap(), 6),
        obey(&request.frame(1).unwrap(), 4),
    ];
    for byte in all.concat() {
        events.extend(hearing.feed(byte, &owed));
    }
    let expected = [
        Event::Late(0),
        Event::Late(0),
        Event::Answer(words(&[4; 3])),
    ];
    assert_eq!(events, expected);
}

proptest! {
    /// Whatever stands before a reply and however the bytes come: the same answer at the same byte.
    #[test]
    fn any_noise_and_any_split_yield_the_same(
        which in 0_usize..8,
        noise in prop::collection::vec(any::<u8>(), 0..300),
        word in any::<u16>(),
        cut in any::<prop::sample::Index>(),
    ) {
        let request = requests()[which].clone();
        let good = obey(&request.frame(1).unwrap(), word);
        let all = [noise.as_slice(), &good].concat();
        let mut whole = listen(&request, Echo::Absent);
        let first = hear(&mut whole, &all);
        prop_assert_eq!(first.clone().map(|(_, took)| took), Some(all.len()));
        let mut parts = listen(&request, Echo::Absent);
        let (left, right) = all.split_at(cut.index(all.len()));
        prop_assert_eq!(hear(&mut parts, left), None);
        prop_assert_eq!(hear(&mut parts, right).map(|(answer, _)| answer), first.map(|(a, _)| a));
    }

    /// No bytes at all panic, and what is no frame is no answer.
    #[test]
    fn bytes_without_a_good_checksum_are_nothing(
        which in 0_usize..8,
        body in prop::collection::vec(any::<u8>(), 0..20),
        wrong in 1_u16..,
    ) {
        let request = requests()[which].clone();
        let good = obey(&request.frame(1).unwrap(), 1);
        let end = good.len() - 2;
        let crc = u16::from_le_bytes([good[end], good[end + 1]]) ^ wrong;
        let frame = [body.as_slice(), &good[..end], &crc.to_le_bytes()].concat();
        let mut hearing = listen(&request, Echo::Absent);
        prop_assert_eq!(hear(&mut hearing, &frame), None);
        hearing.miss().to_string();
    }
}
