//! How fast the building's time runs, and what its seconds are in ours.

use std::time::Duration;

use tokio::time::Instant;

/// The slowest and the fastest pace that makes sense: below, nothing seems to happen; above, a
/// wait of the building is shorter than a turn of the scheduler.
pub const SPEED_MIN: f64 = 0.1;
/// See [`SPEED_MIN`].
pub const SPEED_MAX: f64 = 100.0;

/// The shortest time that an open door stays open by itself, in our time: a gateway that does not
/// get the processor for a moment still sees it.
const DWELL_MIN: Duration = Duration::from_secs(5);

/// Why a number is no speed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("speed {0} is not {SPEED_MIN} to {SPEED_MAX}")]
pub struct SpeedError(f64);

/// The building's clock: it starts at 0 and runs `speed` times as fast as ours.
#[derive(Debug, Clone, Copy)]
pub struct Pace {
    start: Instant,
    speed: f64,
}

impl Pace {
    /// A clock that starts here.
    ///
    /// # Errors
    /// [`SpeedError`] for a speed outside [`SPEED_MIN`] to [`SPEED_MAX`].
    pub fn new(speed: f64) -> Result<Self, SpeedError> {
        if (SPEED_MIN..=SPEED_MAX).contains(&speed) {
            Ok(Self {
                start: Instant::now(),
                speed,
            })
        } else {
            Err(SpeedError(speed))
        }
    }

    /// How many of the building's seconds pass in one of ours.
    #[must_use]
    pub fn speed(&self) -> f64 {
        self.speed
    }

    /// Our time since the clock's start.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }

    /// The building's time, in milliseconds.
    #[must_use]
    pub fn now_ms(&self) -> u64 {
        whole_ms(self.start.elapsed().as_secs_f64() * self.speed * 1000.0)
    }

    /// The dwell of a car's door in the building's seconds: `dwell_s`, but at least 5 s of ours. It
    /// costs a ride nothing, because a door that is told to close does not dwell.
    #[must_use]
    pub fn dwell_s(&self, dwell_s: f64) -> f64 {
        dwell_s.max(DWELL_MIN.as_secs_f64() * self.speed)
    }

    /// How long so many of the building's milliseconds last for us.
    #[must_use]
    pub fn ours(&self, building_ms: u64) -> Duration {
        Duration::from_millis(building_ms).div_f64(self.speed)
    }

    /// How many of the building's milliseconds pass in so much of our time.
    #[must_use]
    pub fn theirs_ms(&self, ours: Duration) -> u64 {
        whole_ms(ours.as_secs_f64() * self.speed * 1000.0)
    }
}

/// A number of milliseconds from 0; a run lasts far less than 2^53 of them.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn whole_ms(ms: f64) -> u64 {
    ms.max(0.0) as u64
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn ten_times_as_fast() {
        let pace = Pace::new(10.0).unwrap();
        assert_eq!(pace.ours(5_000), Duration::from_millis(500));
        assert_eq!(pace.theirs_ms(Duration::from_millis(20)), 200);
    }

    #[test]
    fn a_door_dwells_long_enough_to_be_seen() {
        assert_eq!(Pace::new(1.0).unwrap().dwell_s(6.0), 6.0);
        assert_eq!(Pace::new(20.0).unwrap().dwell_s(6.0), 100.0);
    }

    #[test]
    fn a_speed_out_of_range_is_named() {
        assert_eq!(
            Pace::new(0.0).unwrap_err().to_string(),
            "speed 0 is not 0.1 to 100"
        );
        assert!(Pace::new(f64::NAN).is_err());
    }
}
