//! Section 2 of the table: entries, what a ride waits for, leases, `expires_at`.

use dispatch::SiteConfig;
use protocol::hardware::Motion;
use protocol::robot::RobotEvent;

use crate::deadline_rows;
use crate::grid::{Case, Faults, Sheet, claiming, plain, report, sensing, tell};
use crate::support::site::later;
use crate::support::{Building, R1, Situation::*, T1};

const ENTRY: &str = "on entry, and goes on when";
const LEASE: &str = "the lease ends (`lease_s` without a word of the robot)";
const EXPIRY: &str = "`expires_at` passes";

/// The lease is shorter than the check of a grant.
fn short_lease() -> SiteConfig {
    let mut site = plain();
    site.timing.lease_ms = 3_000;
    site
}

fn granted_reads(building: &mut Building) -> &'static str {
    building.plant().answers = true;
    building.run(3_000);
    ""
}

fn silence(building: &mut Building) -> &'static str {
    building.run(31_000);
    ""
}

pub(crate) const ENTRIES: &[Case] = &[
    Case {
        event: ENTRY,
        at: "no ride: a request, an able elevator is free",
        site: plain,
        from: None,
        script: |building| {
            building.plant().answers = false;
            building.request(R1, T1);
            building.run(15);
            ""
        },
        expected: "-> QUEUED wait -> GRANTED approach; K",
    },
    Case {
        event: ENTRY,
        at: "QUEUED: an able elevator becomes fit",
        site: plain,
        from: Some(Queued),
        script: |building| {
            building.plant().reading.fault = None;
            building.run(3_000);
            ""
        },
        expected: "-> GRANTED approach -> WAITING_HALL_CALL approach; hall_call 1F; K",
    },
    Case {
        event: ENTRY,
        at: "GRANTED: READ, mode normal, no fault, no signal",
        site: plain,
        from: Some(Granted),
        script: granted_reads,
        expected: "-> WAITING_HALL_CALL approach; hall_call 1F",
    },
    Case {
        event: ENTRY,
        at: "GRANTED: the same, the signal says EMPTY",
        site: sensing,
        from: Some(Granted),
        script: granted_reads,
        expected: "-> WAITING_HALL_CALL approach; hall_call 1F",
    },
    Case {
        event: ENTRY,
        at: "GRANTED: the same, the signal says FULL",
        site: sensing,
        from: Some(Granted),
        script: |building| {
            building.plant().occupied(true);
            granted_reads(building)
        },
        expected: "=",
    },
    Case {
        event: ENTRY,
        at: "GRANTED: READ, a fault",
        site: plain,
        from: Some(Granted),
        script: |building| {
            building.plant().reading.fault = Some("door motor".to_owned());
            granted_reads(building)
        },
        expected: "-> QUEUED wait; F",
    },
    Case {
        event: ENTRY,
        at: "GRANTED: READ, the controller has a robot mode",
        site: claiming,
        from: Some(Granted),
        script: granted_reads,
        expected: "-> WAITING_HALL_CALL approach; claim, hall_call 1F",
    },
    Case {
        event: ENTRY,
        at: "GRANTED: READ, OPEN(from) already",
        site: plain,
        from: Some(Granted),
        script: |building| {
            building.plant().open_at("1F");
            granted_reads(building)
        },
        expected: "-> WAITING_HALL_CALL approach -> ELEVATOR_ARRIVED enter; hold_door 1F",
    },
    Case {
        event: ENTRY,
        at: "WAITING_HALL_CALL: OPEN(from), hold taken",
        site: plain,
        from: Some(Waiting),
        script: |building| {
            building.plant().open_at("1F");
            building.run(2_500);
            ""
        },
        expected: "-> ELEVATOR_ARRIVED enter; hold_door 1F",
    },
    Case {
        event: ENTRY,
        at: "WAITING_HALL_CALL: OPEN(from), hold not answered",
        site: plain,
        from: Some(Waiting),
        script: |building| {
            building.plant().mutes.insert("hold_door");
            building.plant().open_at("1F");
            building.run(3_500);
            ""
        },
        expected: "=; hold_door 1F",
    },
    Case {
        event: ENTRY,
        at: "ROBOT_ENTERED: registered and SHUT, then moving",
        site: plain,
        from: Some(EnteredShut),
        script: |building| {
            building.plant().pass("1F", Motion::Up);
            building.run(2_500);
            ""
        },
        expected: "-> RUNNING ride",
    },
    Case {
        event: ENTRY,
        at: "ROBOT_ENTERED: registered and SHUT, then another floor",
        site: plain,
        from: Some(EnteredShut),
        script: |building| {
            building.plant().shut_at("3F");
            building.run(2_500);
            ""
        },
        expected: "-> RUNNING ride",
    },
    Case {
        event: ENTRY,
        at: "RUNNING: OPEN(to), hold taken",
        site: plain,
        from: Some(Running),
        script: |building| {
            building.plant().open_at("6F");
            building.run(2_500);
            ""
        },
        expected: "-> TARGET_ARRIVED exit; hold_door 6F",
    },
    Case {
        event: ENTRY,
        at: "ROBOT_EXITED: SHUT",
        site: plain,
        from: Some(Exited),
        script: |building| {
            building.plant().shut_at("6F");
            building.run(2_500);
            ""
        },
        expected: "=; F",
    },
    Case {
        event: ENTRY,
        at: "ROBOT_EXITED: OPEN, no signal",
        site: plain,
        from: Some(Exited),
        script: |building| {
            building.run(2_500);
            ""
        },
        expected: "=",
    },
    Case {
        event: ENTRY,
        at: "ROBOT_EXITED: OPEN and EMPTY by the signal",
        site: sensing,
        from: Some(Exited),
        script: |building| {
            building.plant().occupied(false);
            building.run(2_500);
            ""
        },
        expected: "=; F",
    },
    Case {
        event: ENTRY,
        at: "ROBOT_EXITED after a claim",
        site: claiming,
        from: Some(Target),
        script: |building| {
            building.event(R1, T1, RobotEvent::Exited);
            building.run(2_500);
            ""
        },
        expected: "-> ROBOT_EXITED clear; close_door 6F, release; B until SHUT or EMPTY, F",
    },
];

pub(crate) const LEASES: &[Case] = &[
    Case {
        event: LEASE,
        at: "QUEUED",
        site: plain,
        from: Some(Queued),
        script: silence,
        expected: "-> FAILED(ROBOT_LOST) clear",
    },
    Case {
        event: LEASE,
        at: "GRANTED",
        site: short_lease,
        from: Some(Granted),
        script: silence,
        expected: "-> FAILED(ROBOT_LOST) clear; F",
    },
    Case {
        event: LEASE,
        at: "WAITING_HALL_CALL",
        site: plain,
        from: Some(Waiting),
        script: silence,
        expected: "-> FAILED(ROBOT_LOST) clear; cancel_call 1F; B until CLEARCALL, F",
    },
    Case {
        event: LEASE,
        at: "ELEVATOR_ARRIVED",
        site: plain,
        from: Some(Arrived),
        script: silence,
        expected: "=",
    },
    Case {
        event: LEASE,
        at: "ELEVATOR_ARRIVED, `enter` withheld",
        site: plain,
        from: Some(Withheld),
        script: silence,
        expected: "-> FAILED(ROBOT_LOST) clear; B until SHUT",
    },
    Case {
        event: LEASE,
        at: "ROBOT_ENTERED",
        site: short_lease,
        from: Some(EnteredShut),
        script: |building| {
            building.run(10_000);
            ""
        },
        expected: "=",
    },
    Case {
        event: LEASE,
        at: "RUNNING",
        site: plain,
        from: Some(Running),
        script: silence,
        expected: "=",
    },
    Case {
        event: LEASE,
        at: "TARGET_ARRIVED",
        site: plain,
        from: Some(Target),
        script: silence,
        expected: "=",
    },
    Case {
        event: LEASE,
        at: "HOLD in boarding",
        site: plain,
        from: Some(HoldBoarding),
        script: silence,
        expected: "=",
    },
    Case {
        event: EXPIRY,
        at: "QUEUED",
        site: plain,
        from: None,
        script: |building| {
            building.plant().reading.fault = Some("door motor".to_owned());
            building.read_again();
            let mut request = building.request_of(T1);
            request.expires_at = Some(later(building.wall(), 4_000));
            building.ask(R1, request);
            building.run(4_100);
            ""
        },
        expected: "-> QUEUED wait -> EXPIRED(REQUEST_EXPIRED) clear",
    },
    Case {
        event: EXPIRY,
        at: "GRANTED and WAITING_HALL_CALL",
        site: plain,
        from: None,
        script: |building| {
            let mut request = building.request_of(T1);
            request.expires_at = Some(later(building.wall(), 1_000));
            building.plant().answers = false;
            building.ask(R1, request);
            building.run(1_500);
            building.plant().answers = true;
            building.run(4_000);
            ""
        },
        expected: "-> QUEUED wait -> GRANTED approach -> WAITING_HALL_CALL approach; hall_call 1F; K",
    },
];

pub(crate) fn sheets(faults: &mut Faults) -> Vec<Sheet> {
    let mut sheets = tell(ENTRIES, faults);
    sheets.extend(deadline_rows::sheets(faults));
    sheets.extend(tell(LEASES, faults));
    sheets
}

#[test]
fn entries_and_leases() {
    let mut faults = Faults::new();
    tell(ENTRIES, &mut faults);
    tell(LEASES, &mut faults);
    report(&faults);
}
