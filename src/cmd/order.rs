//! `hallcall order`: looks at orders, and cancels those that wait.

use std::process::ExitCode;

use dispatch::OperatorAction;
use protocol::OrderId;

use super::operator::{ActArgs, LookArgs, Shape, run};

/// What to do.
#[derive(Debug, Clone, clap::Subcommand)]
pub enum OrderCommand {
    /// All live orders
    List {
        /// Where and how
        #[command(flatten)]
        look: LookArgs,
    },
    /// One order
    Show {
        /// The order
        #[arg(value_name = "ORDER")]
        order: OrderId,
        /// Where and how
        #[command(flatten)]
        look: LookArgs,
    },
    /// End a ride that waits; refused once a robot may be inside
    Cancel {
        /// The order
        #[arg(value_name = "ORDER")]
        order: OrderId,
        /// Who and why
        #[command(flatten)]
        act: ActArgs,
    },
}

/// Does it.
///
/// # Errors
/// Where standard output cannot be written to.
pub fn order(command: &OrderCommand) -> anyhow::Result<ExitCode> {
    match command {
        OrderCommand::List { look } => run(&look.into(), OperatorAction::OrderList, Shape::List),
        OrderCommand::Show { order, look } => run(
            &look.into(),
            OperatorAction::OrderShow(order.clone()),
            Shape::One,
        ),
        OrderCommand::Cancel { order, act } => {
            run(act, OperatorAction::OrderCancel(order.clone()), Shape::One)
        }
    }
}
