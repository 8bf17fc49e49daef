//! Chance with a seed: the same seed, the same run.

/// A stream of numbers (SplitMix64).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Dice {
    state: u64,
}

impl Dice {
    /// The stream of a seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// Any 64 bits.
    pub fn roll(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number of `low..=high`; `low` where the range is empty.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        let width = high.saturating_sub(low).saturating_add(1);
        low + self.roll() % width.max(1)
    }

    /// True in `permille` of 1,000 throws.
    pub fn happens(&mut self, permille: u64) -> bool {
        self.roll() % 1_000 < permille
    }

    /// A span until the next of events that come by themselves with this mean, in milliseconds.
    pub fn exponential_ms(&mut self, mean_ms: u64) -> u64 {
        // 53 random bits make a number of [0, 1) exactly; the result fits, being below 40 means.
        #[allow(clippy::cast_precision_loss)]
        let unit = (self.roll() >> 11) as f64 / (1_u64 << 53) as f64;
        #[allow(clippy::cast_precision_loss)]
        let span_ms = -(1.0 - unit).ln() * mean_ms as f64;
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let span_ms = span_ms as u64;
        span_ms
    }
}
