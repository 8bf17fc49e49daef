//! The first start, cut at every operation of the disk; and the disk itself.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::process::Command;

use crate::disk::{Dice, Disk, Loss, Number};
use crate::support::{Gateway, Mosquitto, Site, hallcall};

/// A power cut while the journal is made leaves a journal or none, and the next start makes one.
#[test]
fn a_start_on_an_empty_directory_may_be_cut_anywhere() {
    let broker = Mosquitto::start();
    let mut dice = Dice(7);
    let mut cuts = 0;
    for operation in 1.. {
        let site = Site::new(&broker).elevator("EL001");
        let disk = Disk::new(&site.data_dir());
        disk.set(Number::CutAt, operation);
        match Gateway::try_start_by(disk.under(hallcall()), &site) {
            // It takes no more operations than that.
            Ok(_) => break,
            Err(status) => assert_eq!(status.signal(), Some(9), "operation {operation}: {status}"),
        }
        cuts += 1;
        let loss = if operation % 2 == 0 {
            Loss::All
        } else {
            Loss::Any
        };
        disk.lose(loss, &mut dice);
        let gateway = Gateway::try_start_by(disk.under(hallcall()), &site);
        assert!(
            gateway.is_ok(),
            "operation {operation}, {loss:?}: {:?}",
            gateway.err()
        );
    }
    assert!(cuts > 10, "only {cuts} operations");
}

/// The disk of these tests loses what was not synced, and nothing else.
#[test]
fn the_disk_keeps_what_was_synced_and_loses_the_rest() {
    let dir = tempfile::tempdir().unwrap();
    let disk = Disk::new(dir.path());
    let file = dir.path().join("file");
    let write = |letter: char, arguments: &[&str]| {
        let source = dir.path().with_extension(letter.to_string());
        fs::write(&source, letter.to_string().repeat(4096)).unwrap();
        let mut command = disk.under(Command::new("dd"));
        command.arg(format!("if={}", source.display()));
        command.arg(format!("of={}", file.display()));
        let status = command
            .args(["bs=512", "conv=notrunc", "status=none"])
            .args(arguments)
            .status();
        assert!(status.unwrap().success());
        fs::remove_file(source).unwrap();
    };
    let kept = |letters: &[(char, usize)]| {
        let text = |(letter, many): &(char, usize)| letter.to_string().repeat(*many);
        let expected: String = letters.iter().map(text).collect();
        assert!(
            fs::read_to_string(&file).unwrap() == expected,
            "not {letters:?}"
        );
    };
    write('a', &["conv=fsync,notrunc"]);
    write('b', &["count=2"]);
    kept(&[('b', 1024), ('a', 3072)]);
    let lost = disk.lose(Loss::All, &mut Dice(1));
    assert_eq!((lost.unsynced, lost.lost), (2, 2));
    kept(&[('a', 4096)]);

    // Synced in part: what came after the sync grows the file, and is lost.
    write('c', &["conv=fdatasync,notrunc", "count=1"]);
    write('d', &["seek=8", "count=3"]);
    kept(&[('c', 512), ('a', 3584), ('d', 1536)]);
    assert_eq!(disk.lose(Loss::All, &mut Dice(1)).lost, 3);
    kept(&[('c', 512), ('a', 3584)]);

    // Any of them: some stay, some go, over many tries both.
    let mut left = Vec::new();
    for seed in 0..20 {
        write('e', &["count=4"]);
        let lost = disk.lose(Loss::Any, &mut Dice(seed));
        let kept = fs::read_to_string(&file).unwrap().matches('e').count();
        let whole = 4 - lost.lost;
        let possible = 512 * (whole - lost.torn)..=512 * whole;
        assert!(possible.contains(&kept), "{kept} bytes, {lost:?}");
        left.push(kept);
        write('a', &["conv=fsync,notrunc"]);
    }
    left.sort_unstable();
    assert!(left[0] < 1024 && left[19] > 1024, "{left:?}");
}
