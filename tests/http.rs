//! Requests over HTTP: the real gateway, asked by bytes on a socket, beside applications over
//! Mosquitto.
//!
//! What is true is what was told: the tests keep their own books.

#![allow(clippy::unwrap_used, reason = "a test")]

#[path = "power_cut/disk.rs"]
mod disk;
#[path = "power_cut/record.rs"]
mod record;
mod support;

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use disk::{Disk, Number};
use serde_json::{Value, json};
use support::{
    Application, Client, Gateway, KEY, Mosquitto, SOON, Site, Vehicle, asked, code, device_in,
    free_port, hallcall, wait_for,
};
use tempfile::TempDir;

const TOKEN: &str = "a-token-of-app-1";
const OTHER: &str = "a-token-of-app-2";
const REQUESTS: &str = "/api/v1/requests";
const SITE: &str = "[[series]]\nid = \"AA\"\nmax = 100000\n\
    [[pools]]\nid = \"robots\"\ncapacity = 1\nresources = [\"R1\", \"R2\"]\n";

/// A site with two clients, and where it listens.
struct Http {
    site: Site,
    port: u16,
    _tokens: TempDir,
}

/// What came back.
#[derive(Debug)]
struct Answer {
    status: u16,
    head: String,
    text: String,
}

impl Http {
    fn new(broker: &Mosquitto) -> Self {
        let tokens = tempfile::tempdir().unwrap();
        let port = free_port();
        let mut lines = format!("{SITE}[http]\nlisten = \"127.0.0.1:{port}\"\n");
        for (client, token) in [("app-1", TOKEN), ("app-2", OTHER)] {
            let path = tokens.path().join(client);
            fs::write(&path, format!("{token}\n")).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
            let path = path.display();
            lines.push_str(&format!(
                "[[clients]]\nid = \"{client}\"\ntoken_file = \"{path}\"\n"
            ));
        }
        Self {
            site: Site::new(broker).with(&lines),
            port,
            _tokens: tokens,
        }
    }

    /// One request on a connection of its own, with these lines in its head.
    fn send(&self, line: &str, lines: &[&str], body: &str) -> io::Result<Answer> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port))?;
        stream.set_read_timeout(Some(SOON))?;
        let mut head = format!("{line} HTTP/1.1\r\nhost: test\r\nconnection: close\r\n");
        for line in lines {
            head.push_str(&format!("{line}\r\n"));
        }
        head.push_str(&format!("content-length: {}\r\n\r\n", body.len()));
        stream.write_all(format!("{head}{body}").as_bytes())?;
        read(stream)
    }

    fn post(&self, path: &str, token: &str, body: &str) -> Answer {
        let token = format!("authorization: Bearer {token}");
        let line = format!("POST {path}");
        self.send(&line, &[&token], body).unwrap()
    }

    /// A request of `app-1`.
    fn ask(&self, kind: &str, order: &str, fields: Value) -> Answer {
        let body = asked(&format!("h-{order}"), kind, order, fields);
        self.post(REQUESTS, TOKEN, &body.to_string())
    }

    fn get(&self, path: &str) -> Answer {
        self.send(&format!("GET {path}"), &[], "").unwrap()
    }
}

impl Answer {
    #[track_caller]
    fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|_| panic!("{self:?}"))
    }

    /// The status and the code of a refusal.
    #[track_caller]
    fn refusal(&self) -> (u16, String) {
        (self.status, code(&self.json()).to_owned())
    }
}

fn read(mut stream: TcpStream) -> io::Result<Answer> {
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    let (head, body) = text
        .split_once("\r\n\r\n")
        .ok_or(io::ErrorKind::UnexpectedEof)?;
    let status = head.split(' ').nth(1).and_then(|word| word.parse().ok());
    Ok(Answer {
        status: status.ok_or(io::ErrorKind::InvalidData)?,
        head: head.to_lowercase(),
        text: body.to_owned(),
    })
}

fn next() -> Value {
    json!({ "series": "AA", "device": { "name": "press" } })
}

/// Issue 6, point 6: the same order over HTTP and over MQTT is one order with one answer.
#[test]
fn an_order_is_one_over_http_and_mqtt() {
    let broker = Mosquitto::start();
    let http = Http::new(&broker);
    let mut gateway = Gateway::start(&http.site);
    let application = Application::connect(&broker, "app-1");

    let first = http.ask("series.next", "O-1", next());
    assert_eq!(first.status, 200, "{first:?}");
    let told = first.json();
    assert_eq!(told["type"], "series.next.reply");
    assert_eq!(
        (&told["result"], &told["number"], &told["id"]),
        (&json!("accepted"), &json!(1), &json!("AA|1"))
    );
    assert_eq!(
        (&told["in_reply_to"], &told["order_id"]),
        (&json!("h-O-1"), &json!("O-1"))
    );

    let again = application.ask("series.next", "O-1", next());
    assert_eq!(
        (&again["result"], &again["number"]),
        (&json!("duplicate"), &json!(1))
    );
    // It was answered over HTTP, and there alone: the broker keeps the order of what it was told.
    let stray = application.reply_within("h-O-1", Duration::ZERO);
    assert_eq!(stray, None);

    let second = application.ask("series.next", "O-2", next());
    assert_eq!(second["number"], 2);
    gateway.kill();
    let _gateway = Gateway::start(&http.site);
    let again = http.ask("series.next", "O-2", next());
    assert_eq!(again.status, 200);
    let again = again.json();
    assert_eq!(
        (&again["result"], &again["number"]),
        (&json!("duplicate"), &json!(2))
    );

    // Another content, and another client.
    let other = json!({ "series": "AA", "device": { "name": "lathe" } });
    let conflict = http.ask("series.next", "O-2", other);
    assert_eq!(conflict.refusal(), (409, "ORDER_CONFLICT".to_owned()));
    let body = asked("h-9", "series.next", "O-2", next()).to_string();
    let conflict = http.post(REQUESTS, OTHER, &body);
    assert_eq!(conflict.refusal(), (409, "ORDER_CONFLICT".to_owned()));
    assert_eq!(http.ask("series.next", "O-3", next()).json()["number"], 3);
}

/// A token that is not known is told so, and nothing happens.
#[test]
fn who_shows_no_token_gets_nothing() {
    let broker = Mosquitto::start();
    let http = Http::new(&broker);
    let _gateway = Gateway::start(&http.site);
    let body = asked("h-1", "series.next", "O-1", next()).to_string();
    let good = format!("authorization: Bearer {TOKEN}");
    let longer = format!("authorization: Bearer {TOKEN}x");
    let basic = format!("authorization: Basic {TOKEN}");
    for lines in [
        &[][..],
        &["authorization: Bearer"],
        &["authorization: Bearer a-token-of-app-3"],
        &[&longer],
        &[&basic],
        &[&good, &good],
    ] {
        let answer = http.send("POST /api/v1/requests", lines, &body).unwrap();
        assert_eq!(answer.refusal(), (401, "UNAUTHORIZED".to_owned()));
        assert!(
            answer.head.contains("www-authenticate: bearer"),
            "{answer:?}"
        );
        assert_eq!(answer.json()["type"], "client.reply");
    }
    let scheme = format!("authorization: bearer {TOKEN}");
    let answer = http.send("POST /api/v1/requests", &[&scheme], &body);
    assert_eq!(answer.unwrap().json()["number"], 1, "the first that counts");
}

/// Each refusal has its status, and is told in the form of every other.
#[test]
fn refusals_have_their_status() {
    let broker = Mosquitto::start();
    let http = Http::new(&broker);
    let _gateway = Gateway::start(&http.site);
    let post = |body: &str| http.post(REQUESTS, TOKEN, body);

    assert_eq!(post("{").refusal(), (400, "MALFORMED".to_owned()));
    let whole = asked("h-1", "series.next", "O-1", next());
    let mut part = whole.clone();
    part.as_object_mut().unwrap().remove("series");
    let answer = post(&part.to_string());
    assert_eq!(answer.refusal(), (400, "MALFORMED".to_owned()));
    let told = answer.json();
    assert_eq!(
        (&told["type"], &told["in_reply_to"], &told["order_id"]),
        (&json!("series.next.reply"), &json!("h-1"), &json!("O-1"))
    );
    assert!(
        told["detail"].as_str().unwrap().contains("series"),
        "{told}"
    );

    let large = post(&" ".repeat(16 * 1024 + 1));
    assert_eq!(large.refusal(), (413, "TOO_LARGE".to_owned()));
    let unknown = http.ask("series.next", "O-2", json!({ "series": "ZZ" }));
    assert_eq!(unknown.refusal(), (404, "UNKNOWN_SERIES".to_owned()));
    let mut old = whole.clone();
    old["timestamp"] = json!("2001-01-01T00:00:00.000Z");
    let old = post(&old.to_string());
    assert_eq!(old.refusal(), (400, "STALE_REQUEST".to_owned()));

    let place = json!({ "pool": "robots", "resource_id": "R1", "owner_id": "one" });
    let first = http.ask("claim.acquire", "C-1", place.clone());
    assert_eq!(first.json()["state"], "READY", "{first:?}");
    let taken = http.ask("claim.acquire", "C-2", place);
    assert_eq!(taken.refusal(), (409, "RESOURCE_TAKEN".to_owned()));
    let mut claim = json!({ "claim_id": first.json()["claim_id"], "owner_id": "two" });
    let stranger = http.ask("claim.release", "C-3", claim.clone());
    assert_eq!(stranger.refusal(), (403, "NOT_OWNER".to_owned()));
    claim["owner_id"] = json!("one");
    assert_eq!(http.ask("claim.release", "C-3", claim).status, 200);

    let wrong = http.post("/api/v1/rentals/start", TOKEN, &whole.to_string());
    assert_eq!(wrong.refusal(), (400, "MALFORMED".to_owned()));
    let why = wrong.json()["detail"].to_string();
    assert!(why.contains("rental.start"), "{why}");
    let nowhere = http.post("/api/v2/requests", TOKEN, &whole.to_string());
    assert_eq!(nowhere.refusal(), (404, "MALFORMED".to_owned()));
    let method = http.get(REQUESTS);
    assert_eq!(method.refusal(), (405, "MALFORMED".to_owned()));
    // None of them drew a number.
    assert_eq!(post(&whole.to_string()).json()["number"], 1);
}

/// R-RENT over HTTP: `rentals/start` starts a vehicle once, and a wrong token starts none.
#[test]
fn a_vehicle_is_started() {
    let broker = Mosquitto::start();
    let mut http = Http::new(&broker);
    let device = |id: &str| format!("[[devices]]\nid = \"{id}\"\nkey_file = \"device.key\"\n");
    http.site = http
        .site
        .secret("device.key", &format!("{KEY}\n"))
        .with(&(device("DEV_1") + &device("DEV_2")));
    let _gateway = Gateway::start(&http.site);
    let watcher = Client::connect(&broker, "watcher");
    watcher.subscribe("hallcall/v1/demo/#");
    let vehicles = ["DEV_1", "DEV_2"].map(|id| Vehicle::connect(&broker, id));
    for (vehicle, id) in vehicles.iter().zip(["DEV_1", "DEV_2"]) {
        vehicle.report("STOPPED");
        device_in(&watcher, id, "IDLE");
    }
    let start = |order: &str, fields: &Value| {
        let body = asked(order, "rental.start", order, fields.clone()).to_string();
        http.post("/api/v1/rentals/start", TOKEN, &body)
    };

    let wish = json!({ "device_id": "DEV_1", "user_id": "U1" });
    let first = start("S-1", &wish);
    assert_eq!(first.status, 200, "{first:?}");
    let told = first.json();
    assert_eq!(
        (&told["result"], &told["state"]),
        (&json!("accepted"), &json!("PENDING"))
    );
    assert_eq!(vehicles[0].hear("start")["order_id"], "S-1");
    let again = Application::connect(&broker, "app-1").ask("rental.start", "S-1", wish.clone());
    for again in [start("S-1", &wish).json(), again] {
        assert_eq!(
            (&again["result"], &again["rental_id"]),
            (&json!("duplicate"), &told["rental_id"])
        );
    }
    let late = start("S-2", &json!({ "device_id": "DEV_1", "user_id": "U2" }));
    assert_eq!(late.refusal(), (409, "DEVICE_UNAVAILABLE".to_owned()));

    let kept = json!({ "device_id": "DEV_2", "user_id": "U3" });
    let kept = http.ask("rental.reserve", "R-1", kept).json();
    let token = kept["token"].as_str().unwrap();
    let backwards: String = token.chars().rev().collect();
    let with = |token: &str| json!({ "device_id": "DEV_2", "user_id": "U3", "token": token });
    let wrong = start("S-3", &with(&backwards));
    assert_eq!(wrong.refusal(), (403, "BAD_TOKEN".to_owned()));
    assert_eq!(start("S-3", &with(token)).status, 200);
    assert_eq!(vehicles[1].hear("start")["order_id"], "S-3");
}

/// AT-REG-12 over HTTP: the figures are those of what happened.
#[test]
fn figures_are_told() {
    let broker = Mosquitto::start();
    let http = Http::new(&broker);
    let _gateway = Gateway::start(&http.site);
    let wish = |owner: &str| json!({ "pool": "robots", "owner_id": owner });
    let first = http.ask("claim.acquire", "C-1", wish("one"));
    assert_eq!(first.status, 200, "{first:?}");
    for n in 2..5 {
        let full = http.ask("claim.acquire", &format!("C-{n}"), wish("two"));
        assert_eq!(full.refusal(), (409, "CAPACITY_FULL".to_owned()));
    }
    let figures = http.get("/metrics");
    assert!(
        figures
            .head
            .contains("content-type: text/plain; version=0.0.4")
    );
    for line in [
        "robot_registry_used_capacity{pool=\"robots\"} 1",
        "robot_registry_capacity{pool=\"robots\"} 1",
        "robot_registry_acquire_failure_total{pool=\"robots\",code=\"CAPACITY_FULL\"} 3",
    ] {
        assert!(
            figures.text.lines().any(|one| one == line),
            "{line}: {}",
            figures.text
        );
    }
}

/// The OpenAPI document is that of the gateway: each of its paths is served, a request of it is
/// taken, and a reply has the fields that it says.
#[test]
fn the_openapi_document_is_true() {
    let broker = Mosquitto::start();
    let http = Http::new(&broker);
    let _gateway = Gateway::start(&http.site);
    let document = http.get("/api/v1/openapi.json").json();
    assert_eq!(document["openapi"], "3.1.0");
    let paths = document["paths"].as_object().unwrap();
    assert_eq!(paths.len(), 4);
    for (path, methods) in paths {
        for (method, told) in methods.as_object().unwrap() {
            let line = format!("{} {path}", method.to_uppercase());
            let status = http.send(&line, &[], "").unwrap().status;
            assert_eq!(status, if method == "post" { 401 } else { 200 }, "{line}");
            assert!(
                told["responses"].get(status.to_string()).is_some(),
                "{line}"
            );
        }
    }

    let post = &paths[REQUESTS]["post"];
    let examples = &post["requestBody"]["content"]["application/json"]["examples"];
    let mut example = examples["series.next"]["value"].clone();
    example["timestamp"] = json!(support::now());
    let answer = http.post(REQUESTS, TOKEN, &example.to_string());
    assert_eq!(answer.status, 200, "{answer:?}");
    let reply = &post["responses"]["200"]["content"]["application/json"]["examples"]["reply"];
    let keys = |value: &Value| -> BTreeSet<String> {
        value.as_object().unwrap().keys().cloned().collect()
    };
    assert_eq!(keys(&answer.json()), keys(&reply["value"]));
    for (name, example) in examples.as_object().unwrap() {
        let mut example = example["value"].clone();
        example["timestamp"] = json!(support::now());
        example["order_id"] = json!(format!("O-{name}"));
        let answer = http.post(REQUESTS, TOKEN, &example.to_string());
        assert_ne!(answer.json()["code"], "MALFORMED", "{name}: {answer:?}");
        let listed = post["responses"].get(answer.status.to_string());
        assert!(listed.is_some(), "{name}: {answer:?}");
    }
}

/// AT-SEQ-02 over HTTP: what was told is there after a kill, and who was told nothing finds the
/// same by asking again.
#[test]
fn what_was_told_survives_a_kill() {
    const CLIENTS: usize = 4;
    const EACH: usize = 40;
    let broker = Mosquitto::start();
    let http = Http::new(&broker);
    let mut gateway = Gateway::start(&http.site);
    let drawn = AtomicUsize::new(0);
    let draw = |client: usize| {
        let mut told = Vec::new();
        for n in 0..EACH {
            let order = format!("T-{client}-{n}");
            let body = asked(&order, "series.next", &order, next()).to_string();
            let token = format!("authorization: Bearer {TOKEN}");
            let number = wait_for("an answer", || {
                let answer = http.send("POST /api/v1/requests", &[&token], &body).ok()?;
                answer.json()["number"].as_u64()
            });
            told.push(number);
            drawn.fetch_add(1, Ordering::Relaxed);
        }
        told
    };
    let all: Vec<u64> = thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS)
            .map(|client| scope.spawn(move || draw(client)))
            .collect();
        for kills in 1..=3 {
            let enough = kills * CLIENTS * EACH / 4;
            wait_for("numbers", || {
                (drawn.load(Ordering::Relaxed) >= enough).then_some(())
            });
            gateway.kill();
            gateway = Gateway::start(&http.site);
        }
        let told = clients.into_iter().map(|one| one.join().unwrap());
        told.flatten().collect()
    });
    let count = u64::try_from(CLIENTS * EACH).unwrap();
    let set: BTreeSet<u64> = all.iter().copied().collect();
    assert_eq!(all.len(), CLIENTS * EACH);
    assert_eq!(set, (1..=count).collect(), "no gap and no double");
    let last = http.ask("series.next", "L-1", next());
    assert_eq!(last.json()["number"], count + 1);
}

/// An answer leaves when it is on the disk, and not before.
#[test]
fn an_answer_waits_for_the_disk() {
    let slow = Duration::from_millis(700);
    let broker = Mosquitto::start();
    let http = Http::new(&broker);
    let disk = Disk::new(&http.site.data_dir());
    let _gateway = Gateway::start_by(disk.under(hallcall()), &http.site);
    disk.set(Number::SlowMs, u64::try_from(slow.as_millis()).unwrap());
    let start = Instant::now();
    assert_eq!(http.ask("series.next", "O-1", next()).status, 200);
    assert!(start.elapsed() >= slow, "{:?}", start.elapsed());
}

/// A body that does not come is not waited for, and an idle connection does not hold the end up.
#[test]
fn the_slow_are_not_waited_for() {
    let broker = Mosquitto::start();
    let http = Http::new(&broker);
    let mut gateway = Gateway::start(&http.site);
    let mut slow = TcpStream::connect(("127.0.0.1", http.port)).unwrap();
    slow.set_read_timeout(Some(SOON)).unwrap();
    let head = format!(
        "POST {REQUESTS} HTTP/1.1\r\nhost: test\r\nconnection: close\r\n\
         authorization: Bearer {TOKEN}\r\ncontent-length: 100\r\n\r\n{{"
    );
    slow.write_all(head.as_bytes()).unwrap();
    let answer = read(slow).unwrap();
    assert_eq!(answer.refusal(), (408, "MALFORMED".to_owned()));

    let idle = TcpStream::connect(("127.0.0.1", http.port)).unwrap();
    idle.set_read_timeout(Some(SOON)).unwrap();
    // The gateway has it once a later connection was answered.
    assert_eq!(http.get("/metrics").status, 200);
    gateway.terminate();
    assert!(gateway.wait().success());
    assert_eq!((&idle).read(&mut [0; 16]).unwrap(), 0, "closed");
    assert!(TcpStream::connect(("127.0.0.1", http.port)).is_err());
}
