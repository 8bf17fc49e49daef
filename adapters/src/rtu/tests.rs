//! The master against peers that are written from the specification, on a clock of their own.

mod golden;
mod hearing;
mod late;
mod line;
pub(crate) mod peer;
pub(crate) mod port;

use std::time::Duration;

use tokio::io::DuplexStream;

use self::peer::{Emit, Peer};
use super::*;
use crate::map::Table;

/// Bytes written in hexadecimal; spaces are for reading.
fn bytes(hex: &str) -> Vec<u8> {
    let digits: String = hex.split_whitespace().collect();
    let pair = |at: usize| u8::from_str_radix(&digits[at..at + 2], 16).unwrap();
    (0..digits.len()).step_by(2).map(pair).collect()
}

fn read(table: Table, address: u16, count: u16) -> Request {
    Request::Read {
        table,
        address,
        count,
    }
}

/// Holding registers 0 to 2.
fn read_three() -> Request {
    read(Table::Holding, 0, 3)
}

fn write(address: u16, value: u16) -> Request {
    Request::WriteRegister { address, value }
}

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// A master on a line at 19,200 baud to a peer that does what `script` says with each request.
fn line(
    script: impl FnMut(usize, &[u8]) -> Vec<Emit> + Send + 'static,
) -> (RtuMaster<DuplexStream>, Peer) {
    let (stream, peer) = Peer::start(script);
    let mut master = RtuMaster::new(RtuTiming::serial(19_200));
    master.attach(stream);
    (master, peer)
}
