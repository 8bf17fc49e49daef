//! Whether a map fits the elevator that names it.

use protocol::Side;

use super::number::HoldSeconds;
use super::toml_section::{MapError, Mistakes, whole};
use super::{MappedFloor, Numbering, RegisterMap};

/// What the site's configuration wants of an elevator beyond its floors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Needs {
    /// `mode_signal`: the mode must be readable.
    pub mode_signal: bool,
    /// `presence` is not `none`: there must be a presence signal.
    pub presence: bool,
    /// `claim`: there must be a robot mode to switch.
    pub claim: bool,
    /// `hold_max_s`, in milliseconds: the longest hold that will be asked for.
    pub hold_max_ms: u64,
}

impl RegisterMap {
    /// Whether the map fits an elevator with these floors, from the lowest.
    ///
    /// # Errors
    /// Every mistake: a floor without a number, a side or a button that is missing.
    pub fn check_floors(&self, floors: &[MappedFloor]) -> Result<(), Vec<MapError>> {
        let mut m = Mistakes::default();
        self.check_numbers(floors, &mut m);
        for side in Side::ALL {
            self.check_side(side, floors, &mut m);
        }
        let mistakes = m.into_errors();
        if mistakes.is_empty() {
            Ok(())
        } else {
            Err(mistakes)
        }
    }

    /// Whether each floor has a number.
    pub(crate) fn check_numbers(&self, floors: &[MappedFloor], m: &mut Mistakes) {
        let Numbering { count, labels } = &self.floors;
        if floors.len() > usize::from(*count) && labels.is_none() {
            let expected = format!("at least {}, the floors of the elevator", floors.len());
            m.add(whole("floors.count", &count.to_string(), &expected));
        }
        if let Some(labels) = labels {
            for floor in floors
                .iter()
                .filter(|floor| !labels.contains_key(&floor.label))
            {
                let key = format!("floors.labels.{}", floor.label);
                m.add(whole(&key, "", "the number of this floor of the elevator"));
            }
        }
    }

    /// Whether the map has the signals and points that the elevator's configuration wants.
    ///
    /// # Errors
    /// Every point that is missing.
    pub fn check_needs(&self, needs: Needs) -> Result<(), Vec<MapError>> {
        let mut m = Mistakes::default();
        if needs.mode_signal && self.mode.is_none() {
            m.add(whole(
                "mode",
                "",
                "where the mode is read, or mode_signal = false",
            ));
        }
        if needs.presence && !self.signals.has_presence() {
            m.add(whole(
                "signals.presence",
                "",
                "the presence signal, or presence = \"none\"",
            ));
        }
        if needs.claim && self.claim.is_none() {
            m.add(whole(
                "commands.claim",
                "",
                "the robot mode to be claimed, or claim = false",
            ));
        }
        let hold_s = needs.hold_max_ms.div_ceil(1_000);
        for (side, map) in self.sides() {
            let max_s = map.buttons.hold_s.as_ref().map(HoldSeconds::max_s);
            if let Some(max_s) = max_s.filter(|max_s| hold_s > u64::from(*max_s)) {
                let expected = format!("at least {hold_s}, the elevator's hold_max_s");
                m.add(whole(
                    &format!("{side}.buttons.hold_s.max"),
                    &max_s.to_string(),
                    &expected,
                ));
            }
        }
        let mistakes = m.into_errors();
        if mistakes.is_empty() {
            Ok(())
        } else {
            Err(mistakes)
        }
    }

    fn check_side(&self, side: Side, floors: &[MappedFloor], m: &mut Mistakes) {
        let opens = |floor: &MappedFloor| floor.sides.contains(&side);
        let Some(lowest) = floors.iter().position(opens) else {
            return;
        };
        let Some(map) = self.side(side) else {
            let expected = format!("the door and the buttons of the {side} side");
            m.add(whole(side.as_str(), "", &expected));
            return;
        };
        let highest = floors.iter().rposition(opens).unwrap_or(lowest);
        let (has_above, has_below) = (lowest + 1 < floors.len(), highest > 0);
        let buttons = &map.buttons;
        let wanted = [
            ("hall_up", has_above && buttons.hall_up.is_none()),
            ("hall_down", has_below && buttons.hall_down.is_none()),
            ("car", buttons.car.is_none()),
            ("open", buttons.open.is_none()),
            ("hold_s", buttons.hold_s.is_none() && buttons.open.is_none()),
            ("close", buttons.close.is_none() && buttons.hold_s.is_none()),
        ];
        for (name, _) in wanted.iter().filter(|(_, is_missing)| *is_missing) {
            let key = format!("{side}.buttons.{name}");
            m.add(whole(
                &key,
                "",
                "the point of this button, which rides need",
            ));
        }
    }
}
