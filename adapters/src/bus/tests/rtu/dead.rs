//! T-LIFT-40: units that are dead and come back, beside others that are well.

use std::sync::atomic::AtomicBool;

use super::*;

/// T-LIFT-40, AT-LIFT-20: of eight units one is dead. A command to another one takes longer by at
/// most one time-out, and no longer than that behind a poll.
#[tokio::test(start_paused = true)]
async fn a_dead_unit_costs_the_others_at_most_one_time_out() {
    let alive = [1, 2, 3, 4, 6, 7, 8];
    let mut all_well = rig(eight(), 0, Box::new(|_, frame| well(frame)));
    let took = ride(&mut all_well, 120, 137, &alive).await;
    let worst = took.iter().map(|(_, took)| *took).max().unwrap();
    // One poll of 4 inputs under way, 14 + 2 characters, then the write's own 16: 2 x 16 characters,
    // 4 silences, 2 x 5 ms, and what the clock's whole milliseconds add.
    assert!(worst <= Duration::from_millis(18 + 8 + 10 + 8), "{worst:?}");
    assert!(took.len() > 700, "{}", took.len());

    let dead = |_: usize, frame: &[u8]| {
        if frame[0] == 5 {
            Vec::new()
        } else {
            well(frame)
        }
    };
    let mut one_dead = rig(eight(), 0, Box::new(dead));
    let took = ride(&mut one_dead, 120, 137, &alive).await;
    let time_out = Duration::from_millis(200) + RtuTiming::serial(BAUD).floor(8, 7);
    let with_dead = took.iter().map(|(_, took)| *took).max().unwrap();
    assert!(
        with_dead <= worst + time_out,
        "{with_dead:?} after {worst:?}"
    );
    // It was asked again all the while, at a growing distance.
    let asked = one_dead
        .requests()
        .iter()
        .filter(|frame| frame[0] == 5)
        .count();
    assert!((40..100).contains(&asked), "{asked}");
}

/// A relay board of the first elevator that dies while one of its buttons is pressed.
fn with_board(is_dead: &Arc<AtomicBool>) -> Rig {
    // A line with time to spare: on a full one a press would wait for its turn anyway.
    let map = MAP.replace("poll_ms = 50", "poll_ms = 500");
    let mut units: Vec<_> = (1..=8).map(|number| unit(number, &map)).collect();
    units[0].relay_unit = Some(11);
    let dead = Arc::clone(is_dead);
    let script = move |_: usize, frame: &[u8]| {
        if frame[0] == 11 && dead.load(Ordering::Relaxed) {
            Vec::new()
        } else {
            well(frame)
        }
    };
    rig(units, 0, Box::new(script))
}

/// T-LIFT-40: a dead relay board with buttons that are still pressed is asked ever more seldom, and
/// they are let go when the board is back.
#[tokio::test(start_paused = true)]
async fn a_dead_relay_board_costs_the_others_at_most_one_time_out() {
    let others = [2, 3, 4, 5, 6, 7, 8];
    let is_dead = Arc::new(AtomicBool::new(false));
    let mut all_well = with_board(&is_dead);
    let took = ride(&mut all_well, 120, 137, &others).await;
    let worst = took.iter().map(|(_, took)| *took).max().unwrap();

    let mut rig = with_board(&is_dead);
    let mut reports = run_until(&mut rig.line, |reports| has_reading(reports, 1)).await;
    for label in ["2F", "3F", "4F", "5F", "6F", "7F", "8F"] {
        let call = command(1, Action::CarCall { landing: at(label) });
        assert_eq!(execute(&mut rig.line, call).await.0, Outcome::Accepted);
    }
    is_dead.store(true, Ordering::Relaxed);
    let asked_board = |rig: &Rig| {
        let requests = rig.requests();
        requests.iter().filter(|frame| frame[0] == 11).count()
    };
    let before = asked_board(&rig);
    let took = ride(&mut rig, 120, 137, &others).await;
    let asked = asked_board(&rig) - before;
    // Of 120 s at a distance of up to 3 s, and of half of that at least; whatever is pressed.
    assert!((40..85).contains(&asked), "{asked}");
    let with_dead = took.iter().map(|(_, took)| *took).max().unwrap();
    let time_out = Duration::from_millis(200) + RtuTiming::serial(BAUD).floor(8, 8);
    assert!(with_dead <= worst + time_out, "{with_dead:?}, {worst:?}");

    is_dead.store(false, Ordering::Relaxed);
    let back = Instant::now();
    let is_off = |frame: &Vec<u8>| frame[..4] == [11, 5, 0, 39] && frame[4] == 0;
    while !rig.requests().iter().rev().take(3).any(is_off) {
        rig.line.ready().await;
        rig.line.read(&mut reports).await;
        assert!(back.elapsed() < Duration::from_millis(3_800));
    }
    // What is read is another unit, and it never went away.
    assert!(!reports.contains(&link(1, false)));
}

/// A unit that is back is read within the 3 s of the longest rest, long before the 10 s of `silent_s`.
#[tokio::test(start_paused = true)]
async fn a_unit_that_is_back_is_read_within_3_s() {
    let is_dead = Arc::new(AtomicBool::new(true));
    let dead = Arc::clone(&is_dead);
    let script = move |_: usize, frame: &[u8]| {
        if frame[0] == 5 && dead.load(Ordering::Relaxed) {
            Vec::new()
        } else {
            well(frame)
        }
    };
    let mut rig = rig(eight(), 0, Box::new(script));
    for minutes in 1..=5 {
        is_dead.store(true, Ordering::Relaxed);
        let end = Instant::now() + Duration::from_secs(60 * minutes);
        let mut reports = Vec::new();
        while Instant::now() < end {
            rig.line.ready().await;
            rig.line.read(&mut reports).await;
        }
        assert!(!has_reading(&reports[reports.len() / 2..], 5));
        is_dead.store(false, Ordering::Relaxed);
        run_until(&mut rig.line, |reports| has_reading(reports, 5)).await;
        let took = end.elapsed();
        assert!(took < Duration::from_millis(3_500), "{took:?}");
    }
}
