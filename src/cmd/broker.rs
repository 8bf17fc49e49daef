//! `hallcall broker`: the embedded broker, as the child of a gateway.

use std::net::SocketAddr;
use std::process::ExitCode;

/// Where it listens.
#[derive(Debug, Clone, clap::Args)]
pub struct BrokerArgs {
    /// The address
    #[arg(long, value_name = "ADDRESS")]
    pub listen: SocketAddr,
}

/// Serves until standard input closes.
///
/// # Errors
/// Where the address cannot be listened on, or this program was built without the broker.
#[cfg(feature = "embedded-broker")]
pub fn broker(args: &BrokerArgs) -> anyhow::Result<ExitCode> {
    crate::broker::child::serve(args.listen)?;
    Ok(ExitCode::SUCCESS)
}

/// Serves until standard input closes.
///
/// # Errors
/// Always: this program was built without the broker.
#[cfg(not(feature = "embedded-broker"))]
pub fn broker(args: &BrokerArgs) -> anyhow::Result<ExitCode> {
    anyhow::bail!(
        "{}: this program was built without the feature `embedded-broker`",
        args.listen
    )
}
