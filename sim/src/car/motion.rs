//! Where a car is, where it goes next, and what it does on arrival.

use protocol::hardware::{Door, Mode};

use super::travel::{Trip, whole_ms};
use super::{Car, CarEvent};

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Place {
    Standing { floor: usize },
    Travelling(Travel),
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Travel {
    pub(super) from: usize,
    pub(super) to: usize,
    /// Where the calls wanted it, unless it goes to the wrong floor.
    pub(super) meant: usize,
    pub(super) trip: Trip,
    pub(super) started_ms: u64,
    /// How far in time it was when it got stuck.
    pub(super) stuck_at_ms: Option<u64>,
}

impl Car {
    pub(super) fn travel_on(&mut self, travel: &Travel) {
        if travel.stuck_at_ms.is_some() {
            return;
        }
        let elapsed_ms = self.now_ms - travel.started_ms;
        if elapsed_ms < travel.trip.total_ms() {
            let floor = self.floor_at(travel, elapsed_ms);
            self.note(CarEvent::Passed {
                floor: self.config.floors[floor].label.clone(),
            });
            return;
        }
        self.place = Place::Standing { floor: travel.to };
        self.note(CarEvent::Arrived {
            floor: self.config.floors[travel.to].label.clone(),
        });
        if travel.to != travel.meant {
            // It believes to be where it was wanted: it serves the calls of that floor here.
            let meant: Vec<_> = self
                .calls
                .iter()
                .filter(|press| press.floor == travel.meant)
                .copied()
                .collect();
            for press in meant {
                self.unlight(press);
                self.open(press.side);
            }
        }
    }

    /// Serves what can be served without time passing: opens for calls at this floor, or leaves for
    /// the next.
    pub(super) fn settle(&mut self) {
        let Place::Standing { floor } = self.place else {
            return;
        };
        if self.mode == Mode::Fire {
            self.settle_fire(floor);
            return;
        }
        if !self.faults.refuses_to_open() {
            let here: Vec<_> = self
                .calls
                .iter()
                .filter(|press| press.floor == floor)
                .copied()
                .collect();
            for press in here {
                self.unlight(press);
                self.open(press.side);
            }
        }
        if self.is_shut()
            && !self.faults.stuck
            && let Some(to) = self.next_stop(floor)
        {
            self.depart(floor, to);
        }
    }

    fn settle_fire(&mut self, floor: usize) {
        let Some(recall) = self.config.recall.clone() else {
            return;
        };
        let Some(to) = self.config.index(&recall) else {
            return;
        };
        if floor == to {
            for side in self.config.floors[to].sides.clone() {
                if self.door(side).seen() == Door::Closed {
                    self.open(side);
                }
            }
        } else if self.is_shut() && !self.faults.stuck {
            self.depart(floor, to);
        }
    }

    /// Keeps its way while calls lie ahead, nearest first.
    fn next_stop(&mut self, floor: usize) -> Option<usize> {
        let ahead = self
            .calls
            .iter()
            .map(|press| press.floor)
            .filter(|to| *to > floor)
            .min();
        let behind = self
            .calls
            .iter()
            .map(|press| press.floor)
            .filter(|to| *to < floor)
            .max();
        let to = if self.going_up {
            ahead.or(behind)
        } else {
            behind.or(ahead)
        }?;
        self.going_up = to > floor;
        Some(to)
    }

    fn depart(&mut self, from: usize, meant: usize) {
        let to = self
            .faults
            .take_wrong_floor(meant, self.config.floors.len());
        if to == from {
            // Wrong by so much that it stays: it opens here as if it had arrived.
            let at = Travel {
                from,
                to,
                meant,
                trip: self.config.trip(0.0),
                started_ms: self.now_ms,
                stuck_at_ms: None,
            };
            self.place = Place::Travelling(at);
            self.travel_on(&at);
            return;
        }
        let distance_m = self.config.floors[to].height_m - self.config.floors[from].height_m;
        let trip = self.config.trip(distance_m);
        self.note(CarEvent::Departed {
            floor: self.config.floors[from].label.clone(),
            up: to > from,
        });
        for robot in self.doorway.keys().cloned().collect::<Vec<_>>() {
            self.note(CarEvent::MovedFromDoorway { robot });
        }
        let started_ms = self.now_ms;
        self.place = Place::Travelling(Travel {
            from,
            to,
            meant,
            trip,
            started_ms,
            stuck_at_ms: None,
        });
    }

    pub(super) fn next_on_the_way_ms(&self, travel: &Travel) -> Option<u64> {
        if travel.stuck_at_ms.is_some() {
            return None;
        }
        let elapsed_ms = self.now_ms.saturating_sub(travel.started_ms);
        let start_m = self.config.floors[travel.from].height_m;
        let (low, high) = (travel.from.min(travel.to), travel.from.max(travel.to));
        let middles = self.config.floors[low..=high]
            .windows(2)
            .map(|pair| ((pair[0].height_m + pair[1].height_m) / 2.0 - start_m).abs())
            .map(|metres| travel.trip.elapsed_at(metres))
            .filter(|at_ms| *at_ms > elapsed_ms);
        middles
            .chain([travel.trip.total_ms()])
            .min()
            .map(|at_ms| travel.started_ms + at_ms)
    }

    /// The floor that lies nearest.
    pub(super) fn floor_at(&self, travel: &Travel, elapsed_ms: u64) -> usize {
        let floors = self.config.floors.len();
        let gone_m = travel.trip.distance_at(elapsed_ms);
        let sign = if travel.to > travel.from { 1.0 } else { -1.0 };
        let height_m = self.config.floors[travel.from].height_m + sign * gone_m;
        // Halfway it is the one ahead.
        let far = |floor: &usize| {
            let behind = if travel.to > travel.from {
                floors - floor
            } else {
                *floor
            };
            (
                whole_ms((self.config.floors[*floor].height_m - height_m).abs()),
                behind,
            )
        };
        (0..floors).min_by_key(far).unwrap_or(travel.from)
    }
}
