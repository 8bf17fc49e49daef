//! The start and the end of a running gateway.

mod restore;
mod running;
mod start_error;

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::Arc;
use std::time::Duration;

use dispatch::edge::FenceGate;
use dispatch::{Core, Input};
use protocol::{ElevatorId, Topics};
use tokio::runtime::Runtime;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use crate::broker::EmbeddedBroker;
use crate::bus::{self, BusLine, LineParts};
use crate::clock::Clock;
use crate::config::{Broker, Config};
use crate::ending::{End, Ending};
use crate::engine::{self, Lines, MqttLine, Outlet, Parts, Ways};
use crate::http;
use crate::inbox::{Arrival, Heard, INBOX_MAX, Inbox};
use crate::instance::{Stamps, entropy, new_instance};
use crate::journal::{Committer, DiskWatch};
use crate::mqtt::{Account, Egress, Gate, egress, ingest};
use crate::operator::Operators;
use crate::token_key;
use restore::{Restored, restore};
use running::Running;
pub use start_error::StartError;

/// Between two looks at the free space of the disk.
const DISK_EVERY: Duration = Duration::from_secs(5);

/// How to run.
#[derive(Debug, Clone, Copy, Default)]
pub struct RunOptions {
    /// The data directory was restored from a backup.
    pub restored: bool,
}

/// Runs a gateway until it ends; returns the exit code. Signals are taken here.
///
/// # Errors
/// Where it did not start.
pub fn run_gateway(config: Config, options: RunOptions) -> Result<u8, StartError> {
    #[cfg(feature = "crash-points")]
    crate::crash::arm().map_err(StartError::Config)?;
    refuse_open_broker(&config)?;
    let account = Account::new(&config.mqtt)?;
    let topics = Topics::new(&config.gateway.root, &config.gateway.site)
        .map_err(|error| StartError::Config(format!("gateway.root: {error}")))?;
    let clock = Clock::start();
    let stamps = Stamps::new(config.gateway.id.clone(), new_instance()?, clock);
    // The lock of the data directory comes before anything that another process could notice.
    let restored = restore(&config, options.restored)?;
    tracing::info!(gateway = %config.gateway.id, instance = %stamps.instance(), "starting");
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    let shell = Shell {
        config,
        account,
        topics,
        clock,
        stamps,
    };
    let code = runtime.block_on(shell.run(&runtime, restored))?;
    // The process ends now. What still runs, such as an engine that waits for the disk, must not
    // find its runtime gone: that is a panic.
    std::mem::forget(runtime);
    Ok(code)
}

/// The embedded broker has no access control: beyond loopback only where that is asked for.
fn refuse_open_broker(config: &Config) -> Result<(), StartError> {
    let mqtt = &config.mqtt;
    if mqtt.broker == Broker::Embedded && !mqtt.listen.ip().is_loopback() && !mqtt.insecure_trial {
        return Err(StartError::Config(format!(
            "mqtt.listen = {:?}: the embedded broker has no access control and listens on \
             loopback only, unless insecure_trial = true",
            mqtt.listen.to_string()
        )));
    }
    Ok(())
}

struct Shell {
    config: Config,
    account: Account,
    topics: Topics,
    clock: Clock,
    stamps: Stamps,
}

/// The bus tasks, and the way to the one of each elevator that has a bus.
#[derive(Default)]
struct Buses {
    lines: BTreeMap<ElevatorId, BusLine>,
    tasks: Vec<JoinHandle<()>>,
}

impl Shell {
    async fn run(self, runtime: &Runtime, restored: Restored) -> Result<u8, StartError> {
        let mut terminate = signal(SignalKind::terminate())?;
        let mut interrupt = signal(SignalKind::interrupt())?;
        let (ending, mut ends) = Ending::channel();
        let running = self.start(runtime, restored, ending).await?;
        let mut told = false;
        let end = loop {
            tokio::select! {
                _ = terminate.recv() => break End::Asked,
                _ = interrupt.recv() => break End::Asked,
                end = ends.recv() => break end.unwrap_or(End::Broken("everything")),
                () = running.speaker.online(), if !told => {
                    crash_point!(recovering());
                    told = true;
                    self.tell_ready();
                }
            }
        };
        let code = running.end(end, &mut ends).await;
        Ok(code)
    }

    /// One line for whoever started us.
    fn tell_ready(&self) {
        let mut out = io::stdout();
        let (gateway, instance) = (&self.config.gateway.id, self.stamps.instance());
        // They may have gone; that is no reason to end.
        let _ = writeln!(out, "ready: gateway {gateway}, instance {instance}");
        let _ = out.flush();
    }

    async fn start(
        &self,
        runtime: &Runtime,
        restored: Restored,
        ending: Ending,
    ) -> Result<Running, StartError> {
        let seed = entropy()?;
        let (inbox, arrivals) = mpsc::channel(INBOX_MAX);
        let operators = Operators::default();
        let listening = operators.listen(&self.config.gateway.data_dir, inbox.clone())?;
        let broker = self.start_broker(seed).await?;
        let (egress, speaking) = Egress::new(egress::Setup {
            account: self.account.clone(),
            topics: self.topics.clone(),
            stamps: self.stamps.clone(),
            clock: self.clock,
            inbox: inbox.clone(),
        });
        let hearing = ingest::Connection::new(&self.account, &self.config.gateway.id);
        let Buses { lines, tasks } = self.start_buses(&inbox, seed)?;
        let mqtt = Arc::new(MqttLine::new(&self.config));
        let lines = Lines::new(
            lines,
            Arc::clone(&mqtt),
            egress.clone(),
            self.clock,
            inbox.clone(),
        );
        let ways = Ways {
            egress: egress.clone(),
            lines: Arc::new(lines),
            device_keys: self.config.device_keys.clone(),
            operators: operators.clone(),
            acks: hearing.acks(),
            inbox: inbox.clone(),
            ending: ending.clone(),
        };
        let engine = self.start_engine(runtime, restored, arrivals, ways, mqtt, ending.clone())?;
        let http = self.start_http(&inbox, operators)?;
        let gate = Arc::new(self.gate());
        let ingest = hearing.run(ingest::Setup {
            topics: self.topics.clone(),
            gateway: self.config.gateway.id.clone(),
            instance: self.stamps.instance().clone(),
            gate: Arc::clone(&gate),
            inbox: inbox.clone(),
            egress: egress.clone(),
            ending: ending.clone(),
            seed,
        });
        let disk = DiskWatch::new(&self.config.gateway.data_dir);
        Ok(Running {
            engine,
            ingest,
            speaker: egress,
            egress: speaking.run(gate, ending, seed.rotate_left(32)),
            operators: listening,
            http,
            disk: tokio::spawn(watch_disk(disk, inbox.clone())),
            inbox,
            buses: tasks,
            stamps: self.stamps.clone(),
            clock: self.clock,
            valid_ms: self.config.site.timing.valid_ms,
            broker,
        })
    }

    fn start_http(
        &self,
        inbox: &Inbox,
        operators: Operators,
    ) -> Result<Option<http::Running>, StartError> {
        let Some(config) = self.config.http.clone() else {
            return Ok(None);
        };
        let setup = http::Setup {
            config,
            topics: self.topics.clone(),
            stamps: self.stamps.clone(),
            inbox: inbox.clone(),
            operators,
        };
        Ok(Some(http::start(setup)?))
    }

    async fn start_broker(&self, seed: u64) -> Result<Option<EmbeddedBroker>, StartError> {
        let mqtt = &self.config.mqtt;
        if mqtt.broker != Broker::Embedded {
            return Ok(None);
        }
        let name = self.config.gateway.id.as_str();
        let broker = EmbeddedBroker::start(mqtt.listen, self.account.clone(), name, seed).await?;
        Ok(Some(broker))
    }

    fn start_engine(
        &self,
        runtime: &Runtime,
        restored: Restored,
        inbox: mpsc::Receiver<Arrival>,
        ways: Ways,
        mqtt: Arc<MqttLine>,
        ending: Ending,
    ) -> Result<engine::Running, StartError> {
        let Restored {
            journal,
            state,
            marks,
            covered,
            last,
            first,
        } = restored;
        let lines = Arc::clone(&ways.lines);
        let outlet = Outlet::new(ways);
        #[cfg(not(feature = "crash-points"))]
        let options = crate::journal::Options::default();
        #[cfg(feature = "crash-points")]
        let options = crate::crash::options().map_err(StartError::Config)?;
        let committer = Committer::start(journal, (covered, last), outlet, options)?;
        let parts = Parts {
            core: Core::restore(self.config.site.clone(), state),
            clock: self.clock,
            inbox,
            committer,
            marks,
            mqtt,
            lines,
            ending,
            timing: self.config.site.timing.clone(),
        };
        Ok(engine::start(
            parts,
            self.first(first)?,
            runtime.handle().clone(),
        )?)
    }

    fn gate(&self) -> Gate {
        let embedded = self.config.mqtt.broker == Broker::Embedded;
        let (account, topics) = (self.account.clone(), self.topics.clone());
        Gate::new(account, topics, self.stamps.clone(), embedded)
    }

    /// The first inputs of the process.
    fn first(&self, mut first: Vec<Input>) -> Result<Vec<Input>, StartError> {
        if !self.config.device_keys.is_empty() {
            let key = token_key::open(&self.config.gateway.data_dir)?;
            first.push(Input::TokenKey(Some(key)));
        }
        let mqtt = &self.config.mqtt;
        if mqtt.broker == Broker::Embedded && !mqtt.listen.ip().is_loopback() {
            first.push(Input::Insecure);
        }
        Ok(first)
    }

    /// One task for each bus, and the way to it for each elevator on it.
    fn start_buses(&self, inbox: &Inbox, seed: u64) -> Result<Buses, StartError> {
        let lines = bus::bus_lines(&self.config, self.clock, seed).map_err(|errors| {
            let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
            StartError::Config(errors.join("; "))
        })?;
        let mut buses = Buses::default();
        for parts in lines {
            let LineParts {
                name,
                elevators,
                driver,
            } = parts;
            let (line, task) =
                bus::spawn(name, driver, FenceGate::new(), inbox.clone(), self.clock);
            buses.lines.extend(
                elevators
                    .into_iter()
                    .map(|elevator| (elevator, line.clone())),
            );
            buses.tasks.push(task);
        }
        Ok(buses)
    }
}

async fn watch_disk(mut watch: DiskWatch, inbox: Inbox) {
    loop {
        match watch.poll() {
            Ok(Some(low)) => {
                let heard = Heard::Input(Input::Disk { low });
                if inbox.send(Arrival { heard, ack: None }).await.is_err() {
                    return;
                }
            }
            Ok(None) => {}
            Err(error) => tracing::warn!(%error, "the free space of the disk is not known"),
        }
        tokio::time::sleep(DISK_EVERY).await;
    }
}
