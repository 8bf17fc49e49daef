//! A Modbus TCP device on loopback, written from the Modbus specification and without the crate
//! that is under test: it takes requests apart byte by byte and misbehaves as it is told.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// What the device does with a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Play {
    /// Does it and answers.
    Answer,
    /// Closes the connection.
    Close,
    /// Answers with this exception.
    Exception(u8),
    /// Answers with this PDU.
    Pdu(Vec<u8>),
    /// Does nothing.
    Silence,
    /// Answers, but after so many milliseconds.
    Late(u64),
    /// Answers as if an earlier request had been asked, then rightly.
    WrongTransaction(Vec<u8>),
    /// Answers as another unit.
    WrongUnit,
}

type Script = Box<dyn FnMut(u8, &[u8]) -> Play + Send>;

/// What a test sees of the device.
#[derive(Default)]
pub(super) struct Seen {
    /// Every request: unit and PDU.
    pub(super) requests: Vec<(u8, Vec<u8>)>,
    /// How many connections were taken.
    pub(super) connections: usize,
    /// Coils (0), discrete inputs (1), input (3) and holding registers (4), by unit and address.
    pub(super) points: BTreeMap<(u8, u8, u16), u16>,
}

pub(super) struct Device {
    pub(super) address: String,
    pub(super) seen: Arc<Mutex<Seen>>,
    task: JoinHandle<()>,
}

impl Drop for Device {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Device {
    /// A device that does what `script` says with each request.
    pub(super) async fn start(script: impl FnMut(u8, &[u8]) -> Play + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        Self::on(listener, script)
    }

    pub(super) fn on(
        listener: TcpListener,
        script: impl FnMut(u8, &[u8]) -> Play + Send + 'static,
    ) -> Self {
        let address = listener.local_addr().unwrap().to_string();
        let seen = Arc::new(Mutex::new(Seen::default()));
        let script: Arc<Mutex<Script>> = Arc::new(Mutex::new(Box::new(script)));
        let world = Arc::clone(&seen);
        let task = tokio::spawn(async move {
            let mut open = tokio::task::JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                world.lock().unwrap().connections += 1;
                open.spawn(serve(stream, Arc::clone(&world), Arc::clone(&script)));
            }
        });
        Self {
            address,
            seen,
            task,
        }
    }

    pub(super) fn set(&self, unit: u8, table: u8, address: u16, word: u16) {
        self.seen
            .lock()
            .unwrap()
            .points
            .insert((unit, table, address), word);
    }

    pub(super) fn requests(&self) -> Vec<(u8, Vec<u8>)> {
        self.seen.lock().unwrap().requests.clone()
    }

    pub(super) fn connections(&self) -> usize {
        self.seen.lock().unwrap().connections
    }
}

async fn serve(mut stream: TcpStream, seen: Arc<Mutex<Seen>>, script: Arc<Mutex<Script>>) {
    loop {
        // MBAP header: transaction, protocol 0, length of unit and PDU, unit.
        let mut header = [0; 7];
        if stream.read_exact(&mut header).await.is_err() {
            return;
        }
        assert_eq!(header[2..4], [0, 0], "protocol identifier");
        let length = usize::from(u16::from_be_bytes([header[4], header[5]]));
        let mut pdu = vec![0; length - 1];
        if stream.read_exact(&mut pdu).await.is_err() {
            return;
        }
        let unit = header[6];
        seen.lock().unwrap().requests.push((unit, pdu.clone()));
        let play = (script.lock().unwrap())(unit, &pdu);
        let answer = |pdu: &[u8]| frame([header[0], header[1]], unit, pdu);
        let bytes = match play {
            Play::Answer => answer(&obey(&seen, unit, &pdu)),
            Play::Close => return,
            Play::Exception(code) => answer(&[pdu[0] | 0x80, code]),
            Play::Pdu(pdu) => answer(&pdu),
            Play::Silence => continue,
            Play::Late(ms) => {
                tokio::time::sleep(Duration::from_millis(ms)).await;
                answer(&obey(&seen, unit, &pdu))
            }
            Play::WrongTransaction(earlier) => {
                let other = u16::from_be_bytes([header[0], header[1]]).wrapping_sub(1);
                let mut bytes = frame(other.to_be_bytes(), unit, &earlier);
                bytes.extend(answer(&obey(&seen, unit, &pdu)));
                bytes
            }
            Play::WrongUnit => frame([header[0], header[1]], unit + 1, &obey(&seen, unit, &pdu)),
        };
        if stream.write_all(&bytes).await.is_err() {
            return;
        }
    }
}

fn frame(transaction: [u8; 2], unit: u8, pdu: &[u8]) -> Vec<u8> {
    let length = u16::try_from(pdu.len() + 1).unwrap().to_be_bytes();
    let mut bytes = vec![
        transaction[0],
        transaction[1],
        0,
        0,
        length[0],
        length[1],
        unit,
    ];
    bytes.extend_from_slice(pdu);
    bytes
}

/// Does what a request says and yields the PDU of the reply (Modbus application protocol 1.1b3,
/// sections 6.1 to 6.6, 6.11, 6.12).
fn obey(seen: &Mutex<Seen>, unit: u8, pdu: &[u8]) -> Vec<u8> {
    let points = &mut seen.lock().unwrap().points;
    let word = |at: usize| u16::from_be_bytes([pdu[at], pdu[at + 1]]);
    let (address, second) = (word(1), word(3));
    let row = |table| {
        (address..address + second)
            .map(|at| points.get(&(unit, table, at)).copied().unwrap_or(0))
            .collect::<Vec<u16>>()
    };
    match pdu[0] {
        function @ (1 | 2) => {
            let mut bytes = vec![0_u8; usize::from(second).div_ceil(8)];
            for (at, bit) in row(function - 1).into_iter().enumerate() {
                bytes[at / 8] |= u8::from(bit != 0) << (at % 8);
            }
            [vec![function, u8::try_from(bytes.len()).unwrap()], bytes].concat()
        }
        function @ (3 | 4) => {
            let table = if function == 3 { 4 } else { 3 };
            let bytes: Vec<u8> = row(table).into_iter().flat_map(u16::to_be_bytes).collect();
            [vec![function, u8::try_from(bytes.len()).unwrap()], bytes].concat()
        }
        5 => {
            points.insert((unit, 0, address), u16::from(second == 0xFF00));
            pdu.to_vec()
        }
        6 => {
            points.insert((unit, 4, address), second);
            pdu.to_vec()
        }
        15 => {
            for at in 0..second {
                let bit = (pdu[6 + usize::from(at / 8)] >> (at % 8)) & 1;
                points.insert((unit, 0, address + at), u16::from(bit));
            }
            pdu[..5].to_vec()
        }
        16 => {
            for at in 0..second {
                points.insert((unit, 4, address + at), word(6 + 2 * usize::from(at)));
            }
            pdu[..5].to_vec()
        }
        function => vec![function | 0x80, 1],
    }
}
