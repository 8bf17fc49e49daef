//! Devices that are places of a pool too: one at a time has each, by a rental or by a claim, and
//! what a claim lost is given again only after its word that it stands (R-REG-046, T-REG-14).

use std::collections::{BTreeMap, BTreeSet};

use dispatch::{
    Applications, Input, OperatorAction, PoolConfig, RentalConfig, ResourceClass, WhenFull,
};
use protocol::client::{
    Acquire, Ask, ByOwner, ClaimReason, ClaimState, ClientReply, Labels, ReplyBody, StartRental,
};
use protocol::device::{DeviceAction, DeviceEvent, DeviceEventKind, DeviceWord};
use protocol::ride::ReplyResult;
use protocol::{AlarmCode, ClaimId, Code, DeviceId, Outgoing, ResourceId};

use crate::office::Office;

const ID: &str = "DEV_001";

/// A pool of the vehicles DEV_001 and DEV_002, which may be rented too.
fn yard(when_full: WhenFull) -> (Office, u64) {
    let ids = [ID, "DEV_002"];
    let devices: BTreeSet<DeviceId> = ids.iter().map(|id| id.parse().expect("an id")).collect();
    let resources: BTreeSet<ResourceId> = ids.iter().map(|id| id.parse().expect("an id")).collect();
    let pool = PoolConfig {
        id: "vehicles".parse().expect("an id"),
        capacity: 2,
        resources,
        any_id: false,
        class: ResourceClass::Physical,
        when_full,
        approval: false,
        heartbeat_ms: 30_000,
        init_ms: 10_000,
        quotas: Vec::new(),
    };
    let mut office = Office::new(Applications {
        pools: BTreeMap::from([(pool.id.clone(), pool)]),
        rentals: RentalConfig {
            devices,
            ..RentalConfig::default()
        },
        ..Applications::default()
    });
    // Each is asked how it stands.
    office.run(1_000);
    office.devices.clear();
    (office, 0)
}

fn say(office: &mut Office, seq: &mut u64, word: DeviceWord) {
    *seq += 1;
    let event = DeviceEvent {
        message_id: "d-1".parse().expect("an id"),
        timestamp: office.wall(),
        event: DeviceEventKind::State,
        boot_id: "b1".parse().expect("an id"),
        seq: *seq,
        command_id: None,
        order_id: None,
        device_state: Some(word),
    };
    let device = ID.parse().expect("an id");
    office.step(Input::Device { device, event });
}

fn acquire(resource: Option<&str>) -> Ask {
    Ask::ClaimAcquire(Acquire {
        pool: "vehicles".parse().expect("an id"),
        resource_id: resource.map(|id| id.parse().expect("an id")),
        owner_id: "U1".parse().expect("an id"),
        labels: Labels::new(),
        lease_s: None,
        wait_s: None,
        init: false,
    })
}

fn start(device: &str, user: &str) -> Ask {
    Ask::RentalStart(StartRental {
        device_id: device.parse().expect("an id"),
        user_id: user.parse().expect("an id"),
        rental_id: None,
        token: None,
    })
}

fn claim(reply: &ClientReply) -> (ClaimId, Option<ClaimState>) {
    assert_eq!(reply.result, ReplyResult::Accepted, "{reply:?}");
    match &reply.body {
        ReplyBody::Claim(body) => (body.claim_id.clone().expect("an id"), body.state),
        other => panic!("no claim: {other:?}"),
    }
}

/// What was told of a claim last: its state and the reason.
fn told(office: &Office, id: &ClaimId) -> Option<(ClaimState, Option<ClaimReason>)> {
    let view = office.said.iter().rev().find_map(|said| match said {
        Outgoing::ClaimState { view, .. } if view.claim_id == *id => Some(view),
        _ => None,
    })?;
    Some((view.state, view.reason.as_ref().map(|why| why.code)))
}

/// What DEV_001 was told since it was asked for last.
fn told_device(office: &mut Office) -> Vec<DeviceAction> {
    let told = std::mem::take(&mut office.devices);
    let ours = told.into_iter().filter(|one| one.device_id.as_str() == ID);
    ours.map(|one| one.command).collect()
}

/// A vehicle whose holder is gone is told to stop, and is somebody's again after its word only.
#[test]
fn a_vehicle_that_runs_without_its_holder_is_stopped_before_it_is_given_again() {
    let (mut office, mut seq) = yard(WhenFull::Refuse);
    let (id, state) = claim(&office.ask("app", Some("T-1"), acquire(Some(ID))));
    assert_eq!(state, Some(ClaimState::Ready));
    say(&mut office, &mut seq, DeviceWord::Running);
    assert!(
        told_device(&mut office).is_empty(),
        "it runs for its holder"
    );
    assert!(office.standing(AlarmCode::DeviceFault).is_none());

    office.run(91_000);
    let why = Some(ClaimReason::LeaseEnded);
    assert_eq!(told(&office, &id), Some((ClaimState::Quarantine, why)));
    let asked = told_device(&mut office);
    assert!(!asked.is_empty() && asked.iter().all(|one| *one == DeviceAction::Query));
    say(&mut office, &mut seq, DeviceWord::Running);
    assert_eq!(told_device(&mut office), [DeviceAction::Stop]);
    for (order, ask) in [("T-2", acquire(Some(ID))), ("T-3", start(ID, "U2"))] {
        let code = office.ask("app", Some(order), ask).code;
        assert!([Some(Code::ResourceTaken), Some(Code::DeviceUnavailable)].contains(&code));
    }
    say(&mut office, &mut seq, DeviceWord::Stopped);
    let why = Some(ClaimReason::Stopped);
    assert_eq!(told(&office, &id), Some((ClaimState::Expired, why)));
    assert!(office.standing(AlarmCode::Quarantined).is_none());
    let (_, state) = claim(&office.ask("app", Some("T-4"), acquire(Some(ID))));
    assert_eq!(state, Some(ClaimState::Ready));
}

/// One that was away when its claim ended is asked again, each sweep, until it answers.
#[test]
fn a_vehicle_in_quarantine_is_asked_until_it_answers() {
    let (mut office, mut seq) = yard(WhenFull::Refuse);
    let (id, _) = claim(&office.ask("app", Some("T-1"), acquire(Some(ID))));
    office.run(91_000);
    for _ in 0..3 {
        assert!(told_device(&mut office).contains(&DeviceAction::Query));
        office.run(60_000);
    }
    assert_eq!(
        told(&office, &id).map(|(state, _)| state),
        Some(ClaimState::Quarantine)
    );
    say(&mut office, &mut seq, DeviceWord::Locked);
    assert_eq!(
        told(&office, &id).map(|(state, _)| state),
        Some(ClaimState::Expired)
    );
    told_device(&mut office);
    office.run(120_000);
    assert!(told_device(&mut office).is_empty(), "it is asked no longer");
}

/// Whoever has it, has it alone; the other way round too. Who waits gets it when it is free.
#[test]
fn one_has_a_vehicle_by_a_rental_or_by_a_claim() {
    let (mut office, mut seq) = yard(WhenFull::Wait);
    let reply = office.ask("app", Some("T-1"), start(ID, "U1"));
    assert_eq!(reply.result, ReplyResult::Accepted);
    let reply = office.ask("app", Some("T-2"), acquire(Some(ID)));
    assert_eq!(reply.code, Some(Code::ResourceTaken));
    // Any: the other one, then none is left and the next waits.
    let (other, state) = claim(&office.ask("app", Some("T-3"), acquire(None)));
    assert_eq!(state, Some(ClaimState::Ready));
    let (waits, state) = claim(&office.ask("app", Some("T-4"), acquire(None)));
    assert_eq!(state, Some(ClaimState::Waiting));
    let reply = office.ask("app", Some("T-5"), start("DEV_002", "U2"));
    assert_eq!(reply.code, Some(Code::DeviceUnavailable));

    say(&mut office, &mut seq, DeviceWord::Running);
    say(&mut office, &mut seq, DeviceWord::Stopped);
    assert_eq!(
        told(&office, &waits).map(|(state, _)| state),
        Some(ClaimState::Ready),
        "the rental ended"
    );
    let reply = office.ask("app", Some("T-6"), start(ID, "U2"));
    assert_eq!(reply.code, Some(Code::DeviceUnavailable));
    // Given back while it runs: it is asked, and stopped where nobody has it.
    say(&mut office, &mut seq, DeviceWord::Running);
    told_device(&mut office);
    let release = Ask::ClaimRelease(ByOwner {
        claim_id: waits,
        owner_id: "U1".parse().expect("an id"),
    });
    office.ask("app", Some("R-4"), release);
    office.run(10);
    assert_eq!(told_device(&mut office), [DeviceAction::Query]);
    say(&mut office, &mut seq, DeviceWord::Running);
    assert_eq!(told_device(&mut office), [DeviceAction::Stop]);
    // In maintenance it is nobody's.
    let device: DeviceId = "DEV_002".parse().expect("an id");
    let on = OperatorAction::DeviceMaintenance { device, on: true };
    assert!(office.operate(on).is_ok());
    let release = Ask::ClaimRelease(ByOwner {
        claim_id: other,
        owner_id: "U1".parse().expect("an id"),
    });
    office.ask("app", Some("R-3"), release);
    let (_, state) = claim(&office.ask("app", Some("T-7"), acquire(None)));
    assert_eq!(state, Some(ClaimState::Waiting));
}
