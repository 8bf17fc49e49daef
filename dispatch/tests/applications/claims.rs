//! Claims (R-REG): who gets a resource, and who loses it.

use std::collections::BTreeMap;

use dispatch::{Applications, ClaimRow, OperatorAction, OperatorAnswer, PoolConfig, ResourceClass};
use dispatch::{Note, WhenFull};
use protocol::client::{
    Acquire, Ask, ByApprover, ByOwner, ClaimBody, ClaimReason, ClaimState, ClaimView, ClientReply,
    Label, ReplyBody,
};
use protocol::ride::ReplyResult;
use protocol::{AlarmCode, Code, Outgoing};

use crate::office::Office;

pub(crate) fn pool(id: &str, capacity: u64, resources: &[&str]) -> PoolConfig {
    PoolConfig {
        id: id.parse().expect("an id"),
        capacity,
        resources: resources
            .iter()
            .map(|id| id.parse().expect("an id"))
            .collect(),
        any_id: resources.is_empty(),
        class: ResourceClass::Logical,
        when_full: WhenFull::Refuse,
        approval: false,
        heartbeat_ms: 30_000,
        init_ms: 10_000,
        quotas: Vec::new(),
    }
}

pub(crate) fn of(pools: Vec<PoolConfig>) -> Applications {
    Applications {
        pools: pools
            .into_iter()
            .map(|pool| (pool.id.clone(), pool))
            .collect(),
        ..Applications::default()
    }
}

pub(crate) fn wish(pool: &str, resource: Option<&str>, owner: &str) -> Acquire {
    Acquire {
        pool: pool.parse().expect("an id"),
        resource_id: resource.map(|id| id.parse().expect("an id")),
        owner_id: owner.parse().expect("an id"),
        labels: BTreeMap::new(),
        lease_s: None,
        wait_s: None,
        init: false,
    }
}

pub(crate) fn acquire(pool: &str, resource: Option<&str>, owner: &str) -> Ask {
    Ask::ClaimAcquire(wish(pool, resource, owner))
}

pub(crate) fn labelled(pool: &str, owner: &str, labels: &[(Label, &str)]) -> Ask {
    let labels = labels
        .iter()
        .map(|(label, value)| (*label, value.parse().expect("an id")));
    Ask::ClaimAcquire(Acquire {
        labels: labels.collect(),
        ..wish(pool, None, owner)
    })
}

pub(crate) fn body(reply: &ClientReply) -> ClaimBody {
    match &reply.body {
        ReplyBody::Claim(body) => body.clone(),
        _ => panic!("{reply:?}"),
    }
}

pub(crate) fn by(reply: &ClientReply, owner: &str) -> ByOwner {
    ByOwner {
        claim_id: body(reply).claim_id.expect("a claim"),
        owner_id: owner.parse().expect("an id"),
    }
}

pub(crate) fn approver(reply: &ClientReply) -> ByApprover {
    ByApprover {
        claim_id: body(reply).claim_id.expect("a claim"),
        approver_id: "boss".parse().expect("an id"),
    }
}

pub(crate) fn used(office: &Office, pool: &str) -> u64 {
    office
        .core
        .state()
        .claims
        .used(&pool.parse().expect("an id"))
}

/// The last `claim.state` of the claim of a reply.
pub(crate) fn told(office: &Office, reply: &ClientReply) -> Option<ClaimView> {
    let claim = body(reply).claim_id.expect("a claim");
    office.said.iter().rev().find_map(|message| match message {
        Outgoing::ClaimState { view, .. } if view.claim_id == claim => Some(view.as_ref().clone()),
        _ => None,
    })
}

fn history(office: &mut Office) -> Vec<ClaimRow> {
    match office.operate(OperatorAction::ClaimHistory) {
        Ok(OperatorAnswer::Claims(rows)) => rows,
        other => panic!("{other:?}"),
    }
}

const FOUR: &[&str] = &["R001", "R002", "R003", "R004"];

/// AT-REG-02: eight requests for four robots of a pool of three, in 1,000 orders: always three
/// get one, three find theirs taken, two find the pool full.
#[test]
fn eight_requests_in_any_order() {
    for seed in 0..1_000_u64 {
        let mut order: Vec<usize> = (0..8).collect();
        let mut dice = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        for at in (1..8).rev() {
            dice ^= dice << 13;
            dice ^= dice >> 7;
            dice ^= dice << 17;
            order.swap(at, usize::try_from(dice % (at as u64 + 1)).expect("small"));
        }
        let mut office = Office::new(of(vec![pool("robots", 3, FOUR)]));
        let mut codes: BTreeMap<Option<Code>, usize> = BTreeMap::new();
        for n in order {
            let user = format!("U{}", n % 4 + 1);
            let ask = acquire("robots", Some(FOUR[n % 4]), &user);
            let reply = office.ask("app", Some(&format!("T-{n}")), ask);
            *codes.entry(reply.code).or_default() += 1;
        }
        let expected = BTreeMap::from([
            (None, 3),
            (Some(Code::ResourceTaken), 3),
            (Some(Code::CapacityFull), 2),
        ]);
        assert_eq!(
            (codes, used(&office, "robots")),
            (expected, 3),
            "seed {seed}"
        );
    }
}

/// AT-REG-03, AT-REG-05, AT-REG-06: one order is one claim; a robot is acquired and released 100
/// times; what repeats an earlier release frees nothing.
#[test]
fn a_late_release_frees_nothing() {
    let mut office = Office::new(of(vec![pool("robots", 3, FOUR)]));
    let mut firsts = Vec::new();
    for n in 0..100 {
        let order = format!("A-{n}");
        let reply = office.ask("app", Some(&order), acquire("robots", Some("R001"), "U1"));
        assert_eq!((reply.result, reply.code), (ReplyResult::Accepted, None));
        for _ in 0..4 {
            let again = office.ask("app", Some(&order), acquire("robots", Some("R001"), "U1"));
            assert_eq!(again.result, ReplyResult::Duplicate);
            assert_eq!(again.body, reply.body);
        }
        assert_eq!(used(&office, "robots"), 1);
        let release = Ask::ClaimRelease(by(&reply, "U1"));
        let released = office.ask("app", Some(&format!("R-{n}")), release.clone());
        assert_eq!(body(&released).state, Some(ClaimState::Released));
        firsts.push((reply, release));
    }
    let rows = history(&mut office);
    assert_eq!(rows.len(), 100);
    assert!(
        rows.iter()
            .all(|row| row.status == 0 && row.release_time.is_some())
    );
    let claims: std::collections::BTreeSet<_> = rows.iter().map(|row| &row.claim_id).collect();
    assert_eq!(claims.len(), 100, "each acquisition has its own id");

    let now = office.ask("app", Some("A-now"), acquire("robots", Some("R001"), "U1"));
    let (first, release) = &firsts[0];
    let again = office.ask("app", Some("R-0"), release.clone());
    assert_eq!(
        again.result,
        ReplyResult::Duplicate,
        "the same order: the first answer"
    );
    let again = office.ask("app", Some("R-other"), release.clone());
    assert_eq!(
        again.result,
        ReplyResult::Duplicate,
        "released by its owner before"
    );
    let beat = office.ask("app", None, Ask::ClaimHeartbeat(by(first, "U1")));
    assert_eq!(beat.code, Some(Code::ClaimExpired));
    assert_eq!(used(&office, "robots"), 1, "the present holder has it");
    let stranger = office.ask("app", Some("X-1"), Ask::ClaimRelease(by(&now, "U2")));
    assert_eq!(stranger.code, Some(Code::NotOwner));
    let never = ByOwner {
        claim_id: "c0-9999".parse().expect("an id"),
        owner_id: "U1".parse().expect("an id"),
    };
    let reply = office.ask("app", Some("X-2"), Ask::ClaimRelease(never));
    assert_eq!(reply.code, Some(Code::UnknownClaim));
    assert_eq!(used(&office, "robots"), 1);
}

/// AT-REG-07: who is silent loses a logical resource after its lease, at the next sweep: not
/// before 30 s, not after 95 s. Who beats every 10 s never does.
#[test]
fn silence_ends_a_lease_at_the_next_sweep() {
    for late in 0..6 {
        let mut office = Office::new(of(vec![pool("robots", 3, FOUR)]));
        office.run(late * 10_000);
        let silent = office.ask("app", Some("T-1"), acquire("robots", Some("R001"), "U1"));
        let lively = office.ask("app", Some("T-2"), acquire("robots", Some("R002"), "U2"));
        assert_eq!(body(&silent).expires_in_s.map(|left| left.ms), Some(30_000));
        let begin = office.now_ms;
        let mut free_after = None;
        for _ in 0..60 {
            office.run(10_000);
            let beat = office.ask("app", None, Ask::ClaimHeartbeat(by(&lively, "U2")));
            assert_eq!(beat.result, ReplyResult::Accepted);
            assert_eq!(body(&beat).expires_in_s.map(|left| left.ms), Some(30_000));
            if free_after.is_none() && used(&office, "robots") == 1 {
                free_after = Some(office.now_ms - begin);
            }
        }
        let free_after = free_after.expect("it was freed");
        assert!((30_000..=95_000).contains(&free_after), "{free_after} ms");
        let view = told(&office, &silent).expect("it was told");
        assert_eq!(view.state, ClaimState::Expired);
        assert_eq!(view.reason.expect("a reason").code, ClaimReason::LeaseEnded);
        for (order, ask) in [
            (None, Ask::ClaimHeartbeat(by(&silent, "U1"))),
            (Some("T-9"), Ask::ClaimRelease(by(&silent, "U1"))),
        ] {
            let reply = office.ask("app", order, ask);
            assert_eq!(
                reply.code,
                Some(Code::ClaimExpired),
                "the old holder is refused"
            );
        }
        let row = history(&mut office).pop().expect("a row");
        assert_eq!(
            row.last_heartbeat, row.occupy_time,
            "T-REG-13: never heard is heard then"
        );
    }
}

/// While the gateway cannot hear anybody leases stand still, and they begin anew when it starts.
#[test]
fn leases_stand_still_while_nobody_can_be_heard() {
    let mut office = Office::new(of(vec![pool("robots", 3, FOUR)]));
    let reply = office.ask("app", Some("T-1"), acquire("robots", Some("R001"), "U1"));
    office.run(20_000);
    office.step(dispatch::Input::Broker { up: false });
    office.run(600_000);
    office.step(dispatch::Input::Broker { up: true });
    assert_eq!(used(&office, "robots"), 1);
    let beat = office.ask("app", None, Ask::ClaimHeartbeat(by(&reply, "U1")));
    assert_eq!(beat.result, ReplyResult::Accepted);
    office.restart(3_600_000, false);
    office.run(29_000);
    assert_eq!(
        used(&office, "robots"),
        1,
        "a lease begins anew with the gateway"
    );
    office.run(65_000);
    assert_eq!(used(&office, "robots"), 0);
}

/// A sweep that cleans up ten is told, and the count of each sweep is in the log.
#[test]
fn a_sweep_of_many_is_told() {
    let mut office = Office::new(of(vec![pool("seats", 1_000, &[])]));
    for n in 0..250 {
        office.ask("app", Some(&format!("T-{n}")), acquire("seats", None, "U1"));
    }
    let mut cleaned = Vec::new();
    for _ in 0..95 {
        office.now_ms += 1_000;
        for effect in office.step(dispatch::Input::Tick) {
            if let dispatch::Effect::Note(Note::Cleaned { count }) = effect {
                cleaned.push(count);
            }
        }
    }
    assert_eq!((cleaned, used(&office, "seats")), (vec![250], 0));
    assert!(office.standing(AlarmCode::CleanupHigh).is_some());
    office.run(60_000);
    assert!(
        office.standing(AlarmCode::CleanupHigh).is_none(),
        "the next one had nothing"
    );
}

/// AT-REG-09: a resource that is not initialised, or not in time, is free again, exactly once.
#[test]
fn initialising_has_an_end() {
    let mut office = Office::new(of(vec![pool("robots", 1, &["R001"])]));
    let init = || {
        Ask::ClaimAcquire(Acquire {
            init: true,
            ..wish("robots", Some("R001"), "U1")
        })
    };
    let reply = office.ask("app", Some("T-1"), init());
    assert_eq!(body(&reply).state, Some(ClaimState::Initialising));
    assert_eq!(body(&reply).expires_in_s.map(|left| left.ms), Some(10_000));
    let second = office.ask("app", Some("T-2"), init());
    assert_eq!(second.code, Some(Code::ResourceTaken), "one initialises");
    let failed = office.ask("app", Some("F-1"), Ask::ClaimFailed(by(&reply, "U1")));
    assert_eq!(failed.result, ReplyResult::Accepted);
    assert_eq!(used(&office, "robots"), 0);

    let reply = office.ask("app", Some("T-3"), init());
    office.run(9_999);
    assert_eq!(used(&office, "robots"), 1);
    office.run(1);
    assert_eq!(used(&office, "robots"), 0, "at its deadline");
    let view = told(&office, &reply).expect("it was told");
    assert_eq!(
        (view.state, view.reason.expect("a reason").code),
        (ClaimState::Expired, ClaimReason::InitTimeout)
    );
    let late = office.ask("app", Some("Y-3"), Ask::ClaimReady(by(&reply, "U1")));
    assert_eq!(late.code, Some(Code::ClaimExpired));

    let reply = office.ask("app", Some("T-4"), init());
    office.restart(1_000, false);
    office.run(9_000);
    let ready = office.ask("app", Some("Y-4"), Ask::ClaimReady(by(&reply, "U1")));
    assert_eq!(
        body(&ready).state,
        Some(ClaimState::Ready),
        "the deadline begins with the gateway"
    );
    let ready = office.ask("app", Some("Y-5"), Ask::ClaimReady(by(&reply, "U1")));
    assert_eq!(ready.result, ReplyResult::Duplicate);
    office.run(20_000);
    assert_eq!(
        used(&office, "robots"),
        1,
        "from then on it lives by heartbeats"
    );
}

/// T-X-05: a physical resource whose holder is gone is nobody's until it was seen stopped.
#[test]
fn a_physical_resource_goes_into_quarantine() {
    let physical = PoolConfig {
        class: ResourceClass::Physical,
        ..pool("carts", 2, &["C1", "C2"])
    };
    let mut office = Office::new(of(vec![physical]));
    let first = office.ask("app", Some("T-1"), acquire("carts", Some("C1"), "U1"));
    let second = office.ask("app", Some("T-2"), acquire("carts", Some("C2"), "U2"));
    office.ask("app", Some("R-2"), Ask::ClaimRelease(by(&second, "U2")));
    assert_eq!(used(&office, "carts"), 1, "its own holder gives it back");
    office.run(95_000);
    let view = told(&office, &first).expect("it was told");
    assert_eq!(view.state, ClaimState::Quarantine);
    assert_eq!(used(&office, "carts"), 1);
    assert!(office.standing(AlarmCode::Quarantined).is_some());
    for (order, ask) in [
        (None, Ask::ClaimHeartbeat(by(&first, "U1"))),
        (Some("R-1"), Ask::ClaimRelease(by(&first, "U1"))),
    ] {
        assert_eq!(office.ask("app", order, ask).code, Some(Code::ClaimExpired));
    }
    let reply = office.ask("app", Some("T-3"), acquire("carts", Some("C1"), "U1"));
    assert_eq!(reply.code, Some(Code::ResourceTaken));
    office.restart(1_000, false);
    office.run(600_000);
    assert_eq!(used(&office, "carts"), 1, "no time frees it");
    let stopped = |resource: &str| OperatorAction::ClaimStopped {
        pool: "carts".parse().expect("an id"),
        resource: resource.parse().expect("an id"),
    };
    let held = office.ask("app", Some("T-4"), acquire("carts", Some("C2"), "U2"));
    assert!(
        office.operate(stopped("C2")).is_err(),
        "it is held, not in quarantine"
    );
    assert!(office.operate(stopped("C1")).is_ok());
    assert!(office.operate(stopped("C1")).is_err(), "it is free");
    assert!(office.standing(AlarmCode::Quarantined).is_none());
    let reply = office.ask("app", Some("T-5"), acquire("carts", Some("C1"), "U3"));
    assert_eq!(reply.result, ReplyResult::Accepted);
    assert_eq!(body(&held).state, Some(ClaimState::Ready));
}

/// R-REG-058: a claim waits for its approver, with its resource kept for it.
#[test]
fn an_approver_decides() {
    let approved = PoolConfig {
        approval: true,
        ..pool("labs", 2, &["L1", "L2"])
    };
    let mut office = Office::new(of(vec![approved]));
    let first = office.ask("app", Some("T-1"), acquire("labs", None, "U1"));
    assert_eq!(body(&first).state, Some(ClaimState::PendingApproval));
    let second = office.ask("app", Some("T-2"), acquire("labs", None, "U2"));
    let third = office.ask("app", Some("T-3"), acquire("labs", None, "U3"));
    assert_eq!(third.code, Some(Code::CapacityFull));
    let ready = office.ask("app", Some("Y-1"), Ask::ClaimReady(by(&first, "U1")));
    assert_eq!(ready.code, Some(Code::WrongState));
    let yes = office.ask("boss", Some("B-1"), Ask::ClaimApprove(approver(&first)));
    assert_eq!(body(&yes).state, Some(ClaimState::Ready));
    assert_eq!(
        told(&office, &first).expect("it was told").state,
        ClaimState::Ready
    );
    let no = office.ask("boss", Some("B-2"), Ask::ClaimRefuse(approver(&second)));
    assert_eq!(body(&no).state, Some(ClaimState::Refused));
    let view = told(&office, &second).expect("it was told");
    assert_eq!(
        view.reason.expect("a reason").code,
        ClaimReason::RefusedByApprover
    );
    let late = office.ask("boss", Some("B-3"), Ask::ClaimApprove(approver(&second)));
    assert_eq!(late.code, Some(Code::ClaimExpired));
    let twice = office.ask("boss", Some("B-4"), Ask::ClaimRefuse(approver(&first)));
    assert_eq!(twice.code, Some(Code::WrongState));
    assert_eq!(used(&office, "labs"), 1);
}
