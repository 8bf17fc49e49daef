//! Which replies go wrong, and how: by rate or by script, from a seed.

use std::collections::BTreeMap;

use super::fault::{Fault, FaultKind};
use crate::live::dice::Dice;

/// Parts of a whole in which rates are thrown.
const PARTS: usize = 1_000_000;
/// The player whose dice choose bits and bytes; rules are the players before it.
const BYTES: u64 = 1 << 32;

/// Rules for what goes wrong. At most one fault strikes a reply: that of the first rule that says so.
#[derive(Debug, Clone)]
pub struct Plan {
    rules: Vec<Watched>,
    seed: u64,
    bytes: Dice,
    fired: BTreeMap<FaultKind, u64>,
}

/// One rule of a plan.
#[derive(Debug, Clone, PartialEq)]
pub struct Rule {
    fault: Fault,
    when: When,
    unit: Option<u8>,
    function: Option<u8>,
}

/// Which of the requests that a rule looks at.
#[derive(Debug, Clone, Copy, PartialEq)]
enum When {
    /// The n-th, from 1; a later one where another fault struck that one.
    Nth(u64),
    /// So many millionths of them, by chance.
    Rate(usize),
}

#[derive(Debug, Clone)]
struct Watched {
    rule: Rule,
    dice: Dice,
    seen: u64,
    is_spent: bool,
}

impl Rule {
    /// The `n`-th request, counted from 1.
    #[must_use]
    pub fn nth(n: u64, fault: Fault) -> Self {
        Self::new(When::Nth(n), fault)
    }

    /// A share of the requests, 0 to 1, by chance.
    #[must_use]
    pub fn rate(share: f64, fault: Fault) -> Self {
        // Between 0 and a million.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let parts = (share.clamp(0.0, 1.0) * 1e6).round() as usize;
        Self::new(When::Rate(parts), fault)
    }

    /// Every request.
    #[must_use]
    pub fn always(fault: Fault) -> Self {
        Self::new(When::Rate(PARTS), fault)
    }

    /// Looks at requests to this unit alone.
    #[must_use]
    pub fn unit(mut self, unit: u8) -> Self {
        self.unit = Some(unit);
        self
    }

    /// Looks at requests with this function alone.
    #[must_use]
    pub fn function(mut self, function: u8) -> Self {
        self.function = Some(function);
        self
    }

    fn new(when: When, fault: Fault) -> Self {
        Self {
            fault,
            when,
            unit: None,
            function: None,
        }
    }

    fn fits(&self, unit: u8, function: u8) -> bool {
        self.unit.is_none_or(|only| only == unit)
            && self.function.is_none_or(|only| only == function)
    }
}

impl Plan {
    /// Nothing goes wrong. The same seed and rules strike the same requests of the same sequence.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self {
            rules: Vec::new(),
            seed,
            bytes: Dice::new(seed, BYTES),
            fired: BTreeMap::new(),
        }
    }

    /// With another rule, after those that it has.
    #[must_use]
    pub fn with(mut self, rule: Rule) -> Self {
        let player = u64::try_from(self.rules.len()).unwrap_or(BYTES - 1);
        self.rules.push(Watched {
            rule,
            dice: Dice::new(self.seed, player),
            seen: 0,
            is_spent: false,
        });
        self
    }

    /// How often each kind struck; those that never did are left out.
    #[must_use]
    pub fn fired(&self) -> &BTreeMap<FaultKind, u64> {
        &self.fired
    }

    /// The fault that strikes this request. Every rule that looks at it counts it and throws its
    /// dice, so that no rule shifts another.
    pub(super) fn strike(&mut self, unit: u8, function: u8) -> Option<Fault> {
        let mut struck = None;
        for watched in &mut self.rules {
            if !watched.rule.fits(unit, function) {
                continue;
            }
            watched.seen += 1;
            let strikes = match watched.rule.when {
                When::Nth(n) => !watched.is_spent && watched.seen >= n,
                When::Rate(parts) => watched.dice.below(PARTS) < parts,
            };
            if strikes && struck.is_none() {
                watched.is_spent = true;
                struck = Some(watched.rule.fault.clone());
            }
        }
        if let Some(fault) = &struck {
            *self.fired.entry(fault.kind()).or_default() += 1;
        }
        struck
    }

    /// A number below `sides`, for what a fault leaves to chance.
    pub(super) fn below(&mut self, sides: usize) -> usize {
        self.bytes.below(sides)
    }

    /// Bytes by chance.
    pub(super) fn junk(&mut self, count: usize) -> Vec<u8> {
        let byte = |_| u8::try_from(self.bytes.below(256)).unwrap_or_default();
        (0..count).map(byte).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strikes(plan: &mut Plan, unit: u8, function: u8, count: usize) -> Vec<usize> {
        (1..=count)
            .filter(|_| plan.strike(unit, function).is_some())
            .collect()
    }

    #[test]
    fn a_script_strikes_the_nth_request_to_its_unit_and_function() {
        let rule = Rule::nth(3, Fault::BadCrc).unit(2).function(6);
        let mut plan = Plan::new(1).with(rule);
        assert!(strikes(&mut plan, 1, 6, 9).is_empty());
        assert!(strikes(&mut plan, 2, 3, 9).is_empty());
        assert_eq!(strikes(&mut plan, 2, 6, 9), [3]);
        assert_eq!(plan.fired(), &BTreeMap::from([(FaultKind::BadCrc, 1)]));
    }

    #[test]
    fn a_rate_strikes_its_share_and_the_same_seed_the_same_requests() {
        let plan = |seed| Plan::new(seed).with(Rule::rate(0.01, Fault::NoReply));
        let struck = strikes(&mut plan(7), 1, 3, 10_000);
        // 100 are expected; the standard deviation is 10.
        assert!((60..=140).contains(&struck.len()), "{}", struck.len());
        assert_eq!(strikes(&mut plan(7), 1, 3, 10_000), struck);
        assert_ne!(strikes(&mut plan(8), 1, 3, 10_000), struck);
    }

    #[test]
    fn two_scripts_for_one_request_strike_one_after_the_other() {
        let mut plan = Plan::new(1)
            .with(Rule::nth(2, Fault::BadCrc))
            .with(Rule::nth(2, Fault::Merged));
        assert_eq!(strikes(&mut plan, 1, 3, 9), [2, 3]);
        assert_eq!(plan.fired().len(), 2);
    }

    #[test]
    fn every_kind_has_a_name_of_its_own() {
        let names: std::collections::BTreeSet<_> =
            FaultKind::ALL.iter().map(|kind| kind.name()).collect();
        assert_eq!(names.len(), FaultKind::ALL.len());
    }
}
