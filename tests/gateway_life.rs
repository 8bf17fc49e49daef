//! The life of a message and of a gateway, with a real Mosquitto (`wire.md` sections 1 to 3 and 7;
//! architecture, MQTT).

#![allow(clippy::unwrap_used, reason = "a test panics where it fails")]

mod support;

use serde_json::json;
use support::{Client, Gateway, Mosquitto, Robot, Site, hallcall, operate, request};

const PRESENCE: &str = "hallcall/v1/demo/gateways/gw-1/connection";

fn says(state: &'static str) -> impl Fn(&support::Message) -> bool {
    move |message| message.topic == PRESENCE && message.text("connection_state") == state
}

/// Exit code 2, 3, ... of `wire.md` section 7.
fn code(status: std::process::ExitStatus) -> Option<i32> {
    status.code()
}

#[test]
fn a_request_is_answered_and_its_repetition_too_also_after_a_crash() {
    let broker = Mosquitto::start();
    let site = Site::new(&broker).elevator("EL001");
    let mut gateway = Gateway::start(&site);
    let robot = Robot::connect(&broker, "R001");

    let reply = robot.request("m-1", "T-1", "1F", "6F");
    assert_eq!(reply["type"], "ride.reply");
    assert_eq!(reply["source"], "gateway/gw-1");
    assert_eq!(reply["result"], "accepted");
    assert_eq!(reply["order_id"], "T-1");
    let again = robot.request("m-2", "T-1", "1F", "6F");
    assert_eq!(again["result"], "duplicate");
    let other = robot.request("m-3", "T-1", "6F", "1F");
    assert_eq!(
        (&other["result"], &other["code"]),
        (&json!("rejected"), &json!("ORDER_CONFLICT"))
    );

    // AT-LIFT-05: one answer, over restarts too.
    gateway.kill();
    let gateway = Gateway::start(&site);
    let after = robot.request("m-4", "T-1", "1F", "6F");
    assert_eq!(after["result"], "duplicate");
    let other = robot.request("m-5", "T-1", "6F", "1F");
    assert_eq!(other["code"], "ORDER_CONFLICT");
    drop(gateway);
}

#[test]
fn message_ids_bear_the_instance_and_a_number() {
    let broker = Mosquitto::start();
    let site = Site::new(&broker).elevator("EL001");
    let _gateway = Gateway::start(&site);
    let watch = Client::connect(&broker, "watch");
    watch.subscribe("hallcall/v1/demo/#");
    let online = watch.hear("ONLINE", says("ONLINE"));
    assert!(online.retained);
    let instance = online.text("instance").to_owned();
    assert_eq!(instance.len(), 12);
    let id = online.text("message_id").to_owned();
    let number = id
        .strip_prefix(&format!("{instance}-"))
        .expect("instance and number");
    assert!(number.parse::<u64>().is_ok(), "{id}");
}

#[test]
fn what_cannot_be_read_is_answered_and_stops_nothing() {
    let broker = Mosquitto::start();
    let site = Site::new(&broker).elevator("EL001");
    let _gateway = Gateway::start(&site);
    let robot = Robot::connect(&broker, "R001");

    robot.send(
        "ride/request",
        "{\"message_id\":\"bad-1\",\"order_id\":\"T-9\"} x",
    );
    let reply = robot.reply("bad-1");
    assert_eq!(
        (&reply["result"], &reply["code"]),
        (&json!("rejected"), &json!("MALFORMED"))
    );
    assert_eq!(reply["order_id"], "T-9");

    // wire.md section 2: 16 KiB, and packets up to 1 MiB are answered and break nothing.
    let big = format!(
        "{{\"message_id\":\"m\",\"padding\":\"{}\"}}",
        "x".repeat(900_000)
    );
    robot.send("ride/event", &big);
    let is_too_large = |message: &support::Message| message.text("code") == "TOO_LARGE";
    robot.client().hear("TOO_LARGE", is_too_large);

    robot
        .client()
        .publish("hallcall/v1/demo/robots/bad id/ride/request", false, "{}");
    robot
        .client()
        .publish("hallcall/v1/demo/elevators/EL001/event", false, "no JSON");
    let reply = robot.request("m-1", "T-1", "1F", "6F");
    assert_eq!(reply["result"], "accepted");
}

#[test]
fn a_payload_of_1_mib_is_answered_and_a_packet_beyond_it_does_not_stop_the_gateway() {
    let broker = Mosquitto::start_with("message_size_limit 16777216");
    let site = Site::new(&broker).elevator("EL001");
    let gateway = Gateway::start(&site);
    let robot = Robot::connect(&broker, "R001");
    let is_too_large = |message: &support::Message| message.text("code") == "TOO_LARGE";
    robot.send("ride/request", &"x".repeat(1 << 20));
    robot.client().hear("TOO_LARGE", is_too_large);
    assert_eq!(
        gateway.log().matches("ingest is subscribed").count(),
        1,
        "{}",
        gateway.log()
    );

    // A broker that lets larger ones through brings this one for ever.
    robot.send("ride/request", &"x".repeat(3 << 20));
    support::wait_for("another session", || {
        (gateway.log().matches("ingest is subscribed").count() == 2).then_some(())
    });
    assert_eq!(
        robot.request("m-1", "T-1", "1F", "6F")["result"],
        "accepted"
    );
}

#[test]
fn sigterm_says_offline_and_ends_with_0() {
    let broker = Mosquitto::start();
    let site = Site::new(&broker).elevator("EL001");
    let mut gateway = Gateway::start(&site);
    let watch = Client::connect(&broker, "watch");
    watch.subscribe(PRESENCE);
    watch.hear("ONLINE", says("ONLINE"));
    gateway.terminate();
    watch.hear("OFFLINE", says("OFFLINE"));
    assert_eq!(code(gateway.wait()), Some(0), "{}", gateway.log());
    let broken = watch.heard().iter().any(says("CONNECTIONBROKEN"));
    assert!(!broken, "it took leave of the broker, the will is not said");
}

#[test]
fn a_killed_gateway_is_broken_by_its_will_and_comes_back_with_another_instance() {
    let broker = Mosquitto::start();
    let site = Site::new(&broker).elevator("EL001");
    let mut gateway = Gateway::start(&site);
    let watch = Client::connect(&broker, "watch");
    watch.subscribe(PRESENCE);
    let before = watch
        .hear("ONLINE", says("ONLINE"))
        .text("instance")
        .to_owned();
    for _ in 0..3 {
        watch.forget();
        gateway.kill();
        // At once, so that the broker may not have said the will yet.
        gateway = Gateway::start(&site);
        let online = watch.hear("ONLINE of the next", |message| {
            says("ONLINE")(message) && message.text("instance") != before
        });
        assert!(!online.retained);
    }
    assert!(
        !gateway.log().contains("DuplicateGateway"),
        "{}",
        gateway.log()
    );
}

#[test]
fn a_second_gateway_with_our_id_goes_with_6_and_the_first_stays() {
    let broker = Mosquitto::start();
    let site = Site::new(&broker).elevator("EL001");
    let mut first = Gateway::start(&site);
    let watch = Client::connect(&broker, "watch");
    watch.subscribe("hallcall/v1/demo/ops/alarm");
    let twin = Site::new(&broker).elevator("EL001");
    let mut second = Gateway::spawn(&twin);
    assert_eq!(code(second.wait()), Some(6), "{}", second.log());
    watch.hear("the alarm", |message| {
        message.text("code") == "DUPLICATE_GATEWAY"
    });
    let robot = Robot::connect(&broker, "R001");
    assert_eq!(
        robot.request("m-1", "T-1", "1F", "6F")["result"],
        "accepted"
    );
    first.terminate();
    assert_eq!(code(first.wait()), Some(0), "{}", first.log());
}

#[test]
fn a_gateway_that_was_paused_and_replaced_goes_with_6_and_leaves_the_other_alone() {
    let broker = Mosquitto::start();
    let site = Site::new(&broker).elevator("EL001");
    let mut first = Gateway::start(&site);
    first.signal(rustix::process::Signal::STOP);
    // It does not say that it lives, so the next one takes its place.
    let twin = Site::new(&broker).elevator("EL001");
    let second = Gateway::start(&twin);
    let watch = Client::connect(&broker, "watch");
    watch.subscribe(PRESENCE);
    let online = watch.hear("ONLINE", says("ONLINE"));
    first.signal(rustix::process::Signal::CONT);
    assert_eq!(code(first.wait()), Some(6), "{}", first.log());
    let robot = Robot::connect(&broker, "R001");
    let reply = robot.request("m-1", "T-1", "1F", "6F");
    assert_eq!(reply["result"], "accepted", "{}", second.log());
    let last = watch.heard().into_iter().rfind(says("ONLINE")).unwrap();
    assert_eq!(last.text("instance"), online.text("instance"));
    assert_eq!(
        second.log().matches("ingest is subscribed").count(),
        1,
        "{}",
        second.log()
    );
}

#[test]
fn a_live_online_of_another_instance_ends_the_gateway_with_6() {
    let broker = Mosquitto::start();
    let site = Site::new(&broker).elevator("EL001");
    let mut gateway = Gateway::start(&site);
    let watch = Client::connect(&broker, "watch");
    watch.subscribe("hallcall/v1/demo/#");
    watch.hear("ONLINE", says("ONLINE"));
    // Until it was heard: what comes before its own word came back proves nothing.
    support::wait_for("the end", || {
        let word = json!({ "message_id": "x-1", "timestamp": support::now(),
            "connection_state": "ONLINE", "instance": "another" });
        watch.publish(PRESENCE, false, word.to_string());
        gateway.log().contains("DuplicateGateway").then_some(())
    });
    watch.hear("the alarm", |message| {
        message.text("code") == "DUPLICATE_GATEWAY"
    });
    assert_eq!(code(gateway.wait()), Some(6), "{}", gateway.log());
}

#[test]
fn a_stale_word_about_our_presence_is_put_right() {
    let broker = Mosquitto::start();
    let site = Site::new(&broker).elevator("EL001");
    let _gateway = Gateway::start(&site);
    let watch = Client::connect(&broker, "watch");
    watch.subscribe(PRESENCE);
    let online = watch.hear("ONLINE", says("ONLINE"));
    // The late will of an earlier start, and one of our own of a connection that is replaced.
    for instance in ["earlier", online.text("instance")] {
        watch.forget();
        let will = json!({ "message_id": "x-1", "timestamp": support::now(),
            "connection_state": "CONNECTIONBROKEN", "instance": instance });
        watch.publish(PRESENCE, true, will.to_string());
        let again = watch.hear("ONLINE again", says("ONLINE"));
        assert_eq!(again.text("instance"), online.text("instance"));
    }
}

#[test]
fn the_broker_may_restart_with_its_sessions_or_without() {
    let mut broker = Mosquitto::start();
    let site = Site::new(&broker).elevator("EL001");
    let gateway = Gateway::start(&site);
    for (round, forget) in [false, true].into_iter().enumerate() {
        broker.stop();
        if forget {
            broker.forget();
        }
        broker.start_again();
        let watch = Client::connect(&broker, &format!("watch-{round}"));
        watch.subscribe(PRESENCE);
        watch.hear("ONLINE that is not retained from before", |message| {
            says("ONLINE")(message) && (forget || !message.retained)
        });
        let id = format!("R{round}");
        let robot = Robot::connect(&broker, &id);
        let reply = robot.request(&format!("m-{round}"), &format!("T-{round}"), "1F", "6F");
        assert_eq!(reply["result"], "accepted", "{}", gateway.log());
    }
}

#[test]
fn what_came_while_the_gateway_was_away_is_answered_when_it_is_back() {
    let broker = Mosquitto::start();
    let site = Site::new(&broker).elevator("EL001");
    let mut gateway = Gateway::start(&site);
    let robot = Robot::connect(&broker, "R001");
    gateway.kill();
    robot.send(
        "ride/request",
        &request("m-1", "T-1", "1F", "6F").to_string(),
    );
    let _gateway = Gateway::start(&site);
    assert_eq!(robot.reply("m-1")["result"], "accepted");
}

#[test]
fn a_data_directory_has_one_process() {
    let broker = Mosquitto::start();
    let site = Site::new(&broker).elevator("EL001");
    let _first = Gateway::start(&site);
    let mut second = Gateway::spawn(&site);
    assert_eq!(code(second.wait()), Some(3), "T-STACK-12: {}", second.log());
}

#[test]
fn a_wrong_configuration_or_command_line_ends_with_2() {
    let broker = Mosquitto::start();
    let site = Site::new(&broker).elevator("EL001").with("[nonsense]\n");
    let mut gateway = Gateway::spawn(&site);
    assert_eq!(code(gateway.wait()), Some(2));
    assert!(gateway.log().contains("nonsense"), "{}", gateway.log());
    let output = hallcall().arg("--no-such-option").output().unwrap();
    assert_eq!(code(output.status), Some(2));

    let open = Site::with_broker("broker = \"embedded\"\nlisten = \"0.0.0.0:1883\"");
    let open = open.elevator("EL001");
    let mut gateway = Gateway::spawn(&open);
    assert_eq!(code(gateway.wait()), Some(2));
    assert!(gateway.log().contains("listen"), "{}", gateway.log());
}

#[test]
fn operators_look_and_act_over_the_socket() {
    use std::os::unix::fs::PermissionsExt;

    let broker = Mosquitto::start();
    let site = Site::new(&broker).elevator("EL001");
    let config = site.config();
    let missing = operate(&config, &["elevator", "list", "--json"]);
    assert_eq!(code(missing.status), Some(7), "no gateway runs");

    let _gateway = Gateway::start(&site);
    let socket = site.data_dir().join("operator.sock");
    let mode = std::fs::metadata(&socket).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);

    let list = operate(&config, &["elevator", "list", "--json"]);
    assert_eq!(code(list.status), Some(0));
    let list: serde_json::Value = serde_json::from_slice(&list.stdout).unwrap();
    assert_eq!(list["elevators"][0]["elevator_id"], "EL001");
    let table = operate(&config, &["elevator", "list"]);
    assert!(String::from_utf8(table.stdout).unwrap().contains("EL001"));
    let show = operate(&config, &["elevator", "show", "EL001", "--json"]);
    let show: serde_json::Value = serde_json::from_slice(&show.stdout).unwrap();
    assert_eq!(show["elevator_id"], "EL001");

    let robot = Robot::connect(&broker, "R001");
    robot.request("m-1", "T-1", "1F", "6F");
    let orders = operate(&config, &["order", "list", "--json"]);
    let orders: serde_json::Value = serde_json::from_slice(&orders.stdout).unwrap();
    assert_eq!(orders["orders"][0]["order_id"], "T-1");

    let nobody = operate(&config, &["order", "cancel", "T-1"]);
    assert_eq!(code(nobody.status), Some(2), "who and why are required");
    let who = ["--operator", "anna", "--reason", "a test"];
    let act = |words: &[&str]| operate(&config, &[words, &who[..]].concat());
    let unknown = act(&["order", "cancel", "T-404"]);
    assert_eq!(code(unknown.status), Some(7));
    assert!(String::from_utf8(unknown.stderr).unwrap().contains("T-404"));
    let cancelled = act(&["order", "cancel", "T-1"]);
    assert_eq!(code(cancelled.status), Some(0));
    let state = robot.state("T-1", "CANCELLED");
    assert_eq!(state["reason"]["code"], "CANCELLED_BY_OPERATOR");
    let suspended = act(&["site", "suspend"]);
    assert_eq!(code(suspended.status), Some(0));
    let refused = robot.request("m-2", "T-2", "1F", "6F");
    assert_eq!(refused["code"], "SITE_SUSPENDED");
    assert_eq!(code(act(&["site", "resume"]).status), Some(0));
    assert_eq!(
        robot.request("m-3", "T-3", "1F", "6F")["result"],
        "accepted"
    );
}
