//! `[[elevators]]`.

use std::collections::BTreeSet;

use dispatch::{ElevatorConfig, ServedFloor};
use protocol::limits::{ELEVATORS_MAX, FLOOR_BYTES_MAX, FLOORS_MAX};
use protocol::ops::Presence;
use protocol::{ElevatorId, FloorLabel, Side, ZoneId};

use super::applications::SECTIONS;
use super::document::{Table, Value, milli};
use super::timing::{Waits, seconds};

const KEYS: &[&str] = &[
    "id",
    "bank_id",
    "zone",
    "presence",
    "mode_signal",
    "hold_max_s",
    "claim",
    "floors",
    "driver",
];
const FLOOR_KEYS: &[&str] = &["label", "sides", "height_m"];
/// Defaults of `wire.md` section 7.
const BANK_ID: &str = "A";
const ZONE: &str = "main";
const HOLD_MAX_MS: u64 = 10_000;
/// Height of a storey where the height of a floor was left out, in millimetres.
const STOREY_MM: i64 = 3_500;
/// Height of a floor over any other, in metres.
const HEIGHT_M_MAX: f64 = 2_000.0;
const PRESENCE: &[(&str, Presence)] = &[
    ("none", Presence::None),
    ("robot", Presence::Robot),
    ("any", Presence::Any),
];
const SIDES: &[(&str, Side)] = &[("front", Side::Front), ("rear", Side::Rear)];

/// One `[[elevators]]`, as far as it could be read.
pub(super) struct Elevator<'d> {
    /// The table, for its driver.
    pub(super) table: Table<'d>,
    /// Its zone.
    pub(super) zone: Option<ZoneId>,
    /// Its floors.
    pub(super) floors: Option<Vec<ServedFloor>>,
    /// All of it.
    pub(super) config: Option<ElevatorConfig>,
}

/// Reads `[[elevators]]`.
pub(super) fn read<'d>(root: &Table<'d>, waits: Option<&Waits>) -> Vec<Elevator<'d>> {
    let tables = root.tables("elevators", ELEVATORS_MAX);
    let has_applications = SECTIONS.iter().any(|name| root.value(name).is_some());
    if tables.is_empty() && !has_applications {
        root.refuse::<()>("elevators", "at least one [[elevators]]");
    }
    let mut ids = BTreeSet::new();
    tables
        .into_iter()
        .map(|table| read_one(table, waits, &mut ids))
        .collect()
}

fn read_one<'d>(
    table: Table<'d>,
    waits: Option<&Waits>,
    ids: &mut BTreeSet<ElevatorId>,
) -> Elevator<'d> {
    table.refuse_unknown(KEYS);
    let id = table.require("id", "the identifier of the elevator", |value| {
        let id: ElevatorId = value.identifier()?;
        if ids.insert(id.clone()) {
            return Some(id);
        }
        value.refuse("an identifier that no elevator above has")
    });
    let bank_id = table.identifier_or("bank_id", BANK_ID);
    let zone = table.identifier_or("zone", ZONE);
    let presence = table.read("presence", Presence::None, |value| value.word(PRESENCE));
    let mode_signal = table.read("mode_signal", true, Value::flag);
    let hold_max_ms = read_hold_max(&table, waits);
    let claim = table.read("claim", false, Value::flag);
    let floors = read_floors(&table);
    let config = || {
        Some(ElevatorConfig {
            id: id?,
            bank_id: Some(bank_id?),
            zone: zone.clone()?,
            presence: presence?,
            mode_signal: mode_signal?,
            hold_max_ms: hold_max_ms?,
            claim: claim?,
            floors: floors.clone()?,
        })
    };
    let config = config();
    Elevator {
        table,
        zone,
        floors,
        config,
    }
}

fn read_hold_max(table: &Table<'_>, waits: Option<&Waits>) -> Option<u64> {
    let hold_max_ms = table.read("hold_max_s", HOLD_MAX_MS, Value::seconds_ms)?;
    let Some(waits) = waits.filter(|waits| waits.are_good(&["valid_s", "accept_s"])) else {
        return Some(hold_max_ms);
    };
    let least_ms = waits.timing.valid_ms + waits.timing.accept_ms;
    if hold_max_ms > least_ms {
        return Some(hold_max_ms);
    }
    table.refuse(
        "hold_max_s",
        format!(
            "more than timing.valid_s + timing.accept_s = {}, else the door could close on a \
             permission that stands",
            seconds(least_ms)
        ),
    )
}

/// The floors from the lowest, with labels of their own and heights that ascend.
fn read_floors(table: &Table<'_>) -> Option<Vec<ServedFloor>> {
    let tables = table.tables("floors", FLOORS_MAX);
    if tables.len() < 2 && table.value("floors").is_none_or(|value| value.is_list()) {
        return table.refuse(
            "floors",
            "at least two floors, { label, sides, height_m } each",
        );
    }
    let mut labels = BTreeSet::new();
    let mut below = None;
    let floors: Vec<_> = tables
        .iter()
        .map(|floor| {
            floor.refuse_unknown(FLOOR_KEYS);
            let label = read_label(floor, &mut labels);
            let sides = read_sides(floor);
            let height_mm = read_height(floor, &mut below);
            Some(ServedFloor {
                label: label?,
                sides: sides?,
                height_mm: height_mm?,
            })
        })
        .collect();
    floors.into_iter().collect()
}

fn read_label(floor: &Table<'_>, labels: &mut BTreeSet<FloorLabel>) -> Option<FloorLabel> {
    floor.require("label", "the label of the floor", |value| {
        let Ok(label) = FloorLabel::new(value.text()?) else {
            return value.refuse(format!("1 to {FLOOR_BYTES_MAX} of A-Z a-z 0-9 _ -"));
        };
        if labels.insert(label.clone()) {
            return Some(label);
        }
        value.refuse("a label that no floor below it has")
    })
}

fn read_sides(floor: &Table<'_>) -> Option<BTreeSet<Side>> {
    floor.read("sides", BTreeSet::from([Side::Front]), |value| {
        let items = value.list()?;
        if items.is_empty() {
            return value.refuse("at least one of \"front\", \"rear\"");
        }
        let sides: Option<Vec<_>> = items.iter().map(|item| item.word(SIDES)).collect();
        let sides = sides?;
        let distinct: BTreeSet<_> = sides.iter().copied().collect();
        if distinct.len() < sides.len() {
            return value.refuse("each side once");
        }
        Some(distinct)
    })
}

/// The height, which is more than that of the floor `below`; one that was left out is a storey more.
fn read_height(floor: &Table<'_>, below: &mut Option<i64>) -> Option<i64> {
    let default = below.map_or(0, |below| below + STOREY_MM);
    let height_mm = floor.read("height_m", default, |value| {
        let metres = value.number("metres", -HEIGHT_M_MAX..=HEIGHT_M_MAX)?;
        let height_mm = milli(metres);
        match *below {
            Some(below) if height_mm <= below => value
                .refuse("more than that of the floor before it: from the lowest to the highest"),
            Some(_) | None => Some(height_mm),
        }
    })?;
    *below = Some(height_mm);
    Some(height_mm)
}
