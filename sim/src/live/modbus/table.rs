//! Which points a request asks for.

use std::ops::Range;

use tokio_modbus::prelude::ExceptionCode;

/// The bits of a reading of `count` points from `from`; the table ends before `end`.
pub(super) fn bits(
    from: u16,
    count: u16,
    end: u16,
    bit: impl Fn(u16) -> bool,
) -> Result<Vec<bool>, ExceptionCode> {
    Ok(range(from, count, 2000, end)?.map(bit).collect())
}

/// The words of a reading of `count` points from `from`; the table ends before `end`.
pub(super) fn words(
    from: u16,
    count: u16,
    end: u16,
    word: impl Fn(u16) -> u16,
) -> Result<Vec<u16>, ExceptionCode> {
    Ok(range(from, count, 125, end)?.map(word).collect())
}

/// The addresses asked for. The limits are those of the Modbus application protocol 1.1b3.
pub(super) fn range(
    from: u16,
    count: u16,
    count_max: u16,
    end: u16,
) -> Result<Range<u16>, ExceptionCode> {
    if !(1..=count_max).contains(&count) {
        return Err(ExceptionCode::IllegalDataValue);
    }
    let to = from.checked_add(count).filter(|to| *to <= end);
    to.map(|to| from..to)
        .ok_or(ExceptionCode::IllegalDataAddress)
}

/// A number of points, as an answer bears it.
pub(super) fn length(len: usize) -> Result<u16, ExceptionCode> {
    u16::try_from(len).map_err(|_| ExceptionCode::IllegalDataValue)
}
