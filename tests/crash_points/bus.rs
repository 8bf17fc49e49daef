//! A tap on a Modbus TCP line: it passes everything on and notes what was asked, in order.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// A request, as it went by.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asked {
    /// Which connection, from 0.
    pub(crate) connection: usize,
    pub(crate) unit: u8,
    pub(crate) function: u8,
}

impl Asked {
    /// Whether it changes anything: functions 5, 6, 15 and 16.
    pub(crate) fn writes(self) -> bool {
        [5, 6, 15, 16].contains(&self.function)
    }
}

/// The tap; its threads end with its connections, and the listener with the test's process.
pub(crate) struct BusTap {
    port: u16,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl BusTap {
    /// Before a server on this port of loopback.
    pub(crate) fn start(server: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let noted = Arc::clone(&asked);
        thread::spawn(move || {
            for (connection, client) in listener.incoming().enumerate() {
                let (Ok(client), Ok(device)) = (client, TcpStream::connect(("127.0.0.1", server)))
                else {
                    continue;
                };
                let noted = Arc::clone(&noted);
                thread::spawn(move || serve(connection, &client, &device, &noted));
            }
        });
        Self { port, asked }
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// All that was asked so far.
    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }
}

fn serve(connection: usize, client: &TcpStream, device: &TcpStream, noted: &Mutex<Vec<Asked>>) {
    for stream in [client, device] {
        let _ = stream.set_nodelay(true);
    }
    thread::scope(|scope| {
        scope.spawn(|| {
            let _ = io::copy(&mut &*device, &mut &*client);
            let _ = client.shutdown(Shutdown::Both);
        });
        while let Ok(frame) = frame(client) {
            noted.lock().unwrap().push(Asked {
                connection,
                unit: frame[6],
                function: frame[7],
            });
            if (&*device).write_all(&frame).is_err() {
                break;
            }
        }
        let _ = device.shutdown(Shutdown::Both);
    });
}

/// One frame: a head of 6 bytes, whose last two say how many follow.
fn frame(mut stream: &TcpStream) -> io::Result<Vec<u8>> {
    let mut frame = vec![0; 6];
    stream.read_exact(&mut frame)?;
    let length = usize::from(u16::from_be_bytes([frame[4], frame[5]]));
    if length < 2 {
        return Err(io::ErrorKind::InvalidData.into());
    }
    frame.resize(6 + length, 0);
    stream.read_exact(&mut frame[6..])?;
    Ok(frame)
}
