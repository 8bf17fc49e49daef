//! Faults that it lives with: a slow disk, short writes, and little room.

use std::time::{Duration, Instant};

use serde_json::Value;

use crate::disk::{Dice, Disk, Loss, Number, SHORT};
use crate::support::{Client, Gateway, Message, Mosquitto, Robot, Site, hallcall, request};

const SLOW: Duration = Duration::from_secs(5);
const MIB: u64 = 1 << 20;

/// D7: answers come late, and the process does not end.
#[test]
fn a_slow_sync_makes_answers_late_and_loses_nothing() {
    let broker = Mosquitto::start();
    let site = Site::new(&broker).elevator("EL001");
    let disk = Disk::new(&site.data_dir());
    let mut gateway = Gateway::start_by(disk.under(hallcall()), &site);
    let robots: Vec<_> = (0..8)
        .map(|n| Robot::connect(&broker, &format!("R{n}")))
        .collect();

    disk.set(Number::SlowMs, u64::try_from(SLOW.as_millis()).unwrap());
    let start = Instant::now();
    for (n, robot) in robots.iter().enumerate() {
        let wish = request("m-1", &format!("T-{n}"), "1F", "6F");
        robot.send("ride/request", &wish.to_string());
    }
    for robot in &robots {
        assert_eq!(robot.reply("m-1")["result"], "accepted");
        assert!(start.elapsed() >= SLOW, "answered before it was durable");
    }
    // One group waits for the sync under way, the rest for the next.
    assert!(start.elapsed() < 3 * SLOW, "{:?}", start.elapsed());
    assert!(!gateway.has_ended());

    disk.set(Number::SlowMs, 0);
    gateway.kill();
    disk.lose(Loss::All, &mut Dice(1));
    let _gateway = Gateway::start_by(disk.under(hallcall()), &site);
    for (n, robot) in robots.iter().enumerate() {
        let reply = robot.request("m-2", &format!("T-{n}"), "1F", "6F");
        assert_eq!(reply["result"], "duplicate", "{reply}");
    }
}

/// Every write takes half of what it is given, from the first start on.
#[test]
fn short_writes_are_finished() {
    let broker = Mosquitto::start();
    let site = Site::new(&broker).elevator("EL001");
    let disk = Disk::new(&site.data_dir());
    disk.set(Number::Faults, SHORT);
    for start in 0..2 {
        let mut gateway = Gateway::start_by(disk.under(hallcall()), &site);
        for n in 0..10 {
            let robot = Robot::connect(&broker, &format!("R{n}"));
            let reply = robot.request(&format!("m-{start}"), &format!("T-{n}"), "1F", "6F");
            let expected = ["accepted", "duplicate"][start];
            assert_eq!(reply["result"], expected, "{reply}");
        }
        gateway.kill();
    }
    assert!(disk.get(Number::Fired) > 100);
}

/// Below 64 MiB no new order is taken; known ones go on, and it ends by itself (AT-GW-06).
#[test]
fn little_room_refuses_new_orders_and_passes_by_itself() {
    let broker = Mosquitto::start();
    let site = Site::new(&broker).elevator("EL001");
    let disk = Disk::new(&site.data_dir());
    let _gateway = Gateway::start_by(disk.under(hallcall()), &site);
    let (robot, other) = (
        Robot::connect(&broker, "R001"),
        Robot::connect(&broker, "R002"),
    );
    let watch = Client::connect(&broker, "watch");
    watch.subscribe("hallcall/v1/demo/ops/alarm");
    assert_eq!(
        robot.request("m-1", "T-1", "1F", "6F")["result"],
        "accepted"
    );

    disk.set(Number::FreeBytes, 64 * MIB - 4096);
    let is_low = |message: &Message| message.text("code") == "DISK_LOW";
    let raised = watch.hear("DISK_LOW", is_low);
    assert_eq!(raised.body["cleared_at"], Value::Null);
    let refused = other.request("m-2", "T-2", "1F", "6F");
    assert_eq!(
        (&refused["result"], &refused["code"]),
        (&"rejected".into(), &"UNAVAILABLE".into())
    );
    assert!(
        refused["retry_after_s"].as_f64().unwrap() > 0.0,
        "{refused}"
    );
    assert_eq!(
        robot.request("m-3", "T-1", "1F", "6F")["result"],
        "duplicate"
    );
    assert_eq!(robot.cancel("m-4", "T-1")["result"], "accepted");

    disk.set(Number::FreeBytes, 96 * MIB);
    let cleared = watch.hear("the end of DISK_LOW", |message| {
        is_low(message) && message.body["cleared_at"] != Value::Null
    });
    assert_eq!(cleared.text("alarm_id"), raised.text("alarm_id"));
    assert_eq!(
        other.request("m-5", "T-2", "1F", "6F")["result"],
        "accepted"
    );
}
