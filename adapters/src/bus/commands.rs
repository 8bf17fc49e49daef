//! Commands: the writes of each, and the presses that they leave behind.

use std::time::Duration;

use protocol::hardware::{Action, Command, Outcome};
use tokio::time::Instant;

use super::Bus;
use super::ask::Ask;
use super::device::Move;
use super::line::Trouble;
use super::station::{AGAIN, Press, Station};
use crate::driver::{DriverReport, Gate, open_gate};
use crate::map::Step;

/// Presses that wait for their end at the same time on one line.
const PRESSES_MAX: usize = 64;

impl Bus {
    /// See [`crate::driver::Driver::execute`].
    pub(super) async fn execute_command(
        &mut self,
        command: &Command,
        gate: &mut Gate<'_>,
        reports: &mut Vec<DriverReport>,
    ) -> Outcome {
        let id = &command.elevator_id;
        let Some(at) = self
            .stations
            .iter()
            .position(|station| &station.elevator == id)
        else {
            let detail = format!("elevator {id} is not on the line to {}", self.line.name());
            return Outcome::Failed { detail };
        };
        let station = &self.stations[at];
        let steps = match station.device.steps(command, &station.floors) {
            Ok(steps) => steps,
            Err(detail) => return Outcome::Failed { detail },
        };
        let is_query = command.action == Action::Query;
        let result = match self.reach(at, is_query, reports).await {
            Err(trouble) => Err(trouble),
            Ok(()) if is_query => self.read_whole(at, gate, reports).await,
            Ok(()) => self.write_steps(at, steps, gate, reports).await,
        };
        match result {
            Ok(()) if is_query => Outcome::Done,
            Ok(()) => Outcome::Accepted,
            Err(Trouble::Dropped(detail)) => Outcome::Dropped { detail },
            Err(trouble) => {
                let detail = trouble.to_string();
                // A unit that is busy may do it yet, or not: a reading will tell.
                if trouble.is_passing() {
                    Outcome::Unknown { detail }
                } else {
                    Outcome::Failed { detail }
                }
            }
        }
    }

    /// Ends a press. It stays in the list until the unit confirmed that or refused it.
    pub(super) async fn let_go(
        &mut self,
        at: usize,
        reports: &mut Vec<DriverReport>,
    ) -> Result<(), Trouble> {
        let Press { station, off, .. } = &self.presses[at];
        let (station, off) = (*station, Ask::from(off));
        let result = self.write(&mut open_gate, station, &off, reports).await;
        match &result {
            Ok(()) => {
                self.presses.remove(at);
            }
            Err(trouble) if !trouble.is_passing() => {
                let elevator = &self.stations[station].elevator;
                tracing::warn!(%elevator, "a pressed button cannot be let go: {trouble}");
                self.presses.remove(at);
            }
            Err(_) => self.presses[at].until = Instant::now() + AGAIN,
        }
        result
    }

    /// When a press ends, and where its unit did not answer, when that is asked again: all presses of a
    /// unit rest as long as it does.
    pub(super) fn let_go_at(&self, press: &Press) -> Instant {
        let station = &self.stations[press.station];
        let board = self.boards.get(&station.write_unit);
        let at = board.map_or(press.until, |board| board.until().max(press.until));
        let is_read = station.unit == station.write_unit;
        if is_read && station.pace.is_failing() {
            at.max(station.pace.due())
        } else {
            at
        }
    }

    /// Opens the line where that is due. A unit that rests is not asked by a `query` either:
    /// queries that wait for its time-out would starve the other units.
    async fn reach(
        &mut self,
        at: usize,
        is_query: bool,
        reports: &mut Vec<DriverReport>,
    ) -> Result<(), Trouble> {
        let Station { unit, pace, .. } = &self.stations[at];
        if let Some(rest) = pace.resting().filter(|_| is_query) {
            let detail = format!(
                "unit {unit} could not be read; next attempt in {} ms",
                rest.as_millis()
            );
            return Err(Trouble::NotOpen(detail));
        }
        if self.line.is_open() {
            return Ok(());
        }
        let rest = self
            .line
            .retry_at()
            .saturating_duration_since(Instant::now());
        if !rest.is_zero() {
            let (address, rest_ms) = (self.line.name(), rest.as_millis());
            let detail = format!("the line to {address} is down; next attempt in {rest_ms} ms");
            return Err(Trouble::NotOpen(detail));
        }
        self.open(reports).await
    }

    async fn read_whole(
        &mut self,
        at: usize,
        gate: &mut Gate<'_>,
        reports: &mut Vec<DriverReport>,
    ) -> Result<(), Trouble> {
        self.stop_sweep();
        self.stations[at].forget();
        self.begin_sweep(at);
        while self.sweep.is_some() {
            self.read_block(gate, reports).await?;
        }
        Ok(())
    }

    async fn write_steps(
        &mut self,
        at: usize,
        steps: Vec<Move>,
        gate: &mut Gate<'_>,
        reports: &mut Vec<DriverReport>,
    ) -> Result<(), Trouble> {
        // A reading that began before the command would mix what was with what is.
        if self.sweep.as_ref().is_some_and(|sweep| sweep.station == at) {
            self.stop_sweep();
        }
        // What the command does shows in the next reading as a whole.
        self.stations[at].forget();
        for (number, step) in steps.into_iter().enumerate() {
            let result = match step {
                Move::Points(step) => self.write_step(at, step, gate, reports).await,
                Move::Frame(message) => self.write(gate, at, &Ask::Frame(message), reports).await,
            };
            if let Err(Trouble::Dropped(detail)) = &result
                && number > 0
            {
                let detail = format!("only a part of it was written: {detail}");
                return Err(Trouble::Lost(detail));
            }
            result?;
        }
        Ok(())
    }

    async fn write_step(
        &mut self,
        station: usize,
        step: Step,
        gate: &mut Gate<'_>,
        reports: &mut Vec<DriverReport>,
    ) -> Result<(), Trouble> {
        let point = step.write.point();
        let is_same = |press: &Press| press.station == station && press.off.point() == point;
        if let Some(at) = self.presses.iter().position(is_same) {
            self.let_go(at, reports).await?;
        } else if step.off.is_some() && self.presses.len() >= PRESSES_MAX {
            let now = Instant::now();
            let is_awake = |press: &Press| {
                let board = self.boards.get(&self.stations[press.station].write_unit);
                board.is_some_and(|board| board.until() <= now)
            };
            let Some(at) = self.presses.iter().position(is_awake) else {
                let detail = format!("{PRESSES_MAX} buttons of the line are still to be let go");
                return Err(Trouble::NotOpen(detail));
            };
            self.let_go(at, reports).await?;
        }
        let Some((pulse_ms, off)) = step.off else {
            let write = Ask::from(&step.write);
            return self.write(gate, station, &write, reports).await;
        };
        // Noted first: where the reply is lost, the button may be pressed all the same.
        let pulse = Duration::from_millis(pulse_ms);
        self.presses.push(Press {
            until: Instant::now() + pulse,
            station,
            off,
        });
        let write = Ask::from(&step.write);
        let result = self.write(gate, station, &write, reports).await;
        let is_untried = match &result {
            Err(Trouble::Refused(refusal)) => refusal.is_untried(),
            Err(Trouble::NotOpen(_) | Trouble::BadRequest(_) | Trouble::Dropped(_)) => true,
            Err(Trouble::Lost(_)) | Ok(()) => false,
        };
        if is_untried {
            self.presses.pop();
        } else if let Some(press) = self.presses.last_mut() {
            press.until = Instant::now() + pulse;
        }
        result
    }
}
