//! What a measurement happens on: a building, a broker and the real gateway, each over TCP.

use std::net::SocketAddr;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, anyhow};
use protocol::{FloorLabel, OrderId, RobotId, Topic, Topics};
use sim::live::radio::Endpoint;
use sim::live::robot::Ground;
use sim::live::watch::watch_only;
use sim::live::{Building, Fleet, FleetPlan, Pace};
use tokio::sync::{mpsc, oneshot};
use tokio::task::{JoinHandle, JoinSet};

use super::mosquitto::{self, Mosquitto};
use super::process;
use crate::cmd::demo::folder::{self, Bounds, Folder};
use crate::cmd::demo::gateway::GatewayProcess;
use crate::cmd::demo::wires::Wires;
use crate::cmd::demo::{Controllers, DemoArgs};

/// For the gateway to get ready.
pub(super) const READY: Duration = Duration::from_secs(60);
/// Rides of all riders: more than they get done.
const RIDES: u32 = 100_000;
/// The longest measurement.
const LONGEST: Duration = Duration::from_secs(86_400);
/// Floors of the building.
const FLOORS: u16 = 8;

/// Which broker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum BrokerKind {
    /// Mosquitto, as a process of the measurement's own
    Mosquitto,
    /// The gateway's embedded one
    Embedded,
}

/// What the stage shall be.
pub(super) struct StagePlan<'a> {
    /// 1 to 100.
    pub(super) elevators: u16,
    /// Seconds of the building in one of ours.
    pub(super) speed: f64,
    /// `None` = Mosquitto, where it is installed.
    pub(super) broker: Option<BrokerKind>,
    /// Where its folder is made; decides on which disk.
    pub(super) within: Option<&'a Path>,
    /// The gateway's bounds.
    pub(super) bounds: Bounds,
}

/// The stage.
pub(super) struct Stage {
    /// The gateway.
    pub(super) gateway: GatewayProcess,
    set: Set,
}

/// The stage without its gateway.
pub(super) struct Set {
    /// Controllers, the clock of the building, the watch: they end before their broker.
    parts: JoinSet<()>,
    args: DemoArgs,
    /// The cars and the record.
    pub(super) building: Arc<Building>,
    /// The gateway's configuration.
    pub(super) config: PathBuf,
    mosquitto: Option<Mosquitto>,
    wires: Wires,
    /// The site.
    pub(super) topics: Topics,
    /// Last, so that it goes last.
    pub(super) folder: Folder,
}

/// Robots that ride all the time.
pub(super) struct Riders {
    task: JoinHandle<anyhow::Result<()>>,
    done: mpsc::UnboundedReceiver<(OrderId, Option<String>)>,
}

/// What came of the rides.
pub(super) struct Ridden {
    /// Their robots got out where they should, by the simulator's record too.
    pub(super) completed: u64,
    /// Why the others failed.
    pub(super) failures: Vec<String>,
    /// Laws that were broken, by the simulator's record.
    pub(super) violations: Vec<String>,
}

impl Set {
    /// Builds it.
    ///
    /// # Errors
    /// Where a part does not start.
    pub(super) async fn build(plan: StagePlan<'_>) -> anyhow::Result<Self> {
        let folder = Folder::new(plan.within)?;
        let mosquitto = match (plan.broker, mosquitto::program()) {
            (Some(BrokerKind::Embedded), _) | (None, None) => None,
            (Some(BrokerKind::Mosquitto), None) => {
                anyhow::bail!("mosquitto is not installed; --broker embedded needs none")
            }
            (_, Some(program)) => Some(Mosquitto::start(&program, folder.path())?),
        };
        let url = mosquitto
            .as_ref()
            .map(|broker| format!("mqtt://{}", broker.address()));
        let args = demo_args(&plan, url);
        let pace = Pace::new(plan.speed)?;
        let building = Building::new(folder::cars(&args, &pace)?, pace);
        let mut parts = JoinSet::new();
        parts.spawn(Arc::clone(&building).run());
        let wires = Wires::lay(&args, folder::elevators(&args)?, &building, &mut parts).await?;
        Ok(Self {
            topics: Topics::new(folder::ROOT, &folder::site()?)?,
            config: folder.write(&args, &wires, &plan.bounds)?,
            args,
            building,
            mosquitto,
            wires,
            parts,
            folder,
        })
    }

    /// Starts the gateway; it is not ready yet.
    ///
    /// # Errors
    /// Where the program cannot be started.
    pub(super) fn start_gateway(&self) -> anyhow::Result<GatewayProcess> {
        GatewayProcess::start(&self.config, &self.folder.log())
    }

    /// The broker.
    pub(super) fn broker(&self) -> anyhow::Result<SocketAddr> {
        if let Some(mosquitto) = &self.mosquitto {
            return Ok(mosquitto.address());
        }
        let Endpoint { host, port, .. } = &self.wires.endpoint;
        let address = format!("{host}:{port}");
        address.parse().map_err(|_| anyhow!("broker {address}"))
    }

    /// Which broker it is.
    pub(super) fn broker_kind(&self) -> BrokerKind {
        match self.mosquitto {
            Some(_) => BrokerKind::Mosquitto,
            None => BrokerKind::Embedded,
        }
    }

    /// The floors of the building.
    pub(super) fn floors(&self) -> anyhow::Result<Vec<FloorLabel>> {
        let first = self.building.elevators().next().context("no elevator")?;
        Ok(self.building.floors(first)?)
    }

    /// The gateway's data directory.
    pub(super) fn data_dir(&self) -> PathBuf {
        self.folder.path().join("data")
    }
}

impl Stage {
    /// Builds it and waits until the gateway is ready.
    ///
    /// # Errors
    /// Where a part does not start; the end of the gateway's log is in the message.
    pub(super) async fn start(plan: StagePlan<'_>) -> anyhow::Result<Self> {
        let set = Set::build(plan).await?;
        let mut gateway = set.start_gateway()?;
        gateway
            .ready(READY)
            .await
            .with_context(|| set.folder.last_of_log())?;
        Ok(Self { gateway, set })
    }

    /// Lets robots ride until [`Riders::end`].
    ///
    /// # Errors
    /// Where they cannot be made or the record cannot hear.
    pub(super) async fn ride(&mut self, riders: u16) -> anyhow::Result<Riders> {
        let state = |number| {
            let robot = RobotId::new(&format!("R{number:03}"))?;
            anyhow::Ok(self.topics.name(&Topic::RideState(robot)))
        };
        let states = (1..=riders).map(state).collect::<anyhow::Result<_>>()?;
        let (hears, heard) = oneshot::channel();
        self.set.parts.spawn(watch_only(
            Arc::clone(&self.building),
            self.topics.clone(),
            self.wires.endpoint.clone(),
            states,
            hears,
        ));
        tokio::time::timeout(READY, heard)
            .await
            .context("the broker does not take subscriptions")??;
        let plan = FleetPlan {
            robots: riders.into(),
            rides: usize::try_from(RIDES)?,
            seed: 1,
            landings: folder::landings(&self.args)?,
        };
        let ground = Ground::Here(Arc::clone(&self.building));
        let endpoint = self.wires.endpoint.clone();
        let fleet = Fleet::new(plan, self.topics.clone(), endpoint, ground)?;
        let (tell, done) = mpsc::unbounded_channel();
        let task = tokio::spawn(async move {
            let each = |result: &sim::live::robot::RideResult| {
                // The other end lives as long as this task.
                let _ = tell.send((result.order.clone(), result.failure.clone()));
            };
            fleet.ride(LONGEST, each).await?;
            Ok(())
        });
        Ok(Riders { task, done })
    }

    /// The process of the gateway.
    pub(super) fn gateway_id(&self) -> anyhow::Result<u32> {
        self.gateway.id().context("the gateway has ended")
    }

    /// The process of the broker.
    pub(super) fn broker_id(&self) -> anyhow::Result<u32> {
        if let Some(mosquitto) = &self.mosquitto {
            return Ok(mosquitto.id());
        }
        let children = process::children(self.gateway_id()?)?;
        children.first().copied().context("no embedded broker")
    }
}

impl Deref for Stage {
    type Target = Set;

    fn deref(&self) -> &Set {
        &self.set
    }
}

impl Riders {
    /// Ends them where they stand, and judges what they did.
    ///
    /// # Errors
    /// Where one of them could not ride at all.
    pub(super) async fn end(mut self, building: &Building) -> anyhow::Result<Ridden> {
        self.task.abort();
        match self.task.await {
            Ok(ended) => ended.context("the riders ended by themselves")?,
            Err(error) if error.is_cancelled() => {}
            Err(error) => return Err(error).context("the riders"),
        }
        let mut ridden = Ridden {
            completed: 0,
            failures: Vec::new(),
            violations: Vec::new(),
        };
        while let Ok((order, failure)) = self.done.try_recv() {
            let went_right = building.record(|record| {
                let truth = record.rides().get(&order);
                truth.is_some_and(|ride| ride.went_right())
            });
            match failure {
                None if went_right => ridden.completed += 1,
                None => ridden.failures.push(format!("{order}: not by the record")),
                Some(why) => ridden.failures.push(format!("{order}: {why}")),
            }
        }
        let judged = building.record(|record| record.judge());
        let say = |(at_ms, violation)| format!("at {at_ms} ms: {violation}");
        ridden.violations = judged.into_iter().map(say).collect();
        Ok(ridden)
    }
}

fn demo_args(plan: &StagePlan<'_>, broker: Option<String>) -> DemoArgs {
    DemoArgs {
        elevators: plan.elevators,
        robots: 1,
        rides: RIDES,
        speed: plan.speed,
        seed: 1,
        floors: FLOORS,
        controllers: Controllers::Modbus,
        faults: Vec::new(),
        broker,
        ride_s: None,
        timeout_s: LONGEST.as_secs(),
        keep: false,
        json: true,
    }
}
