//! `hallcall claim`: looks at claims, says that a resource in quarantine stands still.

use std::process::ExitCode;

use dispatch::OperatorAction;
use protocol::{ClaimId, PoolId, ResourceId};

use super::operator::{ActArgs, LookArgs, Shape, run};

/// What to do.
#[derive(Debug, Clone, clap::Subcommand)]
pub enum ClaimCommand {
    /// All claims that have not ended
    List {
        /// Those that ended last instead
        #[arg(long)]
        ended: bool,
        /// Where and how
        #[command(flatten)]
        look: LookArgs,
    },
    /// One claim
    Show {
        /// The claim
        #[arg(value_name = "CLAIM")]
        claim: ClaimId,
        /// Where and how
        #[command(flatten)]
        look: LookArgs,
    },
    /// You saw that a resource in quarantine stands still: it is free again
    Stopped {
        /// The pool
        #[arg(value_name = "POOL")]
        pool: PoolId,
        /// The resource
        #[arg(value_name = "RESOURCE")]
        resource: ResourceId,
        /// Who and why
        #[command(flatten)]
        act: ActArgs,
    },
}

/// Does it.
///
/// # Errors
/// Where standard output cannot be written to.
pub fn claim(command: &ClaimCommand) -> anyhow::Result<ExitCode> {
    match command {
        ClaimCommand::List { ended, look } => {
            let action = if *ended {
                OperatorAction::ClaimHistory
            } else {
                OperatorAction::ClaimList
            };
            run(&look.into(), action, Shape::List)
        }
        ClaimCommand::Show { claim, look } => run(
            &look.into(),
            OperatorAction::ClaimShow(claim.clone()),
            Shape::One,
        ),
        ClaimCommand::Stopped {
            pool,
            resource,
            act,
        } => {
            let (pool, resource) = (pool.clone(), resource.clone());
            run(
                act,
                OperatorAction::ClaimStopped { pool, resource },
                Shape::One,
            )
        }
    }
}
