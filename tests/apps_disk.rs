//! Numbers and turns on a disk that is slow, and on one that fails.

#![allow(clippy::unwrap_used, reason = "a test")]

#[path = "power_cut/disk.rs"]
mod disk;
#[path = "power_cut/record.rs"]
mod record;
mod support;

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use disk::{BAD_FLUSH, BAD_SYNC, Disk, FULL, Number};
use serde_json::{Value, json};
use support::{Application, Gateway, Mosquitto, Site, asked, hallcall};

/// What one sync takes.
const SLOW: Duration = Duration::from_millis(700);

fn take(department: usize, user: usize) -> Value {
    json!({ "department": format!("D{department}"), "user_id": format!("U{user}") })
}

/// Sends them all at once, and waits for all replies. What came first, and how long it took.
fn at_once(application: &Application, round: &str, kind: &str, all: &[Value]) -> Vec<Value> {
    let start = Instant::now();
    for (n, fields) in all.iter().enumerate() {
        let id = format!("{round}-{n}");
        application.send(&asked(&id, kind, &id, fields.clone()).to_string());
    }
    let replies: Vec<Value> = (0..all.len())
        .map(|n| application.reply(&format!("{round}-{n}")))
        .collect();
    for reply in &replies {
        assert_eq!(reply["result"], "accepted", "{reply}");
    }
    let took = start.elapsed();
    eprintln!(
        "{round}: {} requests in {took:?}, a sync takes {SLOW:?}",
        all.len()
    );
    assert!(took >= SLOW, "{round}: answered before it was durable");
    // One group waits for the sync under way, the rest for the next: one sync for each would be
    // ten times as long.
    assert!(took < 3 * SLOW, "{round}: {took:?}");
    replies
}

/// AT-SEQ-06, AT-TURN-02: what is asked for at once shares the flushes, of one series or of ten, of
/// three departments too: nobody waits behind a lock of another.
#[test]
fn who_asks_at_once_shares_the_flush() {
    let mut lines = "[[series]]\nid = \"AA\"\nmax = 1000\n".to_owned();
    for n in 0..10 {
        write!(lines, "[[series]]\nid = \"S{n}\"\nmax = 10\n").unwrap();
    }
    for n in 1..=3 {
        write!(lines, "[[departments]]\nid = \"D{n}\"\n").unwrap();
    }
    let broker = Mosquitto::start();
    let site = Site::new(&broker).with(&lines);
    let disk = Disk::new(&site.data_dir());
    let _gateway = Gateway::start_by(disk.under(hallcall()), &site);
    let application = Application::connect(&broker, "app-1");
    disk.set(Number::SlowMs, u64::try_from(SLOW.as_millis()).unwrap());

    let one = vec![json!({ "series": "AA" }); 10];
    let replies = at_once(&application, "one", "series.next", &one);
    let numbers: Vec<&Value> = replies.iter().map(|reply| &reply["number"]).collect();
    assert_eq!(json!(numbers), json!([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]));

    let ten: Vec<Value> = (0..10)
        .map(|n| json!({ "series": format!("S{n}") }))
        .collect();
    let replies = at_once(&application, "ten", "series.next", &ten);
    assert!(
        replies.iter().all(|reply| reply["number"] == 1),
        "{replies:?}"
    );

    let users: Vec<Value> = (1..=15).map(|user| take(user % 3 + 1, user)).collect();
    let replies = at_once(&application, "turns", "turn.take", &users);
    let numbers: Vec<&Value> = replies.iter().map(|reply| &reply["number"]).collect();
    assert_eq!(
        json!(numbers),
        json!([1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 5, 5, 5])
    );
}

/// AT-TURN-03, and AT-SEQ-01's failing steps: every fifth save fails, the process ends with 5 and says
/// nothing; the next start goes on without a gap, and the order of that save gets its number.
#[test]
fn a_save_that_fails_burns_no_number() {
    let broker = Mosquitto::start();
    let site = Site::new(&broker)
        .with("[[departments]]\nid = \"D1\"\n[[series]]\nid = \"AA\"\nmax = 1000\n");
    let disk = Disk::new(&site.data_dir());
    let start = || Gateway::start_by(disk.under(hallcall()), &site);
    let mut gateway = start();
    let application = Application::connect(&broker, "app-1");
    let faults = [BAD_SYNC, FULL, BAD_FLUSH];
    for n in 1..=15 {
        let (order, number) = (format!("T-{n}"), format!("N-{n}"));
        if n % 5 == 0 {
            let fault = faults[n / 5 - 1];
            disk.set(Number::Room, 0);
            disk.set(Number::Faults, fault);
            let body = asked(&format!("m-{order}"), "turn.take", &order, take(1, n));
            application.send(&body.to_string());
            assert_eq!(gateway.wait().code(), Some(5), "{}", gateway.log());
            assert!(disk.get(Number::Fired) > 0, "the fault did not strike");
            let told = application.reply_within(&format!("m-{order}"), Duration::ZERO);
            assert_eq!(told, None, "nothing is told that is not durable");
            disk.set(Number::Faults, 0);
            gateway = start();
        }
        let reply = application.insist("turn.take", &order, take(1, n));
        assert_eq!(reply["number"], n, "{reply}");
        let reply = application.insist("series.next", &number, json!({ "series": "AA" }));
        assert_eq!(reply["number"], n, "{reply}");
        application.client().forget();
    }
}
