//! Faults while it runs: nothing is acknowledged, said or commanded that is not kept, and the
//! process ends with 5.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::disk::{BAD_FLUSH, BAD_SYNC, Dice, Disk, FULL, Loss, Number, READ_ONLY};
use crate::kept;
use crate::support::{
    Came, Gateway, Mosquitto, Packet, PlayedBroker, Robot, Site, hallcall, request,
};

const IN: &str = "gw-1-in";
const GOOD: u16 = 40;
const ALL: u16 = 80;

fn order(id: u16) -> String {
    format!("T-{id:03}")
}

fn deliver(broker: &PlayedBroker, id: u16) {
    let topic = format!("hallcall/v1/demo/robots/R{id}/ride/request");
    let wish = request(&format!("m-{id}"), &order(id), "1F", "6F");
    broker.deliver(IN, id, &topic, &wish.to_string());
}

/// Orders whose messages were acknowledged, and orders that were said to be accepted.
fn promised(came: &[Came]) -> (BTreeSet<String>, BTreeSet<String>) {
    let (mut acknowledged, mut accepted) = (BTreeSet::new(), BTreeSet::new());
    for Came { packet, .. } in came {
        match packet {
            Packet::PubAck { id } => drop(acknowledged.insert(order(*id))),
            Packet::Publish { payload, .. } => {
                let body: Value = serde_json::from_str(payload).unwrap_or_default();
                if body["result"] == "accepted" {
                    accepted.insert(body["order_id"].as_str().unwrap().to_owned());
                }
            }
            Packet::Connect | Packet::Subscribe | Packet::Gone => {}
        }
    }
    (acknowledged, accepted)
}

fn says(came: &Came, key: &str, value: &str) -> bool {
    let Packet::Publish { payload, .. } = &came.packet else {
        return false;
    };
    let body: Value = serde_json::from_str(payload).unwrap_or_default();
    body[key] == value
}

/// Lets the disk fail in the middle of a stream of requests.
fn fail(faults: u64, room: u64) {
    let broker = PlayedBroker::start();
    let lines = format!("broker = \"mqtt://127.0.0.1:{}\"", broker.port());
    let site = Site::with_broker(&lines).elevator("EL001");
    let disk = Disk::new(&site.data_dir());
    let mut gateway = Gateway::start_by(disk.under(hallcall()), &site);
    (1..=GOOD).for_each(|id| deliver(&broker, id));
    broker.wait("the PUBACKs before", |came| {
        came.packet == Packet::PubAck { id: GOOD }
    });

    disk.set(Number::Room, room);
    disk.set(Number::Faults, faults);
    // Those on the way when it fails, and those that come after.
    (GOOD + 1..=ALL).for_each(|id| deliver(&broker, id));
    assert_eq!(gateway.wait().code(), Some(5), "{}", gateway.log());
    assert!(disk.get(Number::Fired) > 0, "the fault did not strike");
    broker.wait("the alarm", |came| says(came, "code", "JOURNAL_FAILED"));
    broker.wait("OFFLINE", |came| says(came, "connection_state", "OFFLINE"));
    let (acknowledged, accepted) = broker.look("the last word", |came| {
        let gone = came
            .iter()
            .filter(|came| came.packet == Packet::Gone && came.client == IN);
        (gone.count() == 1).then(|| promised(came))
    });
    assert!(acknowledged.len() >= usize::from(GOOD));
    assert!(
        acknowledged.len() < usize::from(ALL),
        "all were acknowledged"
    );

    // What it had read is no proof of what a power cut would have left.
    disk.set(Number::Faults, 0);
    let lost = disk.lose(Loss::All, &mut Dice(1));
    let orders = kept(&site).orders;
    for promised in [&acknowledged, &accepted] {
        let lost: Vec<_> = promised.difference(&orders).collect();
        assert!(lost.is_empty(), "promised and lost: {lost:?}");
    }
    eprintln!(
        "faults {faults}: {} acknowledged, {} accepted, {} kept, {lost:?}",
        acknowledged.len(),
        accepted.len(),
        orders.len()
    );
    goes_on(site, &disk, &acknowledged);
}

/// When the disk is well again, the next start knows every order.
fn goes_on(site: Site, disk: &Disk, acknowledged: &BTreeSet<String>) {
    let broker = Mosquitto::start();
    let site = site.move_to(&broker);
    let _gateway = Gateway::start_by(disk.under(hallcall()), &site);
    for order in acknowledged.iter().rev().take(5) {
        let number: u16 = order.trim_start_matches("T-").parse().unwrap();
        let robot = Robot::connect(&broker, &format!("R{number}"));
        let reply = robot.request("m-again", order, "1F", "6F");
        assert_eq!(reply["result"], "duplicate", "{reply}");
    }
    let robot = Robot::connect(&broker, "R-new");
    let reply = robot.request("m-new", "T-new", "1F", "6F");
    assert_eq!(reply["result"], "accepted", "{reply}");
}

/// AT-GW-06: a disk that is full at once, and one that takes some of a write first.
#[test]
fn a_full_disk() {
    fail(FULL, 0);
}

#[test]
fn a_disk_that_fills_in_the_middle_of_a_write() {
    fail(FULL, 1_500);
}

#[test]
fn a_disk_that_becomes_read_only() {
    fail(READ_ONLY, 0);
}

#[test]
fn a_sync_that_fails() {
    fail(BAD_SYNC, 0);
}

#[test]
fn a_flush_that_fails() {
    fail(BAD_FLUSH, 0);
}
