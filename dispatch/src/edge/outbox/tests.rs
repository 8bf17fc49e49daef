use super::*;

const WINDOW: usize = 3;

fn outbox() -> Outbox<&'static str> {
    Outbox::new(8, WINDOW)
}

fn ride(robot: &str) -> Keep {
    Keep::Newest(Subject::Ride(RobotId::new(robot).unwrap()))
}

fn command(elevator: &str, fence: u64, until_ms: u64) -> Keep {
    let elevator = ElevatorId::new(elevator).unwrap();
    Keep::Command {
        elevator,
        fence: Fence(fence),
        until_ms,
    }
}

/// All that comes next, a dropped one with a `-` before it.
fn drain(outbox: &mut Outbox<&'static str>, now_ms: u64) -> Vec<(Option<u64>, &'static str)> {
    let mut came = Vec::new();
    while let Some(next) = outbox.next(now_ms) {
        came.push(match next {
            Next::Send { id, message, .. } => (Some(id), *message),
            Next::Dropped(message) => (None, message),
        });
    }
    came
}

fn sent(outbox: &mut Outbox<&'static str>, now_ms: u64) -> Vec<&'static str> {
    let came = drain(outbox, now_ms);
    assert!(came.iter().all(|(id, _)| id.is_some()), "{came:?}");
    came.into_iter().map(|(_, message)| message).collect()
}

#[test]
fn a_message_leaves_at_puback_and_order_is_kept() {
    let mut outbox = outbox();
    outbox.opened();
    for message in ["a", "b", "c", "d"] {
        outbox.push(0, Keep::Until(1000), message).unwrap();
    }
    assert_eq!(sent(&mut outbox, 0), ["a", "b", "c"], "the window");
    assert_eq!(outbox.len(), 4);
    assert!(outbox.acked(1));
    assert!(!outbox.acked(1));
    assert_eq!(outbox.len(), 3);
    assert_eq!(sent(&mut outbox, 0), ["d"]);
    for id in [0, 2, 3] {
        assert!(outbox.acked(id));
    }
    assert!(outbox.is_empty());
}

#[test]
fn with_the_link_open_no_state_is_skipped() {
    let mut outbox = outbox();
    outbox.opened();
    for message in ["seq 1", "seq 2", "seq 3"] {
        outbox.push(0, ride("R1"), message).unwrap();
    }
    assert_eq!(sent(&mut outbox, 0), ["seq 1", "seq 2", "seq 3"]);
}

#[test]
fn after_an_outage_only_the_newest_state_of_each_subject_is_sent() {
    let mut outbox = outbox();
    outbox.opened();
    outbox.push(0, ride("R1"), "R1 seq 1").unwrap();
    outbox.push(0, ride("R2"), "R2 seq 1").unwrap();
    outbox.push(0, ride("R1"), "R1 seq 2").unwrap();
    assert_eq!(sent(&mut outbox, 0).len(), 3);
    assert!(outbox.acked(1));
    outbox.closed();
    assert!(!outbox.acked(2), "an acknowledgement of the old connection");
    assert_eq!(drain(&mut outbox, 10), [(None, "R1 seq 1")]);
    outbox.push(10, ride("R1"), "R1 seq 3").unwrap();
    outbox.push(10, ride("R3"), "R3 seq 1").unwrap();
    outbox.push(10, ride("R1"), "R1 seq 4").unwrap();
    assert_eq!(
        drain(&mut outbox, 10),
        [(None, "R1 seq 2"), (None, "R1 seq 3")]
    );
    outbox.opened();
    assert_eq!(sent(&mut outbox, 20), ["R3 seq 1", "R1 seq 4"]);
}

#[test]
fn after_an_outage_what_was_in_flight_is_sent_again_at_its_place() {
    let mut outbox = outbox();
    outbox.opened();
    for message in ["a", "b", "c", "d"] {
        outbox.push(0, Keep::Until(1000), message).unwrap();
    }
    assert_eq!(sent(&mut outbox, 0), ["a", "b", "c"]);
    assert!(outbox.acked(0));
    outbox.closed();
    assert_eq!(drain(&mut outbox, 0), []);
    outbox.opened();
    assert_eq!(
        drain(&mut outbox, 0),
        [(Some(1), "b"), (Some(2), "c"), (Some(3), "d")]
    );
}

#[test]
fn a_command_is_sent_while_it_is_young_and_dropped_after() {
    for (now_ms, expected) in [(4999, Some(0)), (5000, None), (60_000, None)] {
        let mut outbox = outbox();
        outbox
            .push(0, command("EL001", 1, 5000), "hall_call")
            .unwrap();
        outbox.opened();
        assert_eq!(
            drain(&mut outbox, now_ms),
            [(expected, "hall_call")],
            "at {now_ms} ms"
        );
    }
}

#[test]
fn a_command_is_not_sent_again_after_a_higher_fence() {
    let mut outbox = outbox();
    outbox.opened();
    outbox
        .push(0, command("EL001", 7, 5000), "old hall_call")
        .unwrap();
    outbox
        .push(0, command("EL002", 7, 5000), "other elevator")
        .unwrap();
    assert_eq!(sent(&mut outbox, 0).len(), 2);
    outbox.closed();
    outbox
        .push(10, command("EL001", 8, 5010), "new hall_call")
        .unwrap();
    outbox.opened();
    let expected = [
        (None, "old hall_call"),
        (Some(1), "other elevator"),
        (Some(2), "new hall_call"),
    ];
    assert_eq!(drain(&mut outbox, 20), expected);
}

#[test]
fn what_expires_during_an_outage_does_not_fill_the_outbox() {
    let mut outbox = outbox();
    for n in 0..20_u64 {
        outbox
            .push(n * 10, Keep::Until(n * 10 + 50), "reply")
            .unwrap();
        drain(&mut outbox, n * 10);
        assert!(outbox.len() <= 6, "{}", outbox.len());
    }
}

/// What is said in an outage: whom it is about, and when it was said.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Said {
    State(u64),
    Reply,
    Query,
    Command,
}

#[test]
fn after_an_hours_outage_the_newest_states_and_the_last_minutes_replies_are_sent() {
    const HOUR_MS: u64 = 3_600_000;
    const ROBOTS: u64 = 200;
    let mut outbox = Outbox::new(65_536, 100);
    let mut longest = 0;
    for now_ms in (0..HOUR_MS).step_by(100) {
        let robot = now_ms / 100 % ROBOTS;
        let state = (ride(&format!("R{robot}")), Said::State(robot));
        let reply = (Keep::Until(now_ms + REPLY_KEPT_MS), Said::Reply);
        let query = (Keep::Until(now_ms + 5_000), Said::Query);
        let fence = now_ms / 1_000;
        let order = (command("EL001", fence, now_ms + 5_000), Said::Command);
        for (keep, said) in [state, reply, query, order] {
            outbox.push(now_ms, keep, (said, now_ms)).unwrap();
            while outbox.next(now_ms).is_some() {}
        }
        longest = longest.max(outbox.len());
    }
    // 600 replies of a minute, 50 queries of 5 s, a second's commands of one fence, the states.
    assert!(longest <= 600 + 50 + 10 + 200, "{longest}");

    outbox.opened();
    let mut sent = Vec::new();
    while let Some(next) = outbox.next(HOUR_MS) {
        let Next::Send { id, message, .. } = next else {
            continue;
        };
        sent.push(message.clone());
        outbox.acked(id);
    }
    assert!(outbox.is_empty());
    let of = |wanted: fn(&Said) -> bool| -> Vec<u64> {
        let found = sent.iter().filter(|(said, _)| wanted(said));
        found.map(|(_, at_ms)| *at_ms).collect()
    };
    // The last said about each of the robots is 20 s old at most: each once, and that one.
    let newest: Vec<u64> = (HOUR_MS - 20_000..HOUR_MS).step_by(100).collect();
    assert_eq!(of(|said| matches!(said, Said::State(_))), newest);
    let replies = of(|said| *said == Said::Reply);
    assert_eq!((replies[0], replies.len()), (HOUR_MS - 59_900, 599));
    let queries = of(|said| *said == Said::Query);
    assert_eq!((queries[0], queries.len()), (HOUR_MS - 4_900, 49));
    // Of the last fence only.
    assert_eq!(of(|said| *said == Said::Command)[0], HOUR_MS - 1_000);
}

#[test]
#[allow(
    clippy::disallowed_methods,
    reason = "how long it takes is the thing under test"
)]
fn a_message_in_an_outage_costs_the_same_however_many_wait() {
    let mut outbox = Outbox::new(65_536, 100);
    let robot = |n: u64| ride(&format!("R{}", n % 1_000));
    for n in 0..60_000_u64 {
        outbox.push(n, Keep::Until(REPLY_KEPT_MS + n), n).unwrap();
    }
    let begun = std::time::Instant::now();
    for n in 0..20_000_u64 {
        outbox.push(n, robot(n), n).unwrap();
        while outbox.next(n).is_some() {}
    }
    // A look at all that wait takes a tenth of a millisecond and more, 20,000 of them 2 s.
    let took = begun.elapsed();
    assert!(took < std::time::Duration::from_secs(1), "{took:?}");
    assert_eq!(outbox.len(), 61_000);
}

#[test]
fn it_says_how_long_a_message_waited() {
    let mut outbox = outbox();
    outbox.push(100, Keep::Until(9000), "reply").unwrap();
    outbox.opened();
    let Some(Next::Send { waited_ms, .. }) = outbox.next(3100) else {
        panic!("nothing to send")
    };
    assert_eq!(waited_ms, 3000);
}

#[test]
fn it_is_bounded_and_gives_the_message_back() {
    let mut outbox = outbox();
    for n in 0..8 {
        assert!(outbox.push(0, Keep::Until(n), "x").is_ok());
    }
    let full = outbox.push(0, Keep::Until(9), "y").unwrap_err();
    assert_eq!((full.item, full.capacity), ("y", 8));
}

#[test]
fn each_message_of_the_wire_has_its_rule() {
    use protocol::hardware::Command;
    use protocol::ops::{Alarm, Severity};
    use protocol::{AlarmCode, CommandId, Timestamp};

    let robot = RobotId::new("R1").unwrap();
    assert_eq!(
        Keep::of(&Outgoing::RideStateCleared { robot }, 7),
        ride("R1")
    );

    let elevator = ElevatorId::new("EL001").unwrap();
    let outgoing = |action| {
        Outgoing::ElevatorCommand(protocol::elevator::ElevatorCommand {
            command: Command {
                elevator_id: elevator.clone(),
                command_id: CommandId::new("c").unwrap(),
                fence: Fence(3),
                order_id: None,
                action,
                expires_in_ms: 5000,
            },
            expires_at: Timestamp(0),
        })
    };
    assert_eq!(
        Keep::of(&outgoing(Action::Release), 7),
        command("EL001", 3, 5007)
    );
    assert_eq!(Keep::of(&outgoing(Action::Query), 7), Keep::Until(5007));

    let alarm = Outgoing::Alarm(Alarm {
        alarm_id: "a-1".to_owned(),
        severity: Severity::Warning,
        code: AlarmCode::DiskLow,
        elevator_id: None,
        order_id: None,
        raised_at: Timestamp(0),
        cleared_at: None,
        detail: String::new(),
    });
    assert_eq!(
        Keep::of(&alarm, 0),
        Keep::Newest(Subject::Alarm("a-1".to_owned()))
    );
    assert_eq!(
        Keep::of(&Outgoing::Alarms(Vec::new()), 0),
        Keep::Newest(Subject::Alarms)
    );
}
