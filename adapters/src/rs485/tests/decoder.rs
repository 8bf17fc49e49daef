//! Whole frames are found in whatever comes, and nothing else is (R-LIFT-023, H4).

use std::sync::LazyLock;

use proptest::prelude::*;

use super::*;

/// Shapes of each kind of checksum, with and without length, end and escapes.
static SHAPES: LazyLock<Vec<Arc<FrameProfile>>> = LazyLock::new(|| {
    let checksum =
        r#"checksum = { kind = "crc16_ccitt", init = 0xFFFF, order = "big", from = "header" }"#;
    let no_length = [
        (r#"["length", "unit","#, r#"["unit","#),
        ("length_adds = 3", ""),
    ];
    let escape = ("# escape = ", "escape = ");
    let of = |changes: &[(&str, &str)]| Arc::new(FrameProfile::parse(&changed(changes)).unwrap());
    let modbus = r#"checksum = { kind = "crc16_modbus", order = "little", from = "start" }"#;
    let xmodem = r#"checksum = { kind = "crc16_ccitt", init = 0, order = "little" }"#;
    vec![
        kestrel(),
        unnumbered(),
        of(&[escape]),
        of(&[
            (checksum, r#"checksum = { kind = "xor8" }"#),
            escape,
            ("end = [0x0D]  ", ""),
        ]),
        of(&[
            (checksum, r#"checksum = { kind = "sum8", from = "start" }"#),
            no_length[0],
            no_length[1],
        ]),
        of(&[
            (checksum, modbus),
            (
                "length_adds = 3",
                "length_adds = 3\nlength_wide = \"little\"",
            ),
        ]),
        of(&[(checksum, xmodem), no_length[0], no_length[1], escape]),
    ]
});

fn decoder(profile: &FrameProfile) -> Decoder {
    Decoder::new(Arc::clone(profile.framing()), profile.payloads())
}

fn found(profile: &FrameProfile, bytes: &[u8]) -> Vec<Frame> {
    let mut decoder = decoder(profile);
    bytes
        .iter()
        .filter_map(|byte| decoder.feed(*byte))
        .collect()
}

fn status(profile: &FrameProfile, unit: u8, sequence: u8) -> Vec<u8> {
    said(profile, (unit, sequence, 0x81), &STATUS)
}

#[test]
fn a_frame_is_found_behind_whatever_came_before_it() {
    for profile in SHAPES.iter() {
        let whole = status(profile, 1, 7);
        let other = said(profile, (9, 7, 0x82), &STATUS);
        let mut turned = whole.clone();
        turned[6] ^= 0x10;
        let cut = |len: usize| whole[..len].to_vec();
        for (name, before) in [
            ("nothing", vec![]),
            ("a false beginning", vec![0xAA, 0x55]),
            (
                "a false beginning of the longest frame",
                vec![0xAA, 0x55, 0xFF],
            ),
            ("half a beginning", vec![0xAA]),
            ("a frame that was cut", cut(whole.len() - 1)),
            ("a frame that was cut early", cut(3)),
            ("a damaged frame", turned.clone()),
            ("junk", vec![0x00, 0xFF, 0x0D, 0x7D, 0xAA, 0xAA]),
        ] {
            let frames = found(profile, &[before, whole.clone()].concat());
            let units: Vec<u8> = frames.iter().map(|frame| frame.unit).collect();
            assert_eq!(units, [1], "{name}: {frames:?}");
            assert_eq!(frames[0].payload, STATUS, "{name}");
        }
        let merged = [whole.clone(), other, whole.clone()].concat();
        let units: Vec<u8> = found(profile, &merged)
            .iter()
            .map(|frame| frame.unit)
            .collect();
        assert_eq!(units, [1, 9, 1], "merged frames");
    }
}

#[test]
fn with_any_bit_turned_it_is_no_frame() {
    for profile in SHAPES.iter() {
        let whole = status(profile, 1, 7);
        for bit in 0..whole.len() * 8 {
            let mut turned = whole.clone();
            turned[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(found(profile, &turned), [], "bit {bit}");
        }
    }
}

/// 10,000 kinds of junk: cut, turned, merged and foreign pieces of frames among bytes by chance. The
/// whole frame behind them is found, always.
#[test]
fn a_whole_frame_is_found_behind_ten_thousand_kinds_of_junk() {
    let shapes = &*SHAPES;
    // SplitMix64 (Steele, Lea, Flood 2014).
    let mut state: u64 = 7;
    let mut draw = move |below: usize| {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((z ^ (z >> 31)) % below as u64).unwrap()
    };
    for round in 0..10_000 {
        let profile = &shapes[round % shapes.len()];
        let mut line = Vec::new();
        for _ in 0..draw(4) {
            let piece = status(profile, 1 + u8::try_from(draw(9)).unwrap(), 3);
            match draw(4) {
                0 => line.extend(&piece[..draw(piece.len())]),
                1 => line.extend(&piece[draw(piece.len())..]),
                2 => {
                    let bit = draw(piece.len() * 8);
                    let mut turned = piece;
                    turned[bit / 8] ^= 1 << (bit % 8);
                    line.extend(turned);
                }
                _ => line.extend((0..draw(40)).map(|_| u8::try_from(draw(256)).unwrap())),
            }
        }
        line.extend(status(profile, 77, 200));
        let frames = found(profile, &line);
        let last = frames
            .last()
            .unwrap_or_else(|| panic!("round {round}: {line:02X?}"));
        assert_eq!(
            (last.unit, last.payload.as_slice()),
            (77, &STATUS[..]),
            "round {round}"
        );
    }
}

proptest! {
    /// What is found is the very bytes that came last: it is put together the same again.
    #[test]
    fn whatever_is_found_came_over_the_line(
        which in 0..7_usize,
        pieces in proptest::collection::vec(
            prop_oneof![
                proptest::collection::vec(any::<u8>(), 0..40),
                Just(vec![0xAA, 0x55]),
                Just(vec![0xAA, 0x55, 0x04, 0x01, 0x08, 0x06, 0x10]),
                (any::<u8>(), any::<u8>()).prop_map(|(unit, sequence)| status(&SHAPES[0], unit, sequence)),
            ],
            0..6,
        ),
    ) {
        let profile = &SHAPES[which];
        let line = pieces.concat();
        let mut decoder = decoder(profile);
        for (at, byte) in line.iter().enumerate() {
            let Some(frame) = decoder.feed(*byte) else { continue };
            let head = (frame.unit, frame.sequence.unwrap_or(0), frame.code);
            let again = said(profile, head, &frame.payload);
            prop_assert!(line[..=at].ends_with(&again), "{frame:?}");
        }
    }

    /// Frames of any content come through, in their order.
    #[test]
    fn what_is_sent_comes_through(
        which in 0..7_usize,
        frames in proptest::collection::vec((any::<u8>(), any::<u8>(), any::<[u8; 12]>()), 1..4),
    ) {
        let profile = &SHAPES[which];
        let sent = frames.iter().map(|(unit, sequence, payload)| {
            said(profile, (*unit, *sequence, 0x81), payload)
        });
        let line: Vec<u8> = sent.flatten().collect();
        let found = found(profile, &line);
        let found: Vec<_> = found.iter().map(|frame| (frame.unit, frame.payload.clone())).collect();
        let sent: Vec<_> = frames.iter().map(|(unit, _, payload)| (*unit, payload.to_vec())).collect();
        prop_assert_eq!(found, sent);
    }
}
