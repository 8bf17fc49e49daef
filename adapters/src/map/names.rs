//! What people are told of a device: which points of a map lie at an address, and what a map makes
//! of the values that were read.

use std::collections::BTreeMap;

use protocol::FloorLabel;
use protocol::hardware::{Call, Direction};

use super::point::{Addresses, Table};
use super::{MappedFloor, RegisterMap};

impl RegisterMap {
    /// The keys of the points that are read at an address, as they are written in the map.
    #[must_use]
    pub fn read_at(&self, table: Table, address: u16) -> Vec<String> {
        let sources = self.sources();
        let there = sources
            .into_iter()
            .filter(|(_, addresses)| addresses.contains(&(table, address)));
        there.map(|(key, _)| key).collect()
    }

    /// The keys of the points that are written at an address, with the floors of an elevator with
    /// these floors that they are for.
    #[must_use]
    pub fn written_at(
        &self,
        floors: &[MappedFloor],
        table: Table,
        address: u16,
    ) -> Vec<(String, Option<FloorLabel>)> {
        let labels = self.floor_table(floors);
        let mut found = Vec::new();
        for (key, count, button) in self.buttons() {
            if let Some(number) = button.number_at(count, table, address) {
                let is_row = count > 1 && button.values().is_some();
                let label = labels.label(number).filter(|_| is_row).cloned();
                // Rows of hall buttons may lie over each other where no floor has such a button.
                let is_none = is_row
                    && (key.ends_with("hall_up") && number + 1 == count
                        || key.ends_with("hall_down") && number == 0);
                found.push((is_none, (key, label)));
            }
        }
        let has_real = found.iter().any(|(is_none, _)| !is_none);
        found.retain(|(is_none, _)| !(*is_none && has_real));
        let mut found: Vec<_> = found.into_iter().map(|(_, point)| point).collect();
        if table == Table::Holding {
            found.extend(self.numbers_at(address).map(|key| (key, None)));
        }
        found
    }

    /// What the values say, as far as all that is needed for it is among them: key and word.
    #[must_use]
    pub fn words(
        &self,
        floors: &[MappedFloor],
        image: &BTreeMap<(Table, u16), u16>,
    ) -> Vec<(String, String)> {
        let labels = self.floor_table(floors);
        let sources = self.sources();
        let has = |key: &str| {
            let mut own = sources.iter().filter(|(known, _)| known == key);
            own.any(|(_, addresses)| addresses.iter().all(|place| image.contains_key(place)))
        };
        let reading = self.reading(image, &labels);
        let mut words = Vec::new();
        let mut say = |key: &str, word: String| {
            if has(key) {
                words.push((key.to_owned(), word));
            }
        };
        say("floor", or_unknown(reading.floor.as_ref()));
        say("motion", reading.motion.to_string());
        say("mode", reading.mode.to_string());
        say("front.door", reading.front.to_string());
        say("rear.door", or_unknown(reading.rear));
        say("signals.presence", or_unknown(reading.occupied));
        say(
            "signals.load",
            or_unknown(reading.load_pct.map(|pct| format!("{pct} %"))),
        );
        say(
            "signals.fault",
            reading.fault.unwrap_or_else(|| "none".to_owned()),
        );
        for (side, map) in self.sides() {
            let Some(lamps) = &map.lamps else { continue };
            let mut calls = Vec::new();
            for (label, number) in &labels.0 {
                lamps.read(side, label, *number, image, &mut calls);
            }
            say(&format!("{side}.lamps"), called(&calls));
        }
        words
    }

    /// All that is read, by key.
    fn sources(&self) -> Vec<(String, Addresses)> {
        let count = self.floors.count;
        let mut sources = Vec::new();
        let mut add = |key: String, collect: &dyn Fn(&mut Addresses)| {
            let mut addresses = Addresses::new();
            collect(&mut addresses);
            if !addresses.is_empty() {
                sources.push((key, addresses));
            }
        };
        add("floor".to_owned(), &|all| self.floor.collect(count, all));
        add("motion".to_owned(), &|all| self.motion.collect(all));
        add("mode".to_owned(), &|all| {
            if let Some(mode) = &self.mode {
                mode.collect(all);
            }
        });
        for (side, map) in self.sides() {
            add(format!("{side}.door"), &|all| map.door.collect(all));
            add(format!("{side}.lamps"), &|all| {
                if let Some(lamps) = &map.lamps {
                    lamps.collect(count, all);
                }
            });
        }
        for (key, addresses) in self.signals.parts() {
            add(format!("signals.{key}"), &|all| all.clone_from(&addresses));
        }
        sources
    }

    /// The keys of the numbers that a holding register takes.
    fn numbers_at(&self, address: u16) -> impl Iterator<Item = String> {
        let counters = [("fence", &self.fence), ("command_id", &self.command_id)];
        let counters = counters.into_iter().filter_map(move |(name, counter)| {
            let counter = counter.as_ref()?;
            let is_there = counter.address <= address && u32::from(address) < counter.end();
            is_there.then(|| format!("commands.{name}"))
        });
        let holds = self.sides().filter_map(move |(side, map)| {
            let hold_s = map.buttons.hold_s.as_ref()?;
            let is_there = hold_s.write(0).point().1 == address;
            is_there.then(|| format!("{side}.buttons.hold_s"))
        });
        counters.chain(holds)
    }
}

fn or_unknown(value: Option<impl ToString>) -> String {
    value.map_or_else(|| "unknown".to_owned(), |value| value.to_string())
}

/// The calls whose lamps are on.
fn called(calls: &[Call]) -> String {
    let one = |call: &Call| match call {
        Call::Car { floor, .. } => format!("car {floor}"),
        Call::Hall {
            floor, direction, ..
        } => match direction {
            Some(Direction::Up) => format!("hall {floor} up"),
            Some(Direction::Down) => format!("hall {floor} down"),
            None => format!("hall {floor}"),
        },
    };
    if calls.is_empty() {
        return "none".to_owned();
    }
    calls.iter().map(one).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use protocol::Side;

    use super::*;

    fn example() -> (RegisterMap, Vec<MappedFloor>) {
        let text = include_str!("../../../configs/maps/example.toml");
        let floor = |label: &&str| MappedFloor {
            label: FloorLabel::new(label).unwrap(),
            sides: [Side::Front].into(),
        };
        let floors = ["1F", "2F", "3F"].iter().map(floor).collect();
        (RegisterMap::parse(text).unwrap(), floors)
    }

    /// Addresses by the comments of the example: car calls from coil 32 on, hold seconds in holding
    /// register 0, the fence in 1 and 2, the door's switches in discrete inputs 0 and 1.
    #[test]
    fn addresses_are_named_by_the_keys_of_the_map() {
        let (map, floors) = example();
        let written = |table, address| map.written_at(&floors, table, address);
        let label = |text| Some(FloorLabel::new(text).unwrap());
        let one = |key: &str, floor| vec![(key.to_owned(), floor)];
        assert_eq!(
            written(Table::Coil, 34),
            one("front.buttons.car", label("3F"))
        );
        assert_eq!(written(Table::Coil, 48), one("front.buttons.open", None));
        assert_eq!(
            written(Table::Holding, 0),
            one("front.buttons.hold_s", None)
        );
        assert_eq!(written(Table::Holding, 2), one("commands.fence", None));
        assert_eq!(written(Table::Coil, 9_999), []);
        assert_eq!(written(Table::Discrete, 34), []);
        assert_eq!(map.read_at(Table::Discrete, 1), ["front.door"]);
        assert_eq!(map.read_at(Table::Discrete, 48), ["front.lamps"]);
        assert_eq!(map.read_at(Table::Input, 3), ["signals.load"]);
        assert!(map.read_at(Table::Coil, 0).is_empty());
    }

    /// The relay board's rows share relay 2: hall call up of 3F, which there is none, and down of 1F,
    /// which there is none either; both are told. Relay 4 is the hall call down of 3F alone.
    #[test]
    fn rows_that_lie_over_each_other_name_what_there_is() {
        let (_, floors) = example();
        let text = include_str!("../../../configs/maps/relay-board.toml");
        let map = RegisterMap::parse(text).unwrap();
        let keys = |relay: u16| -> Vec<String> {
            let points = map.written_at(&floors, Table::Coil, 0x0200 + relay);
            points.into_iter().map(|(key, _)| key).collect()
        };
        assert_eq!(keys(1), ["front.buttons.hall_up"]);
        assert_eq!(keys(2).len(), 2);
        assert_eq!(keys(4), ["front.buttons.hall_down"]);
    }

    #[test]
    fn only_what_is_wholly_there_is_said() {
        let (map, floors) = example();
        let mut image: BTreeMap<_, _> = [((Table::Input, 1), 2), ((Table::Discrete, 0), 1)].into();
        assert_eq!(map.words(&floors, &image), []);
        image.insert((Table::Discrete, 1), 0);
        let door = ("front.door".to_owned(), "open".to_owned());
        assert_eq!(map.words(&floors, &image), [door]);
    }
}
