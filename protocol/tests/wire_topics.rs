//! The topics of `wire.md` section 1.

mod site;

use protocol::{GatewayId, Ignored, SiteId, Topic, Topics};
use site::{deliver, deliver_retained, ignored, topics};

/// Every topic of `wire.md` section 1, as text and as value.
fn table() -> Vec<(&'static str, Topic)> {
    let robot = || "R001".parse().expect("an id");
    let elevator = || "EL001".parse().expect("an id");
    let device = || "D1".parse().expect("an id");
    vec![
        ("site", Topic::Site),
        ("robots/R001/ride/request", Topic::RideRequest(robot())),
        ("robots/R001/ride/event", Topic::RideEvent(robot())),
        ("robots/R001/ride/cancel", Topic::RideCancel(robot())),
        ("robots/R001/status", Topic::RobotStatus(robot())),
        ("robots/R001/connection", Topic::RobotConnection(robot())),
        ("robots/R001/ride/reply", Topic::RideReply(robot())),
        ("robots/R001/ride/state", Topic::RideState(robot())),
        ("elevators/EL001/state", Topic::ElevatorState(elevator())),
        (
            "elevators/EL001/command",
            Topic::ElevatorCommand(elevator()),
        ),
        ("elevators/EL001/event", Topic::ElevatorEvent(elevator())),
        (
            "clients/app-1/request",
            Topic::ClientRequest("app-1".parse().expect("an id")),
        ),
        (
            "clients/app-1/reply",
            Topic::ClientReply("app-1".parse().expect("an id")),
        ),
        ("devices/D1/command", Topic::DeviceCommand(device())),
        ("devices/D1/event", Topic::DeviceEvent(device())),
        ("devices/D1/state", Topic::DeviceState(device())),
        ("ops/alarm", Topic::Alarm),
        ("ops/alarms", Topic::Alarms),
        (
            "gateways/gw-1/connection",
            Topic::GatewayConnection("gw-1".parse().expect("an id")),
        ),
    ]
}

#[test]
fn each_topic_is_written_and_read() {
    for (text, topic) in table() {
        let whole = format!("hallcall/v1/demo/{text}");
        assert_eq!(topics().name(&topic), whole);
        assert_eq!(topics().parse(&whole), Some(topic), "{whole}");
    }
}

#[test]
fn a_topic_of_another_site_or_root_is_none_of_ours() {
    for (text, _) in table() {
        for base in [
            "hallcall/v1/other",
            "hallcall/v2/demo",
            "hallcall/v1/demo2",
            "demo",
            "/hallcall/v1/demo",
        ] {
            assert_eq!(
                topics().parse(&format!("{base}/{text}")),
                None,
                "{base}/{text}"
            );
        }
        assert_eq!(
            topics().parse(&format!("hallcall/v1/demo/{text}/")),
            None,
            "{text}/"
        );
        assert_eq!(
            topics().parse(&format!("hallcall/v1/demo/{text}/x")),
            None,
            "{text}/x"
        );
        assert_eq!(
            topics().parse(&format!("hallcall/v1/demo//{text}")),
            None,
            "//{text}"
        );
    }
    for text in [
        "",
        "/",
        "Site",
        "robots",
        "robots/R001",
        "robots/R001/ride",
        "robots/R001/Status",
        "robots/R001/ride/requests",
        "robots/R001/status/request",
        "elevators/EL001",
        "elevators/EL001/ride/request",
        "gateways/gw-1",
        "gateways/gw-1/state",
        "ops",
        "ops/x",
    ] {
        assert_eq!(
            topics().parse(&format!("hallcall/v1/demo/{text}")),
            None,
            "{text:?}"
        );
    }
    assert_eq!(topics().parse("hallcall/v1/demo"), None);
    assert_eq!(topics().parse(""), None);
}

#[test]
fn a_bad_id_makes_it_no_topic_of_ours() {
    let long = "R".repeat(65);
    // Cyrillic Er, full-width R, a zero-width space: look-alikes of R001.
    for id in [
        "",
        " ",
        "R 1",
        "R001\0",
        "\0",
        "R+",
        "+",
        "#",
        "$SYS",
        "R#",
        "Р001",
        "Ｒ001",
        "R\u{200b}001",
        "é",
        &long,
    ] {
        for topic in [
            "robots/{}/ride/request",
            "robots/{}/status",
            "robots/{}/connection",
            "elevators/{}/event",
            "clients/{}/request",
            "devices/{}/event",
            "gateways/{}/connection",
        ] {
            let topic = topic.replace("{}", id);
            assert_eq!(
                ignored(deliver(&topic, "{}")),
                Ignored::NotOurs,
                "{topic:?}"
            );
        }
    }
    let longest = format!("robots/{}/status", "R".repeat(64));
    assert!(
        topics()
            .parse(&format!("hallcall/v1/demo/{longest}"))
            .is_some()
    );
    assert!(
        topics()
            .parse("hallcall/v1/demo/robots/A-z_0.9:/status")
            .is_some()
    );
}

#[test]
fn topics_that_the_gateway_writes_are_not_read() {
    for topic in [
        "site",
        "robots/R001/ride/reply",
        "elevators/EL001/command",
        "clients/app-1/reply",
        "devices/D1/command",
        "devices/D1/state",
        "ops/alarm",
        "ops/alarms",
    ] {
        assert_eq!(ignored(deliver(topic, "{}")), Ignored::NotOurs, "{topic}");
        assert_eq!(
            ignored(deliver_retained(topic, "{}")),
            Ignored::NotOurs,
            "{topic}"
        );
    }
}

#[test]
fn the_filters_of_each_side() {
    let own = GatewayId::new("gw-1").expect("an id");
    assert_eq!(
        topics().ingest_filters(&own),
        [
            "hallcall/v1/demo/robots/+/ride/request",
            "hallcall/v1/demo/robots/+/ride/event",
            "hallcall/v1/demo/robots/+/ride/cancel",
            "hallcall/v1/demo/robots/+/status",
            "hallcall/v1/demo/robots/+/connection",
            "hallcall/v1/demo/elevators/+/event",
            "hallcall/v1/demo/clients/+/request",
            "hallcall/v1/demo/devices/+/event",
            "hallcall/v1/demo/gateways/gw-1/connection",
        ]
    );
    assert_eq!(
        topics().start_filters(),
        [
            "hallcall/v1/demo/robots/+/ride/state",
            "hallcall/v1/demo/elevators/+/state"
        ]
    );
    assert_eq!(
        topics().robot_filters(&"R001".parse().expect("an id")),
        [
            "hallcall/v1/demo/robots/R001/ride/reply",
            "hallcall/v1/demo/robots/R001/ride/state",
            "hallcall/v1/demo/gateways/+/connection",
        ]
    );
    assert_eq!(
        topics().controller_filters(&"EL001".parse().expect("an id")),
        ["hallcall/v1/demo/elevators/EL001/command"]
    );
    assert_eq!(topics().site_filter(), "hallcall/v1/demo/#");
}

#[test]
fn a_root_has_levels_and_no_wildcards() {
    let site = SiteId::new("demo").expect("an id");
    for root in [
        "hallcall",
        "hallcall/v1",
        "a/b/c/d",
        "plant_7/x.y:z-1",
        &"r".repeat(256),
    ] {
        let topics = Topics::new(root, &site).expect("a root");
        assert_eq!(topics.name(&Topic::Site), format!("{root}/demo/site"));
        assert_eq!(
            topics.parse(&format!("{root}/demo/site")),
            Some(Topic::Site)
        );
    }
    for root in [
        "",
        "/",
        "/a",
        "a/",
        "a//b",
        "+",
        "a/+",
        "#",
        "a/#",
        "$SYS",
        "a b",
        "a\0",
        "a\n",
        "é",
        &"r".repeat(257),
    ] {
        let error = Topics::new(root, &site).expect_err("no root");
        assert!(error.to_string().starts_with("topic root \""), "{error}");
    }
}
