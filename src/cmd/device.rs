//! `hallcall device`: looks at devices that are rented, takes one out of use.

use std::process::ExitCode;

use dispatch::OperatorAction;
use protocol::DeviceId;

use super::elevator::Switch;
use super::operator::{ActArgs, LookArgs, Shape, run};

/// What to do.
#[derive(Debug, Clone, clap::Subcommand)]
pub enum DeviceCommand {
    /// All devices
    List {
        /// Where and how
        #[command(flatten)]
        look: LookArgs,
    },
    /// Take a device out of use, or give it back once it said that it stands
    Maintenance {
        /// The device
        #[arg(value_name = "DEVICE")]
        device: DeviceId,
        /// Out of use, or back
        #[arg(value_enum)]
        switch: Switch,
        /// Who and why
        #[command(flatten)]
        act: ActArgs,
    },
}

/// Does it.
///
/// # Errors
/// Where standard output cannot be written to.
pub fn device(command: &DeviceCommand) -> anyhow::Result<ExitCode> {
    match command {
        DeviceCommand::List { look } => run(&look.into(), OperatorAction::DeviceList, Shape::List),
        DeviceCommand::Maintenance {
            device,
            switch,
            act,
        } => {
            let (device, on) = (device.clone(), *switch == Switch::On);
            let action = OperatorAction::DeviceMaintenance { device, on };
            run(act, action, Shape::One)
        }
    }
}
