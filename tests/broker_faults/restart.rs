//! The broker goes and comes back, in the middle of orders and of rides (AT-GW-02; T-STACK-04 and
//! T-STACK-05; M7, M8).

use std::process::{Child, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::broker::{Broker, Kind, site};
use crate::fleet::Fleet;
use crate::order::assert_accepted_once;
use crate::support::{Client, Gateway, SOON, hallcall, operate, wait_for};
use crate::{count, seen, side_by_side};

const PATIENCE: Duration = Duration::from_secs(60);

/// How a broker ends, and what it remembers.
#[derive(Debug, Clone, Copy)]
enum End {
    Kept,
    Forgotten,
    Killed,
}

fn restart(broker: &mut Broker, end: End) {
    match end {
        End::Kept => broker.stop(),
        End::Forgotten => {
            broker.stop();
            broker.forget();
        }
        End::Killed => broker.kill(),
    }
    broker.start_again();
}

const ENDS: [(Kind, End); 4] = [
    (Kind::Mosquitto, End::Kept),
    (Kind::Mosquitto, End::Forgotten),
    (Kind::Mosquitto, End::Killed),
    (Kind::Embedded, End::Killed),
];

#[test]
fn orders_get_through_restarts_whatever_the_broker_remembers() {
    let wave = count(200, 3_000);
    side_by_side(ENDS, |(kind, end)| {
        let mut broker = Broker::start(kind);
        let site = site(broker.port());
        let config = site.config();
        let mut gateway = Gateway::start(&site);
        let fleet = Fleet::start(broker.port());
        for round in 0..2 {
            fleet.ask(round * wave..(round + 1) * wave);
            fleet.wait_answers(PATIENCE, round * wave + wave / 4);
            restart(&mut broker, end);
        }
        fleet.wait_all(PATIENCE);
        assert_accepted_once(&fleet);
        // AT-GW-02: each was applied once, and nothing else is known.
        let list = operate(&config, &["order", "list", "--json"]).stdout;
        let list: Value = serde_json::from_slice(&list).unwrap();
        let mut known: Vec<&str> = list["orders"]
            .as_array()
            .unwrap()
            .iter()
            .map(|order| order["order_id"].as_str().unwrap())
            .collect();
        let listed = known.len();
        known.sort_unstable();
        known.dedup();
        assert_eq!((known.len(), listed), (2 * wave, 2 * wave));
        assert!(!gateway.has_ended());
        let what = format!(
            "{listed} of {} answered and known once, {} repeats",
            2 * wave,
            fleet.repeats()
        );
        seen("two restarts among orders", (kind, end), what);
    });
}

/// Ends its process when dropped.
struct Demo(Child);

impl Drop for Demo {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Waits until so many robots ride, as the broker tells it to anybody.
fn wait_for_rides(broker: &Broker, watcher: &str, running: usize) {
    let watch = Client::connect_to(broker.port(), watcher);
    watch.subscribe("hallcall/v1/+/robots/+/ride/state");
    wait_for("rides under way", || {
        let heard = watch.heard();
        let rides = heard
            .iter()
            .filter(|state| state.text("state") == "RUNNING");
        (rides.count() >= running).then_some(())
    });
}

#[track_caller]
fn rides(kind: Kind, ends: &[End]) {
    const RIDES: u64 = 40;
    let mut broker = Broker::start(kind);
    let demo = hallcall()
        .args([
            "demo",
            "--json",
            "--robots",
            "40",
            "--elevators",
            "8",
            "--speed",
            "20",
        ])
        .args([
            "--rides",
            &RIDES.to_string(),
            "--seed",
            "7",
            "--timeout-s",
            "80",
        ])
        .args(["--broker", &format!("mqtt://127.0.0.1:{}", broker.port())])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut demo = Demo(demo.unwrap());
    for (n, end) in ends.iter().enumerate() {
        wait_for_rides(&broker, &format!("watch-{n}"), 4);
        restart(&mut broker, *end);
    }
    let mut text = String::new();
    std::io::Read::read_to_string(demo.0.stdout.as_mut().unwrap(), &mut text).unwrap();
    let report: Value = serde_json::from_str(text.lines().last().unwrap_or_default())
        .unwrap_or_else(|_| panic!("no report: {text}"));
    // The building's own record: no robot crossed a threshold that it must not cross.
    assert_eq!(report["violations"], 0, "{report}");
    let completed = report["completed"].as_u64().unwrap();
    assert!(completed * 100 >= RIDES * 97, "AT-GW-02: {report}");
    let what = format!("{completed} of {RIDES} completed, 0 laws broken");
    seen("restarts among rides", (kind, ends), what);
}

#[test]
fn at_gw_02_rides_get_through_restarts_of_mosquitto() {
    rides(Kind::Mosquitto, &[End::Kept, End::Killed]);
}

#[test]
fn at_gw_02_rides_get_through_a_kill_of_the_embedded_broker() {
    rides(Kind::Embedded, &[End::Killed]);
}

#[test]
fn a_client_of_a_broker_that_goes_and_comes_is_told_once_what_is_true() {
    // After the broker has forgotten all, what it shows is what the gateway says again.
    let mut broker = Broker::start(Kind::Mosquitto);
    let site = site(broker.port());
    let _gateway = Gateway::start(&site);
    let fleet = Fleet::start(broker.port());
    fleet.ask(0..20);
    fleet.wait_all(SOON);
    restart(&mut broker, End::Forgotten);
    let watch = Client::connect_to(broker.port(), "watch");
    watch.subscribe("hallcall/v1/demo/#");
    for n in 0..20 {
        let order = format!("T-{n}");
        watch.hear("the state of each ride", |message| {
            message.topic.ends_with("/ride/state") && message.text("order_id") == order
        });
    }
    for topic in ["site", "ops/alarms", "elevators/EL001/state"] {
        let topic = format!("hallcall/v1/demo/{topic}");
        watch.hear(&topic, |message| message.topic == topic);
    }
    seen(
        "retained states forgotten",
        Kind::Mosquitto,
        "20 rides, site, alarms, elevator said again",
    );
}
