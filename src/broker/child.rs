//! The child's side of the embedded broker.

use std::collections::HashMap;
use std::io::{self, Read};
use std::net::{SocketAddr, TcpListener};
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use protocol::limits::PACKET_BYTES_MAX;
use rumqttd::{Broker, Config, ConnectionSettings, RouterConfig, ServerSettings};
use rustix::net::{getsockname, sockopt};
use rustix::process::{PidfdFlags, PidfdGetfdFlags, getpid, pidfd_getfd, pidfd_open};

/// For the listener to be there, and between two looks for it.
const LISTENS: Duration = Duration::from_secs(5);
const LOOK_EVERY: Duration = Duration::from_millis(5);
/// Connections that the broker takes.
const CONNECTIONS_MAX: usize = 10_000;
/// Messages that a client may leave unacknowledged.
const INFLIGHT_MAX: usize = 100;
/// Bytes of one segment of a filter's log, and how many there are: what a slow reader may be
/// behind before messages are lost to it.
const SEGMENT_BYTES: usize = 8 * 1024 * 1024;
const SEGMENTS: usize = 4;

/// Serves until standard input closes, which ends the process with code 0.
///
/// # Errors
/// Where the address cannot be listened on, or the broker gave up.
pub fn serve(listen: SocketAddr) -> io::Result<()> {
    drop(TcpListener::bind(listen)?);
    std::thread::Builder::new()
        .name("stdin".to_owned())
        .spawn(|| {
            let mut rest = [0; 64];
            let mut input = io::stdin().lock();
            while matches!(input.read(&mut rest), Ok(1..)) {}
            std::process::exit(0);
        })?;
    std::thread::Builder::new()
        .name("no-delay".to_owned())
        .spawn(move || set_no_delay(listen))?;
    Broker::new(config(listen))
        .start()
        .map_err(|error| io::Error::other(error.to_string()))
}

fn config(listen: SocketAddr) -> Config {
    let connections = ConnectionSettings {
        connection_timeout_ms: 10_000,
        max_payload_size: PACKET_BYTES_MAX,
        max_inflight_count: INFLIGHT_MAX,
        auth: None,
        external_auth: None,
        dynamic_filters: true,
    };
    let server = ServerSettings {
        name: "embedded".to_owned(),
        listen,
        tls: None,
        next_connection_delay_ms: 0,
        connections,
    };
    Config {
        router: RouterConfig {
            max_connections: CONNECTIONS_MAX,
            max_outgoing_packet_count: 200,
            max_segment_size: SEGMENT_BYTES,
            max_segment_count: SEGMENTS,
            ..RouterConfig::default()
        },
        v4: Some(HashMap::from([("embedded".to_owned(), server)])),
        ..Config::default()
    }
}

/// Sets TCP_NODELAY on the listener, which its connections inherit: rumqttd does not, and a reply
/// that follows an acknowledgement would wait some 40 ms for the client's. The listener is
/// rumqttd's own; its descriptor is found among those of this process.
fn set_no_delay(listen: SocketAddr) {
    let deadline = Instant::now() + LISTENS;
    while Instant::now() < deadline {
        match find_listener(listen) {
            Ok(Some(listener)) => {
                if let Err(error) = sockopt::set_tcp_nodelay(&listener, true) {
                    tracing::debug!(%error, "TCP_NODELAY is not set");
                }
                return;
            }
            Ok(None) => std::thread::sleep(LOOK_EVERY),
            Err(error) => {
                // Not every container allows it; replies are slower then, and no less right.
                tracing::debug!(%error, "the listener cannot be looked at");
                return;
            }
        }
    }
}

fn find_listener(listen: SocketAddr) -> io::Result<Option<OwnedFd>> {
    let own = pidfd_open(getpid(), PidfdFlags::empty())?;
    for entry in std::fs::read_dir("/proc/self/fd")? {
        let name = entry?.file_name();
        let Some(number) = name.to_str().and_then(|name| name.parse().ok()) else {
            continue;
        };
        // Descriptors may close while they are looked at.
        let Ok(file) = pidfd_getfd(&own, number, PidfdGetfdFlags::empty()) else {
            continue;
        };
        let is_listener = sockopt::socket_acceptconn(&file).unwrap_or(false)
            && getsockname(&file).is_ok_and(|name| SocketAddr::try_from(name) == Ok(listen));
        if is_listener {
            return Ok(Some(file));
        }
    }
    Ok(None)
}
