//! Commands that do not leave.

use super::*;

/// Law 3: the gate is asked when the line is silent at last, in the moment of the bytes.
#[tokio::test(start_paused = true)]
async fn the_gate_is_asked_immediately_before_the_bytes() {
    let silent = |number: usize, frame: &[u8]| {
        if number == 5 { Vec::new() } else { well(frame) }
    };
    let mut rig = rig(vec![unit(1, MAP)], 2, Box::new(silent));
    let mut reports = Vec::new();
    while rig.requests().len() < 6 {
        rig.line.ready().await;
        rig.line.read(&mut reports).await;
    }
    // Behind a lost reply the line has to be silent for as long as a reply may take.
    let peer = rig.peers.lock().unwrap().pop().unwrap();
    peer.shout(&[0xFF]).await;
    rig.peers.lock().unwrap().push(peer);
    let began = Instant::now();
    let mut asked = Vec::new();
    let mut gate = || {
        asked.push(Instant::now());
        Ok(())
    };
    let command = open_door_of(1);
    let outcome = rig.line.execute(&command, &mut gate, &mut reports).await;
    assert_eq!(outcome, Outcome::Accepted);
    let written = {
        let peers = rig.peers.lock().unwrap();
        let mut all = peers[0].requests().into_iter().zip(peers[0].times());
        all.find(|(frame, _)| frame[1] == 5).unwrap().1
    };
    assert_eq!(asked, [written]);
    assert!(written - began >= Duration::from_millis(100));
}

/// What the gate holds back does not leave, and that says nothing of the unit.
#[tokio::test(start_paused = true)]
async fn what_the_gate_holds_back_is_dropped() {
    let mut rig = rig(vec![unit(1, MAP)], 0, Box::new(|_, frame| well(frame)));
    let mut reports = run_until(&mut rig.line, |reports| has_reading(reports, 1)).await;
    let before = rig.requests().len();
    let detail = "too old".to_owned();
    for action in [
        Action::Query,
        Action::OpenDoor { landing: at("1F") },
        Action::CarCall { landing: at("2F") },
    ] {
        let command = command(1, action);
        let mut gate = || Err("too old".to_owned());
        let outcome = rig.line.execute(&command, &mut gate, &mut reports).await;
        let detail = detail.clone();
        assert_eq!(outcome, Outcome::Dropped { detail });
    }
    assert_eq!(rig.requests().len(), before);
    rig.line.finish().await;
    assert_eq!(rig.requests().len(), before, "no button was pressed");
    assert!(!reports.contains(&link(1, false)));
}

/// Of a command of several writes a part may have left; then nobody knows what it did.
#[tokio::test(start_paused = true)]
async fn a_command_that_is_held_back_half_way_is_unknown() {
    let map = MAP.to_owned() + "[commands.fence]\npoint = \"holding\"\naddress = 1\nwords = 2\n";
    let map = map + "order = \"low_first\"\n";
    let mut rig = rig(vec![unit(1, &map)], 0, Box::new(|_, frame| well(frame)));
    let mut asked = 0;
    let mut gate = || {
        asked += 1;
        if asked > 1 {
            Err("too old".to_owned())
        } else {
            Ok(())
        }
    };
    let command = open_door_of(1);
    let outcome = rig.line.execute(&command, &mut gate, &mut Vec::new()).await;
    let detail = "only a part of it was written: too old".to_owned();
    assert_eq!(outcome, Outcome::Unknown { detail });
    let writes = rig.requests();
    let writes: Vec<_> = writes.iter().filter(|frame| frame[1] >= 5).collect();
    assert_eq!(writes.len(), 1);
    assert_eq!(writes[0][1], 16);
}

/// Nothing was sent and nothing ever will be: that is no matter of not knowing.
#[tokio::test(start_paused = true)]
async fn what_cannot_be_asked_is_failed() {
    let broadcast = Unit {
        unit: 0,
        ..unit(1, MAP)
    };
    let mut rig = rig(vec![broadcast], 0, Box::new(|_, frame| well(frame)));
    let (outcome, _) = execute(&mut rig.line, open_door_of(1)).await;
    let detail = "unit 0: unit = 0: expected 1 to 255".to_owned();
    assert_eq!(outcome, Outcome::Failed { detail });
    assert!(rig.requests().is_empty());
}
