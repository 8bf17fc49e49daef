//! How a gateway ends, and what it still does before (architecture, Ends and failures; `ride.md`
//! section 4, the last row; exit codes of `wire.md` section 7).

#![allow(clippy::unwrap_used, reason = "a test panics where it fails")]

mod support;

use std::time::{Duration, Instant};

use support::{Client, Controller, Gateway, Mosquitto, Robot, Site};

/// A ride whose robot is told to enter: from here on it may be inside.
fn board(broker: &Mosquitto) -> (Robot, Controller) {
    let controller = Controller::start(broker, "EL001");
    let robot = Robot::connect(broker, "R001");
    assert_eq!(
        robot.request("m-1", "T-1", "1F", "6F")["result"],
        "accepted"
    );
    let arrived = robot.state("T-1", "ELEVATOR_ARRIVED");
    assert_eq!(arrived["instruction"], "enter");
    (robot, controller)
}

fn quick(broker: &Mosquitto) -> Site {
    let elevator = "hold_max_s = 4\ndriver = { kind = \"mqtt\" }";
    let timing =
        "[timing]\nvalid_s = 1.5\naccept_s = 1\nsettle_s = 0.1\nrequery_s = 0.5\npoll_s = 0.5";
    Site::new(broker)
        .elevator_with("EL001", elevator)
        .with(timing)
}

#[test]
fn a_whole_ride_goes_over_mqtt() {
    let broker = Mosquitto::start();
    let site = quick(&broker);
    let _gateway = Gateway::start(&site);
    let (robot, _controller) = board(&broker);
    let fence = robot.state("T-1", "ELEVATOR_ARRIVED")["fence"].as_u64();
    assert_eq!(
        robot.event("m-2", "T-1", "query", None)["instruction"],
        "enter"
    );
    assert_eq!(
        robot.event("m-3", "T-1", "entered", fence)["result"],
        "accepted"
    );
    robot.state("T-1", "RUNNING");
    let arrived = robot.state("T-1", "TARGET_ARRIVED");
    assert_eq!(
        (&arrived["floor"], &arrived["instruction"]),
        (&"6F".into(), &"exit".into())
    );
    assert_eq!(
        robot.event("m-4", "T-1", "exited", fence)["result"],
        "accepted"
    );
    assert_eq!(robot.state("T-1", "ROBOT_EXITED")["instruction"], "clear");
}

#[test]
fn sigterm_holds_the_door_of_a_car_that_a_robot_may_be_in() {
    let broker = Mosquitto::start();
    let site = quick(&broker);
    let mut gateway = Gateway::start(&site);
    let (robot, controller) = board(&broker);
    let before = controller.count("hold_door");
    let start = Instant::now();
    gateway.terminate();
    assert_eq!(gateway.wait().code(), Some(0), "{}", gateway.log());
    let took = start.elapsed();
    // 2 x valid_s = 3 s; and 15 s at most.
    assert!(took >= Duration::from_millis(2_900), "{took:?}");
    assert!(took < Duration::from_secs(15), "{took:?}");
    assert!(
        controller.count("hold_door") > before,
        "the hold was renewed"
    );

    // The ride stays as it is and goes on at start.
    let _gateway = Gateway::start(&site);
    let reply = robot.event("m-9", "T-1", "query", None);
    assert_eq!(reply["state"], "ELEVATOR_ARRIVED");
}

#[test]
fn a_journal_that_cannot_be_written_ends_the_gateway_with_5() {
    let broker = Mosquitto::start();
    let site = quick(&broker);
    Gateway::start(&site).kill();
    let watch = Client::connect(&broker, "watch");
    watch.subscribe("hallcall/v1/demo/#");
    // A file of the journal may not grow any more.
    let mut gateway = Gateway::start_limited(&site, data_kib(&site));
    for n in 0..100_000 {
        let robot = format!("R{n}");
        let wish = support::request("m-1", &format!("T-{n}"), "1F", "6F").to_string();
        watch.publish(
            &format!("hallcall/v1/demo/robots/{robot}/ride/request"),
            false,
            wish,
        );
        if gateway.has_ended() {
            break;
        }
    }
    assert_eq!(gateway.wait().code(), Some(5), "{}", gateway.log());
    watch.hear("the alarm", |message| {
        message.text("code") == "JOURNAL_FAILED"
    });
    watch.hear("OFFLINE", |message| {
        message.text("connection_state") == "OFFLINE"
    });
    // What was accepted is known, and nothing else was.
    let accepted: Vec<String> = watch
        .heard()
        .iter()
        .filter(|message| message.text("result") == "accepted")
        .map(|message| message.text("order_id").to_owned())
        .collect();
    assert!(!accepted.is_empty());
    let _gateway = Gateway::start(&site);
    let last = accepted.last().unwrap();
    let robot = Robot::connect(&broker, &last.replace('T', "R").replace('-', ""));
    assert_eq!(
        robot.request("m-2", last, "1F", "6F")["result"],
        "duplicate"
    );
}

#[test]
fn a_failing_journal_still_holds_the_door_for_2_valid_s() {
    let broker = Mosquitto::start();
    let site = quick(&broker);
    Gateway::start(&site).kill();
    let mut gateway = Gateway::start_limited(&site, data_kib(&site));
    let (_robot, controller) = board(&broker);
    let watch = Client::connect(&broker, "watch");
    watch.subscribe("hallcall/v1/demo/ops/alarm");
    for n in 0..100_000 {
        let wish = support::request("m-1", &format!("T-x{n}"), "1F", "6F").to_string();
        watch.publish(
            &format!("hallcall/v1/demo/robots/X{n}/ride/request"),
            false,
            wish,
        );
        if watch
            .heard()
            .iter()
            .any(|message| message.text("code") == "JOURNAL_FAILED")
        {
            break;
        }
    }
    let failed = Instant::now();
    let before = controller.count("hold_door");
    assert_eq!(gateway.wait().code(), Some(5), "{}", gateway.log());
    assert!(
        failed.elapsed() >= Duration::from_millis(2_500),
        "{:?}",
        failed.elapsed()
    );
    assert!(
        controller.count("hold_door") > before,
        "the hold was renewed"
    );
}

#[test]
fn a_corrupt_store_ends_with_4_every_time() {
    let broker = Mosquitto::start();
    let site = quick(&broker);
    let mut gateway = Gateway::start(&site);
    let robot = Robot::connect(&broker, "R001");
    robot.request("m-1", "T-1", "1F", "6F");
    gateway.kill();
    let db = site.data_dir().join("journal/db");
    let mut bytes = std::fs::read(&db).unwrap();
    let middle = bytes.len() / 64;
    for byte in &mut bytes[64..middle.max(4_096)] {
        *byte ^= 0x55;
    }
    std::fs::write(&db, &bytes).unwrap();
    // Law 11: never taken for an empty one, however often it is tried.
    for _ in 0..2 {
        let mut gateway = Gateway::spawn(&site);
        assert_eq!(gateway.wait().code(), Some(4), "{}", gateway.log());
        assert!(
            gateway.log().contains("hallcall journal"),
            "{}",
            gateway.log()
        );
    }
}

/// The size of the largest file of the journal, in KiB.
fn data_kib(site: &Site) -> u64 {
    let db = site.data_dir().join("journal/db");
    std::fs::metadata(db).unwrap().len().div_ceil(1_024)
}
