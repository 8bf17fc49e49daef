//! `hallcall bench latency`: from a request to the GRANTED of an idle elevator, one ride at a time.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use hdrhistogram::Histogram;
use protocol::elevator::{ElevatorView, Health};
use protocol::hardware::Motion;
use protocol::peer::{Heard, Said, Spoken};
use protocol::ride::{ReplyResult, RideReply, RideState, RideView};
use protocol::robot::{Place, RideCancel, RideRequest};
use protocol::{ElevatorId, FloorLabel, MessageId, OrderId, RobotId, RobotMessage, Topic, Topics};
use serde::Serialize;
use sim::live::speaker::wall;

use super::disk::{Probe, SyncMs};
use super::line::Line;
use super::stage::{BrokerKind, Stage, StagePlan};
use super::tally::{AnswerMs, answer_ms, rounded, spans};
use crate::cmd::demo::folder::Bounds;

/// The elevator.
const ELEVATOR: &str = "EL001";
/// The robot.
const ROBOT: &str = "R001";
/// For whatever comes next; a car that was called must first go there and come to rest.
const PATIENCE: Duration = Duration::from_secs(60);
/// Syncs of the disk that are measured between two rides.
const SYNCS: u32 = 3;
/// Seconds until the robot would be at the door: it never is, so that its ride can be cancelled
/// whatever the elevator does meanwhile.
const ETA_S: u32 = 20;
/// Beyond one sync, in milliseconds, at the median.
const MEDIAN_MS_MORE: f64 = 2.0;
/// Beyond two syncs, in milliseconds, for 99 of 100.
const P99_MS_MORE: f64 = 5.0;

/// How to measure.
#[derive(Debug, Clone, clap::Args)]
pub struct LatencyArgs {
    /// Rides, 1 to 100000
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub rides: u32,
    /// Seconds of the building in one of ours, 0.1 to 100
    #[arg(long, value_name = "N", default_value_t = 10.0)]
    pub speed: f64,
    /// The broker [default: mosquitto, where it is installed]
    #[arg(long, value_enum)]
    pub broker: Option<BrokerKind>,
    /// Where the temporary folder with the journal is made: decides on which disk
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
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
    rides: u32,
    /// From the request to GRANTED, as the robot sees it.
    granted_ms: AnswerMs,
    /// From the request to its reply.
    decision_ms: AnswerMs,
    sync_ms: SyncMs,
    refused: u64,
    broker: BrokerKind,
}

/// The robot that asks, and all that it hears.
struct Asker {
    line: Line,
    topics: Topics,
    robot: RobotId,
    from: FloorLabel,
    to: FloorLabel,
    granted_us: Histogram<u64>,
    decision_us: Histogram<u64>,
    refused: u64,
}

/// Measures.
///
/// # Errors
/// Where it cannot be set up, or an elevator does not come back.
pub(super) async fn latency(args: &LatencyArgs) -> anyhow::Result<ExitCode> {
    let mut stage = Stage::start(StagePlan {
        elevators: 1,
        speed: args.speed,
        broker: args.broker,
        within: args.dir.as_deref(),
        bounds: Bounds::at(args.speed),
    })
    .await?;
    let asker = Asker::connect(&stage)?;
    let probe = Probe::new(stage.folder.path())?;
    let rides = args.rides;
    let asking = tokio::task::spawn_blocking(move || asker.ask(rides, probe));
    let (asker, sync_ms) = tokio::select! {
        asked = asking => asked??,
        ended = stage.gateway.ended() => bail!(
            "the gateway ended by itself: {ended}\n{}",
            stage.folder.last_of_log()
        ),
    };
    let status = stage.gateway.stop().await?;
    ensure!(status.success(), "the gateway ended with {status}");
    let figures = Figures {
        rides,
        granted_ms: answer_ms(&asker.granted_us),
        decision_ms: answer_ms(&asker.decision_us),
        sync_ms,
        refused: asker.refused,
        broker: stage.broker_kind(),
    };
    super::print(&figures, args.json, &figures.text())?;
    super::judge(&figures.missed(), args.check)
}

impl Asker {
    fn connect(stage: &Stage) -> anyhow::Result<Self> {
        let robot = RobotId::new(ROBOT)?;
        let elevator = ElevatorId::new(ELEVATOR)?;
        let mut filters = stage.topics.robot_filters(&robot);
        filters.push(stage.topics.name(&Topic::ElevatorState(elevator)));
        let floors = stage.floors()?;
        let (Some(from), Some(to)) = (floors.first(), floors.last()) else {
            bail!("a building of no floors");
        };
        Ok(Self {
            line: Line::connect(stage.broker()?, ROBOT, &filters)?,
            topics: stage.topics.clone(),
            robot,
            from: from.clone(),
            to: to.clone(),
            granted_us: spans()?,
            decision_us: spans()?,
            refused: 0,
        })
    }

    /// So many rides, each from an elevator at rest until it is at rest again.
    fn ask(mut self, rides: u32, mut probe: Probe) -> anyhow::Result<(Self, SyncMs)> {
        self.rest()?;
        for ride in 0..rides {
            let sent = Instant::now();
            let order = OrderId::new(&format!("T-{ride}"))?;
            self.say(self.request(&order, ride)?)?;
            self.wait_for_grant(&order, sent)?;
            self.say(self.cancel(&order, ride)?)?;
            self.rest()?;
            probe.sync(SYNCS)?;
        }
        let sync_ms = probe.sync_ms();
        Ok((self, sync_ms))
    }

    /// Waits for the reply and for GRANTED, in whichever order they come.
    fn wait_for_grant(&mut self, order: &OrderId, sent: Instant) -> anyhow::Result<()> {
        let (mut replied, mut granted) = (None, None);
        while replied.is_none() || granted.is_none() {
            let (said, at) = self.hear("GRANTED")?;
            let took = u64::try_from((at - sent).as_micros()).unwrap_or(u64::MAX);
            if let Said::RideReply { reply, .. } = &said
                && reply.order_id.as_ref() == Some(order)
            {
                self.judge(reply);
                replied = Some(took);
            }
            if let Said::RideState {
                view: Some(view), ..
            } = &said
                && is_granted(view, order)
            {
                granted = Some(took);
            }
        }
        self.decision_us.saturating_record(replied.unwrap_or(0));
        self.granted_us.saturating_record(granted.unwrap_or(0));
        Ok(())
    }

    /// Waits until the elevator is nobody's and stands.
    fn rest(&mut self) -> anyhow::Result<()> {
        loop {
            let (said, _) = self.hear("an elevator at rest")?;
            if let Said::RideReply { reply, .. } = &said {
                self.judge(reply);
            }
            if let Said::ElevatorState(view) = &said
                && is_at_rest(view)
            {
                return Ok(());
            }
        }
    }

    fn judge(&mut self, reply: &RideReply) {
        if reply.result == ReplyResult::Rejected {
            self.refused += 1;
        }
    }

    fn hear(&mut self, what: &str) -> anyhow::Result<(Said, Instant)> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(publish) = self.line.next()? {
                let now = Instant::now();
                self.line.acknowledge(&publish)?;
                self.line.flush()?;
                let heard = Heard::read(&self.topics, &publish.topic, &publish.payload)
                    .with_context(|| publish.topic.clone())?;
                return Ok((heard.said, now));
            }
            let left = deadline.saturating_duration_since(Instant::now());
            ensure!(!left.is_zero(), "waited {PATIENCE:?} in vain for {what}");
            self.line.listen(left)?;
        }
    }

    fn say(&mut self, message: RobotMessage) -> anyhow::Result<()> {
        let robot = self.robot.clone();
        let said = Spoken::Robot { robot, message }.encode(&self.topics);
        self.line.publish(&said.topic, &said.payload, said.retain)?;
        self.line.flush()
    }

    fn request(&self, order: &OrderId, ride: u32) -> anyhow::Result<RobotMessage> {
        let place = |floor: &FloorLabel| Place {
            floor: floor.clone(),
            side: None,
        };
        Ok(RobotMessage::Request(RideRequest {
            message_id: MessageId::new(&format!("q-{ride}"))?,
            timestamp: wall(),
            order_id: order.clone(),
            from: place(&self.from),
            to: place(&self.to),
            elevators: [].into(),
            priority: 5,
            at_door: Some(false),
            eta_s: Some(ETA_S),
            expires_at: None,
            dry_run: false,
        }))
    }

    fn cancel(&self, order: &OrderId, ride: u32) -> anyhow::Result<RobotMessage> {
        Ok(RobotMessage::Cancel(RideCancel {
            message_id: MessageId::new(&format!("c-{ride}"))?,
            timestamp: wall(),
            order_id: order.clone(),
            reason: "a latency test".to_owned(),
        }))
    }
}

impl Figures {
    fn missed(&self) -> Vec<String> {
        let mut missed = Vec::new();
        let mut bar = |what: &str, ms: f64, most: f64| {
            let most = rounded(most);
            if ms > most {
                missed.push(format!("{what} {ms} ms, at most {most}"));
            }
        };
        bar(
            "median",
            self.granted_ms.p50,
            self.sync_ms.p50 + MEDIAN_MS_MORE,
        );
        bar(
            "p99",
            self.granted_ms.p99,
            2.0 * self.sync_ms.p99 + P99_MS_MORE,
        );
        if self.refused > 0 {
            missed.push(format!("{} refused, none", self.refused));
        }
        missed
    }

    fn text(&self) -> String {
        let span =
            |ms: &AnswerMs| format!("p50 {} ms, p99 {} ms, max {} ms", ms.p50, ms.p99, ms.max);
        format!(
            "{} rides of an idle elevator, broker {:?}\n\
             request to GRANTED: {}\nrequest to reply: {}\n\
             one sync of this disk: p50 {} ms, p99 {} ms",
            self.rides,
            self.broker,
            span(&self.granted_ms),
            span(&self.decision_ms),
            self.sync_ms.p50,
            self.sync_ms.p99,
        )
    }
}

fn is_granted(view: &RideView, order: &OrderId) -> bool {
    view.order_id == *order && view.state == RideState::Granted
}

fn is_at_rest(view: &ElevatorView) -> bool {
    view.owner.is_none()
        && !view.busy
        && view.health == Health::Ok
        && view.motion == Motion::Stopped
}
