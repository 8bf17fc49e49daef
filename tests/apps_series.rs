//! Numbers without a gap, drawn from the real gateway by applications over Mosquitto (R-SEQ).
//!
//! What is true is what the applications were told: they keep their own books.

#![allow(clippy::unwrap_used, reason = "a test")]

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use serde_json::{Value, json};
use support::{Application, Gateway, Mosquitto, Site, asked, code, operate, wait_for};

/// AA, BB and CC of ten numbers each, which go on with each other.
const THREE: &str = "[[series]]\nid = \"AA\"\nmax = 10\n[[series]]\nid = \"BB\"\nmax = 10\n\
    [[series]]\nid = \"CC\"\nmax = 10\n";

fn next(series: &str) -> Value {
    json!({ "series": series, "device": { "name": "press", "model": "P-1" } })
}

fn series(site: &Site, id: &str) -> Value {
    let output = operate(&site.config(), &["series", "show", id, "--json"]);
    serde_json::from_slice(&output.stdout).unwrap()
}

/// AT-SEQ-01: 8 applications x 125 requests, 30 % of which must fail, at once.
#[test]
fn numbers_are_consecutive_whatever_fails_between_them() {
    let broker = Mosquitto::start();
    let site = Site::new(&broker).with("[[series]]\nid = \"AA\"\nmax = 100000");
    let _gateway = Gateway::start(&site);
    let draw = |client: usize| {
        let application = Application::connect(&broker, &format!("app-{client}"));
        let large = json!({ "series": "AA", "device": { "name": "x".repeat(2048) } });
        let mut drawn = Vec::new();
        for n in 0..125 {
            let order = format!("T-{client}-{n}");
            match n % 10 {
                3 => {
                    let reply = application.ask("series.next", &order, next("ZZ"));
                    assert_eq!(code(&reply), "UNKNOWN_SERIES");
                }
                // Of those that cannot be read one a second at most is told.
                6 => {
                    application.send(&asked("m-none", "series.next", &order, json!({})).to_string())
                }
                9 => application
                    .send(&asked("m-large", "series.next", &order, large.clone()).to_string()),
                _ => {
                    let reply = application.ask("series.next", &order, next("AA"));
                    assert_eq!(reply["result"], "accepted", "{reply}");
                    assert_eq!(reply["type"], "series.next.reply");
                    let number = reply["number"].as_u64().unwrap();
                    assert_eq!(reply["id"], format!("AA|{number}"));
                    drawn.push(number);
                }
            }
        }
        drawn
    };
    let drawn: Vec<Vec<u64>> = thread::scope(|scope| {
        let all: Vec<_> = (0..8)
            .map(|client| scope.spawn(move || draw(client)))
            .collect();
        all.into_iter().map(|one| one.join().unwrap()).collect()
    });
    assert_eq!(drawn.iter().map(Vec::len).sum::<usize>(), 8 * 88);
    for of_one in &drawn {
        assert!(
            of_one.is_sorted(),
            "order of numbers is order of asking: {of_one:?}"
        );
    }
    let all: Vec<u64> = drawn.into_iter().flatten().collect();
    let count = u64::try_from(all.len()).unwrap();
    let set: BTreeSet<u64> = all.into_iter().collect();
    assert_eq!(set, (1..=count).collect(), "no gap and no double");
    assert_eq!(series(&site, "AA")["last"], count);
}

/// AT-SEQ-03, AT-SEQ-05: a full series goes on with the next in the order of the configuration,
/// its last number before any of the next; at the very end nothing is consumed.
#[test]
fn a_full_series_goes_on_with_the_next() {
    let broker = Mosquitto::start();
    let site = Site::new(&broker)
        .with(THREE)
        .with("[[series]]\nid = \"ODD\"\nmax = 5\nstart = 1\nstep = 2\nswitch = false\n")
        .with("[[series]]\nid = \"EVEN\"\nmax = 100\nstart = 2\nstep = 2\n");
    let _gateway = Gateway::start(&site);
    let application = Application::connect(&broker, "app-1");
    let watcher = support::Client::connect(&broker, "watcher");
    watcher.subscribe("hallcall/v1/demo/ops/alarm");

    for n in 0..25 {
        let body = asked(
            &format!("m-{n}"),
            "series.next",
            &format!("T-{n}"),
            next("AA"),
        );
        application.send(&body.to_string());
    }
    let replies: Vec<Value> = (0..25)
        .map(|n| application.reply(&format!("m-{n}")))
        .collect();
    let ids: Vec<&str> = replies
        .iter()
        .map(|reply| reply["id"].as_str().unwrap())
        .collect();
    let expected: Vec<String> = (1..=10)
        .map(|n| format!("AA|{n}"))
        .chain((1..=10).map(|n| format!("BB|{n}")))
        .chain((1..=5).map(|n| format!("CC|{n}")))
        .collect();
    assert_eq!(ids, expected, "in the order in which they came");

    // ODD does not switch: 1, 3, 5, then none, though EVEN has all of its numbers.
    for (n, id) in ["ODD|1", "ODD|3", "ODD|5"].iter().enumerate() {
        let reply = application.ask("series.next", &format!("O-{n}"), next("ODD"));
        assert_eq!(reply["id"], *id);
    }
    let reply = application.ask("series.next", "O-3", next("ODD"));
    assert_eq!(code(&reply), "SERIES_EXHAUSTED");
    assert_eq!(reply["number"], Value::Null);
    let alarm = watcher.hear("the alarm", |alarm| {
        alarm.text("code") == "SERIES_EXHAUSTED"
    });
    assert!(alarm.text("detail").contains("ODD"), "{}", alarm.body);
    let reply = application.ask("series.next", "E-1", next("EVEN"));
    assert_eq!(reply["id"], "EVEN|2");

    // CC goes on with ODD, which is full and does not switch.
    for n in 6..=10 {
        let reply = application.ask("series.next", &format!("C-{n}"), next("AA"));
        assert_eq!(reply["id"], format!("CC|{n}"));
    }
    let reply = application.ask("series.next", "C-11", next("AA"));
    assert_eq!(code(&reply), "SERIES_EXHAUSTED");
    let reply = application.ask("series.next", "C-12", next("BB"));
    assert_eq!(code(&reply), "SERIES_EXHAUSTED");
    for (id, last) in [("AA", 10), ("BB", 10), ("CC", 10), ("ODD", 5), ("EVEN", 2)] {
        assert_eq!(series(&site, id)["last"], last, "{id}");
    }
    // AT-SEQ-04: an unknown one leaves nothing behind.
    let reply = application.ask("series.next", "U-1", next("DD"));
    assert_eq!(code(&reply), "UNKNOWN_SERIES");
    let listed = operate(&site.config(), &["series", "list", "--json"]);
    let listed: Value = serde_json::from_slice(&listed.stdout).unwrap();
    assert_eq!(listed["series"].as_array().unwrap().len(), 5);
}

/// AT-SEQ-07, AT-SEQ-09: one order is one number, over a kill too; a void one stays given.
#[test]
fn one_order_is_one_number_and_a_void_one_stays_given() {
    let broker = Mosquitto::start();
    let site = Site::new(&broker).elevator("EL001").with(THREE);
    let mut gateway = Gateway::start(&site);
    let application = Application::connect(&broker, "app-1");
    let other = Application::connect(&broker, "app-2");
    for n in 1..=4 {
        let reply = application.ask("series.next", &format!("T-{n}"), next("AA"));
        assert_eq!(
            (&reply["result"], &reply["number"]),
            (&json!("accepted"), &json!(n))
        );
    }
    let again = |message: &str| application.ask_as(message, "series.next", "T-3", next("AA"));
    let reply = again("m-2");
    assert_eq!(
        (&reply["result"], &reply["id"]),
        (&json!("duplicate"), &json!("AA|3"))
    );
    let void = json!({ "series": "AA", "number": 3, "reason": "scrapped" });
    let reply = application.ask("series.void", "V-1", void.clone());
    assert_eq!(
        (&reply["result"], &reply["id"]),
        (&json!("accepted"), &json!("AA|3"))
    );
    let reply = application.ask("series.void", "V-2", void.clone());
    assert_eq!(reply["result"], "duplicate");
    let never = json!({ "series": "AA", "number": 5, "reason": "never given" });
    assert_eq!(
        code(&application.ask("series.void", "V-3", never)),
        "UNKNOWN_NUMBER"
    );

    gateway.kill();
    let _gateway = Gateway::start(&site);
    for n in 3..=5 {
        let reply = again(&format!("again-{n}"));
        assert_eq!(
            (&reply["result"], &reply["id"]),
            (&json!("duplicate"), &json!("AA|3"))
        );
    }
    // Another content, another sender, another workflow: a conflict, and nothing happens.
    let reply = application.ask_as("other-1", "series.next", "T-3", next("BB"));
    assert_eq!(code(&reply), "ORDER_CONFLICT");
    let reply = other.ask_as("other-2", "series.next", "T-3", next("AA"));
    assert_eq!(code(&reply), "ORDER_CONFLICT");
    let robot = support::Robot::connect(&broker, "R001");
    let reply = robot.request("ride-1", "T-3", "1F", "6F");
    assert_eq!(code(&reply), "ORDER_CONFLICT");
    let reply = robot.request("ride-2", "R-1", "1F", "6F");
    assert_eq!(reply["result"], "accepted", "{reply}");
    let reply = application.ask("series.next", "R-1", next("AA"));
    assert_eq!(code(&reply), "ORDER_CONFLICT");

    let reply = application.ask("series.next", "T-5", next("AA"));
    assert_eq!(reply["id"], "AA|5", "a void number is not given again");
    let shown = series(&site, "AA");
    assert_eq!(shown["void"][0][0], 3, "{shown}");
    assert_eq!(shown["rows"].as_array().unwrap().len(), 5, "{shown}");
    assert_eq!(
        shown["rows"][2]["device"],
        r#"{"model":"P-1","name":"press"}"#
    );
}

/// AT-SEQ-08: data that were restored from a backup lack the numbers given since. Every series
/// stands still, loudly, until an operator has looked which number was given last.
#[test]
fn restored_data_give_no_number_until_an_operator_looked() {
    let broker = Mosquitto::start();
    let site = Site::new(&broker).with(THREE);
    let application = Application::connect(&broker, "app-1");
    let mut gateway = Gateway::start(&site);
    for n in 1..=4 {
        application.ask("series.next", &format!("T-{n}"), next("AA"));
    }
    gateway.terminate();
    gateway.wait();
    let gateway = Gateway::start_with(&site, &["--restored"]);
    let reply = application.ask("series.next", "T-5", next("AA"));
    assert_eq!(code(&reply), "UNAVAILABLE");
    assert!(
        reply["detail"].as_str().unwrap().contains("AA is stopped"),
        "{reply}"
    );
    let resume = |last: &str| {
        let who = ["--operator", "olga", "--reason", "looked at the last label"];
        let arguments = [&["series", "resume", "AA", "--last", last][..], &who[..]].concat();
        operate(&site.config(), &arguments).status.code()
    };
    assert_eq!(resume("3"), Some(7), "AA|4 is known");
    assert_eq!(resume("11"), Some(7), "AA ends at 10");
    assert_eq!(resume("7"), Some(0));
    let reply = application.ask("series.next", "T-6", next("AA"));
    assert_eq!(reply["id"], "AA|8");
    let reply = application.ask("series.next", "T-7", next("BB"));
    assert_eq!(code(&reply), "UNAVAILABLE", "each is looked at by itself");
    drop(gateway);
}

/// AT-SEQ-02: numbers drawn by many applications while the gateway is killed again and again: no
/// gap, no double, and every number that was ever told is there.
///
/// Short form: 3,000 numbers, 64 applications, 3 kills. `HALLCALL_DRAWS=50000` and
/// `HALLCALL_KILLS=20` make the long one.
#[test]
fn numbers_survive_kills() {
    let figure =
        |name: &str, short: usize| std::env::var(name).map_or(short, |text| text.parse().unwrap());
    let (draws, kills) = (figure("HALLCALL_DRAWS", 3_000), figure("HALLCALL_KILLS", 3));
    let broker = Mosquitto::start();
    let site = Site::new(&broker).with("[[series]]\nid = \"AA\"\nmax = 1000000");
    let mut gateway = Gateway::start(&site);
    let each = draws / 64;
    let told = AtomicUsize::new(0);
    let draw = |client: usize| {
        let application = Application::connect(&broker, &format!("app-{client}"));
        let mut drawn = BTreeMap::new();
        for n in 0..each {
            let order = format!("T-{client}-{n}");
            let reply = application.insist("series.next", &order, next("AA"));
            drawn.insert(order, reply["number"].as_u64().unwrap());
            application.client().forget();
            told.fetch_add(1, Ordering::Relaxed);
        }
        drawn
    };
    let drawn: BTreeMap<String, u64> = thread::scope(|scope| {
        let all: Vec<_> = (0..64)
            .map(|client| {
                scope.spawn({
                    let draw = &draw;
                    move || draw(client)
                })
            })
            .collect();
        for kill in 1..=kills {
            let from = kill * each * 64 / (kills + 1);
            wait_for("the next kill", || {
                (told.load(Ordering::Relaxed) >= from).then_some(())
            });
            gateway.kill();
            gateway = Gateway::start(&site);
        }
        all.into_iter()
            .flat_map(|one| one.join().unwrap())
            .collect()
    });
    let count = u64::try_from(each * 64).unwrap();
    assert_eq!(u64::try_from(drawn.len()).unwrap(), count);
    let numbers: BTreeSet<u64> = drawn.values().copied().collect();
    assert_eq!(numbers, (1..=count).collect(), "no gap and no double");
    assert_eq!(series(&site, "AA")["given"], count);
    gateway.kill();
    let _gateway = Gateway::start(&site);
    let application = Application::connect(&broker, "app-0");
    for n in 0..each {
        let order = format!("T-0-{n}");
        let reply = application.ask_as(&format!("again-{n}"), "series.next", &order, next("AA"));
        assert_eq!(reply["result"], "duplicate");
        assert_eq!(reply["number"], drawn[&order], "{order}");
    }
    let reply = application.ask("series.next", "last", next("AA"));
    assert_eq!(reply["number"], count + 1);
}
