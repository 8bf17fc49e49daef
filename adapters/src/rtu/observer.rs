//! What passes over a line, for people to look at.

use tokio::time::Instant;

/// Bytes on a line, as they pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seen<'b> {
    /// Handed over to be sent.
    Sent(&'b [u8]),
    /// Come in, whoever sent them.
    Heard(&'b [u8]),
}

/// Is told of all bytes on a line, and when they passed.
pub type Observer = Box<dyn FnMut(Instant, Seen<'_>) + Send>;
