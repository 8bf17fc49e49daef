//! Which block reads one whole reading of an elevator takes.

use super::RegisterMap;
use super::point::{Addresses, Table};

/// Registers of one read (Modbus application protocol 1.1b3, sections 6.3 and 6.4).
const REGISTERS_MAX: u16 = 125;
/// Bits of one read (Modbus application protocol 1.1b3, sections 6.1 and 6.2).
const BITS_MAX: u16 = 2_000;

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

impl RegisterMap {
    /// The block reads of one whole reading, by table and address. Never empty: a map has at
    /// least a floor.
    pub(crate) fn blocks(&self) -> Vec<Block> {
        merge(&self.addresses(), self.read_gap_max)
    }

    fn addresses(&self) -> Addresses {
        let mut addresses = Addresses::new();
        let count = self.floors.count;
        self.floor.collect(count, &mut addresses);
        self.motion.collect(&mut addresses);
        if let Some(mode) = &self.mode {
            mode.collect(&mut addresses);
        }
        self.signals.collect(&mut addresses);
        for (_, side) in self.sides() {
            side.door.collect(&mut addresses);
            if let Some(lamps) = &side.lamps {
                lamps.collect(count, &mut addresses);
            }
        }
        addresses
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
}
