//! The witness: a small file beside sled's that names the last record known durable.
//!
//! sled takes damage in its log for the end of the log: one flipped bit, and it opens as a shorter
//! store, whole in itself. Only something apart from it can tell. The witness is overwritten in
//! place after each sync of the data file and is not synced itself: it survives the end of the
//! process, after a power cut it may be behind, and it is never ahead.
//!
//! It has two places, one sector apart and written in turn, so that one of them is always whole:
//! `durable 00000000000000000042 crc32c 1a2b3c4d`.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use dispatch::edge::record::checksum;
use dispatch::edge::{JournalError, Seq};

use super::rows::corrupt;

/// The name in the journal's directory.
pub const NAME: &str = "durable";

/// From one place to the other: a sector, which disks write all or none.
const PLACE_BYTES: usize = 512;
const LINE_BYTES: usize = 45;

/// The file.
#[derive(Debug)]
pub struct Witness {
    file: File,
    /// Where the next line goes: 0 or 1.
    place: usize,
}

impl Witness {
    /// Makes the file, before the first record.
    ///
    /// # Errors
    /// What the system says.
    pub fn create(journal: &Path) -> io::Result<()> {
        let file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(journal.join(NAME))?;
        file.set_len(2 * PLACE_BYTES as u64)?;
        Self { file, place: 0 }.set(0)
    }

    /// Opens the file, and says which record was durable.
    ///
    /// # Errors
    /// [`JournalError::Corrupt`] when neither place can be read or there is no file,
    /// [`JournalError::Store`] for what else the system says.
    pub fn open(journal: &Path) -> Result<(Self, Seq), JournalError> {
        let path = journal.join(NAME);
        let failed = |error: io::Error| {
            let said = format!("cannot read {}: {error}", path.display());
            if error.kind() == io::ErrorKind::NotFound {
                corrupt(said)
            } else {
                JournalError::Store(said)
            }
        };
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .open(&path)
            .map_err(failed)?;
        let mut found = None;
        for place in 0..2 {
            let mut line = [0; LINE_BYTES];
            match file.read_exact_at(&mut line, offset(place)) {
                Ok(()) => found = found.max(parse(&line).map(|seq| (seq, place))),
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {}
                Err(error) => return Err(failed(error)),
            }
        }
        let unreadable = || corrupt(format!("neither place of {} can be read", path.display()));
        let (seq, place) = found.ok_or_else(unreadable)?;
        Ok((
            Self {
                file,
                place: 1 - place,
            },
            seq,
        ))
    }

    /// Record `seq` is durable.
    ///
    /// # Errors
    /// What the system says.
    pub fn note(&mut self, seq: Seq) -> io::Result<()> {
        self.file.write_all_at(&line(seq), offset(self.place))?;
        self.place = 1 - self.place;
        Ok(())
    }

    /// Record `seq` is the last one, whatever was said before; durable on return.
    ///
    /// # Errors
    /// What the system says.
    pub fn set(&mut self, seq: Seq) -> io::Result<()> {
        self.note(seq)?;
        self.note(seq)?;
        self.file.sync_all()
    }
}

fn offset(place: usize) -> u64 {
    (place * PLACE_BYTES) as u64
}

fn line(seq: Seq) -> Vec<u8> {
    let said = format!("durable {seq:020}");
    format!("{said} crc32c {:08x}\n", checksum(&[said.as_bytes()])).into_bytes()
}

fn parse(bytes: &[u8; LINE_BYTES]) -> Option<Seq> {
    let seq = std::str::from_utf8(bytes).ok()?.get(8..28)?.parse().ok()?;
    (line(seq) == bytes).then_some(seq)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// Written by hand; the checksum was computed apart from this code.
    const LINE_42: &str = "durable 00000000000000000042 crc32c 18c627ce\n";

    fn place(dir: &Path, place: usize) -> String {
        let bytes = fs::read(dir.join(NAME)).unwrap();
        String::from_utf8(bytes[place * 512..][..LINE_BYTES].to_vec()).unwrap()
    }

    #[test]
    fn it_says_what_was_noted_last() {
        let dir = tempfile::tempdir().unwrap();
        Witness::create(dir.path()).unwrap();
        assert_eq!(Witness::open(dir.path()).unwrap().1, 0);
        for seq in [7, 8, 42] {
            let (mut witness, _) = Witness::open(dir.path()).unwrap();
            witness.note(seq).unwrap();
            assert_eq!(Witness::open(dir.path()).unwrap().1, seq);
        }
        let both = [place(dir.path(), 0), place(dir.path(), 1)];
        assert!(both.contains(&LINE_42.to_owned()), "{both:?}");
        let (mut witness, _) = Witness::open(dir.path()).unwrap();
        witness.set(3).unwrap();
        assert_eq!(Witness::open(dir.path()).unwrap().1, 3);
    }

    #[test]
    fn one_torn_place_costs_one_note_and_both_are_corruption() {
        let dir = tempfile::tempdir().unwrap();
        Witness::create(dir.path()).unwrap();
        let (mut witness, _) = Witness::open(dir.path()).unwrap();
        witness.note(7).unwrap();
        witness.note(8).unwrap();
        let bytes = fs::read(dir.path().join(NAME)).unwrap();
        let newest = usize::from(place(dir.path(), 1).starts_with("durable 00000000000000000008"));
        for at in 0..LINE_BYTES {
            let mut torn = bytes.clone();
            torn[newest * 512 + at] ^= 1;
            fs::write(dir.path().join(NAME), &torn).unwrap();
            assert_eq!(Witness::open(dir.path()).unwrap().1, 7, "byte {at}");
            torn[(1 - newest) * 512 + at] ^= 1;
            fs::write(dir.path().join(NAME), &torn).unwrap();
            assert!(matches!(
                Witness::open(dir.path()),
                Err(JournalError::Corrupt { .. })
            ));
        }
        fs::write(dir.path().join(NAME), "").unwrap();
        assert!(matches!(
            Witness::open(dir.path()),
            Err(JournalError::Corrupt { .. })
        ));
        fs::remove_file(dir.path().join(NAME)).unwrap();
        assert!(matches!(
            Witness::open(dir.path()),
            Err(JournalError::Corrupt { .. })
        ));
    }
}
