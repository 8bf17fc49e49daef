//! Either of the two brokers, as a process of its own that may be ended and started again.

use std::net::TcpStream;
use std::process::{Child, ChildStdin, Stdio};

use crate::support::{Mosquitto, Site, free_port, hallcall, wait_for};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Mosquitto,
    Embedded,
}

pub(crate) const BOTH: [Kind; 2] = [Kind::Mosquitto, Kind::Embedded];

/// A broker, reached by the gateway as any other.
pub(crate) enum Broker {
    Mosquitto(Mosquitto),
    /// `hallcall broker`, which ends when its standard input closes.
    Embedded {
        port: u16,
        child: Option<(Child, ChildStdin)>,
    },
}

impl Broker {
    #[track_caller]
    pub(crate) fn start(kind: Kind) -> Self {
        match kind {
            Kind::Mosquitto => Self::Mosquitto(Mosquitto::start()),
            Kind::Embedded => {
                let port = free_port();
                Self::Embedded {
                    port,
                    child: Some(serve(port)),
                }
            }
        }
    }

    pub(crate) fn port(&self) -> u16 {
        match self {
            Self::Mosquitto(broker) => broker.port(),
            Self::Embedded { port, .. } => *port,
        }
    }

    /// Ends it as an operator would. Mosquitto keeps what it has.
    pub(crate) fn stop(&mut self) {
        match self {
            Self::Mosquitto(broker) => broker.stop(),
            Self::Embedded { .. } => self.kill(),
        }
    }

    /// Ends it with SIGKILL.
    pub(crate) fn kill(&mut self) {
        match self {
            Self::Mosquitto(broker) => broker.kill(),
            Self::Embedded { child, .. } => {
                if let Some((mut child, _stdin)) = child.take() {
                    let _ = child.kill();
                    let _ = child.wait();
                }
            }
        }
    }

    /// Starts it again on the same port.
    #[track_caller]
    pub(crate) fn start_again(&mut self) {
        match self {
            Self::Mosquitto(broker) => broker.start_again(),
            Self::Embedded { port, child } => *child = Some(serve(*port)),
        }
    }

    /// Sessions, queues and retained messages are gone at the next start.
    pub(crate) fn forget(&mut self) {
        if let Self::Mosquitto(broker) = self {
            broker.forget();
        }
    }
}

impl Drop for Broker {
    fn drop(&mut self) {
        self.kill();
    }
}

#[track_caller]
fn serve(port: u16) -> (Child, ChildStdin) {
    let mut child = hallcall()
        .args(["broker", "--listen", &format!("127.0.0.1:{port}")])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let stdin = child.stdin.take().unwrap();
    wait_for("the embedded broker to listen", || {
        TcpStream::connect(("127.0.0.1", port)).ok()
    });
    (child, stdin)
}

/// A site behind a port of loopback, with one elevator and short waits.
pub(crate) fn site(port: u16) -> Site {
    Site::with_broker(&format!("broker = \"mqtt://127.0.0.1:{port}\""))
        .elevator_with("EL001", "hold_max_s = 4\ndriver = { kind = \"mqtt\" }")
        .with(
            "[timing]\nvalid_s = 1.5\naccept_s = 1\nsettle_s = 0.1\nrequery_s = 0.5\npoll_s = 0.5\n\
             [limits]\nqueue = 100000",
        )
}
