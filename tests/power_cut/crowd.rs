//! Robots in a closed loop, over one connection to the broker. Most ask for a ride and give it up
//! once it is accepted; some ride.

use std::collections::{BTreeMap, VecDeque};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use rumqttc::{Client, ConnectionError, Event, MqttOptions, Outgoing, Packet, Publish, QoS};
use serde_json::{Value, json};

use crate::robot::{Robot, Said, Step};
use crate::support::{Mosquitto, SOON};
use crate::truth::{Asked, Broken, Truth};

const BASE: &str = "hallcall/v1/demo";
/// How long one look for something new takes.
const LOOK: Duration = Duration::from_millis(5);

pub(crate) struct Crowd {
    client: Client,
    events: Receiver<Event>,
    pub(crate) truth: Truth,
    robots: BTreeMap<String, Robot>,
    /// What each message asked, about which order.
    asked: BTreeMap<String, (Asked, String)>,
    /// Orders whose request the client library has not numbered yet; `None` for other messages.
    handed: VecDeque<Option<String>>,
    /// Orders whose request the broker has not taken yet.
    sent: BTreeMap<u16, Option<String>>,
    /// Messages after a power cut that are not answered yet.
    again: BTreeMap<String, String>,
    presence: String,
    messages: usize,
    working: bool,
}

impl Crowd {
    /// So many that cancel on EL002, and so many that ride EL001.
    pub(crate) fn connect(broker: &Mosquitto, cancelling: usize, riding: usize) -> Self {
        let mut options = MqttOptions::new("crowd", "127.0.0.1", broker.port());
        options.set_inflight(1_000);
        // A machine that stands still for a minute is no reason to part.
        options.set_keep_alive(Duration::from_secs(600));
        let (client, mut connection) = Client::new(options, 10_000);
        let (tell, events) = mpsc::channel();
        thread::spawn(move || {
            for event in connection.iter() {
                let is_over = match event {
                    Ok(event) => tell.send(event).is_err(),
                    Err(ConnectionError::RequestsDone) => true,
                    Err(why) => {
                        eprintln!("the crowd's own connection broke: {why}");
                        true
                    }
                };
                if is_over {
                    break;
                }
            }
        });
        let kinds = [("C", cancelling, false), ("R", riding, true)];
        let robots = kinds.into_iter().flat_map(|(letter, many, rides)| {
            (0..many).map(move |n| (format!("{letter}{n}"), Robot::new(rides)))
        });
        let mut crowd = Self {
            client,
            events,
            truth: Truth::default(),
            robots: robots.collect(),
            asked: BTreeMap::new(),
            handed: VecDeque::new(),
            sent: BTreeMap::new(),
            again: BTreeMap::new(),
            presence: String::new(),
            messages: 0,
            working: false,
        };
        crowd.subscribe();
        crowd
    }

    fn subscribe(&mut self) {
        let filters = [
            "robots/+/ride/reply",
            "robots/+/ride/state",
            "elevators/+/command",
            "gateways/+/connection",
        ];
        for filter in filters {
            let filter = format!("{BASE}/{filter}");
            self.client.subscribe(filter, QoS::AtLeastOnce).unwrap();
        }
        let mut granted = 0;
        while granted < filters.len() {
            let event = self.events.recv_timeout(SOON).expect("a SUBACK");
            granted += usize::from(matches!(event, Event::Incoming(Packet::SubAck(_))));
        }
    }

    /// Every robot goes on with its loop, and repeats what was not answered.
    pub(crate) fn work(&mut self) {
        self.working = true;
        for id in self.ids() {
            match self.robots[&id].said.clone() {
                Some(said) => self.publish(&id, &said),
                None if self.robots[&id].step == Step::Asks => self.ask(&id),
                None => {}
            }
        }
    }

    /// No robot begins anything.
    pub(crate) fn rest(&mut self) {
        self.working = false;
    }

    /// Hears and acts until `is_over`; `what` is waited for.
    pub(crate) fn run(
        &mut self,
        what: &str,
        mut is_over: impl FnMut(&Self) -> bool,
    ) -> Result<(), Broken> {
        let deadline = Instant::now() + SOON;
        while !is_over(self) {
            if let Ok(event) = self.events.recv_timeout(LOOK) {
                self.see(event)?;
            }
            if Instant::now() > deadline {
                let waiting: Vec<_> = self
                    .robots
                    .iter()
                    .filter(|(_, r)| r.said.is_some())
                    .collect();
                let waiting: Vec<_> = waiting.iter().map(|(id, r)| (id, r.step)).collect();
                return Err(format!("waited {SOON:?} in vain for {what}; {waiting:?}"));
            }
        }
        Ok(())
    }

    /// Asks for these orders once more, each of which must be known, and hears the answers.
    pub(crate) fn ask_again(&mut self, orders: &[String]) -> Result<(), Broken> {
        for order in orders {
            let known = &self.truth.orders[order];
            let (robot, mut body) = (known.robot.clone(), known.wish.clone());
            let message = self.name();
            body["message_id"] = json!(message);
            self.asked
                .insert(message.clone(), (Asked::Again, order.clone()));
            self.again.insert(message.clone(), order.clone());
            self.publish(&robot, &Said::new("ride/request", &message, body));
        }
        self.run("answers to requests made again", |crowd| {
            crowd.again.is_empty()
        })
    }

    /// Orders that wait for an operator.
    pub(crate) fn held(&self) -> Vec<String> {
        let held = self.robots.values().filter(|robot| robot.shown == "HOLD");
        held.map(|robot| robot.order.clone()).collect()
    }

    /// What the gateway said of itself last.
    pub(crate) fn presence(&self) -> &str {
        &self.presence
    }

    /// Cancelled orders and rides that came to their end.
    pub(crate) fn done(&self) -> (usize, usize) {
        let done = |rides| {
            let these = self.robots.values().filter(|robot| robot.rides == rides);
            these.map(|robot| robot.done).sum()
        };
        (done(false), done(true))
    }

    fn ids(&self) -> Vec<String> {
        self.robots.keys().cloned().collect()
    }

    fn name(&mut self) -> String {
        self.messages += 1;
        format!("m-{}", self.messages)
    }

    fn see(&mut self, event: Event) -> Result<(), Broken> {
        match event {
            Event::Outgoing(Outgoing::Publish(id)) => {
                let order = self.handed.pop_front().expect("it was handed over");
                self.sent.insert(id, order);
            }
            Event::Incoming(Packet::PubAck(ack)) => {
                if let Some(order) = self.sent.remove(&ack.pkid).flatten() {
                    self.truth
                        .orders
                        .get_mut(&order)
                        .expect("it was asked for")
                        .taken = true;
                }
            }
            Event::Incoming(Packet::Publish(publish)) => self.hear(&publish)?,
            Event::Incoming(_) | Event::Outgoing(_) => {}
        }
        Ok(())
    }

    fn hear(&mut self, publish: &Publish) -> Result<(), Broken> {
        let body: Value = serde_json::from_slice(&publish.payload).unwrap_or(Value::Null);
        let levels: Vec<&str> = publish.topic.split('/').skip(3).collect();
        match levels[..] {
            ["robots", id, "ride", "reply"] => self.reply(id, &body),
            ["robots", id, "ride", "state"] => {
                self.truth.state_seen(&body)?;
                self.state(id, &body);
                Ok(())
            }
            ["elevators", _, "command"] => self.truth.fence_seen(&body),
            ["gateways", _, "connection"] => {
                let state = body["connection_state"].as_str();
                state.unwrap_or_default().clone_into(&mut self.presence);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn reply(&mut self, id: &str, body: &Value) -> Result<(), Broken> {
        let message = body["in_reply_to"].as_str().unwrap_or_default();
        let Some((asked, order)) = self.asked.get(message).cloned() else {
            return Err(format!("a reply to nothing: {body}"));
        };
        self.again.remove(message);
        self.truth.replied(asked, &order, body)?;
        let robot = self.robots.get_mut(id).expect("one of ours");
        if robot
            .said
            .as_ref()
            .is_none_or(|said| said.message != message)
        {
            return Ok(());
        }
        robot.said = None;
        match robot.step {
            Step::Asks if robot.rides => robot.step = Step::Waits,
            Step::Asks => self.cancel(id),
            Step::Cancels => self.next(id),
            Step::Enters => robot.step = Step::Rides,
            Step::Exits if body["state"] == "ROBOT_EXITED" => self.next(id),
            Step::Waits | Step::Rides | Step::Exits => {}
        }
        // What it waits for may have been said already.
        self.state(id, body);
        Ok(())
    }

    /// The ride as it is: by a state, or by a reply.
    fn state(&mut self, id: &str, body: &Value) {
        let robot = self.robots.get_mut(id).expect("one of ours");
        if body["order_id"] != json!(robot.order) || !robot.rides {
            return;
        }
        let state = body["state"].as_str().unwrap_or_default();
        state.clone_into(&mut robot.shown);
        if robot.said.is_some() {
            return;
        }
        let instruction = body["instruction"].as_str().unwrap_or_default();
        match (robot.step, state, instruction) {
            (Step::Waits, "ELEVATOR_ARRIVED", "enter") => {
                self.event(id, Step::Enters, body);
            }
            (Step::Rides | Step::Exits, "TARGET_ARRIVED", "exit") => {
                self.event(id, Step::Exits, body);
            }
            (_, "ROBOT_EXITED" | "CANCELLED" | "EXPIRED" | "FAILED", _) => self.next(id),
            _ => {}
        }
    }

    fn next(&mut self, id: &str) {
        let robot = self.robots.get_mut(id).expect("one of ours");
        (robot.step, robot.said) = (Step::Asks, None);
        robot.done += 1;
        if self.working {
            self.ask(id);
        }
    }

    fn ask(&mut self, id: &str) {
        let (message, robot) = (self.name(), self.robots.get_mut(id).expect("one of ours"));
        let order = format!("T-{id}-{}", message.trim_start_matches("m-"));
        robot.order.clone_from(&order);
        let said = Said::request(&message, &order, robot.elevator);
        self.truth.asks(&order, id, said.body.clone());
        self.asked.insert(message, (Asked::Request, order));
        self.say(id, Step::Asks, said);
    }

    fn cancel(&mut self, id: &str) {
        let (message, order) = (self.name(), self.robots[id].order.clone());
        let said = Said::cancel(&message, &order);
        self.asked.insert(message, (Asked::Cancel, order));
        self.say(id, Step::Cancels, said);
    }

    fn event(&mut self, id: &str, step: Step, shown: &Value) {
        let (event, asked) = if step == Step::Enters {
            ("entered", Asked::Entered)
        } else {
            ("exited", Asked::Exited)
        };
        let (message, order) = (self.name(), self.robots[id].order.clone());
        let said = Said::event(&message, &order, event, &shown["fence"]);
        self.asked.insert(message, (asked, order));
        self.say(id, step, said);
    }

    fn say(&mut self, id: &str, step: Step, said: Said) {
        self.publish(id, &said);
        let robot = self.robots.get_mut(id).expect("one of ours");
        (robot.step, robot.said) = (step, Some(said));
    }

    fn publish(&mut self, id: &str, said: &Said) {
        let is_request = said.topic == "ride/request";
        let order = said.body["order_id"].as_str().map(str::to_owned);
        self.handed.push_back(order.filter(|_| is_request));
        let topic = format!("{BASE}/robots/{id}/{}", said.topic);
        self.client
            .publish(topic, QoS::AtLeastOnce, false, said.body.to_string())
            .expect("the connection stands");
    }
}
