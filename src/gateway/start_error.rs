//! Why a gateway did not start, and with which exit code it ends then.

use std::io;

use dispatch::LoadError;
use dispatch::edge::JournalError;

use crate::broker::BrokerError;
use crate::exit;
use crate::http::HttpError;
use crate::journal::FenceMarkError;
use crate::mqtt::AccountError;
use crate::operator::OperatorsError;

/// Why a gateway did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The broker cannot be used as configured.
    #[error(transparent)]
    Account(#[from] AccountError),
    /// There is no embedded broker.
    #[error(transparent)]
    Broker(#[from] BrokerError),
    /// The configuration asks for something that it may not have.
    #[error("{0}")]
    Config(String),
    /// The journal cannot be used.
    #[error("{error}{}", hint(.error))]
    Journal {
        /// Why.
        #[from]
        error: JournalError,
    },
    /// The journal holds what is no state.
    #[error("{0}; `hallcall journal` tells more")]
    State(#[from] LoadError),
    /// The fence marks cannot be used.
    #[error(transparent)]
    Marks(#[from] FenceMarkError),
    /// There is no socket for operators.
    #[error(transparent)]
    Operators(#[from] OperatorsError),
    /// HTTP cannot be listened for.
    #[error(transparent)]
    Http(#[from] HttpError),
    /// The system does not give what is needed.
    #[error("the system: {0}")]
    System(#[from] io::Error),
}

fn hint(error: &JournalError) -> &'static str {
    match error {
        JournalError::Corrupt { .. } => "; `hallcall journal` tells more",
        JournalError::InUse | JournalError::TooLarge(_) | JournalError::Store(_) => "",
    }
}

impl StartError {
    /// The exit code (`wire.md` section 7).
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Account(_) | Self::Broker(_) | Self::Config(_) => exit::USAGE,
            Self::Journal { error } => crate::journal::exit_code(error),
            Self::State(_) | Self::Marks(FenceMarkError::Corrupt { .. }) => exit::CORRUPT,
            Self::Marks(FenceMarkError::Store(_) | FenceMarkError::TooMany(_)) => {
                exit::JOURNAL_FAILED
            }
            Self::Operators(OperatorsError::InUse(_)) => exit::IN_USE,
            Self::Operators(_) | Self::Http(_) | Self::System(_) => 1,
        }
    }
}
