//! Whose turn it is next.

/// A part of the world that does things by itself. At one moment they act in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Part {
    Broker,
    Gateway,
    Elevator(usize),
    Robot(usize),
}

/// It waits for others.
const NEVER: u64 = u64::MAX;

/// One moment per part. There are a few dozen parts at most: looking at all of them costs less than
/// keeping them in order.
#[derive(Debug)]
pub(super) struct Schedule {
    broker_ms: u64,
    gateway_ms: u64,
    elevators_ms: Vec<u64>,
    robots_ms: Vec<u64>,
}

impl Default for Schedule {
    fn default() -> Self {
        Self {
            broker_ms: NEVER,
            gateway_ms: NEVER,
            elevators_ms: Vec::new(),
            robots_ms: Vec::new(),
        }
    }
}

impl Schedule {
    /// Sets the moment of a part; `None` = it waits for others.
    pub(super) fn set(&mut self, part: Part, at_ms: Option<u64>) {
        *self.place(part) = at_ms.unwrap_or(NEVER);
    }

    /// The next moment of all.
    pub(super) fn next_ms(&self) -> Option<u64> {
        Some(self.first().0).filter(|at_ms| *at_ms < NEVER)
    }

    /// Takes out the next part whose moment is not after `limit_ms`.
    pub(super) fn take_due(&mut self, limit_ms: u64) -> Option<(u64, Part)> {
        let (at_ms, part) = self.first();
        if at_ms == NEVER || at_ms > limit_ms {
            return None;
        }
        self.set(part, None);
        Some((at_ms, part))
    }

    fn first(&self) -> (u64, Part) {
        let mut first = (self.broker_ms, Part::Broker);
        if self.gateway_ms < first.0 {
            first = (self.gateway_ms, Part::Gateway);
        }
        for (place, at_ms) in self.elevators_ms.iter().enumerate() {
            if *at_ms < first.0 {
                first = (*at_ms, Part::Elevator(place));
            }
        }
        for (place, at_ms) in self.robots_ms.iter().enumerate() {
            if *at_ms < first.0 {
                first = (*at_ms, Part::Robot(place));
            }
        }
        first
    }

    fn place(&mut self, part: Part) -> &mut u64 {
        let (all, place) = match part {
            Part::Broker => return &mut self.broker_ms,
            Part::Gateway => return &mut self.gateway_ms,
            Part::Elevator(place) => (&mut self.elevators_ms, place),
            Part::Robot(place) => (&mut self.robots_ms, place),
        };
        if all.len() <= place {
            all.resize(place + 1, NEVER);
        }
        &mut all[place]
    }
}
