//! The bus task, as the gateway starts it, on a pipe to a simulated line.

use std::sync::Arc;

use adapters::bus::{Bus, LineConfig, LineTiming, Opened, Opener, Transport, Unit, Wire};
use adapters::map::{MappedFloor, RegisterMap};
use adapters::rtu::RtuTiming;
use adapters::rtu::serial::SerialConfig;
use dispatch::edge::FenceGate;
use hallcall::bus::{self, BusLine};
use hallcall::clock::Clock;
use hallcall::inbox::{Arrival, INBOX_MAX};
use protocol::Side;
use sim::live::layout::Layout;
use sim::live::map_text::map_text;
use sim::live::rtu::RtuLine;
use tokio::io::{DuplexStream, duplex};
use tokio::sync::mpsc;

use crate::stage::{FLOORS, UNIT, elevator, landing};

const BAUD: u32 = 19_200;
/// How often the whole of the controller is read.
const POLL_MS: u64 = 400;
/// Bytes that a pipe to the line holds.
const PIPE: usize = 4_096;

/// The bus task of a line; each opening is a new pipe to it.
pub fn master(line: &Arc<RtuLine>) -> (BusLine, mpsc::Receiver<Arrival>) {
    let (connect, streams) = mpsc::channel::<DuplexStream>(1);
    tokio::spawn(Arc::clone(line).serve_streams(streams));
    let opener: Opener = Box::new(move |_| {
        let connect = connect.clone();
        Box::pin(async move { open(&connect).await })
    });
    let layout = Layout::new(usize::try_from(FLOORS).unwrap()).unwrap();
    let floors = (1..=FLOORS).map(|number| MappedFloor {
        label: landing(&format!("{number}F")).floor,
        sides: [Side::Front].into(),
    });
    let unit = Unit {
        elevator: elevator(),
        unit: UNIT,
        relay_unit: None,
        device: RegisterMap::parse(&map_text(&layout, POLL_MS))
            .unwrap()
            .into(),
        floors: floors.collect(),
    };
    let config = LineConfig {
        transport: Transport::Serial(SerialConfig::new("line", BAUD)),
        units: vec![unit],
        zones: Vec::new(),
        timing: LineTiming::default(),
        seed: 1,
    };
    let clock = Clock::start();
    let driver = Bus::over(opener, config, Arc::new(move || clock.mono_ms())).unwrap();
    let (inbox, arrivals) = mpsc::channel(INBOX_MAX);
    let driver = Box::new(driver);
    let (bus, _) = bus::spawn("line".to_owned(), driver, FenceGate::new(), inbox, clock);
    (bus, arrivals)
}

async fn open(connect: &mpsc::Sender<DuplexStream>) -> Opened {
    let (ours, theirs) = duplex(PIPE);
    let sent = connect.send(theirs).await;
    sent.map_err(|_| "the line is gone".to_owned())?;
    let wire: Box<dyn Wire> = Box::new(ours);
    Ok((wire, RtuTiming::serial(BAUD)))
}
