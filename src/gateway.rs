//! The start and the end of a running gateway.

mod restore;

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::Arc;
use std::time::Duration;

use dispatch::edge::{FenceGate, JournalError};
use dispatch::{Core, Input, LoadError};
use protocol::code::AlarmCode;
use protocol::ops::{Alarm, Severity};
use protocol::{ElevatorId, Outgoing, Topics};
use tokio::runtime::Runtime;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::broker::{BrokerError, EmbeddedBroker};
use crate::bus::{self, BusLine, LineParts};
use crate::clock::Clock;
use crate::config::{Broker, Config};
use crate::ending::{End, Ending};
use crate::engine::{self, Arrival, Heard, INBOX_MAX, Inbox, Lines, MqttLine, Outlet, Parts};
use crate::exit;
use crate::instance::{Stamps, entropy, new_instance};
use crate::journal::{Committer, DiskWatch, FenceMarkError, Options};
use crate::mqtt::look::duplicate_alarm;
use crate::mqtt::{Account, AccountError, Egress, Gate, egress, ingest};
use crate::operator::{Operators, OperatorsError};
use restore::{Restored, restore};

/// For the engine to finish what it has, doors held included (architecture, Ends: 15 s in all).
const ENGINE_END: Duration = Duration::from_secs(9);
/// For each connection to say its last words.
const CONNECTION_END: Duration = Duration::from_secs(2);
/// For all bus tasks to finish.
const BUSES_END: Duration = Duration::from_secs(2);
/// Between two looks at the free space of the disk.
const DISK_EVERY: Duration = Duration::from_secs(5);

/// How to run.
#[derive(Debug, Clone, Copy, Default)]
pub struct RunOptions {
    /// The data directory was restored from a backup.
    pub restored: bool,
}

/// Why a gateway did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The broker cannot be used as configured.
    #[error(transparent)]
    Account(#[from] AccountError),
    /// There is no embedded broker.
    #[error(transparent)]
    Broker(#[from] BrokerError),
    /// The configuration asks for something that it may not have.
    #[error("{0}")]
    Config(String),
    /// The journal cannot be used.
    #[error("{error}{}", hint(.error))]
    Journal {
        /// Why.
        #[from]
        error: JournalError,
    },
    /// The journal holds what is no state.
    #[error("{0}; `hallcall journal` tells more")]
    State(#[from] LoadError),
    /// The fence marks cannot be used.
    #[error(transparent)]
    Marks(#[from] FenceMarkError),
    /// There is no socket for operators.
    #[error(transparent)]
    Operators(#[from] OperatorsError),
    /// The system does not give what is needed.
    #[error("the system: {0}")]
    System(#[from] io::Error),
}

fn hint(error: &JournalError) -> &'static str {
    match error {
        JournalError::Corrupt { .. } => "; `hallcall journal` tells more",
        JournalError::InUse | JournalError::TooLarge(_) | JournalError::Store(_) => "",
    }
}

impl StartError {
    /// The exit code (`wire.md` section 7).
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Account(_) | Self::Broker(_) | Self::Config(_) => exit::USAGE,
            Self::Journal { error } => crate::journal::exit_code(error),
            Self::State(_) | Self::Marks(FenceMarkError::Corrupt { .. }) => exit::CORRUPT,
            Self::Marks(FenceMarkError::Store(_) | FenceMarkError::TooMany(_)) => {
                exit::JOURNAL_FAILED
            }
            Self::Operators(OperatorsError::InUse(_)) => exit::IN_USE,
            Self::Operators(_) | Self::System(_) => 1,
        }
    }
}

/// Runs a gateway until it ends; returns the exit code. Signals are taken here.
///
/// # Errors
/// Where it did not start.
pub fn run_gateway(config: Config, options: RunOptions) -> Result<u8, StartError> {
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
    // Nothing that still runs may hold the end up.
    runtime.shutdown_timeout(Duration::from_millis(500));
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

/// All that runs.
struct Running {
    engine: engine::Running,
    ingest: ingest::Running,
    egress: egress::Running,
    speaker: Egress,
    inbox: Inbox,
    operators: JoinHandle<()>,
    disk: JoinHandle<()>,
    buses: Vec<JoinHandle<()>>,
    broker: Option<EmbeddedBroker>,
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
                    told = true;
                    self.tell_ready();
                }
            }
        };
        let code = self.end(running, end, &mut ends).await;
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
        let config = &self.config;
        let seed = entropy()?;
        let gateway = config.gateway.id.clone();
        let embedded = config.mqtt.broker == Broker::Embedded;
        let (inbox, arrivals) = mpsc::channel(INBOX_MAX);
        let operators = Operators::default();
        let listening = operators.listen(&config.gateway.data_dir, inbox.clone())?;
        let broker = match embedded {
            true => Some(
                EmbeddedBroker::start(
                    config.mqtt.listen,
                    self.account.clone(),
                    gateway.as_str(),
                    seed,
                )
                .await?,
            ),
            false => None,
        };
        let (egress, speaking) = Egress::new(egress::Setup {
            account: self.account.clone(),
            topics: self.topics.clone(),
            stamps: self.stamps.clone(),
            clock: self.clock,
            inbox: inbox.clone(),
        });
        let hearing = ingest::Connection::new(&self.account, &gateway);
        let mqtt = Arc::new(MqttLine::new(config));
        let buses = self.start_buses(&inbox, seed)?;
        let lines = Arc::new(Lines::new(
            buses.lines,
            Arc::clone(&mqtt),
            egress.clone(),
            self.clock,
            inbox.clone(),
        ));
        let outlet = Outlet {
            egress: egress.clone(),
            lines: Arc::clone(&lines),
            operators,
            acks: hearing.acks(),
            inbox: inbox.clone(),
        };
        let Restored {
            journal,
            state,
            marks,
            covered,
            last,
            first,
        } = restored;
        let committer = Committer::start(journal, (covered, last), outlet, Options::default())?;
        let core = Core::restore(config.site.clone(), state);
        let parts = Parts {
            core,
            clock: self.clock,
            inbox: arrivals,
            committer,
            marks,
            mqtt,
            lines,
            ending: ending.clone(),
            timing: config.site.timing.clone(),
        };
        let engine = engine::start(parts, self.first(first), runtime.handle().clone())?;
        let disk = tokio::spawn(watch_disk(
            DiskWatch::new(&config.gateway.data_dir),
            inbox.clone(),
        ));
        let gate = Arc::new(Gate::new(
            self.account.clone(),
            self.topics.clone(),
            self.stamps.clone(),
            embedded,
        ));
        let ingest = hearing.run(ingest::Setup {
            topics: self.topics.clone(),
            gateway,
            instance: self.stamps.instance().clone(),
            gate: Arc::clone(&gate),
            inbox: inbox.clone(),
            egress: egress.clone(),
            ending: ending.clone(),
            seed,
        });
        let speaker = egress;
        let egress = speaking.run(gate, ending, seed.rotate_left(32));
        let operators = listening;
        Ok(Running {
            engine,
            ingest,
            egress,
            speaker,
            inbox,
            operators,
            disk,
            buses: buses.tasks,
            broker,
        })
    }

    /// The first inputs of the process.
    fn first(&self, mut first: Vec<Input>) -> Vec<Input> {
        let mqtt = &self.config.mqtt;
        if mqtt.broker == Broker::Embedded && !mqtt.listen.ip().is_loopback() {
            first.push(Input::Insecure);
        }
        first
    }

    /// One task for each bus, and the way to it for each elevator on it.
    fn start_buses(&self, inbox: &Inbox, seed: u64) -> Result<Buses, StartError> {
        let lines = bus::modbus_lines(&self.config, self.clock, seed).map_err(|errors| {
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

    /// Ends everything in an order in which nothing that was promised is lost.
    async fn end(&self, running: Running, end: End, ends: &mut mpsc::Receiver<End>) -> u8 {
        tracing::info!(?end, "ending");
        running.operators.abort();
        running.disk.abort();
        let mut code = end.exit_code();
        match &end {
            End::Asked | End::Broken(_) => {
                running.finish_engine().await;
                running.speaker.say_offline();
            }
            End::JournalFailed { wait_ms } => {
                running.speaker.say(Outgoing::Alarm(self.journal_alarm()));
                running.speaker.say_offline();
                let wait = Duration::from_millis(*wait_ms) + BUSES_END;
                if !running.engine.ended(wait).await {
                    tracing::error!("the engine did not end in time");
                }
            }
            End::DuplicateGateway(other) => {
                running
                    .speaker
                    .say(Outgoing::Alarm(duplicate_alarm(&self.stamps, other)));
            }
        }
        if let Ok(End::JournalFailed { .. }) = ends.try_recv() {
            code = exit::JOURNAL_FAILED;
        }
        running
            .close(!matches!(end, End::DuplicateGateway(_)))
            .await;
        tracing::info!(code, "ended");
        code
    }

    fn journal_alarm(&self) -> Alarm {
        Alarm {
            alarm_id: format!("{}-journal", self.stamps.instance()),
            severity: Severity::Critical,
            code: AlarmCode::JournalFailed,
            elevator_id: None,
            order_id: None,
            raised_at: self.clock.wall(),
            cleared_at: None,
            detail: "the journal cannot be written: the gateway ends".to_owned(),
        }
    }
}

impl Running {
    /// The engine finishes what it has.
    async fn finish_engine(&self) {
        let stop = self.inbox.send(Arrival {
            heard: Heard::Stop,
            ack: None,
        });
        let over = async { stop.await.is_err() || self.engine.ended(ENGINE_END).await };
        if !timeout(ENGINE_END, over).await.unwrap_or(false) {
            tracing::error!("the engine did not end in time");
        }
    }

    /// Closes all connections. `finish`: the buses end what they have begun.
    async fn close(self, finish: bool) {
        self.ingest.stop(CONNECTION_END).await;
        let finished = async {
            for bus in self.buses {
                let _ = bus.await;
            }
        };
        if finish && timeout(BUSES_END, finished).await.is_err() {
            tracing::warn!("the buses did not finish in time");
        }
        self.egress.stop(CONNECTION_END).await;
        if let Some(broker) = self.broker {
            broker.stop().await;
        }
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
