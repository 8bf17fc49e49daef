//! A plan: a site, its robots, and every deed of a run with its moment. The same plan, the same
//! run; each deed can be left out without changing the chance of the others.

mod deed;

use std::fmt::Write as _;

use dispatch::{Limits, Timing};
use protocol::ops::Presence;
use serde::{Deserialize, Serialize};

pub use self::deed::{CarDeed, Deed, GatewayDeed, OperatorDeed, RobotDeed};

/// A run as a whole.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Where it comes from; the chance inside the world comes from it too.
    pub seed: u64,
    /// The site.
    pub site: Site,
    /// The floor at which each robot begins, as an index.
    pub robots: Vec<u16>,
    /// How those behave who look after the elevators.
    pub manner: Manner,
    /// When requests and faults end, in milliseconds.
    pub until_ms: u64,
    /// What is done, each with its moment, in order.
    pub deeds: Vec<(u64, Deed)>,
}

/// How those behave who look after the elevators.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manner {
    /// Between two looks at the screen.
    pub looks_ms: u64,
    /// On the way to a car, at most.
    pub way_max_ms: u64,
    /// HOLDs of 1,000 that they let go on, where the robot is in order.
    pub goes_on_permille: u64,
}

impl Manner {
    /// As fast as people can be.
    #[must_use]
    pub fn prompt() -> Self {
        Self {
            looks_ms: 10_000,
            way_max_ms: 0,
            goes_on_permille: 0,
        }
    }
}

/// A site.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Site {
    /// Floors.
    pub floors: u16,
    /// The elevators.
    pub elevators: Vec<Lift>,
    /// The waits that are drawn.
    pub waits: Waits,
    /// Milliseconds to and from the broker.
    pub latency_ms: u64,
    /// Milliseconds of a sync.
    pub sync_ms: u64,
    /// Whether each zone has a fire input.
    pub fire_inputs: bool,
    /// QUEUED orders at most.
    #[serde(default = "queue_max")]
    pub queue: u32,
}

/// The default of `wire.md` section 7.
fn queue_max() -> u32 {
    Limits::default().queue
}

/// An elevator.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Lift {
    /// Its presence signal.
    pub presence: Presence,
    /// In the second zone.
    pub annex: bool,
    /// Whether it is claimed for robots.
    pub claim: bool,
    /// Whether it has a mode signal.
    pub mode_signal: bool,
    /// How long one hold lasts.
    pub hold_max_ms: u64,
    /// Whether its controller tells changes unasked.
    pub tells: bool,
    /// Where it goes in a fire, as an index.
    pub recall: Option<u16>,
    /// The highest floors that it does not serve.
    pub not_served: u16,
    /// To the controller and back.
    pub hop_ms: (u64, u64),
}

/// The waits that are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waits {
    /// `poll_s`.
    pub poll_ms: u64,
    /// `silent_s`.
    pub silent_ms: u64,
    /// `lease_s`.
    pub lease_ms: u64,
    /// `entry_s` and `exit_s`.
    pub door_ms: u64,
    /// `valid_s`.
    pub valid_ms: u64,
    /// `promote_s`.
    pub promote_ms: u64,
    /// `reading_fresh_s`.
    pub fresh_ms: u64,
    /// `sweep_s`.
    pub sweep_ms: u64,
}

impl Waits {
    /// The defaults of `wire.md` section 7.
    #[must_use]
    pub fn plain() -> Self {
        let timing = Timing::default();
        Self {
            poll_ms: timing.poll_ms,
            silent_ms: timing.silent_ms,
            lease_ms: timing.lease_ms,
            door_ms: timing.entry_ms,
            valid_ms: timing.valid_ms,
            promote_ms: timing.promote_ms,
            fresh_ms: timing.reading_fresh_ms,
            sweep_ms: timing.sweep_ms,
        }
    }

    /// All waits of the site.
    #[must_use]
    pub fn timing(&self) -> Timing {
        Timing {
            poll_ms: self.poll_ms,
            silent_ms: self.silent_ms,
            lease_ms: self.lease_ms,
            entry_ms: self.door_ms,
            exit_ms: self.door_ms,
            valid_ms: self.valid_ms,
            promote_ms: self.promote_ms,
            reading_fresh_ms: self.fresh_ms,
            sweep_ms: self.sweep_ms,
            ..Timing::default()
        }
    }
}

impl Plan {
    /// As text: the head in the first line, then one deed a line.
    #[must_use]
    pub fn to_text(&self) -> String {
        let head = Self {
            deeds: Vec::new(),
            ..self.clone()
        };
        let mut text = json(&head);
        text.push('\n');
        for deed in &self.deeds {
            let _ = writeln!(text, "{}", json(deed));
        }
        text
    }

    /// Reads such a text.
    ///
    /// # Errors
    /// The line that cannot be read, and why.
    pub fn from_text(text: &str) -> Result<Self, String> {
        let mut lines = (1..).zip(text.lines()).filter(|(_, line)| {
            let line = line.trim();
            !line.is_empty() && !line.starts_with('#')
        });
        let wrong = |number: usize, error: serde_json::Error| format!("line {number}: {error}");
        let (number, head) = lines.next().ok_or("the plan is empty")?;
        let mut plan: Self = serde_json::from_str(head).map_err(|error| wrong(number, error))?;
        for (number, line) in lines {
            plan.deeds
                .push(serde_json::from_str(line).map_err(|error| wrong(number, error))?);
        }
        plan.check()?;
        Ok(plan)
    }

    /// Whether every index of it names something.
    fn check(&self) -> Result<(), String> {
        if self.site.elevators.is_empty() || self.robots.is_empty() || self.site.floors < 2 {
            return Err("a plan has an elevator, a robot and two floors at least".to_owned());
        }
        if self.deeds.is_sorted_by_key(|(at_ms, _)| *at_ms) {
            return Ok(());
        }
        Err("the deeds of a plan are in the order of their moments".to_owned())
    }
}

/// Plans hold numbers, words and lists only, which JSON can hold.
fn json<T: Serialize>(value: &T) -> String {
    serde_json::to_string(value).unwrap_or_default()
}
