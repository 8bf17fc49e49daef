//! `hallcall pool`: looks at pools, changes the capacity of one.

use std::process::ExitCode;

use dispatch::OperatorAction;
use protocol::PoolId;

use super::operator::{ActArgs, LookArgs, Shape, run};

/// What to do.
#[derive(Debug, Clone, clap::Subcommand)]
pub enum PoolCommand {
    /// All pools
    List {
        /// Where and how
        #[command(flatten)]
        look: LookArgs,
    },
    /// One pool, and who holds what
    Show {
        /// The pool
        #[arg(value_name = "POOL")]
        pool: PoolId,
        /// Where and how
        #[command(flatten)]
        look: LookArgs,
    },
    /// The figures of all pools, as Prometheus reads them
    Metrics {
        /// Where and how
        #[command(flatten)]
        look: LookArgs,
    },
    /// Change the capacity of a pool; nobody is evicted
    Capacity {
        /// The pool
        #[arg(value_name = "POOL")]
        pool: PoolId,
        /// Its places
        #[arg(value_name = "N")]
        capacity: u64,
        /// Who and why
        #[command(flatten)]
        act: ActArgs,
    },
}

/// Does it.
///
/// # Errors
/// Where standard output cannot be written to.
pub fn pool(command: &PoolCommand) -> anyhow::Result<ExitCode> {
    match command {
        PoolCommand::List { look } => run(&look.into(), OperatorAction::PoolList, Shape::List),
        PoolCommand::Show { pool, look } => run(
            &look.into(),
            OperatorAction::PoolShow(pool.clone()),
            Shape::One,
        ),
        PoolCommand::Metrics { look } => {
            run(&look.into(), OperatorAction::PoolList, Shape::Figures)
        }
        PoolCommand::Capacity {
            pool,
            capacity,
            act,
        } => {
            let (pool, capacity) = (pool.clone(), *capacity);
            run(
                act,
                OperatorAction::PoolCapacity { pool, capacity },
                Shape::One,
            )
        }
    }
}
