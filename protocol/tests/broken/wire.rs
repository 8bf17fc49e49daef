//! What `wire.md` sections 1 to 6 say of each message that the gateway reads, written down by hand.

use protocol::message::RobotTopic;

/// What a value has to be.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Rule {
    /// `^[A-Za-z0-9_.:-]{1,64}$`.
    Id,
    /// `^[A-Za-z0-9_-]{1,8}$`.
    Floor,
    /// One of these.
    Word(&'static [&'static str]),
    Flag,
    /// An integer of digits only, within a range.
    Integer(u64, u64),
    /// Any number, within a range.
    Number(f64, f64),
    /// At most so many bytes.
    Text(usize),
    /// RFC 3339, years 1970 to 9999.
    Moment,
    Object(&'static [Field]),
    /// At most so many.
    List(usize, &'static Self),
}

/// A field: its name, whether it may not be absent or null, and what it has to be.
pub(crate) type Field = (&'static str, bool, Rule);

/// What becomes of a message that cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unreadable {
    /// It is refused to the robot of the topic.
    Robot(RobotTopic),
    /// It is refused and counted: there is nobody to answer to.
    Counted,
    /// A state of the gateway's own: left alone.
    Own,
}

/// One kind of message.
#[derive(Debug)]
pub(crate) struct Kind {
    pub(crate) name: &'static str,
    /// Below the base.
    pub(crate) topic: &'static str,
    pub(crate) unreadable: Unreadable,
    /// Whether it comes with the retain flag only.
    pub(crate) retained: bool,
    pub(crate) fields: &'static [Field],
}

const MUST: bool = true;
const MAY: bool = false;

const ID: Field = ("message_id", MUST, Rule::Id);
const TIME: Field = ("timestamp", MUST, Rule::Moment);
const ORDER: Field = ("order_id", MUST, Rule::Id);
const SIDE: Rule = Rule::Word(&["front", "rear"]);
const PLACE: Rule = Rule::Object(&[("floor", MUST, Rule::Floor), ("side", MAY, SIDE)]);
const PRESENCE: Rule = Rule::Word(&["ONLINE", "OFFLINE", "CONNECTIONBROKEN"]);
const DOOR: Rule = Rule::Word(&["open", "closed", "opening", "closing", "unknown"]);
const DOORS: Rule = Rule::Object(&[("front", MUST, DOOR), ("rear", MAY, DOOR)]);
const MOTION: Rule = Rule::Word(&["up", "down", "stopped", "unknown"]);
const MODE: Rule = Rule::Word(&[
    "normal",
    "robot",
    "attendant",
    "maintenance",
    "fire",
    "emergency",
    "out_of_service",
    "unknown",
]);
const CALL: Rule = Rule::Object(&[
    ("kind", MUST, Rule::Word(&["hall", "car"])),
    ("floor", MUST, Rule::Floor),
    ("side", MAY, SIDE),
    ("direction", MAY, Rule::Word(&["up", "down"])),
]);
const CALLS: Field = ("calls", MAY, Rule::List(512, &CALL));
const SEQ: Field = ("seq", MAY, Rule::Integer(0, u64::MAX));
const BOOT: Field = ("boot_id", MAY, Rule::Id);
const ETA: Field = ("eta_s", MAY, Rule::Integer(0, 86_400));
const LOAD: Field = ("load_pct", MAY, Rule::Integer(0, 255));

pub(crate) const KINDS: &[Kind] = &[
    Kind {
        name: "ride.request",
        topic: "robots/R001/ride/request",
        unreadable: Unreadable::Robot(RobotTopic::Request),
        retained: false,
        fields: &[
            ID,
            TIME,
            ORDER,
            ("from", MUST, PLACE),
            ("to", MUST, PLACE),
            ("elevators", MAY, Rule::List(32, &Rule::Id)),
            ("priority", MAY, Rule::Integer(0, 9)),
            ("at_door", MAY, Rule::Flag),
            ETA,
            ("expires_at", MAY, Rule::Moment),
            ("dry_run", MAY, Rule::Flag),
        ],
    },
    Kind {
        name: "ride.event",
        topic: "robots/R001/ride/event",
        unreadable: Unreadable::Robot(RobotTopic::Event),
        retained: false,
        fields: &[
            ID,
            TIME,
            ORDER,
            (
                "event",
                MUST,
                Rule::Word(&[
                    "query",
                    "at_door",
                    "entered",
                    "exited",
                    "cancel_enter",
                    "cancel_exit",
                    "hold_door",
                ]),
            ),
            ("fence", MAY, Rule::Integer(0, u64::MAX)),
            ("elevator_id", MAY, Rule::Id),
            ("hold_s", MAY, Rule::Integer(1, 60)),
            ("again", MAY, Rule::Flag),
        ],
    },
    Kind {
        name: "ride.cancel",
        topic: "robots/R001/ride/cancel",
        unreadable: Unreadable::Robot(RobotTopic::Cancel),
        retained: false,
        fields: &[ID, TIME, ORDER, ("reason", MUST, Rule::Text(256))],
    },
    Kind {
        name: "robot.status",
        topic: "robots/R001/status",
        unreadable: Unreadable::Robot(RobotTopic::Status),
        retained: false,
        fields: &[
            ID,
            TIME,
            ("floor", MAY, Rule::Floor),
            ("at_door", MAY, Rule::Flag),
            ETA,
            ("battery_pct", MAY, Rule::Number(0.0, 100.0)),
            (
                "position",
                MAY,
                Rule::Object(&[
                    ("x", MUST, Rule::Number(f64::MIN, f64::MAX)),
                    ("y", MUST, Rule::Number(f64::MIN, f64::MAX)),
                    ("map", MUST, Rule::Text(64)),
                ]),
            ),
            ("in_car", MAY, Rule::Flag),
        ],
    },
    Kind {
        name: "robot.connection",
        topic: "robots/R001/connection",
        unreadable: Unreadable::Robot(RobotTopic::Connection),
        retained: false,
        fields: &[ID, TIME, ("connection_state", MUST, PRESENCE)],
    },
    Kind {
        name: "gateway.connection",
        topic: "gateways/gw-2/connection",
        unreadable: Unreadable::Counted,
        retained: false,
        fields: &[
            ID,
            TIME,
            ("connection_state", MUST, PRESENCE),
            ("instance", MUST, Rule::Id),
        ],
    },
    Kind {
        name: "elevator.event",
        topic: "elevators/EL001/event",
        unreadable: Unreadable::Counted,
        retained: false,
        fields: &[
            ID,
            TIME,
            (
                "event",
                MUST,
                Rule::Word(&["arrived", "door_open", "door_closed", "moving", "fault"]),
            ),
            BOOT,
            SEQ,
            ("command_id", MAY, Rule::Id),
            ("floor", MAY, Rule::Floor),
            ("side", MAY, SIDE),
            ("door", MAY, DOOR),
            ("motion", MAY, MOTION),
            ("mode", MAY, MODE),
            ("occupied", MAY, Rule::Flag),
            LOAD,
            CALLS,
            ("detail", MAY, Rule::Text(256)),
        ],
    },
    Kind {
        name: "elevator.event of a command",
        topic: "elevators/EL001/event",
        unreadable: Unreadable::Counted,
        retained: false,
        fields: &[
            ID,
            TIME,
            ("event", MUST, Rule::Word(&["accepted", "done", "failed"])),
            BOOT,
            SEQ,
            ("command_id", MUST, Rule::Id),
            ("detail", MAY, Rule::Text(256)),
        ],
    },
    Kind {
        name: "elevator.event state, one door",
        topic: "elevators/EL001/event",
        unreadable: Unreadable::Counted,
        retained: false,
        fields: &[
            ID,
            TIME,
            ("event", MUST, Rule::Word(&["state"])),
            BOOT,
            SEQ,
            ("command_id", MAY, Rule::Id),
            ("floor", MAY, Rule::Floor),
            ("side", MAY, SIDE),
            ("door", MUST, DOOR),
            ("motion", MUST, MOTION),
            ("mode", MUST, MODE),
            ("occupied", MAY, Rule::Flag),
            LOAD,
            CALLS,
        ],
    },
    Kind {
        name: "elevator.event state, doors",
        topic: "elevators/EL001/event",
        unreadable: Unreadable::Counted,
        retained: false,
        fields: &[
            ID,
            TIME,
            ("event", MUST, Rule::Word(&["state"])),
            ("floor", MAY, Rule::Floor),
            ("doors", MUST, DOORS),
            ("motion", MUST, MOTION),
            ("mode", MUST, MODE),
            ("occupied", MAY, Rule::Flag),
            CALLS,
        ],
    },
    Kind {
        name: "ride.state of our own",
        topic: "robots/R001/ride/state",
        unreadable: Unreadable::Own,
        retained: true,
        fields: &[
            ORDER,
            (
                "state",
                MUST,
                Rule::Word(&[
                    "QUEUED",
                    "GRANTED",
                    "WAITING_HALL_CALL",
                    "ELEVATOR_ARRIVED",
                    "ROBOT_ENTERED",
                    "RUNNING",
                    "TARGET_ARRIVED",
                    "ROBOT_EXITED",
                    "CANCELLED",
                    "EXPIRED",
                    "FAILED",
                    "HOLD",
                ]),
            ),
        ],
    },
    Kind {
        name: "elevator.state of our own",
        topic: "elevators/EL001/state",
        unreadable: Unreadable::Own,
        retained: true,
        fields: &[("fence", MUST, Rule::Integer(0, u64::MAX))],
    },
];
