//! Section 2 of the table: the deadline of each state.

use protocol::robot::RobotEvent;

use crate::grid::{Case, Faults, Sheet, plain, report, sensing, tell};
use crate::support::{R1, Situation::*, T1};

const DEADLINE: &str = "deadline";

pub(crate) const DEADLINES: &[Case] = &[
    Case {
        event: DEADLINE,
        at: "GRANTED: `grant_check_s`",
        site: plain,
        from: Some(Granted),
        script: |building| {
            building.run(5_000);
            ""
        },
        expected: "-> QUEUED wait; F",
    },
    Case {
        event: DEADLINE,
        at: "WAITING_HALL_CALL: `hall_call_s`, registered",
        site: plain,
        from: Some(Waiting),
        script: |building| {
            building.run_alive(63_000);
            ""
        },
        expected: "= seq+",
    },
    Case {
        event: DEADLINE,
        at: "WAITING_HALL_CALL: `hall_call_s`, not registered",
        site: plain,
        from: Some(Waiting),
        script: |building| {
            building.plant().reading.calls = Some(Vec::new());
            building.run_alive(63_000);
            ""
        },
        expected: "= seq+; hall_call 1F",
    },
    Case {
        event: DEADLINE,
        at: "WAITING_HALL_CALL: 2 x `hall_call_s`",
        site: plain,
        from: Some(Waiting),
        script: |building| {
            building.run_alive(125_000);
            ""
        },
        expected: "-> FAILED(HALL_CALL_TIMEOUT) clear; cancel_call 1F; B until CLEARCALL, F",
    },
    Case {
        event: DEADLINE,
        at: "WAITING_HALL_CALL: 2 x `hall_call_s`, then the call not seen cleared in `hall_call_s`",
        site: plain,
        from: Some(Waiting),
        script: |building| {
            building.plant().deaf.insert("cancel_call");
            building.run_alive(185_000);
            ""
        },
        expected: "-> FAILED(HALL_CALL_TIMEOUT) clear; cancel_call 1F; B until CLEARCALL, \
                   BLOCK(HALL_CALL_TIMEOUT)",
    },
    Case {
        event: DEADLINE,
        at: "ELEVATOR_ARRIVED: `entry_s`, no signal",
        site: plain,
        from: Some(Arrived),
        script: |building| {
            building.run_alive(61_000);
            ""
        },
        expected: "-> HOLD(BOARDING_TIMEOUT) stay; hold_door 1F",
    },
    Case {
        event: DEADLINE,
        at: "ELEVATOR_ARRIVED: `entry_s`, then SHUT and EMPTY by the signal (NOSHOW)",
        site: sensing,
        from: Some(Arrived),
        script: |building| {
            building.run_alive(61_000);
            building.plant().shut_at("1F");
            building.run_alive(10_000);
            ""
        },
        expected: "-> ELEVATOR_ARRIVED(BOARDING_TIMEOUT) stay -> FAILED(BOARDING_TIMEOUT) clear; F",
    },
    Case {
        event: DEADLINE,
        at: "ELEVATOR_ARRIVED: `entry_s`, then SHUT and FULL",
        site: sensing,
        from: Some(Arrived),
        script: |building| {
            building.run_alive(61_000);
            building.plant().shut_at("1F");
            building.plant().occupied(true);
            building.run_alive(41_000);
            ""
        },
        expected: "-> ELEVATOR_ARRIVED(BOARDING_TIMEOUT) stay -> HOLD(BOARDING_TIMEOUT) stay",
    },
    Case {
        event: DEADLINE,
        at: "ELEVATOR_ARRIVED: `entry_s`, then SHUT and EMPTY, the robot says `in_car`",
        site: sensing,
        from: Some(Arrived),
        script: |building| {
            building.in_car(R1, true);
            building.run_alive(61_000);
            building.plant().shut_at("1F");
            building.run_alive(41_000);
            ""
        },
        expected: "-> ELEVATOR_ARRIVED(BOARDING_TIMEOUT) stay -> HOLD(BOARDING_TIMEOUT) stay",
    },
    Case {
        event: DEADLINE,
        at: "ELEVATOR_ARRIVED, `enter` withheld: `entry_s`",
        site: plain,
        from: Some(Withheld),
        script: |building| {
            building.run_alive(61_000);
            ""
        },
        expected: "-> FAILED(BOARDING_TIMEOUT) clear; B until SHUT",
    },
    Case {
        event: DEADLINE,
        at: "ROBOT_ENTERED: `door_close_s`, the door does not close",
        site: plain,
        from: Some(Arrived),
        script: |building| {
            building.plant().deaf.insert("close_door");
            building.event(R1, T1, RobotEvent::Entered);
            building.run(16_000);
            ""
        },
        expected: "-> ROBOT_ENTERED ride -> HOLD(DOOR_FAULT) stay -> HOLD(DOOR_FAULT) exit; \
                   car_call 6F, 4 x close_door 1F, hold_door 1F",
    },
    Case {
        event: DEADLINE,
        at: "ROBOT_ENTERED: `door_close_s`, SHUT and not under way",
        site: plain,
        from: Some(EnteredShut),
        script: |building| {
            building.run(16_000);
            ""
        },
        expected: "= seq+; car_call 6F",
    },
    Case {
        event: DEADLINE,
        at: "ROBOT_ENTERED: 2 x `door_close_s`, SHUT and not under way",
        site: plain,
        from: Some(EnteredShut),
        script: |building| {
            building.run(31_000);
            ""
        },
        expected: "-> HOLD(TRAVEL_TIMEOUT) stay; car_call 6F",
    },
    Case {
        event: DEADLINE,
        at: "RUNNING: `travel_s`, moving",
        site: plain,
        from: Some(Running),
        script: |building| {
            building.run(181_000);
            ""
        },
        expected: "-> HOLD(TRAVEL_TIMEOUT) stay",
    },
    Case {
        event: DEADLINE,
        at: "RUNNING: `travel_s`, stopped and SHUT elsewhere",
        site: plain,
        from: Some(Running),
        script: |building| {
            building.plant().shut_at("3F");
            building.run(181_000);
            ""
        },
        expected: "= seq+; car_call 6F",
    },
    Case {
        event: DEADLINE,
        at: "RUNNING: 2 x `travel_s`, stopped and SHUT elsewhere",
        site: plain,
        from: Some(Running),
        script: |building| {
            building.plant().shut_at("3F");
            building.run(365_000);
            ""
        },
        expected: "-> HOLD(TRAVEL_TIMEOUT) stay; car_call 6F",
    },
    Case {
        event: DEADLINE,
        at: "TARGET_ARRIVED: 3 x `exit_s`",
        site: plain,
        from: Some(Target),
        script: |building| {
            building.run(181_000);
            ""
        },
        expected: "= seq+",
    },
    Case {
        event: DEADLINE,
        at: "TARGET_ARRIVED: 4 x `exit_s`",
        site: plain,
        from: Some(Target),
        script: |building| {
            building.run(241_000);
            ""
        },
        expected: "-> HOLD(EXIT_TIMEOUT) stay -> HOLD(EXIT_TIMEOUT) exit; hold_door 6F",
    },
    Case {
        event: DEADLINE,
        at: "ROBOT_EXITED: `door_close_s`",
        site: plain,
        from: Some(Exited),
        script: |building| {
            building.run(15_500);
            ""
        },
        expected: "=; close_door 6F",
    },
    Case {
        event: DEADLINE,
        at: "ROBOT_EXITED: 4 x `door_close_s`",
        site: plain,
        from: Some(Exited),
        script: |building| {
            building.run(61_000);
            ""
        },
        expected: "=; 3 x close_door 6F; BLOCK(DOOR_FAULT)",
    },
];

pub(crate) fn sheets(faults: &mut Faults) -> Vec<Sheet> {
    tell(DEADLINES, faults)
}

#[test]
fn deadlines() {
    let mut faults = Faults::new();
    sheets(&mut faults);
    report(&faults);
}
