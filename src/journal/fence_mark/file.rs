//! The file: text, so that it can be read by people, with a checksum on its last line.
//!
//! ```text
//! hallcall fences 1
//! journal 0f0e... durable 500
//! EL001 1417
//! EL002 1000
//! crc32c 1a2b3c4d
//! ```

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::Path;

use dispatch::edge::Seq;
use dispatch::edge::record::checksum;
use protocol::{ElevatorId, Fence};

use super::{ELEVATORS_MAX, FenceMarkError};
use crate::journal::{JournalId, sync_dir};

pub(super) const NAME: &str = "fences";
const UNFINISHED: &str = "fences.new";
const TITLE: &str = "hallcall fences 1";
const TITLE_ANY: &str = "hallcall fences ";
/// More than [`ELEVATORS_MAX`] lines of an id of 64 bytes and a number of 20 digits.
const BYTES_MAX: u64 = (ELEVATORS_MAX as u64 + 3) * 90;

/// What the file says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Content {
    pub(super) journal: JournalId,
    /// A record that was durable in that journal.
    pub(super) durable: Seq,
    pub(super) marks: BTreeMap<ElevatorId, Fence>,
}

/// Reads the file; `None` where there is none.
pub(super) fn read(data_dir: &Path) -> Result<Option<Content>, FenceMarkError> {
    let path = data_dir.join(NAME);
    let file = match File::open(&path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed("open", &path, &error)),
    };
    let mut bytes = Vec::new();
    let limited = file.take(BYTES_MAX + 1).read_to_end(&mut bytes);
    limited.map_err(|error| failed("read", &path, &error))?;
    let corrupt = |detail| FenceMarkError::Corrupt {
        path: path.display().to_string(),
        detail,
    };
    parse(&bytes).map(Some).map_err(corrupt)
}

/// Replaces the file, all or none and durable.
pub(super) fn write(data_dir: &Path, content: &Content) -> Result<(), FenceMarkError> {
    let (path, unfinished) = (data_dir.join(NAME), data_dir.join(UNFINISHED));
    let whole = || {
        let mut file = File::create(&unfinished)?;
        file.write_all(render(content).as_bytes())?;
        file.sync_all()?;
        crash_point!(before_rename());
        fs::rename(&unfinished, &path)?;
        sync_dir(data_dir)
    };
    whole().map_err(|error| failed("write", &path, &error))
}

fn failed(verb: &str, path: &Path, error: &io::Error) -> FenceMarkError {
    FenceMarkError::Store(format!("cannot {verb} {}: {error}", path.display()))
}

fn render(content: &Content) -> String {
    let mut text = format!("{TITLE}\n");
    // Writing to a string cannot fail.
    let _ = writeln!(
        text,
        "journal {:032x} durable {}",
        content.journal.0, content.durable
    );
    for (elevator, mark) in &content.marks {
        let _ = writeln!(text, "{elevator} {mark}");
    }
    let _ = writeln!(text, "crc32c {:08x}", checksum(&[text.as_bytes()]));
    text
}

fn parse(bytes: &[u8]) -> Result<Content, String> {
    let text = std::str::from_utf8(bytes).map_err(|_| "it is no text".to_owned())?;
    if bytes.len() as u64 > BYTES_MAX {
        return Err(format!("it is larger than {BYTES_MAX} bytes"));
    }
    let title = text.lines().next().unwrap_or_default();
    if title != TITLE {
        let newer = title
            .starts_with(TITLE_ANY)
            .then_some("a version that this program lacks");
        return Err(newer.unwrap_or("its first line is another one").to_owned());
    }
    let body = text
        .strip_suffix('\n')
        .and_then(|text| text.rsplit_once('\n'));
    let (body, last) = body.ok_or("its last line is torn")?;
    let sum = last
        .strip_prefix("crc32c ")
        .ok_or("its last line is no checksum")?;
    let covered = &bytes[..body.len() + 1];
    if sum != format!("{:08x}", checksum(&[covered])) {
        return Err("its checksum does not fit".to_owned());
    }
    let mut lines = body.lines().skip(1);
    let (journal, durable) = lines
        .next()
        .and_then(origin)
        .ok_or("its second line is bad")?;
    let mut marks = BTreeMap::new();
    for line in lines {
        let (elevator, mark) = entry(line).ok_or_else(|| format!("the line `{line}` is bad"))?;
        marks.insert(elevator, mark);
    }
    Ok(Content {
        journal,
        durable,
        marks,
    })
}

fn origin(line: &str) -> Option<(JournalId, Seq)> {
    let (journal, durable) = line.strip_prefix("journal ")?.split_once(" durable ")?;
    Some((
        JournalId(u128::from_str_radix(journal, 16).ok()?),
        durable.parse().ok()?,
    ))
}

fn entry(line: &str) -> Option<(ElevatorId, Fence)> {
    let (elevator, mark) = line.split_once(' ')?;
    Some((ElevatorId::new(elevator).ok()?, Fence(mark.parse().ok()?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file of version 1; the checksum was computed apart from this code.
    const VERSION_1: &str = include_str!("version_1.txt");

    fn content() -> Content {
        let mark = |name, mark| (ElevatorId::new(name).unwrap(), Fence(mark));
        let marks = BTreeMap::from([mark("EL001", 1417), mark("EL:2", u64::MAX)]);
        Content {
            journal: JournalId(0x0f0e),
            durable: 500,
            marks,
        }
    }

    #[test]
    fn a_file_of_version_1_is_read_and_written_as_ever() {
        assert_eq!(parse(VERSION_1.as_bytes()), Ok(content()));
        assert_eq!(render(&content()), VERSION_1);
    }

    #[test]
    fn a_torn_or_changed_file_is_corrupt() {
        let bytes = VERSION_1.as_bytes();
        for end in 0..bytes.len() {
            assert!(parse(&bytes[..end]).is_err(), "{end} bytes");
        }
        for bit in 0..bytes.len() * 8 {
            let mut flipped = bytes.to_vec();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert!(parse(&flipped).is_err(), "bit {bit}");
        }
        let newer = VERSION_1.replace("fences 1", "fences 2");
        assert!(parse(newer.as_bytes()).unwrap_err().contains("version"));
    }

    #[test]
    fn it_is_replaced_all_or_none() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(read(dir.path()).unwrap(), None);
        write(dir.path(), &content()).unwrap();
        assert_eq!(read(dir.path()).unwrap(), Some(content()));
        let mut next = content();
        next.durable = 501;
        fs::write(dir.path().join(UNFINISHED), "torn").unwrap();
        assert_eq!(read(dir.path()).unwrap(), Some(content()));
        write(dir.path(), &next).unwrap();
        assert_eq!(read(dir.path()).unwrap(), Some(next));
        assert!(!dir.path().join(UNFINISHED).exists());
    }
}
