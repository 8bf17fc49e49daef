//! A disk that loses what was not synced: `disk.c`, preloaded into the program, and what a power cut
//! leaves of its files.

#![allow(dead_code, reason = "each test uses its own part")]

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::process::{self, Command};
use std::sync::OnceLock;

use tempfile::TempDir;

use crate::record::{Kind, Record, records};

const SOURCES: [&str; 2] = [
    concat!(env!("CARGO_MANIFEST_DIR"), "/tests/power_cut/disk.c"),
    concat!(env!("CARGO_MANIFEST_DIR"), "/tests/power_cut/statfs.c"),
];
/// A disk writes sectors all or none.
const SECTOR_BYTES: u64 = 512;

/// The numbers of `disk.h`, in its order.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Number {
    /// Writes, and beginnings and ends of syncs, so far.
    Operations,
    /// The power goes at this operation; 0: never.
    CutAt,
    /// Bits of the faults below.
    Faults,
    /// Bytes that may still be written under [`FULL`].
    Room,
    /// Each sync takes that long.
    SlowMs,
    /// What is free, as the system says; 0: the truth.
    FreeBytes,
    /// Calls that a fault changed.
    Fired,
    /// Bytes written.
    Written,
    /// Syncs that ended well.
    Syncs,
}

/// ENOSPC once [`Number::Room`] is used up.
pub(crate) const FULL: u64 = 1;
/// EROFS.
pub(crate) const READ_ONLY: u64 = 2;
/// EIO from `fsync` and `fdatasync`.
pub(crate) const BAD_SYNC: u64 = 4;
/// EIO from `sync_file_range`.
pub(crate) const BAD_FLUSH: u64 = 8;
/// `fdatasync` says that all is well and does nothing.
pub(crate) const NO_SYNC: u64 = 16;
/// A write takes half of what it is given.
pub(crate) const SHORT: u64 = 32;

/// What of the writes that were not synced is lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Loss {
    /// All of them.
    All,
    /// Each with an even chance, and of some of the others any sectors.
    Any,
    /// Any sectors of each; of one in a single sector, all or nothing.
    Torn,
}

/// What a power cut took back.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Lost {
    /// Writes that were not synced.
    pub(crate) unsynced: usize,
    /// Those of them that are lost.
    pub(crate) lost: usize,
    /// Those of them of which some sectors are lost.
    pub(crate) torn: usize,
}

/// Random numbers that a seed repeats (splitmix64).
#[derive(Debug, Clone)]
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// From `low` up to and without `high`.
    pub(crate) fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.roll() % (high - low)
    }

    fn is_one_in(&mut self, many: u64) -> bool {
        self.roll().is_multiple_of(many)
    }
}

/// The disk below one directory, which need not be there yet.
pub(crate) struct Disk {
    below: PathBuf,
    own: TempDir,
    control: File,
}

impl Disk {
    pub(crate) fn new(below: &Path) -> Self {
        let own = tempfile::tempdir().unwrap();
        let control = OpenOptions::new()
            .read(true)
            .write(true)
            .create_new(true)
            .open(own.path().join("control"))
            .unwrap();
        control.set_len(16 * 8).unwrap();
        File::create(own.path().join("log")).unwrap();
        let below = below.to_owned();
        Self {
            below,
            own,
            control,
        }
    }

    /// Puts a program on this disk.
    pub(crate) fn under(&self, mut command: Command) -> Command {
        command
            .env("LD_PRELOAD", library())
            .env("DISK_DIR", &self.below)
            .env("DISK_CONTROL", self.own.path().join("control"))
            .env("DISK_LOG", self.log());
        command
    }

    pub(crate) fn set(&self, number: Number, value: u64) {
        let at = number as u64 * 8;
        self.control.write_all_at(&value.to_ne_bytes(), at).unwrap();
    }

    pub(crate) fn get(&self, number: Number) -> u64 {
        let mut value = [0; 8];
        let at = number as u64 * 8;
        self.control.read_exact_at(&mut value, at).unwrap();
        u64::from_ne_bytes(value)
    }

    /// Lets the power go after so many more operations.
    pub(crate) fn cut_after(&self, operations: u64) {
        self.set(Number::CutAt, self.get(Number::Operations) + operations);
    }

    /// What the power cut leaves, when the process is gone. From here on it is durable.
    pub(crate) fn lose(&self, loss: Loss, dice: &mut Dice) -> Lost {
        let log = fs::read(self.log()).unwrap();
        let mut lost = Lost::default();
        let mut paths = BTreeMap::new();
        inodes(&self.below, &mut paths);
        for (inode, writes) in unsynced(&records(&log)) {
            lost.unsynced += writes.len();
            // A file that is gone has nothing to lose.
            if let Some(path) = paths.get(&inode) {
                let file = OpenOptions::new().write(true).open(path).unwrap();
                writes.iter().rev().for_each(|write| write.undo(&file));
                match loss {
                    Loss::All => lost.lost += writes.len(),
                    Loss::Any => again(&file, &writes, dice, &mut lost),
                    Loss::Torn => in_part(&file, &writes, dice, &mut lost),
                }
            }
        }
        File::create(self.log()).unwrap();
        self.set(Number::CutAt, 0);
        lost
    }

    fn log(&self) -> PathBuf {
        self.own.path().join("log")
    }
}

/// Does those writes again that a power cut leaves.
fn again(file: &File, writes: &[&Record<'_>], dice: &mut Dice, lost: &mut Lost) {
    for write in writes {
        if dice.is_one_in(2) {
            lost.lost += 1;
        } else if write.kind == Kind::Written && dice.is_one_in(4) {
            lost.torn += 1;
            write.redo(file, |_| dice.is_one_in(2));
        } else {
            write.redo(file, |_| true);
        }
    }
}

/// Does any sectors of those writes again.
fn in_part(file: &File, writes: &[&Record<'_>], dice: &mut Dice, lost: &mut Lost) {
    for write in writes {
        let (mut kept, mut gone) = (0, 0);
        write.redo(file, |_| {
            let is_kept = dice.is_one_in(2);
            *(if is_kept { &mut kept } else { &mut gone }) += 1;
            is_kept
        });
        lost.torn += usize::from(kept > 0 && gone > 0);
        lost.lost += usize::from(kept == 0 && gone > 0);
    }
}

/// The writes to each file that no sync covers, in order.
fn unsynced<'a, 'b>(records: &'a [Record<'b>]) -> BTreeMap<u64, Vec<&'a Record<'b>>> {
    let mut files: BTreeMap<u64, Vec<(u64, &Record<'_>)>> = BTreeMap::new();
    for (number, record) in (0_u64..).zip(records) {
        let writes = files.entry(record.inode).or_default();
        match record.kind {
            Kind::Written | Kind::Truncated => writes.push((number, record)),
            Kind::Synced => writes.retain(|(number, _)| *number >= record.offset),
            Kind::Gone => writes.clear(),
        }
    }
    let only = |(_, record): (u64, _)| record;
    files
        .into_iter()
        .map(|(inode, writes)| (inode, writes.into_iter().map(only).collect()))
        .collect()
}

impl Record<'_> {
    fn undo(&self, file: &File) {
        // Where a write did not reach as far as was meant, there is less to take back.
        file.set_len(self.size).unwrap();
        file.write_all_at(self.old, self.offset).unwrap();
    }

    fn redo(&self, file: &File, mut is_kept: impl FnMut(u64) -> bool) {
        if self.kind == Kind::Truncated {
            return file.set_len(self.offset).unwrap();
        }
        let mut at = 0;
        while at < self.new.len() {
            let place = self.offset + at as u64;
            let rest = usize::try_from(SECTOR_BYTES - place % SECTOR_BYTES).unwrap();
            let end = (at + rest).min(self.new.len());
            if is_kept(place / SECTOR_BYTES) {
                file.write_all_at(&self.new[at..end], place).unwrap();
            }
            at = end;
        }
    }
}

fn inodes(below: &Path, paths: &mut BTreeMap<u64, PathBuf>) {
    let Ok(entries) = fs::read_dir(below) else {
        return;
    };
    for entry in entries {
        let entry = entry.unwrap();
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            inodes(&entry.path(), paths);
        } else if kind.is_file() {
            paths.insert(entry.metadata().unwrap().ino(), entry.path());
        }
    }
}

/// The library, compiled once per process.
fn library() -> &'static Path {
    static LIBRARY: OnceLock<PathBuf> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let own = folder.join(format!("disk-{}.so", process::id()));
        let built = Command::new("cc")
            .args(["-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror"])
            .args(["-shared", "-fPIC", "-o"])
            .arg(&own)
            .args(SOURCES)
            .args(["-ldl", "-lpthread"])
            .output()
            .expect("a C compiler is installed");
        let said = String::from_utf8_lossy(&built.stderr);
        assert!(built.status.success(), "{said}");
        // Another test of this moment may have it open.
        let path = folder.join("disk.so");
        fs::rename(own, &path).unwrap();
        path
    })
}
