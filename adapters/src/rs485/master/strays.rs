//! What comes that answers nothing which is asked.

use tokio::io::{AsyncRead, AsyncWrite};

use super::super::answers::Verdict;
use super::super::framing::Frame;
use super::{FrameMaster, Unasked};

/// Reports that wait to be taken; the oldest is forgotten, for the next reading tells more.
const UNASKED_MAX: usize = 64;

impl<S: AsyncRead + AsyncWrite + Unpin> FrameMaster<S> {
    /// Bytes that nobody waits for.
    pub(super) fn stray(&mut self, bytes: &[u8]) {
        for byte in bytes {
            if let Some(frame) = self.decoder.feed(*byte) {
                self.stray_frame(frame);
            }
        }
    }

    /// A frame that answers nothing that is asked: a report, or what is owed.
    pub(super) fn stray_frame(&mut self, frame: Frame) {
        if self.profile.is_report(&frame) {
            if self.unasked.len() >= UNASKED_MAX {
                self.unasked.pop_front();
            }
            self.unasked.push_back(Unasked {
                unit: frame.unit,
                payload: frame.payload,
            });
            return;
        }
        let Some(owed) = self.owed.get(&frame.unit) else {
            return;
        };
        let is_numbered = frame
            .sequence
            .is_none_or(|sequence| sequence == owed.sequence);
        let is_it = !matches!(
            self.profile.judge(&owed.message, &frame),
            Verdict::None | Verdict::Unasked
        );
        if is_it && is_numbered {
            let (unit, took_ms) = (frame.unit, owed.at.elapsed().as_millis());
            tracing::debug!(unit, "answered {took_ms} ms after it was asked, too late");
            self.figures.late(unit);
            self.owed.remove(&unit);
        }
    }
}
