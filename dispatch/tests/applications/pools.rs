//! Pools (R-REG): capacity, quotas, what a full pool does, figures.

use dispatch::{OperatorAction, OperatorAnswer, PoolConfig, PoolView, Quota, WhenFull};
use protocol::client::{Acquire, Ask, ClaimReason, ClaimState, Label};
use protocol::ride::ReplyResult;
use protocol::{AlarmCode, Code};

use crate::claims::{acquire, body, by, labelled, of, pool, told, used, wish};
use crate::office::Office;

fn quota(label: Label, value: Option<&str>, limit: u64) -> Quota {
    Quota {
        label,
        value: value.map(|value| value.parse().expect("an id")),
        limit,
    }
}

fn view(office: &mut Office, pool: &str) -> PoolView {
    let show = OperatorAction::PoolShow(pool.parse().expect("an id"));
    match office.operate(show) {
        Ok(OperatorAnswer::Pools(views)) => views[0].clone(),
        other => panic!("{other:?}"),
    }
}

fn set_capacity(office: &mut Office, pool: &str, capacity: u64) {
    let pool = pool.parse().expect("an id");
    let set = OperatorAction::PoolCapacity { pool, capacity };
    assert!(office.operate(set).is_ok());
}

/// AT-REG-04, R-REG-003, R-REG-004: a room of four; ten robots a tenant; a hundred in all.
#[test]
fn the_next_one_is_refused() {
    let tenants = PoolConfig {
        quotas: vec![quota(Label::Tenant, None, 10)],
        ..pool("robots", 100, &[])
    };
    let mut office = Office::new(of(vec![pool("room", 4, &[]), tenants]));
    for n in 0..4 {
        let reply = office.ask("app", Some(&format!("R-{n}")), acquire("room", None, "P"));
        assert_eq!(reply.result, ReplyResult::Accepted);
    }
    let reply = office.ask("app", Some("R-5"), acquire("room", None, "P"));
    assert_eq!(reply.code, Some(Code::CapacityFull));
    let tenant = |name: &str| labelled("robots", "U", &[(Label::Tenant, name)]);
    for n in 0..10 {
        let reply = office.ask("app", Some(&format!("A-{n}")), tenant("acme"));
        assert_eq!(reply.result, ReplyResult::Accepted);
    }
    let reply = office.ask("app", Some("A-11"), tenant("acme"));
    assert_eq!(reply.code, Some(Code::QuotaExceeded));
    let detail = reply.detail.expect("a detail");
    assert!(
        detail.contains("labels.tenant acme") && detail.contains("10"),
        "{detail}"
    );
    let reply = office.ask("app", Some("B-1"), tenant("other"));
    assert_eq!(
        reply.result,
        ReplyResult::Accepted,
        "another tenant still gets one"
    );
    let mut given = 11;
    for n in 0..200 {
        let ask = acquire("robots", Some(&format!("X{n}")), "U");
        given += u64::from(
            office
                .ask("app", Some(&format!("G-{n}")), ask)
                .code
                .is_none(),
        );
    }
    assert_eq!((given, used(&office, "robots")), (100, 100));
}

/// AT-REG-13, T-REG-19: every level holds at once; what one level refuses leaves all counts as
/// they are.
#[test]
fn all_quotas_or_nothing() {
    let levels = PoolConfig {
        quotas: vec![
            quota(Label::User, None, 2),
            quota(Label::Department, Some("D1"), 3),
            quota(Label::Project, None, 4),
            quota(Label::Line, Some("L9"), 0),
        ],
        ..pool("nodes", 5, &[])
    };
    let mut office = Office::new(of(vec![levels]));
    let ask = |user: &str, department: &str, project: &str| {
        let labels = [
            (Label::User, user),
            (Label::Department, department),
            (Label::Project, project),
        ];
        labelled("nodes", user, &labels)
    };
    let counts = |office: &Office| {
        let claims = &office.core.state().claims;
        let pool = "nodes".parse().expect("an id");
        let count = |label, value: &str| claims.count(&pool, label, &value.parse().expect("an id"));
        (
            claims.used(&pool),
            count(Label::User, "U1"),
            count(Label::Department, "D1"),
            count(Label::Project, "P1"),
        )
    };
    let first = office.ask("app", Some("T-1"), ask("U1", "D1", "P1"));
    office.ask("app", Some("T-2"), ask("U1", "D1", "P1"));
    assert_eq!(counts(&office), (2, 2, 2, 2));
    let mut refused = |n: &str, user: &str, department: &str, project: &str| {
        let before = counts(&office);
        let reply = office.ask("app", Some(n), ask(user, department, project));
        assert_eq!(reply.code, Some(Code::QuotaExceeded), "{n}");
        assert_eq!(counts(&office), before, "{n}");
    };
    refused("T-3", "U1", "D2", "P2");
    let reply = office.ask("app", Some("T-4"), ask("U2", "D1", "P1"));
    assert_eq!(reply.result, ReplyResult::Accepted);
    let mut refused = |n: &str, user: &str, department: &str, project: &str| {
        let before = counts(&office);
        let reply = office.ask("app", Some(n), ask(user, department, project));
        assert_eq!(reply.code, Some(Code::QuotaExceeded), "{n}");
        assert_eq!(counts(&office), before, "{n}");
    };
    refused("T-5", "U3", "D1", "P2");
    let reply = office.ask("app", Some("T-6"), ask("U3", "D2", "P1"));
    assert_eq!(reply.result, ReplyResult::Accepted);
    let reply = office.ask("app", Some("T-7"), ask("U4", "D2", "P1"));
    assert_eq!(reply.code, Some(Code::QuotaExceeded), "the fifth of P1");
    let reply = office.ask(
        "app",
        Some("T-8"),
        labelled("nodes", "U", &[(Label::Line, "L9")]),
    );
    assert_eq!(reply.code, Some(Code::QuotaExceeded), "a limit of 0");
    office.ask("app", Some("T-9"), acquire("nodes", None, "U"));
    let reply = office.ask("app", Some("T-10"), acquire("nodes", None, "U"));
    assert_eq!(reply.code, Some(Code::CapacityFull), "the pool itself");
    office.ask("app", Some("R-1"), Ask::ClaimRelease(by(&first, "U1")));
    assert_eq!(counts(&office), (4, 1, 2, 3));
    office.snapshot();
    office.restart(1, false);
    assert_eq!(
        counts(&office),
        (4, 1, 2, 3),
        "counted anew from what is kept"
    );
}

/// AT-REG-10, T-REG-16: capacity is changed while it runs; nobody is evicted.
#[test]
fn capacity_changes_and_evicts_nobody() {
    let mut office = Office::new(of(vec![pool("seats", 5, &[])]));
    let held: Vec<_> = (0..4)
        .map(|n| office.ask("app", Some(&format!("T-{n}")), acquire("seats", None, "U")))
        .collect();
    set_capacity(&mut office, "seats", 2);
    assert_eq!(used(&office, "seats"), 4);
    let seen = view(&mut office, "seats");
    assert_eq!(
        (seen.used, seen.capacity),
        (4, 2),
        "over its limit, and shown so"
    );
    for (n, reply) in held.iter().enumerate().take(3) {
        let refused = office.ask("app", Some(&format!("N-{n}")), acquire("seats", None, "U"));
        let code = refused.code;
        assert_eq!(
            code,
            Some(Code::CapacityFull),
            "{} are taken",
            used(&office, "seats")
        );
        let release = Ask::ClaimRelease(by(reply, "U"));
        office.ask("app", Some(&format!("R-{n}")), release);
    }
    let reply = office.ask("app", Some("N-4"), acquire("seats", None, "U"));
    assert_eq!(
        (reply.result, used(&office, "seats")),
        (ReplyResult::Accepted, 2)
    );
    set_capacity(&mut office, "seats", 3);
    office.restart(1_000, false);
    let reply = office.ask("app", Some("N-5"), acquire("seats", None, "U"));
    assert_eq!(
        reply.result,
        ReplyResult::Accepted,
        "raised, over a restart too"
    );
    assert_eq!(
        office
            .ask("app", Some("N-6"), acquire("seats", None, "U"))
            .code,
        Some(Code::CapacityFull)
    );
}

/// R-REG-059: a full pool lets one wait, in order, for as long as was asked.
#[test]
fn who_waits_is_served_in_order() {
    let waiting = PoolConfig {
        when_full: WhenFull::Wait,
        ..pool("seats", 1, &[])
    };
    let mut office = Office::new(of(vec![waiting]));
    let wait = |wait_s| {
        Ask::ClaimAcquire(Acquire {
            wait_s,
            ..wish("seats", None, "U")
        })
    };
    let held = office.ask("app", Some("T-0"), acquire("seats", None, "U"));
    assert_eq!(
        office.ask("app", Some("N-0"), wait(Some(0))).code,
        Some(Code::CapacityFull)
    );
    let first = office.ask("app", Some("T-1"), wait(Some(100)));
    let second = office.ask("app", Some("T-2"), wait(None));
    let third = office.ask("app", Some("T-3"), wait(Some(5)));
    assert_eq!(body(&first).state, Some(ClaimState::Waiting));
    assert_eq!(body(&first).queue_position, Some(1));
    assert_eq!(body(&third).queue_position, Some(3));
    assert_eq!(body(&third).resource_id, None);
    office.run(4_999);
    assert!(told(&office, &third).is_none());
    office.run(1);
    let view = told(&office, &third).expect("its wait has ended");
    assert_eq!(view.state, ClaimState::Expired);
    assert_eq!(
        view.reason.expect("a reason").code,
        ClaimReason::CapacityFull
    );

    office.ask("app", Some("R-0"), Ask::ClaimRelease(by(&held, "U")));
    let view = told(&office, &first).expect("it has its place");
    assert_eq!(
        (view.state, view.resource_id.is_some()),
        (ClaimState::Ready, true)
    );
    assert_eq!(view.expires_in_s.map(|left| left.ms), Some(30_000));
    let again = office.ask("app", Some("T-1"), wait(Some(100)));
    assert_eq!(
        body(&again).state,
        Some(ClaimState::Waiting),
        "the first answer, for ever"
    );
    office.restart(1_000, false);
    assert!(told(&office, &first).is_some());
    set_capacity(&mut office, "seats", 2);
    assert_eq!(
        told(&office, &second).expect("its place").state,
        ClaimState::Ready
    );
    // One that waits may give up.
    let fourth = office.ask("app", Some("T-4"), wait(None));
    let reply = office.ask("app", Some("R-4"), Ask::ClaimRelease(by(&fourth, "U")));
    assert_eq!(body(&reply).state, Some(ClaimState::Released));
    assert_eq!(view_of_waiting(&office), 0);
}

fn view_of_waiting(office: &Office) -> usize {
    office
        .core
        .state()
        .claims
        .waiting(&"seats".parse().expect("an id"))
}

/// R-REG-059: a full pool is served by a spare one, within the spare one's own limits.
#[test]
fn a_spare_pool_serves_what_is_too_much() {
    let first = PoolConfig {
        when_full: WhenFull::Spare("slow".parse().expect("an id")),
        ..pool("fast", 1, &["F1"])
    };
    let mut office = Office::new(of(vec![first, pool("slow", 1, &["S1"])]));
    let resources: Vec<_> = (0..3)
        .map(|n| office.ask("app", Some(&format!("T-{n}")), acquire("fast", None, "U")))
        .collect();
    let names: Vec<_> = resources
        .iter()
        .map(|reply| body(reply).resource_id)
        .collect();
    assert_eq!(names[0].as_ref().map(|id| id.as_str()), Some("F1"));
    assert_eq!(names[1].as_ref().map(|id| id.as_str()), Some("S1"));
    assert_eq!(resources[2].code, Some(Code::CapacityFull));
    assert_eq!((used(&office, "fast"), used(&office, "slow")), (1, 1));
    office.ask(
        "app",
        Some("R-1"),
        Ask::ClaimRelease(by(&resources[1], "U")),
    );
    assert_eq!(used(&office, "slow"), 0);
}

/// AT-REG-12: four of five places for a minute are told; refusals are counted by code.
#[test]
fn a_pool_that_stays_nearly_full_is_told() {
    let mut office = Office::new(of(vec![pool("seats", 5, &[])]));
    for n in 0..3 {
        office.ask(
            "app",
            Some(&format!("T-{n}")),
            acquire("seats", Some(&format!("S{n}")), "U"),
        );
    }
    office.run(1_000);
    let reply = office.ask("app", Some("T-3"), acquire("seats", None, "U"));
    let beat = |office: &mut Office| {
        for n in 0..4 {
            let claim = office.replies[n].clone();
            office.ask("app", None, Ask::ClaimHeartbeat(by(&claim, "U")));
        }
    };
    for _ in 0..3 {
        office.run(19_900);
        beat(&mut office);
    }
    assert!(
        office.standing(AlarmCode::CapacityHigh).is_none(),
        "not for a minute yet"
    );
    office.run(300);
    let alarm = office.standing(AlarmCode::CapacityHigh).expect("told");
    assert!(alarm.detail.contains("seats"), "{}", alarm.detail);
    office.ask("app", Some("R-1"), Ask::ClaimRelease(by(&reply, "U")));
    assert!(
        office.standing(AlarmCode::CapacityHigh).is_none(),
        "60 % are taken"
    );
    office.ask("app", Some("N-1"), acquire("seats", Some("S1"), "U"));
    office.ask("app", Some("N-2"), acquire("nowhere", None, "U"));
    let seen = view(&mut office, "seats");
    assert_eq!(seen.failures.get(&Code::ResourceTaken), Some(&1));
    assert_eq!((seen.used, seen.claims.len()), (3, 3));
}

/// AT-REG-14, T-REG-03: what is not known leaves nothing behind.
#[test]
fn unknown_resources_leave_nothing_behind() {
    let mut office = Office::new(of(vec![pool("robots", 3, &["R001"])]));
    let before = office.core.state().clone();
    for n in 0..20_000 {
        let ask = acquire("robots", Some(&format!("X{n}")), "U");
        let reply = office.ask("app", Some(&format!("T-{n}")), ask);
        assert_eq!(reply.code, Some(Code::NotEligible));
    }
    assert_eq!(office.core.state(), &before);
    assert!(office.facts.is_empty());
}
