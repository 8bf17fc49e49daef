//! What a gateway does with words of its own that the broker still shows, and with data of which
//! others know more (`wire.md` section 2; `ride.md` section 4, gateway start and restored data).

#![allow(clippy::unwrap_used, reason = "a test panics where it fails")]

mod support;

use serde_json::json;
use support::{Client, Controller, Gateway, Message, Mosquitto, Robot, Site, now};

const RIDE: &str = "hallcall/v1/demo/robots/R009/ride/state";
const ELEVATOR: &str = "hallcall/v1/demo/elevators/EL001/state";

fn fence(message: &Message) -> u64 {
    message.body["fence"].as_u64().unwrap_or(0)
}

#[test]
fn retained_words_that_we_do_not_know_are_overwritten_and_higher_fences_are_passed() {
    let broker = Mosquitto::start();
    let before = Client::connect(&broker, "before");
    let ride = json!({ "type": "ride.state", "message_id": "old-1", "timestamp": now(),
        "order_id": "T-old", "robot_id": "R009", "seq": 4, "state": "ELEVATOR_ARRIVED",
        "instruction": "enter" });
    before.publish(RIDE, true, ride.to_string());
    let elevator = json!({ "type": "elevator.state", "message_id": "old-2", "timestamp": now(),
        "elevator_id": "EL001", "fence": 40 });
    before.publish(ELEVATOR, true, elevator.to_string());

    let site = Site::new(&broker).elevator("EL001");
    let _gateway = Gateway::start(&site);
    let _controller = Controller::start(&broker, "EL001");
    let watch = Client::connect(&broker, "watch");
    watch.subscribe(ELEVATOR);
    watch.hear("a fence above 40", |message| fence(message) > 40);
    // An empty retained word deletes: a new subscriber gets none.
    let late = Client::connect(&broker, "late");
    late.subscribe(RIDE);
    late.subscribe(ELEVATOR);
    late.hear("the elevator", |message| message.topic == ELEVATOR);
    assert!(
        late.heard().iter().all(|message| message.topic != RIDE),
        "{:?}",
        late.heard()
    );

    let robot = Robot::connect(&broker, "R001");
    assert_eq!(
        robot.request("m-1", "T-1", "1F", "6F")["result"],
        "accepted"
    );
    let arrived = robot.state("T-1", "ELEVATOR_ARRIVED");
    assert!(arrived["fence"].as_u64().unwrap() > 41, "{arrived}");
}

#[test]
fn a_lost_journal_gives_no_fence_twice() {
    let broker = Mosquitto::start();
    let site = Site::new(&broker).elevator("EL001");
    let mut gateway = Gateway::start(&site);
    let _controller = Controller::start(&broker, "EL001");
    let robot = Robot::connect(&broker, "R001");
    robot.request("m-1", "T-1", "1F", "6F");
    let given = robot.state("T-1", "ELEVATOR_ARRIVED")["fence"]
        .as_u64()
        .unwrap();
    gateway.kill();
    std::fs::remove_dir_all(site.data_dir().join("journal")).unwrap();

    // A broker that remembers nothing either: only the second file knows (law 3).
    let broker = Mosquitto::start();
    let site = site.move_to(&broker);
    let _gateway = Gateway::start(&site);
    let _controller = Controller::start(&broker, "EL001");
    let watch = Client::connect(&broker, "watch");
    watch.subscribe(ELEVATOR);
    watch.hear("a higher fence", |message| fence(message) > given);
}

#[test]
fn restored_data_holds_rides_and_reads_before_it_grants() {
    let broker = Mosquitto::start();
    let site = Site::new(&broker).elevator("EL001");
    let mut gateway = Gateway::start(&site);
    let _controller = Controller::start(&broker, "EL001");
    let robot = Robot::connect(&broker, "R001");
    robot.request("m-1", "T-1", "1F", "6F");
    let before = robot.state("T-1", "ELEVATOR_ARRIVED");
    gateway.kill();
    let _gateway = Gateway::start_with(&site, &["--restored"]);
    robot.state("T-1", "HOLD");
    let watch = Client::connect(&broker, "watch");
    watch.subscribe(ELEVATOR);
    let old = before["fence"].as_u64().unwrap();
    watch.hear("a raised fence", |message| fence(message) > old);
}
