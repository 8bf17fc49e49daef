//! Chance from a seed: the same seed throws the same numbers on every machine.

/// A small generator (splitmix64); for variety, not for secrets.
#[derive(Debug, Clone)]
pub struct Dice(u64);

impl Dice {
    /// Numbers of their own for `player` under `seed`.
    #[must_use]
    pub fn new(seed: u64, player: u64) -> Self {
        let mut dice = Self(seed);
        let start = dice.throw() ^ player.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        Self(start)
    }

    /// A number from 0 to `sides - 1`; 0 for no sides.
    pub fn below(&mut self, sides: usize) -> usize {
        let sides = sides as u64;
        // The remainder is smaller than `sides`, which was a usize.
        #[allow(clippy::cast_possible_truncation)]
        let below = self.throw().checked_rem(sides).unwrap_or(0) as usize;
        below
    }

    fn throw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_throws_the_same_and_players_differ() {
        let throws = |seed, player| {
            let mut dice = Dice::new(seed, player);
            (0..32).map(|_| dice.below(6)).collect::<Vec<_>>()
        };
        assert_eq!(throws(1, 0), throws(1, 0));
        assert_ne!(throws(1, 0), throws(1, 1));
        assert_ne!(throws(1, 0), throws(2, 0));
        assert!((0..6).all(|side| throws(1, 0).contains(&side)));
    }
}
