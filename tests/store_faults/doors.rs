//! The journal fails while a robot may be in a car (`ride.md` section 4, journal failed): the door is
//! held, nothing moves, nothing is answered.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::disk::{BAD_SYNC, Dice, Disk, Loss, Number};
use crate::support::{Client, Controller, Gateway, Mosquitto, Robot, Site, hallcall, now};

#[test]
fn a_sync_that_fails_holds_the_door_and_moves_nothing() {
    let broker = Mosquitto::start();
    let site = Site::new(&broker)
        .elevator_with("EL001", "hold_max_s = 4\ndriver = { kind = \"mqtt\" }")
        .with(
            "[timing]\nvalid_s = 1.5\naccept_s = 1\nsettle_s = 0.1\nrequery_s = 0.5\npoll_s = 0.5",
        );
    let disk = Disk::new(&site.data_dir());
    let mut gateway = Gateway::start_by(disk.under(hallcall()), &site);
    let controller = Controller::start(&broker, "EL001");
    let robot = Robot::connect(&broker, "R001");
    robot.request("m-1", "T-1", "1F", "6F");
    let fence = robot.state("T-1", "ELEVATOR_ARRIVED")["fence"].clone();
    let watch = Client::connect(&broker, "watch");
    watch.subscribe("hallcall/v1/demo/#");

    disk.set(Number::Faults, BAD_SYNC);
    // It would start the car.
    let entered = json!({ "message_id": "m-2", "timestamp": now(), "order_id": "T-1",
        "event": "entered", "fence": fence });
    robot.send("ride/event", &entered.to_string());
    watch.hear("the alarm", |message| {
        message.text("code") == "JOURNAL_FAILED"
    });
    let (failed, before) = (Instant::now(), controller.count("hold_door"));
    assert_eq!(gateway.wait().code(), Some(5), "{}", gateway.log());
    // 2 x valid_s = 3 s.
    let took = failed.elapsed();
    assert!(took >= Duration::from_millis(2_500), "{took:?}");
    assert!(
        controller.count("hold_door") > before,
        "the hold was not renewed"
    );
    for moves in ["car_call", "close_door", "release"] {
        assert_eq!(controller.count(moves), 0, "{:?}", controller.commands());
    }
    let heard = watch.heard();
    let is_answer = |text: &str| {
        heard
            .iter()
            .any(|message| message.text("in_reply_to") == text)
    };
    assert!(!is_answer("m-2"), "it was answered");
    let entered = heard
        .iter()
        .any(|message| message.text("state") == "ROBOT_ENTERED");
    assert!(!entered, "a state that is not kept was said");

    // What was not synced is lost, the ride goes on where it was.
    disk.set(Number::Faults, 0);
    disk.lose(Loss::All, &mut Dice(1));
    let _gateway = Gateway::start_by(disk.under(hallcall()), &site);
    assert_eq!(
        robot.reply("m-2")["result"],
        "accepted",
        "the broker brings it again"
    );
}
