//! Rules around the ride table: admission, queue and assignment, leases, commands, alarms,
//! restarts, operators.

#![allow(
    dead_code,
    reason = "the support is shared by two test programs, each uses a part"
)]

mod support;

#[path = "rules/admission.rs"]
mod admission;
#[path = "rules/alarms.rs"]
mod alarms;
#[path = "rules/answers.rs"]
mod answers;
#[path = "rules/assignment.rs"]
mod assignment;
#[path = "rules/boarding.rs"]
mod boarding;
#[path = "rules/commands.rs"]
mod commands;
#[path = "rules/events.rs"]
mod events;
#[path = "rules/exploration.rs"]
mod exploration;
#[path = "rules/idempotency.rs"]
mod idempotency;
#[path = "rules/landings.rs"]
mod landings;
#[path = "rules/leases.rs"]
mod leases;
#[path = "rules/permission.rs"]
mod permission;
#[path = "rules/queue.rs"]
mod queue;
#[path = "rules/restart.rs"]
mod restart;
#[path = "rules/strangers.rs"]
mod strangers;
#[path = "rules/travel.rs"]
mod travel;
#[path = "rules/whole_ride.rs"]
mod whole_ride;
