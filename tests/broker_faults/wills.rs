//! Wills that come late, and junk that the broker keeps on our topics (M10, M11; law 6; B6, 18).

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::broker::{BOTH, Broker, Kind, site};
use crate::fleet::Fleet;
use crate::support::{
    Client, Gateway, Message, Passing, Proxy, Robot, Way, now, request, wait_for,
};
use crate::{seen, side_by_side};

const BASE: &str = "hallcall/v1/demo";
const PRESENCE: &str = "hallcall/v1/demo/gateways/gw-1/connection";
const OUT: &str = "gw-1-out";

fn says(state: &'static str) -> impl Fn(&Message) -> bool {
    move |message| message.topic == PRESENCE && message.text("connection_state") == state
}

/// What a newcomer is shown on a topic.
#[track_caller]
fn shown(port: u16, id: &str, topic: &str, is: impl Fn(&Message) -> bool) -> Message {
    let newcomer = Client::connect_to(port, id);
    newcomer.subscribe(topic);
    newcomer.hear(topic, |message| message.topic == topic && is(message))
}

#[test]
fn our_own_will_that_comes_after_we_are_back_is_put_right() {
    side_by_side(BOTH, |kind| {
        let broker = Broker::start(kind);
        let proxy = Proxy::start(broker.port());
        let site = site(proxy.port());
        let mut gateway = Gateway::start(&site);
        let watch = Client::connect_to(broker.port(), "watch");
        watch.subscribe(PRESENCE);
        let instance = watch
            .hear("ONLINE", says("ONLINE"))
            .text("instance")
            .to_owned();
        watch.forget();
        // The broker learns of the end of the old connection when the new one takes its client id.
        proxy.orphan(OUT);
        wait_for("another connection", || {
            (proxy.connections(OUT) == 2).then_some(())
        });
        watch.hear("ONLINE again", says("ONLINE"));
        // The will of an instance that is no more, and one of ours that was on its way for long.
        for whose in ["earlier", instance.as_str()] {
            watch.forget();
            let will = json!({ "message_id": "w-1", "timestamp": now(),
                "connection_state": "CONNECTIONBROKEN", "instance": whose });
            watch.publish(PRESENCE, true, will.to_string());
            let online = watch.hear("ONLINE after the will", says("ONLINE"));
            assert_eq!(online.text("instance"), instance);
        }
        let kept = shown(broker.port(), "newcomer", PRESENCE, says("ONLINE"));
        assert!(kept.retained);
        assert_eq!(kept.text("instance"), instance);
        assert!(!gateway.has_ended(), "{}", gateway.log());
        seen(
            "late and stale wills",
            kind,
            "ONLINE of the living instance is what the broker keeps",
        );
    });
}

/// A state that this gateway never said.
fn ride_state(robot: &str) -> String {
    json!({ "type": "ride.state", "message_id": "x-1", "timestamp": now(),
            "source": "gateway/gw-1", "order_id": "T-ghost", "robot_id": robot, "seq": 99,
            "state": "ELEVATOR_ARRIVED", "held_from": null, "instruction": "enter", "valid_s": 3600,
            "elevator_id": "EL001", "bank_id": null, "fence": 4_000_000,
            "from": { "floor": "1F", "side": "front" }, "to": { "floor": "6F", "side": "front" },
            "floor": "1F", "side": "front", "queue_position": null, "eta_s": null,
            "deadline": null, "deadline_s": null, "reason": null })
    .to_string()
}

/// Junk that lies on the topics before the gateway starts.
fn litter(client: &Client) {
    let keep = |topic: &str, payload: &[u8]| {
        client.publish(&format!("{BASE}/{topic}"), true, payload.to_vec());
    };
    keep(
        "robots/R-ghost/ride/state",
        ride_state("R-ghost").as_bytes(),
    );
    keep(
        "robots/R-other/ride/state",
        ride_state("R-ghost").as_bytes(),
    );
    keep("robots/R-junk/ride/state", b"no JSON");
    keep("robots/R-big/ride/state", &vec![b'x'; 900_000]);
    keep("elevators/EL001/state", b"{}");
    keep("elevators/EL404/state", b"[1,2,3]");
    let command = json!({ "command_id": "c-x", "command": "close_door", "fence": 4_000_000 });
    keep("elevators/EL001/command", command.to_string().as_bytes());
    let event = json!({ "message_id": "e-x", "timestamp": now(), "event": "state", "boot_id": "b",
        "seq": 1, "floor": "6F", "door": "open", "motion": "stopped", "mode": "normal",
        "occupied": null, "calls": [], "command_id": null });
    keep("elevators/EL001/event", event.to_string().as_bytes());
    let wish = request("m-old", "T-old", "1F", "6F").to_string();
    keep("robots/R-old/ride/request", wish.as_bytes());
    keep("robots/R-old/connection", b"\xff\xfe");
    keep("ops/alarms", b"junk");
    keep("site", b"junk");
}

/// An instance that is no more, and whose will was never said.
fn claim(client: &Client) {
    let online = json!({ "message_id": "x-2", "timestamp": now(), "connection_state": "ONLINE",
        "instance": "earlier" });
    client.publish(PRESENCE, true, online.to_string());
}

#[test]
fn junk_that_the_broker_keeps_moves_nothing_and_what_is_ours_is_put_right() {
    side_by_side(BOTH, |kind| {
        let broker = Broker::start(kind);
        let client = Client::connect_to(broker.port(), "litterer");
        litter(&client);
        claim(&client);
        let site = site(broker.port());
        let mut gateway = Gateway::start(&site);
        let watch = Client::connect_to(broker.port(), "watch");
        watch.subscribe(&format!("{BASE}/#"));

        // While it runs, it is heard like anything else, and no more.
        litter(&client);
        client.publish(PRESENCE, true, "{}");
        let robot = Robot::connect_to(broker.port(), "R001");
        assert_eq!(
            robot.request("m-1", "T-1", "1F", "6F")["result"],
            "accepted"
        );
        assert_eq!(
            robot.event("m-2", "T-ghost", "query", None)["code"],
            "UNKNOWN_ORDER"
        );
        // What was kept from before the start is no request: this id is free. The same published
        // while the gateway hears is one.
        watch.hear("the reply to the second one", |message| {
            message.text("in_reply_to") == "m-old" && message.text("result") == "accepted"
        });
        let replies = watch.heard();
        let replies = replies
            .iter()
            .filter(|message| message.text("in_reply_to") == "m-old");
        assert_eq!(replies.count(), 1);
        assert!(!gateway.has_ended(), "{}", gateway.log());
        drop(gateway);

        // The next start looks through what is kept in its name.
        let _gateway = Gateway::start(&site);
        for topic in ["site", "ops/alarms", "elevators/EL001/state"] {
            let topic = format!("{BASE}/{topic}");
            let right = |message: &Message| message.text("source") == "gateway/gw-1";
            shown(broker.port(), "newcomer", &topic, right);
        }
        wait_for("a ghost's ride to be gone", || {
            let newcomer = Client::connect_to(broker.port(), "newcomer-2");
            newcomer.subscribe(&format!("{BASE}/robots/R-ghost/ride/state"));
            newcomer.subscribe(&format!("{BASE}/robots/R001/ride/state"));
            // Retained words come in the order of subscription.
            newcomer.hear("the other's", |message| message.topic.contains("R001"));
            let heard = newcomer.heard();
            let ghost = heard
                .iter()
                .any(|message| message.topic.contains("R-ghost"));
            (!ghost).then_some(())
        });
        seen(
            "junk retained on our topics",
            kind,
            "nothing moved, our own topics put right",
        );
    });
}

#[test]
fn a_topic_of_another_alphabet_kills_the_embedded_broker_and_not_the_gateway() {
    // facts of rumqttd: its router dies of a topic whose first character takes several bytes.
    use crate::support::{Site, free_port};
    let port = free_port();
    let lines = format!("broker = \"embedded\"\nlisten = \"127.0.0.1:{port}\"");
    let site = Site::with_broker(&lines).elevator("EL001");
    let mut gateway = Gateway::start(&site);
    let before = child(gateway.id());
    {
        let mut options = rumqttc::MqttOptions::new("foreigner", "127.0.0.1", port);
        options.set_keep_alive(Duration::from_secs(30));
        let (client, mut connection) = rumqttc::Client::new(options, 10);
        client
            .publish("\u{e9}tage/1", rumqttc::QoS::AtLeastOnce, false, "x")
            .unwrap();
        // Until it is sent; nothing ever answers.
        for event in connection.iter() {
            match event {
                Ok(rumqttc::Event::Outgoing(rumqttc::Outgoing::Publish(_))) | Err(_) => break,
                Ok(_) => {}
            }
        }
        let after = wait_for("another child", || {
            let now = child(gateway.id())?;
            (Some(now) != before).then_some(now)
        });
        assert!(before.is_some() && before != Some(after));
    }
    let fleet = Fleet::start(port);
    fleet.ask(0..10);
    fleet.wait_all(Duration::from_secs(40));
    let right = |answers: &Vec<Value>| answers[0]["result"] == "accepted";
    assert!(fleet.answers().values().all(right));
    assert!(!gateway.has_ended(), "{}", gateway.log());
    seen(
        "a topic that kills the embedded broker",
        "Embedded",
        "the child alone is started again, served",
    );
}

/// The broker child of a gateway.
fn child(gateway: u32) -> Option<u32> {
    let children = std::fs::read_to_string(format!("/proc/{gateway}/task/{gateway}/children"));
    let tasks = std::fs::read_dir(format!("/proc/{gateway}/task")).ok()?;
    let mut all = children.unwrap_or_default();
    for task in tasks.flatten() {
        let path = task.path().join("children");
        all.push_str(&std::fs::read_to_string(path).unwrap_or_default());
    }
    all.split_whitespace().find_map(|id| id.parse().ok())
}

#[test]
fn own_states_beyond_one_look_are_looked_for_again_by_the_next() {
    const SUBSCRIBE: u8 = 8;
    let broker = Broker::start(Kind::Mosquitto);
    let proxy = Proxy::start(broker.port());
    let site = site(proxy.port());
    let watch = Client::connect_to(broker.port(), "watch");
    watch.subscribe(&format!("{BASE}/robots/+/ride/state"));
    let gateway = Gateway::spawn(&site);
    let is_look =
        |packet: &Passing| packet.client.starts_with("gw-1-look") && packet.kind() == SUBSCRIBE;
    let look = proxy.look("the look at the start", |came| {
        came.iter().find(|packet| is_look(packet)).cloned()
    });
    // One kept state after the other, never 0.25 s without one, for longer than a look goes on.
    let begun = Instant::now();
    let mut told = 0;
    while begun.elapsed() < Duration::from_secs(12) {
        let robot = format!("R-ghost-{told}");
        let topic = format!("{BASE}/robots/{robot}/ride/state");
        let mut body = u16::try_from(topic.len()).unwrap().to_be_bytes().to_vec();
        body.extend(topic.as_bytes());
        body.extend(ride_state(&robot).as_bytes());
        // QoS 0, retained.
        proxy.invent(&look.client, Way::ToClient, 0x31, &body);
        told += 1;
        std::thread::sleep(Duration::from_millis(50));
    }
    // Those of the first ten seconds are cleared, and it serves.
    for n in 0..100 {
        let topic = format!("{BASE}/robots/R-ghost-{n}/ride/state");
        watch.hear(&topic, |message| {
            message.topic == topic && message.payload.is_empty()
        });
    }
    let words = "the broker keeps more states of ours than one look takes";
    assert!(gateway.log().contains(words), "{}", gateway.log());
    let fleet = Fleet::start(broker.port());
    fleet.ask(0..5);
    fleet.wait_all(Duration::from_secs(40));
    // The next look asks for them too, and the one after it has no need to.
    for (round, asks) in [true, false].into_iter().enumerate() {
        // A look holds for 1 s.
        std::thread::sleep(Duration::from_millis(1_200));
        let before = proxy.came().len();
        proxy.cut("gw-1-in");
        let looked = proxy.look("another look", |came| {
            let mut later = came[before..].iter();
            later.find(|packet| is_look(packet)).cloned()
        });
        let text = String::from_utf8_lossy(&looked.body).into_owned();
        assert_eq!(text.contains("/ride/state"), asks, "round {round}: {text}");
        wait_for("the way back", || {
            (proxy.connections("gw-1-in") == 2 + round).then_some(())
        });
    }
    seen(
        "more own states than a look takes",
        Kind::Mosquitto,
        "said, and the next look goes on",
    );
}
