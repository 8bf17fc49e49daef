//! The gateway: it moves bytes between robots, controllers, operators and the core, and owns no
//! rule of its own.
//!
//! # Layout
//!
//! * [`config`]: what the configuration file says. [`cmd`]: the commands of the program.
//! * [`gateway`]: the start and the end of a running gateway. [`engine`]: the one thread that owns
//!   the core; [`inbox`]: what happens, on its way there.
//! * [`mqtt`]: the way to the broker; [`broker`]: one of our own, for trials.
//! * [`bus`]: the bus tasks, which own the lines of elevators.
//! * [`journal`]: where facts are kept.
//! * [`http`]: what applications ask over HTTP, on the same way as what they ask over MQTT.
//! * [`operator`]: what operators ask, over a socket in the data directory; [`metrics`]: figures.
//! * [`token_key`]: what tokens of rentals are made with.
//! * `crash`: points at which tests end the process; not in a release.
//! * [`clock`], [`instance`], [`ending`], [`exit`]: the time, this start, why it ends, and with
//!   which code.

#[macro_use]
mod crash;

pub mod broker;
pub mod bus;
pub mod clock;
pub mod cmd;
pub mod config;
pub mod ending;
pub mod engine;
pub mod exit;
pub mod gateway;
pub mod http;
pub mod inbox;
pub mod instance;
pub mod journal;
pub mod metrics;
pub mod mqtt;
pub mod operator;
pub mod token_key;
