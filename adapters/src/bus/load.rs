//! How much of a serial line polls take.

use std::time::Duration;

use super::ZONE_POLL_MS;
use crate::map::{Block, Group, RegisterMap, Table};
use crate::rtu::{Request, RtuTiming, Shape};

/// Bytes of a request for a block.
const READ_LEN: usize = 8;
/// How long a unit thinks: what quick ones take, so that the share is the least.
const THINKS: Duration = Duration::from_millis(5);

/// The thousandths of the time of a line at `baud` that the polls of an elevator with this map take,
/// with quick units and nothing lost. More than 1000 is more than there is.
#[must_use]
pub fn poll_load_permille(map: &RegisterMap, baud: u32) -> u64 {
    let of_group = |group: &Group| {
        let blocks = map.blocks_of([group]).into_iter();
        permille(blocks.map(|block| took(block, baud)).sum(), group.poll_ms)
    };
    map.groups().iter().map(of_group).sum()
}

/// The same of a fire input.
#[must_use]
pub fn zone_load_permille(point: Table, baud: u32) -> u64 {
    let block = Block {
        table: point,
        address: 0,
        count: 1,
    };
    permille(took(block, baud), ZONE_POLL_MS)
}

/// From the silence before a request to the end of its reply.
fn took(block: Block, baud: u32) -> Duration {
    let Block {
        table,
        address,
        count,
    } = block;
    let request = Request::Read {
        table,
        address,
        count,
    };
    let timing = RtuTiming::serial(baud);
    let reply_len = Shape::of(1, &request).frame_len();
    timing.gap + timing.floor(READ_LEN, reply_len) + THINKS
}

fn permille(took: Duration, every_ms: u64) -> u64 {
    let share = took.as_micros() / u128::from(every_ms.max(1));
    u64::try_from(share).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `docs/performance.md`: a read of 8 registers at 19,200 baud with 5 ms takes 25.6 ms.
    #[test]
    fn a_read_takes_its_characters_its_silences_and_the_unit() {
        let block = Block {
            table: Table::Holding,
            address: 0,
            count: 8,
        };
        assert_eq!(took(block, 19_200).as_micros(), 25_624);
        assert_eq!(took(block, 9_600).as_millis(), 46);
        assert_eq!(took(block, 38_400).as_millis(), 16);
    }

    #[test]
    fn the_example_takes_a_quarter_of_a_line_at_9600_baud() {
        let text = include_str!("../../../configs/maps/example.toml");
        let map = RegisterMap::parse(text).unwrap();
        // 56 inputs: 8 + 12 characters; 4 registers: 8 + 13; each with two silences and 5 ms.
        let load = poll_load_permille(&map, 9_600);
        assert!((280..300).contains(&load), "{load}");
        // 8 + 6 characters, two silences and 5 ms are 29.1 of 250 ms.
        assert_eq!(zone_load_permille(Table::Discrete, 9_600), 116);
    }
}
