//! How long a car takes from one height to another, and where it is meanwhile.

/// One trip between two heights.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Trip {
    /// Metres, never negative.
    distance_m: f64,
    pace: Pace,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Pace {
    /// Speeds up, goes on at the peak speed, slows down as it sped up.
    Physical {
        peak_m_s: f64,
        acceleration_m_s2: f64,
        total_s: f64,
    },
    /// The same time for every trip, at an even speed.
    Fixed { total_s: f64 },
}

impl Trip {
    /// A trip with the car's own limits.
    pub(super) fn physical(distance_m: f64, speed_m_s: f64, acceleration_m_s2: f64) -> Self {
        let distance_m = distance_m.abs();
        let peak_m_s = speed_m_s.min((distance_m * acceleration_m_s2).sqrt());
        let total_s = if peak_m_s > 0.0 {
            distance_m / peak_m_s + peak_m_s / acceleration_m_s2
        } else {
            0.0
        };
        Self {
            distance_m,
            pace: Pace::Physical {
                peak_m_s,
                acceleration_m_s2,
                total_s,
            },
        }
    }

    /// A trip that takes a fixed time, whatever its length.
    pub(super) fn fixed(distance_m: f64, total_s: f64) -> Self {
        Self {
            distance_m: distance_m.abs(),
            pace: Pace::Fixed { total_s },
        }
    }

    /// How long it takes, in milliseconds, rounded up.
    pub(super) fn total_ms(&self) -> u64 {
        match self.pace {
            Pace::Physical { total_s, .. } | Pace::Fixed { total_s } => whole_ms(total_s),
        }
    }

    /// How far the car is after `elapsed_ms`, in metres.
    pub(super) fn distance_at(&self, elapsed_ms: u64) -> f64 {
        let t = seconds(elapsed_ms);
        match self.pace {
            Pace::Fixed { total_s } if t < total_s => self.distance_m * t / total_s,
            Pace::Physical {
                peak_m_s,
                acceleration_m_s2,
                total_s,
            } if t < total_s => {
                let ramp_s = peak_m_s / acceleration_m_s2;
                if t < ramp_s {
                    acceleration_m_s2 * t * t / 2.0
                } else if t <= total_s - ramp_s {
                    peak_m_s * (t - ramp_s / 2.0)
                } else {
                    let rest_s = total_s - t;
                    self.distance_m - acceleration_m_s2 * rest_s * rest_s / 2.0
                }
            }
            Pace::Fixed { .. } | Pace::Physical { .. } => self.distance_m,
        }
    }

    /// When the car has gone `metres`, in milliseconds after its start, rounded up; the end of the
    /// trip for what lies beyond it.
    pub(super) fn elapsed_at(&self, metres: f64) -> u64 {
        if metres >= self.distance_m {
            return self.total_ms();
        }
        let t = match self.pace {
            Pace::Fixed { total_s } => total_s * metres / self.distance_m,
            Pace::Physical {
                peak_m_s,
                acceleration_m_s2,
                total_s,
            } => {
                let ramp_s = peak_m_s / acceleration_m_s2;
                let ramp_m = peak_m_s * ramp_s / 2.0;
                if metres < ramp_m {
                    (2.0 * metres / acceleration_m_s2).sqrt()
                } else if metres <= self.distance_m - ramp_m {
                    metres / peak_m_s + ramp_s / 2.0
                } else {
                    total_s - (2.0 * (self.distance_m - metres) / acceleration_m_s2).sqrt()
                }
            }
        };
        whole_ms(t)
    }
}

/// Milliseconds of a span in seconds, rounded up; 0 for a negative one.
pub(super) fn whole_ms(seconds: f64) -> u64 {
    // A car's spans are hours at most, far below 2^53 ms; `as` saturates beyond.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let ms = (seconds.max(0.0) * 1000.0 - 1e-6).ceil() as u64;
    ms
}

fn seconds(ms: u64) -> f64 {
    // Below 2^53 ms, see `whole_ms`.
    #[allow(clippy::cast_precision_loss)]
    let seconds = ms as f64 / 1000.0;
    seconds
}

#[cfg(test)]
mod tests {
    use super::Trip;

    #[test]
    fn a_long_trip_has_two_ramps_and_a_cruise() {
        // 1.6 m/s at 0.8 m/s2: 2 s and 1.6 m for each ramp; 16 m: 12.8 m of cruise in 8 s.
        let trip = Trip::physical(16.0, 1.6, 0.8);
        assert_eq!(trip.total_ms(), 12_000);
        assert!((trip.distance_at(2_000) - 1.6).abs() < 1e-9);
        assert!((trip.distance_at(6_000) - 8.0).abs() < 1e-9);
        assert!((trip.distance_at(12_000) - 16.0).abs() < 1e-9);
        assert_eq!(trip.elapsed_at(1.6), 2_000);
        assert_eq!(trip.elapsed_at(8.0), 6_000);
        assert_eq!(trip.elapsed_at(99.0), 12_000);
    }

    #[test]
    fn a_short_trip_never_reaches_full_speed() {
        // 0.8 m at 0.8 m/s2: 1 s up to 0.8 m/s, 1 s down.
        let trip = Trip::physical(0.8, 1.6, 0.8);
        assert_eq!(trip.total_ms(), 2_000);
        assert!((trip.distance_at(1_000) - 0.4).abs() < 1e-9);
        assert_eq!(trip.elapsed_at(0.4), 1_000);
    }

    #[test]
    fn a_fixed_trip_takes_its_time_whatever_its_length() {
        assert_eq!(Trip::fixed(3.0, 0.02).total_ms(), 20);
        assert_eq!(Trip::fixed(30.0, 60.0).total_ms(), 60_000);
        assert_eq!(Trip::fixed(30.0, 60.0).elapsed_at(15.0), 30_000);
    }
}
