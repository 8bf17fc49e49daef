//! The commands, one file each.

pub mod broker;
pub mod check;
pub mod elevator;
pub mod journal;
pub mod operator;
pub mod order;
pub mod run;
pub mod schema;
pub mod site;
