//! A line over time: silences, time-outs, echoes, noise, and streams that go.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use tokio::time::Instant;

use super::peer::{Dice, Emit, exception, obey, sealed};
use super::*;

const GAP: Duration = Duration::from_micros(2_005);

fn three(word: u16) -> Result<Reply, RtuError> {
    Ok(Reply::Points(vec![word; 3]))
}

fn is_no_answer(result: &Result<Reply, RtuError>, miss: Miss) -> bool {
    matches!(result, Err(RtuError::NoAnswer { miss: found, .. }) if *found == miss)
}

/// AT-LIFT-20: at least 3.5 characters of silence before each request.
#[tokio::test(start_paused = true)]
async fn a_request_waits_for_the_silence_after_the_last_byte() {
    let (mut master, peer) = line(|_, frame| vec![Emit::now(obey(frame, 7))]);
    assert_eq!(master.request(1, &read_three()).await, three(7));
    for _ in 0..20 {
        assert_eq!(master.request(1, &read_three()).await, three(7));
        assert_eq!(master.request(1, &write(1, 3)).await, Ok(Reply::Written));
    }
    let times = peer.times();
    assert_eq!(times.len(), 41);
    for pair in times.windows(2) {
        let apart = pair[1] - pair[0];
        // 5 ms of the unit, then the silence; the clock of the runtime counts whole milliseconds.
        assert!(apart >= ms(5) + GAP && apart <= ms(9), "{apart:?}");
    }
    let figures = master.figures();
    let unit = figures.units[&1];
    assert_eq!((unit.asked, unit.answered, unit.lost), (41, 41, 0));
    assert_eq!((unit.took_mean(), unit.took_max), (ms(5), ms(5)));
    assert!((550..750).contains(&figures.used_permille()), "{figures:?}");
}

/// Behind a TCP connection too: 3.5 characters of 9,600 baud are 4.01 ms.
#[tokio::test(start_paused = true)]
async fn a_silence_lies_between_two_frames_over_tcp() {
    let (mut master, peer) = line(|_, frame| vec![Emit::now(obey(frame, 7))]);
    master.set_timing(RtuTiming::over_tcp());
    for _ in 0..20 {
        assert_eq!(master.request(1, &read_three()).await, three(7));
    }
    for pair in peer.times().windows(2).skip(1) {
        let apart = pair[1] - pair[0];
        assert!(apart >= ms(9) && apart <= ms(11), "{apart:?}");
    }
}

/// The time-out is the unit's own, and a unit that never answered gets 200 ms and its characters.
#[tokio::test(start_paused = true)]
async fn a_unit_is_waited_for_as_long_as_it_has_shown_to_need() {
    let (mut master, _peer) = line(|number, frame| match (frame[0], number) {
        (1, 0..5) => vec![Emit::after(150, obey(frame, 1))],
        (2, _) => vec![Emit::after(5, obey(frame, 1))],
        _ => Vec::new(),
    });
    let floor = RtuTiming::serial(19_200).floor(8, 11);
    let waited = |result: Result<Reply, RtuError>| match result {
        Err(RtuError::NoAnswer { wait, .. }) => wait,
        other => panic!("{other:?}"),
    };
    for _ in 0..5 {
        assert_eq!(master.request(1, &read_three()).await, three(1));
    }
    // 150 ms, less the floor that they hold, and half of it.
    let slowest = ms(150) - floor;
    let wait = waited(master.request(1, &read_three()).await);
    assert_eq!(wait, floor + slowest + slowest / 2);
    assert_eq!(
        waited(master.request(3, &read_three()).await),
        floor + ms(200)
    );
    assert_eq!(master.request(2, &read_three()).await, three(1));
}

#[tokio::test(start_paused = true)]
async fn what_is_no_reply_is_named_and_the_next_request_is_answered() {
    let other = sealed(&[2, 3, 6, 0, 1, 0, 2, 0, 3]);
    type Bad = fn(&[u8]) -> Vec<u8>;
    let bads: [(Bad, Miss); 5] = [
        (|_| Vec::new(), Miss::Silence),
        (|_| sealed(&[2, 3, 6, 0, 1, 0, 2, 0, 3]), Miss::OtherUnit(2)),
        (
            |frame| obey(frame, 9)[..6].to_vec(),
            Miss::Cut {
                bytes: 6,
                expected: 11,
            },
        ),
        (
            |frame| {
                let mut damaged = obey(frame, 9);
                damaged[4] ^= 0x10;
                damaged
            },
            Miss::Damaged,
        ),
        (|_| vec![0xFF; 40], Miss::Noise(40)),
    ];
    for (bad, miss) in bads {
        let (mut master, peer) = line(move |number, frame| match number {
            0 => vec![Emit::now(bad(frame))],
            _ => vec![Emit::now(obey(frame, 8))],
        });
        let result = master.request(1, &read_three()).await;
        assert!(is_no_answer(&result, miss), "{result:?}");
        assert_eq!(master.request(1, &read_three()).await, three(8), "{miss:?}");
        // In between the unit was asked for something else.
        assert_eq!(peer.requests().len(), 3, "{miss:?}");
    }
    assert_eq!(other.len(), 11);
}

#[tokio::test(start_paused = true)]
async fn an_exception_is_an_answer() {
    let (mut master, peer) = line(|_, frame| vec![Emit::now(exception(frame, 6))]);
    for _ in 0..3 {
        let result = master.request(1, &read_three()).await;
        assert_eq!(result, Err(RtuError::Exception(Exception(6))));
    }
    assert_eq!(peer.requests().len(), 3);
}

/// H3, H4: replies that come twice, in one piece or in two, glued to a frame of another unit. Each
/// register holds the number of its request.
#[tokio::test(start_paused = true)]
async fn of_replies_that_come_twice_or_merged_the_first_one_counts() {
    let (mut master, peer) = line(|number, frame| {
        let reply = obey(frame, u16::try_from(number).unwrap());
        let other = sealed(&[2, 3, 6, 0, 1, 0, 2, 0, 3]);
        match number % 4 {
            0 => vec![Emit::now([reply.clone(), reply].concat())],
            1 => vec![Emit::after(5, reply.clone()), Emit::after(6, reply)],
            2 => vec![Emit::now([other, reply].concat())],
            _ => vec![Emit::now([reply, other[..5].to_vec()].concat())],
        }
    });
    for _ in 0..1_000 {
        let result = master.request(1, &read_three()).await;
        let number = u16::try_from(peer.requests().len() - 1).unwrap();
        assert_eq!(result, three(number));
    }
    assert_eq!(peer.requests().len(), 1_000);
}

/// T-LIFT-42: the echo of our own write is no confirmation of it.
#[tokio::test(start_paused = true)]
async fn a_write_that_only_echoes_is_not_confirmed() {
    let (mut master, peer) = line(|_, frame| {
        let echo = Emit::after(1, frame.to_vec());
        match frame[1] {
            // The unit never does what it is told.
            5 | 6 => vec![echo],
            _ => vec![echo, Emit::now(obey(frame, 4))],
        }
    });
    for number in 0..50 {
        let result = master.request(1, &write(1, number)).await;
        assert!(is_no_answer(&result, Miss::OwnEcho), "{result:?}");
    }
    assert_eq!(master.echo(), Echo::Present);
    assert_eq!(master.request(1, &read_three()).await, three(4));
    let writes = peer.requests();
    let writes = writes.iter().filter(|frame| frame[1] == 6);
    assert_eq!(writes.count(), 50, "nothing is sent twice");
}

#[tokio::test(start_paused = true)]
async fn a_line_that_echoes_works() {
    let (mut master, _peer) = line(|_, frame| {
        let echo = Emit::after(1, frame.to_vec());
        vec![echo, Emit::now(obey(frame, 4))]
    });
    for number in 0..20 {
        assert_eq!(
            master.request(1, &write(1, number)).await,
            Ok(Reply::Written)
        );
        assert_eq!(master.request(1, &read_three()).await, three(4));
    }
}

/// A bus that glitches when its drivers change over: up to three bytes in front of each reply.
#[tokio::test(start_paused = true)]
async fn on_a_line_that_glitches_before_each_reply_a_write_is_confirmed() {
    for glitches in 0..=3 {
        let mut dice = Dice::new(glitches);
        let (mut master, peer) = line(move |_, frame| {
            let glitch = (0..glitches).map(|_| dice.byte()).collect();
            vec![Emit::after(4, glitch), Emit::now(obey(frame, 4))]
        });
        for number in 0..20 {
            let result = master.request(1, &write(1, number)).await;
            assert_eq!(result, Ok(Reply::Written), "{glitches}");
        }
        assert_eq!(master.echo(), Echo::Absent);
        let writes = peer.requests();
        let writes = writes.iter().filter(|frame| frame[1] == 6);
        assert_eq!(writes.count(), 20, "nothing is sent twice");
    }
}

/// T-LIFT-42: a line that echoes, with glitches, and every twentieth byte of an echo lost or
/// turned. Half of the writes are lost on their way, so that only their echo comes back.
#[tokio::test(start_paused = true)]
async fn a_damaged_echo_is_never_taken_for_none() {
    let (mut confirmed, mut damaged) = (0, 0);
    for seed in 0..60 {
        let done: Arc<Mutex<Vec<bool>>> = Arc::default();
        let hurt: Arc<AtomicU64> = Arc::default();
        let (log, count) = (Arc::clone(&done), Arc::clone(&hurt));
        let mut dice = Dice::new(seed);
        let (mut master, _peer) = line(move |_, frame| {
            let mut echo = Vec::new();
            for byte in frame {
                match dice.below(40) {
                    0 => {}
                    1 => echo.push(*byte ^ (1 << dice.below(8))),
                    _ => echo.push(*byte),
                }
            }
            count.fetch_add(u64::from(echo != frame), Ordering::Relaxed);
            let glitch = (0..dice.below(4)).map(|_| dice.byte()).collect();
            let is_write = frame[1] == 6;
            let is_lost = is_write && dice.below(2) == 0;
            if is_write {
                log.lock().unwrap().push(!is_lost);
            }
            let reply = if is_lost { Vec::new() } else { obey(frame, 4) };
            [(1, echo), (4, glitch), (5, reply)]
                .map(|(after, bytes)| Emit::after(after, bytes))
                .into()
        });
        for number in 0..100 {
            let before = done.lock().unwrap().len();
            let result = master.request(1, &write(1, number % 2)).await;
            assert_ne!(master.echo(), Echo::Absent, "seed {seed}");
            if result == Ok(Reply::Written) {
                let is_done = done.lock().unwrap().get(before).copied();
                assert_eq!(is_done, Some(true), "seed {seed}: a false confirmation");
                confirmed += 1;
            }
        }
        damaged += hurt.load(Ordering::Relaxed);
    }
    assert!(damaged > 1_500, "{damaged} damaged echoes");
    assert!(confirmed > 600, "{confirmed} confirmed");
}

/// 10,000 bytes of noise, between requests and in place of replies: no wrong value, and an answer
/// 200 ms after the last of them.
#[tokio::test(start_paused = true)]
async fn a_line_is_usable_within_200_ms_after_noise() {
    let is_noisy = Arc::new(AtomicBool::new(false));
    let drowned = Arc::clone(&is_noisy);
    let (mut master, peer) = line(move |_, frame| {
        if drowned.load(Ordering::Relaxed) {
            Vec::new()
        } else {
            vec![Emit::now(obey(frame, 5))]
        }
    });
    assert_eq!(master.request(1, &read_three()).await, three(5));
    let mut dice = Dice::new(1);
    let (mut bytes, mut lost) = (0, 0);
    while bytes < 10_000 {
        let noise = async {
            is_noisy.store(true, Ordering::Relaxed);
            for _ in 0..10 + dice.below(90) {
                let part: Vec<u8> = (0..dice.below(6)).map(|_| dice.byte()).collect();
                bytes += part.len();
                peer.shout(&part).await;
                tokio::time::sleep(ms(1 + dice.below(3))).await;
            }
            is_noisy.store(false, Ordering::Relaxed);
            Instant::now()
        };
        let ask = async {
            loop {
                match master.request(1, &read_three()).await {
                    Err(_) => lost += 1,
                    result => return (result, Instant::now()),
                }
            }
        };
        let (ended, (result, answered)) = tokio::join!(noise, ask);
        assert_eq!(result, three(5));
        assert!(answered - ended <= ms(200), "{:?}", answered - ended);
    }
    assert!(lost > 50, "{lost} requests went into the noise");
}

#[tokio::test(start_paused = true)]
async fn a_line_that_is_never_silent_is_not_spoken_into() {
    let (mut master, peer) = line(|_, frame| vec![Emit::now(obey(frame, 5))]);
    let shout = async {
        for _ in 0..4_000 {
            peer.shout(&[0xFF]).await;
            tokio::time::sleep(ms(1)).await;
        }
    };
    let ask = async {
        let began = Instant::now();
        let result = master.request(1, &read_three()).await;
        let detail = "the line was not silent for 1000 ms".to_owned();
        assert_eq!(result, Err(RtuError::NotSent(detail)));
        assert!(began.elapsed() <= ms(1_010));
        assert!(peer.requests().is_empty());
    };
    tokio::select! {
        () = shout => panic!("the request did not end"),
        () = ask => {}
    }
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_ends_is_told_and_another_one_goes_on() {
    let (mut master, peer) = line(|_, _| Vec::new());
    drop(peer);
    let result = master.request(1, &read_three()).await;
    assert!(matches!(result, Err(RtuError::NotSent(_))), "{result:?}");
    assert!(!master.is_attached());
    let result = master.request(1, &read_three()).await;
    let detail = "the line is not open".to_owned();
    assert_eq!(result, Err(RtuError::NotSent(detail)));
    let (stream, _peer) = Peer::start(|_, frame| vec![Emit::now(obey(frame, 6))]);
    master.attach(stream);
    assert_eq!(master.request(1, &read_three()).await, three(6));
}

/// What the integrator's tool shows: all bytes, in order, with their times.
#[tokio::test(start_paused = true)]
async fn an_observer_sees_all_bytes() {
    let (mut master, _peer) = line(|_, frame| vec![Emit::now(obey(frame, 1))]);
    let (log, seen) = std::sync::mpsc::channel();
    let start = Instant::now();
    master.observe(Box::new(move |at, seen| {
        let (is_sent, bytes) = match seen {
            Seen::Sent(bytes) => (true, bytes),
            Seen::Heard(bytes) => (false, bytes),
        };
        log.send((at - start, is_sent, bytes.to_vec())).unwrap();
    }));
    assert_eq!(master.request(1, &read_three()).await, three(1));
    let seen: Vec<_> = seen.try_iter().collect();
    let [(sent, true, request), (heard, false, reply)] = seen.as_slice() else {
        panic!("{seen:?}")
    };
    assert_eq!(*request, bytes("01 03 0000 0003 05CB"));
    assert_eq!(reply.len(), 11);
    assert!(*sent >= GAP && *heard - *sent >= ms(5), "{seen:?}");
}
