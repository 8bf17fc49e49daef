//! Turns (R-TURN).

use std::collections::BTreeSet;

use dispatch::{Applications, CivilZone, OperatorAction, OperatorAnswer, TurnView};
use protocol::client::{Ask, ClientReply, ReplyBody, TakeTurn, TurnBody};
use protocol::{Code, Timestamp};

use crate::office::{Office, WALL_MS};

/// Departments D1 and D2, where clocks are 8 hours ahead of UTC.
fn departments() -> Applications {
    Applications {
        departments: BTreeSet::from(["D1", "D2"].map(|id| id.parse().expect("an id"))),
        zone: CivilZone {
            offsets: vec![(Timestamp(0), 8 * 3_600)],
        },
        ..Applications::default()
    }
}

fn take(department: &str) -> Ask {
    Ask::TurnTake(TakeTurn {
        department: department.parse().expect("an id"),
        user_id: "U1".parse().expect("an id"),
    })
}

fn call(department: &str) -> Ask {
    Ask::TurnCall {
        department: department.parse().expect("an id"),
        desk_id: "desk-1".parse().expect("an id"),
    }
}

fn turn(reply: &ClientReply) -> TurnBody {
    match &reply.body {
        ReplyBody::Turn(body) => body.clone(),
        _ => panic!("{reply:?}"),
    }
}

fn day_and_number(reply: &ClientReply) -> (String, u64) {
    let body = turn(reply);
    (
        body.date.expect("a date").to_string(),
        body.number.expect("a number"),
    )
}

fn view(office: &mut Office, department: &str) -> TurnView {
    let show = OperatorAction::TurnShow(department.parse().expect("an id"));
    match office.operate(show) {
        Ok(OperatorAnswer::Turns(views)) => views[0].clone(),
        other => panic!("{other:?}"),
    }
}

/// AT-TURN-06: at midnight of the zone numbers begin at 1 again, who still waits is expired, and a
/// request of that moment belongs to one day.
#[test]
fn a_day_ends_at_midnight_of_the_zone() {
    let mut office = Office::new(departments());
    // 2026-11-30T10:00:00Z is 18:00 there: six hours to midnight.
    let left_ms = 6 * 3_600_000;
    for n in 1..=3 {
        let reply = office.ask("app", Some(&format!("T-{n}")), take("D1"));
        assert_eq!(day_and_number(&reply), ("2026-11-30".to_owned(), n));
    }
    office.ask("app", Some("T-4"), take("D2"));
    office.ask("app", Some("C-1"), call("D1"));
    office.run(left_ms - 1);
    assert_eq!(office.wall(), Timestamp(WALL_MS + left_ms - 1));
    let reply = office.ask("app", Some("T-5"), take("D1"));
    assert_eq!(day_and_number(&reply), ("2026-11-30".to_owned(), 4));
    assert_eq!(view(&mut office, "D1").waiting, 3);

    office.run(1);
    let seen = view(&mut office, "D1");
    assert_eq!(
        (seen.waiting, seen.expired, seen.issued),
        (0, 3, 0),
        "at midnight, by itself"
    );
    let reply = office.ask("app", Some("C-2"), call("D1"));
    assert_eq!(
        reply.code,
        Some(Code::NoTurnWaiting),
        "yesterday's are not carried over"
    );
    let reply = office.ask("app", Some("T-6"), take("D1"));
    assert_eq!(day_and_number(&reply), ("2026-12-01".to_owned(), 1));
    let reply = office.ask("app", Some("T-7"), take("D2"));
    assert_eq!(day_and_number(&reply), ("2026-12-01".to_owned(), 1));
    // The same order is the same ticket, of its day.
    let reply = office.ask("app", Some("T-5"), take("D1"));
    assert_eq!(day_and_number(&reply), ("2026-11-30".to_owned(), 4));
    office.restart(1_000, false);
    let reply = office.ask("app", Some("T-8"), take("D1"));
    assert_eq!(day_and_number(&reply), ("2026-12-01".to_owned(), 2));
}

/// A gateway that was off over midnight ends the day when it starts.
#[test]
fn a_day_that_ended_meanwhile_is_over() {
    let mut office = Office::new(departments());
    office.ask("app", Some("T-1"), take("D1"));
    office.restart(24 * 3_600_000, false);
    let seen = view(&mut office, "D1");
    assert_eq!((seen.waiting, seen.expired), (0, 1));
}

/// A clock that is set back gives no number twice: the day stays.
#[test]
fn a_day_does_not_come_back() {
    let mut office = Office::new(departments());
    office.ahead_ms = 24 * 3_600_000;
    let reply = office.ask("app", Some("T-1"), take("D1"));
    assert_eq!(day_and_number(&reply), ("2026-12-01".to_owned(), 1));
    office.ahead_ms = 0;
    let reply = office.ask("app", Some("T-2"), take("D1"));
    assert_eq!(day_and_number(&reply), ("2026-12-01".to_owned(), 2));
}

/// R-TURN-027: in the order of issue; `ahead` counts who waits before.
#[test]
fn tickets_are_called_in_the_order_of_issue() {
    let mut office = Office::new(departments());
    for n in 0..5 {
        let reply = office.ask("app", Some(&format!("T-{n}")), take("D1"));
        assert_eq!(turn(&reply).ahead, Some(n));
    }
    office.snapshot();
    for n in 1..=5 {
        let reply = office.ask("app", Some(&format!("C-{n}")), call("D1"));
        assert_eq!(turn(&reply).number, Some(n));
        office.restart(1, false);
        let reply = office.ask("app", Some(&format!("C-{n}")), call("D1"));
        assert_eq!(turn(&reply).number, Some(n), "the same order twice");
    }
    let reply = office.ask("app", Some("C-6"), call("D1"));
    assert_eq!(reply.code, Some(Code::NoTurnWaiting));
    let reply = office.ask("app", Some("C-7"), call("D3"));
    assert_eq!(reply.code, Some(Code::UnknownDepartment));
    assert!(
        office.core.state().turns.len() <= 2,
        "nothing is made for what is not known"
    );
}
