//! Breaks of how a message is delivered: its topic, its retain flag, nothing in it.

use protocol::Ignored;
use protocol::message::RobotTopic;

use crate::of_payloads::{Break, Good, NO_OBJECT, trailing};
use crate::verdict::{Broken, Verdict};
use crate::wire::{Kind, Unreadable};

pub(crate) const ALL: &[Break] = &[
    ("another kind's topic", other_kind),
    ("no topic of ours", no_topic),
    ("the wrong retain flag", wrong_retain),
    ("nothing at all", empty),
];

/// A message on the topic of another kind lacks what that kind needs.
fn other_kind(good: &Good<'_>) -> Broken {
    use RobotTopic::{Cancel, Connection, Event, Request};
    let (topic, of, lacks) = match good.kind.name {
        "ride.request" => ("robots/R001/ride/cancel", Cancel, "reason"),
        "ride.event" => ("robots/R001/ride/request", Request, "from"),
        "ride.cancel" => ("robots/R001/ride/event", Event, "event"),
        "robot.status" | "elevator.event" => {
            ("robots/R001/connection", Connection, "connection_state")
        }
        "robot.connection" => ("robots/R001/ride/request", Request, "order_id"),
        _ => return trailing(good),
    };
    let refused = good.malformed(good.text.len(), lacks, "is missing");
    let mut broken = good.refused(good.text.clone().into_bytes(), refused);
    broken.topic = topic.to_owned();
    broken.unreadable = Unreadable::Robot(of);
    broken
}

/// Topics that are none of the gateway's; the payload does not matter.
fn no_topic(good: &Good<'_>) -> Broken {
    let mut levels: Vec<String> = good.kind.topic.split('/').map(str::to_owned).collect();
    let long = "x".repeat(65);
    let bad = [
        "",
        "+",
        "#",
        "R 1",
        "$SYS",
        "R\0",
        "R\n1",
        "\u{420}001",
        "R\u{202e}1",
        long.as_str(),
    ];
    match good.pick % 4 {
        0 => levels.push("more".to_owned()),
        1 => levels.truncate(levels.len() - 1),
        2 => levels.insert(0, String::new()),
        _ => levels[1] = good.one(&bad).to_owned(),
    }
    let mut broken = Broken::new(
        good.kind,
        good.text.clone().into_bytes(),
        Verdict::Ignored(Ignored::NotOurs),
    );
    broken.topic = levels.join("/");
    broken
}

fn is_connection(kind: &Kind) -> bool {
    kind.topic.ends_with("/connection")
}

/// A connection counts either way. An own state counts with the flag, all others without it.
fn wrong_retain(good: &Good<'_>) -> Broken {
    let mut broken = good.same(good.text.clone());
    broken.retained = !broken.retained;
    if !is_connection(good.kind) {
        let is_own = good.kind.unreadable == Unreadable::Own;
        broken.verdict = Verdict::Ignored(if is_own {
            Ignored::Echo
        } else {
            Ignored::Retained
        });
        if good.pick.is_multiple_of(2) {
            broken.payload.truncate(good.pick % 3);
        }
    }
    broken
}

/// An empty payload deletes a retained word; where none is kept it is no message.
fn empty(good: &Good<'_>) -> Broken {
    if is_connection(good.kind) {
        return Broken::new(good.kind, Vec::new(), Verdict::Ignored(Ignored::Cleared));
    }
    good.refused(Vec::new(), good.malformed(0, NO_OBJECT, ""))
}
