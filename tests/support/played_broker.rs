//! A broker played by the test: it notes every packet in the order in which it came, and delivers
//! what the test wants, when it wants. MQTT 3.1.1, only what a gateway says and hears.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Instant;

use super::SOON;

/// A packet that came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Packet {
    Connect,
    Subscribe,
    Publish { topic: String, payload: String },
    PubAck { id: u16 },
    Gone,
}

/// A packet, who sent it, and on which of its connections, from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Came {
    pub client: String,
    pub connection: usize,
    pub packet: Packet,
}

#[derive(Default)]
struct Inner {
    came: Vec<Came>,
    /// The newest connection of each client id, and how many it had.
    clients: Vec<(String, usize, TcpStream)>,
}

type Shared = Arc<(Mutex<Inner>, Condvar)>;

pub struct PlayedBroker {
    port: u16,
    inner: Shared,
}

impl PlayedBroker {
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let inner = Shared::default();
        let shared = Arc::clone(&inner);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let shared = Arc::clone(&shared);
                std::thread::spawn(move || serve(&shared, stream));
            }
        });
        Self { port, inner }
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// Delivers a message with QoS 1 to the newest connection of a client.
    pub fn deliver(&self, client: &str, id: u16, topic: &str, payload: &str) {
        let mut body = text(topic);
        body.extend(id.to_be_bytes());
        body.extend(payload.as_bytes());
        self.send(client, &packet(0x32, &body));
    }

    /// Breaks the newest connection of a client.
    pub fn cut(&self, client: &str) {
        let inner = self.inner.0.lock().unwrap();
        if let Some((_, _, stream)) = inner.clients.iter().find(|(id, ..)| id == client) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    /// The first packet that `is` wanted.
    #[track_caller]
    pub fn wait(&self, what: &str, is: impl Fn(&Came) -> bool) -> Came {
        self.look(what, |came| came.iter().find(|came| is(came)).cloned())
    }

    /// Looks at all that came, again and again, until something is seen.
    #[track_caller]
    pub fn look<T>(&self, what: &str, look: impl Fn(&[Came]) -> Option<T>) -> T {
        let deadline = Instant::now() + SOON;
        let (inner, changed) = &*self.inner;
        let mut inner = inner.lock().unwrap();
        loop {
            if let Some(seen) = look(&inner.came) {
                return seen;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            assert!(
                !left.is_zero(),
                "waited {SOON:?} in vain for {what}; came: {:?}",
                inner.came
            );
            inner = changed.wait_timeout(inner, left).unwrap().0;
        }
    }

    fn send(&self, client: &str, bytes: &[u8]) {
        let inner = self.inner.0.lock().unwrap();
        let found = inner.clients.iter().find(|(id, ..)| id == client);
        let (_, _, stream) = found.unwrap_or_else(|| panic!("{client} is not connected"));
        // A connection that breaks meanwhile is the test's own doing.
        let _ = (&*stream).write_all(bytes);
    }
}

fn serve(shared: &Shared, mut stream: TcpStream) {
    let Ok((0x10, body)) = read(&mut stream) else {
        return;
    };
    // The client id follows ten bytes of variable header.
    let length = usize::from(u16::from_be_bytes([body[10], body[11]]));
    let client = String::from_utf8_lossy(&body[12..12 + length]).into_owned();
    let connection = {
        let mut inner = shared.0.lock().unwrap();
        let before = inner.clients.iter().position(|(id, ..)| *id == client);
        let connection = before.map_or(1, |at| inner.clients.swap_remove(at).1 + 1);
        inner
            .clients
            .push((client.clone(), connection, stream.try_clone().unwrap()));
        connection
    };
    let note = |packet| {
        let came = Came {
            client: client.clone(),
            connection,
            packet,
        };
        shared.0.lock().unwrap().came.push(came);
        shared.1.notify_all();
    };
    note(Packet::Connect);
    let _ = stream.write_all(&packet(0x20, &[0, 0]));
    while let Ok((kind, body)) = read(&mut stream) {
        match kind >> 4 {
            3 => {
                let (topic, rest) = split_text(&body);
                let (id, payload) = rest.split_at(2);
                let _ = stream.write_all(&packet(0x40, id));
                note(Packet::Publish {
                    topic,
                    payload: String::from_utf8_lossy(payload).into_owned(),
                });
            }
            4 => note(Packet::PubAck {
                id: u16::from_be_bytes([body[0], body[1]]),
            }),
            8 => {
                let (mut rest, mut answer) = (&body[2..], body[..2].to_vec());
                while !rest.is_empty() {
                    let length = usize::from(u16::from_be_bytes([rest[0], rest[1]]));
                    rest = &rest[length + 3..];
                    answer.push(1);
                }
                let _ = stream.write_all(&packet(0x90, &answer));
                note(Packet::Subscribe);
            }
            12 => drop(stream.write_all(&packet(0xd0, &[]))),
            _ => break,
        }
    }
    let _ = stream.shutdown(Shutdown::Both);
    note(Packet::Gone);
}

pub(super) fn read(stream: &mut TcpStream) -> io::Result<(u8, Vec<u8>)> {
    let mut byte = [0];
    stream.read_exact(&mut byte)?;
    let kind = byte[0];
    let (mut length, mut shift) = (0, 0);
    loop {
        stream.read_exact(&mut byte)?;
        length |= usize::from(byte[0] & 0x7f) << shift;
        shift += 7;
        if byte[0] & 0x80 == 0 {
            break;
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body)?;
    Ok((kind, body))
}

pub(super) fn packet(kind: u8, body: &[u8]) -> Vec<u8> {
    let mut bytes = vec![kind];
    let mut length = body.len();
    loop {
        let low = u8::try_from(length % 128).unwrap();
        length /= 128;
        bytes.push(if length > 0 { low | 0x80 } else { low });
        if length == 0 {
            break;
        }
    }
    bytes.extend(body);
    bytes
}

fn text(text: &str) -> Vec<u8> {
    let mut bytes = u16::try_from(text.len()).unwrap().to_be_bytes().to_vec();
    bytes.extend(text.as_bytes());
    bytes
}

pub(super) fn split_text(body: &[u8]) -> (String, &[u8]) {
    let length = usize::from(u16::from_be_bytes([body[0], body[1]]));
    let (text, rest) = body[2..].split_at(length);
    (String::from_utf8_lossy(text).into_owned(), rest)
}
