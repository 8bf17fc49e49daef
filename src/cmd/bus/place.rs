//! Which line is meant, and whether it may be touched.

use std::io;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use adapters::bus::{Transport, Visit};
use adapters::map::Table;
use adapters::rtu::Observer;
use adapters::rtu::serial::{Parity, SerialConfig};

use super::tell::{Stop, joined};
use crate::config::Config;
use crate::operator::SOCKET;

/// The line: a bus of a configuration, or a port or an address by hand.
#[derive(Debug, Clone, clap::Args)]
pub struct PlaceArgs {
    /// The configuration that has the bus
    #[arg(long, value_name = "FILE", conflicts_with_all = ["port", "tcp", "rtu_over_tcp"])]
    pub config: Option<PathBuf>,
    /// The bus, by its id; may be left out where there is one
    #[arg(long, value_name = "ID", requires = "config")]
    pub bus: Option<String>,
    /// A serial port
    #[arg(long, value_name = "PATH", conflicts_with_all = ["tcp", "rtu_over_tcp"])]
    pub port: Option<PathBuf>,
    /// Its rate, 1200 to 1000000
    #[arg(long, value_name = "N", default_value_t = 19_200, requires = "port",
          value_parser = clap::value_parser!(u32).range(1_200..=1_000_000))]
    pub baud: u32,
    /// Its parity
    #[arg(long, value_enum, default_value = "even", requires = "port")]
    pub parity: ParityWord,
    /// Its stop bits, 1 or 2
    #[arg(long, value_name = "N", default_value_t = 1, requires = "port",
          value_parser = clap::value_parser!(u8).range(1..=2))]
    pub stop_bits: u8,
    /// A Modbus TCP server
    #[arg(long, value_name = "HOST:PORT", value_parser = address, conflicts_with = "rtu_over_tcp")]
    pub tcp: Option<String>,
    /// A converter that passes RTU frames on
    #[arg(long, value_name = "HOST:PORT", value_parser = address)]
    pub rtu_over_tcp: Option<String>,
    /// How long a unit has to begin its answer, in milliseconds, 10 to 10000; else 200 on a serial
    /// port, 500 behind a converter and 800 over Modbus TCP
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(10..=10_000))]
    pub wait_ms: Option<u64>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// The parity bit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum ParityWord {
    /// The default of Modbus.
    Even,
    /// The other one.
    Odd,
    /// There is none.
    None,
}

/// A table of a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum TableWord {
    /// Coils, function 01
    Coil,
    /// Discrete inputs, function 02
    Discrete,
    /// Input registers, function 04
    Input,
    /// Holding registers, function 03
    Holding,
}

impl From<TableWord> for Table {
    fn from(word: TableWord) -> Self {
        match word {
            TableWord::Coil => Self::Coil,
            TableWord::Discrete => Self::Discrete,
            TableWord::Input => Self::Input,
            TableWord::Holding => Self::Holding,
        }
    }
}

/// The word of a table, as maps have it.
pub(super) fn word(table: Table) -> &'static str {
    match table {
        Table::Coil => "coil",
        Table::Discrete => "discrete",
        Table::Input => "input",
        Table::Holding => "holding",
    }
}

/// The line that is meant, which no gateway has.
pub(super) struct Place {
    /// What carries it.
    pub(super) transport: Transport,
    /// The configuration, and the id of the bus in it.
    pub(super) site: Option<(Box<Config>, String)>,
    wait: Option<Duration>,
}

impl Place {
    /// Finds the line.
    ///
    /// # Errors
    /// A mistake in the configuration, no such bus, or a gateway that runs on the configuration.
    pub(super) fn find(args: &PlaceArgs) -> Result<Self, Stop> {
        let wait = args.wait_ms.map(Duration::from_millis);
        let by_hand = |transport| Self {
            transport,
            site: None,
            wait,
        };
        if let Some(address) = args.tcp.clone() {
            return Ok(by_hand(Transport::Tcp { address }));
        }
        if let Some(address) = args.rtu_over_tcp.clone() {
            return Ok(by_hand(Transport::RtuOverTcp { address }));
        }
        if let Some(path) = &args.port {
            let mut serial = SerialConfig::new(path, args.baud);
            serial.parity = match args.parity {
                ParityWord::Even => Parity::Even,
                ParityWord::Odd => Parity::Odd,
                ParityWord::None => Parity::None,
            };
            serial.two_stop_bits = args.stop_bits == 2;
            return Ok(by_hand(Transport::Serial(serial)));
        }
        let Some(path) = &args.config else {
            let why = "no line is named: expected --config FILE and --bus ID, --port PATH, --tcp \
                       HOST:PORT, or --rtu-over-tcp HOST:PORT";
            return Err(Stop::Usage(why.to_owned()));
        };
        let config = Config::load(path)
            .map_err(|mistakes| Stop::Usage(joined(mistakes.into_iter(), "\n")))?;
        let bus = name_of_bus(&config, args.bus.as_deref())?;
        refuse_running(&config.gateway.data_dir)?;
        let transport = config.buses[&bus].transport.clone();
        Ok(Self {
            transport,
            site: Some((Box::new(config), bus)),
            wait,
        })
    }

    /// Opens it; `observer` is told of all bytes.
    ///
    /// # Errors
    /// Another program has it, or it cannot be opened.
    pub(super) async fn open(&self, observer: Observer) -> Result<Visit, Stop> {
        let opened = Visit::open(&self.transport, self.wait, observer).await;
        opened.map_err(|error| {
            if error.kind() == io::ErrorKind::ResourceBusy {
                Stop::InUse(error.to_string())
            } else {
                Stop::Failed(error.to_string())
            }
        })
    }

    /// Its name for people.
    pub(super) fn name(&self) -> String {
        let place = self.transport.place();
        match &self.site {
            Some((_, bus)) => format!("{bus} ({place})"),
            None => place,
        }
    }
}

fn name_of_bus(config: &Config, asked: Option<&str>) -> Result<String, Stop> {
    let known = joined(config.buses.keys(), ", ");
    match asked {
        Some(bus) if config.buses.contains_key(bus) => Ok(bus.to_owned()),
        Some(bus) => Err(Stop::Usage(format!("--bus {bus}: expected one of {known}"))),
        None => match config.buses.keys().next() {
            Some(bus) if config.buses.len() == 1 => Ok(bus.clone()),
            Some(_) => Err(Stop::Usage(format!(
                "--bus is missing: expected one of {known}"
            ))),
            None => Err(Stop::Usage(
                "the configuration has no bus in use".to_owned(),
            )),
        },
    }
}

/// Refuses where a gateway runs: it opens its operators' socket before its buses.
fn refuse_running(data_dir: &Path) -> Result<(), Stop> {
    let socket = data_dir.join(SOCKET);
    let Err(error) = UnixStream::connect(&socket) else {
        let dir = data_dir.display();
        return Err(Stop::InUse(format!(
            "a gateway runs on {dir} and has the bus: stop it first"
        )));
    };
    let is_nobody = matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused
    );
    if is_nobody {
        return Ok(());
    }
    Err(Stop::InUse(format!(
        "whether a gateway runs cannot be told: {}: {error}",
        socket.display()
    )))
}

/// An address with its port.
fn address(text: &str) -> Result<String, String> {
    let parts = text.rsplit_once(':');
    let is_port = |port: &str| port.parse::<u16>().is_ok_and(|port| port > 0);
    match parts {
        Some((host, port)) if !host.is_empty() && is_port(port) => Ok(text.to_owned()),
        Some(_) | None => Err("expected HOST:PORT, such as 10.0.0.7:502".to_owned()),
    }
}
