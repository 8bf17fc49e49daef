//! Which block reads a reading of an elevator takes, and which of its points are read how often.

use std::collections::BTreeMap;

use super::RegisterMap;
use super::point::{Addresses, Table};
use super::toml_section::{Mistakes, Places, Section};

/// Registers of one read (Modbus application protocol 1.1b3, sections 6.3 and 6.4).
const REGISTERS_MAX: u16 = 125;
/// Bits of one read (Modbus application protocol 1.1b3, sections 6.1 and 6.2).
const BITS_MAX: u16 = 2_000;

/// The longest interval of points that are read less often than the rest of their map, in
/// milliseconds. A reading is as old as its oldest point, and within the 3 s of `reading_fresh_s`
/// it has to be fresh.
const GROUP_POLL_MS_MAX: i64 = 2_000;

/// One read transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Block {
    /// The table.
    pub(crate) table: Table,
    /// The first address.
    pub(crate) address: u16,
    /// How many points.
    pub(crate) count: u16,
}

impl Block {
    /// So many bytes that come in one answer.
    pub(crate) fn bytes(count: u16) -> Self {
        Self {
            table: Table::Holding,
            address: 0,
            count,
        }
    }
}

/// Points that are read equally often.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Group {
    /// How often, in milliseconds.
    pub(crate) poll_ms: u64,
    addresses: Addresses,
}

/// How often points are read: all of a map, unless their section says that it is less often.
#[derive(Debug, Clone, Copy)]
pub(super) struct Polls {
    whole_ms: i64,
}

impl Polls {
    /// Of a map that is read every `whole_ms`; `None` for a number below 0.
    pub(super) fn new(whole_ms: i64) -> Option<Self> {
        (whole_ms >= 0).then_some(Self { whole_ms })
    }

    /// How often the map is read, in milliseconds.
    pub(super) fn whole_ms(self) -> u64 {
        self.whole_ms.unsigned_abs()
    }

    /// The key `poll_ms` of a section; what comes in one answer has none.
    pub(super) fn parse(self, section: &mut Section<'_>, m: &mut Mistakes) -> u64 {
        if section.places() != Places::Tables {
            return self.whole_ms();
        }
        let range = self.whole_ms..=GROUP_POLL_MS_MAX.max(self.whole_ms);
        let own = section.integer("poll_ms", range, m);
        own.unwrap_or(self.whole_ms).unsigned_abs()
    }
}

impl RegisterMap {
    /// The block reads of one whole reading, by table and address. Never empty: a map has at
    /// least a floor.
    pub(crate) fn blocks(&self) -> Vec<Block> {
        self.blocks_of(&self.groups())
    }

    /// The block reads of these groups, by table and address.
    pub(crate) fn blocks_of<'g>(&self, groups: impl IntoIterator<Item = &'g Group>) -> Vec<Block> {
        let groups = groups.into_iter();
        let addresses = groups.flat_map(|group| group.addresses.iter().copied());
        merge(&addresses.collect(), self.read_gap_max)
    }

    /// All that is read, as what is read at once.
    pub(crate) fn whole(&self) -> Group {
        let groups = self.groups().into_iter();
        Group {
            poll_ms: self.poll_ms,
            addresses: groups.flat_map(|group| group.addresses).collect(),
        }
    }

    /// All that is read, the most often first. What shows where the car is and whether its doors are
    /// open is always in the first group: it is one picture.
    pub(crate) fn groups(&self) -> Vec<Group> {
        let mut by_poll: BTreeMap<u64, Addresses> = BTreeMap::new();
        let count = self.floors.count;
        let picture = by_poll.entry(self.poll_ms).or_default();
        self.floor.collect(count, picture);
        self.motion.collect(picture);
        for (_, side) in self.sides() {
            side.door.collect(picture);
        }
        if let Some(mode) = &self.mode {
            mode.collect(by_poll.entry(mode.poll_ms()).or_default());
        }
        let signals = by_poll.entry(self.signals.poll_ms().max(self.poll_ms));
        self.signals.collect(signals.or_default());
        for (_, side) in self.sides() {
            if let Some(lamps) = &side.lamps {
                lamps.collect(count, by_poll.entry(lamps.poll_ms()).or_default());
            }
        }
        let groups = by_poll.into_iter();
        let groups = groups.map(|(poll_ms, addresses)| Group { poll_ms, addresses });
        groups.filter(|group| !group.addresses.is_empty()).collect()
    }
}

/// Joins neighbours that at most `gap_max` unused points keep apart.
fn merge(addresses: &Addresses, gap_max: u16) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    for (table, address) in addresses {
        let count_max = if table.is_bits() {
            BITS_MAX
        } else {
            REGISTERS_MAX
        };
        if let Some(block) = blocks.last_mut().filter(|block| block.table == *table) {
            // The set is ordered: the address lies behind the block's last one.
            let count = address - block.address + 1;
            if count <= count_max && count - block.count <= gap_max + 1 {
                block.count = count;
                continue;
            }
        }
        blocks.push(Block {
            table: *table,
            address: *address,
            count: 1,
        });
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blocks(table: Table, addresses: &[u16], gap_max: u16) -> Vec<(u16, u16)> {
        let addresses = addresses.iter().map(|address| (table, *address)).collect();
        merge(&addresses, gap_max)
            .iter()
            .map(|block| (block.address, block.count))
            .collect()
    }

    #[test]
    fn neighbours_are_joined_over_eight_unused_points_and_not_over_nine() {
        assert_eq!(blocks(Table::Input, &[0, 9], 8), [(0, 10)]);
        assert_eq!(blocks(Table::Input, &[0, 10], 8), [(0, 1), (10, 1)]);
        assert_eq!(blocks(Table::Input, &[0, 1, 3], 0), [(0, 2), (3, 1)]);
    }

    #[test]
    fn a_block_has_at_most_125_registers_or_2000_bits() {
        let row: Vec<u16> = (0..126).collect();
        assert_eq!(blocks(Table::Holding, &row, 8), [(0, 125), (125, 1)]);
        let row: Vec<u16> = (0..2_001).collect();
        assert_eq!(blocks(Table::Discrete, &row, 8), [(0, 2_000), (2_000, 1)]);
    }

    #[test]
    fn tables_are_never_joined_and_the_last_address_is_reached() {
        let addresses = [(Table::Coil, 65_535), (Table::Discrete, 65_535)]
            .into_iter()
            .collect();
        let blocks = merge(&addresses, 64);
        assert_eq!(blocks.len(), 2);
        assert_eq!(
            blocks[0],
            Block {
                table: Table::Coil,
                address: 65_535,
                count: 1
            }
        );
        assert_eq!(
            blocks[1],
            Block {
                table: Table::Discrete,
                address: 65_535,
                count: 1
            }
        );
    }

    const MAP: &str = r#"
poll_ms = 250
[floors]
count = 2
[floor]
register = { point = "input", address = 0 }
[motion]
up = { point = "discrete", address = 2 }
down = { point = "discrete", address = 3 }
[mode]
register = { point = "input", address = 2 }
values = { normal = 0 }
poll_ms = 500
[signals]
presence = { point = "discrete", address = 4 }
poll_ms = 500
[front.door]
register = { point = "input", address = 1 }
values = { closed = 0, open = 2 }
[front.lamps]
hall_up = { point = "discrete", address = 6 }
hall_down = { point = "discrete", address = 8 }
car = { point = "discrete", address = 10 }
poll_ms = 2000
"#;

    /// Reads as (table, address, count).
    fn reads(blocks: &[Block]) -> Vec<(Table, u16, u16)> {
        let of = |block: &Block| (block.table, block.address, block.count);
        blocks.iter().map(of).collect()
    }

    #[test]
    fn points_of_one_interval_are_one_group_and_only_what_is_due_is_merged() {
        let map = RegisterMap::parse(MAP).unwrap();
        let groups = map.groups();
        let polls: Vec<u64> = groups.iter().map(|group| group.poll_ms).collect();
        assert_eq!(polls, [250, 500, 2_000]);
        let due = |places: &[usize]| {
            let blocks = map.blocks_of(places.iter().map(|place| &groups[*place]));
            reads(&blocks)
        };
        let (discrete, input) = (Table::Discrete, Table::Input);
        assert_eq!(due(&[0]), [(discrete, 2, 2), (input, 0, 2)]);
        assert_eq!(due(&[1]), [(discrete, 4, 1), (input, 2, 1)]);
        assert_eq!(due(&[0, 1]), [(discrete, 2, 3), (input, 0, 3)]);
        assert_eq!(due(&[2]), [(discrete, 6, 6)]);
        let whole = [(discrete, 2, 10), (input, 0, 3)];
        assert_eq!(due(&[0, 1, 2]), whole);
        assert_eq!(reads(&map.blocks()), whole);
    }

    #[test]
    fn an_interval_is_between_that_of_the_map_and_2_s() {
        for bad in ["249", "2001", "\"1 s\""] {
            let text = MAP.replacen("poll_ms = 500", &format!("poll_ms = {bad}"), 1);
            let mistakes = RegisterMap::parse(&text).unwrap_err();
            let [mistake] = mistakes.as_slice() else {
                panic!("{mistakes:?}")
            };
            let told = (mistake.key.as_str(), mistake.value.as_str(), mistake.line);
            assert_eq!(told, ("mode.poll_ms", bad, Some(13)));
            assert_eq!(mistake.expected, "a whole number from 250 to 2000");
        }
        // Where the car is and whether its doors are open is one picture.
        let text = MAP.replace("[front.door]\n", "[front.door]\npoll_ms = 500\n");
        let mistakes = RegisterMap::parse(&text).unwrap_err();
        assert_eq!(mistakes[0].key, "front.door.poll_ms");
    }
}
