//! What people see of a demo while it runs: a table that changes on a terminal, plain lines
//! elsewhere.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::sync::Arc;
use std::time::Duration;

use sim::live::Building;
use sim::live::robot::RideResult;

use super::{DemoArgs, is_watched};

/// Between two pictures.
pub(super) const FRAME: Duration = Duration::from_millis(200);
/// Robots in the table; more would not fit on a screen.
const ROBOTS_SHOWN: usize = 20;
/// Elevators in the table.
const ELEVATORS_SHOWN: usize = 20;
/// Clears the screen from the cursor on, after going to its top.
const TOP: &str = "\x1b[H\x1b[J";
/// Another screen, and back.
const ENTER: &str = "\x1b[?1049h\x1b[?25l";
const LEAVE: &str = "\x1b[?25h\x1b[?1049l";

/// The show.
pub(super) struct Show<'a> {
    args: &'a DemoArgs,
    building: Arc<Building>,
    is_table: bool,
    is_entered: bool,
    ended: usize,
    failed: usize,
}

impl<'a> Show<'a> {
    /// A show that has not begun.
    pub(super) fn new(args: &'a DemoArgs, building: &Arc<Building>) -> Self {
        Self {
            args,
            building: Arc::clone(building),
            is_table: is_watched(args),
            is_entered: false,
            ended: 0,
            failed: 0,
        }
    }

    /// A ride is at its end.
    pub(super) fn ended(&mut self, result: &RideResult) -> io::Result<()> {
        self.ended += 1;
        self.failed += usize::from(result.failure.is_some());
        if self.is_table || self.args.json {
            return Ok(());
        }
        let line = self.line(result);
        writeln!(io::stdout(), "{line}")
    }

    /// Time for a picture.
    pub(super) fn frame(&mut self) -> io::Result<()> {
        if !self.is_table {
            return Ok(());
        }
        let mut picture = String::new();
        if !self.is_entered {
            self.is_entered = true;
            picture.push_str(ENTER);
        }
        picture.push_str(TOP);
        self.draw(&mut picture).map_err(io::Error::other)?;
        let mut out = io::stdout().lock();
        out.write_all(picture.as_bytes())?;
        out.flush()
    }

    /// The terminal is as it was before.
    pub(super) fn end(&mut self) {
        if std::mem::take(&mut self.is_entered) {
            // There is nobody left to tell that the terminal is gone.
            let _ = io::stdout().write_all(LEAVE.as_bytes());
            let _ = io::stdout().flush();
        }
    }

    fn draw(&self, picture: &mut String) -> std::fmt::Result {
        let pace = self.building.pace();
        let violations = self.building.record(|record| record.judge().len());
        writeln!(
            picture,
            "hallcall demo   {} of {} rides ended, {} failed, {violations} violations   {} s at \
             {} x\n",
            self.ended,
            self.args.rides,
            self.failed,
            pace.now_ms() / 1000,
            pace.speed(),
        )?;
        writeln!(
            picture,
            "{:<10}{:<8}{:<10}{:<10}{:<10}inside",
            "elevator", "floor", "door", "motion", "mode"
        )?;
        for car in self.building.view().into_iter().take(ELEVATORS_SHOWN) {
            let robots: Vec<_> = car.robots.iter().map(ToString::to_string).collect();
            let floor = car
                .reading
                .floor
                .map_or_else(|| "-".to_owned(), |f| f.to_string());
            writeln!(
                picture,
                "{:<10}{floor:<8}{:<10}{:<10}{:<10}{}",
                car.elevator.to_string(),
                car.reading.front.as_str(),
                car.reading.motion.as_str(),
                car.reading.mode.as_str(),
                robots.join(" "),
            )?;
        }
        writeln!(picture, "\n{:<10}{:<20}elevator", "robot", "ride")?;
        for (robot, (state, elevator)) in self.building.told().into_iter().take(ROBOTS_SHOWN) {
            let elevator = elevator.map_or_else(|| "-".to_owned(), |e| e.to_string());
            writeln!(
                picture,
                "{:<10}{:<20}{elevator}",
                robot.to_string(),
                state.as_str()
            )?;
        }
        Ok(())
    }

    fn line(&self, result: &RideResult) -> String {
        let RideResult {
            robot, from, to, ..
        } = result;
        let head = format!(
            "{:>4}/{} {robot} {} -> {}",
            self.ended, self.args.rides, from.floor, to.floor
        );
        if let Some(why) = &result.failure {
            return format!("{head}: failed, {why}");
        }
        let elevator = result
            .elevator
            .as_ref()
            .map_or("?", |elevator| elevator.as_str());
        let span = |span: Option<Duration>| {
            span.map_or(0.0, |span| {
                span.as_secs_f64() * self.building.pace().speed()
            })
        };
        format!(
            "{head} by {elevator}: the car came after {:.1} s, out after {:.1} s",
            span(result.wait),
            span(result.total),
        )
    }
}

impl Drop for Show<'_> {
    fn drop(&mut self) {
        self.end();
    }
}
