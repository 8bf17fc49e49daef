//! Tickets of departments, taken and called by applications over Mosquitto (R-TURN).
//!
//! What is true is what the applications were told: they keep their own books.

#![allow(clippy::unwrap_used, reason = "a test")]

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::thread;

use serde_json::{Value, json};
use support::{Application, Gateway, Mosquitto, Site, code, operate};

const THREE: &str = "[turns]\ntime_zone = \"UTC\"\n[[departments]]\nid = \"D1\"\n\
    [[departments]]\nid = \"D2\"\n[[departments]]\nid = \"D3\"\n";

fn take(department: &str, user: &str) -> Value {
    json!({ "department": department, "user_id": user })
}

fn call(department: &str, desk: &str) -> Value {
    json!({ "department": department, "desk_id": desk })
}

fn department(site: &Site, id: &str) -> Value {
    let output = operate(&site.config(), &["turn", "show", id, "--json"]);
    serde_json::from_slice(&output.stdout).unwrap()
}

/// AT-TURN-01: 15 users at once, department (i mod 3) + 1: each department gives exactly 1 to 5,
/// and calls each of them once, to its user. `HALLCALL_ROUNDS` repeats it, 20 times in CI.
#[test]
fn fifteen_users_of_three_departments() {
    let broker = Mosquitto::start();
    let rounds: usize = std::env::var("HALLCALL_ROUNDS").map_or(20, |text| text.parse().unwrap());
    let mut departments = "[turns]\ntime_zone = \"UTC\"\n".to_owned();
    for round in 0..rounds {
        for one in 1..=3 {
            departments.push_str(&format!("[[departments]]\nid = \"R{round}-D{one}\"\n"));
        }
    }
    let site = Site::new(&broker).with(&departments);
    let _gateway = Gateway::start(&site);
    let users: Vec<Application> = (1..=15)
        .map(|user| Application::connect(&broker, &format!("app-{user}")))
        .collect();
    for round in 0..rounds {
        let taken = Mutex::new(BTreeMap::<(usize, u64), String>::new());
        let called = Mutex::new(BTreeMap::<(usize, u64), String>::new());
        thread::scope(|scope| {
            for (at, application) in users.iter().enumerate() {
                let (taken, called) = (&taken, &called);
                scope.spawn(move || {
                    let user = at + 1;
                    let one = user % 3 + 1;
                    let id = format!("R{round}-D{one}");
                    let order = format!("T-{round}-{user}");
                    let name = format!("U{user}");
                    let reply = application.ask("turn.take", &order, take(&id, &name));
                    assert_eq!(reply["result"], "accepted", "{reply}");
                    let number = reply["number"].as_u64().unwrap();
                    assert!(reply["ahead"].as_u64().unwrap() < number);
                    let twice = taken.lock().unwrap().insert((one, number), name);
                    assert_eq!(twice, None, "{number} of {id} was taken twice");
                    let order = format!("C-{round}-{user}");
                    let reply = application.ask("turn.call", &order, call(&id, "desk-1"));
                    assert_eq!(reply["result"], "accepted", "{reply}");
                    let number = reply["number"].as_u64().unwrap();
                    let whose = reply["user_id"].as_str().unwrap().to_owned();
                    let twice = called.lock().unwrap().insert((one, number), whose);
                    assert_eq!(twice, None, "{number} of {id} was called twice");
                });
            }
        });
        let taken = taken.into_inner().unwrap();
        let all: BTreeSet<(usize, u64)> = (1..=3)
            .flat_map(|one| (1..=5).map(move |number| (one, number)))
            .collect();
        assert_eq!(taken.keys().copied().collect::<BTreeSet<_>>(), all);
        assert_eq!(
            called.into_inner().unwrap(),
            taken,
            "each number is called to its user"
        );
        let shown = department(&site, &format!("R{round}-D1"));
        let tickets = shown["tickets"].as_array().unwrap();
        assert_eq!(tickets.len(), 5);
        assert!(
            tickets.iter().all(|ticket| ticket["status"] == "CALLED"),
            "{shown}"
        );
        for user in &users {
            user.client().forget();
        }
    }
}

/// AT-TURN-04, AT-TURN-05: ten tickets, called by four desks at once in order and each once; the
/// same order twice is the same ticket, over a kill too.
#[test]
fn tickets_are_called_in_order_and_each_once() {
    let broker = Mosquitto::start();
    let site = Site::new(&broker).with(THREE);
    let mut gateway = Gateway::start(&site);
    let customer = Application::connect(&broker, "kiosk");
    let reply = customer.ask("turn.call", "C-0", call("D1", "desk-1"));
    assert_eq!(code(&reply), "NO_TURN_WAITING");
    assert_eq!(
        code(&customer.ask("turn.take", "T-0", take("D9", "U1"))),
        "UNKNOWN_DEPARTMENT"
    );
    assert_eq!(
        code(&customer.ask("turn.call", "C-9", call("D9", "d"))),
        "UNKNOWN_DEPARTMENT"
    );
    for number in 1..=10 {
        let order = format!("T-{number}");
        let reply = customer.ask("turn.take", &order, take("D1", &format!("U{number}")));
        assert_eq!(reply["type"], "turn.take.reply");
        assert_eq!(
            (&reply["number"], &reply["ahead"]),
            (&json!(number), &json!(number - 1))
        );
        let again = customer.ask_as(
            "again",
            "turn.take",
            &order,
            take("D1", &format!("U{number}")),
        );
        assert_eq!(again["result"], "duplicate");
        assert_eq!(
            (&again["number"], &again["date"]),
            (&reply["number"], &reply["date"])
        );
        customer.client().forget();
    }
    gateway.kill();
    let _gateway = Gateway::start(&site);
    let called = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for desk in 1..=4 {
            let (broker, called) = (&broker, &called);
            scope.spawn(move || {
                let clerk = Application::connect(broker, &format!("desk-{desk}"));
                let mut last = 0;
                for n in 0.. {
                    let order = format!("C-{desk}-{n}");
                    let wanted = call("D1", &format!("desk-{desk}"));
                    let reply = clerk.ask("turn.call", &order, wanted.clone());
                    if reply["result"] == "rejected" {
                        assert_eq!(reply["code"], "NO_TURN_WAITING");
                        break;
                    }
                    let number = reply["number"].as_u64().unwrap();
                    assert!(number > last, "{number} after {last}");
                    last = number;
                    assert_eq!(reply["user_id"], format!("U{number}"));
                    let again = clerk.ask_as(&format!("a-{n}"), "turn.call", &order, wanted);
                    assert_eq!(again["number"], reply["number"]);
                    called.lock().unwrap().push(number);
                }
            });
        }
    });
    let mut called = called.into_inner().unwrap();
    called.sort_unstable();
    assert_eq!(called, (1..=10).collect::<Vec<u64>>());
    let listed = operate(&site.config(), &["turn", "list", "--json"]);
    let listed: Value = serde_json::from_slice(&listed.stdout).unwrap();
    let first = &listed["departments"][0];
    assert_eq!(
        (&first["issued"], &first["called"], &first["waiting"]),
        (&json!(10), &json!(10), &json!(0))
    );
}

/// AT-TURN-07: a second process refuses to start on the same data.
#[test]
fn a_second_process_does_not_start_on_the_same_data() {
    let broker = Mosquitto::start();
    let site = Site::new(&broker).with(THREE);
    let _gateway = Gateway::start(&site);
    let mut second = Gateway::spawn(&site);
    assert_eq!(second.wait().code(), Some(3));
}
