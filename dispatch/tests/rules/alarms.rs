//! Alarms (`wire.md` section 6): raised, repeated every 60 s with the same id, cleared.

use dispatch::{Input, OperatorAction, ResolveOutcome};
use protocol::AlarmCode;
use protocol::ops::{Alarm, Presence, Severity};
use protocol::robot::RobotEvent;

use crate::support::site::{elevator, one_car, order};
use crate::support::{Building, E1, R1, Situation, T1};

fn said(building: &Building, code: AlarmCode) -> Vec<(u64, Alarm)> {
    let same = |(_, alarm): &&(u64, Alarm)| alarm.code == code;
    building.alarms.iter().filter(same).cloned().collect()
}

fn open(building: &Building) -> Vec<AlarmCode> {
    building
        .open_alarms
        .iter()
        .map(|alarm| alarm.code)
        .collect()
}

#[test]
fn a_hold_is_an_alarm_until_it_ends() {
    let mut building = Situation::Target.building(Presence::None);
    assert!(open(&building).is_empty());
    building.event(R1, T1, RobotEvent::CancelExit);
    let first = said(&building, AlarmCode::ExitRefused);
    assert_eq!(first.len(), 1);
    let (raised_ms, alarm) = &first[0];
    assert_eq!(alarm.severity, Severity::Critical);
    assert_eq!(alarm.elevator_id.as_ref().map(|id| id.as_str()), Some(E1));
    assert_eq!(alarm.order_id.as_ref().map(|id| id.as_str()), Some(T1));
    assert_eq!(alarm.cleared_at, None);
    assert_eq!(open(&building), [AlarmCode::ExitRefused]);
    building.run(185_000);
    let all = said(&building, AlarmCode::ExitRefused);
    assert_eq!(all.len(), 4, "repeated every 60 s");
    for (count, (at, again)) in all.iter().enumerate() {
        assert_eq!(again.alarm_id, alarm.alarm_id, "the same id");
        assert_eq!(again.raised_at, alarm.raised_at);
        let due = raised_ms + 60_000 * u64::try_from(count).expect("small");
        assert!((due..due + 1_000).contains(at), "{at} is not near {due}");
    }
    building
        .operator(OperatorAction::ElevatorResolve {
            elevator: elevator(E1),
            order: order(T1),
            outcome: ResolveOutcome::Continue,
            car_seen_empty: false,
            force: false,
        })
        .expect("it goes on");
    let all = said(&building, AlarmCode::ExitRefused);
    let (_, last) = all.last().expect("cleared");
    assert!(last.cleared_at.is_some());
    assert_eq!(last.alarm_id, alarm.alarm_id);
    assert!(open(&building).is_empty());
    building.run(120_000);
    assert_eq!(
        said(&building, AlarmCode::ExitRefused).len(),
        5,
        "not said again"
    );
}

#[test]
fn a_block_is_an_alarm_until_the_reset() {
    let mut building = Situation::Exited.building(Presence::None);
    building.run(61_000);
    assert_eq!(open(&building), [AlarmCode::DoorFault]);
    building
        .operator(OperatorAction::ElevatorReset {
            elevator: elevator(E1),
            car_seen_empty: true,
            force: false,
        })
        .expect("reset");
    building.run(1_000);
    assert!(open(&building).is_empty());
}

#[test]
fn a_silent_controller_is_a_warning_that_is_not_repeated_and_costs_no_steps() {
    let mut building = Building::new(one_car(Presence::None));
    building.plant().answers = false;
    building.run(11_000);
    assert_eq!(open(&building), [AlarmCode::ControllerLost]);
    let first = said(&building, AlarmCode::ControllerLost);
    assert_eq!(first[0].1.severity, Severity::Warning);
    building.run(300_000);
    assert_eq!(said(&building, AlarmCode::ControllerLost).len(), 1);
    building.plant().answers = true;
    building.run(3_000);
    assert!(open(&building).is_empty());
}

#[test]
fn standing_warnings_make_no_busy_loop() {
    let mut building = Building::new(one_car(Presence::None));
    building.step(Input::Insecure);
    assert_eq!(open(&building), [AlarmCode::Insecure]);
    // The building fails a test that has more than 200 steps at one moment.
    building.run(300_000);
    assert_eq!(said(&building, AlarmCode::Insecure).len(), 1);
}

#[test]
fn what_the_shell_tells_is_raised_and_cleared() {
    let mut building = Building::new(one_car(Presence::None));
    let bus = |up: bool| Input::Bus {
        bus: "b1".to_owned(),
        up,
    };
    let table = [
        (bus(false), bus(true), AlarmCode::BusLost),
        (
            Input::Disk { low: true },
            Input::Disk { low: false },
            AlarmCode::DiskLow,
        ),
        (
            Input::Broker { up: false },
            Input::Broker { up: true },
            AlarmCode::BrokerLost,
        ),
    ];
    for (lost, back, code) in table {
        building.step(lost);
        assert_eq!(open(&building), [code]);
        building.run(61_000);
        assert_eq!(said(&building, code).len(), 2, "repeated");
        building.step(back);
        assert!(open(&building).is_empty(), "{code}");
    }
}

#[test]
fn a_clock_that_is_off_is_told_for_a_while() {
    let mut building = Building::new(one_car(Presence::None));
    building.report(protocol::hardware::Report::Clock { ahead_ms: 90_000 });
    building.run(100);
    assert_eq!(open(&building), [AlarmCode::ControllerClock]);
    building.run(125_000);
    assert!(open(&building).is_empty());
}

#[test]
fn a_fire_is_an_alarm_until_the_site_is_resumed() {
    let mut building = Situation::HoldFire.building(Presence::None);
    let codes = open(&building);
    assert!(codes.contains(&AlarmCode::FireMode), "{codes:?}");
    building.plant().reading.mode = protocol::hardware::Mode::Normal;
    building.run(61_000);
    let zone = |alarm: &Alarm| alarm.code == AlarmCode::FireMode && alarm.order_id.is_none();
    assert!(building.open_alarms.iter().any(zone), "latched");
    building
        .operator(OperatorAction::SiteResume { zone: None })
        .expect("resumed");
    assert!(!building.open_alarms.iter().any(zone));
}

#[test]
fn the_same_alarm_has_the_same_id_after_a_restart() {
    let mut building = Situation::HoldTarget.building(Presence::None);
    let before = building.open_alarms[0].alarm_id.clone();
    building.restart(1_000, false);
    building.step(Input::Broker { up: true });
    building.run(100);
    assert_eq!(building.open_alarms[0].alarm_id, before);
}
