//! The robots of a load: a few connections and threads, each of which carries many.

use std::net::SocketAddr;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow};
use protocol::{FloorLabel, RobotId, Topic, Topics};

use super::line::Line;
use super::robot::{self, LoadRobot, Task};
use super::tally::{Tally, Window, thread_cpu};

/// For the last answers, after the window.
const LAST_ANSWERS: Duration = Duration::from_secs(15);
/// Between two looks for what has no answer.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// Who asks for what.
pub(super) struct CrowdPlan<'a> {
    /// The broker.
    pub(super) broker: SocketAddr,
    /// The site.
    pub(super) topics: &'a Topics,
    /// Where rides begin and end.
    pub(super) floors: &'a [FloorLabel],
    /// How many.
    pub(super) robots: usize,
    /// On how many connections.
    pub(super) lines: usize,
    /// What they do.
    pub(super) task: Task,
    /// In their ids.
    pub(super) phase: char,
}

/// Robots that are connected and have said nothing.
pub(super) struct Crowd(Vec<Gang>);

/// What came of it.
pub(super) struct Outcome {
    /// What was counted.
    pub(super) tally: Tally,
    /// The accepted orders of each robot.
    pub(super) accepted: Vec<Vec<u64>>,
    /// What the gateway said to one of them.
    pub(super) heard: Samples,
}

/// Messages of the gateway, of the kinds that a load hears most.
#[derive(Debug, Clone, Default)]
pub(super) struct Samples {
    /// To a request.
    pub(super) request: Sample,
    /// To a cancel.
    pub(super) cancel: Sample,
}

/// A reply and the state that came with it.
#[derive(Debug, Clone, Default)]
pub(super) struct Sample {
    /// `ride/reply`.
    pub(super) reply: Vec<u8>,
    /// `ride/state`.
    pub(super) state: Vec<u8>,
}

/// The robots of one connection.
struct Gang {
    line: Line,
    robots: Vec<LoadRobot>,
    /// The number of the first of them.
    first: usize,
    /// Bytes of a topic before the robot's name.
    name_at: usize,
    heard: Samples,
}

impl Crowd {
    /// Connects.
    ///
    /// # Errors
    /// Where the broker does not take it.
    pub(super) fn connect(plan: &CrowdPlan<'_>) -> anyhow::Result<Self> {
        let share = plan.robots.div_ceil(plan.lines.max(1)).max(1);
        let numbers: Vec<usize> = (0..plan.robots).collect();
        let gangs = numbers
            .chunks(share)
            .map(|numbers| Gang::connect(plan, numbers));
        gangs.collect::<anyhow::Result<_>>().map(Self)
    }

    /// Lets them speak until the end of the window, and hears the last answers. Blocks.
    ///
    /// # Errors
    /// Where a connection breaks, or what is heard makes no sense.
    pub(super) fn run(self, window: Window) -> anyhow::Result<Outcome> {
        let threads: Vec<_> = self
            .0
            .into_iter()
            .map(|gang| {
                thread::Builder::new()
                    .name("load".to_owned())
                    .spawn(move || gang.run(window))
                    .context("no thread for the load")
            })
            .collect::<anyhow::Result<_>>()?;
        let mut outcome = Outcome {
            tally: Tally::new(window)?,
            accepted: Vec::new(),
            heard: Samples::default(),
        };
        for thread in threads {
            let part = thread
                .join()
                .map_err(|_| anyhow!("a thread of the load panicked"))??;
            outcome.tally.add(&part.tally)?;
            outcome.accepted.extend(part.accepted);
            outcome.heard = part.heard;
        }
        Ok(outcome)
    }
}

impl Gang {
    fn connect(plan: &CrowdPlan<'_>, numbers: &[usize]) -> anyhow::Result<Self> {
        let first = numbers.first().copied().unwrap_or(0);
        let mut filters = Vec::new();
        let mut name_at = 0;
        for number in numbers {
            let name = robot::name(*number);
            let robot = RobotId::new(&name)?;
            let state = plan.topics.name(&Topic::RideState(robot.clone()));
            name_at = state.find(&name).context("a topic without its robot")?;
            filters.push(plan.topics.name(&Topic::RideReply(robot)));
            filters.push(state);
        }
        let robots = numbers
            .iter()
            .map(|number| LoadRobot::new(*number, plan.phase, plan.task, plan.floors, plan.topics));
        Ok(Self {
            robots: robots.collect::<anyhow::Result<_>>()?,
            line: Line::connect(
                plan.broker,
                &format!("load-{}-{first}", plan.phase),
                &filters,
            )?,
            first,
            name_at,
            heard: Samples::default(),
        })
    }

    fn run(mut self, window: Window) -> anyhow::Result<Outcome> {
        let mut tally = Tally::new(window)?;
        let (mut cpu_from, mut cpu_until) = (None, None);
        let mut now = Instant::now();
        let mut looked = now;
        for robot in &mut self.robots {
            robot.start(&mut self.line, &mut tally, now)?;
        }
        self.line.flush()?;
        while !(now >= window.until && self.robots.iter().all(LoadRobot::is_idle))
            && now < window.until + LAST_ANSWERS
        {
            self.line.listen(LOOK_EVERY)?;
            now = Instant::now();
            if now >= window.from {
                cpu_from.get_or_insert_with(thread_cpu);
            }
            if now >= window.until {
                cpu_until.get_or_insert_with(thread_cpu);
            }
            self.hear(&mut tally, now, now >= window.until)?;
            if now.duration_since(looked) >= LOOK_EVERY {
                looked = now;
                for robot in &mut self.robots {
                    robot.repeat(now, &mut self.line, &mut tally)?;
                }
            }
            self.line.flush()?;
        }
        let (until, from) = (cpu_until.unwrap_or_default(), cpu_from.unwrap_or_default());
        tally.cpu = until.saturating_sub(from);
        tally.lost = self.robots.iter().map(LoadRobot::unanswered).sum();
        Ok(Outcome {
            tally,
            accepted: self
                .robots
                .into_iter()
                .map(|robot| robot.accepted)
                .collect(),
            heard: self.heard,
        })
    }

    fn hear(&mut self, tally: &mut Tally, now: Instant, is_over: bool) -> anyhow::Result<()> {
        while let Some(publish) = self.line.next()? {
            self.line.acknowledge(&publish)?;
            tally.passed(publish.payload.len(), now);
            let Some((number, word)) = read_topic(&publish.topic, self.name_at) else {
                continue;
            };
            let Some(at) = number.checked_sub(self.first) else {
                continue;
            };
            let Some(robot) = self.robots.get_mut(at) else {
                continue;
            };
            if at == 0 {
                self.heard.keep(word, &publish.payload);
            }
            if word == "reply" {
                robot.hear(&publish.payload, now, is_over, &mut self.line, tally)?;
            }
        }
        Ok(())
    }
}

impl Samples {
    /// Keeps a message of an order that waits, or was cancelled while it waited.
    fn keep(&mut self, word: &str, payload: &[u8]) {
        let says = |text: &str| payload.windows(text.len()).any(|at| at == text.as_bytes());
        let sample = if says("\"state\":\"QUEUED\"") {
            &mut self.request
        } else if says("\"state\":\"CANCELLED\"") {
            &mut self.cancel
        } else {
            return;
        };
        let kept = if word == "reply" {
            &mut sample.reply
        } else {
            &mut sample.state
        };
        kept.clear();
        kept.extend_from_slice(payload);
    }
}

/// The number of the robot, from 0, and the last word of the topic.
fn read_topic(topic: &str, name_at: usize) -> Option<(usize, &str)> {
    let (name, rest) = topic.get(name_at..)?.split_once('/')?;
    let number: usize = name.strip_prefix('L')?.parse().ok()?;
    Some((number.checked_sub(1)?, rest.strip_prefix("ride/")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn topics_name_their_robot() {
        assert_eq!(
            read_topic("a/b/robots/L0017/ride/reply", 11),
            Some((16, "reply"))
        );
        assert_eq!(read_topic("a/b/robots/L0000/ride/reply", 11), None);
        assert_eq!(read_topic("a/b/site", 11), None);
    }
}
