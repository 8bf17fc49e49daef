use dispatch::edge::{Batch, Journal, LedgerChange};
use dispatch::{Fact, SiteFact};
use protocol::ZoneId;

use super::ModelDisk;

fn batch(zone: &str) -> Batch {
    let row = LedgerChange {
        key: zone.as_bytes().to_vec(),
        row: Some(vec![1]),
        settled: false,
    };
    let fact = Fact::Site(SiteFact::Resumed {
        zone: ZoneId::new(zone).unwrap(),
    });
    Batch {
        facts: vec![fact],
        ledger: vec![row],
    }
}

#[test]
fn a_power_cut_takes_what_was_not_synced() {
    let mut disk = ModelDisk::new();
    disk.load(&mut |_, _| ()).unwrap();
    disk.append(&batch("a")).unwrap();
    disk.sync().unwrap();
    disk.append(&batch("b")).unwrap();
    disk.append(&batch("c")).unwrap();
    disk.power_cut(0);
    let loaded = disk.load(&mut |_, _| ()).unwrap();
    assert_eq!((loaded.facts.len(), loaded.rows), (1, 1));
    assert_eq!(disk.append(&batch("d")).unwrap(), 2);
}

#[test]
fn what_the_disk_kept_of_the_rest_is_a_tail_that_stands() {
    let mut disk = ModelDisk::new();
    disk.load(&mut |_, _| ()).unwrap();
    disk.append(&batch("a")).unwrap();
    disk.append(&batch("b")).unwrap();
    disk.power_cut(1);
    assert_eq!(disk.load(&mut |_, _| ()).unwrap().facts.len(), 1);
}

#[test]
fn a_snapshot_removes_what_it_covers() {
    let mut disk = ModelDisk::new();
    disk.load(&mut |_, _| ()).unwrap();
    disk.append(&batch("a")).unwrap();
    let covers = disk.append(&batch("b")).unwrap();
    disk.sync().unwrap();
    disk.snapshot(covers, b"state").unwrap();
    disk.append(&batch("c")).unwrap();
    disk.sync().unwrap();
    disk.power_cut(0);
    let loaded = disk.load(&mut |_, _| ()).unwrap();
    assert_eq!(loaded.snapshot, Some((2, b"state".to_vec())));
    assert_eq!(
        loaded.facts.iter().map(|(seq, _)| *seq).collect::<Vec<_>>(),
        [3]
    );
}

#[test]
fn a_failing_disk_says_so() {
    let mut disk = ModelDisk::new();
    disk.load(&mut |_, _| ()).unwrap();
    disk.set_failing(true);
    assert!(disk.append(&batch("a")).is_err() && disk.sync().is_err());
}
