//! `hallcall elevator`: looks at elevators, ends a HOLD or a BLOCK, takes one out of use.

use std::process::ExitCode;

use dispatch::{OperatorAction, ResolveOutcome};
use protocol::{ElevatorId, OrderId};

use super::operator::{ActArgs, LookArgs, Shape, run};

/// What to do.
#[derive(Debug, Clone, clap::Subcommand)]
pub enum ElevatorCommand {
    /// All elevators
    List {
        /// Where and how
        #[command(flatten)]
        look: LookArgs,
    },
    /// One elevator
    Show {
        /// The elevator
        #[arg(value_name = "ELEVATOR")]
        elevator: ElevatorId,
        /// Where and how
        #[command(flatten)]
        look: LookArgs,
    },
    /// End a HOLD
    Resolve {
        /// The elevator
        #[arg(value_name = "ELEVATOR")]
        elevator: ElevatorId,
        /// The order that holds it, so that no other is hit
        #[arg(long, value_name = "ORDER")]
        order: OrderId,
        /// How it ended
        #[arg(long, value_enum)]
        outcome: Outcome,
        /// You saw that the car is empty
        #[arg(long)]
        car_seen_empty: bool,
        /// There is no reading to be had; the elevator stays out of use
        #[arg(long)]
        force: bool,
        /// Who and why
        #[command(flatten)]
        act: ActArgs,
    },
    /// End a block of an elevator, or free one that is kept back
    Reset {
        /// The elevator
        #[arg(value_name = "ELEVATOR")]
        elevator: ElevatorId,
        /// You saw that the car is empty
        #[arg(long)]
        car_seen_empty: bool,
        /// There is no reading to be had; the elevator stays out of use
        #[arg(long)]
        force: bool,
        /// Who and why
        #[command(flatten)]
        act: ActArgs,
    },
    /// Take an elevator out of use, or give it back
    Maintenance {
        /// The elevator
        #[arg(value_name = "ELEVATOR")]
        elevator: ElevatorId,
        /// Out of use, or back
        #[arg(value_enum)]
        switch: Switch,
        /// Who and why
        #[command(flatten)]
        act: ActArgs,
    },
}

/// How a HOLD ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Outcome {
    /// The robot is out of the car
    RobotOut,
    /// The ride goes on
    Continue,
}

/// On or off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Switch {
    /// Out of use
    On,
    /// In use
    Off,
}

/// Does it.
///
/// # Errors
/// Where standard output cannot be written to.
pub fn elevator(command: &ElevatorCommand) -> anyhow::Result<ExitCode> {
    let (act, action) = match command {
        ElevatorCommand::List { look } => {
            return run(&look.into(), OperatorAction::ElevatorList, Shape::List);
        }
        ElevatorCommand::Show { elevator, look } => {
            let action = OperatorAction::ElevatorShow(elevator.clone());
            return run(&look.into(), action, Shape::One);
        }
        ElevatorCommand::Resolve {
            elevator,
            order,
            outcome,
            car_seen_empty,
            force,
            act,
        } => {
            let outcome = match outcome {
                Outcome::RobotOut => ResolveOutcome::RobotOut,
                Outcome::Continue => ResolveOutcome::Continue,
            };
            let action = OperatorAction::ElevatorResolve {
                elevator: elevator.clone(),
                order: order.clone(),
                outcome,
                car_seen_empty: *car_seen_empty,
                force: *force,
            };
            (act, action)
        }
        ElevatorCommand::Reset {
            elevator,
            car_seen_empty,
            force,
            act,
        } => {
            let action = OperatorAction::ElevatorReset {
                elevator: elevator.clone(),
                car_seen_empty: *car_seen_empty,
                force: *force,
            };
            (act, action)
        }
        ElevatorCommand::Maintenance {
            elevator,
            switch,
            act,
        } => {
            let on = *switch == Switch::On;
            (
                act,
                OperatorAction::ElevatorMaintenance {
                    elevator: elevator.clone(),
                    on,
                },
            )
        }
    };
    run(act, action, Shape::One)
}
