//! What applications may ask for: `[[pools]]`, `[[series]]`, `[[departments]]`.

use std::collections::BTreeSet;

use dispatch::{Applications, SeriesConfig};
use protocol::limits::{DEPARTMENTS_MAX, SERIES_MAX};
use protocol::{DepartmentId, SeriesId};

use super::civil_zone;
use super::document::Table;
use super::pools;

/// Sections that make a site without elevators worth running.
pub(super) const SECTIONS: &[&str] = &["series", "departments", "pools", "devices"];
const SERIES_KEYS: &[&str] = &["id", "max", "start", "step", "switch"];
/// Highest number of a series: what TOML can say.
const NUMBER_MAX: u64 = i64::MAX as u64;
/// Defaults of `wire.md` section 8.
const START: u64 = 1;
const STEP: u64 = 1;

/// Reads what applications may ask for.
pub(super) fn read(root: &Table<'_>) -> Option<Applications> {
    let series = read_series(root);
    let departments = read_departments(root);
    let pools = pools::read(root);
    let zone = civil_zone::read(root);
    Some(Applications {
        series: series?,
        pools: pools?,
        departments: departments?,
        zone: zone?,
        // They are read with their keys.
        ..Applications::default()
    })
}

fn read_series(root: &Table<'_>) -> Option<Vec<SeriesConfig>> {
    let mut ids = BTreeSet::new();
    let tables = root.tables("series", SERIES_MAX);
    let all: Vec<_> = tables
        .iter()
        .map(|table| one_series(table, &mut ids))
        .collect();
    all.into_iter().collect()
}

fn read_departments(root: &Table<'_>) -> Option<BTreeSet<DepartmentId>> {
    let mut ids = BTreeSet::new();
    let mut is_whole = true;
    for table in root.tables("departments", DEPARTMENTS_MAX) {
        table.refuse_unknown(&["id"]);
        let id = table.require("id", "the identifier of the department", |value| {
            let id: DepartmentId = value.identifier()?;
            if ids.insert(id) {
                return Some(());
            }
            value.refuse("an identifier that no department above has")
        });
        is_whole &= id.is_some();
    }
    is_whole.then_some(ids)
}

fn one_series(table: &Table<'_>, ids: &mut BTreeSet<SeriesId>) -> Option<SeriesConfig> {
    table.refuse_unknown(SERIES_KEYS);
    let id = table.require("id", "the identifier of the series", |value| {
        let id: SeriesId = value.identifier()?;
        if ids.insert(id.clone()) {
            return Some(id);
        }
        value.refuse("an identifier that no series above has")
    });
    let start = table.read("start", START, |value| value.integer(0..=NUMBER_MAX));
    let step = table.read("step", STEP, |value| value.integer(1..=NUMBER_MAX));
    let max = table.require(
        "max",
        "the highest number that the series may give",
        |value| {
            let max: u64 = value.integer(0..=NUMBER_MAX)?;
            match start {
                Some(start) if max < start => value.refuse(format!(
                    "at least start = {start}, else the series has no number"
                )),
                Some(_) | None => Some(max),
            }
        },
    );
    let switch = table.read("switch", true, |value| value.flag());
    Some(SeriesConfig {
        id: id?,
        max: max?,
        start: start?,
        step: step?,
        switch: switch?,
    })
}
