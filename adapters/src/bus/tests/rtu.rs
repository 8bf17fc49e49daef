//! Elevators on one RTU line, on a clock of their own, with peers that misbehave.

mod dead;
mod gate;
mod groups;

use std::collections::BTreeMap;
use std::sync::Mutex;

use tokio::time::Instant;

use super::super::line::Line;
use super::super::link::{Link, Opened, Wire};
use super::*;
use crate::rtu::RtuTiming;
use crate::rtu::tests::peer::{Dice, Emit, Peer, exception, obey};

const BAUD: u32 = 19_200;
/// As a gateway's: the defaults, but for the fire input.
const TIMES: LineTiming = LineTiming {
    connect_ms: 1_000,
    request_ms: 800,
    backoff_min_ms: 200,
    backoff_max_ms: 10_000,
    unit_backoff_max_ms: 3_000,
    fire_lost_ms: 3_000,
};

type Script = Box<dyn FnMut(usize, &[u8]) -> Vec<Emit> + Send>;

/// A line at 19,200 baud to a peer, which every opening finds anew; the peer's own record.
struct Rig {
    line: Bus,
    peers: Arc<Mutex<Vec<Peer>>>,
}

/// `refusals` openings fail before the first that works.
fn rig(units: Vec<Unit>, mut refusals: usize, script: Script) -> Rig {
    let mut line = line_to("pipe", units, Vec::new(), TIMES);
    let peers: Arc<Mutex<Vec<Peer>>> = Arc::default();
    let (script, made) = (Arc::new(Mutex::new(script)), Arc::clone(&peers));
    let open = move || -> Opened {
        if refusals > 0 {
            refusals -= 1;
            return Err("no such port".to_owned());
        }
        let script = Arc::clone(&script);
        let (stream, peer) = Peer::start(move |at, frame| (script.lock().unwrap())(at, frame));
        made.lock().unwrap().push(peer);
        Ok((Box::new(stream) as Box<dyn Wire>, RtuTiming::serial(BAUD)))
    };
    let mut open = open;
    let opener = Box::new(move |_| -> BoxFuture<'static, Opened> {
        let opened = open();
        Box::pin(async { opened })
    });
    line.line = Line::new("pipe".to_owned(), Link::over(opener, None, 800), TIMES, 7);
    Rig { line, peers }
}

impl Rig {
    fn requests(&self) -> Vec<Vec<u8>> {
        let peers = self.peers.lock().unwrap();
        peers.iter().flat_map(Peer::requests).collect()
    }
}

/// The reply of a slave that takes 5 ms, when its last character has come.
fn after_5_ms(frame: &[u8], reply: Vec<u8>) -> Vec<Emit> {
    let characters = u64::try_from(frame.len() + reply.len()).unwrap();
    let gap_and_own_us = 2_005 + 5_000;
    let us = characters * 573 + gap_and_own_us;
    vec![Emit::after(us.div_ceil(1_000), reply)]
}

fn well(frame: &[u8]) -> Vec<Emit> {
    after_5_ms(frame, obey(frame, 0))
}

fn eight() -> Vec<Unit> {
    (1..=8).map(|number| unit(number, MAP)).collect()
}

fn open_door_of(number: u8) -> Command {
    command(number, Action::OpenDoor { landing: at("1F") })
}

/// What the bus task does: commands first, else what is due. The times of the commands, from the
/// moment at which each could have gone.
async fn ride(rig: &mut Rig, seconds: u64, every_ms: u64, numbers: &[u8]) -> Vec<(u8, Duration)> {
    let start = Instant::now();
    let end = start + Duration::from_secs(seconds);
    let mut next = start + Duration::from_secs(20);
    let mut took = Vec::new();
    let mut reports = Vec::new();
    let mut turn = numbers.iter().cycle();
    while Instant::now() < end {
        tokio::select! {
            biased;
            () = sleep_until(next) => {
                let number = *turn.next().unwrap();
                let outcome = rig.line.execute(&open_door_of(number), &mut open_gate, &mut reports).await;
                assert_eq!(outcome, Outcome::Accepted, "unit {number}");
                took.push((number, next.elapsed()));
                next += Duration::from_millis(every_ms);
            }
            () = rig.line.ready() => rig.line.read(&mut reports).await,
        }
    }
    took
}

/// Every elevator has its turn, also where the line cannot keep up.
#[tokio::test(start_paused = true)]
async fn on_a_line_that_is_too_slow_all_are_read_alike() {
    let fast = MAP.replace("poll_ms = 50", "poll_ms = 50\nread_gap_max = 0");
    let units = (1..=8).map(|number| unit(number, &fast)).collect();
    let mut rig = rig(units, 0, Box::new(|_, frame| well(frame)));
    let mut reports = Vec::new();
    let end = Instant::now() + Duration::from_secs(60);
    while Instant::now() < end {
        rig.line.ready().await;
        rig.line.read(&mut reports).await;
    }
    let counts: Vec<_> = (1..=8)
        .map(|number| readings(&reports, number).len())
        .collect();
    let (least, most) = (counts.iter().min().unwrap(), counts.iter().max().unwrap());
    assert!(*least > 100 && most - least <= 1, "{counts:?}");
    let figures = rig.line.take_figures();
    assert_eq!(figures.units.len(), 8);
    assert!(figures.used_permille() > 800, "{figures:?}");
}

/// 3.5 characters at 19,200 baud are 2.0 ms: until then a command can still go first.
#[tokio::test(start_paused = true)]
async fn a_poll_begins_only_when_it_may_go_out_at_once() {
    let mut rig = rig(eight(), 0, Box::new(|_, frame| well(frame)));
    run_until(&mut rig.line, |reports| has_reading(reports, 1)).await;
    let ms = Duration::from_millis;
    assert!(timeout(ms(1), rig.line.ready()).await.is_err(), "too soon");
    timeout(ms(3), rig.line.ready()).await.unwrap();
}

/// With 1 % of the replies damaged and 1 % lost nothing is read wrongly and no link goes down.
#[tokio::test(start_paused = true)]
async fn noise_now_and_then_is_no_lost_link() {
    let mut dice = Dice::new(3);
    let noisy = move |_: usize, frame: &[u8]| {
        let mut reply = obey(frame, 2);
        match dice.below(100) {
            0 => return Vec::new(),
            1 => {
                let at = usize::try_from(dice.below(reply.len() as u64)).unwrap();
                reply[at] ^= 1 << dice.below(8);
            }
            _ => {}
        }
        after_5_ms(frame, reply)
    };
    let units = (1..=2).map(|number| unit(number, MAP)).collect();
    let mut rig = rig(units, 0, Box::new(noisy));
    let mut reports = Vec::new();
    let (mut accepted, mut unknown) = (0, 0);
    for second in 0..300_u64 {
        let end = Instant::now() + Duration::from_secs(1);
        while Instant::now() < end {
            rig.line.ready().await;
            rig.line.read(&mut reports).await;
        }
        let number = u8::try_from(second % 2).unwrap() + 1;
        match rig
            .line
            .execute(&open_door_of(number), &mut open_gate, &mut reports)
            .await
        {
            Outcome::Accepted => accepted += 1,
            Outcome::Unknown { .. } => unknown += 1,
            other @ (Outcome::Sent
            | Outcome::Done
            | Outcome::Failed { .. }
            | Outcome::Dropped { .. }) => panic!("{other:?}"),
        }
    }
    assert!(accepted >= 285 && unknown >= 1, "{accepted}, {unknown}");
    for number in [1, 2] {
        assert!(!reports.contains(&link(number, false)), "unit {number}");
        let readings = readings(&reports, number);
        assert!(readings.len() > 1_000, "{}", readings.len());
        let third = Some(floor("3F"));
        assert!(readings.iter().all(|(reading, _)| reading.floor == third));
    }
    let opens = rig.requests().iter().filter(|frame| frame[1] == 5).count();
    assert!(opens <= 300, "{opens}: nothing is written twice by itself");
}

/// A command before anything was read over the line: the echo confirms nothing, the unit does.
#[tokio::test(start_paused = true)]
async fn a_command_is_the_first_thing_on_a_line_that_echoes() {
    let mut does = false;
    let echoing = move |_: usize, frame: &[u8]| {
        let echo = Emit::after(5, frame.to_vec());
        if frame[1] == 5 && !does {
            does = true;
            return vec![echo];
        }
        let mut all = after_5_ms(frame, obey(frame, 0));
        all.push(echo);
        all
    };
    let mut rig = rig(vec![unit(1, MAP)], 0, Box::new(echoing));
    let (outcome, _) = execute(&mut rig.line, open_door_of(1)).await;
    assert!(matches!(outcome, Outcome::Unknown { .. }), "{outcome:?}");
    let (outcome, _) = execute(&mut rig.line, open_door_of(1)).await;
    assert_eq!(outcome, Outcome::Accepted);
}

/// H7: a unit that is busy may do it yet, or not.
#[tokio::test(start_paused = true)]
async fn exceptions_are_refusals_but_for_a_busy_unit() {
    let mut codes = [2_u8, 4, 5, 6, 11].into_iter();
    let busy = move |_: usize, frame: &[u8]| match frame[1] {
        5 => after_5_ms(frame, exception(frame, codes.next().unwrap())),
        _ => well(frame),
    };
    let mut rig = rig(vec![unit(1, MAP)], 0, Box::new(busy));
    let mut failed = Vec::new();
    for _ in 0..5 {
        let (outcome, _) = execute(&mut rig.line, open_door_of(1)).await;
        failed.push(matches!(outcome, Outcome::Failed { .. }));
    }
    assert_eq!(failed, [true, true, false, false, false]);
}

/// A port that is not there is looked for at a growing distance; when it is, all goes on.
#[tokio::test(start_paused = true)]
async fn a_port_that_vanishes_is_opened_again() {
    let mut rig = rig(vec![unit(1, MAP)], 4, Box::new(|_, frame| well(frame)));
    let reports = run_until(&mut rig.line, |reports| has_reading(reports, 1)).await;
    let bus = |up| DriverReport::Bus { up };
    assert_eq!(reports[..2], [bus(false), link(1, false)]);
    assert!(reports.contains(&bus(true)) && reports.contains(&link(1, true)));
    // The other end goes; the next opening finds another one.
    rig.peers.lock().unwrap().clear();
    let reports = run_until(&mut rig.line, |reports| has_reading(reports, 1)).await;
    assert!(!reports.contains(&bus(false)), "{reports:?}");
    assert_eq!(rig.peers.lock().unwrap().len(), 1);
}

/// What is read and what is written are two units; a press that the board times is one write with
/// nothing behind it, to the byte.
#[tokio::test(start_paused = true)]
async fn a_relay_board_takes_what_is_written() {
    let map = MAP.replace(
        r#"open = { point = "coil", address = 48 }"#,
        r#"open = { point = "coil", address = 0x0200, flash_ms = 700 }"#,
    );
    let unit = Unit {
        relay_unit: Some(11),
        ..unit(1, &map)
    };
    let mut rig = rig(vec![unit], 0, Box::new(|_, frame| well(frame)));
    run_until(&mut rig.line, |reports| has_reading(reports, 1)).await;
    let (outcome, _) = execute(&mut rig.line, open_door_of(1)).await;
    assert_eq!(outcome, Outcome::Accepted);
    rig.line.finish().await;
    let mut by_unit: BTreeMap<u8, Vec<Vec<u8>>> = BTreeMap::new();
    for frame in rig.requests() {
        by_unit.entry(frame[0]).or_default().push(frame);
    }
    // 0B 05 0200 0007, and its checksum.
    assert_eq!(by_unit[&11], [vec![0x0B, 5, 2, 0, 0, 7, 0x8D, 0x1A]]);
    assert!(by_unit[&1].iter().all(|frame| frame[1] <= 4));
    assert_eq!(by_unit.len(), 2);
}
