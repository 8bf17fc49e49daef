//! Vehicles rented from the real gateway by applications over Mosquitto (R-RENT).
//!
//! What is true is what the applications were told and what the vehicles did: both keep their own
//! books. Waits of the gateway are short here; the virtual clock of
//! `dispatch/tests/applications/rentals.rs` has those of a site. `HALLCALL_ROUNDS` repeats the race,
//! 5 times in CI and 100 times for AT-RENT-01 whole.

#![allow(clippy::unwrap_used, reason = "a test")]

mod devices;
mod secrets;
#[path = "../support/mod.rs"]
mod support;

use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use support::{
    Application, Client, Gateway, KEY, Mosquitto, Site, Vehicle, code, device_in, operate, wait_for,
};

const ALL: &str = "hallcall/v1/demo/#";
/// Vehicles that staff take without renting.
const POOL: &str =
    "[[pools]]\nid = \"vehicles\"\nresources = [\"DEV_001\"]\nclass = \"physical\"\ninit_s = 2\n";

/// A site with these devices.
fn site(broker: &Mosquitto, devices: &[&str], rental: &str) -> Site {
    let devices = devices
        .iter()
        .map(|id| format!("[[devices]]\nid = \"{id}\"\nkey_file = \"device.key\"\n"));
    let text: String = devices.collect();
    Site::new(broker)
        .secret("device.key", &format!("{KEY}\n"))
        .with(&format!("{text}[rental]\n{rental}"))
}

fn watcher(broker: &Mosquitto) -> Client {
    let watcher = Client::connect(broker, "watcher");
    watcher.subscribe(ALL);
    watcher
}

fn start(device: &str, user: &str) -> Value {
    json!({ "device_id": device, "user_id": user })
}

fn rental(reply: &Value) -> String {
    assert_ne!(reply["result"], "rejected", "{reply}");
    reply["rental_id"].as_str().unwrap().to_owned()
}

/// The first word of this state about a rental.
#[track_caller]
fn told(application: &Application, rental: &str, state: &str) -> Value {
    let what = format!("rental {rental} to be {state}");
    let heard = application.client().hear(&what, |heard| {
        heard.text("type") == "rental.state"
            && heard.text("rental_id") == rental
            && heard.text("state") == state
    });
    heard.body
}

fn shown(site: &Site, rental: &str) -> Value {
    let output = operate(&site.config(), &["rental", "show", rental, "--json"]);
    serde_json::from_slice(&output.stdout).unwrap()
}

/// AT-RENT-01, AT-RENT-07: a hundred users at once: one has the vehicle, it is unlocked once, its
/// version is one more, and the gateway was killed between the answer and RUNNING.
#[test]
fn a_hundred_users_and_one_vehicle() {
    let broker = Mosquitto::start();
    let rounds: usize = std::env::var("HALLCALL_ROUNDS").map_or(5, |text| text.parse().unwrap());
    let ids: Vec<String> = (0..rounds).map(|round| format!("DEV_{round:03}")).collect();
    let names: Vec<&str> = ids.iter().map(String::as_str).collect();
    let site = site(&broker, &names, "");
    let mut gateway = Gateway::start(&site);
    let watcher = watcher(&broker);
    let users: Vec<Application> = (0..100)
        .map(|user| Application::connect(&broker, &format!("app-{user}")))
        .collect();
    for (round, id) in ids.iter().enumerate() {
        let vehicle = Vehicle::connect(&broker, id);
        vehicle.report("STOPPED");
        let version = device_in(&watcher, id, "IDLE").body["version"]
            .as_u64()
            .unwrap();
        let line = Barrier::new(users.len());
        let replies: Vec<(usize, Value)> = thread::scope(|scope| {
            let all = users.iter().enumerate().map(|(at, application)| {
                let line = &line;
                scope.spawn(move || {
                    line.wait();
                    let order = format!("T-{round}-{at}");
                    let ask = start(id, &format!("U{round}-{at}"));
                    (at, application.ask("rental.start", &order, ask))
                })
            });
            let all: Vec<_> = all.collect();
            all.into_iter().map(|one| one.join().unwrap()).collect()
        });
        let won = |reply: &Value| reply["result"] == "accepted";
        let winners: Vec<_> = replies.iter().filter(|(_, reply)| won(reply)).collect();
        let [(winner, reply)] = winners[..] else {
            panic!("{} have {id}", winners.len())
        };
        assert_eq!(
            (&reply["type"], &reply["state"]),
            (&json!("rental.start.reply"), &json!("PENDING"))
        );
        for (_, reply) in replies.iter().filter(|(_, reply)| !won(reply)) {
            assert_eq!(code(reply), "DEVICE_UNAVAILABLE");
        }
        let rental = rental(reply);
        if round == 0 {
            gateway.kill();
            gateway = Gateway::start(&site);
        }
        vehicle.obey_until("RUNNING", || vehicle.is_running());
        let active = told(&users[*winner], &rental, "ACTIVE");
        assert_eq!(active["order_id"], format!("T-{round}-{winner}"));
        assert_eq!(vehicle.unlocks(), 1);
        let seen = device_in(&watcher, id, "RENTING");
        assert_eq!(seen.body["version"].as_u64(), Some(version + 1), "one step");
        for user in &users {
            user.client().forget();
        }
    }
    let listed = operate(&site.config(), &["rental", "list", "--json"]);
    let listed: Value = serde_json::from_slice(&listed.stdout).unwrap();
    assert_eq!(listed["rentals"].as_array().unwrap().len(), rounds);
}

/// AT-RENT-05, AT-RENT-06: the token of the reservation, and nothing else, starts a reserved
/// vehicle; a repetition is told the same token, over a kill too; one vehicle for one user.
#[test]
fn a_reservation_is_its_holders_alone() {
    let broker = Mosquitto::start();
    let site = site(&broker, &["DEV_001", "DEV_002"], "");
    let mut gateway = Gateway::start(&site);
    let (one, watcher) = (Application::connect(&broker, "app-1"), watcher(&broker));
    let wanted = json!({ "device_id": "DEV_001", "user_id": "UA", "hold_s": 3 });
    let reply = one.ask("rental.reserve", "R-1", wanted.clone());
    let id = rental(&reply);
    let token = reply["token"].as_str().unwrap().to_owned();
    assert!(token.len() >= 32, "{token}");
    assert_eq!(reply["expires_in_s"], 3);
    let held = |user: &str, device: &str, token: &str| json!({ "device_id": device, "user_id": user, "rental_id": id, "token": token });
    device_in(&watcher, "DEV_001", "LOCKED");
    gateway.kill();
    gateway = Gateway::start(&site);
    let again = one.ask_as("again", "rental.reserve", "R-1", wanted);
    assert_eq!(again["result"], "duplicate");
    assert_eq!(again["token"], token, "over a kill");
    for (order, ask) in [
        ("T-1", start("DEV_001", "UB")),
        ("T-2", held("UB", "DEV_001", &token)),
        ("T-3", held("UA", "DEV_001", "0123456789")),
        ("T-4", held("UA", "DEV_002", &token)),
    ] {
        assert_eq!(code(&one.ask("rental.start", order, ask)), "BAD_TOKEN");
    }
    let reply = one.ask("rental.start", "T-5", start("DEV_002", "UA"));
    assert_eq!(code(&reply), "RENTAL_LIMIT");
    let reply = one.ask("rental.start", "T-6", start("DEV_009", "UA"));
    assert_eq!(code(&reply), "UNKNOWN_DEVICE");
    told(&one, &id, "EXPIRED");
    device_in(&watcher, "DEV_001", "IDLE");
    let reply = one.ask("rental.start", "T-7", held("UA", "DEV_001", &token));
    assert_eq!(code(&reply), "RENTAL_EXPIRED");

    let wanted = json!({ "device_id": "DEV_001", "user_id": "UA" });
    let reply = one.ask("rental.reserve", "R-2", wanted);
    let (second, new) = (rental(&reply), reply["token"].as_str().unwrap());
    assert_ne!(new, token);
    let wanted = json!({ "device_id": "DEV_001", "user_id": "UA", "token": new });
    let reply = one.ask("rental.start", "T-8", wanted.clone());
    assert_eq!(rental(&reply), second);
    let reply = one.ask("rental.start", "T-9", wanted);
    assert_eq!(code(&reply), "DEVICE_UNAVAILABLE", "a token starts once");
    drop(gateway);
}

/// AT-RENT-03: every start is lost: told again under the same order, then refunded, once; the
/// vehicle is nobody's until it says that it stands; one that runs late is told to stop.
#[test]
fn a_start_that_never_arrives_is_refunded_once() {
    let broker = Mosquitto::start();
    let site = site(&broker, &["DEV_001"], "pending_s = 0.5\nresends = 3\n");
    let _gateway = Gateway::start(&site);
    let (one, watcher) = (Application::connect(&broker, "app-1"), watcher(&broker));
    let vehicle = Vehicle::connect(&broker, "DEV_001");
    let id = rental(&one.ask("rental.start", "T-1", start("DEV_001", "U1")));
    let starts: Vec<Value> = (0..4).map(|_| vehicle.hear("start")).collect();
    assert!(starts.iter().all(|start| start["order_id"] == "T-1"));
    let told_state = told(&one, &id, "CANCELLED");
    assert_eq!(told_state["refunded"], true);
    device_in(&watcher, "DEV_001", "FAULT");
    vehicle.hear("stop");
    let reply = one.ask("rental.start", "T-2", start("DEV_001", "U2"));
    assert_eq!(code(&reply), "DEVICE_UNAVAILABLE");

    vehicle.commands();
    vehicle.report("RUNNING");
    let begun = Instant::now();
    vehicle.hear("stop");
    assert!(begun.elapsed() < Duration::from_secs(1));
    assert_eq!(shown(&site, &id)["state"], "CANCELLED");
    let alarms = watcher
        .heard()
        .into_iter()
        .filter(|heard| heard.text("code") == "DEVICE_FAULT");
    assert_eq!(alarms.count(), 1);
    vehicle.report("STOPPED");
    device_in(&watcher, "DEV_001", "IDLE");
    let refunds = one.client().heard().into_iter();
    assert_eq!(
        refunds
            .filter(|heard| heard.body["refunded"] == true)
            .count(),
        1
    );
    // A start that comes late and is obeyed by nobody: it is expired.
    assert_eq!(vehicle.obey(&starts[0]), "failed");
    assert_eq!(vehicle.unlocks(), 0, "AT-RENT-10");
}

/// AT-RENT-04, AT-RENT-10: the same start ten times and over the vehicle's restart unlocks once; a
/// start after the stop, a wrong signature and a late command unlock nothing.
#[test]
fn a_vehicle_is_unlocked_once() {
    let broker = Mosquitto::start();
    let site = site(&broker, &["DEV_001"], "");
    let gateway = Gateway::start(&site);
    let (one, watcher) = (Application::connect(&broker, "app-1"), watcher(&broker));
    let vehicle = Vehicle::connect(&broker, "DEV_001");
    let id = rental(&one.ask("rental.start", "T-1", start("DEV_001", "U1")));
    let command = vehicle.hear("start");
    let mut forged = command.clone();
    forged["signature"] = json!("00");
    assert_eq!(vehicle.obey(&forged), "failed");
    let mut moved = command.clone();
    moved["order_id"] = json!("T-9");
    assert_eq!(vehicle.obey(&moved), "failed", "the order is signed");
    for _ in 0..5 {
        assert_eq!(vehicle.obey(&command), "done");
    }
    told(&one, &id, "ACTIVE");
    let vehicle = vehicle.restart(&broker);
    for _ in 0..5 {
        assert_eq!(vehicle.obey(&command), "done");
    }
    assert_eq!(vehicle.unlocks(), 1);

    // It is ridden for a while, so that there is something to meter.
    thread::sleep(Duration::from_millis(1_100));
    let ask = json!({ "rental_id": id, "user_id": "U1" });
    let reply = one.ask("rental.end", "E-1", ask);
    assert_eq!(reply["state"], "ENDING");
    assert!(reply["metered_s"].as_u64().unwrap() >= 1, "{reply}");
    let stop = vehicle.hear("stop");
    assert_eq!(vehicle.obey(&stop), "done");
    let ended = told(&one, &id, "ENDED");
    assert_eq!(ended["metered_s"], reply["metered_s"]);
    device_in(&watcher, "DEV_001", "IDLE");
    // A start that comes after the stop (T-RENT-13) is known, and nothing happens.
    assert_eq!(vehicle.obey(&command), "done");
    assert!(!vehicle.is_running());
    assert_eq!((vehicle.unlocks(), vehicle.refused()), (1, 2));
    wait_for("the refusal in the log", || {
        gateway.log().contains("device_refused").then_some(())
    });
}

/// AT-RENT-08: what is not newer, by the vehicle's start and number, moves nothing.
#[test]
fn a_report_that_is_not_newer_moves_nothing() {
    let broker = Mosquitto::start();
    let site = site(&broker, &["DEV_001"], "");
    let mut gateway = Gateway::start(&site);
    let (one, watcher) = (Application::connect(&broker, "app-1"), watcher(&broker));
    let vehicle = Vehicle::connect(&broker, "DEV_001");
    let state = |state: &str| json!({ "event": "state", "device_state": state });
    vehicle.say_as("old", 500, state("STOPPED"));
    vehicle.say_as("new", 1, state("STOPPED"));
    let id = rental(&one.ask("rental.start", "T-1", start("DEV_001", "U1")));
    vehicle.say_as("old", 501, state("RUNNING"));
    vehicle.say_as("new", 1, state("RUNNING"));
    vehicle.say_as("new", 7, state("RUNNING"));
    told(&one, &id, "ACTIVE");
    let active_at = shown(&site, &id)["active_at"].clone();
    vehicle.say_as("new", 6, state("STOPPED"));
    vehicle.say_as("old", 502, state("FAULT"));
    gateway.kill();
    gateway = Gateway::start(&site);
    vehicle.say_as("new", 5, state("STOPPED"));
    vehicle.say_as("old", 503, state("STOPPED"));
    vehicle.say_as("new", 8, state("RUNNING"));
    // An order of the gateway's answer: what came before it was taken.
    let ask = json!({ "rental_id": id, "user_id": "U2" });
    assert_eq!(code(&one.ask("rental.end", "E-1", ask)), "NOT_OWNER");
    let known = shown(&site, &id);
    assert_eq!(
        (&known["state"], &known["active_at"]),
        (&json!("ACTIVE"), &active_at)
    );
    device_in(&watcher, "DEV_001", "RENTING");
    let actives =
        one.client().heard().into_iter().filter(|heard| {
            heard.text("type") == "rental.state" && heard.text("state") == "ACTIVE"
        });
    assert_eq!(actives.count(), 2, "once, and once more after the start");
    drop(gateway);
}

/// R-RENT-046, and `hallcall device maintenance`.
#[test]
fn maintenance_ends_with_a_word_of_the_vehicle() {
    let broker = Mosquitto::start();
    let site = site(&broker, &["DEV_001"], "");
    let _gateway = Gateway::start(&site);
    let (one, watcher) = (Application::connect(&broker, "app-1"), watcher(&broker));
    let vehicle = Vehicle::connect(&broker, "DEV_001");
    let maintain = |switch: &str| {
        let who = ["--operator", "olga", "--reason", "brakes"];
        let arguments = [&["device", "maintenance", "DEV_001", switch][..], &who[..]].concat();
        operate(&site.config(), &arguments).status.code()
    };
    assert_eq!(maintain("on"), Some(0));
    device_in(&watcher, "DEV_001", "MAINTENANCE");
    let reply = one.ask("rental.start", "T-1", start("DEV_001", "U1"));
    assert_eq!(code(&reply), "DEVICE_UNAVAILABLE");
    assert_eq!(maintain("off"), Some(7));
    vehicle.report("STOPPED");
    wait_for("off to be taken", || {
        (maintain("off") == Some(0)).then_some(())
    });
    device_in(&watcher, "DEV_001", "IDLE");
}

/// AT-RENT-11: one application that asks far too much is told so, each time, and others are served
/// as before.
#[test]
fn one_that_asks_too_much_is_told_so_and_slows_nobody() {
    let broker = Mosquitto::start();
    let site = site(&broker, &["DEV_001"], "").with("[limits]\nclient_messages_per_s = 50\n");
    let _gateway = Gateway::start(&site);
    let flood = Application::connect(&broker, "app-flood");
    let other = Application::connect(&broker, "app-1");
    const SENT: usize = 1_000;
    let mut slowest = Duration::ZERO;
    thread::scope(|scope| {
        scope.spawn(|| {
            for n in 0..SENT {
                let ask = start("DEV_009", "UF");
                let order = format!("F-{n}");
                let body = support::asked(&format!("f-{n}"), "rental.start", &order, ask);
                flood.send(&body.to_string());
            }
        });
        for n in 0..10 {
            let begun = Instant::now();
            let reply = other.ask("rental.start", &format!("T-{n}"), start("DEV_009", "U1"));
            assert_eq!(code(&reply), "UNKNOWN_DEVICE");
            slowest = slowest.max(begun.elapsed());
        }
    });
    let answered = wait_for("an answer to each", || {
        let heard = flood.client().heard();
        (heard.len() == SENT).then_some(heard)
    });
    let limited = answered
        .iter()
        .filter(|heard| heard.text("code") == "RATE_LIMITED");
    assert!(limited.count() > 0, "1,000 in less than 20 s");
    assert!(slowest < Duration::from_secs(2), "{slowest:?}");
}
