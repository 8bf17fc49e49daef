//! A vehicle of the simulator (`sim::live::device`) in the hands of a test: it obeys when it is let,
//! and its restart loses what was in flight.

use std::sync::{Arc, Mutex};

use protocol::device::{DeviceCommand, DeviceKey, Signature};
use protocol::peer::Said;
use protocol::{Timestamp, Topics};
use serde_json::{Value, json};
use sim::live::device::{Memory, Verdict};

use super::{Client, Message, Mosquitto, now, wait_for};

/// The topics of the site of [`super::Site`].
const BASE: &str = "hallcall/v1/demo";
/// The key of every device here, and the file that holds it.
pub const KEY: &str = "the key of a device of this test";

pub struct Vehicle {
    id: String,
    client: Client,
    memory: Arc<Mutex<Memory>>,
    /// Commands of its topic that it has looked at.
    seen: Mutex<usize>,
    seq: Mutex<u64>,
}

impl Vehicle {
    /// Connects and listens to its commands.
    #[track_caller]
    pub fn connect(broker: &Mosquitto, id: &str) -> Self {
        Self::with(broker, id, Arc::default())
    }

    #[track_caller]
    fn with(broker: &Mosquitto, id: &str, memory: Arc<Mutex<Memory>>) -> Self {
        let boot = {
            let mut memory = memory.lock().unwrap();
            memory.boots += 1;
            memory.boots
        };
        let client = Client::connect(broker, &format!("{id}-{boot}"));
        client.subscribe(&format!("{BASE}/devices/{id}/command"));
        Self {
            id: id.to_owned(),
            client,
            memory,
            seen: Mutex::default(),
            seq: Mutex::default(),
        }
    }

    /// The same after its restart: what was in flight is lost, what it keeps is not.
    #[track_caller]
    pub fn restart(self, broker: &Mosquitto) -> Self {
        let (id, memory) = (self.id.clone(), Arc::clone(&self.memory));
        drop(self.client);
        Self::with(broker, &id, memory)
    }

    /// Commands that it has not looked at yet, the oldest first.
    pub fn commands(&self) -> Vec<Value> {
        let mut seen = self.seen.lock().unwrap();
        let all = self.client.heard();
        let new: Vec<Value> = all[*seen..]
            .iter()
            .map(|heard| heard.body.clone())
            .collect();
        *seen = all.len();
        new
    }

    /// The next command of this kind, however many others come before it; those are dropped.
    #[track_caller]
    pub fn hear(&self, command: &str) -> Value {
        wait_for(&format!("the command {command} to {}", self.id), || {
            let mut seen = self.seen.lock().unwrap();
            let all = self.client.heard();
            let at = all[*seen..]
                .iter()
                .position(|heard| heard.text("command") == command)?;
            *seen += at + 1;
            Some(all[*seen - 1].body.clone())
        })
    }

    /// Does what it was told, as it must: once, in order, in time and only where it is signed.
    #[track_caller]
    pub fn obey(&self, command: &Value) -> &'static str {
        let answer = self.judge(command);
        self.answer(command, answer);
        answer
    }

    /// Obeys everything that comes until `is` over.
    #[track_caller]
    pub fn obey_until(&self, what: &str, is: impl Fn() -> bool) {
        wait_for(what, || {
            for command in self.commands() {
                self.obey(&command);
            }
            is().then_some(())
        });
    }

    fn judge(&self, command: &Value) -> &'static str {
        let (told, signature) = read(&self.id, command);
        let key = DeviceKey::new(KEY.as_bytes().to_vec());
        let now = Timestamp::parse(&now()).unwrap();
        let verdict = self
            .memory
            .lock()
            .unwrap()
            .obey(&key, &told, &signature, now);
        match verdict {
            Verdict::Acted | Verdict::Known => "done",
            Verdict::Asked => "state",
            Verdict::Refused(_) => "failed",
        }
    }

    fn answer(&self, command: &Value, event: &str) {
        let state = self.memory.lock().unwrap().word();
        self.say(json!({
            "event": event, "command_id": command["command_id"], "order_id": command["order_id"],
            "device_state": state, "detail": "31.230416,121.473701",
        }));
    }

    /// It says how it stands.
    #[track_caller]
    pub fn report(&self, state: &str) {
        self.say(json!({ "event": "state", "device_state": state }));
    }

    /// Says this, numbered.
    #[track_caller]
    pub fn say(&self, fields: Value) {
        let (boot, seq) = {
            let mut seq = self.seq.lock().unwrap();
            *seq += 1;
            (self.memory.lock().unwrap().boots, *seq)
        };
        self.say_as(&format!("boot-{boot}"), seq, fields);
    }

    /// Says this under any number.
    #[track_caller]
    pub fn say_as(&self, boot: &str, seq: u64, fields: Value) {
        let mut body = json!({
            "message_id": format!("{boot}-{seq}"), "timestamp": now(), "boot_id": boot, "seq": seq,
        });
        if let (Some(body), Value::Object(fields)) = (body.as_object_mut(), fields) {
            body.extend(fields);
        }
        let topic = format!("{BASE}/devices/{}/event", self.id);
        self.client.publish(&topic, false, body.to_string());
    }

    /// How often it was unlocked in its life.
    pub fn unlocks(&self) -> u64 {
        self.memory.lock().unwrap().unlocks
    }

    /// Whether it runs.
    pub fn is_running(&self) -> bool {
        self.memory.lock().unwrap().is_running
    }

    /// Commands that it refused in its life.
    pub fn refused(&self) -> u64 {
        self.memory.lock().unwrap().refused
    }
}

/// The device as it is published; waits until it is in this state.
#[track_caller]
pub fn device_in(watcher: &Client, id: &str, state: &str) -> Message {
    let topic = format!("{BASE}/devices/{id}/state");
    wait_for(&format!("{id} to be {state}"), || {
        let heard = watcher.heard();
        let last = heard.iter().rev().find(|heard| heard.topic == topic)?;
        (last.text("state") == state).then(|| last.clone())
    })
}

/// A command as its device reads it.
fn read(device: &str, command: &Value) -> (DeviceCommand, Signature) {
    let topics = Topics::new("hallcall/v1", &"demo".parse().unwrap()).unwrap();
    let topic = format!("{BASE}/devices/{device}/command");
    let said = Said::read(&topics, &topic, command.to_string().as_bytes()).unwrap();
    let Said::DeviceCommand { command, signature } = said else {
        panic!("no command: {said:?}")
    };
    (*command, signature)
}
