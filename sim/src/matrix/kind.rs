//! The kinds of facts.

use dispatch::{ElevatorFact, Fact, KeptUntil, RideFact, SiteFact};
use protocol::ride::RideState;

/// All kinds, by name.
pub(super) const ALL: &[&str] = &[
    "admitted",
    "QUEUED",
    "GRANTED",
    "WAITING_HALL_CALL",
    "ELEVATOR_ARRIVED",
    "ROBOT_ENTERED",
    "RUNNING",
    "TARGET_ARRIVED",
    "ROBOT_EXITED",
    "HOLD",
    "CANCELLED",
    "EXPIRED",
    "FAILED",
    "away",
    "inside",
    "in_car",
    "claimed",
    "archived",
    "forgotten",
    "granted",
    "kept until shut",
    "kept until shut or empty",
    "kept until call cleared",
    "kept until mode normal",
    "freed",
    "blocked",
    "unblocked",
    "maintenance",
    "fence raised",
    "must be read",
    "fire",
    "fire ended",
    "suspended",
    "resumed",
    "operator",
];

/// The kinds of some facts.
pub fn kinds(facts: &[Fact]) -> impl Iterator<Item = &'static str> {
    facts.iter().map(kind)
}

fn kind(fact: &Fact) -> &'static str {
    match fact {
        // The matrix rides; applications have crashes of their own (`tests/apps_*.rs`).
        Fact::Answer(_) | Fact::Series(_) | Fact::Turn(_) | Fact::Claim(_) | Fact::Rental(_) => {
            "application"
        }
        Fact::Ride(fact) => ride(fact),
        Fact::Elevator(fact) => elevator(fact),
        Fact::Site(fact) => match fact {
            SiteFact::Fire { .. } => "fire",
            SiteFact::FireEnded { .. } => "fire ended",
            SiteFact::Suspended { .. } => "suspended",
            SiteFact::Resumed { .. } => "resumed",
            SiteFact::Operator { .. } => "operator",
        },
    }
}

fn ride(fact: &RideFact) -> &'static str {
    match fact {
        RideFact::Admitted { .. } => "admitted",
        RideFact::Moved { state, .. } => moved(*state),
        RideFact::Away { .. } => "away",
        RideFact::Inside { .. } => "inside",
        RideFact::InCar { .. } => "in_car",
        RideFact::Claimed { .. } => "claimed",
        RideFact::Archived { .. } => "archived",
        RideFact::Forgotten { .. } => "forgotten",
    }
}

fn moved(state: RideState) -> &'static str {
    state.as_str()
}

fn elevator(fact: &ElevatorFact) -> &'static str {
    match fact {
        ElevatorFact::Granted { .. } => "granted",
        ElevatorFact::KeptBack { until, .. } => match until {
            KeptUntil::Shut => "kept until shut",
            KeptUntil::ShutOrEmpty => "kept until shut or empty",
            KeptUntil::CallCleared { .. } => "kept until call cleared",
            KeptUntil::ModeNormal => "kept until mode normal",
        },
        ElevatorFact::Freed { .. } => "freed",
        ElevatorFact::Blocked { .. } => "blocked",
        ElevatorFact::Unblocked { .. } => "unblocked",
        ElevatorFact::Maintenance { .. } => "maintenance",
        ElevatorFact::FenceRaised { .. } => "fence raised",
        ElevatorFact::MustBeRead { .. } => "must be read",
    }
}
