//! T-LIFT-43, AT-LIFT-21: what comes after its time-out is nobody else's answer.

use std::sync::{Arc, Mutex};

use tokio::time::{Instant, timeout};

use super::peer::{Dice, Emit, obey};
use super::*;

/// A unit that answers in the order in which it is asked, but as late as it likes. Each register
/// holds the number of the request.
fn late_unit(seed: u64, late_ms: u64) -> impl FnMut(usize, &[u8]) -> Vec<Emit> + Send + 'static {
    let mut dice = Dice::new(seed);
    let mut last = None;
    move |number, frame| {
        let now = Instant::now();
        let wait = if dice.below(2) == 0 {
            5
        } else {
            dice.below(late_ms)
        };
        let due = (now + ms(wait)).max(last.unwrap_or(now));
        last = Some(due);
        let after = u64::try_from((due - now).as_millis()).unwrap() + 1;
        let word = u16::try_from(number).unwrap();
        vec![Emit::after(after, obey(frame, word))]
    }
}

/// 1,000 late replies of all latenesses, up to six seconds: none is taken for another's.
#[tokio::test(start_paused = true)]
async fn of_a_thousand_late_replies_none_is_the_next_ones() {
    let (mut late, mut good) = (0, 0);
    for (seed, late_ms) in [(1, 1_000), (2, 1_500), (3, 2_500), (4, 6_000)] {
        let (mut master, peer) = line(late_unit(seed, late_ms));
        for _ in 0..4_000 {
            let result = master.request(1, &read_three()).await;
            match result {
                Ok(Reply::Points(words)) => {
                    let number = u16::try_from(peer.requests().len() - 1).unwrap();
                    assert_eq!(words, [number; 3], "seed {seed}");
                    good += 1;
                }
                Err(RtuError::NoAnswer { .. } | RtuError::NotSent(_)) => {
                    tokio::time::sleep(ms(20)).await;
                }
                other => panic!("{other:?}"),
            }
            if master.figures().units[&1].late >= 300 {
                break;
            }
        }
        late += master.figures().units[&1].late;
    }
    assert!(late >= 1_000, "{late} late replies");
    assert!(good >= 500, "{good} good replies");
}

/// A write counts as confirmed only by the confirmation of that very request, also where the same
/// write was given up before it.
#[tokio::test(start_paused = true)]
async fn a_late_confirmation_never_confirms_the_next_write() {
    let mut confirmed = 0;
    let mut late = 0;
    for seed in 0..8 {
        let done: Arc<Mutex<Vec<bool>>> = Arc::default();
        let log = Arc::clone(&done);
        let mut dice = Dice::new(100 + seed);
        let mut unit = late_unit(seed, 1_500);
        let (mut master, _peer) = line(move |number, frame| {
            if frame[1] != 6 {
                return unit(number, frame);
            }
            // Half of the writes are lost on their way to the unit.
            let is_done = dice.below(2) == 0;
            log.lock().unwrap().push(is_done);
            let emits = unit(number, frame);
            if is_done { emits } else { Vec::new() }
        });
        for number in 0..200 {
            // The same few writes again and again.
            let before = done.lock().unwrap().len();
            let result = master.request(1, &write(1, number % 2)).await;
            let writes = done.lock().unwrap().clone();
            if result == Ok(Reply::Written) {
                assert_eq!(writes.len(), before + 1, "seed {seed}: once");
                assert!(writes[before], "seed {seed}: a false confirmation");
                confirmed += 1;
            }
            let _ = master.request(1, &read_three()).await;
        }
        late += master.figures().units[&1].late;
    }
    assert!(confirmed >= 100, "{confirmed} confirmed");
    assert!(late >= 200, "{late} late");
}

/// A unit that has become slow is found again by its late replies, and waited for.
#[tokio::test(start_paused = true)]
async fn a_unit_that_is_late_each_time_is_given_the_time_it_needs() {
    let (mut master, _peer) = line(|_, frame| vec![Emit::after(450, obey(frame, 1))]);
    let mut answered = 0;
    for _ in 0..20 {
        answered += usize::from(master.request(1, &read_three()).await.is_ok());
    }
    assert!(answered >= 17, "{answered} of 20");
}

/// What is too late for any time-out makes no time-out longer: the others would wait in vain.
#[tokio::test(start_paused = true)]
async fn a_reply_that_cannot_be_waited_for_is_not_waited_for() {
    let (mut master, _peer) = line(|number, frame| {
        let after = if number % 4 == 1 { 900 } else { 5 };
        vec![Emit::after(after, obey(frame, 1))]
    });
    for _ in 0..60 {
        let began = Instant::now();
        let _ = master.request(1, &read_three()).await;
        assert!(began.elapsed() <= ms(250), "{:?}", began.elapsed());
        tokio::time::sleep(ms(1_000)).await;
    }
    assert!(master.figures().units[&1].late > 10);
}

/// The late reply of one unit comes in the middle of another one's.
#[tokio::test(start_paused = true)]
async fn another_unit_goes_on_beside_a_late_one() {
    let (mut master, _peer) = line(|_, frame| {
        let after = if frame[0] == 1 { 700 } else { 20 };
        vec![Emit::after(after, obey(frame, u16::from(frame[0])))]
    });
    let result = master.request(1, &read_three()).await;
    assert!(matches!(result, Err(RtuError::NoAnswer { .. })));
    let began = Instant::now();
    while began.elapsed() < ms(1_000) {
        let result = master.request(2, &read_three()).await;
        assert_eq!(result, Ok(Reply::Points(vec![2; 3])));
    }
    assert_eq!(master.figures().units[&1].late, 1);
}

/// A request whose future is dropped half way leaves nothing that the next one could take.
#[tokio::test(start_paused = true)]
async fn what_a_dropped_request_asked_for_is_nobodys_answer() {
    let (mut master, peer) = line(|number, frame| {
        let word = u16::try_from(number).unwrap();
        vec![Emit::after(30, obey(frame, word))]
    });
    for _ in 0..200 {
        let half = timeout(ms(10), master.request(1, &read_three())).await;
        assert!(half.is_err());
        let result = master.request(1, &read_three()).await;
        let number = u16::try_from(peer.requests().len() - 1).unwrap();
        assert_eq!(result, Ok(Reply::Points(vec![number; 3])));
    }
}

/// A controller that starts anew says nothing for 3 s. It is asked all the while, each time for
/// something that it does not owe, and is found when it is back; not when what it owes is forgotten.
#[tokio::test(start_paused = true)]
async fn a_unit_that_was_silent_for_3_s_is_found_when_it_is_back() {
    let began = Instant::now();
    let (mut master, _peer) = line(move |_, frame| {
        let is_silent = (ms(1_000)..ms(4_000)).contains(&began.elapsed());
        if is_silent {
            Vec::new()
        } else {
            vec![Emit::after(5, obey(frame, 1))]
        }
    });
    let twelve = read(Table::Holding, 0, 12);
    let mut found = None;
    while found.is_none() && began.elapsed() < ms(10_000) {
        let result = master.request(1, &twelve).await;
        found = (result.is_ok() && began.elapsed() > ms(4_000)).then(|| began.elapsed());
        tokio::time::sleep(ms(200)).await;
    }
    assert!(found.is_some_and(|at| at < ms(4_500)), "{found:?}");
}
