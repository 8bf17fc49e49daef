//! `hallcall series`: looks at series of numbers, and resumes one that was stopped.

use std::process::ExitCode;

use dispatch::OperatorAction;
use protocol::SeriesId;

use super::operator::{ActArgs, LookArgs, Shape, run};

/// What to do.
#[derive(Debug, Clone, clap::Subcommand)]
pub enum SeriesCommand {
    /// All series
    List {
        /// Where and how
        #[command(flatten)]
        look: LookArgs,
    },
    /// One series, with its void numbers and newest rows
    Show {
        /// The series
        #[arg(value_name = "SERIES")]
        series: SeriesId,
        /// Where and how
        #[command(flatten)]
        look: LookArgs,
    },
    /// Let a stopped series give numbers again
    Resume {
        /// The series
        #[arg(value_name = "SERIES")]
        series: SeriesId,
        /// The last number that stands on a device; left out: the last one that the gateway knows
        #[arg(long, value_name = "NUMBER")]
        last: Option<u64>,
        /// Who and why
        #[command(flatten)]
        act: ActArgs,
    },
}

/// Does it.
///
/// # Errors
/// Where standard output cannot be written to.
pub fn series(command: &SeriesCommand) -> anyhow::Result<ExitCode> {
    match command {
        SeriesCommand::List { look } => run(&look.into(), OperatorAction::SeriesList, Shape::List),
        SeriesCommand::Show { series, look } => {
            let action = OperatorAction::SeriesShow(series.clone());
            run(&look.into(), action, Shape::One)
        }
        SeriesCommand::Resume { series, last, act } => {
            let (series, last) = (series.clone(), *last);
            run(
                act,
                OperatorAction::SeriesResume { series, last },
                Shape::One,
            )
        }
    }
}
