//! A building on a virtual clock around one `Core`: scripted controllers, robots that say what the
//! test says, and the laws looked at after every step.

pub(crate) mod building;
pub(crate) mod cell;
pub(crate) mod laws;
pub(crate) mod plant;
pub(crate) mod say;
pub(crate) mod site;
pub(crate) mod situation;

pub(crate) use building::Building;
#[allow(unused_imports, reason = "each of the two test programs uses a part")]
pub(crate) use site::{E1, E2, R1, R2, T1, T2};
pub(crate) use situation::Situation;
