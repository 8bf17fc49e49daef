//! The master on a pipe whose other end is played, on the runtime's clock.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};
use tokio::time::{Instant, sleep, timeout};

use super::*;
use crate::driver::open_gate;
use crate::rtu::RtuTiming;

/// A master and the other end of its line.
fn line(profile: Arc<FrameProfile>) -> (FrameMaster<DuplexStream>, DuplexStream) {
    let (ours, theirs) = duplex(4_096);
    let timing = RtuTiming::serial(19_200);
    let mut master = FrameMaster::new(profile, timing);
    master.attach(ours, timing);
    (master, theirs)
}

/// The next request: its number and all of it.
async fn asked(peer: &mut DuplexStream) -> (u8, Vec<u8>) {
    let mut buffer = [0; 256];
    let count = timeout(Duration::from_secs(5), peer.read(&mut buffer)).await;
    let count = count.expect("a request").unwrap();
    (buffer[4], buffer[..count].to_vec())
}

async fn status(master: &mut FrameMaster<DuplexStream>) -> Result<Vec<u8>, FrameError> {
    let message = kestrel().status();
    master.ask(&mut open_gate, 1, &message).await
}

/// Plays `say` with the number of the request and its bytes, while unit 1 is asked.
async fn play(
    profile: Arc<FrameProfile>,
    say: impl AsyncFnOnce(u8, Vec<u8>, &mut DuplexStream),
) -> (Result<Vec<u8>, FrameError>, Vec<Unasked>) {
    let (mut master, mut peer) = line(profile);
    let play = async {
        let (sequence, request) = asked(&mut peer).await;
        say(sequence, request, &mut peer).await;
        // The line stays open.
        sleep(Duration::from_secs(2)).await;
    };
    let (answer, ()) = tokio::join!(status(&mut master), play);
    let unasked = master.take_unasked();
    (answer, unasked)
}

fn missed(answer: Result<Vec<u8>, FrameError>) -> FrameMiss {
    match answer {
        Err(FrameError::NoAnswer { miss, .. }) => miss,
        other => panic!("{other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_counts_by_unit_number_and_code() {
    let kestrel = kestrel();
    for (head, miss) in [
        ((2, 0, 0x81), FrameMiss::OtherUnit(2)),
        ((1, 5, 0x81), FrameMiss::OtherContent(0x81)),
        ((1, 0, 0x06), FrameMiss::OtherContent(0x06)),
    ] {
        let (answer, _) = play(Arc::clone(&kestrel), async |sequence, _, peer| {
            let (unit, off, code) = head;
            let payload = if code == 0x06 { &STATUS[..1] } else { &STATUS };
            let head = (unit, sequence.wrapping_add(off), code);
            let frame = said(&super::kestrel(), head, payload);
            peer.write_all(&frame).await.unwrap();
        })
        .await;
        assert_eq!(missed(answer), miss);
    }
    let (answer, _) = play(kestrel, async |sequence, _, peer| {
        let frame = said(&super::kestrel(), (1, sequence, 0x81), &STATUS);
        peer.write_all(&frame).await.unwrap();
    })
    .await;
    assert_eq!(answer, Ok(STATUS.to_vec()));
}

#[tokio::test(start_paused = true)]
async fn what_came_instead_is_told() {
    let (answer, _) = play(kestrel(), async |_, _, _| {}).await;
    assert_eq!(missed(answer), FrameMiss::Silence);
    let (answer, _) = play(kestrel(), async |_, request, peer| {
        peer.write_all(&request).await.unwrap();
    })
    .await;
    assert_eq!(missed(answer), FrameMiss::OwnEcho);
    let (answer, _) = play(kestrel(), async |_, _, peer| {
        peer.write_all(&[1, 2, 3]).await.unwrap();
    })
    .await;
    assert_eq!(missed(answer), FrameMiss::Noise(3));
}

/// A report in front of the answer and one in the middle of it: the first is kept, the second takes
/// the answer along, and neither is taken for it.
#[tokio::test(start_paused = true)]
async fn reports_are_kept_apart_from_answers() {
    let report = || said(&kestrel(), (2, 0, 0x82), &STATUS);
    let (answer, unasked) = play(kestrel(), async |sequence, _, peer| {
        let frame = said(&kestrel(), (1, sequence, 0x81), &STATUS);
        peer.write_all(&[report(), frame].concat()).await.unwrap();
    })
    .await;
    assert_eq!(answer, Ok(STATUS.to_vec()));
    assert_eq!(unasked.len(), 1);
    assert_eq!(unasked[0].unit, 2);
    let (answer, unasked) = play(kestrel(), async |sequence, _, peer| {
        let frame = said(&kestrel(), (1, sequence, 0x81), &STATUS);
        let (head, rest) = frame.split_at(9);
        peer.write_all(&[head, report().as_slice(), rest].concat())
            .await
            .unwrap();
    })
    .await;
    assert!(answer.is_err(), "{answer:?}");
    assert_eq!(unasked.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_report_is_heard_while_nothing_is_asked() {
    let (mut master, mut peer) = line(kestrel());
    let report = said(&kestrel(), (3, 0, 0x82), &STATUS);
    let say = async {
        for byte in report {
            sleep(Duration::from_millis(1)).await;
            peer.write_all(&[byte]).await.unwrap();
        }
    };
    let hear = async {
        // Cut short again and again, as by commands.
        while timeout(Duration::from_micros(1_700), master.overhear())
            .await
            .is_err()
        {}
    };
    timeout(Duration::from_secs(5), async { tokio::join!(hear, say) })
        .await
        .unwrap();
    assert_eq!(master.take_unasked().len(), 1);
}

/// On a line that echoes nothing in front of the echo is an answer.
#[tokio::test(start_paused = true)]
async fn behind_the_echo_comes_the_answer() {
    let echoing = || {
        let text = changed(&[("# echo = true", "echo = true")]);
        Arc::new(FrameProfile::parse(&text).unwrap())
    };
    let (answer, _) = play(echoing(), async |sequence, request, peer| {
        let frame = said(&kestrel(), (1, sequence, 0x81), &STATUS);
        peer.write_all(&[request, frame].concat()).await.unwrap();
    })
    .await;
    assert_eq!(answer, Ok(STATUS.to_vec()));
    let (answer, _) = play(echoing(), async |sequence, _, peer| {
        let frame = said(&kestrel(), (1, sequence, 0x81), &STATUS);
        peer.write_all(&frame).await.unwrap();
    })
    .await;
    assert_eq!(missed(answer), FrameMiss::OtherContent(0x81));
}

/// T-LIFT-43, AT-LIFT-21: where frames have no numbers, a unit that did not answer is asked again
/// only when its answer has come, or cannot come any more.
#[tokio::test(start_paused = true)]
async fn a_late_answer_is_not_the_next_ones() {
    let profile = unnumbered();
    let old = said(&profile, (1, 0, 0x81), &[1; 12]);
    let new = said(&profile, (1, 0, 0x81), &[2; 12]);
    for late_ms in [200, 400, 900] {
        let (mut master, mut peer) = line(Arc::clone(&profile));
        let (old, new) = (old.clone(), new.clone());
        let play = async {
            asked(&mut peer).await;
            sleep(Duration::from_millis(late_ms)).await;
            peer.write_all(&old).await.unwrap();
            asked(&mut peer).await;
            peer.write_all(&new).await.unwrap();
        };
        let ask = async {
            let first = status(&mut master).await;
            assert!(
                matches!(first, Err(FrameError::NoAnswer { .. })),
                "{first:?}"
            );
            assert!(master.owes_for(1) > Duration::ZERO);
            assert_eq!(master.owes_for(2), Duration::ZERO);
            status(&mut master).await
        };
        let (second, ()) = tokio::join!(ask, play);
        assert_eq!(second, Ok(vec![2; 12]), "{late_ms} ms");
        assert_eq!(master.take_figures().units[&1].late, 1);
    }
}

#[tokio::test(start_paused = true)]
async fn a_unit_that_never_answers_is_waited_for_no_longer_than_late_ms() {
    let (mut master, _peer) = line(unnumbered());
    let began = Instant::now();
    for _ in 0..2 {
        let answer = status(&mut master).await;
        assert_eq!(missed(answer), FrameMiss::Silence);
    }
    // 1,000 ms from the first request to the second one, and a time-out of about 190 ms.
    let took = began.elapsed();
    let range = Duration::from_millis(1_150)..Duration::from_millis(1_250);
    assert!(range.contains(&took), "{took:?}");
}

/// Where they have numbers, nothing has to be waited for.
#[tokio::test(start_paused = true)]
async fn a_thousand_late_answers_with_numbers_are_passed_over() {
    let (mut master, mut peer) = line(kestrel());
    let play = async {
        for round in 0..1_000_u32 {
            let (old, _) = asked(&mut peer).await;
            // The master gives up; its next request gets both.
            let (new, _) = asked(&mut peer).await;
            let mut late = said(&kestrel(), (1, old, 0x81), &[1; 12]);
            late.extend(said(&kestrel(), (1, new, 0x81), &[2; 12]));
            peer.write_all(&late).await.unwrap();
            assert_ne!(old, new, "round {round}");
        }
    };
    let ask = async {
        for _ in 0..1_000 {
            assert!(status(&mut master).await.is_err());
            assert_eq!(status(&mut master).await, Ok(vec![2; 12]));
        }
    };
    tokio::join!(ask, play);
    assert_eq!(master.take_figures().units[&1].late, 1_000);
}

#[tokio::test(start_paused = true)]
async fn the_gate_is_asked_when_the_line_is_silent_and_holds_all_back() {
    let (mut master, mut peer) = line(kestrel());
    // Bytes of somebody else: the line has to be silent behind them.
    peer.write_all(&[0x55; 9]).await.unwrap();
    let began = Instant::now();
    let mut asked_at = None;
    let mut gate = || {
        asked_at = Some(began.elapsed());
        Err("another owner".to_owned())
    };
    let answer = master.ask(&mut gate, 1, &kestrel().status()).await;
    assert_eq!(answer, Err(FrameError::Dropped("another owner".to_owned())));
    assert!(
        asked_at.is_some_and(|at| at >= Duration::from_micros(2_005)),
        "{asked_at:?}"
    );
    drop(master);
    let mut rest = Vec::new();
    peer.read_to_end(&mut rest).await.unwrap();
    assert_eq!(rest, [0_u8; 0]);
}

#[tokio::test(start_paused = true)]
async fn a_line_that_closes_is_gone_and_then_not_open() {
    let (mut master, mut peer) = line(kestrel());
    let close = async {
        asked(&mut peer).await;
        drop(peer);
    };
    let (answer, ()) = tokio::join!(status(&mut master), close);
    assert!(matches!(answer, Err(FrameError::Gone(_))), "{answer:?}");
    assert!(!master.is_attached());
    assert!(matches!(
        status(&mut master).await,
        Err(FrameError::NotSent(_))
    ));
}
