//! The applications of the load: a few connections and threads, each of which carries many.

use std::net::SocketAddr;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow};
use protocol::{ClientId, Topic, Topics};
use serde::Deserialize;
use sim::live::speaker::wall;

use super::{POOL, SERIES};
use crate::cmd::bench::line::Line;
use crate::cmd::bench::tally::{Tally, Window, thread_cpu};

/// Without an answer so long, an application says it again (docs/applications.md).
const REPEAT: Duration = Duration::from_secs(5);
/// For the last answers, after the window.
const LAST_ANSWERS: Duration = Duration::from_secs(15);
/// Between two looks for what has no answer.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// What applications do, one request at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Task {
    /// The next number of the one series, again and again.
    Numbers,
    /// Any place, and back, again and again.
    Claims,
}

/// Who asks for what.
pub(super) struct CrewPlan<'a> {
    /// The broker.
    pub(super) broker: SocketAddr,
    /// The site.
    pub(super) topics: &'a Topics,
    /// How many.
    pub(super) applications: usize,
    /// On how many connections.
    pub(super) lines: usize,
    /// What they do.
    pub(super) task: Task,
}

/// Applications that are connected and have said nothing.
pub(super) struct Crew(Vec<Gang>);

/// What came of it.
pub(super) struct Done {
    /// What was counted.
    pub(super) tally: Tally,
    /// What was accepted.
    pub(super) kept: Vec<Kept>,
    /// A reply, as it came.
    pub(super) sample: Vec<u8>,
}

/// An order that was accepted.
#[derive(Debug, Clone)]
pub(super) struct Kept {
    /// Its id.
    pub(super) order: String,
    /// The number that it drew; 0 for claims.
    pub(super) number: u64,
}

/// The applications of one connection.
struct Gang {
    line: Line,
    applications: Vec<Application>,
    /// The number of the first of them.
    first: usize,
    /// Bytes of a topic before the application's name.
    name_at: usize,
}

/// One application, and its one request that is under way.
struct Application {
    name: String,
    topic: String,
    task: Task,
    /// The order that is under way; also the id of its message.
    order: String,
    payload: String,
    sent: Instant,
    is_open: bool,
    count: u64,
}

/// What a load reads of a reply.
#[derive(Debug, Deserialize)]
struct Reply<'a> {
    in_reply_to: Option<&'a str>,
    result: &'a str,
    code: Option<&'a str>,
    number: Option<u64>,
    claim_id: Option<&'a str>,
    state: Option<&'a str>,
}

impl Task {
    /// In the ids of its orders.
    fn letter(self) -> char {
        match self {
            Self::Numbers => 'n',
            Self::Claims => 'c',
        }
    }
}

impl Crew {
    /// Connects.
    ///
    /// # Errors
    /// Where the broker does not take it.
    pub(super) fn connect(plan: &CrewPlan<'_>) -> anyhow::Result<Self> {
        let share = plan.applications.div_ceil(plan.lines.max(1)).max(1);
        let numbers: Vec<usize> = (0..plan.applications).collect();
        let gangs = numbers
            .chunks(share)
            .map(|numbers| Gang::connect(plan, numbers));
        gangs.collect::<anyhow::Result<_>>().map(Self)
    }

    /// Lets them ask until the end of the window, and hears the last answers. Blocks.
    ///
    /// # Errors
    /// Where a connection breaks, or what is heard makes no sense.
    pub(super) fn run(self, window: Window) -> anyhow::Result<Done> {
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
        let mut done = Done {
            tally: Tally::new(window)?,
            kept: Vec::new(),
            sample: Vec::new(),
        };
        for thread in threads {
            let part = thread
                .join()
                .map_err(|_| anyhow!("a thread of the load panicked"))??;
            done.tally.add(&part.tally)?;
            done.kept.extend(part.kept);
            done.sample = part.sample;
        }
        Ok(done)
    }
}

impl Gang {
    fn connect(plan: &CrewPlan<'_>, numbers: &[usize]) -> anyhow::Result<Self> {
        let first = numbers.first().copied().unwrap_or(0);
        let (mut filters, mut applications, mut name_at) = (Vec::new(), Vec::new(), 0);
        for number in numbers {
            let name = format!("A{number:04}");
            let client = ClientId::new(&name)?;
            let topic = plan.topics.name(&Topic::ClientRequest(client.clone()));
            name_at = topic.find(&name).context("a topic without its client")?;
            filters.push(plan.topics.name(&Topic::ClientReply(client)));
            applications.push(Application::new(name, topic, plan.task));
        }
        let name = format!("load-{}-{first}", plan.task.letter());
        Ok(Self {
            line: Line::connect(plan.broker, &name, &filters)?,
            applications,
            first,
            name_at,
        })
    }

    fn run(mut self, window: Window) -> anyhow::Result<Done> {
        let mut done = Done {
            tally: Tally::new(window)?,
            kept: Vec::new(),
            sample: Vec::new(),
        };
        let (mut cpu_from, mut cpu_until) = (None, None);
        let mut now = Instant::now();
        let mut looked = now;
        for application in &mut self.applications {
            application.next(None);
            application.say(now, &mut self.line, &mut done.tally)?;
        }
        self.line.flush()?;
        while !(now >= window.until && self.applications.iter().all(|one| !one.is_open))
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
            self.hear(&mut done, now, now >= window.until)?;
            if now.duration_since(looked) >= LOOK_EVERY {
                looked = now;
                self.repeat(&mut done.tally, now)?;
            }
            self.line.flush()?;
        }
        let (until, from) = (cpu_until.unwrap_or_default(), cpu_from.unwrap_or_default());
        done.tally.cpu = until.saturating_sub(from);
        let open = self.applications.iter().filter(|one| one.is_open);
        done.tally.lost = open.count() as u64;
        Ok(done)
    }

    fn hear(&mut self, done: &mut Done, now: Instant, is_over: bool) -> anyhow::Result<()> {
        while let Some(publish) = self.line.next()? {
            self.line.acknowledge(&publish)?;
            done.tally.passed(publish.payload.len(), now);
            let number = publish
                .topic
                .get(self.name_at + 1..)
                .and_then(|rest| rest.split('/').next()?.parse::<usize>().ok());
            let at = number.and_then(|number| number.checked_sub(self.first));
            let Some(application) = at.and_then(|at| self.applications.get_mut(at)) else {
                continue;
            };
            if done.sample.is_empty() {
                done.sample = publish.payload.to_vec();
            }
            if application.hear(&publish.payload, now, is_over, done)? {
                application.say(now, &mut self.line, &mut done.tally)?;
            }
        }
        Ok(())
    }

    fn repeat(&mut self, tally: &mut Tally, now: Instant) -> anyhow::Result<()> {
        for application in &mut self.applications {
            if application.is_open && now.saturating_duration_since(application.sent) >= REPEAT {
                tally.repeats += 1;
                application.say(now, &mut self.line, tally)?;
            }
        }
        Ok(())
    }
}

impl Application {
    fn new(name: String, topic: String, task: Task) -> Self {
        Self {
            name,
            topic,
            task,
            order: String::new(),
            payload: String::new(),
            sent: Instant::now(),
            is_open: false,
            count: 0,
        }
    }

    /// Makes its next request: `claim` is to be given back.
    fn next(&mut self, claim: Option<&str>) {
        self.count += 1;
        let name = &self.name;
        self.order = format!("{name}-{}-{:08}", self.task.letter(), self.count);
        let asked = match (self.task, claim) {
            (Task::Numbers, _) => format!(
                "\"type\":\"series.next\",\"series\":\"{SERIES}\",\"device\":{{\"name\":\"press\"}}"
            ),
            (Task::Claims, None) => {
                format!("\"type\":\"claim.acquire\",\"pool\":\"{POOL}\",\"owner_id\":\"{name}\"")
            }
            (Task::Claims, Some(claim)) => format!(
                "\"type\":\"claim.release\",\"claim_id\":\"{claim}\",\"owner_id\":\"{name}\""
            ),
        };
        self.payload = format!(
            "{{\"message_id\":\"{0}\",\"timestamp\":\"{1}\",\"order_id\":\"{0}\",{asked}}}",
            self.order,
            wall(),
        );
        self.is_open = true;
    }

    fn say(&mut self, now: Instant, line: &mut Line, tally: &mut Tally) -> anyhow::Result<()> {
        line.publish(&self.topic, self.payload.as_bytes(), false)?;
        tally.passed(self.payload.len(), now);
        self.sent = now;
        Ok(())
    }

    /// Hears a reply; says whether a next request is to be sent, unless the time `is_over`.
    fn hear(
        &mut self,
        payload: &[u8],
        now: Instant,
        is_over: bool,
        done: &mut Done,
    ) -> anyhow::Result<bool> {
        let reply: Reply<'_> = serde_json::from_slice(payload)
            .with_context(|| format!("a reply: {}", String::from_utf8_lossy(payload)))?;
        // The answer to a message that was said again and answered already.
        if !self.is_open || reply.in_reply_to != Some(self.order.as_str()) {
            return Ok(false);
        }
        self.is_open = false;
        if reply.result == "rejected" {
            let code = reply.code.unwrap_or("none").to_owned();
            *done.tally.refused.entry(code).or_default() += 1;
        } else {
            done.tally.answered(self.sent, now);
            done.kept.push(Kept {
                order: self.order.clone(),
                number: reply.number.unwrap_or(0),
            });
        }
        let claim = reply.claim_id.filter(|_| reply.state == Some("READY"));
        // A place is given back whenever it is.
        if is_over && claim.is_none() {
            return Ok(false);
        }
        self.next(claim);
        Ok(true)
    }
}
