//! Places of pools, acquired and released by applications over Mosquitto (R-REG).
//!
//! What is true is what the applications were told: they keep their own books. Leases and sweeps,
//! which take minutes, are looked at on the virtual clock: `dispatch/tests/applications`.

#![allow(clippy::unwrap_used, reason = "a test")]

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Barrier, Mutex};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use support::{Application, Gateway, Message, Mosquitto, Site, code, hallcall, operate, wait_for};

const ROBOTS: &str = "[[pools]]\nid = \"robots\"\ncapacity = 3\n\
    resources = [\"R001\", \"R002\", \"R003\", \"R004\"]\n";

fn wish(pool: &str, resource: Option<&str>, owner: &str) -> Value {
    json!({ "pool": pool, "resource_id": resource, "owner_id": owner })
}

fn by(reply: &Value, owner: &str) -> Value {
    json!({ "claim_id": reply["claim_id"], "owner_id": owner })
}

fn ask_operator(site: &Site, arguments: &[&str]) -> Value {
    let output = operate(&site.config(), &[arguments, &["--json"]].concat());
    serde_json::from_slice(&output.stdout).unwrap()
}

fn act(site: &Site, arguments: &[&str]) -> Option<i32> {
    let who = ["--operator", "olga", "--reason", "a test"];
    operate(&site.config(), &[arguments, &who].concat())
        .status
        .code()
}

fn figure(name: &str, short: u64) -> u64 {
    std::env::var(name).map_or(short, |text| text.parse().unwrap())
}

/// Up to 5 ms, other ones each time.
fn hold(dice: &mut u64) {
    *dice ^= *dice << 13;
    *dice ^= *dice >> 7;
    *dice ^= *dice << 17;
    thread::sleep(Duration::from_micros(*dice % 5_000));
}

/// What the applications hold by their own books: from the answer that gives it until they ask to
/// give it back.
#[derive(Default)]
struct Book {
    held: BTreeMap<String, usize>,
    peak: usize,
    acquired: u64,
    released: u64,
}

/// AT-REG-01: capacity 3, four robots, eight workers. `HALLCALL_ROUNDS` repeats it, 30 times in
/// CI.
#[test]
fn four_robots_of_a_pool_of_three() {
    let rounds = figure("HALLCALL_ROUNDS", 30);
    let broker = Mosquitto::start();
    let site = Site::new(&broker).with(ROBOTS);
    let _gateway = Gateway::start(&site);
    let book = Mutex::new(Book::default());
    let start = Barrier::new(8);
    thread::scope(|scope| {
        for worker in 0..8_u64 {
            let (broker, book, start) = (&broker, &book, &start);
            scope.spawn(move || {
                let application = Application::connect(broker, &format!("app-{worker}"));
                let robot = format!("R00{}", worker % 4 + 1);
                let user = format!("U{}", worker % 4 + 1);
                let mut dice = worker * 7_919 + 1;
                for round in 0..rounds {
                    start.wait();
                    let order = format!("A-{worker}-{round}");
                    let wanted = wish("robots", Some(&robot), &user);
                    let reply = application.ask("claim.acquire", &order, wanted);
                    if reply["result"] == "rejected" {
                        assert!(["RESOURCE_TAKEN", "CAPACITY_FULL"].contains(&code(&reply)));
                        continue;
                    }
                    assert_eq!(reply["resource_id"], robot.as_str());
                    {
                        let mut book = book.lock().unwrap();
                        *book.held.entry(robot.clone()).or_default() += 1;
                        assert_eq!(book.held[&robot], 1, "{robot} has two holders");
                        let now = book.held.values().sum();
                        book.peak = book.peak.max(now);
                        book.acquired += 1;
                    }
                    hold(&mut dice);
                    *book.lock().unwrap().held.get_mut(&robot).unwrap() -= 1;
                    let order = format!("R-{worker}-{round}");
                    let reply = application.ask("claim.release", &order, by(&reply, &user));
                    assert_eq!(
                        (&reply["result"], &reply["state"]),
                        (&json!("accepted"), &json!("RELEASED"))
                    );
                    book.lock().unwrap().released += 1;
                    application.client().forget();
                }
            });
        }
    });
    let book = book.into_inner().unwrap();
    assert!((1..=3).contains(&book.peak), "peak {}", book.peak);
    assert_eq!(book.acquired, book.released);
    assert!(book.acquired >= rounds, "somebody gets one in each round");
    let pool = ask_operator(&site, &["pool", "show", "robots"]);
    assert_eq!((&pool["used"], &pool["claims"]), (&json!(0), &json!([])));
    let ended = ask_operator(&site, &["claim", "list", "--ended"]);
    let ended = ended["claims"].as_array().unwrap();
    assert_eq!(
        u64::try_from(ended.len()).unwrap(),
        book.acquired.min(1_000)
    );
}

/// AT-REG-04: a hundred places, two hundred robots, twenty applications at once.
#[test]
fn a_hundred_places_are_a_hundred() {
    let broker = Mosquitto::start();
    let site = Site::new(&broker)
        .with("[[pools]]\nid = \"robots\"\ncapacity = 100\nany_id = true\n")
        .with("[[quotas]]\npool = \"robots\"\nlabel = \"tenant\"\nlimit = 60\n");
    let _gateway = Gateway::start(&site);
    let given = Mutex::new(BTreeMap::<String, u64>::new());
    thread::scope(|scope| {
        for one in 0..20 {
            let (broker, given) = (&broker, &given);
            scope.spawn(move || {
                let application = Application::connect(broker, &format!("app-{one}"));
                let tenant = if one % 4 == 0 { "small" } else { "large" };
                for n in 0..10 {
                    let wanted = json!({ "pool": "robots", "resource_id": format!("R{one}-{n}"),
                        "owner_id": "U", "labels": { "tenant": tenant } });
                    let reply = application.ask("claim.acquire", &format!("T-{one}-{n}"), wanted);
                    let key = reply["code"].as_str().unwrap_or(tenant).to_owned();
                    *given.lock().unwrap().entry(key).or_default() += 1;
                }
            });
        }
    });
    let given = given.into_inner().unwrap();
    assert_eq!(given["small"] + given["large"], 100, "{given:?}");
    assert!(given["large"] <= 60, "{given:?}");
    assert_eq!(given.values().sum::<u64>(), 200, "{given:?}");
    let metrics = operate(&site.config(), &["pool", "metrics"]);
    let metrics = String::from_utf8(metrics.stdout).unwrap();
    let line = |name: &str| {
        let found = metrics.lines().find(|line| line.starts_with(name));
        found.and_then(|line| line.rsplit(' ').next()?.parse::<u64>().ok())
    };
    // AT-REG-12: the figures are those of the applications' books.
    assert_eq!(
        line("robot_registry_used_capacity{pool=\"robots\"}"),
        Some(100)
    );
    for (of, count) in given.iter().filter(|(of, _)| of.contains('_')) {
        let name = format!("robot_registry_acquire_failure_total{{pool=\"robots\",code=\"{of}\"}}");
        assert_eq!(line(&name), Some(*count), "{metrics}");
    }
}

/// AT-REG-08, AT-REG-12: what others hold is not released, and the log has a JSON line of each.
#[test]
fn a_stranger_releases_nothing_and_the_log_tells() {
    let broker = Mosquitto::start();
    let site = Site::new(&broker).with(ROBOTS);
    let mut command = hallcall();
    command.env("HALLCALL_LOG_FORMAT", "json");
    let gateway = Gateway::start_by(command, &site);
    let application = Application::connect(&broker, "app-1");
    let held = application.ask("claim.acquire", "T-1", wish("robots", Some("R001"), "U1"));
    let reply = application.ask("claim.release", "R-1", by(&held, "U2"));
    assert_eq!(code(&reply), "NOT_OWNER");
    assert_eq!(ask_operator(&site, &["pool", "show", "robots"])["used"], 1);
    let shown = ask_operator(
        &site,
        &["claim", "show", held["claim_id"].as_str().unwrap()],
    );
    assert_eq!(
        (&shown["owner_id"], &shown["status"]),
        (&json!("U1"), &json!(1))
    );
    let beat = json!({ "message_id": "b-1", "timestamp": support::now(),
        "type": "claim.heartbeat", "claim_id": "c0-99", "owner_id": "U1" });
    application.send(&beat.to_string());
    assert_eq!(code(&application.reply("b-1")), "UNKNOWN_CLAIM");
    let reply = application.ask("claim.release", "R-2", by(&held, "U1"));
    assert_eq!(reply["result"], "accepted");

    let lines: Vec<Value> = gateway
        .log()
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect();
    let event = |name: &str| {
        let found = lines.iter().find(|line| line["event"] == name);
        found.unwrap_or_else(|| panic!("no {name} in {lines:#?}"))
    };
    let stranger = event("not_owner");
    assert_eq!(stranger["level"], "WARN");
    assert_eq!(
        (
            &stranger["caller"],
            &stranger["owner"],
            &stranger["resource"]
        ),
        (&json!("U2"), &json!("U1"), &json!("R001"))
    );
    assert_eq!(
        (&event("acquire")["used"], &event("acquire")["capacity"]),
        (&json!(1), &json!(3))
    );
    assert_eq!(event("release")["used"], 0);
    assert_eq!(event("heartbeat_refused")["level"], "WARN");
}

/// AT-REG-10 and waiting: an operator raises the capacity of a running pool, and who waits hears.
#[test]
fn a_running_pool_gets_another_capacity() {
    let broker = Mosquitto::start();
    let site = Site::new(&broker)
        .with("[[pools]]\nid = \"seats\"\ncapacity = 4\nany_id = true\nwhen_full = \"wait\"\n");
    let mut gateway = Gateway::start(&site);
    let application = Application::connect(&broker, "app-1");
    let held: Vec<Value> = (0..4)
        .map(|n| application.ask("claim.acquire", &format!("T-{n}"), wish("seats", None, "U")))
        .collect();
    assert_eq!(act(&site, &["pool", "capacity", "seats", "2"]), Some(0));
    assert_eq!(act(&site, &["pool", "capacity", "nowhere", "2"]), Some(7));
    let pool = ask_operator(&site, &["pool", "show", "seats"]);
    assert_eq!((&pool["used"], &pool["capacity"]), (&json!(4), &json!(2)));
    let waits = application.ask("claim.acquire", "W-1", wish("seats", None, "U"));
    assert_eq!(
        (&waits["state"], &waits["queue_position"]),
        (&json!("WAITING"), &json!(1))
    );
    for (n, reply) in held.iter().enumerate().take(2) {
        application.ask("claim.release", &format!("R-{n}"), by(reply, "U"));
    }
    let later = application.ask("claim.acquire", "W-2", wish("seats", None, "U"));
    assert_eq!(later["queue_position"], 2, "two of two are taken still");
    let state = |of: &Value, state: &str| {
        let is = |heard: &Message| {
            heard.text("type") == "claim.state"
                && heard.body["claim_id"] == of["claim_id"]
                && heard.text("state") == state
        };
        application.client().hear(state, is).body
    };
    application.ask("claim.release", "R-2", by(&held[2], "U"));
    let ready = state(&waits, "READY");
    assert!(ready["resource_id"].is_string(), "{ready}");
    gateway.kill();
    application.client().forget();
    let _gateway = Gateway::start(&site);
    // What became of it meanwhile is told again.
    state(&waits, "READY");
    assert_eq!(act(&site, &["pool", "capacity", "seats", "9"]), Some(0));
    state(&later, "READY");
    assert_eq!(ask_operator(&site, &["pool", "show", "seats"])["used"], 3);
}

/// AT-REG-09 and quarantine: a cart that is not initialised in time is nobody's until somebody saw
/// it stand still.
#[test]
fn a_cart_in_quarantine_is_freed_by_an_operator() {
    let broker = Mosquitto::start();
    let site = Site::new(&broker).with(
        "[[pools]]\nid = \"carts\"\nresources = [\"C1\"]\nclass = \"physical\"\ninit_s = 0.5\n",
    );
    let _gateway = Gateway::start(&site);
    let application = Application::connect(&broker, "app-1");
    let watcher = support::Client::connect(&broker, "watcher");
    watcher.subscribe("hallcall/v1/demo/ops/alarm");
    let wanted = json!({ "pool": "carts", "owner_id": "U1", "init": true });
    let first = application.ask("claim.acquire", "T-1", wanted.clone());
    assert_eq!(
        (&first["state"], &first["expires_in_s"]),
        (&json!("INITIALISING"), &json!(0.5))
    );
    let second = application.ask("claim.acquire", "T-2", wanted.clone());
    assert_eq!(code(&second), "CAPACITY_FULL", "one initialises");
    let lost = application.client().hear("QUARANTINE", |heard| {
        heard.text("type") == "claim.state" && heard.text("state") == "QUARANTINE"
    });
    assert_eq!(lost.body["reason"]["code"], "INIT_TIMEOUT");
    watcher.hear("the alarm", |alarm| alarm.text("code") == "QUARANTINED");
    let ready = application.ask("claim.ready", "Y-1", by(&first, "U1"));
    assert_eq!(code(&ready), "WRONG_STATE");
    assert_eq!(act(&site, &["claim", "stopped", "carts", "C9"]), Some(7));
    assert_eq!(act(&site, &["claim", "stopped", "carts", "C1"]), Some(0));
    let third = application.ask("claim.acquire", "T-3", wanted);
    assert_eq!(third["state"], "INITIALISING");
    let ready = application.ask("claim.ready", "Y-3", by(&third, "U1"));
    assert_eq!(
        (&ready["result"], &ready["state"]),
        (&json!("accepted"), &json!("READY"))
    );
}

/// AT-REG-11: killed again and again under the load of AT-REG-01. After each restart, once every
/// application has its answer: what is held is what the books say, each acknowledged acquire is
/// there and each acknowledged release is not.
///
/// Short form: 3 kills. `HALLCALL_KILLS=50` makes the long one.
#[test]
fn claims_survive_kills() {
    let kills = figure("HALLCALL_KILLS", 3);
    let broker = Mosquitto::start();
    let site = Site::new(&broker).with(ROBOTS);
    let mut gateway = Gateway::start(&site);
    // Claims that applications hold between two requests, by robot.
    let books = Mutex::new(BTreeMap::<String, String>::new());
    let (pause, over) = (AtomicBool::new(false), AtomicBool::new(false));
    let paused = Mutex::new(BTreeSet::new());
    let done = AtomicU64::new(0);
    thread::scope(|scope| {
        for worker in 0..8_u64 {
            let (broker, books, pause, over) = (&broker, &books, &pause, &over);
            let (paused, done) = (&paused, &done);
            scope.spawn(move || {
                let application = Application::connect(broker, &format!("app-{worker}"));
                let robot = format!("R00{}", worker % 4 + 1);
                let user = format!("U{worker}");
                let mut dice = worker * 7_919 + 1;
                let rest = || {
                    if pause.load(Ordering::SeqCst) {
                        paused.lock().unwrap().insert(worker);
                        while pause.load(Ordering::SeqCst) {
                            thread::sleep(Duration::from_millis(5));
                        }
                        paused.lock().unwrap().remove(&worker);
                    }
                };
                for n in 0.. {
                    rest();
                    if over.load(Ordering::SeqCst) {
                        break;
                    }
                    application.client().forget();
                    let wanted = wish("robots", Some(&robot), &user);
                    let order = format!("A-{worker}-{n}");
                    let reply = application.insist("claim.acquire", &order, wanted);
                    if reply["result"] == "rejected" {
                        hold(&mut dice);
                        continue;
                    }
                    let claim = reply["claim_id"].as_str().unwrap().to_owned();
                    let before = books.lock().unwrap().insert(robot.clone(), claim);
                    assert_eq!(before, None, "{robot} has two holders");
                    hold(&mut dice);
                    rest();
                    books.lock().unwrap().remove(&robot);
                    let order = format!("R-{worker}-{n}");
                    let reply = application.insist("claim.release", &order, by(&reply, &user));
                    assert_ne!(reply["result"], "rejected", "{reply}");
                    done.fetch_add(1, Ordering::SeqCst);
                }
            });
        }
        for kill in 0..kills {
            let before = done.load(Ordering::SeqCst);
            wait_for("some load", || {
                (done.load(Ordering::SeqCst) > before + 20 + kill % 7).then_some(())
            });
            gateway.kill();
            gateway = Gateway::start(&site);
            pause.store(true, Ordering::SeqCst);
            wait_for("every answer", || {
                (paused.lock().unwrap().len() == 8).then_some(())
            });
            let pool = ask_operator(&site, &["pool", "show", "robots"]);
            let rows = pool["claims"].as_array().unwrap();
            let held: BTreeMap<String, String> = rows
                .iter()
                .map(|row| {
                    let text = |field: &str| row[field].as_str().unwrap().to_owned();
                    (text("resource_id"), text("claim_id"))
                })
                .collect();
            assert_eq!(held.len(), rows.len(), "one owner each: {pool}");
            assert_eq!(held, *books.lock().unwrap(), "kill {kill}");
            assert_eq!(pool["used"], rows.len());
            assert!(rows.len() <= 3, "{pool}");
            pause.store(false, Ordering::SeqCst);
            wait_for("all to go on", || {
                paused.lock().unwrap().is_empty().then_some(())
            });
        }
        over.store(true, Ordering::SeqCst);
    });
    assert_eq!(ask_operator(&site, &["pool", "show", "robots"])["used"], 0);
}
