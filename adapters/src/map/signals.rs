//! What a map says about presence, load and fault.

use super::blocks::Polls;
use super::point::{Addresses, Bit, Field, Image};
use super::toml_section::{Mistakes, Section};

/// Where a fault is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum FaultSource {
    /// A bit.
    Bit(Bit),
    /// A register: 0 is no fault, another number is its code.
    Code(Field),
}

/// The section `[signals]`: presence, load and fault, each where there is one.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Signals {
    presence: Option<Bit>,
    load: Option<(Field, u16)>,
    fault: Option<FaultSource>,
    poll_ms: u64,
}

impl Signals {
    /// Reads the section, where there is one.
    pub(super) fn parse(root: &mut Section<'_>, polls: Polls, m: &mut Mistakes) -> Self {
        let Some(mut section) = root.section("signals", m) else {
            return Self::default();
        };
        let poll_ms = polls.parse(&mut section, m);
        let presence = Bit::parse(&mut section, "presence", m);
        let load = section.section("load", m).and_then(|mut load| {
            let field = Field::parse_keys(&mut load, m);
            let rated = load.integer("rated", 1..=65_535, m).unwrap_or(100);
            load.finish(m);
            Some((field?, u16::try_from(rated).ok()?))
        });
        if section.has("fault") && section.has("fault_code") {
            m.add(section.refuse("fault_code", "either fault or fault_code, not both"));
        }
        let bit = Bit::parse(&mut section, "fault", m).map(FaultSource::Bit);
        let code = Field::parse(&mut section, "fault_code", m).map(FaultSource::Code);
        section.finish(m);
        Self {
            presence,
            load,
            fault: bit.or(code),
            poll_ms,
        }
    }

    /// How often they are read, in milliseconds.
    pub(super) fn poll_ms(&self) -> u64 {
        self.poll_ms
    }

    /// Whether there is a presence signal.
    pub(super) fn has_presence(&self) -> bool {
        self.presence.is_some()
    }

    /// Adds what must be read for them.
    pub(super) fn collect(&self, addresses: &mut Addresses) {
        addresses.extend(self.parts().into_iter().flat_map(|(_, part)| part));
    }

    /// What must be read for each.
    pub(super) fn parts(&self) -> [(&'static str, Addresses); 3] {
        let [mut presence, mut load, mut fault] = [const { Addresses::new() }; 3];
        if let Some(bit) = &self.presence {
            bit.collect(&mut presence);
        }
        if let Some((field, _)) = &self.load {
            field.collect(&mut load);
        }
        match &self.fault {
            Some(FaultSource::Bit(bit)) => bit.collect(&mut fault),
            Some(FaultSource::Code(field)) => field.collect(&mut fault),
            None => {}
        }
        [("presence", presence), ("load", load), ("fault", fault)]
    }

    /// The presence signal.
    pub(super) fn occupied(&self, image: &Image) -> Option<bool> {
        self.presence.as_ref()?.read(image)
    }

    /// The load in percent of the rated load, at most 255.
    pub(super) fn load_pct(&self, image: &Image) -> Option<u8> {
        let (field, rated) = self.load.as_ref()?;
        let pct = u32::from(field.read(image)?) * 100 / u32::from(*rated);
        Some(u8::try_from(pct).unwrap_or(u8::MAX))
    }

    /// The fault.
    pub(super) fn fault(&self, image: &Image) -> Option<String> {
        match self.fault.as_ref()? {
            FaultSource::Bit(bit) => {
                (bit.read(image) == Some(true)).then(|| "the fault signal is on".to_owned())
            }
            FaultSource::Code(field) => field
                .read(image)
                .filter(|code| *code != 0)
                .map(|code| format!("fault code {code}")),
        }
    }
}
