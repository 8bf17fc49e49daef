//! Transactions, whole readings of elevators, fire inputs, and what their failure means.

use protocol::hardware::Report;

use super::Bus;
use super::ask::Ask;
use super::line::Trouble;
use super::station::{AGAIN, Station, Sweep};
use crate::driver::{DriverReport, Gate, open_gate};
use crate::rs485::Unasked;

impl Bus {
    /// One attempt to open the line. It is said to be up when a reply proved it.
    pub(super) async fn open(&mut self, reports: &mut Vec<DriverReport>) -> Result<(), Trouble> {
        let result = self.line.open().await;
        if let Err(trouble) = &result {
            self.note_down(trouble, reports);
        }
        result
    }

    /// Writes to the unit of a station.
    pub(super) async fn write(
        &mut self,
        gate: &mut Gate<'_>,
        station: usize,
        write: &Ask,
        reports: &mut Vec<DriverReport>,
    ) -> Result<(), Trouble> {
        let Station {
            unit, write_unit, ..
        } = self.stations[station];
        let result = self.line.write(gate, write_unit, write).await;
        self.judge(&result, reports);
        let misses_max = self.line.misses_max();
        let is_open = self.line.is_open();
        let Some(board) = self.boards.get_mut(&write_unit) else {
            return result;
        };
        match &result {
            // An exception is an answer: it says something of the point, nothing of the unit.
            Ok(()) | Err(Trouble::Refused(_)) => board.succeed(),
            Err(Trouble::BadRequest(_) | Trouble::Dropped(_)) => {}
            // Over a line that is open: it did not answer what was asked before it.
            Err(Trouble::NotOpen(_)) if !is_open => {}
            Err(trouble @ (Trouble::NotOpen(_) | Trouble::Lost(_))) => {
                if board.miss(misses_max) {
                    tracing::warn!(
                        unit = write_unit,
                        "does not take what is written: {trouble}"
                    );
                }
                // What a relay board does says nothing of the unit that is read.
                if unit == write_unit && matches!(trouble, Trouble::Lost(_)) {
                    self.miss(station, trouble, reports);
                }
            }
        }
        result
    }

    /// Begins a reading of what is due of a station.
    pub(super) fn begin_sweep(&mut self, at: usize) {
        let asked_ms = (self.clock)();
        let station = &mut self.stations[at];
        station.pace.start();
        self.sweep = Some(Sweep::new(at, station, asked_ms));
    }

    /// Gives the reading under way up; it begins anew at once.
    pub(super) fn stop_sweep(&mut self) {
        if let Some(sweep) = self.sweep.take() {
            self.stations[sweep.station].pace.hurry();
        }
    }

    /// Reads the next block of the reading under way; after the last one, reports the reading.
    pub(super) async fn read_block(
        &mut self,
        gate: &mut Gate<'_>,
        reports: &mut Vec<DriverReport>,
    ) -> Result<(), Trouble> {
        let Some(mut sweep) = self.sweep.take() else {
            return Ok(());
        };
        let at = sweep.station;
        let Some(block) = sweep.next() else {
            return Ok(());
        };
        let Station { unit, device, .. } = &self.stations[at];
        let (unit, ask) = (*unit, device.ask(block));
        let result = self.line.read(gate, unit, &ask).await;
        self.judge(&result, reports);
        match result {
            Err(trouble @ Trouble::Dropped(_)) => {
                self.stations[at].pace.hurry();
                return Err(trouble);
            }
            Err(trouble) => {
                self.miss(at, &trouble, reports);
                return Err(trouble);
            }
            Ok(points) => sweep.add(block, points),
        }
        if sweep.next().is_some() {
            self.sweep = Some(sweep);
            return Ok(());
        }
        let station = &mut self.stations[at];
        station.pace.succeed();
        station.misses = 0;
        let asked_ms = station.take(sweep);
        let reading = station.device.reading(&station.image, &station.floors);
        say_link(station, true, reports);
        reports.push(DriverReport::Elevator {
            elevator: station.elevator.clone(),
            report: Report::Reading {
                reading,
                asked_ms: Some(asked_ms),
            },
        });
        Ok(())
    }

    /// Reads a fire input. What cannot be read for `fire_lost_ms` is not clear (`wire.md` section 7).
    pub(super) async fn read_zone(
        &mut self,
        at: usize,
        reports: &mut Vec<DriverReport>,
    ) -> Result<(), Trouble> {
        let zone = &mut self.zones[at];
        zone.pace.start();
        let result = self
            .line
            .read(&mut open_gate, zone.input.unit, &zone.block().into())
            .await;
        let clear = match &result {
            Ok(points) => {
                zone.pace.succeed();
                zone.read_ms = (self.clock)();
                Some(points.first() == Some(&zone.input.clear))
            }
            Err(trouble) => {
                if !zone.pace.is_failing() {
                    let zone = &zone.input.zone;
                    tracing::warn!(%zone, "fire input cannot be read: {trouble}");
                }
                zone.pace.fail();
                zone.is_lost((self.clock)(), self.fire_lost_ms)
                    .then_some(false)
            }
        };
        if let Some(clear) = clear {
            let zone = zone.input.zone.clone();
            reports.push(DriverReport::ZoneFire { zone, clear });
        }
        self.judge(&result, reports);
        result.map(|_| ())
    }

    /// What a transaction says of the line. Any answer proves it. Where it was closed, no reading
    /// goes on.
    fn judge<T>(&mut self, result: &Result<T, Trouble>, reports: &mut Vec<DriverReport>) {
        self.tell_unasked(reports);
        match result {
            Ok(_) | Err(Trouble::Refused(_)) => self.say_bus(true, reports),
            Err(Trouble::BadRequest(_) | Trouble::Dropped(_)) => {}
            Err(trouble @ (Trouble::NotOpen(_) | Trouble::Lost(_))) => {
                if !self.line.is_open() {
                    self.stop_sweep();
                }
                self.note_down(trouble, reports);
            }
        }
    }

    /// What units reported without being asked. It causes a query, or takes a permission away; it is
    /// no reading, since nobody knows how old it is.
    pub(super) fn tell_unasked(&mut self, reports: &mut Vec<DriverReport>) {
        for Unasked { unit, payload } in self.line.take_unasked() {
            let known = |station: &&Station| station.unit == unit;
            let Some(station) = self.stations.iter().find(known) else {
                continue;
            };
            if let Some(change) = station.device.change(&payload, &station.floors) {
                reports.push(DriverReport::Elevator {
                    elevator: station.elevator.clone(),
                    report: Report::Change(change),
                });
            }
        }
    }

    /// A request got no good answer. On a line where noise takes one now and then the unit is asked
    /// again soon, each time a little later: one that is late once is not lost by that.
    fn miss(&mut self, at: usize, trouble: &Trouble, reports: &mut Vec<DriverReport>) {
        let misses_max = self.line.misses_max();
        let station = &mut self.stations[at];
        station.misses = station.misses.saturating_add(1);
        let is_over = station.misses >= misses_max || station.pace.is_failing();
        if is_over || !trouble.is_passing() || !self.line.is_open() {
            self.fail_station(at, trouble, reports);
        } else {
            let owes_for = self.line.owes_for(station.unit);
            station.pace.again(owes_for.max(AGAIN * station.misses));
        }
    }

    fn fail_station(&mut self, at: usize, trouble: &Trouble, reports: &mut Vec<DriverReport>) {
        let station = &mut self.stations[at];
        station.pace.fail();
        if station.link != Some(false) {
            tracing::warn!(elevator = %station.elevator, "does not answer: {trouble}");
        }
        say_link(station, false, reports);
    }

    /// Where the line is down, so is all that is on it.
    fn note_down(&mut self, trouble: &Trouble, reports: &mut Vec<DriverReport>) {
        if !self.line.is_down() {
            return;
        }
        if self.bus != Some(false) {
            tracing::warn!(line = self.line.name(), "is down: {trouble}");
        }
        self.say_bus(false, reports);
        for station in &mut self.stations {
            say_link(station, false, reports);
        }
        let now_ms = (self.clock)();
        for zone in &self.zones {
            if zone.is_lost(now_ms, self.fire_lost_ms) {
                let zone = zone.input.zone.clone();
                reports.push(DriverReport::ZoneFire { zone, clear: false });
            }
        }
    }

    fn say_bus(&mut self, up: bool, reports: &mut Vec<DriverReport>) {
        if self.bus != Some(up) {
            self.bus = Some(up);
            reports.push(DriverReport::Bus { up });
        }
    }
}

fn say_link(station: &mut Station, up: bool, reports: &mut Vec<DriverReport>) {
    if station.link != Some(up) {
        if up && station.link == Some(false) {
            tracing::info!(elevator = %station.elevator, "answers again");
        }
        station.link = Some(up);
        // Of what was asked for before nothing counts any more.
        station.forget();
        let elevator = station.elevator.clone();
        reports.push(DriverReport::Elevator {
            elevator,
            report: Report::Link { up },
        });
    }
}
