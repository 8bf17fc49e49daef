//! Each law is broken by hand once: what is never found may be what is never looked for.

use std::collections::BTreeSet;

use dispatch::{Effect, Input};
use protocol::hardware::{Action, Command, Direction, Door, Mode, Motion, Reading, Report};
use protocol::ride::{Instruction, Reason, ReplyResult, RideReply, RideState, RideView};
use protocol::robot::{Place, RideCancel, RideRequest};
use protocol::{
    CommandId, ElevatorId, Fence, FloorLabel, GatewayId, Landing, MessageId, OrderId, Outgoing,
    ReasonCode, RobotId, RobotMessage, Side, Timestamp,
};

use super::{Checker, Law, Seen, Step};
use crate::world::site::{ElevatorPlan, SitePlan};

const WALL: Timestamp = Timestamp(1_796_032_800_000);

/// A checker of one elevator that knows the queued order T1 of R1.
struct Hand {
    checker: Checker,
    seq: u64,
}

fn landing(floor: &str) -> Landing {
    Landing {
        floor: FloorLabel::new(floor).unwrap(),
        side: Side::Front,
    }
}

fn robot(name: &str) -> RobotId {
    RobotId::new(name).unwrap()
}

fn order(name: &str) -> OrderId {
    OrderId::new(name).unwrap()
}

fn elevator() -> ElevatorId {
    ElevatorId::new("EL1").unwrap()
}

fn request(priority: u8) -> Input {
    let place = |floor: &str| Place {
        floor: landing(floor).floor,
        side: Some(Side::Front),
    };
    Input::Robot {
        robot: robot("R1"),
        message: RobotMessage::Request(RideRequest {
            message_id: MessageId::new("m1").unwrap(),
            timestamp: WALL,
            order_id: order("T1"),
            from: place("1F"),
            to: place("3F"),
            elevators: BTreeSet::new(),
            priority,
            at_door: Some(true),
            eta_s: None,
            expires_at: None,
            dry_run: false,
        }),
    }
}

fn reply(result: ReplyResult) -> Effect {
    Effect::Say(Outgoing::RideReply {
        robot: robot("R1"),
        reply: RideReply {
            received_at: WALL,
            in_reply_to: None,
            order_id: Some(order("T1")),
            result,
            code: None,
            detail: None,
            retry_after_s: None,
            state: None,
            seq: None,
            instruction: None,
            valid_s: None,
            elevator_id: None,
            fence: None,
            floor: None,
            side: None,
            queue_position: None,
            eta_s: None,
        },
    })
}

fn view(seq: u64, state: RideState, instruction: Instruction, fence: Option<u64>) -> RideView {
    RideView {
        order_id: order("T1"),
        robot_id: robot("R1"),
        seq,
        state,
        held_from: None,
        instruction,
        valid_s: None,
        elevator_id: fence.map(|_| elevator()),
        bank_id: None,
        fence: fence.map(Fence),
        from: landing("1F"),
        to: landing("3F"),
        floor: None,
        side: None,
        queue_position: None,
        eta_s: None,
        deadline: None,
        deadline_s: None,
        reason: None,
    }
}

fn command(fence: u64, of: Option<&str>, action: Action) -> Command {
    Command {
        elevator_id: elevator(),
        command_id: CommandId::new("c1").unwrap(),
        fence: Fence(fence),
        order_id: of.map(order),
        action,
        expires_in_ms: 5_000,
    }
}

fn call() -> Action {
    Action::HallCall {
        landing: landing("1F"),
        direction: Direction::Up,
    }
}

impl Hand {
    fn new() -> Self {
        let plan = ElevatorPlan::new("EL1", 3).unwrap();
        let site = SitePlan::new(vec![plan]).config(GatewayId::new("gw-1").unwrap());
        let checker = Checker::new(&site);
        let mut hand = Self { checker, seq: 0 };
        hand.takes(&Input::Start { restored: false }, &[]);
        hand.takes(&Input::Broker { up: true }, &[]);
        let queued = view(1, RideState::Queued, Instruction::Wait, None);
        let said = [
            Effect::Say(Outgoing::RideState(queued)),
            reply(ReplyResult::Accepted),
        ];
        hand.takes(&request(5), &said);
        hand
    }

    fn takes(&mut self, input: &Input, effects: &[Effect]) {
        let step = Step {
            mono_ms: 100,
            wall: WALL,
            input,
            effects,
            facts: 0,
            appended: self.seq,
            ticket: None,
        };
        self.checker.saw(100, Seen::Stepped(step));
    }

    fn told(&mut self, view: RideView) {
        self.takes(&Input::Tick, &[Effect::Say(Outgoing::RideState(view))]);
    }

    fn sends(&mut self, command: Command) {
        self.takes(&Input::Tick, &[Effect::Command(command)]);
    }

    fn reads(&mut self) {
        let reading = Reading {
            floor: Some(landing("2F").floor),
            front: Door::Closed,
            rear: None,
            motion: Motion::Stopped,
            mode: Mode::Normal,
            occupied: None,
            load_pct: None,
            calls: Some(Vec::new()),
            fault: None,
        };
        let report = Report::Reading {
            reading,
            asked_ms: Some(100),
        };
        let elevator = elevator();
        self.takes(&Input::Report { elevator, report }, &[]);
    }

    fn granted(&mut self) {
        self.reads();
        self.told(view(2, RideState::Granted, Instruction::Approach, Some(1)));
        self.told(view(
            3,
            RideState::WaitingHallCall,
            Instruction::Approach,
            Some(1),
        ));
    }

    fn laws(&self) -> BTreeSet<Law> {
        let found = self.checker.violations().iter();
        found.map(|(_, violation)| violation.law).collect()
    }
}

/// A law, and what breaks it.
type Bad = (Law, fn(&mut Hand));

const BAD: &[Bad] = &[
    (Law::I1, |hand| {
        hand.sends(command(0, Some("T9"), Action::Query))
    }),
    (Law::I2, |hand| {
        hand.reads();
        hand.told(view(2, RideState::Granted, Instruction::Approach, Some(0)));
    }),
    (Law::I3, |hand| {
        for fence in [5, 4] {
            let command = &command(fence, None, Action::Release);
            hand.checker.saw(100, Seen::Sent { command });
        }
    }),
    (Law::I4, |hand| hand.sends(command(0, None, call()))),
    (Law::I5, |hand| {
        let unknown = RideView {
            order_id: order("T9"),
            ..view(1, RideState::Queued, Instruction::Wait, None)
        };
        hand.told(unknown);
    }),
    (Law::I6, |hand| {
        hand.takes(&request(9), &[reply(ReplyResult::Duplicate)])
    }),
    (Law::I7, |hand| {
        let delivered = Seen::Delivered {
            epoch: 1,
            packet: 7,
            topic: "t",
            payload: b"{}",
            retained: false,
        };
        hand.checker.saw(100, delivered);
        let step = Step {
            mono_ms: 100,
            wall: WALL,
            input: &Input::Tick,
            effects: &[],
            facts: 1,
            appended: 9,
            ticket: Some((1, 7)),
        };
        hand.checker.saw(100, Seen::Stepped(step));
        let (epoch, packet) = (1, 7);
        hand.checker.saw(100, Seen::Acknowledged { epoch, packet });
    }),
    (Law::I8, |hand| {
        hand.checker.saw(100, Seen::Released { waits_for: 3 })
    }),
    (Law::I9, |hand| {
        let crosses = Seen::Crosses {
            robot: &robot("R2"),
            elevator: &elevator(),
            landing: &landing("1F"),
            inwards: true,
        };
        hand.checker.saw(100, crosses);
    }),
    (Law::I10, |hand| {
        hand.granted();
        let landing = landing("1F");
        hand.sends(command(1, Some("T1"), Action::CloseDoor { landing }));
    }),
    (Law::I11, |hand| {
        let cancel = RideCancel {
            message_id: MessageId::new("m2").unwrap(),
            timestamp: WALL,
            order_id: order("T1"),
            reason: String::new(),
        };
        let robot = robot("R2");
        let message = RobotMessage::Cancel(cancel);
        hand.takes(&Input::Robot { robot, message }, &[]);
    }),
    (Law::I12, |hand| hand.sends(command(0, None, call()))),
    (Law::I13, |hand| {
        hand.told(view(2, RideState::Granted, Instruction::Approach, Some(1)));
    }),
    (Law::I14, |hand| {
        let (last, same) = (0, Some(false));
        hand.checker.saw(100, Seen::Started { last, same });
    }),
    (Law::I16, |hand| {
        let state = view(1, RideState::Queued, Instruction::Wait, None);
        let said = Seen::Said {
            message: &Outgoing::RideState(state),
            topic: "t",
            payload: &[b' '; 20_000],
            retain: true,
        };
        hand.checker.saw(100, said);
    }),
    (Law::I17, |hand| {
        let another = RideView {
            robot_id: robot("R2"),
            ..view(2, RideState::Queued, Instruction::Wait, None)
        };
        hand.told(another);
    }),
    (Law::I18, |hand| {
        let ended = Seen::Ended {
            detail: "corrupt",
            disk_failed: false,
        };
        hand.checker.saw(100, ended);
    }),
    (Law::I19, |hand| {
        let lost = RideView {
            reason: Some(Reason {
                code: ReasonCode::RobotLost,
                detail: String::new(),
            }),
            ..view(2, RideState::Failed, Instruction::Clear, None)
        };
        hand.told(lost);
    }),
    (Law::Ride, |hand| {
        hand.told(view(2, RideState::Running, Instruction::Ride, Some(1)))
    }),
    (Law::Core, |hand| {
        let broken = &["EL1 is kept back for nobody".to_owned()];
        hand.checker.saw(100, Seen::Audited { broken });
    }),
    (Law::L1, |hand| hand.checker.settled(100, 60_000)),
    (Law::L3, |hand| {
        hand.granted();
        hand.told(view(4, RideState::Cancelled, Instruction::Clear, Some(1)));
        hand.checker.settled(100, 60_000);
    }),
    (Law::L5, |hand| hand.checker.settled(100, 60_000)),
];

#[test]
fn what_is_right_breaks_no_law() {
    let mut hand = Hand::new();
    hand.granted();
    hand.sends(command(1, Some("T1"), call()));
    assert_eq!(hand.laws(), BTreeSet::new());
}

#[test]
fn each_law_is_seen_to_break() {
    for (law, bad) in BAD {
        let mut hand = Hand::new();
        assert_eq!(hand.laws(), BTreeSet::new(), "before {law:?}");
        bad(&mut hand);
        assert!(hand.laws().contains(law), "{law:?}: {:?}", hand.laws());
    }
}
