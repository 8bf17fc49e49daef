//! Series (R-SEQ).

use dispatch::{
    Applications, Fact, OperatorAction, OperatorAnswer, SeriesConfig, SeriesFact, State,
};
use protocol::client::{Ask, ClientReply, NextNumber, ReplyBody, VoidNumber};
use protocol::ride::ReplyResult;
use protocol::{AlarmCode, Code};

use crate::office::{Office, site};

fn series(id: &str, start: u64, step: u64, max: u64, switch: bool) -> SeriesConfig {
    SeriesConfig {
        id: id.parse().expect("an id"),
        max,
        start,
        step,
        switch,
    }
}

fn of(series: Vec<SeriesConfig>) -> Applications {
    Applications {
        series,
        ..Applications::default()
    }
}

fn next(series: &str) -> Ask {
    Ask::SeriesNext(NextNumber {
        series: series.parse().expect("an id"),
        device: "{}".to_owned(),
    })
}

fn id(reply: &ClientReply) -> Option<String> {
    let ReplyBody::Series(body) = &reply.body else {
        panic!("{reply:?}");
    };
    body.id.clone()
}

/// R-SEQ-036, R-SEQ-019: every multiple is there, the highest included.
#[test]
fn start_and_step() {
    let mut office = Office::new(of(vec![series("EVEN", 2, 2, 8, false)]));
    for (n, expected) in ["EVEN|2", "EVEN|4", "EVEN|6", "EVEN|8"]
        .into_iter()
        .enumerate()
    {
        let reply = office.ask("app", Some(&format!("T-{n}")), next("EVEN"));
        assert_eq!(id(&reply).as_deref(), Some(expected));
    }
    let reply = office.ask("app", Some("T-4"), next("EVEN"));
    assert_eq!(reply.code, Some(Code::SeriesExhausted));
    assert!(office.standing(AlarmCode::SeriesExhausted).is_some());
}

/// AT-SEQ-01: the order of numbers is the order of the facts, and a number and its answer are of
/// one step. T-SEQ-09: an order gets one number, over a snapshot and a restart too.
#[test]
fn numbers_are_in_the_order_in_which_they_are_kept() {
    let mut office = Office::new(of(vec![series("AA", 1, 1, 100, true)]));
    for n in 1..=20 {
        office.ask("app", Some(&format!("T-{n}")), next("AA"));
        if n == 9 {
            office.snapshot();
        }
    }
    let numbers: Vec<u64> = office
        .facts
        .iter()
        .filter_map(|fact| match fact {
            Fact::Series(SeriesFact::Given { number, .. }) => Some(*number),
            _ => None,
        })
        .collect();
    assert_eq!(numbers, (10..=20).collect::<Vec<u64>>());
    let rows = |office: &Office| {
        let keys = office.rows.keys();
        keys.filter(|key| key.starts_with(b"series/AA/")).count()
    };
    assert_eq!(rows(&office), 20, "a row bears each number");
    office.restart(1_000, false);
    let reply = office.ask("app", Some("T-7"), next("AA"));
    assert_eq!(
        (reply.result, id(&reply)),
        (ReplyResult::Duplicate, Some("AA|7".to_owned()))
    );
    let reply = office.ask("app", Some("T-21"), next("AA"));
    assert_eq!(id(&reply).as_deref(), Some("AA|21"));
}

/// AT-SEQ-08, T-SEQ-03: a row that is there already is not written over; the series stops, loudly,
/// until an operator has looked.
#[test]
fn a_row_that_exists_stops_the_series() {
    let mut office = Office::new(of(vec![series("AA", 1, 1, 100, true)]));
    for n in 1..=5 {
        office.ask("app", Some(&format!("T-{n}")), next("AA"));
    }
    // A backup of the state with the rows of today: the counter says 5 is next.
    let mut before: Vec<Fact> = office.facts.clone();
    let fifth = before
        .iter()
        .position(|fact| matches!(fact, Fact::Series(SeriesFact::Given { number: 5, .. })))
        .expect("the fifth");
    before.truncate(fifth);
    let mut ledger = dispatch::Ledger::default();
    for (key, row) in office
        .rows
        .iter()
        .filter(|(key, _)| key.starts_with(b"series/"))
    {
        ledger.load_row(key, row).expect("a row");
    }
    let state = State::load(None, ledger, &before).expect("a state");
    let mut office = Office::with(site(of(vec![series("AA", 1, 1, 100, true)])), state);
    for order in ["T-6", "T-7"] {
        let reply = office.ask("app", Some(order), next("AA"));
        assert_eq!(reply.code, Some(Code::Unavailable));
        let detail = reply.detail.expect("a detail");
        assert!(detail.contains("AA|5 exists"), "{detail}");
    }
    assert!(
        office
            .facts
            .iter()
            .any(|fact| matches!(fact, Fact::Series(SeriesFact::Stopped { .. })))
    );
    assert!(office.standing(AlarmCode::SeriesExhausted).is_some());
    let resume = |last| OperatorAction::SeriesResume {
        series: "AA".parse().expect("an id"),
        last,
    };
    assert!(office.operate(resume(Some(4))).is_err(), "AA|5 was given");
    assert!(office.operate(resume(None)).is_ok());
    let reply = office.ask("app", Some("T-8"), next("AA"));
    assert_eq!(id(&reply).as_deref(), Some("AA|6"));
    assert!(office.standing(AlarmCode::SeriesExhausted).is_none());
    assert!(office.operate(resume(None)).is_err(), "it is not stopped");
}

/// R-SEQ-034, T-SEQ-10: a void number is kept as such and never given again.
#[test]
fn a_void_number_stays() {
    let mut office = Office::new(of(vec![series("AA", 1, 2, 9, true)]));
    office.ask("app", Some("T-1"), next("AA"));
    office.ask("app", Some("T-2"), next("AA"));
    let void = |number| {
        Ask::SeriesVoid(VoidNumber {
            series: "AA".parse().expect("an id"),
            number,
            reason: "scrapped".to_owned(),
        })
    };
    for never in [0, 2, 5, u64::MAX] {
        let reply = office.ask("app", Some("V-0"), void(never));
        assert_eq!(reply.code, Some(Code::UnknownNumber), "{never}");
    }
    let reply = office.ask("app", Some("V-1"), void(3));
    assert_eq!(reply.result, ReplyResult::Accepted);
    let reply = office.ask("app", Some("V-2"), void(3));
    assert_eq!(reply.result, ReplyResult::Duplicate);
    office.restart(1_000, false);
    let reply = office.ask("app", Some("T-3"), next("AA"));
    assert_eq!(id(&reply).as_deref(), Some("AA|5"));
    let show = OperatorAction::SeriesShow("AA".parse().expect("an id"));
    let Ok(OperatorAnswer::Series(views)) = office.operate(show) else {
        panic!("a view");
    };
    assert_eq!(views[0].voided.len(), 1);
    assert_eq!(views[0].voided[0].0, 3);
}

/// wire.md section 3: an order id too old or too new to be known for sure is refused, and what is
/// not accepted leaves nothing behind. After the retention the id is free.
#[test]
fn an_order_is_known_for_the_retention() {
    let mut office = Office::new(of(vec![series("AA", 1, 1, 100, true)]));
    office.ask("app", Some("T-1"), next("AA"));
    office.ask("app", Some("T-2"), next("ZZ"));
    assert_eq!(office.core.state().ledger.len(), 1);
    office.run(6 * 86_400_000);
    let reply = office.ask("app", Some("T-1"), next("AA"));
    assert_eq!(reply.result, ReplyResult::Duplicate);
    office.run(2 * 86_400_000);
    assert_eq!(office.core.state().ledger.len(), 0);
    let rows: Vec<_> = office
        .rows
        .keys()
        .filter(|key| key.starts_with(b"answer/"))
        .collect();
    assert!(rows.is_empty(), "{rows:?}");
    let reply = office.ask("app", Some("T-1"), next("AA"));
    assert_eq!(id(&reply).as_deref(), Some("AA|2"), "a new order by then");
}

/// wire.md section 2: more than the site allows is answered and not done.
#[test]
fn too_many_messages_are_told_so() {
    let mut office = Office::with(
        site(of(vec![series("AA", 1, 1, 10_000, true)])),
        State::default(),
    );
    let mut results = Vec::new();
    for n in 0..600 {
        results.push(office.ask("app", Some(&format!("T-{n}")), next("AA")).code);
    }
    assert_eq!(results.iter().filter(|code| code.is_none()).count(), 500);
    assert!(
        results[500..]
            .iter()
            .all(|code| *code == Some(Code::RateLimited))
    );
    let reply = office.ask("other", Some("O-1"), next("AA"));
    assert_eq!(
        id(&reply).as_deref(),
        Some("AA|501"),
        "others are not held up"
    );
    office.run(1_000);
    let reply = office.ask("app", Some("T-599"), next("AA"));
    assert_eq!(reply.result, ReplyResult::Accepted);
}
