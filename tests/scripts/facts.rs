//! Facts in words.

use dispatch::fact::Claim;
use dispatch::{ElevatorFact, Fact, KeptUntil, RideFact, SiteFact};

use super::print::{at, why};

pub fn fact(fact: &Fact) -> String {
    match fact {
        // Scripts tell of rides.
        Fact::Answer(_) | Fact::Series(_) | Fact::Turn(_) | Fact::Claim(_) | Fact::Rental(_) => {
            format!("{fact:?}")
        }
        Fact::Ride(fact) => match fact {
            RideFact::Admitted {
                order,
                robot,
                from,
                to,
                ..
            } => {
                format!("{order} admitted: {robot}, {} to {}", at(from), at(to))
            }
            RideFact::Moved {
                order,
                seq,
                state,
                instruction,
                reason,
                ..
            } => {
                format!(
                    "{order} #{seq} {state} {instruction}{}",
                    why(reason.as_ref())
                )
            }
            RideFact::Away { order, away: true } => format!("{order} not at the door"),
            RideFact::Away { order, away: false } => format!("{order} at the door"),
            RideFact::Inside {
                order,
                inside: true,
            } => format!("{order} may be inside"),
            RideFact::Inside {
                order,
                inside: false,
            } => format!("{order} is not inside"),
            RideFact::InCar {
                order,
                in_car: true,
            } => format!("{order} says it is in a car"),
            RideFact::InCar {
                order,
                in_car: false,
            } => format!("{order} says it is in no car"),
            RideFact::Claimed { order, claim } => match claim {
                Claim::Entered => format!("{order} says it entered, to be looked at"),
                Claim::CancelEnter { .. } => format!("{order} says it stays out, to be looked at"),
                Claim::Exited => format!("{order} says it left, to be looked at"),
            },
            RideFact::Archived { order } => format!("{order} archived"),
            RideFact::Forgotten { order } => format!("{order} forgotten"),
        },
        Fact::Elevator(fact) => elevator_fact(fact),
        Fact::Site(fact) => match fact {
            SiteFact::Fire { zone, .. } => format!("fire in {zone}"),
            SiteFact::FireEnded { zone } => format!("fire over in {zone}"),
            SiteFact::Suspended { zone, .. } => format!("{zone} suspended"),
            SiteFact::Resumed { zone } => format!("{zone} resumed"),
            SiteFact::Operator { operator, .. } => format!("operator {operator} acted"),
        },
    }
}

fn elevator_fact(fact: &ElevatorFact) -> String {
    let elevator = fact.elevator();
    match fact {
        ElevatorFact::Granted { order, fence, .. } => {
            format!("{elevator} granted to {order}, fence {fence}")
        }
        ElevatorFact::KeptBack { until, .. } => {
            let until = match until {
                KeptUntil::Shut => "shut".to_owned(),
                KeptUntil::ShutOrEmpty => "shut or empty".to_owned(),
                KeptUntil::CallCleared { landing, .. } => {
                    format!("the call at {} is cleared", at(landing))
                }
                KeptUntil::ModeNormal => "the mode is normal".to_owned(),
            };
            format!("{elevator} kept back until {until}")
        }
        ElevatorFact::Freed { .. } => format!("{elevator} free"),
        ElevatorFact::Blocked { reason, .. } => format!("{elevator} blocked: {}", reason.code),
        ElevatorFact::Unblocked { .. } => format!("{elevator} unblocked"),
        ElevatorFact::Maintenance { on: true, .. } => format!("{elevator} in maintenance"),
        ElevatorFact::Maintenance { on: false, .. } => format!("{elevator} out of maintenance"),
        ElevatorFact::FenceRaised { fence, .. } => format!("{elevator} fence raised to {fence}"),
        ElevatorFact::MustBeRead { on: true, .. } => format!("{elevator} must be read"),
        ElevatorFact::MustBeRead { on: false, .. } => format!("{elevator} was read"),
    }
}
