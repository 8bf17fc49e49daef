//! The building on real sockets and real time: cars behind Modbus servers and as MQTT controllers,
//! robots as MQTT clients, and the simulator's own record of it all.
//!
//! # Layout
//!
//! * [`pace`]: how fast the building's time runs; [`building`]: cars and record under one lock.
//! * [`layout`], [`modbus`], [`map_text`]: Modbus controllers, and the map that fits them.
//! * [`rtu`]: the same controllers on a serial line, with all that goes wrong there.
//! * [`mqtt_controller`]: controllers that speak MQTT.
//! * [`robot`]: a robot's rules, and the robot as a client; [`fleet`]: many of them.
//! * [`device`]: a vehicle's rules and what it keeps; [`vehicle`]: the vehicle as a client.
//! * [`watch`]: ride states into the record; [`report`]: what a run came to.
//! * [`truth`]: for robots of another process, the ground and their eyes.
//! * [`radio`], [`speaker`], [`dice`]: the way to the broker, message ids, chance.

pub mod building;
pub mod device;
pub mod dice;
pub mod fleet;
pub mod layout;
pub mod map_text;
pub mod modbus;
pub mod mqtt_controller;
pub mod pace;
pub mod radio;
pub mod report;
pub mod robot;
pub mod rtu;
pub mod speaker;
pub mod truth;
pub mod vehicle;
pub mod watch;

pub use building::{Building, CarPlan};
pub use fleet::{Fleet, FleetPlan};
pub use pace::Pace;
pub use radio::{Endpoint, Password};
pub use report::{Figures, Report};
pub use vehicle::Vehicle;
