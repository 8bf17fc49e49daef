use protocol::hardware::{Action, Call, Direction, Door, Mode, Motion};
use protocol::ops::Presence;
use protocol::{FloorLabel, Landing, RobotId, Side};

use super::{Car, CarConfig, CarEvent, DoorStuck, Stop};

/// Three floors, 4 m apart. From floor to floor: ramps of 2 s and 1.6 m each, 0.8 m at 1.6 m/s in
/// 0.5 s: 4.5 s. Over two floors: 8 m, 4.8 m in 3 s: 7 s. Doors 2.5 s and 3 s, dwell 6 s.
fn config() -> CarConfig {
    let stop = |label: &str, height_m| Stop {
        label: FloorLabel::new(label).unwrap(),
        height_m,
        sides: [Side::Front].into(),
    };
    let mut config = CarConfig::new(vec![stop("1F", 0.0), stop("2F", 4.0), stop("3F", 8.0)]);
    config.presence = Presence::Robot;
    config
}

fn landing(floor: &str) -> Landing {
    Landing {
        floor: FloorLabel::new(floor).unwrap(),
        side: Side::Front,
    }
}

fn robot() -> RobotId {
    RobotId::new("R1").unwrap()
}

fn doors(car: &mut Car) -> Vec<(u64, Door)> {
    let door = |(at_ms, event)| match event {
        CarEvent::Door { door, .. } => Some((at_ms, door)),
        _ => None,
    };
    car.take_events().into_iter().filter_map(door).collect()
}

#[test]
fn a_call_brings_the_car_opens_it_and_lets_it_close_again() {
    let mut car = Car::new(config());
    assert!(car.hall_call(1_000, &landing("3F"), Direction::Down));
    assert_eq!(car.snapshot(1_000).motion, Motion::Up);
    let lit = Call::Hall {
        floor: landing("3F").floor,
        side: Some(Side::Front),
        direction: Some(Direction::Down),
    };
    assert_eq!(car.snapshot(1_500).calls, Some(vec![lit]));
    // 2 m up after 2.25 s: there 2F becomes the nearest.
    assert_eq!(car.next_change_ms(), Some(3_250));
    assert_eq!(car.snapshot(3_249).floor, Some(landing("1F").floor));
    assert_eq!(car.snapshot(3_250).floor, Some(landing("2F").floor));
    car.advance(60_000);
    let open = [
        (8_000, Door::Opening),
        (10_500, Door::Open),
        (16_500, Door::Closing),
        (19_500, Door::Closed),
    ];
    assert_eq!(doors(&mut car), open);
    assert_eq!(car.snapshot(60_000).calls, Some(Vec::new()));
    assert_eq!(car.next_change_ms(), None);
}

#[test]
fn the_same_moments_come_out_however_finely_time_is_cut() {
    let mut coarse = Car::new(config());
    coarse.hall_call(1_000, &landing("3F"), Direction::Down);
    coarse.advance(60_000);
    let mut fine = Car::new(config());
    fine.hall_call(1_000, &landing("3F"), Direction::Down);
    for now_ms in 1_000..60_000 {
        fine.advance(now_ms);
    }
    assert_eq!(coarse.take_events(), fine.take_events());
}

#[test]
fn a_hold_keeps_the_door_open_and_no_longer_than_the_controller_allows() {
    let mut car = Car::new(config());
    car.hall_call(0, &landing("1F"), Direction::Up);
    car.advance(2_500);
    car.hold_door(2_500, Side::Front, 60_000);
    car.advance(60_000);
    assert_eq!(doors(&mut car)[2], (12_500, Door::Closing));
}

#[test]
fn close_door_ends_hold_and_dwell_and_open_door_turns_a_closing_door() {
    let mut car = Car::new(config());
    car.hall_call(0, &landing("1F"), Direction::Up);
    car.hold_door(2_500, Side::Front, 10_000);
    car.close_door(3_000);
    car.open_door(4_500, Side::Front);
    // Half closed after 1.5 s of 3 s: half of 2.5 s to open again.
    car.advance(6_000);
    let moments = [
        (0, Door::Opening),
        (2_500, Door::Open),
        (3_000, Door::Closing),
        (4_500, Door::Opening),
        (5_750, Door::Open),
    ];
    assert_eq!(doors(&mut car), moments);
}

#[test]
fn a_door_opens_again_while_a_robot_stands_in_it_and_the_car_does_not_leave() {
    let mut car = Car::new(config());
    car.hall_call(0, &landing("1F"), Direction::Up);
    assert!(car.enter_doorway(2_500, &robot(), &landing("1F")));
    car.car_call(2_500, &landing("3F"));
    car.advance(40_000);
    let events = car.take_events();
    assert!(
        !events
            .iter()
            .any(|(_, event)| matches!(event, CarEvent::Departed { .. }))
    );
    assert!(events.contains(&(
        11_500,
        CarEvent::Door {
            side: Side::Front,
            door: Door::Opening
        }
    )));
    assert_eq!(car.snapshot(40_000).occupied, Some(true));
    assert!(car.enter(40_000, &robot(), &landing("1F")));
    car.advance(60_000);
    assert!(car.is_open_at(&landing("3F")) || car.floor() == landing("3F").floor);
}

#[test]
fn a_closed_door_lets_nobody_in_and_says_so() {
    let mut car = Car::new(config());
    assert!(!car.enter(0, &robot(), &landing("1F")));
    car.hall_call(0, &landing("1F"), Direction::Up);
    assert!(!car.enter(2_500, &robot(), &landing("2F")));
    assert!(car.occupants().is_empty());
    let crossed: Vec<_> = car
        .take_events()
        .into_iter()
        .filter(|(_, event)| matches!(event, CarEvent::CrossedUnopened { .. }))
        .collect();
    let bump = |door, level| CarEvent::CrossedUnopened {
        robot: robot(),
        door,
        level,
    };
    assert_eq!(
        crossed,
        [
            (0, bump(Door::Closed, true)),
            (2_500, bump(Door::Open, false))
        ]
    );
}

#[test]
fn faults_act_as_they_are_named() {
    let mut car = Car::new(config());
    car.set_faults(0, |faults| faults.forget_calls = 1);
    assert!(car.hall_call(0, &landing("2F"), Direction::Up));
    assert_eq!(car.snapshot(0).calls, Some(Vec::new()));

    car.set_faults(0, |faults| faults.wrong_floor = 1);
    car.hall_call(0, &landing("2F"), Direction::Up);
    car.advance(9_500);
    assert!(car.is_open_at(&landing("3F")));
    assert_eq!(car.snapshot(9_500).calls, Some(Vec::new()));

    car.set_faults(9_500, |faults| faults.reopens = 1);
    car.close_door(9_500);
    assert_eq!(car.snapshot(12_500).front, Door::Opening);
    car.close_door(15_000);
    assert_eq!(car.snapshot(18_000).front, Door::Closed);

    car.set_faults(18_000, |faults| faults.stuck = true);
    car.car_call(18_000, &landing("1F"));
    assert_eq!(car.next_change_ms(), None);
    car.set_faults(20_000, |faults| faults.stuck = false);
    car.set_faults(22_000, |faults| faults.stuck = true);
    assert_eq!(
        (car.snapshot(30_000).motion, car.snapshot(30_000).floor),
        (Motion::Unknown, None)
    );
    car.set_faults(30_000, |faults| faults.stuck = false);
    car.advance(35_000);
    assert_eq!(car.snapshot(35_000).floor, Some(landing("1F").floor));

    car.set_faults(38_000, |faults| faults.door = Some(DoorStuck::Open));
    car.close_door(38_000);
    assert_eq!(car.snapshot(90_000).front, Door::Open);
}

#[test]
fn in_fire_mode_calls_are_out_and_the_car_stands_open_at_its_recall_floor() {
    let mut config = config();
    config.recall = Some(landing("1F").floor);
    let mut car = Car::new(config);
    car.car_call(0, &landing("3F"));
    car.set_mode(1_000, Mode::Fire);
    assert!(!car.hall_call(1_000, &landing("2F"), Direction::Up));
    assert_eq!(
        car.execute(1_000, &Action::Claim),
        Err("mode is fire".to_owned())
    );
    assert_eq!(car.execute(1_000, &Action::Release), Ok(()));
    car.advance(60_000);
    assert!(car.is_open_at(&landing("1F")));
    assert_eq!(car.snapshot(60_000).calls, Some(Vec::new()));
}
