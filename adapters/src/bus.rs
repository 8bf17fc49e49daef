//! The owner of a line: elevators behind one connection or on one serial line, each a Modbus unit with
//! a register map, or each a unit that speaks the frames of its maker.
//!
//! The owner polls; `accepted` says that the unit confirmed the writes, never that anything moved
//! (T-LIFT-42). One transaction is on the wire at a time, and between two block reads of a poll a
//! command may go first. A unit that does not answer is left alone for a growing while, so that it
//! cannot starve the others (T-LIFT-40); a line that cannot be opened takes all of them along.

mod ask;
mod commands;
mod config;
mod device;
mod failure;
mod line;
mod link;
mod load;
mod polls;
mod station;
mod tcp;
mod visit;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use protocol::hardware::{Command, Outcome};
use tokio::time::{Instant, sleep_until, timeout};

use self::line::Line;
use self::link::Link;
use self::station::{Board, Pace, Press, Station, Sweep, ZoneStation};
use crate::backoff::{Backoff, Bounds};
use crate::driver::{BoxFuture, Clock, Driver, DriverReport, Gate, open_gate};
use crate::map::{Image, MapError};
use crate::rs485::FrameProfile;
use crate::rtu::{LineFigures, UnitFigures};

pub use self::config::{LineConfig, LineTiming, Transport, Unit, ZoneInput};
pub use self::device::Device;
pub use self::link::{Opened, Opener, Wire};
pub use self::load::{poll_load_permille, zone_load_permille};
pub use self::visit::{NoReply, Visit, reads_of};

/// How often a zone's fire input is read, in milliseconds.
const ZONE_POLL_MS: u64 = 250;
/// How long `finish` may take, in milliseconds: within the 15 s of a SIGTERM.
const FINISH_MS: u64 = 2_000;
/// How long a line without anything on it waits for nothing, in seconds.
const IDLE_S: u64 = 60;
/// How often the figures of a line go into the log, in seconds.
const FIGURES_S: u64 = 600;

/// A line and its owner.
pub struct Bus {
    line: Line,
    clock: Clock,
    stations: Vec<Station>,
    /// The units that take what is written, by their numbers.
    boards: BTreeMap<u8, Board>,
    zones: Vec<ZoneStation>,
    /// The reading under way.
    sweep: Option<Sweep>,
    /// Pressed buttons that are still to be let go.
    presses: Vec<Press>,
    /// What was said of the line last.
    bus: Option<bool>,
    /// Without a reading of a fire input, until its signal is lost.
    fire_lost_ms: u64,
    /// The figures are told then.
    tell_at: Instant,
}

/// What is due next.
enum Due {
    Block,
    LetGo(usize),
    Nothing,
    Open,
    Station(usize),
    Zone(usize),
}

impl Bus {
    /// A line, still closed. `clock` is the gateway's, for `asked_ms`.
    ///
    /// # Errors
    /// The floors of a unit that its map does not fit; `hallcall check` finds the same.
    pub fn new(config: LineConfig, clock: Clock) -> Result<Self, Vec<MapError>> {
        let maker = maker_of(&config.units);
        let wait_ms = config.timing.request_ms;
        let link = Link::new(config.transport.clone(), maker, wait_ms);
        Self::with(link, config, clock)
    }

    /// As [`Bus::new`], with frames over whatever `opener` opens; the transport of `config` only
    /// names it.
    ///
    /// # Errors
    /// As [`Bus::new`].
    pub fn over(opener: Opener, config: LineConfig, clock: Clock) -> Result<Self, Vec<MapError>> {
        let maker = maker_of(&config.units);
        let link = Link::over(opener, maker, config.timing.request_ms);
        Self::with(link, config, clock)
    }

    fn with(link: Link, config: LineConfig, clock: Clock) -> Result<Self, Vec<MapError>> {
        let LineConfig {
            transport,
            units,
            zones,
            timing,
            seed,
        } = config;
        let bounds = Bounds {
            min_ms: timing.backoff_min_ms,
            max_ms: timing.unit_backoff_max_ms,
        };
        let mut last_seed = seed;
        let mut backoff = || {
            last_seed = last_seed.wrapping_add(1);
            Backoff::new(bounds, last_seed)
        };
        let mut stations = Vec::with_capacity(units.len());
        for Unit {
            elevator,
            unit,
            relay_unit,
            device,
            floors,
        } in units
        {
            device.check_floors(&floors)?;
            let groups = device.groups();
            stations.push(Station {
                elevator,
                unit,
                write_unit: relay_unit.unwrap_or(unit),
                floors: device.floor_table(&floors),
                read: vec![None; groups.len()],
                groups,
                image: Image::new(),
                pace: Pace::new(Duration::from_millis(device.poll_ms()), backoff()),
                device,
                link: None,
                misses: 0,
            });
        }
        let written = stations.iter().map(|station| station.write_unit);
        let boards = written.map(|unit| (unit, Board::new(backoff()))).collect();
        let zone_poll = Duration::from_millis(ZONE_POLL_MS);
        let zones = zones
            .into_iter()
            .map(|input| ZoneStation {
                input,
                pace: Pace::new(zone_poll, backoff()),
                read_ms: clock(),
            })
            .collect();
        let line = Line::new(transport.place(), link, timing, seed);
        Ok(Self {
            line,
            clock,
            stations,
            boards,
            zones,
            sweep: None,
            presses: Vec::new(),
            bus: None,
            fire_lost_ms: timing.fire_lost_ms,
            tell_at: Instant::now() + Duration::from_secs(FIGURES_S),
        })
    }

    /// How much of the line's time was used and how its units answered, since this was asked last.
    pub fn take_figures(&mut self) -> LineFigures {
        self.line.take_figures()
    }

    /// What is due next, and when: what has waited longest. A reading under way counts from its
    /// beginning, so that nothing that becomes due later cuts it short.
    fn next(&self) -> (Instant, Due) {
        if !self.line.is_open() {
            return (self.line.retry_at(), Due::Open);
        }
        let presses = self.presses.iter().enumerate();
        let presses = presses.map(|(at, press)| (self.let_go_at(press), Due::LetGo(at)));
        let zones = self.zones.iter().enumerate();
        let zones = zones.map(|(at, zone)| (zone.pace.due(), Due::Zone(at)));
        let sweep = self.sweep.iter().map(|sweep| (sweep.began, Due::Block));
        let stations = self.stations.iter().enumerate();
        let stations = stations
            .filter(|_| self.sweep.is_none())
            .map(|(at, station)| (station.pace.due(), Due::Station(at)));
        let nothing = || (Instant::now() + Duration::from_secs(IDLE_S), Due::Nothing);
        let all = presses.chain(zones).chain(sweep).chain(stations);
        all.min_by_key(|(when, _)| *when).unwrap_or_else(nothing)
    }

    async fn run_next(&mut self, reports: &mut Vec<DriverReport>) {
        self.tell_unasked(reports);
        let (when, due) = self.next();
        if when > Instant::now() {
            return;
        }
        self.tell_figures();
        // A failure is reported, and its wait noted, where it happens.
        let _ = match due {
            Due::Block => self.read_block(&mut open_gate, reports).await,
            Due::LetGo(at) => self.let_go(at, reports).await,
            Due::Nothing => Ok(()),
            Due::Open => self.open(reports).await,
            Due::Station(at) => {
                self.begin_sweep(at);
                self.read_block(&mut open_gate, reports).await
            }
            Due::Zone(at) => self.read_zone(at, reports).await,
        };
    }

    fn tell_figures(&mut self) {
        if Instant::now() < self.tell_at {
            return;
        }
        self.tell_at = Instant::now() + Duration::from_secs(FIGURES_S);
        let figures = self.line.take_figures();
        let (line, used_permille) = (self.line.name(), figures.used_permille());
        tracing::info!(line, used_permille, "used");
        for (unit, figures) in &figures.units {
            let UnitFigures {
                asked, lost, late, ..
            } = figures;
            let mean_ms = figures.took_mean().as_millis();
            let max_ms = figures.took_max.as_millis();
            tracing::info!(line, unit, asked, lost, late, mean_ms, max_ms, "answers");
        }
    }

    /// Tries each press once: one that cannot be let go keeps none of the others.
    async fn let_all_go(&mut self) {
        let mut reports = Vec::new();
        let mut at = 0;
        while at < self.presses.len() {
            if !self.line.is_open() {
                // Where it stays closed, letting go says so.
                let _ = self.open(&mut reports).await;
            }
            let pressed = self.presses.len();
            let _ = self.let_go(at, &mut reports).await;
            if self.presses.len() == pressed {
                at += 1;
            }
        }
    }
}

/// The maker whose frames go over a line with these units, where they are not Modbus.
fn maker_of(units: &[Unit]) -> Option<Arc<FrameProfile>> {
    units.iter().find_map(|unit| match &unit.device {
        Device::Frames(profile) => Some(Arc::clone(profile)),
        Device::Registers(_) => None,
    })
}

impl Driver for Bus {
    fn execute<'a>(
        &'a mut self,
        command: &'a Command,
        gate: &'a mut Gate<'a>,
        reports: &'a mut Vec<DriverReport>,
    ) -> BoxFuture<'a, Outcome> {
        Box::pin(self.execute_command(command, gate, reports))
    }

    fn ready(&mut self) -> BoxFuture<'_, ()> {
        let (when, _) = self.next();
        // A command that comes while the line has to be silent goes before the poll.
        let quiet = self.line.quiet_at();
        let when = quiet.map_or(when, |quiet| when.max(quiet));
        let line = &mut self.line;
        Box::pin(async move {
            tokio::select! {
                biased;
                () = sleep_until(when) => {}
                () = line.overhear() => {}
            }
        })
    }

    fn read<'a>(&'a mut self, reports: &'a mut Vec<DriverReport>) -> BoxFuture<'a, ()> {
        Box::pin(self.run_next(reports))
    }

    fn finish(&mut self) -> BoxFuture<'_, ()> {
        Box::pin(async {
            // A unit that does not let go within this time cannot be helped from here.
            let _ = timeout(Duration::from_millis(FINISH_MS), self.let_all_go()).await;
            self.line.close();
        })
    }
}

#[cfg(test)]
mod tests;
