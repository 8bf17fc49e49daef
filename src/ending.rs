//! Why a running gateway ends, and who may say so.

use protocol::InstanceId;
use tokio::sync::mpsc;

/// Why a running gateway ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// Somebody asked for it: SIGTERM, SIGINT.
    Asked,
    /// Another instance with our gateway id lives.
    DuplicateGateway(InstanceId),
    /// The journal could not be written.
    JournalFailed,
    /// A part of the gateway is gone that it cannot be without.
    Broken(&'static str),
}

impl End {
    /// The exit code (`wire.md` section 7).
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Asked => 0,
            Self::Broken(_) => 1,
            Self::JournalFailed => 5,
            Self::DuplicateGateway(_) => 6,
        }
    }
}

/// Calls for the end of the process. The first call counts.
#[derive(Debug, Clone)]
pub struct Ending(mpsc::Sender<End>);

impl Ending {
    /// A way to call for the end, and to hear the calls.
    #[must_use]
    pub fn channel() -> (Self, mpsc::Receiver<End>) {
        let (sender, receiver) = mpsc::channel(4);
        (Self(sender), receiver)
    }

    /// Calls for the end. Later calls than the fourth are lost, the process ends already.
    pub fn call(&self, end: End) {
        let _ = self.0.try_send(end);
    }
}
