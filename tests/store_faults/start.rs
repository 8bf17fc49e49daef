//! A disk that fails at the start: it is said, and what is there stays as it is.

use std::fs;

use crate::disk::{BAD_SYNC, Disk, FULL, Number, READ_ONLY};
use crate::kept;
use crate::support::{Gateway, Mosquitto, Robot, Site, hallcall};

#[test]
fn a_start_without_a_disk_to_write_to_ends_with_5_and_the_next_one_makes_a_journal() {
    for faults in [READ_ONLY, FULL, BAD_SYNC] {
        let broker = Mosquitto::start();
        let site = Site::new(&broker).elevator("EL001");
        let disk = Disk::new(&site.data_dir());
        disk.set(Number::Faults, faults);
        let started = Gateway::try_start_by(disk.under(hallcall()), &site);
        assert_eq!(
            started.err().and_then(|status| status.code()),
            Some(5),
            "faults {faults}"
        );
        disk.set(Number::Faults, 0);
        let gateway = Gateway::try_start_by(disk.under(hallcall()), &site);
        assert!(gateway.is_ok(), "faults {faults}: {:?}", gateway.err());
    }
}

#[test]
fn a_start_on_a_store_that_cannot_be_written_to_ends_with_5_and_changes_nothing() {
    let broker = Mosquitto::start();
    let site = Site::new(&broker).elevator("EL001");
    let disk = Disk::new(&site.data_dir());
    let mut gateway = Gateway::start_by(disk.under(hallcall()), &site);
    let robot = Robot::connect(&broker, "R001");
    assert_eq!(
        robot.request("m-1", "T-1", "1F", "6F")["result"],
        "accepted"
    );
    gateway.kill();
    let files = || {
        let of = |name| fs::read(site.data_dir().join(name)).unwrap();
        ["journal/db", "journal/conf", "journal/durable", "fences"].map(of)
    };
    let before = (files(), kept(&site));
    for faults in [READ_ONLY, FULL, BAD_SYNC] {
        disk.set(Number::Faults, faults);
        let started = Gateway::try_start_by(disk.under(hallcall()), &site);
        assert_eq!(
            started.err().and_then(|status| status.code()),
            Some(5),
            "faults {faults}"
        );
        if faults == READ_ONLY {
            assert!(files() == before.0, "what is read-only was changed");
        }
        disk.set(Number::Faults, 0);
        let after = kept(&site);
        assert_eq!(
            (after.last, after.orders),
            (before.1.last, before.1.orders.clone())
        );
    }
    let _gateway = Gateway::start_by(disk.under(hallcall()), &site);
    assert_eq!(
        robot.request("m-2", "T-1", "1F", "6F")["result"],
        "duplicate"
    );
}
