//! `hallcall rental`: looks at rentals.

use std::process::ExitCode;

use dispatch::OperatorAction;
use protocol::RentalId;

use super::operator::{LookArgs, Shape, run};

/// What to do.
#[derive(Debug, Clone, clap::Subcommand)]
pub enum RentalCommand {
    /// All open rentals
    List {
        /// Where and how
        #[command(flatten)]
        look: LookArgs,
    },
    /// One rental, open or lately over
    Show {
        /// The rental
        #[arg(value_name = "RENTAL")]
        rental: RentalId,
        /// Where and how
        #[command(flatten)]
        look: LookArgs,
    },
}

/// Does it.
///
/// # Errors
/// Where standard output cannot be written to.
pub fn rental(command: &RentalCommand) -> anyhow::Result<ExitCode> {
    match command {
        RentalCommand::List { look } => run(&look.into(), OperatorAction::RentalList, Shape::List),
        RentalCommand::Show { rental, look } => {
            let action = OperatorAction::RentalShow(rental.clone());
            run(&look.into(), action, Shape::One)
        }
    }
}
