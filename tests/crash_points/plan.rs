//! Which points are tried in which states: the cells of the table.

use crate::disk::Loss;

/// A ride of the play, at the moment when its process is to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Target {
    pub(crate) order: &'static str,
    pub(crate) state: &'static str,
    /// The command of this state, for C4.
    pub(crate) command: Option<&'static str>,
}

/// The targets in the order in which the play comes by. Every state of a ride is one of them.
const TARGETS: [Target; 15] = [
    target("H", "HOLD", Some("hold_door")),
    target("P", "QUEUED", None),
    target("E", "EXPIRED", None),
    target("P", "GRANTED", Some("query")),
    target("P", "WAITING_HALL_CALL", Some("hall_call")),
    target("P", "ELEVATOR_ARRIVED", Some("hold_door")),
    target("P", "ROBOT_ENTERED", Some("car_call")),
    target("P", "RUNNING", Some("hold_door")),
    target("P", "TARGET_ARRIVED", Some("hold_door")),
    target("P", "ROBOT_EXITED", Some("close_door")),
    // Its request is answered with the grant.
    target("C", "GRANTED", None),
    target("C", "WAITING_HALL_CALL", Some("hall_call")),
    // Queued again, while its elevator is kept back.
    target("C", "QUEUED", Some("cancel_call")),
    target("C", "CANCELLED", Some("cancel_call")),
    target("L", "FAILED", Some("cancel_call")),
];

/// Cells that there are not, and why.
pub(crate) const IMPOSSIBLE: [(&str, &str, &str); 1] = [(
    "C4",
    "EXPIRED",
    "an order expires only while it waits, without an elevator to command",
)];

const fn target(order: &'static str, state: &'static str, command: Option<&'static str>) -> Target {
    Target {
        order,
        state,
        command,
    }
}

/// Every state of a ride, in the table's order.
pub(crate) const STATES: [&str; 12] = [
    "QUEUED",
    "GRANTED",
    "WAITING_HALL_CALL",
    "ELEVATOR_ARRIVED",
    "ROBOT_ENTERED",
    "RUNNING",
    "TARGET_ARRIVED",
    "ROBOT_EXITED",
    "HOLD",
    "CANCELLED",
    "EXPIRED",
    "FAILED",
];

/// What ends with the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The process alone: what the system has is kept.
    Kill,
    /// The power: what is not synced is lost, or some of it.
    Power(Loss),
}

/// A point, tried in every state.
#[derive(Debug, Clone)]
pub(crate) struct Column {
    /// As in the table.
    pub(crate) name: String,
    pub(crate) point: &'static str,
    /// Which passes are tried; one after another over the targets.
    pub(crate) passes: Vec<u64>,
    /// What else a pass must be about.
    pub(crate) word: Option<&'static str>,
    pub(crate) kind: Kind,
    /// The elevators are on a Modbus line.
    pub(crate) bus: bool,
    /// Every pass is tried, whatever it is about besides its ride.
    pub(crate) every: bool,
    /// Only these states, where it is tried once more.
    pub(crate) only: Option<Vec<&'static str>>,
}

impl Column {
    fn new(name: &str, point: &'static str, passes: &[u64], kind: Kind) -> Self {
        Self {
            name: name.to_owned(),
            point,
            passes: passes.to_vec(),
            word: None,
            kind,
            bus: false,
            every: false,
            only: None,
        }
    }

    fn about(mut self, word: &'static str) -> Self {
        self.word = Some(word);
        self
    }

    /// The pass that the target of this number is ended at.
    pub(crate) fn pass(&self, at: usize) -> u64 {
        self.passes[at % self.passes.len()]
    }

    /// The targets, one for each state. A ride that is queued again matters for its command only. A
    /// message is sure to come in while its ride is granted, or waits for the car, where that takes
    /// a while; and there a hall call stands until the process is back.
    pub(crate) fn targets(&self) -> Vec<Target> {
        let of_this = |target: &Target| match (target.order, target.state) {
            ("C", "QUEUED") => self.point == "C4",
            ("P", "QUEUED") => self.point != "C4",
            ("C", "GRANTED") => self.chats(),
            ("P", "GRANTED") => !self.chats(),
            ("C", "WAITING_HALL_CALL") => self.chats() || self.point == "C4",
            ("P", "WAITING_HALL_CALL") => !self.chats() && self.point != "C4",
            _ => true,
        };
        let is_wanted = |target: &Target| {
            self.only
                .as_ref()
                .is_none_or(|only| only.contains(&target.state))
        };
        let these = TARGETS.into_iter().filter(of_this);
        these.filter(is_wanted).collect()
    }

    /// Robots talk all the time: what is looked for is our acknowledgement of their messages.
    pub(crate) fn chats(&self) -> bool {
        self.word == Some("heard")
    }

    /// Why there is no such cell.
    pub(crate) fn impossible(&self, state: &str) -> Option<&'static str> {
        let mut all = IMPOSSIBLE.iter();
        all.find(|(point, of, _)| *point == self.point && *of == state)
            .map(|(.., why)| *why)
    }

    /// What is recorded when the point is passed survives it.
    pub(crate) fn is_durable(&self) -> bool {
        !["C0", "C1", "C2"].contains(&self.point)
    }
}

/// Each point once, a power cut where it makes a difference.
pub(crate) fn short() -> Vec<Column> {
    use Kind::{Kill, Power};
    let bus = |mut column: Column| {
        column.bus = true;
        column
    };
    vec![
        Column::new("C0", "C0", &[1], Kill),
        Column::new("C1", "C1", &[1], Kill),
        Column::new("C1~", "C1", &[2], Power(Loss::Torn)),
        Column::new("C2", "C2", &[1, 2], Kill),
        Column::new("C2~", "C2", &[2], Power(Loss::All)),
        Column::new("C3", "C3", &[1], Kill),
        Column::new("C3~", "C3", &[1], Power(Loss::All)),
        Column::new("C4", "C4", &[1], Kill),
        bus(Column::new("C4 bus", "C4", &[2, 1], Kill)),
        Column::new("C5", "C5", &[1], Kill).about("state"),
        Column::new("C6", "C6", &[1], Kill).about("state"),
        Column::new("C6 in", "C6", &[1], Kill).about("heard"),
        Column::new("C7", "C7", &[1, 2, 3, 4], Kill),
        Column::new("C7~", "C7", &[2, 1, 4, 3], Power(Loss::Any)),
        Column::new("C8", "C8", &[1, 2, 3, 4], Kill),
    ]
}

/// Every point with both kinds, at every pass.
pub(crate) fn long() -> Vec<Column> {
    use Kind::{Kill, Power};
    let mut all = Vec::new();
    for point in ["C0", "C1", "C2", "C3", "C4", "C5", "C6", "C7", "C8"] {
        let kinds = [
            ("", Kill),
            ("~", Power(Loss::All)),
            ("?", Power(Loss::Any)),
            ("/", Power(Loss::Torn)),
        ];
        for (mark, kind) in kinds {
            let mut column = Column::new(&format!("{point}{mark}"), point, &[1], kind);
            if point == "C8" {
                column.passes = vec![1, 2, 3, 4];
            } else {
                column.every = true;
            }
            all.push(column);
        }
    }
    let mut bus = Column::new("C4 bus", "C4", &[1], Kill);
    (bus.bus, bus.every) = (true, true);
    all.push(bus);
    all
}
