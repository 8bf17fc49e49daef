//! The simulator's MQTT controller against the duties that wire.md section 6 gives one.

#![cfg(feature = "sim")]
#![allow(clippy::unwrap_used)]

mod support;

use std::sync::Arc;

use protocol::ops::Presence;
use protocol::{ElevatorId, FloorLabel, Side, SiteId, Topics, ZoneId};
use serde_json::{Value, json};
use sim::car::{CarConfig, Stop};
use sim::live::mqtt_controller::MqttController;
use sim::live::{Building, CarPlan, Endpoint, Pace};
use support::{Client, Message, Mosquitto};

const COMMANDS: &str = "hallcall/v1/demo/elevators/EL001/command";
const EVENTS: &str = "hallcall/v1/demo/elevators/EL001/event";

/// A car that stands shut at 1F, its controller, and somebody who commands it.
struct Trial {
    client: Client,
    building: Arc<Building>,
    _runtime: tokio::runtime::Runtime,
    _broker: Mosquitto,
}

impl Trial {
    fn new() -> Self {
        let broker = Mosquitto::start();
        let client = Client::connect(&broker, "gw");
        client.subscribe(EVENTS);
        let elevator = ElevatorId::new("EL001").unwrap();
        let stop = |(label, height_m): (&str, f64)| Stop {
            label: FloorLabel::new(label).unwrap(),
            height_m,
            sides: [Side::Front].into(),
        };
        let mut config = CarConfig::new([("1F", 0.0), ("2F", 3.5)].map(stop).to_vec());
        config.presence = Presence::Robot;
        let zone = ZoneId::new("main").unwrap();
        let plan = CarPlan {
            elevator: elevator.clone(),
            zone,
            config,
        };
        let building = Building::new(vec![plan], Pace::new(20.0).unwrap());
        let topics = Topics::new("hallcall/v1", &SiteId::new("demo").unwrap()).unwrap();
        let endpoint = Endpoint::parse(&format!("127.0.0.1:{}", broker.port())).unwrap();
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let controller = {
            let _here = runtime.enter();
            MqttController::new(Arc::clone(&building), topics, &endpoint, elevator).unwrap()
        };
        runtime.spawn(Arc::clone(&building).run());
        runtime.spawn(controller.run());
        let trial = Self {
            client,
            building,
            _runtime: runtime,
            _broker: broker,
        };
        trial.hear("its first state", |event| event["event"] == "state");
        trial
    }

    fn command(&self, id: &str, fence: u64, command: &str, more: Value) {
        let mut body = json!({
            "type": "elevator.command", "message_id": format!("m-{id}"),
            "timestamp": "2026-11-30T10:00:00.000Z", "source": "gateway/gw-1",
            "elevator_id": "EL001", "order_id": "T-1", "command_id": id, "fence": fence,
            "command": command, "floor": null, "side": null, "direction": null, "hold_s": null,
            "expires_at": "2026-11-30T10:00:02.000Z", "expires_in_s": 2,
        });
        for (key, value) in more.as_object().unwrap() {
            body[key] = value.clone();
        }
        self.client.publish(COMMANDS, false, body.to_string());
    }

    #[track_caller]
    fn hear(&self, what: &str, is: impl Fn(&Value) -> bool) -> Value {
        self.client
            .hear(what, |message| message.topic == EVENTS && is(&message.body))
            .body
    }

    /// What was answered for a command so far, in order.
    fn answers(&self, id: &str) -> Vec<String> {
        let named = |message: &Message| message.body["command_id"] == id;
        let heard = self.client.heard();
        heard
            .iter()
            .filter(|m| named(m))
            .map(|m| m.text("event").to_owned())
            .collect()
    }

    #[track_caller]
    fn answered(&self, id: &str, event: &str) -> Value {
        let what = format!("{event} of {id}");
        self.hear(&what, |body| {
            body["command_id"] == id && body["event"] == event
        })
    }
}

fn at(floor: &str) -> Value {
    json!({ "floor": floor, "side": "front" })
}

#[test]
fn accepted_comes_before_done_and_a_known_command_is_answered_again_and_done_once() {
    let trial = Trial::new();
    trial.command(
        "k-1",
        5,
        "hall_call",
        json!({"floor":"2F","side":"front","direction":"up"}),
    );
    trial.answered("k-1", "done");
    assert_eq!(trial.answers("k-1"), ["accepted", "done"]);
    let open = trial.hear("the open door", |body| body["door"] == "open");
    assert_eq!(
        (&open["floor"], &open["motion"]),
        (&json!("2F"), &json!("stopped"))
    );
    let before = trial.building.record(|record| record.counts().trips);
    trial.client.forget();
    trial.command(
        "k-1",
        5,
        "hall_call",
        json!({"floor":"2F","side":"front","direction":"up"}),
    );
    trial.answered("k-1", "done");
    assert_eq!(trial.answers("k-1"), ["done"]);
    assert_eq!(
        trial.building.record(|record| record.counts().trips),
        before
    );
}

#[test]
fn a_query_is_answered_by_one_state_that_bears_its_id() {
    let trial = Trial::new();
    trial.command("q-1", 0, "query", json!({}));
    let state = trial.answered("q-1", "state");
    assert_eq!(state["floor"], "1F");
    assert_eq!(state["door"], "closed");
    assert_eq!(state["motion"], "stopped");
    assert_eq!(state["mode"], "normal");
    assert_eq!(state["occupied"], false);
    assert_eq!(state["calls"], json!([]));
    trial.command("q-2", 0, "query", json!({}));
    trial.answered("q-2", "state");
    assert_eq!(trial.answers("q-1"), ["state"]);
}

#[test]
fn a_lower_fence_and_an_expired_command_are_refused_and_move_nothing() {
    let trial = Trial::new();
    trial.command("q-1", 9, "query", json!({}));
    trial.command("k-1", 8, "car_call", at("2F"));
    assert_eq!(trial.answered("k-1", "failed")["detail"], "stale_fence");
    let expired = json!({"floor": "2F", "side": "front", "expires_in_s": 0});
    trial.command("k-2", 9, "car_call", expired);
    assert_eq!(trial.answered("k-2", "failed")["detail"], "expired");
    assert_eq!(trial.building.record(|record| record.counts().trips), 0);
}

#[test]
fn a_retained_command_is_none_and_nonsense_does_no_harm() {
    let trial = Trial::new();
    trial.client.publish(COMMANDS, false, "{");
    trial
        .client
        .publish(COMMANDS, false, r#"{"command":"jump"}"#);
    trial.command("q-1", 0, "query", json!({}));
    trial.answered("q-1", "state");
}

#[test]
fn seq_grows_by_one_within_a_boot() {
    let trial = Trial::new();
    trial.command("k-1", 1, "car_call", at("2F"));
    trial.answered("k-1", "done");
    let heard = trial.client.heard();
    let seqs: Vec<u64> = heard
        .iter()
        .map(|m| m.body["seq"].as_u64().unwrap())
        .collect();
    assert!(seqs.len() > 3, "{seqs:?}");
    assert!(
        seqs.windows(2).all(|pair| pair[1] == pair[0] + 1),
        "{seqs:?}"
    );
    let boots: std::collections::BTreeSet<&str> = heard.iter().map(|m| m.text("boot_id")).collect();
    assert_eq!(boots.len(), 1, "{boots:?}");
}
