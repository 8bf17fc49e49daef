//! What becomes visible, and when: after its cause is durable, acknowledged in order, and the same
//! again after a crash.

use std::collections::VecDeque;

use super::law::{Found, Law};
use super::model::{Before, Model};

/// A message of the ingest connection that is not acknowledged.
#[derive(Debug, Clone)]
struct Waiting {
    packet: u64,
    /// The last record of the step that it led to; `None` before that step.
    appended: Option<u64>,
}

/// The acknowledgements of the present connection, and what is durable.
#[derive(Debug, Clone, Default)]
pub(super) struct Edge {
    epoch: u64,
    line: VecDeque<Waiting>,
    durable: u64,
    appended: u64,
}

impl Edge {
    pub(super) fn delivered(&mut self, epoch: u64, packet: u64) {
        if epoch != self.epoch {
            self.epoch = epoch;
            self.line.clear();
        }
        self.line.push_back(Waiting {
            packet,
            appended: None,
        });
    }

    pub(super) fn stepped(&mut self, ticket: Option<(u64, u64)>, appended: u64) {
        self.appended = appended;
        let Some((epoch, packet)) = ticket.filter(|(epoch, _)| *epoch == self.epoch) else {
            return;
        };
        let _ = epoch;
        let waits = self.line.iter_mut().rev();
        for waiting in waits.filter(|waiting| waiting.packet == packet).take(1) {
            waiting.appended = Some(appended);
        }
    }

    pub(super) fn acknowledged(&mut self, epoch: u64, packet: u64, found: &mut Found) {
        if epoch != self.epoch {
            found.add(
                Law::I7,
                format!("{packet} is acknowledged on connection {epoch}"),
            );
            return;
        }
        let Some(first) = self.line.pop_front() else {
            found.add(
                Law::I7,
                format!("{packet} is acknowledged and was not delivered"),
            );
            return;
        };
        found.check(first.packet == packet, Law::I7, || {
            format!("{packet} is acknowledged before {}", first.packet)
        });
        let durable = self.durable;
        found.check(first.appended.unwrap_or(0) <= durable, Law::I7, || {
            format!("{packet} is acknowledged, its facts are not durable")
        });
    }

    pub(super) fn released(&self, waits_for: u64, found: &mut Found) {
        found.check(waits_for <= self.durable, Law::I8, || {
            format!(
                "seen before record {waits_for} is durable, {} is",
                self.durable
            )
        });
    }

    pub(super) fn synced(&mut self, seq: u64) {
        self.durable = self.durable.max(seq);
    }

    pub(super) fn started(&mut self, last: u64, same: Option<bool>, found: &mut Found) {
        found.check(last >= self.durable, Law::I14, || {
            format!("record {} was durable, {last} is the last", self.durable)
        });
        found.check(same != Some(false), Law::I14, || {
            format!("what the journal gives back up to record {last} is another state")
        });
        self.durable = last;
        self.appended = last;
        self.line.clear();
    }

    pub(super) fn ended(detail: &str, disk_failed: bool, found: &mut Found) {
        found.check(disk_failed, Law::I18, || {
            format!("the gateway ended: {detail}")
        });
    }
}

impl Model {
    /// Everything up to a record is there for good.
    pub(super) fn synced(&mut self, seq: u64) {
        self.durable = self.durable.max(seq);
        while self.tail.front().is_some_and(|(at, _)| *at <= seq) {
            self.tail.pop_front();
        }
    }

    /// The process is gone, and all after a record.
    pub(super) fn crashed(&mut self, survived: u64) {
        while let Some((_, before)) = self.tail.pop_back_if(|(at, _)| *at > survived) {
            self.undo(before);
        }
        self.tail.clear();
        self.durable = survived;
        self.appended = survived;
    }

    fn undo(&mut self, before: Before) {
        match before {
            Before::Ride(order, Some(ride)) => {
                self.is_queued(&order, ride.state == protocol::ride::RideState::Queued);
                self.rides.insert(order, *ride);
            }
            Before::Ride(order, None) => {
                self.is_queued(&order, false);
                self.rides.remove(&order);
            }
            Before::Car(elevator, kept) => {
                if let Some(car) = self.cars.get_mut(&elevator) {
                    car.kept = kept;
                }
            }
            Before::Robot(robot, order) => {
                self.robots.entry(robot).or_default().order = order;
            }
            Before::Zone(zone, (burning, suspended)) => {
                if let Some(zone) = self.zones.get_mut(&zone) {
                    (zone.burning, zone.suspended) = (burning, suspended);
                }
            }
        }
    }
}
