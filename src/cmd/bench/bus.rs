//! `hallcall bench bus`: one serial line at the pace of its rate, full of polls.

use std::process::ExitCode;
use std::time::Duration;

use adapters::rtu::RtuTiming;
use anyhow::ensure;
use hdrhistogram::Histogram;
use serde::Serialize;
use sim::live::rtu::Speed;
use tokio::time::sleep;

use super::bus_rig::{Rig, time_outs_of_a_round};
use super::tally::{AnswerMs, answer_ms, rounded, spans};

/// Characters of a poll of 8 registers: 8 of the request and 21 of the reply (Modbus application
/// protocol 1.1b3, section 6.3; Modbus over Serial Line V1.02, section 2.5.1).
const POLL_CHARACTERS: f64 = 29.0;
/// Bits of a character: start, 8 of data, parity or a second stop bit, stop.
const CHARACTER_BITS: f64 = 11.0;
/// Silence between frames: 3.5 characters up to 19,200 baud, 1.75 ms above (section 2.5.1.1).
const SILENCE_CHARACTERS: f64 = 3.5;
const SILENCE_MS_FAST: f64 = 1.75;
const BAUD_BY_CHARACTERS_MAX: u32 = 19_200;
/// Of the rate that the line allows.
const SHARE_MIN: f64 = 0.9;
/// Until every unit has been read some times.
const WARM_UP: Duration = Duration::from_secs(1);
/// Commands come at all moments of a poll: pauses between them go around in these steps, which have
/// no common divisor.
const PAUSE_STEP_MS: u64 = 17;
const PAUSE_MS: u64 = 53;

/// How to measure.
#[derive(Debug, Clone, clap::Args)]
pub struct BusArgs {
    /// Bits in a second, 1200 to 1000000
    #[arg(long, value_name = "N", default_value_t = 19_200, value_parser = baud)]
    pub baud: u32,
    /// Units on the line, each polled as often as it can be, 3 to 64
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u8).range(3..=64))]
    pub units: u8,
    /// How long a unit takes to answer, in milliseconds, 0 to 60
    #[arg(long, value_name = "MS", default_value_t = 5, value_parser = clap::value_parser!(u64).range(0..=60))]
    pub reply_ms: u64,
    /// How long polls are counted, in seconds, 1 to 100
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..=100))]
    pub seconds: u64,
    /// Commands, and as many again with a dead unit, 5 to 2000
    #[arg(long, value_name = "N", default_value_t = 300, value_parser = clap::value_parser!(u64).range(5..=2_000))]
    pub commands: u64,
    /// Exit with 1 where a bar is missed
    #[arg(long)]
    pub check: bool,
    /// Print the figures as one JSON object
    #[arg(long)]
    pub json: bool,
}

/// The figures.
#[derive(Debug, Clone, Serialize)]
struct Figures {
    baud: u32,
    units: u8,
    reply_ms: u64,
    /// A poll of 8 registers by the rate of the line: characters, silences and the unit.
    poll_ms: f64,
    floor_polls_per_s: f64,
    polls_per_s: f64,
    of_floor: f64,
    /// How commands went while polls filled the line.
    commands: Turns,
    /// The longest time-out of a unit that answered before.
    time_out_ms: f64,
    /// The same with a unit that died.
    with_dead: Turns,
    /// Requests to the dead unit between two to another one, at most.
    time_outs_of_a_round: usize,
    /// Where the gateway spoke over a unit or too soon.
    breaches: u64,
    /// The latest that the simulator handed a byte over, against its rate.
    sim_late_ms: f64,
}

/// How commands went.
#[derive(Debug, Clone, Serialize)]
struct Turns {
    count: u64,
    /// From handed over to the first bit on the line.
    wait_ms: AnswerMs,
    /// Polls that a command had to let pass, at most.
    behind_max: usize,
}

fn baud(text: &str) -> Result<u32, String> {
    let speed: Result<Speed, _> = text.parse();
    speed.map(Speed::baud).map_err(|error| error.to_string())
}

/// Measures.
///
/// # Errors
/// Where there is no pseudoterminal, a command is not accepted or no poll is answered.
pub(super) async fn bus(args: &BusArgs) -> anyhow::Result<ExitCode> {
    let reply = Duration::from_millis(args.reply_ms);
    let mut rig = Rig::start(Speed::new(args.baud)?, args.units, reply)?;
    sleep(WARM_UP).await;
    let polls_per_s = poll(&rig, Duration::from_secs(args.seconds)).await;
    ensure!(polls_per_s > 0.0, "no poll was answered");
    let commands = command(&mut rig, args.units, args.commands).await?;
    let dead = args.units;
    rig.line().set_dead(dead, true);
    let from = rig.line().now();
    let with_dead = command(&mut rig, args.units - 1, args.commands).await?;
    let poll_ms = poll_ms(args.baud, args.reply_ms);
    let timing = RtuTiming::serial(args.baud);
    let time_out = timing.wait(timing.floor(8, 21), Some(reply));
    let figures = Figures {
        baud: args.baud,
        units: args.units,
        reply_ms: args.reply_ms,
        poll_ms: rounded(poll_ms),
        floor_polls_per_s: rounded(1000.0 / poll_ms),
        polls_per_s: rounded(polls_per_s),
        of_floor: rounded(polls_per_s * poll_ms / 1000.0),
        commands,
        time_out_ms: ms(time_out),
        with_dead,
        time_outs_of_a_round: time_outs_of_a_round(rig.line(), dead, from),
        breaches: rig.line().record(sim::live::rtu::LineRecord::breach_count),
        sim_late_ms: ms(rig.line().record(|record| record.late_max)),
    };
    rig.end().await;
    super::print(&figures, args.json, &figures.text())?;
    super::judge(&figures.missed(), args.check)
}

/// Good polls per second over the time.
async fn poll(rig: &Rig, time: Duration) -> f64 {
    let (before, from) = (rig.answered(), rig.line().now());
    sleep(time).await;
    let count = rig.answered().saturating_sub(before);
    let took = rig.line().now().saturating_sub(from);
    // Some thousands.
    #[allow(clippy::cast_precision_loss)]
    let count = count as f64;
    count / took.as_secs_f64()
}

/// So many commands, one after another, to each of the first `units` in turn.
async fn command(rig: &mut Rig, units: u8, count: u64) -> anyhow::Result<Turns> {
    let mut waits: Histogram<u64> = spans()?;
    let mut behind_max = 0;
    for (number, unit) in (0..count).zip((1..=units).cycle()) {
        sleep(Duration::from_millis(number * PAUSE_STEP_MS % PAUSE_MS)).await;
        let turn = rig.command(unit).await?;
        behind_max = behind_max.max(turn.behind);
        waits.saturating_record(u64::try_from(turn.wait.as_micros()).unwrap_or(u64::MAX));
    }
    Ok(Turns {
        count,
        wait_ms: answer_ms(&waits),
        behind_max,
    })
}

/// What a poll of 8 registers takes by the rate of the line: its characters, a silence before the
/// request and one behind it, and the unit.
#[allow(clippy::cast_precision_loss)]
fn poll_ms(baud: u32, reply_ms: u64) -> f64 {
    let character_ms = CHARACTER_BITS * 1000.0 / f64::from(baud);
    let silence_ms = if baud <= BAUD_BY_CHARACTERS_MAX {
        SILENCE_CHARACTERS * character_ms
    } else {
        SILENCE_MS_FAST
    };
    POLL_CHARACTERS * character_ms + 2.0 * silence_ms + reply_ms as f64
}

fn ms(time: Duration) -> f64 {
    rounded(time.as_secs_f64() * 1000.0)
}

impl Figures {
    /// A poll at the least pace that the bar allows.
    fn wait_max_ms(&self) -> f64 {
        self.poll_ms / SHARE_MIN
    }

    fn text(&self) -> String {
        let Self { baud, units, .. } = self;
        let [commands, with_dead] = [&self.commands, &self.with_dead].map(|turns| {
            let AnswerMs { p50, p99, max, .. } = turns.wait_ms;
            format!(
                "{} waited p50 {p50} ms, p99 {p99} ms, max {max} ms, behind {} poll(s) at most",
                turns.count, turns.behind_max
            )
        });
        format!(
            "{units} units at {baud} baud that answer after {} ms\n\
             polls of 8 registers: {}/s of {}/s that the line allows ({} ms each): {:.1} %\n\
             commands while polls fill the line: {commands}; one poll is {} ms\n\
             commands with a dead unit: {with_dead}; one time-out is {} ms, {} in a round at most\n\
             the gateway spoke over a unit or too soon {} times; the simulator was late by {} ms \
             at most",
            self.reply_ms,
            self.polls_per_s,
            self.floor_polls_per_s,
            self.poll_ms,
            self.of_floor * 100.0,
            self.poll_ms,
            self.time_out_ms,
            self.time_outs_of_a_round,
            self.breaches,
            self.sim_late_ms,
        )
    }

    fn missed(&self) -> Vec<String> {
        let mut missed = Vec::new();
        let mut bar = |is_met: bool, what: String| {
            if !is_met {
                missed.push(what);
            }
        };
        bar(
            self.of_floor >= SHARE_MIN,
            format!(
                "{} of the rate that the line allows, {SHARE_MIN} at least",
                self.of_floor
            ),
        );
        let (wait, dead) = (self.commands.wait_ms.max, self.with_dead.wait_ms.max);
        let wait_max = self.wait_max_ms();
        bar(
            self.commands.behind_max <= 1 && wait <= wait_max,
            format!(
                "a command waited {wait} ms behind {} polls, one of {wait_max:.1} ms at most",
                self.commands.behind_max
            ),
        );
        let dead_max = wait_max + self.time_out_ms;
        bar(
            self.with_dead.behind_max <= 1 && dead <= dead_max && self.time_outs_of_a_round <= 1,
            format!(
                "with a dead unit a command waited {dead} ms behind {} polls, {} time-outs in a \
                 round; {dead_max:.1} ms and one at most",
                self.with_dead.behind_max, self.time_outs_of_a_round
            ),
        );
        bar(
            self.breaches == 0,
            format!("{} breaches of the line's rules", self.breaches),
        );
        missed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 29 characters of 11 bits at 19,200 baud are 16.6 ms, two silences 4.0 ms, the unit 5 ms.
    #[test]
    fn a_poll_takes_what_its_characters_take() {
        assert!((poll_ms(19_200, 5) - 25.625).abs() < 0.001);
        assert!((poll_ms(9_600, 5) - 46.25).abs() < 0.001);
        assert!((poll_ms(115_200, 5) - 11.269).abs() < 0.001);
    }
}
