//! What black-box tests need: a real Mosquitto, the real program, clients that speak MQTT, and
//! waiting with a deadline. Everything that is started here is ended when its handle is dropped.
//!
//! ```text
//! let broker = Mosquitto::start();
//! let gateway = Gateway::start(&Site::new(&broker).elevator("EL001"));
//! let robot = Robot::connect(&broker, "R001");
//! let reply = robot.request("m-1", "T-1", "1F", "6F");
//! ```

#![allow(dead_code, unused_imports, reason = "each test uses its own part")]
#![allow(
    clippy::unwrap_used,
    clippy::missing_panics_doc,
    unreachable_pub,
    missing_docs
)]

mod application;
mod building;
mod client;
mod controller;
mod device;
mod gateway;
mod mosquitto;
mod played_broker;
pub mod proxy;
mod robot;

pub use application::{Application, asked, code};
pub use building::{SCALED_TIMING, SimBuilding, sim_map};
pub use client::{Client, Message};
pub use controller::Controller;
pub use device::{KEY, Vehicle, device_in};
pub use gateway::{Gateway, Site, hallcall, operate};
pub use mosquitto::Mosquitto;
pub use played_broker::{Came, Packet, PlayedBroker};
pub use proxy::{Fate, Passing, Proxy, Way};
pub use robot::{Robot, now, request};

use std::net::TcpListener;
use std::time::{Duration, Instant};

/// What anything on loopback may take; generous, because test machines are slow.
pub const SOON: Duration = Duration::from_secs(20);
/// How often a condition is looked at that cannot wake its waiter.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Waits until `look` sees something, or panics with `what`.
#[track_caller]
pub fn wait_for<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + SOON;
    loop {
        if let Some(seen) = look() {
            return seen;
        }
        assert!(
            Instant::now() < deadline,
            "waited {SOON:?} in vain for {what}"
        );
        std::thread::sleep(LOOK_EVERY);
    }
}

/// A port of loopback on which nobody listens at the moment.
pub fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port()
}
