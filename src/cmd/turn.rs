//! `hallcall turn`: looks at the tickets of departments.

use std::process::ExitCode;

use dispatch::OperatorAction;
use protocol::DepartmentId;

use super::operator::{LookArgs, Shape, run};

/// What to do.
#[derive(Debug, Clone, clap::Subcommand)]
pub enum TurnCommand {
    /// All departments
    List {
        /// Where and how
        #[command(flatten)]
        look: LookArgs,
    },
    /// One department, with the tickets that wait and those called last
    Show {
        /// The department
        #[arg(value_name = "DEPARTMENT")]
        department: DepartmentId,
        /// Where and how
        #[command(flatten)]
        look: LookArgs,
    },
}

/// Does it.
///
/// # Errors
/// Where standard output cannot be written to.
pub fn turn(command: &TurnCommand) -> anyhow::Result<ExitCode> {
    match command {
        TurnCommand::List { look } => run(&look.into(), OperatorAction::TurnList, Shape::List),
        TurnCommand::Show { department, look } => {
            let action = OperatorAction::TurnShow(department.clone());
            run(&look.into(), action, Shape::One)
        }
    }
}
