//! What may go wrong on the way through a broker without anything being lost: messages that come
//! twice, late, or past those of other topics. Within one topic the order stays.

use std::collections::BTreeMap;

use crate::world::dice::Dice;

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
pub struct Weather {
    /// Messages of 1,000 that are routed twice: a second publish, without DUP.
    pub twice_permille: u16,
    /// Messages of 1,000 that are late on the way to a client.
    pub late_permille: u16,
    /// How late at most, in milliseconds.
    pub late_max_ms: u32,
    /// What was on its way to the broker when its connection ended is lost.
    pub lossy: bool,
}

/// What truly happened to messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Mishaps {
    /// Sent again after a connection ended before their acknowledgement: DUP is set.
    pub redelivered: u64,
    /// Routed twice.
    pub twice: u64,
    /// Came late.
    pub late: u64,
    /// Of these, passed by one of another topic.
    pub reordered: u64,
    /// Acknowledgements that the end of a connection took away.
    pub acks_lost: u64,
    /// Messages to the broker that the end of a connection took away.
    pub lost_before_ack: u64,
    /// Messages that waited because a client did not read.
    pub waited: u64,
}

/// Weather at work.
#[derive(Debug, Default)]
pub(super) struct Sky {
    weather: Weather,
    dice: Dice,
    /// When the last message of each topic arrives at each client.
    lanes: BTreeMap<(String, String), u64>,
    /// When the last message of any topic arrives at a client.
    last: BTreeMap<String, u64>,
    /// Clients that read nothing until then.
    stalled: BTreeMap<String, u64>,
    pub(super) mishaps: Mishaps,
}

impl Sky {
    /// From here on the weather is this, by the chance of a seed.
    pub(super) fn set(&mut self, weather: Weather, seed: u64) {
        self.weather = weather;
        self.dice = Dice::new(seed);
    }

    /// A client reads nothing until then.
    pub(super) fn stall(&mut self, client: &str, until_ms: u64) {
        self.stalled.insert(client.to_owned(), until_ms);
    }

    /// All that was late is done with: every client reads, nothing is late any more.
    pub(super) fn clear(&mut self) {
        self.weather = Weather::default();
        self.stalled.clear();
    }

    /// Whether a message is routed twice.
    pub(super) fn twice(&mut self) -> bool {
        let permille = self.weather.twice_permille;
        let twice = permille > 0 && self.dice.happens(u64::from(permille));
        self.mishaps.twice += u64::from(twice);
        twice
    }

    /// Whether a message is lost whose connection ended behind it.
    pub(super) fn loses(&mut self) -> bool {
        self.mishaps.lost_before_ack += u64::from(self.weather.lossy);
        self.weather.lossy
    }

    /// When something for a client may arrive that would at `at_ms`.
    pub(super) fn read_ms(&mut self, client: &str, at_ms: u64) -> u64 {
        match self.stalled.get(client) {
            Some(until_ms) if *until_ms > at_ms => {
                self.mishaps.waited += 1;
                *until_ms
            }
            Some(_) => {
                self.stalled.remove(client);
                at_ms
            }
            None => at_ms,
        }
    }

    /// When a message arrives that would at `at_ms`: later in bad weather, and never before an
    /// earlier one of its topic.
    pub(super) fn arrival_ms(&mut self, client: &str, topic: &str, at_ms: u64) -> u64 {
        let at_ms = self.read_ms(client, at_ms);
        if self.weather.late_permille == 0 && self.lanes.is_empty() {
            return at_ms;
        }
        let late = self.weather.late_permille > 0
            && self.dice.happens(u64::from(self.weather.late_permille));
        let extra_ms = if late {
            self.mishaps.late += 1;
            self.dice.between(1, u64::from(self.weather.late_max_ms))
        } else {
            0
        };
        let lane = (client.to_owned(), topic.to_owned());
        let before_ms = self.lanes.get(&lane).copied().unwrap_or(0);
        let arrives_ms = before_ms.max(at_ms + extra_ms);
        if arrives_ms > at_ms {
            self.lanes.insert(lane, arrives_ms);
        } else {
            self.lanes.remove(&lane);
        }
        if self.weather.late_permille == 0 {
            self.lanes.retain(|_, ms| *ms > at_ms);
        }
        let last = self.last.entry(client.to_owned()).or_default();
        self.mishaps.reordered += u64::from(arrives_ms < *last);
        *last = (*last).max(arrives_ms);
        arrives_ms
    }
}
