//! Many robots over one connection, each with one order. They keep `wire.md` section 3: what is not
//! answered is repeated with the same message id, and only the gateway's answer counts.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rumqttc::{Event, MqttOptions, Packet, QoS};
use serde_json::Value;

use crate::support::request;

const BASE: &str = "hallcall/v1/demo/robots";
/// A robot's own patience is 5 s; a test's is less.
const REPEAT: Duration = Duration::from_secs(2);
/// Between two looks for what is to be said again.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// Requests under way to the broker.
const REQUESTS: usize = 500;

#[derive(Default)]
struct State {
    wishes: BTreeMap<String, Wish>,
    /// Those that nobody has answered.
    open: usize,
    /// When each that may be open is to be said, in order.
    due: BTreeSet<(Instant, String)>,
    subscribed: bool,
    /// PUBACKs of the broker.
    taken: usize,
}

struct Wish {
    topic: String,
    payload: String,
    times: usize,
    answers: Vec<Value>,
}

type Shared = Arc<(Mutex<State>, Condvar)>;

pub(crate) struct Fleet {
    shared: Shared,
    /// Robots that only speak once, and wait.
    patient: Arc<AtomicBool>,
    stop: Arc<AtomicBool>,
    client: rumqttc::Client,
    threads: Vec<JoinHandle<()>>,
}

impl Fleet {
    #[track_caller]
    pub(crate) fn start(port: u16) -> Self {
        let mut options = MqttOptions::new("fleet", "127.0.0.1", port);
        options.set_keep_alive(Duration::from_secs(30));
        options.set_inflight(u16::try_from(REQUESTS).unwrap());
        let (client, connection) = rumqttc::Client::new(options, REQUESTS);
        let shared = Shared::default();
        let stop = Arc::new(AtomicBool::new(false));
        let patient = Arc::new(AtomicBool::new(false));
        let hears = {
            let (shared, client) = (Arc::clone(&shared), client.clone());
            let stop = Arc::clone(&stop);
            std::thread::spawn(move || hear(&shared, &client, connection, &stop))
        };
        let speaks = {
            let (shared, client) = (Arc::clone(&shared), client.clone());
            let (stop, patient) = (Arc::clone(&stop), Arc::clone(&patient));
            std::thread::spawn(move || speak(&shared, &client, &stop, &patient))
        };
        let fleet = Self {
            shared,
            patient,
            stop,
            client,
            threads: vec![hears, speaks],
        };
        fleet.look(Duration::from_secs(20), "its subscription", |state| {
            state.subscribed.then_some(())
        });
        fleet
    }

    /// Nobody repeats until told otherwise.
    pub(crate) fn be_patient(&self, patient: bool) {
        self.patient.store(patient, Ordering::Relaxed);
    }

    /// Robot `R{n}` asks for order `T-{n}`.
    pub(crate) fn ask(&self, numbers: std::ops::Range<usize>) {
        let mut state = self.shared.0.lock().unwrap();
        for n in numbers {
            let order = format!("T-{n}");
            let payload = request(&format!("m-{n}"), &order, "1F", "6F").to_string();
            let wish = Wish {
                topic: format!("{BASE}/R{n}/ride/request"),
                payload,
                times: 0,
                answers: Vec::new(),
            };
            state.due.insert((Instant::now(), order.clone()));
            state.open += 1;
            state.wishes.insert(order, wish);
        }
    }

    /// Waits until the broker has taken so many in all.
    #[track_caller]
    pub(crate) fn wait_taken(&self, patience: Duration, count: usize) {
        self.look(patience, "the broker to take all", |state| {
            (state.taken >= count).then_some(())
        });
    }

    /// Waits until so many have an answer.
    #[track_caller]
    pub(crate) fn wait_answers(&self, patience: Duration, count: usize) {
        self.look(patience, "answers", |state| {
            (state.wishes.len() - state.open >= count).then_some(())
        });
    }

    /// Waits until everybody has an answer.
    #[track_caller]
    pub(crate) fn wait_all(&self, patience: Duration) {
        self.look(patience, "every answer", |state| {
            (state.open == 0).then_some(())
        });
    }

    /// The answers to each order, in order.
    pub(crate) fn answers(&self) -> BTreeMap<String, Vec<Value>> {
        let state = self.shared.0.lock().unwrap();
        let answers = |wish: &Wish| wish.answers.clone();
        let orders = state.wishes.iter();
        orders
            .map(|(id, wish)| (id.clone(), answers(wish)))
            .collect()
    }

    /// How often something was said again.
    pub(crate) fn repeats(&self) -> usize {
        let state = self.shared.0.lock().unwrap();
        let again = |wish: &Wish| wish.times.saturating_sub(1);
        state.wishes.values().map(again).sum()
    }

    #[track_caller]
    fn look<T>(&self, patience: Duration, what: &str, look: impl Fn(&State) -> Option<T>) -> T {
        let deadline = Instant::now() + patience;
        let (state, changed) = &*self.shared;
        let mut state = state.lock().unwrap();
        loop {
            if let Some(seen) = look(&state) {
                return seen;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            assert!(
                !left.is_zero(),
                "waited {patience:?} in vain for {what}: {} of {} are not answered",
                state.open,
                state.wishes.len()
            );
            state = changed.wait_timeout(state, left).unwrap().0;
        }
    }
}

impl Drop for Fleet {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let _ = self.client.try_disconnect();
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

impl Wish {
    fn is_answered(&self) -> bool {
        !self.answers.is_empty()
    }
}

fn hear(
    shared: &Shared,
    client: &rumqttc::Client,
    mut connection: rumqttc::Connection,
    stop: &AtomicBool,
) {
    while !stop.load(Ordering::Relaxed) {
        let Ok(event) = connection.recv_timeout(LOOK_EVERY) else {
            continue;
        };
        match event {
            Ok(Event::Incoming(Packet::ConnAck(_))) => {
                let _ = client.try_subscribe(format!("{BASE}/+/ride/reply"), QoS::AtLeastOnce);
            }
            Ok(Event::Incoming(Packet::SubAck(_))) => shared.0.lock().unwrap().subscribed = true,
            Ok(Event::Incoming(Packet::PubAck(_))) => shared.0.lock().unwrap().taken += 1,
            Ok(Event::Incoming(Packet::Publish(publish))) => {
                let reply: Value = serde_json::from_slice(&publish.payload).unwrap();
                let order = reply["order_id"].as_str().unwrap_or_default();
                let mut state = shared.0.lock().unwrap();
                if let Some(wish) = state.wishes.get_mut(order) {
                    let is_first = wish.answers.is_empty();
                    wish.answers.push(reply);
                    state.open -= usize::from(is_first);
                }
            }
            Ok(_) => continue,
            Err(_) => {
                let mut state = shared.0.lock().unwrap();
                state.subscribed = false;
                drop(state);
                std::thread::sleep(LOOK_EVERY);
            }
        }
        shared.1.notify_all();
    }
}

fn speak(shared: &Shared, client: &rumqttc::Client, stop: &AtomicBool, patient: &AtomicBool) {
    while !stop.load(Ordering::Relaxed) {
        let mut state = shared.0.lock().unwrap();
        let is_patient = patient.load(Ordering::Relaxed);
        while state.subscribed
            && let Some((due, order)) = state.due.pop_first()
        {
            let now = Instant::now();
            if due > now {
                state.due.insert((due, order));
                break;
            }
            let Some(wish) = state.wishes.get_mut(&order) else {
                continue;
            };
            if wish.is_answered() {
                continue;
            }
            if !is_patient || wish.times == 0 {
                let (topic, payload) = (wish.topic.clone(), wish.payload.clone());
                let said = client.try_publish(topic, QoS::AtLeastOnce, false, payload);
                if said.is_err() {
                    state.due.insert((due, order));
                    break;
                }
                wish.times += 1;
            }
            state.due.insert((now + REPEAT, order));
        }
        drop(state);
        std::thread::sleep(LOOK_EVERY / 10);
    }
}
