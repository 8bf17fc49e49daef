//! An elevator controller that speaks MQTT and always does at once what it is told. It has the
//! words of `wire.md` section 6, and none of the patience of a real car.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::{Value, json};

use super::{Client, Mosquitto, now};

const BASE: &str = "hallcall/v1/demo/elevators";

pub struct Controller {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
    commands: Arc<Mutex<Vec<Value>>>,
}

impl Controller {
    /// A car that stands closed at 1F.
    #[track_caller]
    pub fn start(broker: &Mosquitto, elevator: &str) -> Self {
        Self::start_at(broker.port(), elevator)
    }

    /// The same at a port of loopback.
    #[track_caller]
    pub fn start_at(port: u16, elevator: &str) -> Self {
        let client = Client::connect_to(port, &format!("controller-{elevator}"));
        client.subscribe(&format!("{BASE}/{elevator}/command"));
        let stop = Arc::new(AtomicBool::new(false));
        let commands = Arc::new(Mutex::new(Vec::new()));
        let mut car = Car {
            client,
            topic: format!("{BASE}/{elevator}/event"),
            floor: "1F".to_owned(),
            door: "closed",
            call: None,
            seq: 0,
        };
        let (stopped, noted) = (Arc::clone(&stop), Arc::clone(&commands));
        let thread = std::thread::spawn(move || {
            let mut done = 0;
            car.state(None);
            while !stopped.load(Ordering::Relaxed) {
                let heard = car.client.heard();
                for command in heard.iter().skip(done) {
                    noted.lock().unwrap().push(command.body.clone());
                    car.obey(&command.body);
                }
                done = heard.len();
                std::thread::sleep(Duration::from_millis(5));
            }
        });
        Self {
            stop,
            thread: Some(thread),
            commands,
        }
    }

    /// All commands so far.
    pub fn commands(&self) -> Vec<Value> {
        self.commands.lock().unwrap().clone()
    }

    /// How many commands of a kind came.
    pub fn count(&self, command: &str) -> usize {
        self.commands()
            .iter()
            .filter(|body| body["command"] == command)
            .count()
    }
}

impl Drop for Controller {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

struct Car {
    client: Client,
    topic: String,
    floor: String,
    door: &'static str,
    /// Where the car is called to from inside.
    call: Option<String>,
    seq: u64,
}

impl Car {
    fn obey(&mut self, command: &Value) {
        let id = command["command_id"].as_str().unwrap().to_owned();
        let floor = || command["floor"].as_str().unwrap_or("1F").to_owned();
        match command["command"].as_str().unwrap() {
            "query" => return self.state(Some(&id)),
            "hall_call" => {
                self.say("accepted", &id);
                (self.floor, self.door) = (floor(), "open");
            }
            "car_call" => {
                self.say("accepted", &id);
                self.call = Some(floor());
            }
            "open_door" | "hold_door" => {
                self.say("accepted", &id);
                self.door = "open";
            }
            "close_door" => {
                self.say("accepted", &id);
                self.door = "closed";
                self.state(None);
                if let Some(target) = self.call.take() {
                    self.floor = target;
                    self.state(None);
                    self.door = "open";
                }
            }
            _ => self.say("accepted", &id),
        }
        self.state(None);
        self.say("done", &id);
    }

    fn state(&mut self, answers: Option<&str>) {
        let call = self
            .call
            .as_ref()
            .map(|floor| json!({ "kind": "car", "floor": floor }));
        let calls: Vec<Value> = call.into_iter().collect();
        let body = json!({
            "event": "state", "command_id": answers, "floor": self.floor, "door": self.door,
            "motion": "stopped", "mode": "normal", "occupied": null, "calls": calls,
        });
        self.publish(body);
    }

    fn say(&mut self, event: &str, id: &str) {
        self.publish(json!({ "event": event, "command_id": id }));
    }

    fn publish(&mut self, mut body: Value) {
        self.seq += 1;
        body["message_id"] = json!(format!("c-{}", self.seq));
        body["timestamp"] = json!(now());
        body["boot_id"] = json!("b-1");
        body["seq"] = json!(self.seq);
        self.client.publish(&self.topic, false, body.to_string());
    }
}
