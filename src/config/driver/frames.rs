//! `driver` of an elevator whose maker has frames of its own, and the profiles that say which.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use adapters::rs485::FrameProfile;

use super::super::DriverConfig;
use super::super::buses::{Buses, read_bus};
use super::super::document::{Table, Value};
use super::super::elevators::Elevator;
use super::{Drivers, Frames, mapped, mistake, needs_of, plain_path};

/// Bytes of a frame profile.
const PROFILE_BYTES_MAX: u64 = 1024 * 1024;

/// The profiles read so far.
#[derive(Default)]
pub(in crate::config) struct Profiles {
    /// By path, so that the mistakes of each are told once; `None` for a bad one.
    read: BTreeMap<PathBuf, Option<Arc<FrameProfile>>>,
    /// That of the first elevator on each bus.
    by_bus: BTreeMap<String, PathBuf>,
}

impl Profiles {
    /// Whether the units of a bus speak the frames of a maker.
    pub(in crate::config) fn are_on(&self, bus: &str) -> bool {
        self.by_bus.contains_key(bus)
    }

    fn read(&mut self, value: &Value<'_>) -> Option<(PathBuf, Arc<FrameProfile>)> {
        let name = Path::new(value.text()?);
        plain_path(value, name)?;
        let path = value.document.beside(name);
        if let Some(known) = self.read.get(&path) {
            return known.clone().map(|profile| (path, profile));
        }
        let profile = match value.document.files().text(&path, PROFILE_BYTES_MAX) {
            Err(expected) => return value.refuse(expected),
            Ok(text) => FrameProfile::parse(&text),
        };
        let profile = match profile {
            Ok(profile) => Some(Arc::new(profile)),
            Err(errors) => {
                let file = path.display().to_string();
                let errors = errors.into_iter().map(|error| mistake(&file, error));
                value.document.note_foreign(errors);
                None
            }
        };
        self.read.insert(path.clone(), profile.clone());
        profile.map(|profile| (path, profile))
    }
}

impl Drivers {
    /// Reads the other keys of a driver with frames of a maker.
    pub(super) fn read_frames(
        &mut self,
        table: &Table<'_>,
        frames: Frames,
        elevator: &Elevator<'_>,
        buses: &Buses,
    ) -> Option<DriverConfig> {
        let bus = read_bus(table, buses);
        let config = bus.as_ref().and_then(|bus| buses.get(bus)?.as_ref());
        let fits = bus.as_ref().zip(config);
        let fits = fits.map(|(bus, config)| self.fit(table, frames, bus, config));
        let unit = table.require("unit", "the unit of the controller", |value| {
            value.integer(0..=u8::MAX)
        });
        let unit = self.own_unit(table, "unit", unit, config);
        let profile = table.require("profile", "the path of a frame profile", |value| {
            let (path, profile) = self.profiles.read(value)?;
            if let Some(bus) = &bus {
                let first = self.profiles.by_bus.entry(bus.clone());
                if *first.or_insert_with(|| path.clone()) != path {
                    return value.refuse("the profile of the elevators above on this bus");
                }
            }
            refuse_unfit(value, &profile, elevator)?;
            Some(profile)
        });
        fits.unwrap_or(Some(()))?;
        if let (Some(bus), Some(config), Some(profile)) = (&bus, config, &profile) {
            self.load(table, bus, config, |baud| profile.load_permille(baud));
        }
        Some(DriverConfig::Frames {
            bus: bus?,
            unit: unit?,
            profile: profile?,
        })
    }
}

/// Refuses a profile that lacks what the elevator needs, as far as that could be read.
fn refuse_unfit(value: &Value<'_>, profile: &FrameProfile, elevator: &Elevator<'_>) -> Option<()> {
    let floors = elevator.floors.as_ref();
    let floors = floors.map(|floors| profile.check_floors(&mapped(floors)));
    let needs = elevator.config.as_ref();
    let needs = needs.map(|config| profile.check_needs(needs_of(config)));
    let checks = [floors, needs].into_iter().flatten();
    let errors: Vec<_> = checks.filter_map(Result::err).flatten().collect();
    for error in &errors {
        value.refuse::<()>(format!("a profile that fits the elevator; in it {error}"));
    }
    errors.is_empty().then_some(())
}
