//! The records of `disk.c`: what was written in the place of what, and what was synced.

/// Numbers before the bytes of a record.
const HEAD: usize = 6;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Written,
    Truncated,
    Synced,
    Gone,
}

/// What happened to a file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Record<'a> {
    pub(crate) kind: Kind,
    pub(crate) inode: u64,
    /// Where it was written; the size after, where it was truncated; the records that were there
    /// when the sync began.
    pub(crate) offset: u64,
    /// The size before.
    pub(crate) size: u64,
    pub(crate) old: &'a [u8],
    pub(crate) new: &'a [u8],
}

/// Reads a log. A record that is not whole was never acted upon.
pub(crate) fn records(mut log: &[u8]) -> Vec<Record<'_>> {
    let mut found = Vec::new();
    while let Some(record) = next(&mut log) {
        found.push(record);
    }
    found
}

fn next<'a>(log: &mut &'a [u8]) -> Option<Record<'a>> {
    let (head, rest) = log.split_at_checked(HEAD * 8)?;
    let number = |at: usize| {
        let bytes = head[at * 8..][..8].try_into().unwrap();
        u64::from_ne_bytes(bytes)
    };
    let kind = match number(0) {
        1 => Kind::Written,
        2 => Kind::Truncated,
        3 => Kind::Synced,
        4 => Kind::Gone,
        other => panic!("a record of kind {other}"),
    };
    let (old, rest) = rest.split_at_checked(usize::try_from(number(4)).unwrap())?;
    let (new, rest) = rest.split_at_checked(usize::try_from(number(5)).unwrap())?;
    *log = rest;
    Some(Record {
        kind,
        inode: number(1),
        offset: number(2),
        size: number(3),
        old,
        new,
    })
}
