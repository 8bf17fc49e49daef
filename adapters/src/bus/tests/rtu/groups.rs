//! Points that are read less often than the rest of their elevator.

use super::*;

/// Signals beside the limit switches once a second, lamps every two; the rest ten times a second.
fn grouped() -> String {
    MAP.replace("poll_ms = 50", "poll_ms = 100")
        + r#"
[signals]
fault = { point = "discrete", address = 5 }
poll_ms = 1000
[front.lamps]
hall_up = { point = "holding", address = 10, bit = 0 }
hall_down = { point = "holding", address = 11, bit = 0 }
car = { point = "holding", address = 12, bit = 0 }
poll_ms = 2000
"#
}

/// A read: function, address, count.
fn reads(requests: &[Vec<u8>]) -> Vec<[u8; 3]> {
    let of = |frame: &Vec<u8>| [frame[1], frame[3], frame[5]];
    requests.iter().map(of).collect()
}

const SWITCHES: [u8; 3] = [2, 0, 4];
const FLOOR: [u8; 3] = [4, 0, 1];
const SWITCHES_AND_FAULT: [u8; 3] = [2, 0, 6];
const LAMPS: [u8; 3] = [3, 10, 3];

#[tokio::test(start_paused = true)]
async fn each_group_of_points_is_read_as_often_as_the_map_says() {
    let units = vec![unit(1, &grouped())];
    let mut rig = rig(units, 0, Box::new(|_, frame| well(frame)));
    let mut reports = Vec::new();
    let end = Instant::now() + Duration::from_millis(20_500);
    while Instant::now() < end {
        rig.line.ready().await;
        rig.line.read(&mut reports).await;
    }
    let asked = reads(&rig.requests());
    let count = |wanted| asked.iter().filter(|read| **read == wanted).count();
    // One more of each: an elevator that has come back is read as a whole twice.
    assert!((195..=206).contains(&count(FLOOR)), "{asked:?}");
    assert!((19..=22).contains(&count(SWITCHES_AND_FAULT)), "{asked:?}");
    assert!((10..=12).contains(&count(LAMPS)), "{asked:?}");
    // The last reading may still be under way.
    let begun = count(SWITCHES) + count(SWITCHES_AND_FAULT);
    assert!((0..=1).contains(&(begun - count(FLOOR))), "{asked:?}");
    assert_eq!(asked.len(), begun + count(FLOOR) + count(LAMPS));
    let readings = readings(&reports, 1);
    assert!(readings.len().abs_diff(count(FLOOR)) <= 1);
    // The first floor, no call and no fault: also in the readings between.
    let is_whole = |reading: &Reading| reading.floor.is_some() && reading.calls == Some(vec![]);
    assert!(readings.iter().all(|(reading, _)| is_whole(reading)));
}

/// Law 6: a reading is as old as its oldest point. The clock ticks once with each reading.
#[tokio::test(start_paused = true)]
async fn a_reading_was_asked_for_when_its_oldest_point_was() {
    let units = vec![unit(1, &grouped())];
    let mut rig = rig(units, 0, Box::new(|_, frame| well(frame)));
    let enough = |reports: &[DriverReport]| readings(reports, 1).len() == 24;
    let reports = run_until(&mut rig.line, enough).await;
    let times: Vec<u64> = readings(&reports, 1).iter().map(|(_, at)| *at).collect();
    // Two whole readings, then those with the lamps of the second, until the lamps are due.
    assert_eq!(times[..2], [1_000, 1_001]);
    let old = times[2..].iter().take_while(|at| **at == 1_001).count();
    assert!((18..=20).contains(&old), "{times:?}");
    // When the lamps are read again, the fault signal is the oldest.
    assert!(
        times[2 + old] > 1_001 && times[2 + old] < 1_022,
        "{times:?}"
    );
}

/// What a command does shows in the next reading: it is a whole one, as that of a query is.
#[tokio::test(start_paused = true)]
async fn behind_a_command_all_is_read() {
    let units = vec![unit(1, &grouped())];
    let mut rig = rig(units, 0, Box::new(|_, frame| well(frame)));
    let enough = |reports: &[DriverReport]| readings(reports, 1).len() == 4;
    run_until(&mut rig.line, enough).await;
    let whole = [SWITCHES_AND_FAULT, FLOOR, LAMPS];
    for action in [Action::OpenDoor { landing: at("1F") }, Action::Query] {
        let before = rig.requests().len();
        let is_query = action == Action::Query;
        let (outcome, mut reports) = execute(&mut rig.line, command(1, action)).await;
        if is_query {
            assert_eq!(outcome, Outcome::Done);
        } else {
            assert_eq!(outcome, Outcome::Accepted);
            reports = run_until(&mut rig.line, |reports| has_reading(reports, 1)).await;
        }
        let requests = rig.requests();
        let asked = reads(&requests[before + usize::from(!is_query)..]);
        assert_eq!(asked, whole);
        assert_eq!(readings(&reports, 1).len(), 1);
    }
}

/// A command waits for one read at most, also where several groups are due.
#[tokio::test(start_paused = true)]
async fn a_command_goes_between_the_reads_of_two_groups() {
    let units = vec![unit(1, &grouped())];
    let mut rig = rig(units, 0, Box::new(|_, frame| well(frame)));
    let mut reports = Vec::new();
    // Opens the line, then reads the first block of a whole reading.
    while rig.requests().is_empty() {
        rig.line.ready().await;
        rig.line.read(&mut reports).await;
    }
    let (outcome, _) = execute(&mut rig.line, open_door_of(1)).await;
    assert_eq!(outcome, Outcome::Accepted);
    let functions: Vec<u8> = rig.requests().iter().map(|frame| frame[1]).collect();
    // One read shows only once that the line has no echo; one more is asked for.
    assert_eq!(functions, [2, 2, 5]);
}
