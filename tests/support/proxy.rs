//! A proxy between clients and a broker. It sees every MQTT packet, keeps a record of those that
//! came, and can cut, stall, drop, double, replace and invent them. MQTT 3.1.1.

use std::io::{self, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU16, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::SOON;
use super::played_broker::{packet, read, split_text};

/// Which way a packet goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    ToBroker,
    ToClient,
}

/// The packets that tests name, by the upper half of the first byte.
pub const PUBLISH: u8 = 3;
pub const PUBACK: u8 = 4;
pub const SUBACK: u8 = 9;

/// A packet on its way.
#[derive(Debug, Clone)]
pub struct Passing {
    /// The client id.
    pub client: String,
    /// Which of the client's connections, from 1.
    pub connection: usize,
    pub way: Way,
    /// The first byte.
    pub head: u8,
    pub body: Vec<u8>,
    pub at: Instant,
}

impl Passing {
    pub fn kind(&self) -> u8 {
        self.head >> 4
    }

    pub fn is(&self, client: &str, way: Way, kind: u8) -> bool {
        self.client == client && self.way == way && self.kind() == kind
    }

    /// The topic of a PUBLISH.
    pub fn topic(&self) -> String {
        split_text(&self.body).0
    }

    /// The packet id of a PUBLISH with QoS 1, or of an acknowledgement.
    pub fn id(&self) -> u16 {
        let at = if self.kind() == PUBLISH {
            self.body.len() - split_text(&self.body).1.len()
        } else {
            0
        };
        u16::from_be_bytes([self.body[at], self.body[at + 1]])
    }

    /// The payload of a PUBLISH with QoS 1.
    pub fn payload(&self) -> String {
        String::from_utf8_lossy(&split_text(&self.body).1[2..]).into_owned()
    }

    /// Whether a PUBLISH says that it may have been sent before.
    pub fn is_again(&self) -> bool {
        self.head & 8 != 0
    }
}

/// What is done with a packet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fate {
    Pass,
    Drop,
    Twice,
    /// It is lost, and the connection with it.
    Cut,
    /// Another body.
    Instead(Vec<u8>),
}

type Rule = Box<dyn FnMut(&Passing) -> Fate + Send>;

#[derive(Default)]
struct Inner {
    came: Vec<Passing>,
    links: Vec<Arc<Link>>,
    rule: Option<Rule>,
}

/// One connection, with both its ends.
struct Link {
    client: String,
    connection: usize,
    /// To the broker, to the client.
    ends: [TcpStream; 2],
    writing: [Mutex<()>; 2],
    /// Nothing is read that comes from the client, from the broker.
    stalled: [AtomicBool; 2],
    /// The broker is not told that the client has gone.
    orphaned: AtomicBool,
}

type Shared = Arc<(Mutex<Inner>, Condvar)>;

pub struct Proxy {
    port: u16,
    target: Arc<AtomicU16>,
    inner: Shared,
    refusing: Arc<AtomicBool>,
}

impl Proxy {
    /// Before the broker on a port of loopback.
    pub fn start(target: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let proxy = Self {
            port,
            target: Arc::new(AtomicU16::new(target)),
            inner: Shared::default(),
            refusing: Arc::default(),
        };
        let (target, inner) = (Arc::clone(&proxy.target), Arc::clone(&proxy.inner));
        let refusing = Arc::clone(&proxy.refusing);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                if refusing.load(Ordering::Relaxed) {
                    continue;
                }
                let (inner, target) = (Arc::clone(&inner), target.load(Ordering::Relaxed));
                std::thread::spawn(move || join(&inner, stream, target));
            }
        });
        proxy
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// From here on every packet is shown to `rule`, which says what becomes of it.
    pub fn rule(&self, rule: impl FnMut(&Passing) -> Fate + Send + 'static) {
        self.inner.0.lock().unwrap().rule = Some(Box::new(rule));
    }

    pub fn no_rule(&self) {
        self.inner.0.lock().unwrap().rule = None;
    }

    /// Cuts every connection, and takes none until [`Proxy::restore`].
    pub fn part(&self) {
        self.refusing.store(true, Ordering::Relaxed);
        for link in self.links(|_| true) {
            link.close();
        }
    }

    pub fn restore(&self) {
        self.refusing.store(false, Ordering::Relaxed);
    }

    /// Cuts the connections of a client.
    pub fn cut(&self, client: &str) {
        for link in self.links(|link| link.client == client) {
            link.close();
        }
    }

    /// The client loses its connection, and the broker does not see it.
    pub fn orphan(&self, client: &str) {
        for link in self.links(|link| link.client == client) {
            link.orphaned.store(true, Ordering::Relaxed);
            let _ = link.ends[Way::ToClient as usize].shutdown(Shutdown::Both);
        }
    }

    /// Reads nothing more of what a client's connections bring from one side.
    pub fn stall(&self, client: &str, way: Way) {
        for link in self.links(|link| link.client == client) {
            link.stalled[way as usize].store(true, Ordering::Relaxed);
        }
    }

    /// Reads again.
    pub fn go_on(&self, client: &str) {
        for link in self.links(|link| link.client == client) {
            for stalled in &link.stalled {
                stalled.store(false, Ordering::Relaxed);
            }
        }
        self.inner.1.notify_all();
    }

    /// Says a packet that nobody sent, on the newest connection of a client.
    #[track_caller]
    pub fn invent(&self, client: &str, way: Way, head: u8, body: &[u8]) {
        let links = self.links(|link| link.client == client);
        let link = links.last().expect("the client is connected");
        let _ = link.write(way, &packet(head, body));
    }

    /// All that came so far; what was dropped too.
    pub fn came(&self) -> Vec<Passing> {
        self.inner.0.lock().unwrap().came.clone()
    }

    /// How many connections a client has had.
    pub fn connections(&self, client: &str) -> usize {
        self.links(|link| link.client == client).len()
    }

    /// Looks at what came until something is seen.
    #[track_caller]
    pub fn look<T>(&self, what: &str, look: impl Fn(&[Passing]) -> Option<T>) -> T {
        self.look_for(SOON, what, look)
    }

    /// The same, at most for so long.
    #[track_caller]
    pub fn look_for<T>(
        &self,
        patience: Duration,
        what: &str,
        look: impl Fn(&[Passing]) -> Option<T>,
    ) -> T {
        let deadline = Instant::now() + patience;
        let changed = &self.inner.1;
        let mut inner = self.inner.0.lock().unwrap();
        loop {
            let begun = Instant::now();
            if let Some(seen) = look(&inner.came) {
                return seen;
            }
            let took = begun.elapsed();
            let left = deadline.saturating_duration_since(Instant::now());
            assert!(!left.is_zero(), "waited {patience:?} in vain for {what}");
            drop(changed.wait_timeout(inner, left).unwrap().0);
            // Who looks at much takes half of the time at most: what passes is not held up.
            std::thread::sleep(took.min(left));
            inner = self.inner.0.lock().unwrap();
        }
    }

    fn links(&self, wanted: impl Fn(&Link) -> bool) -> Vec<Arc<Link>> {
        let inner = self.inner.0.lock().unwrap();
        let links = inner.links.iter().filter(|link| wanted(link));
        links.map(Arc::clone).collect()
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        // A test that failed inside a look has poisoned the record.
        if !std::thread::panicking() {
            self.part();
        }
    }
}

impl Link {
    fn write(&self, way: Way, bytes: &[u8]) -> io::Result<()> {
        let writing = self.writing[way as usize].lock();
        let _one = writing.unwrap_or_else(PoisonError::into_inner);
        (&self.ends[way as usize]).write_all(bytes)
    }

    fn close(&self) {
        for end in &self.ends {
            let _ = end.shutdown(Shutdown::Both);
        }
    }
}

/// Joins a client with the broker until one of them goes.
fn join(shared: &Shared, mut client: TcpStream, target: u16) {
    // The first packet names the client, ten bytes after its beginning.
    let Ok((head, body)) = read(&mut client) else {
        return;
    };
    let Ok(mut broker) = TcpStream::connect(("127.0.0.1", target)) else {
        return;
    };
    let _ = (client.set_nodelay(true), broker.set_nodelay(true));
    let _ = broker.write_all(&packet(head, &body));
    let name = split_text(&body[10..]).0;
    let link = {
        let mut inner = shared.0.lock().unwrap();
        let before = inner.links.iter().filter(|link| link.client == name);
        let link = Arc::new(Link {
            connection: before.count() + 1,
            client: name,
            ends: [broker.try_clone().unwrap(), client.try_clone().unwrap()],
            writing: Default::default(),
            stalled: Default::default(),
            orphaned: AtomicBool::default(),
        });
        inner.links.push(Arc::clone(&link));
        link
    };
    let back = (Arc::clone(shared), Arc::clone(&link));
    std::thread::spawn(move || {
        let (shared, link) = back;
        carry(&shared, &link, &mut broker, Way::ToClient);
        link.close();
    });
    carry(shared, &link, &mut client, Way::ToBroker);
    if !link.orphaned.load(Ordering::Relaxed) {
        link.close();
    }
}

/// Carries one way until an end closes.
fn carry(shared: &Shared, link: &Link, from: &mut TcpStream, way: Way) {
    while let Ok((head, body)) = read(from) {
        let mut inner = shared.0.lock().unwrap();
        while link.stalled[way as usize].load(Ordering::Relaxed) {
            inner = shared.1.wait(inner).unwrap();
        }
        let passing = Passing {
            client: link.client.clone(),
            connection: link.connection,
            way,
            head,
            body,
            at: Instant::now(),
        };
        let fate = inner
            .rule
            .as_mut()
            .map_or(Fate::Pass, |rule| rule(&passing));
        let body = passing.body.clone();
        inner.came.push(passing);
        drop(inner);
        shared.1.notify_all();
        let written = match fate {
            Fate::Pass => link.write(way, &packet(head, &body)),
            Fate::Drop => Ok(()),
            Fate::Twice => link.write(way, &[packet(head, &body), packet(head, &body)].concat()),
            Fate::Instead(body) => link.write(way, &packet(head, &body)),
            Fate::Cut => break,
        };
        if written.is_err() && !link.orphaned.load(Ordering::Relaxed) {
            break;
        }
    }
}
