//! A peer on the other end of a pipe, written from the Modbus specification and without the code
//! under test: it takes requests apart byte by byte and answers, or misbehaves, as it is told.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, WriteHalf, duplex, split};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep};

/// Bytes that a peer lets go, so long after the request has come.
#[derive(Debug, Clone)]
pub(crate) struct Emit {
    after: Duration,
    bytes: Vec<u8>,
}

impl Emit {
    pub(crate) fn now(bytes: Vec<u8>) -> Self {
        Self::after(5, bytes)
    }

    pub(crate) fn after(ms: u64, bytes: Vec<u8>) -> Self {
        Self {
            after: Duration::from_millis(ms),
            bytes,
        }
    }
}

/// Requests, and when they came.
type Seen = Arc<Mutex<Vec<(Instant, Vec<u8>)>>>;

pub(crate) struct Peer {
    seen: Seen,
    writer: Arc<tokio::sync::Mutex<WriteHalf<DuplexStream>>>,
    task: JoinHandle<()>,
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Peer {
    /// `script` is told the number of a request, from 0, and its frame.
    pub(crate) fn start(
        mut script: impl FnMut(usize, &[u8]) -> Vec<Emit> + Send + 'static,
    ) -> (DuplexStream, Self) {
        let (ours, theirs) = duplex(64 * 1024);
        let (mut reader, writer) = split(theirs);
        let writer = Arc::new(tokio::sync::Mutex::new(writer));
        let seen = Seen::default();
        let (out, log) = (Arc::clone(&writer), Arc::clone(&seen));
        let task = tokio::spawn(async move {
            loop {
                let mut frame = vec![0; 7];
                if reader.read_exact(&mut frame).await.is_err() {
                    return;
                }
                let rest = if frame[1] >= 15 {
                    usize::from(frame[6]) + 2
                } else {
                    1
                };
                let mut tail = vec![0; rest];
                if reader.read_exact(&mut tail).await.is_err() {
                    return;
                }
                frame.extend(tail);
                assert_eq!(crc(&frame[..frame.len() - 2]), frame[frame.len() - 2..]);
                let number = {
                    let mut seen = log.lock().unwrap();
                    seen.push((Instant::now(), frame.clone()));
                    seen.len() - 1
                };
                for Emit { after, bytes } in script(number, &frame) {
                    let out = Arc::clone(&out);
                    tokio::spawn(async move {
                        sleep(after).await;
                        let _ = out.lock().await.write_all(&bytes).await;
                    });
                }
            }
        });
        (ours, Self { seen, writer, task })
    }

    /// The frames of all requests so far.
    pub(crate) fn requests(&self) -> Vec<Vec<u8>> {
        let seen = self.seen.lock().unwrap();
        seen.iter().map(|(_, frame)| frame.clone()).collect()
    }

    /// When each of them came.
    pub(crate) fn times(&self) -> Vec<Instant> {
        let seen = self.seen.lock().unwrap();
        seen.iter().map(|(at, _)| *at).collect()
    }

    /// Bytes that nobody asked for.
    pub(crate) async fn shout(&self, bytes: &[u8]) {
        self.writer.lock().await.write_all(bytes).await.unwrap();
    }
}

/// The checksum, bit by bit (Modbus over Serial Line V1.02, section 6.2.2).
pub(crate) fn crc(bytes: &[u8]) -> [u8; 2] {
    let mut crc = 0xFFFF_u16;
    for byte in bytes {
        crc ^= u16::from(*byte);
        for _ in 0..8 {
            let carry = crc & 1;
            crc >>= 1;
            if carry == 1 {
                crc ^= 0xA001;
            }
        }
    }
    crc.to_le_bytes()
}

pub(crate) fn sealed(body: &[u8]) -> Vec<u8> {
    [body, &crc(body)].concat()
}

/// The reply to a request; every register that is read holds `word`, every bit is its lowest.
pub(crate) fn obey(frame: &[u8], word: u16) -> Vec<u8> {
    let count = usize::from(u16::from_be_bytes([frame[4], frame[5]]));
    let mut body = vec![frame[0], frame[1]];
    match frame[1] {
        1 | 2 => {
            let bytes = count.div_ceil(8);
            body.push(u8::try_from(bytes).unwrap());
            body.extend(vec![if word & 1 == 1 { 0xFF } else { 0 }; bytes]);
        }
        3 | 4 => {
            body.push(u8::try_from(count * 2).unwrap());
            body.extend((0..count).flat_map(|_| word.to_be_bytes()));
        }
        _ => body.extend_from_slice(&frame[2..6]),
    }
    sealed(&body)
}

pub(crate) fn exception(frame: &[u8], code: u8) -> Vec<u8> {
    sealed(&[frame[0], frame[1] | 0x80, code])
}

/// Numbers of a fixed series (Steele, Lea, Flood 2014), so that each run is the same.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % end
    }

    pub(crate) fn byte(&mut self) -> u8 {
        u8::try_from(self.below(256)).unwrap()
    }
}
