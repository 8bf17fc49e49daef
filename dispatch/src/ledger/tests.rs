use proptest::prelude::*;
use protocol::client::SeriesBody;

use super::*;

fn order(n: u32) -> OrderId {
    OrderId::new(&format!("T-{n}")).unwrap()
}

fn robot(n: u8) -> RobotId {
    RobotId::new(&format!("R-{n}")).unwrap()
}

fn ended(at: u64) -> Ended {
    Ended {
        at: Timestamp(at),
        state: RideState::Cancelled,
        seq: 2,
        reason: Some(ReasonCode::CancelledByRobot),
        elevator: Some(ElevatorId::new("E1").unwrap()),
        fence: Some(Fence(77)),
    }
}

fn remembered(ended: Option<Ended>) -> Remembered {
    Remembered {
        digest: Digest(*b"0123456789abcdef"),
        robot: robot(1),
        ended,
    }
}

/// Written by hand from the description at the head of `row`.
const LIVE: &[u8] = b"\x020123456789abcdef\x00\x03R-1";
const ENDED: &[u8] = b"\x020123456789abcdef\x01\
    \x00\x00\x01\x23\x45\x67\x89\xab\
    \x00\x00\x00\x00\x00\x00\x00\x02\
    \x00\x00\x00\x00\x00\x00\x00\x4d\
    \x03R-1\x09CANCELLED\x12CANCELLED_BY_ROBOT\x02E1";

#[test]
fn rows_are_the_bytes_that_are_described() {
    let end = ended(0x0123_4567_89ab);
    assert_eq!(encode(&remembered(None)), LIVE);
    assert_eq!(encode(&remembered(Some(end.clone()))), ENDED);
    assert_eq!(decode(LIVE).unwrap(), Known::Ride(remembered(None)));
    assert_eq!(decode(ENDED).unwrap(), Known::Ride(remembered(Some(end))));
}

/// The answer is written by hand from RFC 8949.
const ANSWER: &[u8] = b"\x030123456789abcdef\x01\
    \x00\x00\x01\x23\x45\x67\x89\xab\x05app-1\
    \xa1\x66series\xa3\x66series\x62AA\x66number\x01\x62id\x64AA|1";

#[test]
fn an_answer_is_the_bytes_that_are_described() {
    let answered = Answered {
        digest: Digest(*b"0123456789abcdef"),
        client: ClientId::new("app-1").unwrap(),
        at: Timestamp(0x0123_4567_89ab),
        body: ReplyBody::Series(SeriesBody::of(&SeriesId::new("AA").unwrap(), 1)),
    };
    assert_eq!(encode_answer(&answered), ANSWER);
    assert_eq!(decode(ANSWER).unwrap(), Known::Answer(answered.clone()));
    for end in 0..ANSWER.len() {
        assert!(decode(&ANSWER[..end]).is_err(), "{end} bytes");
    }
    let mut ledger = Ledger::default();
    let order = OrderId::new("T-1").unwrap();
    ledger.answer(&order, &answered);
    assert_eq!(ledger.find(&order), None, "no ride has this id");
    assert_eq!(ledger.known(&order), Some(Known::Answer(answered.clone())));
    assert_eq!(ledger.oldest_ended(answered.at), Some(order.clone()));
    ledger.forget(&order);
    assert!(ledger.is_empty());
}

#[test]
fn a_row_that_is_none_is_refused_in_words() {
    for end in 0..ENDED.len() {
        assert!(decode(&ENDED[..end]).is_err(), "{end} bytes");
    }
    let longer = [ENDED, b"x"].concat();
    for (bytes, said) in [
        (&b"\x04"[..], "version 4 is not known"),
        (&b"\x03"[..], "it is too short"),
        (&longer, "1 bytes follow its end"),
        (
            b"\x020123456789abcdef\x02\x03R-1",
            "2 says neither live nor ended",
        ),
        (b"\x020123456789abcdef\x00\x01#", "robot \"#\""),
    ] {
        let error = decode(bytes).unwrap_err();
        assert!(error.starts_with(said), "{error}");
    }
}

/// The first version: a CBOR map, written by hand from RFC 8949.
#[test]
fn rows_of_the_first_version_are_read() {
    let live = b"\xa4\x67version\x01\x66digest\x90\x18\x30\x18\x31\x18\x32\x18\x33\x18\x34\x18\x35\
        \x18\x36\x18\x37\x18\x38\x18\x39\x18\x61\x18\x62\x18\x63\x18\x64\x18\x65\x18\x66\
        \x65robot\x63R-1\x65ended\xf6";
    assert_eq!(decode(live).unwrap(), Known::Ride(remembered(None)));
    let head = &live[..live.len() - 1];
    let end = b"\xa6\x62at\x78\x182026-11-30T08:00:00.123Z\x65state\x69CANCELLED\x63seq\x02\
        \x66reason\x72CANCELLED_BY_ROBOT\x68elevator\x62E1\x65fence\x18\x4d";
    let at = Timestamp::parse("2026-11-30T08:00:00.123Z").unwrap();
    let row = decode(&[head, end].concat()).unwrap();
    assert_eq!(row, Known::Ride(remembered(Some(ended(at.0)))));
}

#[derive(Debug, Clone)]
enum Act {
    Admit(u32, u8),
    End(u32, u64),
    Forget(u32),
    ForgetOldest(u64),
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let order = 0..600_u32;
    let act = prop_oneof![
        3 => (order.clone(), any::<u8>()).prop_map(|(n, robot)| Act::Admit(n, robot)),
        4 => (order.clone(), 0..50_u64).prop_map(|(n, at)| Act::End(n, at)),
        1 => order.prop_map(Act::Forget),
        1 => (0..50_u64).prop_map(Act::ForgetOldest),
    ];
    prop::collection::vec(act, 1..1500)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// As a plain map, whatever comes; ends that lie before older ones too (a clock set back).
    #[test]
    fn it_remembers_as_a_map_does(acts in acts()) {
        let mut ledger = Ledger::default();
        let mut model: BTreeMap<OrderId, Remembered> = BTreeMap::new();
        for act in acts {
            match act {
                Act::Admit(n, by) => {
                    ledger.admit(order(n), Digest([by; 16]), robot(by));
                    let row = Remembered { digest: Digest([by; 16]), robot: robot(by), ended: None };
                    model.insert(order(n), row);
                }
                Act::End(n, at) => {
                    ledger.end(&order(n), ended(at));
                    if let Some(row) = model.get_mut(&order(n)) {
                        row.ended = Some(ended(at));
                    }
                }
                Act::Forget(n) => {
                    ledger.forget(&order(n));
                    model.remove(&order(n));
                }
                Act::ForgetOldest(limit) => {
                    let ends = model.values().filter_map(|row| Some(row.ended.as_ref()?.at));
                    let first = ends.min().filter(|at| *at <= Timestamp(limit));
                    let oldest = ledger.oldest_ended(Timestamp(limit));
                    prop_assert_eq!(oldest.is_some(), first.is_some());
                    if let (Some(oldest), Some(first)) = (oldest, first) {
                        let row = model.remove(&oldest).unwrap();
                        prop_assert_eq!(row.ended.unwrap().at, first);
                        ledger.forget(&oldest);
                    }
                }
            }
        }
        prop_assert_eq!(ledger.len(), model.len());
        let mut loaded = Ledger::default();
        for n in 0..600 {
            let row = ledger.find(&order(n));
            prop_assert_eq!(row.as_ref(), model.get(&order(n)));
            if let Some(row) = row {
                loaded.read_row(order(n), &encode(&row)).unwrap();
            }
        }
        prop_assert_eq!(&loaded, &ledger);
        let mut rest: Vec<OrderId> = model.into_keys().collect();
        while let Some(order) = rest.pop() {
            ledger.forget(&order);
        }
        prop_assert!(ledger.is_empty() && ledger.shelves.is_empty());
        prop_assert!(ledger.by_order.is_empty() && ledger.by_age.is_empty());
    }
}

/// What 1,000,000 orders may take is 200 MiB for the whole process.
#[test]
fn an_ended_order_takes_little_memory() {
    let mut ledger = Ledger::default();
    for n in 0..10_000_u32 {
        let id = OrderId::new(&format!("{n:036}")).unwrap();
        ledger.admit(id.clone(), Digest([1; 16]), robot(1));
        ledger.end(&id, ended(u64::from(n)));
    }
    let bytes: usize = ledger.shelves.len() * 8192;
    assert!(bytes / 10_000 <= 140, "{} bytes each", bytes / 10_000);
}
