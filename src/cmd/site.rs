//! `hallcall site`: no grants any more, and grants again.

use std::process::ExitCode;

use dispatch::OperatorAction;
use protocol::ZoneId;

use super::operator::{ActArgs, Shape, run};

/// What to do.
#[derive(Debug, Clone, clap::Subcommand)]
pub enum SiteCommand {
    /// No grants; rides under way go on to their end
    Suspend {
        /// In this zone only
        #[arg(long, value_name = "ZONE")]
        zone: Option<ZoneId>,
        /// Who and why
        #[command(flatten)]
        act: ActArgs,
    },
    /// Grants again; also ends a latched fire whose input is read clear
    Resume {
        /// In this zone only
        #[arg(long, value_name = "ZONE")]
        zone: Option<ZoneId>,
        /// Who and why
        #[command(flatten)]
        act: ActArgs,
    },
}

/// Does it.
///
/// # Errors
/// Where standard output cannot be written to.
pub fn site(command: &SiteCommand) -> anyhow::Result<ExitCode> {
    match command {
        SiteCommand::Suspend { zone, act } => run(
            act,
            OperatorAction::SiteSuspend { zone: zone.clone() },
            Shape::One,
        ),
        SiteCommand::Resume { zone, act } => run(
            act,
            OperatorAction::SiteResume { zone: zone.clone() },
            Shape::One,
        ),
    }
}
