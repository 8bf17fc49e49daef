//! Every cell of the ride table (`ride.md`), held against expectations written from its text.
//!
//! The enumerated table is printed to `docs/ride.md` and compared with what is committed there;
//! `UPDATE_EXPECT=1` rewrites it.

#![allow(
    dead_code,
    reason = "the support is shared by two test programs, each uses a part"
)]

mod support;

#[path = "ride_table/command_rows.rs"]
mod command_rows;
#[path = "ride_table/deadline_rows.rs"]
mod deadline_rows;
#[path = "ride_table/door_rows.rs"]
mod door_rows;
#[path = "ride_table/elevator_rows.rs"]
mod elevator_rows;
#[path = "ride_table/gateway_rows.rs"]
mod gateway_rows;
#[path = "ride_table/grid.rs"]
mod grid;
#[path = "ride_table/mode_rows.rs"]
mod mode_rows;
#[path = "ride_table/operator_rows.rs"]
mod operator_rows;
#[path = "ride_table/paper.rs"]
mod paper;
#[path = "ride_table/reset_rows.rs"]
mod reset_rows;
#[path = "ride_table/robot_goes.rs"]
mod robot_goes;
#[path = "ride_table/robot_leaves.rs"]
mod robot_leaves;
#[path = "ride_table/time_rows.rs"]
mod time_rows;
