//! The commands, one file each.

#[cfg(feature = "sim")]
pub mod bench;
pub mod broker;
pub mod bus;
pub mod check;
pub mod claim;
#[cfg(feature = "sim")]
pub mod demo;
pub mod device;
pub mod elevator;
pub mod journal;
pub mod operator;
pub mod order;
pub mod pool;
pub mod rental;
pub mod run;
pub mod schema;
pub mod series;
#[cfg(feature = "sim")]
pub mod sim;
pub mod site;
pub mod turn;
