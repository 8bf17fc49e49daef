//! The master: one request at a time, each answered by its own answer or by none.

mod strays;

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::time::{Instant, timeout_at};

use super::answers::{Message, Verdict};
use super::decoder::Decoder;
use super::error::{FrameError, FrameMiss};
use super::framing::Frame;
use super::profile::FrameProfile;
use crate::driver::Gate;
use crate::rtu::{LineFigures, RtuTiming};

/// Bytes taken from the stream at once.
const READ_BYTES: usize = 512;

/// What a unit reported without being asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unasked {
    /// The unit.
    pub unit: u8,
    /// The payload of its report.
    pub payload: Vec<u8>,
}

/// A line with its units, over a stream that may come and go.
///
/// A future of [`FrameMaster::ask`] that is dropped half way leaves a line that is cleaned before
/// the next request, as after a time-out.
pub struct FrameMaster<S> {
    profile: Arc<FrameProfile>,
    stream: Option<S>,
    timing: RtuTiming,
    decoder: Decoder,
    /// The last byte passed then.
    active: Instant,
    /// The number of the last request.
    sequence: u8,
    /// The request under way.
    asked: Option<(u8, Owed)>,
    /// What units did not answer, by unit.
    owed: BTreeMap<u8, Owed>,
    unasked: VecDeque<Unasked>,
    figures: LineFigures,
}

/// A request without an answer.
#[derive(Debug, Clone)]
struct Owed {
    at: Instant,
    message: Message,
    sequence: u8,
}

/// Listens for the answer to one request.
struct Hearing {
    frame: Vec<u8>,
    /// The echo has to come first.
    needs_echo: bool,
    miss: FrameMiss,
}

impl<S: AsyncRead + AsyncWrite + Unpin> FrameMaster<S> {
    /// A line without a stream, on which this maker's frames go.
    #[must_use]
    pub fn new(profile: Arc<FrameProfile>, timing: RtuTiming) -> Self {
        let decoder = Decoder::new(Arc::clone(profile.framing()), profile.payloads());
        Self {
            profile,
            stream: None,
            timing,
            decoder,
            active: Instant::now(),
            sequence: 0,
            asked: None,
            owed: BTreeMap::new(),
            unasked: VecDeque::new(),
            figures: LineFigures::start(),
        }
    }

    /// Goes on over this stream, with these times. What units owed they may still answer.
    pub fn attach(&mut self, stream: S, timing: RtuTiming) {
        self.stream = Some(stream);
        self.timing = timing;
        self.active = Instant::now();
        self.decoder.clear();
    }

    /// Gives the stream back.
    pub fn detach(&mut self) -> Option<S> {
        self.stream.take()
    }

    /// Whether there is a stream.
    #[must_use]
    pub fn is_attached(&self) -> bool {
        self.stream.is_some()
    }

    /// When the next request may be sent, where the line stays silent.
    #[must_use]
    pub fn quiet_at(&self) -> Instant {
        self.active + self.timing.gap
    }

    /// How long the answer that a unit owes may still come, so that it is not asked until then;
    /// nothing where frames are numbered.
    #[must_use]
    pub fn owes_for(&self, unit: u8) -> Duration {
        let owed = self.owed.get(&unit);
        let owed = owed.filter(|_| !self.profile.framing().has_sequence());
        owed.map_or(Duration::ZERO, |owed| {
            (owed.at + self.profile.late()).saturating_duration_since(Instant::now())
        })
    }

    /// What units reported without being asked, the oldest first.
    pub fn take_unasked(&mut self) -> Vec<Unasked> {
        self.unasked.drain(..).collect()
    }

    /// The figures so far, which then begin anew.
    pub fn take_figures(&mut self) -> LineFigures {
        std::mem::replace(&mut self.figures, LineFigures::start())
    }

    /// Listens while nothing is asked, until a unit reports something. Cancel safe.
    pub async fn overhear(&mut self) {
        let mut buffer = [0; READ_BYTES];
        while self.unasked.is_empty() {
            let Some(stream) = &mut self.stream else {
                return std::future::pending().await;
            };
            let read = stream.read(&mut buffer).await;
            match self.heard(read) {
                Ok(count) => self.stray(&buffer[..count]),
                Err(_) => return,
            }
        }
    }

    /// Asks a unit, and waits for its answer: the payload of a status, or nothing of a command that
    /// was taken. `gate` is asked when the line is silent, immediately before the bytes.
    ///
    /// # Errors
    /// See [`FrameError`]. Behind [`FrameError::Gone`] there is no stream.
    pub async fn ask(
        &mut self,
        gate: &mut Gate<'_>,
        unit: u8,
        message: &Message,
    ) -> Result<Vec<u8>, FrameError> {
        self.give_up_asked();
        self.settle(unit).await?;
        self.be_quiet().await?;
        self.sequence = self.sequence.wrapping_add(1);
        let frame = self.profile.request(unit, self.sequence, message);
        let floor = self
            .timing
            .floor(frame.len(), self.profile.answer_len(message));
        let wait = floor + self.profile.reply() + self.timing.margin;
        let wait = wait.clamp(self.timing.min, self.timing.max.max(self.timing.min));
        gate().map_err(FrameError::Dropped)?;
        // Noted first: where this future is dropped, the answer is owed all the same.
        let began = Instant::now();
        let owed = Owed {
            at: began,
            message: message.clone(),
            sequence: self.sequence,
        };
        self.asked = Some((unit, owed));
        self.send(&frame, began + wait).await?;
        let sent = Instant::now();
        self.figures.asked(unit);
        let mut hearing = Hearing {
            needs_echo: self.profile.framing().echo,
            frame,
            miss: FrameMiss::Silence,
        };
        let answer = self
            .listen(unit, message, &mut hearing, sent + wait)
            .await?;
        let took = sent.elapsed();
        match answer {
            Some(answer) => {
                self.asked = None;
                self.owed.remove(&unit);
                self.figures.answered(unit, took);
                answer
            }
            None => {
                self.give_up_asked();
                self.figures.lost(unit, took);
                let miss = self.miss(&hearing);
                Err(FrameError::NoAnswer { wait, miss })
            }
        }
    }

    /// Waits for what a unit owes, where its answer could be taken for the next one's.
    async fn settle(&mut self, unit: u8) -> Result<(), FrameError> {
        let until = Instant::now() + self.owes_for(unit);
        let mut buffer = [0; READ_BYTES];
        while self.owes_for(unit) > Duration::ZERO {
            let Some(stream) = &mut self.stream else {
                return Err(not_open());
            };
            let Ok(read) = timeout_at(until, stream.read(&mut buffer)).await else {
                break;
            };
            let count = self.heard(read).map_err(FrameError::before_sending)?;
            self.stray(&buffer[..count]);
        }
        Ok(())
    }

    /// Waits until the line has been silent for long enough; what comes meanwhile answers nothing
    /// that will be asked.
    async fn be_quiet(&mut self) -> Result<(), FrameError> {
        let limit = Instant::now() + self.timing.quiet_max;
        let mut buffer = [0; READ_BYTES];
        loop {
            let silent = self.active + self.timing.gap;
            if silent > limit {
                let waited_ms = self.timing.quiet_max.as_millis();
                let detail = format!("the line was not silent for {waited_ms} ms");
                return Err(FrameError::NotSent(detail));
            }
            let Some(stream) = &mut self.stream else {
                return Err(not_open());
            };
            // Reads at least once: what waits already is older than the request.
            let Ok(read) = timeout_at(silent, stream.read(&mut buffer)).await else {
                self.decoder.clear();
                return Ok(());
            };
            let count = self.heard(read).map_err(FrameError::before_sending)?;
            self.stray(&buffer[..count]);
        }
    }

    async fn send(&mut self, frame: &[u8], deadline: Instant) -> Result<(), FrameError> {
        let Some(stream) = &mut self.stream else {
            return Err(not_open());
        };
        let all = async {
            stream.write_all(frame).await?;
            stream.flush().await
        };
        let written = timeout_at(deadline, all).await;
        let written = written.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()));
        written.map_err(|error| self.lose(&error))?;
        self.active = Instant::now();
        Ok(())
    }

    /// The answer, or none until `deadline`.
    async fn listen(
        &mut self,
        unit: u8,
        message: &Message,
        hearing: &mut Hearing,
        deadline: Instant,
    ) -> Result<Option<Result<Vec<u8>, FrameError>>, FrameError> {
        let mut buffer = [0; READ_BYTES];
        while Instant::now() < deadline {
            let Some(stream) = &mut self.stream else {
                return Err(FrameError::Gone("the line was closed".to_owned()));
            };
            let Ok(read) = timeout_at(deadline, stream.read(&mut buffer)).await else {
                return Ok(None);
            };
            let count = self.heard(read)?;
            for (at, byte) in buffer[..count].iter().enumerate() {
                let frame = self.decoder.feed(*byte);
                if hearing.needs_echo && self.decoder.ends_with(&hearing.frame) {
                    hearing.needs_echo = false;
                    hearing.miss = FrameMiss::OwnEcho;
                    self.decoder.clear();
                }
                let Some(frame) = frame else { continue };
                if let Some(answer) = self.judge(unit, message, hearing, frame) {
                    self.stray(&buffer[at + 1..count]);
                    return Ok(Some(answer));
                }
            }
        }
        Ok(None)
    }

    /// What a frame is that came while `message` waits for its answer.
    fn judge(
        &mut self,
        unit: u8,
        message: &Message,
        hearing: &mut Hearing,
        frame: Frame,
    ) -> Option<Result<Vec<u8>, FrameError>> {
        if frame.unit != unit {
            hearing.miss = FrameMiss::OtherUnit(frame.unit);
            self.stray_frame(frame);
            return None;
        }
        let is_numbered = frame
            .sequence
            .is_none_or(|sequence| sequence == self.sequence);
        let verdict = self.profile.judge(message, &frame);
        match verdict {
            Verdict::Unasked => self.stray_frame(frame),
            _ if !is_numbered || hearing.needs_echo => {
                hearing.miss = FrameMiss::OtherContent(frame.code);
                self.stray_frame(frame);
            }
            Verdict::None => hearing.miss = FrameMiss::OtherContent(frame.code),
            Verdict::Status => return Some(Ok(frame.payload)),
            Verdict::Taken => return Some(Ok(Vec::new())),
            Verdict::Refused { reason, is_busy } => {
                return Some(Err(FrameError::Refused { reason, is_busy }));
            }
        }
        None
    }

    /// Why there is no answer.
    fn miss(&self, hearing: &Hearing) -> FrameMiss {
        match (hearing.miss, self.decoder.pending()) {
            (FrameMiss::Silence, 0) => FrameMiss::Silence,
            (FrameMiss::Silence, bytes) if self.decoder.ends_with(&hearing.frame) => {
                if bytes == hearing.frame.len() {
                    FrameMiss::OwnEcho
                } else {
                    FrameMiss::Noise(bytes - hearing.frame.len())
                }
            }
            (FrameMiss::Silence | FrameMiss::OwnEcho, bytes) if bytes > 0 => {
                FrameMiss::Noise(bytes)
            }
            (miss, _) => miss,
        }
    }

    /// What a read of the stream yielded: how many bytes, and never none.
    fn heard(&mut self, read: io::Result<usize>) -> Result<usize, FrameError> {
        match read {
            Ok(0) => Err(self.lose(&io::ErrorKind::UnexpectedEof.into())),
            Err(error) => Err(self.lose(&error)),
            Ok(count) => {
                self.active = Instant::now();
                Ok(count)
            }
        }
    }

    fn give_up_asked(&mut self) {
        if let Some((unit, owed)) = self.asked.take() {
            self.owed.insert(unit, owed);
        }
    }

    fn lose(&mut self, error: &io::Error) -> FrameError {
        self.stream = None;
        self.give_up_asked();
        FrameError::Gone(if error.kind() == io::ErrorKind::UnexpectedEof {
            "the line was closed by its other end".to_owned()
        } else {
            format!("the line failed: {error}")
        })
    }
}

fn not_open() -> FrameError {
    FrameError::NotSent("the line is not open".to_owned())
}
